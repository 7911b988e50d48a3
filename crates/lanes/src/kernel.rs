//! The contract between the loop over blocks and a hash: jobs, blocks, contexts and kernels.

use crate::{
    grid::Grid,
    lane::Lane,
    overlay::Overlay,
    plan::{Plan, Step},
    words::Words,
};
use core::{hint, ptr};

/// Whether kernels have one way through their rounds, and a short one: in WebAssembly, where a module is downloaded.
pub(crate) const SMALL: bool = cfg!(target_family = "wasm");

/// Messages for a kernel.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The states before the first step.
    pub start: Start<'a>,
    /// Where the messages lie.
    pub grid: Grid,
    /// The blocks that are folded into the states.
    pub plan: &'a Plan,
    /// What the hash tells its own kernels: a pointer to the type that its [`Context`] reads, or null.
    pub terms: *const (),
    /// Where the states or digests go.
    pub end: End,
}

impl<'a> Job<'a> {
    /// A job without terms.
    pub fn new(plan: &'a Plan, start: Start<'a>, grid: Grid, end: End) -> Self {
        Job { start, grid, plan, terms: ptr::null(), end }
    }

    /// Whether pieces of messages are copied before they are hashed, where the platform does that.
    pub fn stages(&self) -> bool {
        self.grid.conflicts() && self.plan.steps().iter().any(Step::is_long)
    }
}

/// The states before the first step.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    /// One state for all messages.
    Same(&'a Words),
    /// A state for each lane, in the machine's own order: the first word of all lanes, then the second, and so on.
    Kept(*const u8),
}

/// Where the states or digests go.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// The states, as in [`Start::Kept`].
    Kept(*mut u8),
    /// The first bytes of the digests, so many of each, one digest after another.
    Digests(*mut u8, usize),
}

/// One block of each message.
#[derive(Clone, Copy)]
pub(crate) enum Block {
    /// So many bytes after each lane's pointer.
    Each(*const *const u8, isize),
    /// The same bytes for all messages.
    Same(*const u8),
    /// 16 words in lanes, one after another, as [`Lane::load`] reads them.
    Lanes(*const u8),
}

impl Block {
    /// The pointers and the offset, in kernels where [`Kernel::SAME`] is false.
    ///
    /// # Safety
    /// The block is a [`Block::Each`].
    #[inline(always)]
    pub unsafe fn each(self) -> (*const *const u8, isize) {
        match self {
            Block::Each(pointers, offset) => (pointers, offset),
            // SAFETY: the caller promises the other variant.
            _ => unsafe { hint::unreachable_unchecked() },
        }
    }

    /// The address of each message's block.
    ///
    /// # Safety
    /// If the block is a [`Block::Each`], it has `N` pointers.
    #[inline(always)]
    #[allow(dead_code)] // Only kernels of one message in step ask.
    pub unsafe fn addresses<const N: usize>(self) -> [*const u8; N] {
        match self {
            Block::Each(pointers, offset) => {
                let mut all = [ptr::null(); N];
                let mut message = 0;
                while message < N {
                    // SAFETY: the caller promises `N` pointers, and `message < N`.
                    all[message] = unsafe { (*pointers.add(message)).wrapping_offset(offset) };
                    message += 1;
                }
                all
            }
            Block::Same(block) | Block::Lanes(block) => [block; N],
        }
    }

    /// The block's 16 words, one after another in `N` vectors: they have `N` bytes each. `BIG` says that the first of these is the most
    /// significant.
    ///
    /// # Safety
    /// The block is there: `N` vectors of bytes behind the only pointer, or 16 words of the only lane.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    #[inline(always)]
    pub unsafe fn vectors<const N: usize, const BIG: bool>(self) -> [core::arch::wasm32::v128; N] {
        use core::arch::wasm32::{v128, v128_load};
        // SAFETY: one lane has one pointer.
        let from: *const v128 = unsafe { self.addresses::<1>()[0] }.cast();
        // SAFETY: `N` vectors are promised; the loads need no alignment.
        let mut words = unsafe { [v128_load(from); N] };
        let mut at = 0;
        while at < N {
            // SAFETY: the same.
            let word = unsafe { v128_load(from.add(at)) };
            let reverse = BIG && !matches!(self, Block::Lanes(_));
            words[at] = if reverse { crate::isa::simd128::reversed::<N>(word) } else { word };
            at += 1;
        }
        words
    }

