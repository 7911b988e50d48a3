//! HMAC of its own output, again and again: the inner loop of PBKDF2 (RFC 8018, 5.2), many of them side by side.

use crate::{
    Hash, cpu::active_or_detected, lane::Lane, md5::Md5, plan::Words, sha1::Sha1, sha2::Sha2, sha256::Sha256,
    sha512::Sha512, streams::begin,
};
use core::mem::MaybeUninit;

/// HMAC's two states after the blocks that its key is padded to (RFC 2104, 2).
#[derive(Clone, Copy)]
pub struct Keyed {
    hash: Hash,
    inner: Words,
    outer: Words,
}

impl Keyed {
    /// The states for a key of at most a block: a longer one is hashed first.
    ///
    /// # Panics
    /// If the key is longer, or the hash is none that [`iterates`].
    pub fn new(hash: Hash, key: &[u8]) -> Self {
        assert!(iterates(hash) && key.len() <= hash.block_size(), "a key of {} bytes", key.len());
        let state = |mask: u8| {
            let mut block = [mask; 128];
            for (padded, byte) in block.iter_mut().zip(key) {
                *padded ^= byte;
            }
            let mut memory = MaybeUninit::uninit();
            *begin(active_or_detected(), hash, &block[..hash.block_size()], &mut memory).0
        };
        Keyed { hash, inner: state(0x36), outer: state(0x5c) }
    }
}

/// Whether [`iterate`] has a kernel for this hash: one whose digest is its whole state, and whose blocks end in a length.
pub fn iterates(hash: Hash) -> bool {
    matches!(hash, Hash::Md5 | Hash::Sha1 | Hash::Sha256 | Hash::Sha512)
}

/// Replaces each of `last`, a digest a key, by HMAC of it, `times` times, and adds (XOR) every one of them to `sums`.
///
/// # Panics
/// If the keys are of several hashes, or `last` or `sums` are not a digest for each.
pub fn iterate(keys: &[Keyed], last: &mut [u8], sums: &mut [u8], times: u32) {
    let Some(hash) = keys.first().map(|key| key.hash) else { return };
    let bytes = keys.len() * hash.size();
    assert!(keys.iter().all(|key| key.hash == hash) && last.len() == bytes && sums.len() == bytes, "a digest a key");
    let job = Job { keys, last, sums, times };
    match hash {
        Hash::Md5 => job.run::<Md5<Narrow>, Md5<Wide>, _, _, 4>(),
        Hash::Sha1 => job.run::<Sha1<Narrow>, Sha1<Wide>, _, _, 5>(),
        Hash::Sha256 => job.run::<Sha2<Sha256, Narrow>, Sha2<Sha256, Wide>, _, _, 8>(),
        _ => job.run::<Sha2<Sha512, Narrow64>, Sha2<Sha512, Wide64>, _, _, 8>(),
    }
}

/// Lanes for one key, and for several.
type Narrow = u32;
type Narrow64 = u64;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
type Wide = crate::isa::simd128::W32;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
type Wide64 = crate::isa::simd128::W64;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Wide = u32;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Wide64 = u64;

/// A hash whose digest is all of its state: `WORDS` words of lanes `L`.
pub(crate) trait Fold<L: Lane, const WORDS: usize> {
    /// Whether a word's first byte is its most significant one.
    const BIG: bool;

    /// Folds a block into the states.
    fn fold(state: &mut [L; WORDS], block: [L; 16]);
}

/// A word as bytes.
pub(crate) trait Bytes: Copy {
    /// From memory.
    fn read(from: &[u8], big: bool) -> Self;
    /// To memory.
    fn write(self, to: &mut [u8], big: bool);
    /// A small number.
    fn of(number: u32) -> Self;
}

macro_rules! bytes {
    ($($word:ty)*) => {
        $(impl Bytes for $word {
            fn read(from: &[u8], big: bool) -> Self {
                let bytes = from.try_into().expect("a word");
                if big { <$word>::from_be_bytes(bytes) } else { <$word>::from_le_bytes(bytes) }
            }

            fn write(self, to: &mut [u8], big: bool) {
                to.copy_from_slice(&if big { self.to_be_bytes() } else { self.to_le_bytes() });
            }

            fn of(number: u32) -> Self {
                number.into()
            }
        })*
    };
}
bytes!(u32 u64);

