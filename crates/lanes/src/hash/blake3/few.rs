//! A few nodes of BLAKE3's tree, without the loop for many messages, which would take a good part of the time.

use crate::{
    cpu::{Cpu, Features},
    dispatch::featured,
    hash::{
        blake3::compress::{BLAKE3, Permuted, Picked, Terms, compress},
        by_rows::{ByRows, Flavour},
        roots::ROOTS32,
    },
    isa::{avx512, sse41},
    kernel::Kernel,
    lane::Lane,
    quad::Quad,
};
use core::ptr;

/// A few nodes of one length: chunks, or the pairs that parents are made of.
#[derive(Clone, Copy)]
pub(crate) struct Few {
    /// The first node, and the distance to the next one, in bytes.
    pub base: *const u8,
    pub stride: usize,
    /// The number of nodes, at least 1.
    pub count: usize,
    /// The bytes of each.
    pub len: usize,
}

/// [`hash_few_nodes`] on an instruction set.
pub(crate) type HashFewNodes = unsafe fn(nodes: Few, terms: &Terms, out: *mut u8);

/// The fastest function for so few nodes, where it is not the kernel for any messages.
pub(crate) fn fastest(cpu: Cpu, count: usize) -> Option<HashFewNodes> {
    macro_rules! by {
        ($set:ident $flavour:ty, $quad:ty) => {
            Some(featured! {
                $set unsafe fn by(nodes: Few, terms: &Terms, out: *mut u8) {
                    // SAFETY: the same promises. The instruction set is the one that these quads need.
                    unsafe { hash_few_nodes::<$flavour, $quad>(nodes, terms, out) }
                }
            })
        };
    }
    let features = cpu.features();
    match count {
        // Which one takes less time depends on the chip.
        1 if features.contain(Features::BMI) && !BLAKE3.family.pick(cpu, 1).by_rows => Some(featured! {
            BMI unsafe fn by_words(node: Few, terms: &Terms, out: *mut u8) {
                // SAFETY: the same promises.
                unsafe { hash_node(node, terms, out) }
            }
        }),
        1 if features.contain(Features::AVX512) => by!(AVX512 Picked, avx512::X32),
        2 if features.contain(Features::AVX512) => by!(AVX512 Permuted, avx512::Y32),
        3 | 4 if features.contain(Features::AVX512) => by!(AVX512 Permuted, avx512::Z32),
        1 if features.contain(Features::AVX2) => by!(AVX2 Picked, sse41::X32),
        1 if features.contain(Features::SSE41) => by!(SSE41 Picked, sse41::X32),
        _ => None,
    }
}

/// Writes the value of one node, a word at a time.
///
/// # Safety
/// The node can be read, and 32 bytes can be written.
#[inline(always)]
unsafe fn hash_node(Few { base, len, .. }: Few, terms: &Terms, out: *mut u8) {
    let (mut block, mut left, mut flags) = (base, len, terms.first | terms.every);
    let mut state = ROOTS32;
    let numbers = [terms.counter as u32, (terms.counter >> 32) as u32];
    let mut padded = [0; 64];
    // SAFETY: `left` bytes are left behind `block`, which is 64 bytes or is copied to where there are so many, and 32 bytes can be written.
    unsafe {
        loop {
            if left < 64 {
                ptr::copy_nonoverlapping(block, padded.as_mut_ptr(), left);
                block = padded.as_ptr();
            }
            let last = if left <= 64 { terms.last } else { 0 };
            compress::<false, u32>(&mut state, &raw const block, 0, numbers, [left.min(64) as u32, flags | last]);
            if left <= 64 {
                break;
            }
            (block, left, flags) = (block.add(64), left - 64, terms.every);
        }
        u32::write8::<false>(&state, out, 32);
    }
}

/// Writes the values of as many nodes as `Q` holds messages, or of fewer. Everything fits registers.
///
/// # Safety
/// The machine has the instruction set. There are 1 to `Q::LANES / 4` nodes, all of which can be read, and 32 bytes can be written for
/// each.
#[inline(always)]
unsafe fn hash_few_nodes<F: Flavour<Q>, Q: Quad<Word = u32>>(nodes: Few, terms: &Terms, out: *mut u8) {
    let Few { base, stride, count, len } = nodes;
    let messages = Q::LANES / 4;
    let (mut pointers, mut numbers) = ([base; 4], [[0; 4]; 4]);
    let mut message = 0;
    while message < messages {
        // Where there are fewer, the last one is hashed again.
        let place = message.min(count - 1);
        pointers[message] = base.wrapping_add(place * stride);
        let number = terms.counter + u64::from(terms.counts) * place as u64;
        numbers[message] = [number as u32, (number >> 32) as u32, 0, 0];
        message += 1;
    }
    let (mut left, mut flags) = (len, terms.first | terms.every);
    // SAFETY: the instruction set is promised. `numbers` are as many words as a quad has, at most 16; `left` bytes are left behind each
    // pointer; and 32 bytes can be written for each of `count` nodes, or for four in this function's own memory.
    unsafe {
        let numbers = if terms.counts { Q::load(numbers.as_ptr().cast()) } else { Q::fours(numbers[0]) };
        let mut state = <ByRows<F, Q> as Kernel>::same(BLAKE3.start.as_ptr());
        loop {
            let len = left.min(64);
            if left <= 64 {
                flags |= terms.last;
            }
            let row = Q::fours([0, 0, len as u32, flags]).xor(numbers);
            let blocks = if len == 64 { Q::blocks(pointers.as_ptr(), 0) } else { Q::part(pointers.as_ptr(), len) };
            ByRows::<F, Q>::compress(&mut state, &blocks, row);
            if left <= 64 {
                break;
            }
            (left, flags, message) = (left - 64, terms.every, 0);
            while message < messages {
                pointers[message] = pointers[message].add(64);
                message += 1;
            }
        }
        if count == messages {
            <ByRows<F, Q> as Kernel>::digests(&state, out, 32);
        } else {
            let mut values = [[0; 32]; 4];
            <ByRows<F, Q> as Kernel>::digests(&state, values.as_mut_ptr().cast(), 32);
            ptr::copy_nonoverlapping(values.as_ptr().cast(), out, 32 * count);
        }
    }
}
