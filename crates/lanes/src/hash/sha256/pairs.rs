//! SHA-256 of messages of 64 bytes, such as pairs of nodes, wherever their digests go.

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use crate::hash::sha256::armsha;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::hash::sha256::shani;
use crate::{
    cpu::{Cpu, Features, active_or_detected},
    dispatch::{MAX_LANES, featured},
    grid::Grid,
    hash::{
        roots::ROOTS32,
        sha2::{Constants, Schedule},
        sha256::{SHA256, constants::Sha256},
    },
    kernel::{Block, End, Job, Kernel, Start},
    overlay::MAX_BLOCK,
    plan::Plan,
    words::Words,
};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The second block of every message: a one bit, and the length of 512 bits.
static PADDING: [u8; MAX_BLOCK] = {
    let mut padding = [0; MAX_BLOCK];
    padding[0] = 0x80;
    padding[62] = 2;
    padding
};

/// The plan of every call, made once: to make it takes as long as half a block.
static PLAN: Plan = Plan::block_and_padding(SHA256.framing, PADDING);

/// Writes the SHA-256 digests of `count` messages of 64 bytes, which lie one after another at `pairs`, to `out`.
///
/// The digests may overwrite messages: in place, a level of a tree becomes the next.
///
/// # Safety
/// `64 * count` bytes can be read at `pairs`, and `32 * count` bytes be written at `out`, and no other thread uses either. `out` begins at
/// `pairs` or before, or the two do not overlap.
pub unsafe fn sha256_pairs(pairs: *const u8, count: usize, out: *mut u8) {
    /// Fewer messages than this are for [`FEW`], on the instruction set in use; 0 if that is not known yet, or they are not. One number to
    /// look at before a single message is hashed.
    static BELOW: AtomicUsize = AtomicUsize::new(0);
    if let Some((_, few)) = FEW
        && count < BELOW.load(Ordering::Relaxed)
    {
        // SAFETY: the number was stored because the machine has the instructions, and the rest is promised.
        return unsafe { few(pairs, count, out) };
    }
    let cpu = active_or_detected();
    if is_for_few(cpu, count) {
        // The choice is the same for all counts above `MAX_LANES`.
        let end = (1..=MAX_LANES + 1).find(|&count| !is_for_few(cpu, count));
        BELOW.store(end.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
    // SAFETY: the same promises.
    unsafe { sha256_pairs_on(cpu, pairs, count, out) }
}

/// Whether [`FEW`] is there, and best for so many messages.
fn is_for_few(cpu: Cpu, count: usize) -> bool {
    FEW.is_some_and(|(needed, _)| cpu.features().contain(needed)) && SHA256.family.pick(cpu, count).lanes <= 4
}

/// [`sha256_pairs`], on a given instruction set.
///
/// # Safety
/// As for [`sha256_pairs`].
pub unsafe fn sha256_pairs_on(cpu: Cpu, pairs: *const u8, count: usize, out: *mut u8) {
    if let Some((_, few)) = FEW
        && is_for_few(cpu, count)
    {
        // SAFETY: the machine has the instructions, and the rest is promised.
        return unsafe { few(pairs, count, out) };
    }
    let (grid, terms) = (Grid::apart(pairs, 64, count), Sha256::AFTER_BLOCK.as_ptr().cast());
    let job = Job { terms, ..Job::new(&PLAN, Start::Same(&SHA256.start), grid, End::Digests(out, 32)) };
    // SAFETY: the messages have the block that the plan takes, and `out` has a place for each digest. The terms are those of SHA-256, and
    // static. Kernels go from left to right, and read all messages that they hash side by side before they write digests, which are half as
    // long: no digest overwrites a message that is still to be read.
    unsafe { SHA256.family.dispatch(cpu, &job) }
}

/// Does what [`sha256_pairs`] does, with instructions that the caller knows to be there.
type Few = unsafe fn(*const u8, usize, *mut u8);

/// Hashes messages that are too few for wide kernels by the SHA instructions, if this architecture has them, without the loop that any plan
/// takes: a single message takes a third less time.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const FEW: Option<(Features, Few)> = Some((
    Features::SHANI,
    featured! {
        SHANI unsafe fn few(pairs: *const u8, count: usize, out: *mut u8) {
            let mut left = Left { pairs, count, out };
            // SAFETY: the same promises. The instruction set is the one that these kernels need.
            unsafe {
                left.hash::<shani::InStep<4>, 4>();
                left.hash::<shani::InStep<2>, 2>();
                left.hash::<shani::InStep<1>, 1>();
            }
        }
    },
));
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
const FEW: Option<(Features, Few)> = Some((
    Features::ARMSHA,
    featured! {
        ARMSHA unsafe fn few(pairs: *const u8, count: usize, out: *mut u8) {
            let mut left = Left { pairs, count, out };
            // SAFETY: the same promises. The instruction set is the one that these kernels need.
            unsafe {
                left.hash::<armsha::InStep<2>, 2>();
                left.hash::<armsha::InStep<1>, 1>();
            }
        }
    },
));
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little")
)))]
const FEW: Option<(Features, Few)> = None;

/// The messages that are left, and the place of their digests.
#[allow(dead_code)] // Not every architecture has SHA instructions.
struct Left {
    pairs: *const u8,
    count: usize,
    out: *mut u8,
}

#[allow(dead_code)] // The same.
impl Left {
    /// Hashes `N` messages at a time until fewer are left.
    ///
    /// # Safety
    /// As for [`sha256_pairs`], with the messages that are left; the machine has the kernel's instruction set.
    #[inline(always)]
    unsafe fn hash<K: Kernel<Context = Schedule>, const N: usize>(&mut self) {
        while self.count >= N {
            // SAFETY: there are so many messages, and room for as many digests; the rest is promised.
            unsafe { side_by_side::<K, N>(self.pairs, self.out) };
            self.pairs = self.pairs.wrapping_add(64 * N);
            self.out = self.out.wrapping_add(32 * N);
            self.count -= N;
        }
    }
}

/// `N` messages side by side.
///
/// # Safety
/// As for [`sha256_pairs`], with so many messages; the machine has the kernel's instruction set.
#[inline(always)]
unsafe fn side_by_side<K: Kernel<Context = Schedule>, const N: usize>(pairs: *const u8, out: *mut u8) {
    const { assert!(K::LANES == N && K::DIGEST == 32 && K::SAME) };
    let mut pointers = [pairs; N];
    let mut at = 1;
    while at < N {
        pointers[at] = pairs.wrapping_add(64 * at);
        at += 1;
    }
    // SAFETY: the instructions are promised, and the messages' bytes. The padding has a block and the schedule 64 words, both static. All
    // messages are read before the first digest is written.
    unsafe {
        // A constant, so that the compiler can put its words in the order of the instructions.
        let mut state = K::same(const { Words::of32(&ROOTS32) }.as_ptr());
        K::fold(&mut state, Block::Each(pointers.as_ptr(), 0), &Schedule::default());
        K::fold(&mut state, Block::Same(PADDING.as_ptr()), &Schedule::whole(Sha256::AFTER_BLOCK));
        K::digests(&state, out, 32);
    }
}