    /// The block's 16 words. `SAME` is the kernel's [`Kernel::SAME`].
    ///
    /// # Safety
    /// The machine has the instruction set of `L`. The block is there: 16 words behind each pointer, or for all messages, or 16
    /// words of each lane. It is a [`Block::Same`] only if `SAME`.
    #[inline(always)]
    pub unsafe fn words<const BIG: bool, const SAME: bool, L: Lane>(self) -> [L; 16] {
        // SAFETY: the instruction set is promised, and each variant's words are what is promised for it. `Block::Same` without
        // `SAME`, which is promised not to come, is the only unreachable one.
        unsafe {
            match self {
                Block::Each(pointers, offset) => L::read16::<BIG>(pointers, offset),
                Block::Same(block) if SAME => {
                    let words = L::Word::read16::<BIG>([block].as_ptr(), 0);
                    let mut all = [L::broadcast(words[0]); 16];
                    let mut at = 1;
                    while at < 16 {
                        all[at] = L::broadcast(words[at]);
                        at += 1;
                    }
                    all
                }
                Block::Lanes(words) => {
                    let words = words.cast::<L::Word>();
                    let mut all = [L::load(words); 16];
                    let mut at = 1;
                    while at < 16 {
                        all[at] = L::load(words.add(at * L::LANES));
                        at += 1;
                    }
                    all
                }
                _ => hint::unreachable_unchecked(),
            }
        }
    }
}

/// What a hash mixes in beside the bytes of a block: counters, flags, a schedule that was computed before.
///
/// The loop creates one for a job and keeps it up to date; only the hash knows what is in it.
pub(crate) trait Context: Copy {
    /// Memory for values of each lane. It is a variable of its own, since memory that is indexed by a lane is no register.
    type Lanes;

    /// The context of a job before its first step. All messages are the first of their runs unless [`lane`](Context::lane)
    /// says otherwise.
    ///
    /// # Safety
    /// `job.terms` is what the context's hash tells its kernels. `lanes` can be written, and nobody else does as long as the
    /// context lives.
    unsafe fn new(job: &Job<'_>, lanes: *mut Self::Lanes) -> Self;

    /// The message in `lane` is the one at `place` of its run.
    ///
    /// # Safety
    /// `lane` is less than the kernel's lanes.
    #[inline(always)]
    unsafe fn lane(&mut self, _lane: usize, _place: usize) {}

    /// A step begins.
    #[inline(always)]
    fn step(&mut self, _step: &Step) {}

    /// The next block is the message's last.
    #[inline(always)]
    fn last(&mut self) {}

    /// A block was folded in.
    #[inline(always)]
    fn next(&mut self) {}
}

/// The context of hashes that mix nothing in.
impl Context for () {
    type Lanes = ();

    #[inline(always)]
    unsafe fn new(_: &Job<'_>, _: *mut ()) {}
}

/// A hash function over some messages side by side.
///
/// Every function is `#[inline(always)]`, so that it takes the target features of the function around the loop.
///
/// Three promises recur below. *Instructions*: the machine has the kernel's instruction set. *State*: the state's words of each
/// lane can be read or written, as in [`Start`]. *Block*: the block's bytes can be read.
pub(crate) trait Kernel {
    /// The states of all lanes.
    type State: Copy;

    /// What is mixed in beside the blocks.
    type Context: Context;

    /// The number of messages side by side.
    const LANES: usize;

    /// Memory for one value of each lane: `[T; LANES]`, or more.
    type Each<T: Copy>: Copy;

    /// The number of bytes that `digests` writes for each message: at least as many as any digest has.
    const DIGEST: usize;

    /// Whether `fold` has a short cut for [`Block::Same`]. Otherwise it never sees one, because the few extra loads cost less than
    /// two ways into the compression function.
    const SAME: bool;

    /// Whether a message's state is in rows of four words.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    const BY_ROWS: bool = false;

