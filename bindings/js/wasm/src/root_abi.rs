//! The exported functions for blocks, answers, formats and roots. Format strings and other short texts are passed in the buffer, and longer
//! bytes in blocks.
//!
//! A function that may fail returns 0 or the `Class` of its error, and stores its result or the message as the answer.

use crate::abi::buffer;
use crate::refusal::Refusal;
use crate::spec::{self, LastSpec};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem;
use mksum::{Frontier, Spec};
use mksum_js_host::{OneThread, Pool, exports};

/// The longest freed block that is kept for reuse: a worker's piece.
const SPARE: usize = 1 << 22;

/// State that outlives a call.
pub(crate) struct Global {
    pub(crate) last_spec: LastSpec,
    pub(crate) blocks: Pool<Vec<u8>>,
    /// A freed block. Reusing it for the next piece of a file avoids zeroing new memory.
    spare: Vec<u8>,
    trees: Pool<Frontier>,
    answer: Vec<u8>,
}

static GLOBAL: OneThread<RefCell<Global>> = OneThread(RefCell::new(Global {
    last_spec: LastSpec::new(),
    blocks: Pool::new(),
    spare: Vec::new(),
    trees: Pool::new(),
    answer: Vec::new(),
}));

fn global<T>(act: impl FnOnce(&mut Global) -> T) -> T {
    act(&mut GLOBAL.0.borrow_mut())
}

/// Calls a function that may fail, and stores its result or message as the answer.
pub(crate) fn answer<A: Into<Vec<u8>>>(act: impl FnOnce(&mut Global) -> Result<A, Refusal>) -> u32 {
    global(|global| match act(global) {
        Ok(answer) => {
            global.answer = answer.into();
            0
        }
        Err(Refusal(class, message)) => {
            global.answer = message.into();
            class as u32
        }
    })
}

/// As [`answer`], with the format that the input's first `len` bytes name.
pub(crate) fn of_spec<A: Into<Vec<u8>>>(
    len: u32,
    act: impl FnOnce(&Spec, &mut Pool<Vec<u8>>) -> Result<A, Refusal>,
) -> u32 {
    answer(|Global { last_spec, blocks, .. }| act(last_spec.parse(buffer(len).0)?, blocks))
}

exports! {
    /// Allocates a block of `len` bytes. Returns its number, or 2^32 - 1 if there is not enough memory.
    fn block(len: u32) -> u32 {
        global(|Global { blocks, spare, .. }| {
            let len = len as usize;
            let mut bytes = match (len..2 * len).contains(&spare.len()) {
                true => mem::take(spare),
                false => Vec::new(),
            };
            if bytes.try_reserve_exact(len.saturating_sub(bytes.len())).is_err() {
                return u32::MAX;
            }
            bytes.resize(len, 0);
            blocks.keep(bytes)
        })
    }

    /// Returns the address of a block.
    fn block_at(number: u32) -> *mut u8 {
        global(|global| global.blocks.get(number).as_mut_ptr())
    }

    /// Frees a block.
    fn block_end(number: u32) {
        global(|Global { blocks, spare, .. }| {
            let bytes = blocks.take(number);
            if (spare.len() + 1..=SPARE).contains(&bytes.len()) {
                *spare = bytes;
            }
        });
    }

    /// Returns the address of the answer.
    fn answer_at() -> *const u8 {
        global(|global| global.answer.as_ptr())
    }

    /// Returns the length of the answer, in bytes.
    fn answer_len() -> usize {
        global(|global| global.answer.len())
    }

    /// Frees the answer's memory.
    fn answer_end() {
        global(|global| global.answer = Vec::new());
    }

    /// Answers the facts of a format: see `spec::facts`.
    fn spec_facts(len: u32) -> u32 {
        of_spec(len, |spec, _| Ok(spec::facts(spec)))
    }

    /// Answers all formats: see `spec::formats`.
    fn formats() -> u32 {
        answer(|_| Ok(spec::formats()))
    }

    /// Answers the root of the input's bytes from the end of the format's text to `end`: its digest and text.
    fn root(len: u32, end: u32) -> u32 {
        of_spec(len, |spec, _| Ok(spec::answer(&spec.root(&buffer(end).0[len as usize..])?)))
    }

    /// Creates a frontier. Answers its number, in four bytes.
    fn tree(len: u32) -> u32 {
        answer(|Global { last_spec, trees, .. }| {
            let tree = last_spec.parse(buffer(len).0)?.frontier()?;
            Ok(trees.keep(tree).to_le_bytes())
        })
    }

    /// Appends the input's first `len` bytes to a frontier.
    fn tree_append(number: u32, len: u32) -> u32 {
        answer(|global| Ok(global.trees.get(number).update(buffer(len).0).map(|()| [])?))
    }

    /// Answers the root of a frontier's bytes so far: its digest and text.
    fn tree_root(number: u32) -> u32 {
        answer(|global| Ok(spec::answer(&global.trees.get(number).root()?)))
    }

    /// Frees a frontier.
    fn tree_end(number: u32) {
        global(|global| drop(global.trees.take(number)));
    }
}
