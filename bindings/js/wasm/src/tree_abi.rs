//! The exported functions for trees: a format's text, and other short text, comes in the buffer; bytes of any length in blocks.
//!
//! Lengths and positions are `f64`, the numbers of the other side, whole and below 2^53: it has checked them. A function
//! that may refuse returns 0, or the `Class` of the refusal; what it answers, or the words, are then the answer.

use crate::abi::{OneThread, buffer, exports};

use crate::pool::Pool;
use crate::refusal::Refusal;
use crate::spec::{self, Named};
use crate::{outboards, pieces, proofs};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem;
use mksum::proof::Claim;
use mksum::{Frontier, LeafHasher, Messages, Role, Spec, Subtree};

/// The longest block that is not given back: a piece of a worker's.
const SPARE: usize = 1 << 22;

/// What is kept between calls.
struct Kept {
    named: Named,
    blocks: Pool<Vec<u8>>,
    /// A block that was given back: one piece of a file after another needs no memory made zero.
    spare: Vec<u8>,
    trees: Pool<Frontier>,
    leaves: Pool<(LeafHasher, Role)>,
    answer: Vec<u8>,
}

static KEPT: OneThread<RefCell<Kept>> = OneThread(RefCell::new(Kept {
    named: Named::new(),
    blocks: Pool::new(),
    spare: Vec::new(),
    trees: Pool::new(),
    leaves: Pool::new(),
    answer: Vec::new(),
}));

fn kept<T>(act: impl FnOnce(&mut Kept) -> T) -> T {
    act(&mut KEPT.0.borrow_mut())
}

/// Does what may be refused, and keeps the answer.
fn answer<A: Into<Vec<u8>>>(act: impl FnOnce(&mut Kept) -> Result<A, Refusal>) -> u32 {
    kept(|kept| match act(kept) {
        Ok(answer) => {
            kept.answer = answer.into();
            0
        }
        Err(Refusal(class, words)) => {
            kept.answer = words.into();
            class as u32
        }
    })
}

/// The same for the format that the first `len` bytes of the input name.
fn of_spec<A: Into<Vec<u8>>>(len: u32, act: impl FnOnce(&Spec, &mut Pool<Vec<u8>>) -> Result<A, Refusal>) -> u32 {
    answer(|Kept { named, blocks, .. }| act(named.spec(buffer(len).0)?, blocks))
}

fn node(start: f64, len: f64, level: u32) -> Subtree {
    Subtree { start: start as u64, len: len as u64, level }
}

fn text(len: u32) -> Result<&'static str, Refusal> {
    spec::text_of(buffer(len).0)
}

