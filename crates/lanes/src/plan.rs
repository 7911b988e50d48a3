//! The blocks of a message: prefix, padding, length, and the mark of the last block.

use crate::overlay::MAX_BLOCK;
use alloc::vec::Vec;
use core::{mem::MaybeUninit, slice};

/// The way in which a hash cuts messages into blocks.
#[derive(Clone, Copy)]
pub(crate) struct Framing {
    /// The size of a block, in bytes.
    pub block: usize,
    /// The end of a message.
    pub padding: Padding,
}

/// The end of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    /// A one bit, zeros, and the message's length in bits as a number of `bytes` bytes, most significant byte first if `big`: 8, or 16
    /// if `big` (FIPS 180-4, 5.1; RFC 1321, 3.1 and 3.2; GB/T 32905, 5.2).
    Length { bytes: usize, big: bool },
    /// Zeros: the last block is marked and counted instead (RFC 7693, 3.3; the BLAKE3 paper, 2.4).
    Zeros,
    /// This byte, zeros, and a one bit at the very end (FIPS 202, B.2).
    Sponge(u8),
}

impl Framing {
    /// Whether the last block is marked: then a full block must wait until it is known whether more bytes follow.
    pub fn marks_last(self) -> bool {
        self.padding == Padding::Zeros
    }

    /// The number of blocks in the first `len` bytes of a message that can be hashed before it is known what follows.
    pub fn whole_blocks(self, len: usize) -> usize {
        match self.marks_last() {
            true => len.saturating_sub(1) / self.block,
            false => len / self.block,
        }
    }

    /// The number of bytes after the whole blocks in the first `len` bytes of a message that can be hashed before it is known what
    /// follows.
    #[inline]
    pub fn tail(self, len: u64) -> u64 {
        let block = self.block as u64;
        match self.marks_last() && len > 0 {
            true => (len - 1) % block + 1,
            false => len % block,
        }
    }

    /// Ends a message with padding in a block that has zeros after the message's last `len` bytes; `before` bytes, whole blocks, come
    /// before it. Returns whether the block is the last one: otherwise the message's length goes into one more.
    pub fn pad(self, block: &mut [u8; MAX_BLOCK], before: u64, len: usize) -> bool {
        match self.padding {
            Padding::Zeros => {}
            Padding::Sponge(domain) => {
                block[len] = domain;
                block[self.block - 1] |= 0x80;
            }
            Padding::Length { bytes, .. } => {
                block[len] = 0x80;
                if len >= self.block - bytes {
                    return false;
                }
                self.write_length(block, before, len);
            }
        }
        true
    }

    /// Writes the length of a message of `before + len` bytes to the end of a block, where it goes.
    #[inline(never)]
    pub fn write_length(self, block: &mut [u8; MAX_BLOCK], before: u64, len: usize) {
        if let Padding::Length { bytes, big } = self.padding {
            let (total, end) = (before + len as u64, self.block);
            let low = if big { (total << 3).to_be_bytes() } else { (total << 3).to_le_bytes() };
            block[end - 8..end].copy_from_slice(&low);
            if bytes == 16 {
                block[end - 16..end - 8].copy_from_slice(&(total >> 61).to_be_bytes());
            }
        }
    }

    /// The bytes that follow a message of `len` bytes, up to whole blocks.
    pub fn after(self, len: u64) -> Vec<u8> {
        let tail = self.tail(len);
        let mut plan = Plan::new(self);
        plan.rest(&[], tail as usize, len - tail);
        let padded = plan.steps().iter().filter(|step| step.content != Content::Message);
        padded.flat_map(|step| &step.template[..self.block]).skip(tail as usize).copied().collect()
    }
}

/// Some consecutive blocks of every message.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// The bytes of the blocks.
    pub content: Content,
    /// The distance from a message's first byte to the step's first block, in bytes.
    pub offset: isize,
    /// The number of blocks: 1 unless [`Content::Message`].
    pub blocks: usize,
    /// The number of bytes hashed up to and including the first of these blocks.
    pub counter: u64,
    /// The bytes of the last of these blocks that are not padding.
    pub len: u32,
    /// Whether the first of these blocks is the message's first.
    pub first: bool,
    /// Whether the last of these blocks is the message's last.
    pub last: bool,
    /// The bytes that all messages share in the block, unless [`Content::Message`].
    pub template: [u8; MAX_BLOCK],
}

impl Step {
    /// Whether the step is long enough that messages which conflict in the cache are copied first.
    #[inline(always)]
    pub fn is_long(&self) -> bool {
        self.blocks > 2
    }
}

/// The bytes of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// The message's.
    Message,
    /// The template's, except for those from the first index to before the second, which are the message's.
    Overlaid(usize, usize),
    /// The template's.
    Template,
}

/// The steps of messages of one length.
pub(crate) struct Plan {
    framing: Framing,
    /// The first `count` are written. The others are not even cleared, which would take as long as hashing a block.
    steps: [MaybeUninit<Step>; 4],
    count: usize,
}

