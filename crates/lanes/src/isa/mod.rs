//! Instruction sets, a file each: their vectors as lanes. Nothing here knows a hash.
//!
//! The macros are the common parts of the [`Lane`](crate::lane::Lane) implementations. They take an instruction set's functions
//! by name, which work on bare vectors. An x86-64 without SSE2 belongs to a kernel or a firmware, which may not touch vector
//! registers, so it gets none.

#![allow(unused_macros)] // Some architectures have no vectors.

/// The types of a lane, and the operations that are one intrinsic each: broadcast, load and store, then those of two vectors.
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
            // SAFETY: the instruction set is promised, and `LANES` words, which are one vector. The intrinsic takes any alignment.
            unsafe { Self($load(from.cast())) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $word) {
            // SAFETY: `self` proves the instruction set. Room for `LANES` words, which are one vector, is promised; the intrinsic
            // takes any alignment.
            unsafe { $store(to.cast(), self.0) }
        }

        $(#[inline(always)]
        fn $method(self, other: Self) -> Self {
            op!(Self($intrinsic(self.0, other.0)))
        })*
    };
}

/// Reads messages word by word.
macro_rules! read1 {
    () => {
        #[inline(always)]
        unsafe fn read1<const BIG: bool>(pointers: *const *const u8, offset: isize) -> Self {
            let mut words = [0; Self::LANES];
            let mut lane = 0;
            while lane < Self::LANES {
                // SAFETY: a pointer for each lane is promised, and a word `offset` bytes after it.
                words[lane] = unsafe { <Self::Word as Lane>::read1::<BIG>(pointers.add(lane), offset) };
                lane += 1;
            }
            // SAFETY: the instruction set is promised, and `words` has a word for each lane.
            unsafe { Self::load(words.as_ptr()) }
        }
    };
}

/// Reads messages: squares of as many words of each message as there are lanes are transposed.
macro_rules! reads {
    ($load:ident $reversed:path, $transpose:path) => {
        read1!();

        #[inline(always)]
        unsafe fn read8<const BIG: bool>(pointers: *const *const u8, offset: isize) -> [Self; 8] {
            // SAFETY: the instruction set is promised.
            let mut words = [unsafe { Self::broadcast(0) }; 8];
            let mut part = 0;
            while part < 8 {
                let mut square = [words[0].0; Self::LANES];
                let mut lane = 0;
                while lane < Self::LANES {
                    let at = offset + (part * size_of::<Self::Word>()) as isize;
                    // SAFETY: the instruction set is promised, a pointer for each lane, and 8 words `offset` bytes after it. A vector
                    // from word `part` on ends with them, because the number of lanes divides 8.
                    square[lane] = unsafe { $load((*pointers.add(lane)).wrapping_offset(at).cast()) };
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
    };
}

/// Writes 8 words of each message: the same, the other way.
macro_rules! writes {
    ($store:ident $reversed:path, $transpose:path) => {
        #[inline(always)]
        unsafe fn write8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
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
                    // SAFETY: `words` prove the instruction set. Room for 8 words at `out + lane * stride` is promised for each lane,
                    // and a vector from word `part` on ends with them, because the number of lanes divides 8.
                    unsafe { $store(out.add(lane * stride + part * size_of::<Self::Word>()).cast(), bytes) };
                    lane += 1;
                }
                part += Self::LANES;
            }
        }
    };
}

/// Shifts, and rotations made of two shifts, for the instruction sets of x86 that have no rotation.
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

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod simd128;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod sse41;