exports! {
    /// Memory for `len` bytes: its number, or 2^32 - 1 if there is not so much.
    fn block(len: u32) -> u32 {
        kept(|Kept { blocks, spare, .. }| {
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

    /// Where a block's bytes are.
    fn block_at(number: u32) -> *mut u8 {
        kept(|kept| kept.blocks.get(number).as_mut_ptr())
    }

    /// Gives a block's memory back.
    fn block_end(number: u32) {
        kept(|Kept { blocks, spare, .. }| {
            let bytes = blocks.take(number);
            if (spare.len() + 1..=SPARE).contains(&bytes.len()) {
                *spare = bytes;
            }
        });
    }

    /// Where the answer is.
    fn answer_at() -> *const u8 {
        kept(|kept| kept.answer.as_ptr())
    }

    /// The bytes of the answer.
    fn answer_len() -> usize {
        kept(|kept| kept.answer.len())
    }

    /// Gives the answer's memory back.
    fn answer_end() {
        kept(|kept| kept.answer = Vec::new());
    }

    /// Facts of a format: see `spec::facts`.
    fn spec_facts(len: u32) -> u32 {
        of_spec(len, |spec, _| Ok(spec::facts(spec)))
    }

    /// All formats: see `spec::formats`.
    fn formats() -> u32 {
        answer(|_| Ok(spec::formats()))
    }

    /// The root of the input's bytes behind the format's text, up to `end`: its digest and its text.
    fn root(len: u32, end: u32) -> u32 {
        of_spec(len, |spec, _| Ok(spec::answer(&spec.root(&buffer(end).0[len as usize..])?)))
    }

    /// A frontier: its number, in four bytes.
    fn tree(len: u32) -> u32 {
        answer(|Kept { named, trees, .. }| {
            let tree = named.spec(buffer(len).0)?.frontier()?;
            Ok(trees.keep(tree).to_le_bytes())
        })
    }

    /// Appends the input's first `len` bytes to a frontier.
    fn tree_append(number: u32, len: u32) -> u32 {
        answer(|kept| Ok(kept.trees.get(number).update(buffer(len).0).map(|()| [])?))
    }

    /// The root of what came so far: its digest and its text.
    fn tree_root(number: u32) -> u32 {
        answer(|kept| Ok(spec::answer(&kept.trees.get(number).root()?)))
    }

    /// Forgets a frontier.
    fn tree_end(number: u32) {
        kept(|kept| drop(kept.trees.take(number)));
    }

    /// The pieces of a tree: see `pieces::cover`.
    fn cover(spec: u32, len: f64, at_most: f64) -> u32 {
        of_spec(spec, |spec, _| pieces::cover(spec, len as u64, at_most as u64))
    }

    /// The digest of a piece, of a tree over `total` bytes, from a block that has its bytes.
    fn subtree(spec: u32, total: f64, start: f64, len: f64, level: u32, block: u32) -> u32 {
        of_spec(spec, |spec, blocks| {
            let bytes = &blocks.get(block)[..len as usize];
            pieces::subtree(spec, total as u64, node(start, len, level), bytes)
        })
    }

    /// A leaf before its first byte, of a tree over `total` bytes: its number, in four bytes.
    fn leaf(spec: u32, total: f64, start: f64, len: f64) -> u32 {
        answer(|Kept { named, leaves, .. }| {
            let (spec, node) = (named.spec(buffer(spec).0)?, node(start, len, 0));
            let leaf = (spec.leaf_hasher(&[node.start]), spec.role(total as u64, node));
            Ok(leaves.keep(leaf).to_le_bytes())
        })
    }

    /// Appends the input's first `len` bytes to a leaf.
    fn leaf_append(number: u32, len: u32) {
        kept(|kept| kept.leaves.get(number).0.update(Messages::one(buffer(len).0)));
    }

    /// The digest of a leaf, and its end.
    fn leaf_finish(number: u32) -> u32 {
        answer(|kept| {
            let (leaf, role) = kept.leaves.take(number);
            Ok(leaf.finish_one(role).as_bytes().to_vec())
        })
    }

    /// Forgets a leaf.
    fn leaf_end(number: u32) {
        kept(|kept| drop(kept.leaves.take(number)));
    }

    /// The root of a tree whose pieces' digests are in a block: its digest and its text.
    fn join(spec: u32, len: f64, at_most: f64, block: u32) -> u32 {
        of_spec(spec, |spec, blocks| {
            Ok(spec::answer(&pieces::join(spec, len as u64, at_most as u64, blocks.get(block))?))
        })
    }

    /// A proof that a range lies in a block's bytes.
    fn prove_range(spec: u32, block: u32, start: f64, end: f64) -> u32 {
        let claim = Claim::Range(start as u64..end as u64);
        of_spec(spec, |spec, blocks| proofs::prove(spec, blocks.get(block), &claim))
    }

    /// A proof that a block's bytes begin with the first `old`.
    fn prove_consistency(spec: u32, block: u32, old: f64) -> u32 {
        of_spec(spec, |spec, blocks| proofs::prove(spec, blocks.get(block), &Claim::Consistency(old as u64)))
    }

    /// Facts of the proof in a block: see `proofs::facts`.
    fn proof_facts(proof: u32) -> u32 {
        answer(|kept| proofs::facts(kept.blocks.get(proof)))
    }

    /// Checks the proof in a block against what the input's first `len` bytes tell, and the bytes in another block.
    fn verify_range(proof: u32, len: u32, bytes: u32) -> u32 {
        answer(|kept| {
            let proof = kept.blocks.get(proof).clone();
            proofs::verify_range(&proof, text(len)?, kept.blocks.get(bytes)).map(|()| [])
        })
    }

    /// Checks the proof in a block against the two roots that the input's first `len` bytes tell.
    fn verify_consistency(proof: u32, len: u32) -> u32 {
        answer(|kept| proofs::verify_consistency(kept.blocks.get(proof), text(len)?).map(|()| []))
    }

    /// The kept tree of a block's bytes.
    fn keep(spec: u32, at_most: f64, block: u32) -> u32 {
        of_spec(spec, |spec, blocks| outboards::keep(spec, at_most as u64, blocks.get(block)))
    }

    /// Facts of the kept tree in a block: see `outboards::facts`.
    fn outboard_facts(block: u32) -> u32 {
        answer(|kept| outboards::facts(kept.blocks.get(block)))
    }

    /// The differences of a file from the kept tree in a block, by the digests of its pieces in another block: see
    /// `outboards::damaged`.
    fn outboard_damaged(block: u32, digests: u32) -> u32 {
        answer(|kept| {
            let outboard = kept.blocks.take(block);
            let damaged = outboards::damaged(&outboard, kept.blocks.get(digests));
            // The same number: it was the last one to become free.
            kept.blocks.keep(outboard);
            damaged
        })
    }
}
