//! Xet's hashes (`spec/xet.md`): of leaves, and of nodes whose groups of children end where the digests say.

use crate::digest::Digest;
#[cfg(feature = "xet")]
use crate::layout::Cuts;
use alloc::vec::Vec;
use mksum_lanes::blake3::keyed_digest;

/// A digest in the order in which BLAKE3 writes it.
pub(crate) type Value = [u8; 32];

/// Leaves of 8 to 128 KiB, cut where the 16 highest bits of the gear hash are zero.
#[cfg(feature = "xet")]
pub(crate) const CUTS: Cuts = Cuts { shortest: 8 << 10, longest: 128 << 10, below: 1 << 48 };

/// The key of a leaf's hash, `DATA_KEY`.
const LEAF: [u8; 32] = [
    102, 151, 245, 119, 91, 149, 80, 222, 49, 53, 203, 172, 165, 151, 24, 28, 157, 228, 33, 16, 155, 235, 43, 88, 180,
    208, 176, 75, 147, 173, 242, 41,
];

/// The key of a node's hash, `INTERNAL_NODE_KEY`.
const NODE: [u8; 32] = [
    1, 126, 197, 199, 165, 71, 41, 150, 253, 148, 102, 102, 180, 138, 2, 230, 93, 221, 83, 111, 55, 199, 109, 210, 248,
    99, 82, 230, 74, 83, 113, 63,
];

/// The most children of a node.
const MOST: usize = 9;
/// The fewest children of a node after which a digest can end its group.
const FEWEST: usize = 3;
/// A group ends after a digest of which this divides the last eight bytes.
const MEAN: u64 = 4;

/// The digest of a leaf.
pub(crate) fn leaf(bytes: &[u8]) -> Value {
    keyed_digest(&LEAF, bytes)
}

/// A tree whose groups end where the digests of the children say, built as its leaves come: at most eight nodes wait on each level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups(Vec<Level>);

/// The nodes of a level that are in no group yet.
#[derive(Clone, Debug, Default)]
struct Level {
    /// The digests that wait for a parent, and the number of bytes below each.
    waiting: Vec<(Value, u64)>,
    /// Whether there were others before them.
    grouped: bool,
}

impl Groups {
    /// Appends a leaf of `len` bytes.
    pub fn push(&mut self, digest: Value, len: u64) {
        self.push_at(0, digest, len);
    }

    fn push_at(&mut self, level: usize, digest: Value, len: u64) {
        if level == self.0.len() {
            self.0.push(Level::default());
        }
        let waiting = &mut self.0[level].waiting;
        waiting.push((digest, len));
        let ends = u64::from_le_bytes(digest.as_chunks().0[3]).is_multiple_of(MEAN);
        if waiting.len() == MOST || (waiting.len() >= FEWEST && ends) {
            self.close(level);
        }
    }

    /// Makes a node of those that wait on a level.
    fn close(&mut self, level: usize) {
        let Level { waiting, grouped } = &mut self.0[level];
        let (text, len) = (text(waiting), waiting.iter().map(|(_, len)| len).sum());
        waiting.clear();
        *grouped = true;
        self.push_at(level + 1, keyed_digest(&NODE, &text), len);
    }

    /// The digest of the root, in the order of bytes in which it is written.
    pub fn finish(mut self) -> Digest {
        if self.0.is_empty() {
            return Digest::zero(32);
        }
        for level in 0.. {
            match &self.0[level] {
                Level { waiting, grouped: false } if waiting.len() == 1 => {
                    return Digest::new(&written(&keyed_digest(&[0; 32], &waiting[0].0)));
                }
                // One that is left over is a group of its own.
                Level { waiting, .. } if !waiting.is_empty() => self.close(level),
                Level { .. } => {}
            }
        }
        unreachable!("each level has fewer nodes than the one below")
    }
}

/// A digest as it is written: four words of eight bytes, the highest byte of each first.
fn written(digest: &Value) -> Value {
    let mut written = *digest;
    written.as_chunks_mut::<8>().0.iter_mut().for_each(|word| word.reverse());
    written
}

/// Returns the text that is hashed for a node: a line for each child, `DIGEST : LENGTH`.
fn text(children: &[(Value, u64)]) -> Vec<u8> {
    let mut text = Vec::with_capacity(children.len() * 80);
    for (digest, len) in children {
        let mut hex = [0; 64];
        let hex = base16ct::lower::encode(&written(digest), &mut hex).unwrap_or_else(|_| unreachable!("there is room"));
        text.extend_from_slice(hex);
        text.extend_from_slice(alloc::format!(" : {len}\n").as_bytes());
    }
    text
}
