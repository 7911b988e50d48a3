//! The exported functions for trees. Format strings and other short texts are passed in the buffer, and longer bytes in blocks.
//!
//! Lengths and positions are `f64`, JavaScript's number type. JavaScript has checked that they are integers below 2^53. A
//! function that may fail returns 0 or the `Class` of its error, and stores its result or the message as the answer.

use crate::abi::buffer;
use crate::lots::Lot;
use crate::refusal::Refusal;
use crate::spec::{self, LastSpec};
use crate::{outboards, pieces, proofs};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem;
use mksum::proof::Claim;
use mksum::{Frontier, LeafHasher, Messages, Role, Spec, Subtree};
use mksum_js_host::{OneThread, Pool, exports};

/// The longest freed block that is kept for reuse: a worker's piece.
const SPARE: usize = 1 << 22;

/// State that outlives a call.
pub(crate) struct Global {
    last_spec: LastSpec,
    pub(crate) blocks: Pool<Vec<u8>>,
    /// A freed block. Reusing it for the next piece of a file avoids zeroing new memory.
    spare: Vec<u8>,
    trees: Pool<Frontier>,
    leaves: Pool<(LeafHasher, Role)>,
    lots: Pool<Lot>,
    answer: Vec<u8>,
}

static GLOBAL: OneThread<RefCell<Global>> = OneThread(RefCell::new(Global {
    last_spec: LastSpec::new(),
    blocks: Pool::new(),
    spare: Vec::new(),
    trees: Pool::new(),
    leaves: Pool::new(),
    lots: Pool::new(),
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
fn of_spec<A: Into<Vec<u8>>>(len: u32, act: impl FnOnce(&Spec, &mut Pool<Vec<u8>>) -> Result<A, Refusal>) -> u32 {
    answer(|Global { last_spec, blocks, .. }| act(last_spec.parse(buffer(len).0)?, blocks))
}

fn node(start: f64, len: f64, level: u32) -> Subtree {
    Subtree { start: start as u64, len: len as u64, level }
}

fn claim(start: f64, end: f64) -> Claim {
    if start < 0.0 { Claim::Consistency(end as u64) } else { Claim::Range(start as u64..end as u64) }
}

fn text(len: u32) -> Result<&'static str, Refusal> {
    spec::text_of(buffer(len).0)
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

    /// Answers the pieces of a tree: see `pieces::cover`.
    fn cover(spec: u32, len: f64, at_most: f64) -> u32 {
        of_spec(spec, |spec, _| pieces::cover(spec, len as u64, at_most as u64))
    }

    /// Answers the digest of a piece of a tree over `total` bytes, from a block with its bytes.
    fn subtree(spec: u32, total: f64, start: f64, len: f64, level: u32, block: u32) -> u32 {
        of_spec(spec, |spec, blocks| {
            let bytes = &blocks.get(block)[..len as usize];
            pieces::subtree(spec, total as u64, node(start, len, level), bytes)
        })
    }

    /// Creates the hasher of a leaf of a tree over `total` bytes. Answers its number, in four bytes.
    fn leaf(spec: u32, total: f64, start: f64, len: f64) -> u32 {
        answer(|Global { last_spec, leaves, .. }| {
            let (spec, node) = (last_spec.parse(buffer(spec).0)?, node(start, len, 0));
            let leaf = (spec.leaf_hasher(&[node]), spec.role(total as u64, node));
            Ok(leaves.keep(leaf).to_le_bytes())
        })
    }

    /// Appends the input's first `len` bytes to a leaf.
    fn leaf_append(number: u32, len: u32) {
        global(|global| global.leaves.get(number).0.update(Messages::one(buffer(len).0)));
    }

    /// Answers the digest of a leaf, and frees its hasher.
    fn leaf_finish(number: u32) -> u32 {
        answer(|global| {
            let (leaf, role) = global.leaves.take(number);
            Ok(leaf.finish_one(role).as_bytes().to_vec())
        })
    }

    /// Frees the hasher of a leaf.
    fn leaf_end(number: u32) {
        global(|global| drop(global.leaves.take(number)));
    }

    /// Creates places for files that are hashed side by side. Answers their number and how many there are, each in four bytes;
    /// nothing if messages of different lengths share no lanes.
    fn lot(spec: u32) -> u32 {
        answer(|Global { last_spec, lots, .. }| {
            let lot = Lot::new(last_spec.parse(buffer(spec).0)?);
            Ok(lot.map_or_else(Vec::new, |lot| {
                let count = lot.count() as u32;
                [lots.keep(lot).to_le_bytes(), count.to_le_bytes()].concat()
            }))
        })
    }

    /// Returns 1 if a file of `len` bytes can begin in a slot, or else 0.
    fn lot_takes(number: u32, len: f64) -> u32 {
        global(|global| global.lots.get(number).takes(len as u64) as u32)
    }

    /// Begins a file of `len` bytes in a slot.
    fn lot_begin(number: u32, slot: u32, len: f64) {
        global(|global| global.lots.get(number).begin(slot as usize, len as u64));
    }

    /// Returns the address to which a file's next bytes are written: 2^16, or the rest.
    fn lot_room(number: u32, slot: u32) -> *mut u8 {
        global(|global| global.lots.get(number).room(slot as usize))
    }

    /// Hashes side by side until the bytes of some file are used up.
    fn lot_advance(number: u32) {
        global(|global| global.lots.get(number).advance());
    }

    /// Returns what a slot waits for: see `lots::RowState`.
    fn lot_state(number: u32, slot: u32) -> u32 {
        global(|global| global.lots.get(number).state(slot as usize) as u32)
    }

    /// Answers the root of a file that has ended, its digest and text, and frees its slot.
    fn lot_finish(number: u32, slot: u32) -> u32 {
        answer(|global| Ok(spec::answer(&global.lots.get(number).finish(slot as usize))))
    }

    /// Gives up the file in a slot.
    fn lot_free(number: u32, slot: u32) {
        global(|global| global.lots.get(number).free(slot as usize));
    }

    /// Frees the places.
    fn lot_end(number: u32) {
        global(|global| drop(global.lots.take(number)));
    }

    /// Answers the root of a tree whose pieces' digests are in a block: its digest and text.
    fn join(spec: u32, len: f64, at_most: f64, block: u32) -> u32 {
        of_spec(spec, |spec, blocks| {
            Ok(spec::answer(&pieces::join(spec, len as u64, at_most as u64, blocks.get(block))?))
        })
    }

    /// Answers a proof: see `proofs::prove`. A `start` below zero claims consistency with the first `end` bytes, any other that
    /// `start..end` lie in the input. Blocks have the digests of all pieces, and the bytes of the pieces at `first` and `last`.
    fn prove(spec: u32, len: f64, at_most: f64, digests: u32, first: f64, head: u32, last: f64, tail: u32, start: f64, end: f64) -> u32 {
        of_spec(spec, |spec, blocks| {
            let (head, tail) = (blocks.get(head).clone(), blocks.get(tail).clone());
            let held = [(first as u64, &head[..]), (last as u64, &tail[..])];
            proofs::prove(spec, len as u64, at_most as u64, blocks.get(digests), held, claim(start, end))
        })
    }

    /// Answers a proof from the outboard in a block: see `outboards::prove`. The other arguments are those of `prove`.
    fn outboard_prove(block: u32, first: f64, head: u32, last: f64, tail: u32, start: f64, end: f64) -> u32 {
        answer(|Global { blocks, .. }| {
            let (head, tail) = (blocks.get(head).clone(), blocks.get(tail).clone());
            let held = [(first as u64, &head[..]), (last as u64, &tail[..])];
            outboards::prove(blocks.get(block), held, claim(start, end))
        })
    }

    /// Answers the facts of the proof in a block: see `proofs::facts`.
    fn proof_facts(proof: u32) -> u32 {
        answer(|global| proofs::facts(global.blocks.get(proof)))
    }

    /// Checks the proof in a block against the trusted data in the input's first `len` bytes, and the bytes in another block.
    fn verify_range(proof: u32, len: u32, bytes: u32) -> u32 {
        answer(|global| {
            let proof = global.blocks.get(proof).clone();
            proofs::verify_range(&proof, text(len)?, global.blocks.get(bytes)).map(|()| [])
        })
    }

    /// Checks the proof in a block against the trusted data of both roots in the input's first `len` bytes.
    fn verify_consistency(proof: u32, len: u32) -> u32 {
        answer(|global| proofs::verify_consistency(global.blocks.get(proof), text(len)?).map(|()| []))
    }

    /// Answers the length of an outboard's units, at most `at_most` bytes, as an `f64`.
    fn unit(spec: u32, at_most: f64) -> u32 {
        of_spec(spec, |spec, _| Ok((outboards::unit(spec, at_most as u64) as f64).to_le_bytes()))
    }

    /// Answers the outboard of an input of `len` bytes, from a block with the digests of its pieces, at most a unit long.
    fn keep(spec: u32, len: f64, unit: f64, digests: u32) -> u32 {
        of_spec(spec, |spec, blocks| outboards::keep(spec, len as u64, unit as u64, blocks.get(digests)))
    }

    /// Answers an outboard from a block with another program's tree over `len` bytes: see `outboards::from_foreign`.
    fn outboard_from(spec: u32, len: f64, block: u32) -> u32 {
        of_spec(spec, |spec, blocks| outboards::from_foreign(spec, len as u64, blocks.get(block)))
    }

    /// Answers the facts of the outboard in a block: see `outboards::facts`.
    fn outboard_facts(block: u32) -> u32 {
        answer(|global| outboards::facts(global.blocks.get(block)))
    }

    /// Answers the checked digests of the units of the outboard in a block: see `outboards::units`.
    fn outboard_units(block: u32) -> u32 {
        answer(|global| outboards::units(global.blocks.get(block)))
    }

    /// Answers the differences between a file and the outboard in a block. Another block has the digests of the file's pieces:
    /// see `outboards::damaged`.
    fn outboard_damaged(block: u32, digests: u32) -> u32 {
        answer(|global| {
            let outboard = global.blocks.take(block);
            let damaged = outboards::damaged(&outboard, global.blocks.get(digests));
            // This restores the same number, because it was the last to become free.
            global.blocks.keep(outboard);
            damaged
        })
    }
}
