//! The states of messages that share a kernel, in the kernel's own order.

use crate::{
    dispatch::Family,
    words::{WordSize, Words},
};
use alloc::vec::Vec;
use core::slice;

/// The first word of all lanes, then the second, and so on.
#[derive(Clone, Default)]
pub(crate) struct LaneStates {
    lanes: usize,
    words: Vec<Words>,
}

impl LaneStates {
    /// Any states, of a kernel of so many lanes.
    pub fn clear(&mut self, lanes: usize) {
        self.lanes = lanes;
        if self.words.len() < lanes {
            self.words.resize(lanes, Words::ZERO);
        }
    }

    /// The same state for each of so many lanes.
    pub fn same(family: &Family, lanes: usize, state: &Words) -> Self {
        let mut states = LaneStates::default();
        states.clear(lanes);
        for lane in 0..lanes {
            states.set(family, lane, state);
        }
        states
    }

    /// The memory as kernels take it.
    pub fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }

    /// The memory as kernels take it.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// The bytes of a word of the first lane's state.
    #[inline]
    pub fn word(&mut self, family: &Family, index: usize) -> &mut [u8] {
        assert!(index < family.words && self.lanes <= self.words.len());
        let size = family.word.bytes();
        // SAFETY: there are `Words` for each lane, and so room for the words of all of them: those of the first are `lanes` words apart.
        // They are borrowed mutably, and any bytes are a word.
        unsafe { slice::from_raw_parts_mut(self.as_mut_ptr().add(index * self.lanes * size), size) }
    }

    /// Sets a lane's state.
    pub fn set(&mut self, family: &Family, lane: usize, state: &Words) {
        assert!(lane < self.lanes);
        let (to, pitch) = (self.words.as_mut_ptr().cast(), self.lanes);
        // SAFETY: there are `Words` for each lane, and so room for the words of all of them: those of `lane` are `lanes` words apart.
        unsafe { copy_words(family, (state.as_ptr(), 1, 0), (to, pitch, lane)) };
    }

    /// Reads a lane's state.
    pub fn get(&self, family: &Family, lane: usize, state: &mut Words) {
        assert!(lane < self.lanes);
        let (from, pitch) = (self.words.as_ptr().cast(), self.lanes);
        // SAFETY: as for `set`.
        unsafe { copy_words(family, (from, pitch, lane), (state.as_mut_ptr(), 1, 0)) };
    }
}

/// Copies a state's words between memories of any alignment: from each, the first word's index and the distance between two words.
///
/// # Safety
/// The words can be read and written.
unsafe fn copy_words(family: &Family, from: (*const u8, usize, usize), to: (*mut u8, usize, usize)) {
    macro_rules! copy {
        ($word:ty) => {
            for index in 0..family.words {
                let (from, to) = (
                    from.0.cast::<$word>().add(index * from.1 + from.2),
                    to.0.cast::<$word>().add(index * to.1 + to.2),
                );
                *to = *from;
            }
        };
    }
    // SAFETY: just this promise; an array of bytes has any alignment.
    unsafe {
        match family.word {
            WordSize::Bits32 => copy!([u8; 4]),
            WordSize::Bits64 => copy!([u8; 8]),
        }
    }
}
