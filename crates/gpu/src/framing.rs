//! The blocks of a message with its prefix and padding.

use mksum::Hash;

/// The blocks of messages of one length, for the kernel `messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Framing {
    /// The number of blocks of a message.
    pub blocks: u32,
    /// The number of blocks at the start that contain part of the prefix.
    pub lead: u32,
    /// The number of blocks at the end that contain padding, except those counted in `lead`.
    pub trail: u32,
    /// For each lead and trail block, a mask of the message's bytes, then the other bytes, as words in the kernel's
    /// order.
    pub edges: Vec<u8>,
    /// The number of bytes of the last block that are not padding.
    pub last: u32,
}

impl Framing {
    /// Frames messages of `prefix` and `len` more bytes; `None` if they have more blocks than a kernel can count.
    pub fn new(hash: Hash, prefix: &[u8], len: u64) -> Option<Self> {
        let block = hash.block_size() as u64;
        let total = len.checked_add(prefix.len() as u64)?;
        let end = hash.padding(total);
        let padded = total.checked_add(end.len() as u64)?;
        let blocks = u32::try_from(padded / block).ok()?;
        let lead = (prefix.len() as u64).div_ceil(block);
        // The blocks between prefix and padding contain only message bytes.
        let whole = (total / block).max(lead);
        let mut edges = Vec::new();
        for index in (0..lead).chain(whole..blocks.into()) {
            let bytes = index * block..(index + 1) * block;
            let in_message = |at: &u64| (prefix.len() as u64..total).contains(at);
            let other = |at: u64| match at.checked_sub(total) {
                Some(at) => end[at as usize],
                None => prefix.get(at as usize).copied().unwrap_or(0),
            };
            let mask: Vec<u8> = bytes.clone().map(|at| if in_message(&at) { 0xff } else { 0 }).collect();
            let others: Vec<u8> = bytes.map(|at| if in_message(&at) { 0 } else { other(at) }).collect();
            edges.extend(words(hash, mask));
            edges.extend(words(hash, others));
        }
        let last = total.saturating_sub(u64::from(blocks - 1) * block).min(block) as u32;
        Some(Framing { blocks, lead: lead as u32, trail: blocks - whole as u32, edges, last })
    }
}

/// Reorders a block's bytes as a kernel's words hold them: the words of SHA-1 and SHA-2 are big-endian.
fn words(hash: Hash, mut bytes: Vec<u8>) -> Vec<u8> {
    let word = match hash {
        Hash::Sha1 | Hash::Sha224 | Hash::Sha256 => 4,
        Hash::Sha384 | Hash::Sha512 | Hash::Sha512_224 | Hash::Sha512_256 => 8,
        _ => 1,
    };
    bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_prefix_the_message_and_the_padding() {
        let of = |hash, prefix: &[u8], len| {
            let Framing { blocks, lead, trail, last, edges } = Framing::new(hash, prefix, len).unwrap();
            assert_eq!(edges.len(), (lead + trail) as usize * 2 * hash.block_size(), "{} {len}", hash.name());
            (blocks, lead, trail, last)
        };
        assert_eq!(of(Hash::Sha256, b"", 64), (2, 0, 1, 0));
        assert_eq!(of(Hash::Sha256, b"", 55), (1, 0, 1, 55));
        assert_eq!(of(Hash::Sha256, b"", 56), (2, 0, 2, 0));
        assert_eq!(of(Hash::Sha256, b"\0", 64), (2, 1, 1, 1));
        assert_eq!(of(Hash::Sha256, b"\0", 10), (1, 1, 0, 11));
        assert_eq!(of(Hash::Sha256, &[1; 64], 64), (3, 1, 1, 0));
        assert_eq!(of(Hash::Sha512, b"", 111), (1, 0, 1, 111));
        assert_eq!(of(Hash::Sha512, b"", 112), (2, 0, 2, 0));
        assert_eq!(of(Hash::Blake3, b"", 1024), (16, 0, 0, 64));
        assert_eq!(of(Hash::Blake3, b"\0", 1024), (17, 1, 1, 1));
        assert_eq!(of(Hash::Sha3_256, b"", 136), (2, 0, 1, 0));
        assert_eq!(of(Hash::Sha3_256, b"", 135), (1, 0, 1, 135));
    }
}
