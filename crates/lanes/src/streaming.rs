//! Copies that leave the caches to what is read again, and whether they are worth while on this machine.

use crate::cpu::Chip;

/// The way to store what is written once, not read soon, and larger than the caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stores {
    /// As everything else.
    Plain,
    /// By [`copy_streaming`].
    Streaming,
}

impl Stores {
    /// The name: `plain` or `streaming`.
    pub fn name(self) -> &'static str {
        match self {
            Stores::Plain => "plain",
            Stores::Streaming => "streaming",
        }
    }
}

/// The stores that were faster on chips of this machine's family.
///
/// 2^25 leaves of 32 bytes, all nodes over them: on Zen 4, plain stores take 7 % less processor time; on Zen 5 and on Intel's chips,
/// streaming ones take less.
pub fn stores() -> Stores {
    if Chip::of_this_machine().is_some_and(Chip::is_zen) { Stores::Plain } else { Stores::Streaming }
}

/// Copies `from` to `to` past the caches, where the processor can: for what is written once and not read soon.
///
/// A plain store fetches its line from memory first and pushes out another; this one only writes. Whoever reads `to`
/// later, on any thread, reads what was copied.
///
/// # Panics
/// If the two are not equally long.
pub fn copy_streaming(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "as many bytes there as here");
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        /// A cache line: lines are written whole.
        const LINE: usize = 64;
        let skew = to.as_ptr().align_offset(LINE).min(to.len());
        let (head, body) = to.split_at_mut(skew);
        let (first, rest) = from.split_at(skew);
        let (lines, tail) = body.split_at_mut(body.len() - body.len() % LINE);
        let (whole, last) = rest.split_at(lines.len());
        head.copy_from_slice(first);
        for (line, from) in lines.chunks_exact_mut(LINE).zip(whole.chunks_exact(LINE)) {
            let (line, from): (*mut __m128i, *const __m128i) = (line.as_mut_ptr().cast(), from.as_ptr().cast());
            // SAFETY: SSE2 is a part of x86-64; both have 64 bytes, and `line` begins at a multiple of 64.
            unsafe {
                let words = [
                    _mm_loadu_si128(from),
                    _mm_loadu_si128(from.add(1)),
                    _mm_loadu_si128(from.add(2)),
                    _mm_loadu_si128(from.add(3)),
                ];
                _mm_stream_si128(line, words[0]);
                _mm_stream_si128(line.add(1), words[1]);
                _mm_stream_si128(line.add(2), words[2]);
                _mm_stream_si128(line.add(3), words[3]);
            }
        }
        tail.copy_from_slice(last);
        // SAFETY: SSE is a part of x86-64. What is stored after this is seen after what was streamed before.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    to.copy_from_slice(from);
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use std::{vec, vec::Vec};

    #[test]
    fn every_length_at_every_skew() {
        let from: Vec<u8> = (0..512).map(|i| (i % 251) as u8).collect();
        for skew in 0..64 {
            for len in (0..300).step_by(if cfg!(miri) { 37 } else { 1 }) {
                let mut to = vec![0xa5; 512];
                copy_streaming(&from[skew / 2..][..len], &mut to[skew..][..len]);
                assert_eq!(to[skew..][..len], from[skew / 2..][..len]);
                assert!(to[..skew].iter().chain(&to[skew + len..]).all(|&byte| byte == 0xa5), "{len} bytes at {skew}");
            }
        }
    }
}
