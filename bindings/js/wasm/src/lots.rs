//! Files that are hashed side by side in the lanes: those that are a single leaf.

use alloc::vec::Vec;
use mksum::{Digest, Hash, Piece, Root, Slots, Spec};

/// The bytes of a file that are hashed at a time, at most.
const ROW: usize = 1 << 16;

/// Places for as many files as the hash has lanes.
pub struct Lot {
    spec: Spec,
    slots: Slots,
    rows: Vec<Row>,
}

/// The memory of a slot, and the file in it.
#[derive(Clone, Default)]
struct Row {
    memory: Vec<u8>,
    /// The part of the memory that is not hashed: from this index on.
    from: usize,
    /// The file's length, the zeros after it, and its bytes that are still to come.
    len: u64,
    zeros: usize,
    left: u64,
    state: RowState,
}

/// What a file waits for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum RowState {
    /// There is no file.
    #[default]
    Free = 0,
    /// More of its bytes.
    Wants = 1,
    /// The host has bytes of the message to hash.
    Has = 2,
    /// The host takes the root.
    Ended = 3,
}

impl Lot {
    /// Creates the places; `None` if the hash counts its blocks, so that messages of different lengths share no lanes.
    pub fn new(spec: &Spec) -> Option<Self> {
        let lanes = spec.hash().lanes();
        let slots = Slots::new(spec.hash().as_hash()?, lanes)?;
        let mut rows = Vec::new();
        rows.resize(lanes, Row::default());
        Some(Lot { spec: spec.clone(), slots, rows })
    }

    /// Returns the number of slots.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether a file of `len` bytes is a single leaf, which can begin in a slot.
    pub fn takes(&self, len: u64) -> bool {
        self.spec.single_leaf(len).is_some()
    }

    /// Begins a file of `len` bytes in a slot.
    ///
    /// # Panics
    /// If it is no single leaf.
    pub fn begin(&mut self, slot: usize, len: u64) {
        let message = self.spec.single_leaf(len).expect("a single leaf");
        self.slots.begin(slot, &message.prefix);
        let row = &mut self.rows[slot];
        row.memory.clear();
        (row.from, row.len, row.zeros, row.left, row.state) = (0, len, message.zeros as usize, len, RowState::Wants);
    }

    /// Returns the address to which a file's next bytes are written: 2^16, or the rest.
    pub fn room(&mut self, slot: usize) -> *mut u8 {
        let row = &mut self.rows[slot];
        let len = row.left.min(ROW as u64) as usize;
        (row.from, row.left) = (0, row.left - len as u64);
        row.memory.clear();
        row.memory.resize(len + if row.left == 0 { row.zeros } else { 0 }, 0);
        row.state = RowState::Has;
        row.memory.as_mut_ptr()
    }

    /// Hashes until the bytes of some file are used up.
    pub fn advance(&mut self) {
        let has = |(slot, row): (usize, &Row)| (row.state == RowState::Has).then_some(slot);
        let busy: Vec<usize> = self.rows.iter().enumerate().filter_map(has).collect();
        let piece = |&slot: &usize| {
            let row = &self.rows[slot];
            Piece { slot, bytes: &row.memory[row.from..], last: row.left == 0 }
        };
        let mut pieces: Vec<Piece<'_>> = busy.iter().map(piece).collect();
        self.slots.advance(&mut pieces);
        let after: Vec<_> = pieces.iter().map(|piece| (piece.bytes.len(), self.slots.is_used_up(piece))).collect();
        for (slot, (left, used_up)) in busy.into_iter().zip(after) {
            let row = &mut self.rows[slot];
            row.from = row.memory.len() - left;
            row.state = match used_up {
                false => RowState::Has,
                true if row.left == 0 => RowState::Ended,
                true => RowState::Wants,
            };
        }
    }

    /// Returns what a slot waits for.
    pub fn state(&self, slot: usize) -> RowState {
        self.rows[slot].state
    }

    /// Returns the root of a file that has ended, and frees its slot.
    pub fn finish(&mut self, slot: usize) -> Root {
        let mut digest = [0; Hash::MAX_SIZE];
        let digest = &mut digest[..self.spec.hash().size()];
        self.slots.finish(slot, digest);
        self.free(slot);
        self.spec.seal(Digest::new(digest), self.rows[slot].len)
    }

    /// Gives up the file in a slot.
    pub fn free(&mut self, slot: usize) {
        self.rows[slot].state = RowState::Free;
    }
}
