//! HMAC of its own output, again and again: the inner loop of PBKDF2 (RFC 8018, 5.2), many of them side by side.

use crate::{
    Hash,
    cpu::active_or_detected,
    kernel::{Kernel, fold_lanes},
    plan::Words,
    sha1::Sha1,
    sha2::Sha2,
    sha256::Sha256,
    sha512::Sha512,
    streams::begin,
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

/// Whether [`iterate`] has a kernel for this hash: one whose digest is all of its state, and whose blocks end in a length.
pub fn iterates(hash: Hash) -> bool {
    turns_of(hash).is_some()
}

/// Replaces each of `last`, a digest a key, by HMAC of it, `times` times, and adds (XOR) every one of them to `sums`.
///
/// # Panics
/// If the keys are of several hashes, or `last` or `sums` are not a digest for each.
pub fn iterate(keys: &[Keyed], last: &mut [u8], sums: &mut [u8], times: u32) {
    let Some(hash) = keys.first().map(|key| key.hash) else { return };
    let bytes = keys.len() * hash.size();
    assert!(keys.iter().all(|key| key.hash == hash) && last.len() == bytes && sums.len() == bytes, "a digest a key");
    let [one, several] = turns_of(hash).expect("a hash of `Keyed`");
    let group = several.lanes * hash.size();
    let digests = last.chunks_mut(group).zip(sums.chunks_mut(group));
    for (keys, (last, sums)) in keys.chunks(several.lanes).zip(digests) {
        let turns = if keys.len() == 1 { &one } else { &several };
        turns.of_group(keys, last, sums, times);
    }
}

/// The turns of one key, and of several.
fn turns_of(hash: Hash) -> Option<[Turns; 2]> {
    match hash {
        #[cfg(feature = "sha1")]
        Hash::Sha1 => Some([Turns::of::<Sha1<u32>>(), Turns::of::<Sha1<Wide>>()]),
        #[cfg(feature = "sha2")]
        Hash::Sha256 => Some([Turns::of::<Sha2<Sha256, u32>>(), Turns::of::<Sha2<Sha256, Wide>>()]),
        // Two lanes of 64 bits are no faster than one message after another (lab/js).
        #[cfg(feature = "sha2")]
        Hash::Sha512 => Some([Turns::of::<Sha2<Sha512, u64>>(), Turns::of::<Sha2<Sha512, u64>>()]),
        _ => None,
    }
}

/// Lanes for several keys.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
type Wide = crate::isa::simd128::W32;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Wide = u32;

/// The most bytes of the states of all lanes: of four lanes, 8 words of 32 bits.
const STATES: usize = 128;

/// Words in lanes, those of all lanes one after another, as [`Lane::load`](crate::lane::Lane::load) reads them.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Lanes<const BYTES: usize>([u8; BYTES]);

/// The turns of a kernel.
struct Turns {
    lanes: usize,
    run: unsafe fn(&[Lanes<STATES>; 2], &mut Lanes<{ 2 * STATES }>, &mut Lanes<STATES>, u32),
}

impl Turns {
    fn of<K: Kernel>() -> Self {
        const { assert!(size_of::<K::State>() <= STATES) };
        Turns { lanes: K::LANES, run: turns::<K> }
    }

    /// At most as many keys as there are lanes: lanes without one repeat the last.
    fn of_group(&self, keys: &[Keyed], last: &mut [u8], sums: &mut [u8], times: u32) {
        let hash = keys[0].hash;
        let (size, word) = (hash.size(), hash.family().word());
        // Where a byte of a lane's words is; and of a digest's: they are most significant byte first.
        let place = |lane: usize, at: usize| (at / word * self.lanes + lane) * word + at % word;
        let turned = |at: usize| if cfg!(target_endian = "little") { at ^ (word - 1) } else { at };
        let each = |to: &mut [u8], from: &dyn Fn(usize, usize) -> u8, bytes: usize| {
            for lane in 0..self.lanes {
                for at in 0..bytes {
                    to[place(lane, at)] = from(lane.min(keys.len() - 1), at);
                }
            }
        };
        let mut both = [Lanes([0; STATES]); 2];
        // SAFETY: a state's words are its digest's.
        let byte = |words: &Words, at: usize| unsafe { *words.as_ptr().add(at) };
        each(&mut both[0].0, &|lane, at| byte(&keys[lane].inner, at), size);
        each(&mut both[1].0, &|lane, at| byte(&keys[lane].outer, at), size);
        // A key's block and a digest are a whole message: behind the digest are a one bit, zeros, and the length of both.
        let (mut block, mut total) = (Lanes([0; 2 * STATES]), Lanes([0; STATES]));
        let bits = (8 * (hash.block_size() + size) as u64).to_be_bytes();
        let begin = hash.block_size() - bits.len();
        let padding = |at: usize| match at {
            _ if at == size => 0x80,
            _ if at >= begin => bits[at - begin],
            _ => 0,
        };
        let message = |lane: usize, at: usize| if at < size { last[lane * size + at] } else { padding(at) };
        each(&mut block.0, &|lane, at| message(lane, turned(at)), hash.block_size());
        // SAFETY: portable code and simd128 are what the crate is compiled for.
        unsafe { (self.run)(&both, &mut block, &mut total, times) };
        for own in 0..keys.len() {
            for at in 0..size {
                last[own * size + turned(at)] = block.0[place(own, at)];
                sums[own * size + turned(at)] ^= total.0[place(own, at)];
            }
        }
    }
}

/// Replaces the state's words at the begin of `block` by those of HMAC of it, and adds them to `total`, `times` times.
///
/// # Safety
/// The machine has the kernel's instruction set.
unsafe fn turns<K: Kernel>(
    both: &[Lanes<STATES>; 2],
    block: &mut Lanes<{ 2 * STATES }>,
    total: &mut Lanes<STATES>,
    times: u32,
) {
    for _ in 0..times {
        for key in both {
            // SAFETY: the caller's promise; there is room for a state, and any bytes are words.
            unsafe {
                let mut state = K::load(key.0.as_ptr());
                fold_lanes::<K>(&mut state, block.0.as_ptr());
                K::store(&state, block.0.as_mut_ptr());
            }
        }
        for (total, byte) in total.0.iter_mut().zip(&block.0).take(size_of::<K::State>()) {
            *total ^= byte;
        }
    }
}
