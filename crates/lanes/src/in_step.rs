//! Kernels of several messages in step, each with a state of its own: for instructions that are made for one hash.

use crate::kernel::{Block, Context, Kernel};
use core::marker::PhantomData;

/// The state of one message, of `WORDS` words of 32 bits, in the registers of its hash's own instructions.
///
/// A value is the proof that the machine has them.
pub(crate) trait Chain<const WORDS: usize>: Copy {
    /// What is mixed in beside the blocks.
    type Context: Context;

    /// The state with these words.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn new(words: &[u32; WORDS]) -> Self;

    /// The state's words.
    fn words(self) -> [u32; WORDS];

    /// Writes the digest, and up to 32 bytes in all.
    ///
    /// # Safety
    /// 32 bytes can be written.
    unsafe fn digest(self, out: *mut u8);

    /// Folds in one block of each message.
    ///
    /// # Safety
    /// As for [`Kernel::fold`].
    unsafe fn fold<const N: usize>(state: &mut [Self; N], block: Block, context: &Self::Context);
}

/// `N` messages in step.
pub(crate) struct InStep<S, const WORDS: usize, const N: usize>(PhantomData<S>);

impl<S: Chain<WORDS>, const WORDS: usize, const N: usize> Kernel for InStep<S, WORDS, N> {
    type State = [S; N];
    type Context = S::Context;
    const LANES: usize = N;
    type Each<T: Copy> = [T; N];
    const DIGEST: usize = 32;
    const SAME: bool = true;

    #[inline(always)]
    unsafe fn same(words: *const u8) -> [S; N] {
        // SAFETY: the instructions and the words of one state are promised; words of a state are aligned.
        unsafe { [S::new(&*words.cast::<[u32; WORDS]>()); N] }
    }

    #[inline(always)]
    unsafe fn load(words: *const u8) -> [S; N] {
        let words: *const u32 = words.cast();
        // SAFETY: the instructions are promised.
        let mut state = [unsafe { S::new(&[0; WORDS]) }; N];
        let mut n = 0;
        while n < N {
            let (mut own, mut at) = ([0; WORDS], 0);
            while at < WORDS {
                // SAFETY: `WORDS` words of each of `N` lanes are promised: word `at` of all lanes, then the next.
                own[at] = unsafe { *words.add(at * N + n) };
                at += 1;
            }
            // SAFETY: the instructions are promised.
            state[n] = unsafe { S::new(&own) };
            n += 1;
        }
        state
    }

    #[inline(always)]
    unsafe fn store(state: &[S; N], words: *mut u8) {
        let words: *mut u32 = words.cast();
        let mut n = 0;
        while n < N {
            let (own, mut at) = (state[n].words(), 0);
            while at < WORDS {
                // SAFETY: room for `WORDS` words of each of `N` lanes is promised, in the order of `load`.
                unsafe { *words.add(at * N + n) = own[at] };
                at += 1;
            }
            n += 1;
        }
    }

    #[inline(always)]
    unsafe fn fold(state: &mut [S; N], block: Block, context: &S::Context) {
        // SAFETY: the same promises.
        unsafe { S::fold(state, block, context) }
    }

    #[inline(always)]
    unsafe fn digests(state: &[S; N], out: *mut u8, stride: usize) {
        let mut n = 0;
        while n < N {
            // SAFETY: `DIGEST`, which is 32, bytes can be written `n * stride` bytes from `out`, as promised for each lane.
            unsafe { state[n].digest(out.add(n * stride)) };
            n += 1;
        }
    }
}
