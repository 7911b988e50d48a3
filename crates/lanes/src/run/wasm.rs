//! Blocks out of line, for WebAssembly: V8 is slower where the compression function of several lanes is a part of a longer
//! loop. The one of a single lane is faster as a part of a short loop over a message's blocks (lab/js).

use crate::kernel::{Block, Context, Kernel};

/// Whether messages that conflict in the cache are copied: few lanes conflict little, and copying costs more than that.
pub(super) const STAGES: bool = false;

/// The number of the `left` blocks of a step that [`fold`] takes at once: of a single lane, all but the message's last.
#[inline(always)]
pub(super) fn at_once<K: Kernel>(left: usize, last: bool) -> usize {
    if K::LANES > 1 { 1 } else { (left - last as usize).max(1) }
}

/// [`Kernel::fold`], of so many blocks of `size` bytes that lie one after another.
///
/// # Safety
/// As for [`Kernel::fold`], for each block; one block of several lanes, and blocks of a single lane behind its pointer.
#[inline(never)]
pub(super) unsafe fn fold<K: Kernel>(
    state: &mut K::State,
    block: Block,
    context: &mut K::Context,
    blocks: usize,
    size: usize,
) {
    if K::LANES > 1 {
        // SAFETY: the same promises.
        unsafe { K::fold(state, block, context) };
        return context.next();
    }
    const { assert!(!K::SAME) };
    // One way to the words: with a second one they would all lie in memory between reading and use.
    // SAFETY: the block of a single lane is behind its pointer, as promised.
    let (pointers, mut offset) = unsafe { block.each() };
    let (mut own, mut place) = (*state, *context);
    let mut left = blocks;
    while left > 0 {
        // SAFETY: `left` more blocks follow, of which each is at the next `offset`.
        unsafe { K::fold(&mut own, Block::Each(pointers, offset), &place) };
        place.next();
        offset += size as isize;
        left -= 1;
    }
    (*state, *context) = (own, place);
}
