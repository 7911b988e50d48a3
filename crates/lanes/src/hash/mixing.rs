//! The mixing function of BLAKE2 and BLAKE3 (RFC 7693, 3.1; the BLAKE3 paper, 2.2).

use crate::{
    hash::roots::{ROOTS32, ROOTS64},
    lane::{Lane, Word},
};

/// The differences between mixing words of 32 bits and of 64 bits.
pub(crate) trait Variant: Copy {
    type Word: Word;
    /// The rotations.
    const TURNS: [u32; 4];
    /// The initialization vector (RFC 7693, 2.6).
    const START: [Self::Word; 8];
}

/// Words of 32 bits: BLAKE2s and BLAKE3.
#[derive(Clone, Copy)]
pub(crate) struct Small;

/// Words of 64 bits: BLAKE2b.
#[derive(Clone, Copy)]
pub(crate) struct Big;

impl Variant for Small {
    type Word = u32;
    const TURNS: [u32; 4] = [16, 12, 8, 7];
    const START: [u32; 8] = ROOTS32;
}

impl Variant for Big {
    type Word = u64;
    const TURNS: [u32; 4] = [32, 24, 16, 63];
    const START: [u64; 8] = ROOTS64;
}

/// Mixes two message words into each column or diagonal: the four are written step by step, side by side, because each
/// step of one waits for the step before (RFC 7693, 3.1).
macro_rules! mix4 {
    ($v:ident, $m:ident, $order:expr, $turns:expr, $(($a:literal $b:literal $c:literal $d:literal, $k:literal)),*) => {
        $($v[$a] = $v[$a].add($m[$order[$k]]);)*
        $($v[$a] = $v[$a].add($v[$b]);)*
        $($v[$d] = $v[$d].xor($v[$a]);)*
        $($v[$d] = $v[$d].rotr($turns[0]);)*
        $($v[$c] = $v[$c].add($v[$d]);)*
        $($v[$b] = $v[$b].xor($v[$c]);)*
        $($v[$b] = $v[$b].rotr($turns[1]).fence();)*
        $($v[$a] = $v[$a].add($m[$order[$k + 1]]);)*
        $($v[$a] = $v[$a].add($v[$b]);)*
        $($v[$d] = $v[$d].xor($v[$a]);)*
        $($v[$d] = $v[$d].rotr($turns[2]);)*
        $($v[$c] = $v[$c].add($v[$d]);)*
        $($v[$b] = $v[$b].xor($v[$c]);)*
        $($v[$b] = $v[$b].rotr($turns[3]).fence();)*
    };
}

/// The first half of a round, which mixes the columns with the first 8 of the message's words in the given order (RFC 7693, 3.2).
#[inline(always)]
pub(crate) fn columns<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    mix4!(v, m, order, turns, (0 4 8 12, 0), (1 5 9 13, 2), (2 6 10 14, 4), (3 7 11 15, 6));
}

/// The other half, which mixes the diagonals with the last 8.
#[inline(always)]
pub(crate) fn diagonals<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    mix4!(v, m, order, turns, (0 5 10 15, 8), (1 6 11 12, 10), (2 7 8 13, 12), (3 4 9 14, 14));
}

/// One round.
#[inline(always)]
pub(crate) fn round<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    columns(v, m, order, turns);
    diagonals(v, m, order, turns);
}
