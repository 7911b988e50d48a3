//! Where leaves end: computed from the input's length, or found by a scan of its content.

mod gear;

use crate::shape::Shape;
use gear::WORDS;

/// The rule by which the leaves of a tree are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The leaves are computed from the input's length.
    Computed(Shape),
    /// The leaves are found by a scan of the content. Before it, and for callers that ask by offset, an input is one leaf.
    Found(Cuts),
}

/// Leaves that end where the content says: after the first byte at which the *gear hash* of the 64 bytes before is low enough.
///
/// The hash is a sum of 64-bit words, one for each of these bytes, each shifted to the left by the number of bytes after it. So the next end
/// depends on the last one and the bytes after it alone, and two scans that have one end in common have all later ones in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// The length of the shortest leaf, in bytes, unless the input ends: 65 or more.
    pub(crate) shortest: usize,
    /// The length of the longest leaf, in bytes.
    pub(crate) longest: usize,
    /// The gear hash below which a leaf ends.
    pub(crate) below: u64,
}

/// The bytes on which the gear hash depends: older ones are shifted out of its word.
const WINDOW: usize = 64;

/// The state of a search for the end of a leaf: resumes the search when there are more bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Search {
    /// The bytes of the leaf that were looked at.
    seen: usize,
    /// The gear hash after them.
    hash: u64,
}

impl Cuts {
    /// The length of the shortest leaf, in bytes; the last one of an input may be shorter.
    pub fn shortest(self) -> u64 {
        self.shortest as u64
    }

    /// The length of the longest leaf, in bytes.
    pub fn longest(self) -> u64 {
        self.longest as u64
    }

    /// The length of the leaf that begins with `bytes`, if it ends within them; else the search goes on when more bytes follow these.
    #[inline]
    pub(crate) fn end(self, bytes: &[u8], search: &mut Search) -> Option<usize> {
        let until = bytes.len().min(self.longest);
        // No leaf ends before the shortest one does, so nothing is hashed but the window before that place.
        let mut at = search.seen.max(self.shortest - WINDOW);
        let warm = until.min(self.shortest - 1);
        if at < warm {
            search.hash = bytes[at..warm].iter().fold(search.hash, |hash, &byte| add(hash, byte));
            at = warm;
        }
        if at < until {
            if let Some(more) = self.first_below(&bytes[at..until], &mut search.hash) {
                return Some(at + more);
            }
            search.seen = until;
        }
        (until == self.longest).then_some(until)
    }

    /// The number of bytes up to the first after which the hash is low enough.
    #[inline]
    fn first_below(self, bytes: &[u8], hash: &mut u64) -> Option<usize> {
        let below = self.below;
        let (fours, rest) = bytes.as_chunks::<4>();
        let mut at = 0;
        // Four bytes a step: the sums of their words do not wait for the hash before them.
        for four in fours {
            let [a, b, c, d] = four.map(|byte| WORDS[usize::from(byte)]);
            let ab = (a << 1).wrapping_add(b);
            let abc = (ab << 1).wrapping_add(c);
            let abcd = (abc << 1).wrapping_add(d);
            let before = *hash;
            let hashes = [
                (before << 1).wrapping_add(a),
                (before << 2).wrapping_add(ab),
                (before << 3).wrapping_add(abc),
                (before << 4).wrapping_add(abcd),
            ];
            if hashes[0] < below || hashes[1] < below || hashes[2] < below || hashes[3] < below {
                return hashes.iter().position(|&hash| hash < below).map(|index| at + index + 1);
            }
            *hash = hashes[3];
            at += 4;
        }
        for &byte in rest {
            *hash = add(*hash, byte);
            at += 1;
            if *hash < below {
                return Some(at);
            }
        }
        None
    }
}

fn add(hash: u64, byte: u8) -> u64 {
    (hash << 1).wrapping_add(WORDS[usize::from(byte)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const CUTS: Cuts = Cuts { shortest: 100, longest: 500, below: 1 << 56 };

    /// The definition: the hash of each window by itself.
    fn ends(bytes: &[u8]) -> Option<usize> {
        let hash = |end: usize| bytes[end - WINDOW..end].iter().fold(0, |hash, &byte| add(hash, byte));
        (CUTS.shortest..=bytes.len().min(CUTS.longest)).find(|&len| len == CUTS.longest || hash(len) < CUTS.below)
    }

    #[test]
    fn a_search_in_any_steps_finds_the_end_that_the_definition_has() {
        let mut word = 1u64;
        let mut random = || {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (word >> 33) as usize
        };
        let bytes: Vec<u8> = (0..40_000).map(|_| random() as u8).collect();
        let (mut start, mut lengths) = (0, Vec::new());
        while let Some(len) = ends(&bytes[start..]) {
            let (mut search, mut known) = (Search::default(), 0);
            let found = loop {
                known = (known + 1 + random() % 150).min(bytes.len() - start);
                if let Some(found) = CUTS.end(&bytes[start..start + known], &mut search) {
                    break found;
                }
            };
            assert_eq!(found, len, "the leaf from byte {start} on");
            lengths.push(len);
            start += len;
        }
        assert!(lengths.contains(&CUTS.longest) && lengths.iter().any(|&len| len < 200), "{lengths:?}");
        for same in [0u8, 7, 255] {
            assert_eq!(CUTS.end(&[same; 2000], &mut Search::default()), ends(&[same; 2000]), "all bytes are {same}");
        }
    }
}
