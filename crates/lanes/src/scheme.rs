//! What distinguishes one hash from the others of its family: its framing and its first state.

use crate::{
    dispatch::Family,
    plan::{Framing, Step},
    words::Words,
};
use core::mem::MaybeUninit;

/// A hash, for the functions that hash by any.
pub(crate) struct Scheme {
    /// How a message becomes blocks.
    pub framing: Framing,
    /// The state before the first block.
    pub start: Words,
    /// The kernels.
    pub family: &'static Family,
    /// Computes once what many messages share in their last block, if the hash has a use for it.
    pub prepare: Option<Prepare>,
}

/// Returns the terms of a job (see [`Job::terms`](crate::kernel::Job)) of so many messages, whose last step is given. They lie in the
/// memory, or are static, or null.
pub(crate) type Prepare = fn(&Step, usize, &mut MaybeUninit<Prepared>) -> *const ();

/// Memory for what is prepared: a schedule of up to 80 words of 64 bits.
pub(crate) type Prepared = [u64; 80];

impl Scheme {
    /// A hash without anything to prepare.
    pub const fn new(framing: Framing, start: Words, family: &'static Family) -> Self {
        Scheme { framing, start, family, prepare: None }
    }
}
