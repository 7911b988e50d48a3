//! How a message becomes blocks: where each hash puts padding, length and the mark of the last block.

use crate::kernel::MAX_BLOCK;
use core::{mem::MaybeUninit, slice};

/// What a hash function does around its blocks.
pub(crate) struct Scheme {
    /// The size of a block, in bytes.
    pub block: usize,
    /// The end of a message.
    pub padding: Padding,
    /// The state before the first block, as the words of the kernel.
    pub start: Words,
}

/// How a message ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    /// A one bit, zeros, and the message's length in bits, so many bytes long (FIPS 180-4, 5.1; RFC 1321, 3.1 and 3.2).
    Length { bytes: usize, big: bool },
    /// Zeros: the last block is marked and counted instead (RFC 7693, 3.3; the BLAKE3 paper, 2.4).
    Zeros,
    /// This byte, zeros, and a one bit at the very end (FIPS 202, B.2).
    Sponge(u8),
}

impl Padding {
    /// Whether a full block must wait until it is known whether it is the last one.
    pub fn marks_last(self) -> bool {
        self == Padding::Zeros
    }
}

/// A state's words in the machine's own order: 25 of 64 bits, or fewer, or of 32 bits.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Words([u64; 25]);

impl Words {
    /// No words yet.
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

    /// The words' memory.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    /// The words' memory.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Some consecutive blocks of every message.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// Where the blocks' bytes come from.
    pub rows: Rows,
    /// From a message's first byte to the step's first block, in bytes.
    pub offset: isize,
    /// The number of blocks: 1 unless [`Rows::Direct`].
    pub blocks: usize,
    /// The bytes hashed up to and including the first of these blocks.
    pub counter: u64,
    /// The bytes of the last of these blocks that are not padding.
    pub len: u32,
    /// Whether the first of these blocks is the message's first.
    pub first: bool,
    /// Whether the last of these blocks is the message's last.
    pub last: bool,
    /// What every message has in the block, unless [`Rows::Direct`].
    pub template: [u8; MAX_BLOCK],
}

/// Where blocks' bytes come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// The message.
    Direct,
    /// The template, but the bytes from the first index to before the second are the message's.
    Overlaid(usize, usize),
    /// The template.
    Same,
}

/// The steps of messages of one length.
pub(crate) struct Plan {
    /// Steps that are not there are left as they are: clearing them takes as long as hashing a block.
    steps: [MaybeUninit<Step>; 4],
    count: usize,
}

impl Plan {
    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        // SAFETY: `push` wrote so many.
        unsafe { slice::from_raw_parts(self.steps.as_ptr().cast(), self.count) }
    }

    /// Copies what is not hashed where it lies into the templates, for a single message.
    pub fn include(&mut self, message: &[u8]) {
        // SAFETY: `push` wrote so many.
        let steps: &mut [Step] = unsafe { slice::from_raw_parts_mut(self.steps.as_mut_ptr().cast(), self.count) };
        for step in steps {
            if let Rows::Overlaid(from, end) = step.rows {
                let at = step.offset.wrapping_add_unsigned(from) as usize;
                step.template[from..end].copy_from_slice(&message[at..][..end - from]);
                step.rows = Rows::Same;
            }
        }
    }

    /// No steps yet. The functions below write theirs where the plan is: moving it takes as long as making it.
    pub fn new() -> Self {
        Plan { steps: [const { MaybeUninit::uninit() }; 4], count: 0 }
    }

    /// One step: `blocks` full blocks that are not the last ones, at `offset` bytes from each row.
    pub fn blocks(&mut self, scheme: &Scheme, before: u64, offset: isize, blocks: usize) {
        self.direct(scheme, before, offset, blocks, false);
    }

    /// The rest of each message, to its end: `prefix` (shorter than a block, or a block of a hash that marks its last),
    /// then `len` bytes at its row. `before` bytes, whole blocks, are already hashed.
    pub fn rest(&mut self, scheme: &Scheme, prefix: &[u8], len: usize, before: u64) {
        let (block, shared) = (scheme.block, prefix.len());
        let total = shared + len;
        // The tail is what padding is added to: less than a block, but a full one where that must be marked as the last.
        let full = match scheme.padding.marks_last() {
            true => total.saturating_sub(1) / block,
            false => total / block,
        };
        let tail = total - full * block;
        let overlaid = full.min((shared > 0) as usize);
        if overlaid > 0 {
            let step = self.push(scheme, before, -(shared as isize));
            step.rows = if shared < block { Rows::Overlaid(shared, block) } else { Rows::Same };
            step.template[..shared].copy_from_slice(prefix);
        }
        let direct = full - overlaid;
        let offset = |blocks: usize| (blocks * block) as isize - shared as isize;
        let before_tail = before + (full * block) as u64;
        // A full last block needs no template.
        let last = tail == block && (full > 0 || shared == 0);
        self.direct(scheme, before + (overlaid * block) as u64, offset(overlaid), direct + last as usize, last);
        if !last {
            let shared = if full == 0 { shared } else { 0 };
            self.tail(scheme, &prefix[..shared], before_tail, tail, offset(full));
        }
    }

    fn push(&mut self, scheme: &Scheme, before: u64, offset: isize) -> &mut Step {
        let step = &mut self.steps[self.count];
        self.count += 1;
        step.write(Step {
            rows: Rows::Same,
            offset,
            blocks: 1,
            counter: before + scheme.block as u64,
            len: scheme.block as u32,
            first: before == 0,
            last: false,
            template: [0; MAX_BLOCK],
        })
    }

    fn direct(&mut self, scheme: &Scheme, before: u64, offset: isize, blocks: usize, last: bool) {
        if blocks > 0 {
            let step = self.push(scheme, before, offset);
            step.rows = Rows::Direct;
            step.blocks = blocks;
            step.last = last;
        }
    }

    /// The last block or two: `shared`, then the message's bytes up to `len`, then padding.
    fn tail(&mut self, scheme: &Scheme, shared: &[u8], before: u64, len: usize, offset: isize) {
        let rows = if len > shared.len() { Rows::Overlaid(shared.len(), len) } else { Rows::Same };
        let step = self.push(scheme, before, offset);
        step.rows = rows;
        step.counter = before + len as u64;
        step.len = len as u32;
        step.last = true;
        step.template[..shared.len()].copy_from_slice(shared);
        match scheme.padding {
            Padding::Zeros => {}
            Padding::Sponge(domain) => {
                step.template[len] = domain;
                step.template[scheme.block - 1] |= 0x80;
            }
            Padding::Length { bytes, big } => {
                step.template[len] = 0x80;
                let bits = 8 * (before as u128 + len as u128);
                let field = scheme.block - bytes..scheme.block;
                let last = if len < field.start {
                    step
                } else {
                    step.last = false;
                    let last = self.push(scheme, before + scheme.block as u64, 0);
                    last.last = true;
                    last
                };
                match big {
                    true => last.template[field].copy_from_slice(&bits.to_be_bytes()[16 - bytes..]),
                    false => last.template[field].copy_from_slice(&bits.to_le_bytes()[..bytes]),
                }
            }
        }
    }
}
