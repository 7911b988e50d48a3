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
    ($m:ident, $order:expr, $turns:expr, $(($a:ident $b:ident $c:ident $d:ident, $k:literal)),*) => {
        mix4!(@half $m, $order, [$turns[0], $turns[1]], $(($a $b $c $d, $k)),*);
        mix4!(@half $m, $order, [$turns[2], $turns[3]], $(($a $b $c $d, $k + 1)),*);
    };
    (@half $m:ident, $order:expr, $turns:expr, $(($a:ident $b:ident $c:ident $d:ident, $k:expr)),*) => {
        $($a.add_in(&$m[$order[$k]]);)*
        $($a.add_in($b);)*
        $($d.xor_in($a);)*
        $($d.rotr_in($turns[0]);)*
        $($c.add_in($d);)*
        $($b.xor_in($c);)*
        $($b.rotr_in($turns[1]); $b.fence_in();)*
    };
}

/// The first half of a round, which mixes the columns with the first 8 of the message's words in the given order (RFC 7693, 3.2).
#[inline(always)]
pub(crate) fn columns<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    let [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15] = v;
    mix4!(m, order, turns, (v0 v4 v8 v12, 0), (v1 v5 v9 v13, 2), (v2 v6 v10 v14, 4), (v3 v7 v11 v15, 6));
}

/// The other half, which mixes the diagonals with the last 8.
#[inline(always)]
pub(crate) fn diagonals<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    let [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15] = v;
    mix4!(m, order, turns, (v0 v5 v10 v15, 8), (v1 v6 v11 v12, 10), (v2 v7 v8 v13, 12), (v3 v4 v9 v14, 14));
}

/// One round.
#[inline(always)]
pub(crate) fn round<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    columns(v, m, order, turns);
    diagonals(v, m, order, turns);
}
