//! Blocks one by one, inside the loop: for machines that compile it ahead of time.

use crate::kernel::{Block, Context, Kernel};

/// Whether messages that conflict in the cache are copied.
pub(super) const STAGES: bool = true;

/// The number of the `left` blocks of a step that [`fold`] takes at once.
#[inline(always)]
pub(super) fn at_once<K: Kernel>(_left: usize, _last: bool) -> usize {
    1
}

/// [`Kernel::fold`].
///
/// # Safety
/// As for [`Kernel::fold`].
#[inline(always)]
pub(super) unsafe fn fold<K: Kernel>(
    state: &mut K::State,
    block: Block,
    context: &mut K::Context,
    _blocks: usize,
    _size: usize,
) {
    // SAFETY: the same promises.
    unsafe { K::fold(state, block, context) };
    context.next();
}
