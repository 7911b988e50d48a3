//! The exported functions for pieces of trees, proofs and outboards, as `root_abi` has them for roots.
//!
//! Lengths and positions are `f64`, JavaScript's number type. JavaScript has checked that they are integers below 2^53.

use crate::abi::buffer;
use crate::lots::Lot;
use crate::refusal::Refusal;
use crate::root_abi::{Global, answer, of_spec};
use crate::spec;
use crate::{outboards, pieces, proofs};
use alloc::vec::Vec;
use core::cell::RefCell;
use mksum::proof::Claim;
use mksum::{LeafHasher, Messages, Role, Subtree};
use mksum_js_host::{OneThread, Pool, exports};

static LEAVES: OneThread<RefCell<Pool<(LeafHasher, Role)>>> = OneThread(RefCell::new(Pool::new()));
static LOTS: OneThread<RefCell<Pool<Lot>>> = OneThread(RefCell::new(Pool::new()));

fn leaves<T>(act: impl FnOnce(&mut Pool<(LeafHasher, Role)>) -> T) -> T {
    act(&mut LEAVES.0.borrow_mut())
}

fn lots<T>(act: impl FnOnce(&mut Pool<Lot>) -> T) -> T {
    act(&mut LOTS.0.borrow_mut())
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
        of_spec(spec, |spec, _| {
            let node = node(start, len, 0);
            let leaf = (spec.leaf_hasher(&[node]), spec.role(total as u64, node));
            Ok(leaves(|leaves| leaves.keep(leaf)).to_le_bytes())
        })
    }

    /// Appends the input's first `len` bytes to a leaf.
    fn leaf_append(number: u32, len: u32) {
        leaves(|leaves| leaves.get(number).0.update(Messages::one(buffer(len).0)));
    }

    /// Answers the digest of a leaf, and frees its hasher.
    fn leaf_finish(number: u32) -> u32 {
        answer(|_| {
            let (leaf, role) = leaves(|leaves| leaves.take(number));
            Ok(leaf.finish_one(role).as_bytes().to_vec())
        })
    }

    /// Frees the hasher of a leaf.
    fn leaf_end(number: u32) {
        leaves(|leaves| drop(leaves.take(number)));
    }

    /// Creates places for files that are hashed side by side. Answers their number and how many there are, each in four bytes;
    /// nothing if messages of different lengths share no lanes.
    fn lot(spec: u32) -> u32 {
        of_spec(spec, |spec, _| {
            Ok(Lot::new(spec).map_or_else(Vec::new, |lot| {
                let count = lot.count() as u32;
                [lots(|lots| lots.keep(lot)).to_le_bytes(), count.to_le_bytes()].concat()
            }))
        })
    }

    /// Returns 1 if a file of `len` bytes can begin in a slot, or else 0.
    fn lot_takes(number: u32, len: f64) -> u32 {
        lots(|lots| lots.get(number).takes(len as u64) as u32)
    }

    /// Begins a file of `len` bytes in a slot.
    fn lot_begin(number: u32, slot: u32, len: f64) {
        lots(|lots| lots.get(number).begin(slot as usize, len as u64));
    }

    /// Returns the address to which a file's next bytes are written: 2^16, or the rest.
    fn lot_room(number: u32, slot: u32) -> *mut u8 {
        lots(|lots| lots.get(number).room(slot as usize))
    }

    /// Hashes side by side until the bytes of some file are used up.
    fn lot_advance(number: u32) {
        lots(|lots| lots.get(number).advance());
    }

    /// Returns what a slot waits for: see `lots::RowState`.
    fn lot_state(number: u32, slot: u32) -> u32 {
        lots(|lots| lots.get(number).state(slot as usize) as u32)
    }

    /// Answers the root of a file that has ended, its digest and text, and frees its slot.
    fn lot_finish(number: u32, slot: u32) -> u32 {
        answer(|_| Ok(spec::answer(&lots(|lots| lots.get(number).finish(slot as usize)))))
    }

    /// Gives up the file in a slot.
    fn lot_free(number: u32, slot: u32) {
        lots(|lots| lots.get(number).free(slot as usize));
    }

    /// Frees the places.
    fn lot_end(number: u32) {
        lots(|lots| drop(lots.take(number)));
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