impl Plan {
    /// No steps. The functions below write them in place, because moving a plan takes as long as making it.
    pub fn new(framing: Framing) -> Self {
        Plan { framing, steps: [const { MaybeUninit::uninit() }; 4], count: 0 }
    }

    /// The steps of messages of exactly one block, which `padding` follows in a block of its own.
    pub const fn block_and_padding(framing: Framing, padding: [u8; MAX_BLOCK]) -> Self {
        let block = framing.block;
        let message = Step {
            content: Content::Message,
            offset: 0,
            blocks: 1,
            counter: block as u64,
            len: block as u32,
            first: true,
            last: false,
            template: [0; MAX_BLOCK],
        };
        let padding =
            Step { content: Content::Template, len: 0, first: false, last: true, template: padding, ..message };
        let unused = MaybeUninit::uninit();
        Plan { framing, steps: [MaybeUninit::new(message), MaybeUninit::new(padding), unused, unused], count: 2 }
    }

    /// The size of a block, in bytes.
    pub fn block(&self) -> usize {
        self.framing.block
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        // SAFETY: `push` wrote the first `count` steps, and nothing unwrites one.
        unsafe { slice::from_raw_parts(self.steps.as_ptr().cast(), self.count) }
    }

    /// Copies the bytes of a single message into the templates that they are to be laid over.
    pub fn include(&mut self, message: &[u8]) {
        // SAFETY: as for `steps`; the plan is borrowed mutably.
        let steps: &mut [Step] = unsafe { slice::from_raw_parts_mut(self.steps.as_mut_ptr().cast(), self.count) };
        for step in steps {
            if let Content::Overlaid(from, end) = step.content {
                let at = step.offset.wrapping_add_unsigned(from) as usize;
                step.template[from..end].copy_from_slice(&message[at..][..end - from]);
                step.content = Content::Template;
            }
        }
    }

    /// One step: `blocks` full blocks that are not the last ones, `offset` bytes after each message's pointer.
    pub fn blocks(&mut self, before: u64, offset: isize, blocks: usize) {
        self.message(before, offset, blocks, false);
    }

    /// The rest of each message, to its end: `prefix` (shorter than a block, or one block of a hash that marks its last), then
    /// `len` bytes at its pointer. `before` bytes, whole blocks, are already hashed.
    pub fn rest(&mut self, prefix: &[u8], len: usize, before: u64) {
        let (block, shared) = (self.framing.block, prefix.len());
        let total = shared + len;
        // The tail is what padding is added to: less than a block, but a full one where that must be marked as the last.
        let full = self.framing.whole_blocks(total);
        let tail = total - full * block;
        let overlaid = full.min((shared > 0) as usize);
        if overlaid > 0 {
            let step = self.push(before, -(shared as isize));
            step.content = if shared < block { Content::Overlaid(shared, block) } else { Content::Template };
            step.template[..shared].copy_from_slice(prefix);
        }
        let direct = full - overlaid;
        let offset = |blocks: usize| (blocks * block) as isize - shared as isize;
        let before_tail = before + (full * block) as u64;
        // A full last block needs no template.
        let last = tail == block && (full > 0 || shared == 0);
        self.message(before + (overlaid * block) as u64, offset(overlaid), direct + last as usize, last);
        if !last {
            let shared = if full == 0 { shared } else { 0 };
            self.tail(&prefix[..shared], before_tail, tail, offset(full));
        }
    }

    fn push(&mut self, before: u64, offset: isize) -> &mut Step {
        let (step, block) = (&mut self.steps[self.count], self.framing.block);
        self.count += 1;
        step.write(Step {
            content: Content::Template,
            offset,
            blocks: 1,
            counter: before + block as u64,
            len: block as u32,
            first: before == 0,
            last: false,
            template: [0; MAX_BLOCK],
        })
    }

    fn message(&mut self, before: u64, offset: isize, blocks: usize, last: bool) {
        if blocks > 0 {
            let step = self.push(before, offset);
            step.content = Content::Message;
            step.blocks = blocks;
            step.last = last;
        }
    }

    /// The last block or two: `shared`, then the message's bytes up to `len`, then padding.
    fn tail(&mut self, shared: &[u8], before: u64, len: usize, offset: isize) {
        let framing = self.framing;
        let content = if len > shared.len() { Content::Overlaid(shared.len(), len) } else { Content::Template };
        let step = self.push(before, offset);
        step.content = content;
        step.counter = before + len as u64;
        step.len = len as u32;
        step.last = true;
        step.template[..shared.len()].copy_from_slice(shared);
        if !framing.pad(&mut step.template, before, len) {
            step.last = false;
            let last = self.push(before + framing.block as u64, 0);
            last.last = true;
            framing.write_length(&mut last.template, before, len);
        }
    }
}
