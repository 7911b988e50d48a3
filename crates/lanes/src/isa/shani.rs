//! The SHA extensions of x86: SHA-256 and SHA-1 for one message, or several in step.

use crate::{
    kernel::{Kernel, Place, Source, own_words, put_words},
    sha256,
};
use core::arch::x86_64::*;

/// SHA-256 of `N` messages in step.
pub(crate) struct Sha256<const N: usize>;

/// SHA-1 of `N` messages in step.
pub(crate) struct Sha1<const N: usize>;

/// The state in the order that the instructions take: `a b e f` and `c d g h`, the first word highest.
#[derive(Clone, Copy)]
pub(crate) struct Halves {
    abef: __m128i,
    cdgh: __m128i,
}

/// The state in the order that the instructions take: `a b c d`, the first word highest, and `e` in the highest word.
#[derive(Clone, Copy)]
pub(crate) struct Five {
    abcd: __m128i,
    e: __m128i,
}

/// Evaluates an expression of intrinsics and reads of a caller's memory.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: the kernel's caller promised the SHA extensions, SSSE3 and SSE4.1, and the memory.
        unsafe { $($body)* }
    };
}

/// Words with the first byte the most significant.
#[inline(always)]
fn reversed(words: __m128i) -> __m128i {
    op!(_mm_shuffle_epi8(words, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)))
}

impl Halves {
    #[inline(always)]
    fn new(words: &[u32; 8]) -> Self {
        op! {
            let abcd = _mm_loadu_si128(words.as_ptr().cast());
            let efgh = _mm_loadu_si128(words.as_ptr().add(4).cast());
            let (dcba, hgfe) = (_mm_shuffle_epi32::<0b00_01_10_11>(abcd), _mm_shuffle_epi32::<0b00_01_10_11>(efgh));
            Halves { abef: _mm_unpackhi_epi64(hgfe, dcba), cdgh: _mm_unpacklo_epi64(hgfe, dcba) }
        }
    }

    #[inline(always)]
    fn ordered(self) -> [__m128i; 2] {
        op! {
            let (dcba, hgfe) = (_mm_unpackhi_epi64(self.cdgh, self.abef), _mm_unpacklo_epi64(self.cdgh, self.abef));
            [_mm_shuffle_epi32::<0b00_01_10_11>(dcba), _mm_shuffle_epi32::<0b00_01_10_11>(hgfe)]
        }
    }

    #[inline(always)]
    fn words(self) -> [u32; 8] {
        let mut words = [0; 8];
        let [abcd, efgh] = self.ordered();
        op! {
            _mm_storeu_si128(words.as_mut_ptr().cast(), abcd);
            _mm_storeu_si128(words.as_mut_ptr().add(4).cast(), efgh);
        }
        words
    }

    /// # Safety
    /// There is room for 32 bytes.
    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        let [abcd, efgh] = self.ordered();
        op! {
            _mm_storeu_si128(out.cast(), reversed(abcd));
            _mm_storeu_si128(out.add(16).cast(), reversed(efgh));
        }
    }
}

/// Four rounds of every message, with the schedule's next four words and their constants.
#[inline(always)]
fn four<const N: usize>(state: &mut [Halves; N], scheduled: [__m128i; N]) {
    let mut n = 0;
    while n < N {
        let (s, words) = (&mut state[n], scheduled[n]);
        op! {
            s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, words);
            s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32::<0b00_00_11_10>(words));
        }
        n += 1;
    }
}

impl<const N: usize> Kernel for Sha256<N> {
    in_step!(Halves: 8);

