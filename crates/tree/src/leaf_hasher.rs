//! Leaves whose bytes come slice by slice.

#[cfg(feature = "checksums")]
use crate::checksum::{Checksum, Running};
use crate::hashing::{Framed, NodeHash};
use crate::prefix::PrefixRule;
use crate::{Digest, Digests, Messages, Role, Spec, Subtree};
#[cfg(feature = "xet")]
use crate::{scan::Scanned, xet};
#[cfg(any(feature = "checksums", feature = "xet"))]
use alloc::vec;
use alloc::vec::Vec;
use mksum_lanes::Streams;

impl Spec {
    /// Begins these leaves, to be hashed side by side as their bytes come. Their lengths count only in a format that hashes a leaf's
    /// length before its bytes.
    ///
    /// # Panics
    /// If leaves of such a format have different lengths.
    pub fn leaf_hasher(&self, leaves: &[Subtree]) -> LeafHasher {
        let count = leaves.len();
        let state = match self.nodes() {
            NodeHash::Framed(Framed { hash, leaf: Some(rule), .. }) => {
                let len = leaves.first().map_or(0, |leaf| leaf.len);
                let same = matches!(rule, PrefixRule::Same(_)) || leaves.iter().all(|leaf| leaf.len == len);
                assert!(same, "leaves of one length");
                Slices::Streamed(Streams::new(*hash, &rule.of(len), count), 0)
            }
            #[cfg(feature = "xet")]
            NodeHash::Xet => Slices::Scanned(vec![Scanned::new(xet::CUTS); count]),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { sum, .. } => Slices::Summed(*sum, vec![sum.begin(); count]),
            _ => Slices::Held(leaves.iter().map(|leaf| (leaf.start, Vec::new())).collect()),
        };
        LeafHasher { spec: self.clone(), state }
    }
}

/// Hashes leaves side by side whose bytes come slice by slice: for leaves that are too long to be held in memory.
#[derive(Clone, Debug)]
pub struct LeafHasher {
    spec: Spec,
    state: Slices,
}

#[derive(Clone, Debug)]
enum Slices {
    /// The leaves, and the length of each so far.
    Streamed(Streams, usize),
    /// The offset and the bytes so far of each leaf: at most 1 KiB in BLAKE3, and a digest where those are the leaves.
    Held(Vec<(u64, Vec<u8>)>),
    /// The leaves that were found in each so far.
    #[cfg(feature = "xet")]
    Scanned(Vec<Scanned>),
    /// The sum of each leaf so far.
    #[cfg(feature = "checksums")]
    Summed(Checksum, Vec<Running>),
}

impl LeafHasher {
    /// Appends to each leaf its next slice.
    ///
    /// # Panics
    /// If there are not as many slices as leaves.
    pub fn update(&mut self, slices: Messages<'_>) {
        match &mut self.state {
            Slices::Streamed(streams, len) => {
                streams.update(slices);
                *len += slices.len();
            }
            Slices::Held(leaves) => {
                assert_eq!(slices.count(), leaves.len(), "a slice for each leaf");
                leaves.iter_mut().zip(slices.iter()).for_each(|((_, bytes), slice)| bytes.extend_from_slice(slice));
            }
            #[cfg(feature = "xet")]
            Slices::Scanned(leaves) => {
                assert_eq!(slices.count(), leaves.len(), "a slice for each leaf");
                leaves.iter_mut().zip(slices.iter()).for_each(|(leaf, slice)| leaf.update(slice));
            }
            #[cfg(feature = "checksums")]
            Slices::Summed(_, sums) => {
                assert_eq!(slices.count(), sums.len(), "a slice for each leaf");
                sums.iter_mut().zip(slices.iter()).for_each(|(sum, slice)| sum.update(slice));
            }
        }
    }

    /// Appends the digests of the leaves; `ends` are the last bytes of each, and may differ in length.
    ///
    /// # Panics
    /// If there are not as many ends as leaves.
    pub fn finish(self, ends: &[&[u8]], role: Role, out: &mut Digests) {
        match (self.state, self.spec.nodes()) {
            (Slices::Held(leaves), nodes) => {
                assert_eq!(ends.len(), leaves.len(), "an end for each leaf");
                out.extend(leaves.into_iter().zip(ends).map(|((start, mut bytes), end)| {
                    bytes.extend_from_slice(end);
                    nodes.leaf(start, &bytes, role)
                }));
            }
            (Slices::Streamed(streams, len), NodeHash::Framed(framed)) => {
                assert_eq!(ends.len(), streams.count(), "an end for each leaf");
                if framed.after(len).is_empty() && ends.iter().all(|end| end.is_empty()) {
                    return streams.finish(out.grow(ends.len()));
                }
                for (mut stream, end) in streams.split().zip(ends) {
                    stream.append(end);
                    stream.append(&framed.after(len + end.len()));
                    stream.finish(out.grow(1));
                }
            }
            #[cfg(feature = "xet")]
            (Slices::Scanned(leaves), _) => {
                assert_eq!(ends.len(), leaves.len(), "an end for each leaf");
                out.extend(leaves.into_iter().zip(ends).map(|(mut leaf, end)| {
                    leaf.update(end);
                    leaf.finish()
                }));
            }
            #[cfg(feature = "checksums")]
            (Slices::Summed(checksum, sums), _) => {
                assert_eq!(ends.len(), sums.len(), "an end for each leaf");
                out.extend(sums.into_iter().zip(ends).map(|(mut sum, end)| {
                    sum.update(end);
                    checksum.digest(&sum)
                }));
            }
            (Slices::Streamed(..), _) => unreachable!("other leaves are held or summed"),
        }
    }

    /// The digest of the only leaf.
    ///
    /// # Panics
    /// If there is not exactly one.
    pub fn finish_one(self, role: Role) -> Digest {
        let mut out = Digests::new(self.spec.nodes().size());
        self.finish(&[&[]], role, &mut out);
        out.get(0).expect("the digest of one leaf")
    }
}
