//! HMAC of its own output, again and again: the inner loop of PBKDF2 (RFC 8018, 5.2), for several keys side by side.

#[cfg(feature = "sha1")]
use crate::hash::sha1::{self, Sha1};
#[cfg(feature = "sha2")]
use crate::hash::{
    sha2::Sha2,
    sha256::{self, Sha256},
    sha512,
};
use crate::{
    Hash, cpu::active_or_detected, kernel::Kernel, overlay::MAX_BLOCK, run::fold_lanes, streams::begin, words::Words,
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
    /// If the key is longer, or the hash is not one that [`iterates`].
    pub fn new(hash: Hash, key: &[u8]) -> Self {
        let scheme = hash.scheme();
        let size = scheme.framing.block;
        assert!(iterates(hash) && key.len() <= size, "a key of {} bytes", key.len());
        let state = |mask: u8| {
            let mut block = [mask; 128];
            for (padded, byte) in block.iter_mut().zip(key) {
                *padded ^= byte;
            }
            let mut memory = MaybeUninit::uninit();
            *begin(active_or_detected(), scheme, &block[..size], &mut memory).0
        };
        Keyed { hash, inner: state(0x36), outer: state(0x5c) }
    }
}

/// Whether [`iterate`] has a kernel for this hash. Such a hash has its whole state as digest, and pads messages with their length.
pub fn iterates(hash: Hash) -> bool {
    turns_of(hash).is_some()
}

/// Replaces each digest in `last`, of which there is one for each key, by its HMAC, `times` times, and adds every one of them to `sums`
/// by XOR.
///
/// # Panics
/// If the keys are of several hashes, or `last` or `sums` do not have one digest for each.
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
        Hash::Sha1 => Some([Turns::of::<sha1::Single>(), Turns::of::<Sha1<Wide>>()]),
        #[cfg(feature = "sha2")]
        Hash::Sha256 => Some([Turns::of::<sha256::Single>(), Turns::of::<Sha2<Sha256, Wide>>()]),
        // Two lanes of 64 bits are not faster than one message after another (lab/js).
        #[cfg(feature = "sha2")]
        Hash::Sha512 => Some([Turns::of::<sha512::Single>(), Turns::of::<sha512::Single>()]),
        _ => None,
    }
}

/// Lanes for several keys.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
type Wide = crate::isa::simd128::W32;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Wide = u32;

/// The most bytes that the states of all lanes have: 8 words of 32 bits for four lanes.
const STATES: usize = 128;

/// Words in lanes: the first word of all lanes, then the second, and so on, as [`Lane::load`](crate::lane::Lane::load) reads them.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Lanes<const BYTES: usize>([u8; BYTES]);

/// [`turns`] by a kernel.
struct Turns {
    lanes: usize,
    /// # Safety
    /// The machine has the kernel's instruction set.
    run: unsafe fn(&[Lanes<STATES>; 2], &mut Lanes<{ 2 * STATES }>, &mut Lanes<STATES>, u32),
}

impl Turns {
    fn of<K: Kernel<Context: Default>>() -> Self {
        const { assert!(size_of::<K::State>() <= STATES) };
        Turns { lanes: K::LANES, run: turns::<K> }
    }

    /// [`iterate`] for at most as many keys as there are lanes. Lanes without a key repeat the last one.
    fn of_group(&self, keys: &[Keyed], last: &mut [u8], sums: &mut [u8], times: u32) {
        let (size, scheme) = (keys[0].hash.size(), keys[0].hash.scheme());
        let (word, framing) = (scheme.family.word.bytes(), scheme.framing);
        // The place of byte `at` of a lane's words. A digest's words have their most significant byte first.
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
        // SAFETY: `at` is less than a digest's size, which is no more than the size of `Words`.
        let byte = |words: &Words, at: usize| unsafe { *words.as_ptr().add(at) };
        each(&mut both[0].0, &|lane, at| byte(&keys[lane].inner, at), size);
        each(&mut both[1].0, &|lane, at| byte(&keys[lane].outer, at), size);
        // A message is a key's block and a digest. After the digest follow a one bit, zeros, and the length of both.
        let (mut block, mut total) = (Lanes([0; 2 * STATES]), Lanes([0; STATES]));
        let mut padded = [0; MAX_BLOCK];
        framing.pad(&mut padded, framing.block as u64, size);
        let message = |lane: usize, at: usize| if at < size { last[lane * size + at] } else { padded[at] };
        each(&mut block.0, &|lane, at| message(lane, turned(at)), framing.block);
        // SAFETY: these kernels are portable code, or simd128 where the crate is compiled for it.
        unsafe { (self.run)(&both, &mut block, &mut total, times) };
        for own in 0..keys.len() {
            for at in 0..size {
                last[own * size + turned(at)] = block.0[place(own, at)];
                sums[own * size + turned(at)] ^= total.0[place(own, at)];
            }
        }
    }
}

/// Replaces the words of a state at the begin of `block` by those of its HMAC and adds them to `total`, `times` times.
///
/// # Safety
/// The machine has the kernel's instruction set.
unsafe fn turns<K: Kernel<Context: Default>>(
    both: &[Lanes<STATES>; 2],
    block: &mut Lanes<{ 2 * STATES }>,
    total: &mut Lanes<STATES>,
    times: u32,
) {
    for _ in 0..times {
        for key in both {
            // SAFETY: the instruction set is promised. A key's states, and the block they are written to, have room for the states of all
            // lanes, as `Turns::of` asserts; a block has 16 words of each lane, which is twice as much.
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
