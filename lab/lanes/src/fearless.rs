//! A portable vector crate in the place of our lane trait: BLAKE3's pairs over `fearless_simd`, to weigh one against the
//! other. Its vectors are 16 words on every instruction set, made of smaller ones where there are no such registers.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u32x16};

/// The parents of pairs of 64 bytes, whole groups of 16, marked as a message of one block.
pub fn blake3_pairs(level: Level, pairs: &[u8], out: &mut [u8]) {
    dispatch!(level, simd => groups(simd, pairs, out))
}

#[inline(always)]
fn groups<S: Simd>(simd: S, pairs: &[u8], out: &mut [u8]) {
    for (group, out) in pairs.chunks_exact(1024).zip(out.chunks_exact_mut(512)) {
        let zero = u32x16::splat(simd, 0);
        let mut rows = [zero; 16];
        let mut lane = 0;
        while lane < 16 {
            let mut words = [0; 16];
            for (word, bytes) in words.iter_mut().zip(group[64 * lane..64 * lane + 64].as_chunks::<4>().0) {
                *word = u32::from_le_bytes(*bytes);
            }
            rows[lane] = u32x16::from_slice(simd, &words);
            lane += 1;
        }
        let values = compress(simd, &transposed(rows));
        let mut padded = [zero; 16];
        padded[..8].copy_from_slice(&values);
        let rows = transposed(padded);
        let mut lane = 0;
        while lane < 16 {
            let mut words = [0; 16];
            rows[lane].store_slice(&mut words);
            for (word, bytes) in words.iter().zip(out[32 * lane..32 * lane + 32].as_chunks_mut::<4>().0) {
                *bytes = word.to_le_bytes();
            }
            lane += 1;
        }
    }
}

/// Four times, each row is interleaved with the one half a square away.
#[inline(always)]
fn transposed<S: Simd>(mut rows: [u32x16<S>; 16]) -> [u32x16<S>; 16] {
    let mut stage = 0;
    while stage < 4 {
        let before = rows;
        let mut row = 0;
        while row < 8 {
            rows[2 * row] = before[row].zip_low(before[row + 8]);
            rows[2 * row + 1] = before[row].zip_high(before[row + 8]);
            row += 1;
        }
        stage += 1;
    }
    rows
}

const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

const ORDER: [[usize; 16]; 7] = {
    let permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut order = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut round = 1;
    while round < 7 {
        let mut word = 0;
        while word < 16 {
            order[round][word] = order[round - 1][permutation[word]];
            word += 1;
        }
        round += 1;
    }
    order
};

#[inline(always)]
fn rotr<S: Simd>(x: u32x16<S>, bits: u32) -> u32x16<S> {
    (x >> bits) | (x << (32 - bits))
}

macro_rules! mix4 {
    ($v:ident, $m:ident, $order:expr, $(($a:literal $b:literal $c:literal $d:literal, $k:literal)),*) => {
        $($v[$a] = $v[$a] + $m[$order[$k]] + $v[$b];)*
        $($v[$d] = rotr($v[$d] ^ $v[$a], 16);)*
        $($v[$c] = $v[$c] + $v[$d];)*
        $($v[$b] = rotr($v[$b] ^ $v[$c], 12);)*
        $($v[$a] = $v[$a] + $m[$order[$k + 1]] + $v[$b];)*
        $($v[$d] = rotr($v[$d] ^ $v[$a], 8);)*
        $($v[$c] = $v[$c] + $v[$d];)*
        $($v[$b] = rotr($v[$b] ^ $v[$c], 7);)*
    };
}

#[inline(always)]
fn compress<S: Simd>(simd: S, m: &[u32x16<S>; 16]) -> [u32x16<S>; 8] {
    let mut v = [u32x16::splat(simd, 0); 16];
    let mut at = 0;
    while at < 8 {
        v[at] = u32x16::splat(simd, START[at]);
        at += 1;
    }
    while at < 12 {
        v[at] = u32x16::splat(simd, START[at - 8]);
        at += 1;
    }
    // 64 bytes; the first and the last block of a chunk that is the root.
    v[14] = u32x16::splat(simd, 64);
    v[15] = u32x16::splat(simd, 11);
    macro_rules! rounds {
        ($($round:literal)*) => { $({
            mix4!(v, m, ORDER[$round], (0 4 8 12, 0), (1 5 9 13, 2), (2 6 10 14, 4), (3 7 11 15, 6));
            mix4!(v, m, ORDER[$round], (0 5 10 15, 8), (1 6 11 12, 10), (2 7 8 13, 12), (3 4 9 14, 14));
        })* };
    }
    rounds!(0 1 2 3 4 5 6);
    let mut out = [v[0]; 8];
    at = 0;
    while at < 8 {
        out[at] = v[at] ^ v[at + 8];
        at += 1;
    }
    out
}
