//! One file an instruction set: its vectors as lanes, and nothing about any hash.
//!
//! The macros are what their [`Lane`](crate::lane::Lane) implementations share: each takes an instruction set's functions by
//! name, on bare vectors. x86-64 without SSE2 is a kernel's or a firmware's: it may not touch vector registers.

#![allow(unused_macros)] // Where there are no vectors, or no SHA instructions.

/// The types, and each operation that is one intrinsic: to broadcast, load and store; then of two vectors.
macro_rules! words {
    (
        $vector:ty, $word:ty as $broadcast_as:ty: $broadcast:ident $load:ident $store:ident,
        $($method:ident $intrinsic:ident),*
    ) => {
        type Word = $word;
        const LANES: usize = size_of::<$vector>() / size_of::<$word>();
        type Each<T: Copy> = [T; size_of::<$vector>() / size_of::<$word>()];

        #[inline(always)]
        unsafe fn broadcast(word: $word) -> Self {
            op!(Self($broadcast(word as $broadcast_as)))
        }

        #[inline(always)]
        unsafe fn load(from: *const $word) -> Self {
            op!(Self($load(from.cast())))
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $word) {
            op!($store(to.cast(), self.0))
        }

        $(#[inline(always)]
        fn $method(self, other: Self) -> Self {
            op!(Self($intrinsic(self.0, other.0)))
        })*
    };
}

/// Reading messages word by word.
macro_rules! row1 {
    () => {
        #[inline(always)]
        unsafe fn rows1<const BIG: bool>(rows: *const *const u8, offset: isize) -> Self {
            let mut words = [0; Self::LANES];
            let mut lane = 0;
            while lane < Self::LANES {
                // SAFETY: the caller's promise: a word at each row.
                words[lane] = unsafe { <Self::Word as Lane>::rows1::<BIG>(rows.add(lane), offset) };
                lane += 1;
            }
            op!(Self::load(words.as_ptr()))
        }
    };
}

/// Reading messages: squares of as many rows as lanes are transposed.
macro_rules! rows {
    ($load:ident $reversed:path, $transpose:path) => {
        row1!();

        #[inline(always)]
        unsafe fn rows8<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 8] {
            op! {
                let mut words = [Self::broadcast(0); 8];
                let mut part = 0;
                while part < 8 {
                    let mut square = [words[0].0; Self::LANES];
                    let mut lane = 0;
                    while lane < Self::LANES {
                        let at = offset + (part * size_of::<Self::Word>()) as isize;
                        square[lane] = $load((*rows.add(lane)).wrapping_offset(at).cast());
                        if BIG {
                            square[lane] = $reversed(square[lane]);
                        }
                        lane += 1;
                    }
                    square = $transpose(square);
                    let mut word = 0;
                    while word < Self::LANES {
                        words[part + word] = Self(square[word]);
                        word += 1;
                    }
                    part += Self::LANES;
                }
                words
            }
        }
    };
}

/// Writing digests: the same, the other way.
macro_rules! digests {
    ($store:ident $reversed:path, $transpose:path) => {
        #[inline(always)]
        unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
            op! {
                let mut part = 0;
                while part < 8 {
                    let mut square = [words[0].0; Self::LANES];
                    let mut word = 0;
                    while word < Self::LANES {
                        square[word] = words[part + word].0;
                        word += 1;
                    }
                    square = $transpose(square);
                    let mut lane = 0;
                    while lane < Self::LANES {
                        let bytes = if BIG { $reversed(square[lane]) } else { square[lane] };
                        $store(out.add(lane * stride + part * size_of::<Self::Word>()).cast(), bytes);
                        lane += 1;
                    }
                    part += Self::LANES;
                }
            }
        }
    };
}

/// Shifts, and rotations of two shifts: where x86 has no instruction for them.
macro_rules! rotations {
    ($or:ident $left:ident $right:ident) => {
        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            op!(Self($right(self.0, _mm_cvtsi32_si128(bits as i32))))
        }

        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            if bits % 8 == 0 {
                return Self(turned::<{ size_of::<Self::Word>() }>(self.0, bits / 8));
            }
            let left = 8 * size_of::<Self::Word>() as i32 - bits as i32;
            op!(Self($or(self.shr(bits).0, $left(self.0, _mm_cvtsi32_si128(left)))))
        }
    };
}

/// Of a [`Kernel`](crate::kernel::Kernel) of `N` messages in step, all but the compression function: by what one message's
/// state does, of so many words.
macro_rules! in_step {
    ($state:ident: $words:literal) => {
        type State = [$state; N];
        const LANES: usize = N;
        type Each<T: Copy> = [T; N];
        const DIGEST: usize = 32;
        const SAME: bool = true;

        #[inline(always)]
        unsafe fn same(words: *const u8) -> [$state; N] {
            [$state::new(op!(&*words.cast::<[u32; $words]>())); N]
        }

        #[inline(always)]
        unsafe fn load(words: *const u8) -> [$state; N] {
            let mut state = [$state::new(&[0; $words]); N];
            let mut n = 0;
            while n < N {
                state[n] = $state::new(&op!(own_words::<N, $words>(words, n)));
                n += 1;
            }
            state
        }

        #[inline(always)]
        unsafe fn store(state: &[$state; N], words: *mut u8) {
            let mut n = 0;
            while n < N {
                op!(put_words::<N, $words>(&state[n].words(), words, n));
                n += 1;
            }
        }

        #[inline(always)]
        unsafe fn digests(state: &[$state; N], out: *mut u8, stride: usize) {
            let mut n = 0;
            while n < N {
                op!(state[n].digest(out.add(n * stride)));
                n += 1;
            }
        }
    };
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod armsha;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod portable;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod shani;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod simd128;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod sse41;
