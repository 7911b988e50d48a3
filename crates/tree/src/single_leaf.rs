//! Inputs that are a single leaf: one message for a hash function.

use crate::hashing::{Framed, NodeHash};
use crate::{Hash, Spec};
use alloc::borrow::Cow;

/// A leaf as a message: `prefix`, the leaf's bytes, then zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeafMessage<'a> {
    /// The hash of the message.
    pub hash: Hash,
    /// The bytes before the leaf's: fewer than a block.
    pub prefix: Cow<'a, [u8]>,
    /// The number of zeros after the leaf's bytes.
    pub zeros: u64,
}

impl Spec {
    /// The message that an input of `len` bytes is, if it is a single leaf, and a leaf is the message of a hash:
    /// the root is [sealed](Spec::seal) from the message's digest. `None` for all others; among them is an input without bytes,
    /// whose root each format defines in its own way.
    ///
    /// Such inputs can be hashed side by side, whatever their lengths and formats are: see [`Slots`](mksum_lanes::Slots).
    ///
    /// ```
    /// let spec: mksum::Spec = "rfc6962:sha256:64KiB".parse()?;
    /// assert_eq!(*spec.single_leaf(100).unwrap().prefix, b"\0"[..]);
    /// assert!(spec.single_leaf(100_000).is_none());
    /// # Ok::<(), mksum::SpecError>(())
    /// ```
    pub fn single_leaf(&self, len: u64) -> Option<LeafMessage<'_>> {
        let NodeHash::Framed(Framed { hash, leaf: Some(rule), fill, .. }) = self.nodes() else { return None };
        let prefix = rule.of(len);
        let shape = self.shape();
        let is_leaf = len > 0 && rule.after(len).is_none() && shape.check(len).is_ok() && shape.root(len).level == 0;
        let fits = is_leaf && prefix.len() < hash.block_size();
        fits.then(|| LeafMessage { hash: *hash, prefix, zeros: (*fill as u64).saturating_sub(len) })
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::FAMILIES;
    use crate::{Digest, Hash, Spec};
    use alloc::vec;

    #[test]
    fn a_single_leaf_is_its_message() {
        let bytes: [u8; 5000] = core::array::from_fn(|index| (index % 251) as u8);
        let mut single = 0;
        for family in FAMILIES {
            for spec in family.hashes.iter().map(|&hash| Spec::new(family).with_hash(hash).unwrap()) {
                for len in [0, 1, 55, 64, 1000, 4096, 5000] {
                    let Some(message) = spec.single_leaf(len as u64) else { continue };
                    let zeros = vec![0; message.zeros as usize];
                    let digest = mksum_lanes::digest(message.hash, &[&*message.prefix, &bytes[..len], &zeros]);
                    let root = spec.seal(Digest::new(&digest[..spec.hash().size()]), len as u64);
                    assert_eq!(root, spec.root(&bytes[..len]).unwrap(), "{spec} of {len} bytes");
                    single += 1;
                }
            }
        }
        assert!(single > 7 * Hash::ALL.len(), "plain sums, and more");
    }
}