struct Job<'a> {
    keys: &'a [Keyed],
    last: &'a mut [u8],
    sums: &'a mut [u8],
    times: u32,
}

impl Job<'_> {
    /// Several keys by `W`, what is left over by `N`.
    fn run<N, W, NL, WL, const WORDS: usize>(mut self)
    where
        N: Fold<NL, WORDS>,
        W: Fold<WL, WORDS>,
        NL: Lane<Word: Bytes>,
        WL: Lane<Word: Bytes>,
    {
        let mut first = 0;
        while self.keys.len() - first > 1 && WL::LANES > 1 {
            self.group::<W, WL, WORDS>(first, WL::LANES.min(self.keys.len() - first));
            first += WL::LANES.min(self.keys.len() - first);
        }
        while first < self.keys.len() {
            self.group::<N, NL, WORDS>(first, 1);
            first += 1;
        }
    }

    /// `count` keys from the `first` on; lanes without one repeat the last.
    fn group<K: Fold<L, WORDS>, L: Lane<Word: Bytes>, const WORDS: usize>(&mut self, first: usize, count: usize) {
        let (size, word) = (WORDS * size_of::<L::Word>(), size_of::<L::Word>());
        let lane = |lane: usize| first + lane.min(count - 1);
        let inner = gather(|at, own| word_of(&self.keys[lane(own)].inner, at));
        let outer = gather(|at, own| word_of(&self.keys[lane(own)].outer, at));
        let read = |from: &[u8], at, own| L::Word::read(&from[lane(own) * size + at * word..][..word], K::BIG);
        let mut last: [L; WORDS] = gather(|at, own| read(self.last, at, own));
        let mut sums: [L; WORDS] = gather(|at, own| read(self.sums, at, own));
        for _ in 0..self.times {
            last = digest::<K, L, WORDS>(&inner, &last);
            last = digest::<K, L, WORDS>(&outer, &last);
            for (sum, word) in sums.iter_mut().zip(last) {
                *sum = sum.xor(word);
            }
        }
        for own in 0..count {
            for at in 0..WORDS {
                let to = (first + own) * size + at * word;
                one(last[at], own).write(&mut self.last[to..][..word], K::BIG);
                one(sums[at], own).write(&mut self.sums[to..][..word], K::BIG);
            }
        }
    }
}

/// The state after a block that is a digest and the padding behind it: a key's block and a digest are its whole message.
///
/// Out of line: engines that compile WebAssembly are slower where both calls are one long loop (lab/js).
#[inline(never)]
fn digest<K: Fold<L, WORDS>, L: Lane<Word: Bytes>, const WORDS: usize>(
    key: &[L; WORDS],
    value: &[L; WORDS],
) -> [L; WORDS] {
    let one = value[0];
    let mut block = [one.splat(L::Word::of(0)); 16];
    block[..WORDS].copy_from_slice(value);
    // A one bit behind the digest, and the length of the key's block and the digest, in bits.
    let bits = 8 * ((16 + WORDS) * size_of::<L::Word>()) as u32;
    let (mark, place) = if K::BIG { (1, 15) } else { (0x80, 14) };
    let mark = L::Word::of(mark);
    block[WORDS] = if K::BIG { one.splat(mark).rotr(1) } else { one.splat(mark) };
    block[place] = one.splat(L::Word::of(bits));
    let mut state = *key;
    K::fold(&mut state, block);
    state
}

/// Words of all lanes: word `at` of lane `own`.
fn gather<L: Lane, const WORDS: usize>(word: impl Fn(usize, usize) -> L::Word) -> [L; WORDS] {
    core::array::from_fn(|at| {
        let mut all = [L::Word::default(); 4];
        for (own, all) in all.iter_mut().enumerate().take(L::LANES) {
            *all = word(at, own);
        }
        // SAFETY: lanes of 4 words at most; portable code and simd128 are what the crate is compiled for.
        unsafe { L::load(all.as_ptr()) }
    })
}

/// A state's word.
fn word_of<W: Copy>(words: &Words, at: usize) -> W {
    // SAFETY: a state has 8 words or fewer, and the memory of `Words` is longer than that.
    unsafe { *words.as_ptr().cast::<W>().add(at) }
}

/// The word of one lane.
fn one<L: Lane>(words: L, own: usize) -> L::Word {
    let mut all = [L::Word::default(); 4];
    // SAFETY: as for `gather`.
    unsafe { words.store(all.as_mut_ptr()) };
    all[own]
}
