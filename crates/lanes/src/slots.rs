//! Messages of any lengths, each begun and ended at any time, hashed side by side.

use crate::{
    Hash,
    cpu::{Cpu, active_or_detected},
    grid::Grid,
    kernel::{End, Job, Start},
    lane_states::LaneStates,
    overlay::MAX_BLOCK,
    plan::Plan,
    scheme::Scheme,
    words::Words,
};
use alloc::{vec, vec::Vec};
use core::{fmt, ptr};

/// Places for messages of any lengths, which share the lanes: when one ends, the next takes its slot, and the others go on.
///
/// ```
/// use mksum_lanes::{Hash, Piece, Slots};
///
/// let mut slots = Slots::new(Hash::Sha256, 2).expect("SHA-256 does not count its blocks");
/// let mut pieces = vec![Piece::last(0, b"short"), Piece::last(1, &[7; 1000])];
/// while !pieces.is_empty() {
///     slots.advance(&mut pieces);
///     // The slot of a message that has ended could begin another one here.
///     pieces.retain(|piece| !slots.is_used_up(piece));
/// }
/// let mut digest = [0; 32];
/// slots.finish(0, &mut digest);
/// assert_eq!(digest, mksum_lanes::digest(Hash::Sha256, &[b"short"])[..32]);
/// ```
pub struct Slots {
    hash: Hash,
    cpu: Cpu,
    scheme: &'static Scheme,
    slots: Vec<Slot>,
    /// The states of messages that share a kernel for a while.
    states: LaneStates,
}

/// One message.
#[derive(Clone)]
struct Slot {
    /// The state after the first `hashed` bytes: whole blocks.
    state: Words,
    hashed: u64,
    /// The next `fill` bytes, in front of those of the piece: a whole block, or too few for one.
    edge: [u8; MAX_BLOCK],
    fill: usize,
    ending: Ending,
}

/// What of a message's padding is in its blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Nothing yet.
    Open,
    /// All but its length: of so many bytes.
    Length(u64),
    /// All of it.
    Closed,
}

/// The next bytes of the message in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The slot's number.
    pub slot: usize,
    /// The bytes that are not hashed yet.
    pub bytes: &'a [u8],
    /// Whether the message ends after them.
    pub last: bool,
}

impl<'a> Piece<'a> {
    /// The last bytes of a message.
    pub fn last(slot: usize, bytes: &'a [u8]) -> Self {
        Piece { slot, bytes, last: true }
    }
}

impl Slots {
    /// `count` slots, each at the begin of a message. `None` for BLAKE2 and BLAKE3, whose blocks are counted: there, messages
    /// side by side must have come equally far.
    pub fn new(hash: Hash, count: usize) -> Option<Self> {
        Slots::on(active_or_detected(), hash, count)
    }

    /// [`new`](Slots::new), on a given instruction set.
    pub fn on(cpu: Cpu, hash: Hash, count: usize) -> Option<Self> {
        let scheme = hash.scheme();
        if scheme.framing.marks_last() {
            return None;
        }
        let slot = Slot { state: scheme.start, hashed: 0, edge: [0; MAX_BLOCK], fill: 0, ending: Ending::Open };
        Some(Slots { hash, cpu, scheme, slots: vec![slot; count], states: LaneStates::default() })
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The number of slots.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Begins a message with `prefix` in a slot; whatever was there is forgotten.
    ///
    /// # Panics
    /// If there is no such slot, or the prefix is longer than a block.
    pub fn begin(&mut self, slot: usize, prefix: &[u8]) {
        assert!(prefix.len() <= self.scheme.framing.block, "a prefix of {} bytes", prefix.len());
        let slot = &mut self.slots[slot];
        (slot.state, slot.hashed, slot.fill, slot.ending) = (self.scheme.start, 0, prefix.len(), Ending::Open);
        slot.edge[..prefix.len()].copy_from_slice(prefix);
    }

    /// Hashes all pieces side by side until one or more of them are used up, and takes what was hashed from their front.
    ///
    /// Nothing happens if one is used up already: its slot needs more bytes first, or must be left out.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn advance(&mut self, pieces: &mut [Piece<'_>]) {
        while let Some(blocks) = pieces.iter_mut().map(|piece| self.ready(piece)).min().filter(|&blocks| blocks > 0) {
            self.fold(pieces, blocks);
        }
    }