    /// The same state in all lanes.
    ///
    /// # Safety
    /// *Instructions*; *state*, of one message.
    unsafe fn same(words: *const u8) -> Self::State;

    /// A state for each lane.
    ///
    /// # Safety
    /// *Instructions*; *state*.
    unsafe fn load(words: *const u8) -> Self::State;

    /// Writes what `load` reads.
    ///
    /// # Safety
    /// *State*, for writing.
    unsafe fn store(state: &Self::State, words: *mut u8);

    /// Folds in one block of each message.
    ///
    /// # Safety
    /// *Instructions*; *block*: a [`Block::Same`] only if [`SAME`](Kernel::SAME). What the context points to can be read.
    unsafe fn fold(state: &mut Self::State, block: Block, context: &Self::Context);

    /// Writes [`DIGEST`](Kernel::DIGEST) bytes for each lane, `stride` bytes apart.
    ///
    /// # Safety
    /// They can be written.
    unsafe fn digests(state: &Self::State, out: *mut u8, stride: usize);

    /// Puts together a block for each lane.
    ///
    /// # Safety
    /// *Instructions*; the overlay's promises hold for [`LANES`](Kernel::LANES) messages.
    #[inline(always)]
    unsafe fn overlay(overlay: Overlay) {
        // SAFETY: the caller's promise about the overlay, for as many messages.
        unsafe { overlay.write(Self::LANES) }
    }
}

/// The functions of a [`Kernel`] whose state is an array of lanes `L`: so many.
macro_rules! lanes_state {
    ($words:literal) => {
        type Each<T: Copy> = <L as $crate::lane::Lane>::Each<T>;

        #[inline(always)]
        unsafe fn same(words: *const u8) -> [L; $words] {
            // SAFETY: the instruction set and the words of one state, `at` of which are below `$words`, are promised.
            unsafe {
                let words = words.cast::<<L as $crate::lane::Lane>::Word>();
                let mut state = [L::broadcast(*words); $words];
                let mut at = 1;
                while at < $words {
                    state[at] = L::broadcast(*words.add(at));
                    at += 1;
                }
                state
            }
        }

        #[inline(always)]
        unsafe fn load(words: *const u8) -> [L; $words] {
            // SAFETY: the instruction set is promised, and the words of all lanes, which are a vector for each of `$words`.
            unsafe {
                let words = words.cast::<<L as $crate::lane::Lane>::Word>();
                let mut state = [L::load(words); $words];
                let mut at = 1;
                while at < $words {
                    state[at] = L::load(words.add(at * L::LANES));
                    at += 1;
                }
                state
            }
        }

        #[inline(always)]
        unsafe fn store(state: &[L; $words], words: *mut u8) {
            let words = words.cast::<<L as $crate::lane::Lane>::Word>();
            let mut at = 0;
            while at < $words {
                // SAFETY: the words of all lanes can be written, as promised: a vector for each of `$words`.
                unsafe { state[at].store(words.add(at * L::LANES)) };
                at += 1;
            }
        }

        #[inline(always)]
        unsafe fn overlay(overlay: $crate::overlay::Overlay) {
            // SAFETY: the same promises: a kernel over `L` has as many lanes.
            unsafe { L::overlay(overlay) }
        }
    };
}
pub(crate) use lanes_state;

/// The items of a [`Kernel`] whose state is so many words in lanes, and whose blocks are 16 words that are folded into it by the
/// function `compress` beside it, with nothing else mixed in; `true` if the first byte of a word is the most significant.
macro_rules! words_kernel {
    ($words:literal, $big:literal) => {
        type State = [L; $words];
        type Context = ();
        const LANES: usize = L::LANES;
        const SAME: bool = !$crate::kernel::SMALL;
        $crate::kernel::lanes_state!($words);

        #[inline(always)]
        unsafe fn fold(state: &mut [L; $words], block: $crate::kernel::Block, (): &()) {
            // SAFETY: the instruction set and the block are promised; it is a `Block::Same` only if `SAME`.
            compress(state, unsafe { block.words::<$big, { !$crate::kernel::SMALL }, L>() });
        }
    };
}
pub(crate) use words_kernel;