    #[inline(always)]
    unsafe fn fold(state: &mut [Halves; N], source: Source, _: &Place) {
        let before = *state;
        let mut words = [before[0].abef; N];
        if let Source::Scheduled(schedule) = source {
            let mut t = 0;
            while t < 64 {
                words = [op!(_mm_loadu_si128(schedule.add(4 * t).cast())); N];
                four(state, words);
                t += 4;
            }
        } else {
            let at = op!(source.every_row::<N>());
            // The schedule's last 16 words.
            let mut w = [[words[0]; 4]; N];
            macro_rules! next {
                ($($t:literal)*) => { $({
                    let k = op!(_mm_loadu_si128(sha256::K.as_ptr().add(4 * $t).cast()));
                    let mut n = 0;
                    while n < N {
                        let w = &mut w[n];
                        op! {
                            w[$t % 4] = if $t < 4 {
                                reversed(_mm_loadu_si128(at[n].wrapping_add(16 * $t).cast()))
                            } else {
                                let seventh = _mm_alignr_epi8::<4>(w[($t + 3) % 4], w[($t + 2) % 4]);
                                let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[$t % 4], w[($t + 1) % 4]), seventh);
                                _mm_sha256msg2_epu32(sum, w[($t + 3) % 4])
                            };
                            words[n] = _mm_add_epi32(w[$t % 4], k);
                        }
                        n += 1;
                    }
                    four(state, words);
                })* };
            }
            next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        }
        let mut n = 0;
        while n < N {
            op! {
                state[n].abef = _mm_add_epi32(state[n].abef, before[n].abef);
                state[n].cdgh = _mm_add_epi32(state[n].cdgh, before[n].cdgh);
            }
            n += 1;
        }
    }
}

impl Five {
    #[inline(always)]
    fn new(words: &[u32; 5]) -> Self {
        op! {
            let abcd = _mm_loadu_si128(words.as_ptr().cast());
            Five { abcd: _mm_shuffle_epi32::<0b00_01_10_11>(abcd), e: _mm_set_epi32(words[4] as i32, 0, 0, 0) }
        }
    }

    #[inline(always)]
    fn words(self) -> [u32; 5] {
        let mut words = [0; 4];
        op! {
            _mm_storeu_si128(words.as_mut_ptr().cast(), _mm_shuffle_epi32::<0b00_01_10_11>(self.abcd));
            [words[0], words[1], words[2], words[3], _mm_extract_epi32::<3>(self.e) as u32]
        }
    }

    /// # Safety
    /// There is room for 32 bytes: those beyond the digest are written, too.
    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        op! {
            _mm_storeu_si128(out.cast(), reversed(_mm_shuffle_epi32::<0b00_01_10_11>(self.abcd)));
            _mm_storeu_si128(out.add(16).cast(), reversed(_mm_srli_si128::<12>(self.e)));
        }
    }
}

impl<const N: usize> Kernel for Sha1<N> {
    in_step!(Five: 5);

    #[inline(always)]
    unsafe fn fold(state: &mut [Five; N], source: Source, _: &Place) {
        let (before, at) = (*state, op!(source.every_row::<N>()));
        let mut w = [[before[0].e; 4]; N];
        // Four steps at a time; what `e` is four steps later is `a` of four steps before, rotated.
        macro_rules! next {
            ($($t:literal)*) => { $({
                let mut n = 0;
                while n < N {
                    let (w, s) = (&mut w[n], &mut state[n]);
                    op! {
                        w[$t % 4] = if $t < 4 {
                            // The first word is the highest one.
                            let words = _mm_loadu_si128(at[n].wrapping_add(16 * $t).cast());
                            _mm_shuffle_epi8(words, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
                        } else {
                            let sum = _mm_xor_si128(_mm_sha1msg1_epu32(w[$t % 4], w[($t + 1) % 4]), w[($t + 2) % 4]);
                            _mm_sha1msg2_epu32(sum, w[($t + 3) % 4])
                        };
                        let e = if $t == 0 { _mm_add_epi32(s.e, w[0]) } else { _mm_sha1nexte_epu32(s.e, w[$t % 4]) };
                        s.e = s.abcd;
                        s.abcd = _mm_sha1rnds4_epu32::<{ $t / 5 }>(s.abcd, e);
                    }
                    n += 1;
                }
            })* };
        }
        next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
        let mut n = 0;
        while n < N {
            op! {
                state[n].e = _mm_sha1nexte_epu32(state[n].e, before[n].e);
                state[n].abcd = _mm_add_epi32(state[n].abcd, before[n].abcd);
            }
            n += 1;
        }
    }
}