    /// Whether nothing of a piece is left to hash; of a last one, not even its padding.
    pub fn is_used_up(&self, piece: &Piece<'_>) -> bool {
        let slot = &self.slots[piece.slot];
        let waits = slot.fill == self.scheme.framing.block || (piece.last && slot.ending != Ending::Closed);
        piece.bytes.is_empty() && !waits
    }

    /// Writes the digest of the message in a slot, whose last piece is used up.
    ///
    /// # Panics
    /// If it is not, if there is no such slot, or if `out` is not exactly a digest's size.
    pub fn finish(&mut self, slot: usize, out: &mut [u8]) {
        let (block, size) = (self.scheme.framing.block, self.hash.size());
        let slot = &self.slots[slot];
        assert!(slot.ending == Ending::Closed && slot.fill < block, "a message whose end is hashed");
        assert_eq!(out.len(), size, "{size} bytes a digest");
        let plan = Plan::new(self.scheme.framing);
        let end = End::Digests(out.as_mut_ptr(), size);
        let job = Job::new(&plan, Start::Same(&slot.state), Grid::apart(ptr::null(), 0, 1), end);
        // SAFETY: `single` is a kernel of one lane that `cpu` has. The plan has no steps, so the only message needs no bytes, and
        // `out` has room for its digest.
        unsafe { (self.scheme.family.single(self.cpu).run)(&job) };
    }

    /// Brings the next bytes of a message into whole blocks, either the edge or the front of the piece: how many there are.
    fn ready(&mut self, piece: &mut Piece<'_>) -> usize {
        let (framing, slot) = (self.scheme.framing, &mut self.slots[piece.slot]);
        let block = framing.block;
        if slot.fill == block {
            return 1;
        }
        if slot.fill == 0 && piece.bytes.len() >= block {
            return piece.bytes.len() / block;
        }
        let (front, rest) = piece.bytes.split_at(piece.bytes.len().min(block - slot.fill));
        slot.edge[slot.fill..][..front.len()].copy_from_slice(front);
        slot.fill += front.len();
        piece.bytes = rest;
        if slot.fill < block && piece.last && slot.ending != Ending::Closed {
            slot.edge[slot.fill..].fill(0);
            slot.ending = match slot.ending {
                Ending::Length(len) => {
                    framing.write_length(&mut slot.edge, len, 0);
                    Ending::Closed
                }
                _ if framing.pad(&mut slot.edge, slot.hashed, slot.fill) => Ending::Closed,
                _ => Ending::Length(slot.hashed + slot.fill as u64),
            };
            slot.fill = block;
        }
        (slot.fill == block) as usize
    }

    /// Hashes so many whole blocks of each message, which are ready.
    fn fold(&mut self, pieces: &mut [Piece<'_>], blocks: usize) {
        let (block, family) = (self.scheme.framing.block, self.scheme.family);
        let mut plan = Plan::new(self.scheme.framing);
        plan.blocks(0, 0, blocks);
        let mut rest = pieces;
        while !rest.is_empty() {
            let entry = family.pick(self.cpu, rest.len());
            let (some, others) = rest.split_at_mut(entry.lanes.min(rest.len()));
            rest = others;
            let mut pointers = [ptr::null(); crate::dispatch::MAX_LANES];
            self.states.clear(entry.lanes);
            for (lane, piece) in some.iter().enumerate() {
                let slot = &self.slots[piece.slot];
                self.states.set(family, lane, &slot.state);
                let has = if slot.fill == block { &slot.edge[..block] } else { piece.bytes };
                assert!(has.len() >= blocks * block, "blocks that are ready");
                pointers[lane] = has.as_ptr();
            }
            let states = self.states.as_mut_ptr();
            let (start, end) = (Start::Kept(states), End::Kept(states));
            let job = Job::new(&plan, start, Grid::anywhere(pointers.as_ptr(), some.len()), end);
            // SAFETY: the kernel was picked for this machine, and the states are of as many lanes as it has. Each pointer is to that
            // many blocks, as asserted.
            unsafe { (entry.run)(&job) };
            for (lane, piece) in some.iter_mut().enumerate() {
                let slot = &mut self.slots[piece.slot];
                self.states.get(family, lane, &mut slot.state);
                slot.hashed += (blocks * block) as u64;
                match slot.fill == block {
                    true => slot.fill = 0,
                    false => piece.bytes = &piece.bytes[blocks * block..],
                }
            }
        }
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slots({} × {})", self.count(), self.hash.name())
    }
}
