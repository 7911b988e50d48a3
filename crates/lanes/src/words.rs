//! The words of one message's state.

/// The size of a hash function's words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordSize {
    Bits32,
    Bits64,
}

impl WordSize {
    /// The size of a type, which is `u32` or `u64`.
    pub const fn of<T>() -> Self {
        if size_of::<T>() == 8 { WordSize::Bits64 } else { WordSize::Bits32 }
    }

    /// The size in bytes: 4 or 8.
    #[inline(always)]
    pub const fn bytes(self) -> usize {
        match self {
            WordSize::Bits32 => 4,
            WordSize::Bits64 => 8,
        }
    }
}

/// The words of a state in the machine's own order: up to 25 of 64 bits, or words of 32 bits.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Words([u64; 25]);

impl Words {
    /// All words zero.
    pub const ZERO: Words = Words([0; 25]);

    /// Words of 64 bits.
    pub const fn of64(words: &[u64]) -> Self {
        let mut all = [0; 25];
        let mut at = 0;
        while at < words.len() {
            all[at] = words[at];
            at += 1;
        }
        Words(all)
    }

    /// Words of 32 bits.
    pub const fn of32(words: &[u32]) -> Self {
        let mut all = [0; 25];
        let mut at = 0;
        while at < words.len() {
            // Two words share one of 64 bits, in the order of the machine's memory.
            let high = (at % 2 == 1) == cfg!(target_endian = "little");
            all[at / 2] |= (words[at] as u64) << if high { 32 } else { 0 };
            at += 1;
        }
        Words(all)
    }

    /// A pointer to the first word.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    /// A pointer to the first word.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}
