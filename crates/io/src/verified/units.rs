//! Units of a file in memory: those used last, and those that a thread reads.

use crate::{Error, Input, Refusal};
use mksum::node_tree::Aligned;
use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Units that were read, each by its offset, in bounded memory.
#[derive(Debug)]
pub struct Units {
    /// The bytes that are kept at most, unless one piece has more.
    room: u64,
    state: Mutex<State>,
    read: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The units that threads read.
    claimed: HashSet<u64>,
    /// What is kept, by the offset of the first byte: units that were read at once, and follow one another, are one piece.
    pieces: BTreeMap<u64, Piece>,
    /// The pieces by their last use, the oldest first.
    used: BTreeMap<u64, u64>,
    bytes: u64,
    clock: u64,
    /// Memory of pieces that are kept no longer, for those that follow: new memory would be cleared first.
    spare: Vec<Aligned>,
}

#[derive(Debug)]
struct Piece {
    bytes: Arc<Aligned>,
    used: u64,
}

/// Bytes that are kept, from a unit's first one on: those of the unit, and perhaps of units that follow it.
#[derive(Clone, Debug)]
pub struct Kept {
    piece: Arc<Aligned>,
    from: usize,
    to: usize,
}

impl Kept {
    /// `len` of the bytes from the one at `from` on, if all of them are here.
    pub fn part(mut self, from: usize, len: usize) -> Option<Kept> {
        if from > self.len() || len > self.len() - from {
            return None;
        }
        self.from += from;
        self.to = self.from + len;
        Some(self)
    }
}

impl Deref for Kept {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.piece[self.from..self.to]
    }
}

/// The state of a unit when it was looked up.
pub enum Lookup<'a> {
    Kept(Kept),
    /// A missing unit, which the caller reads.
    Claimed(Claim<'a>),
    /// Another thread reads it.
    Awaited,
}

impl Units {
    /// The pieces whose memory is used again, and their bytes at most.
    const SPARE: (usize, usize) = (4, 1 << 20);

    pub fn new(room: u64) -> Units {
        Units { room, state: Mutex::default(), read: Condvar::new() }
    }

    /// Finds the unit at `start`, or claims it for the caller.
    pub fn claim(&self, start: u64) -> Lookup<'_> {
        let mut state = self.lock();
        match state.kept(start) {
            Some(kept) => Lookup::Kept(kept),
            None if !state.claimed.insert(start) => Lookup::Awaited,
            None => Lookup::Claimed(Claim { units: self, starts: vec![start] }),
        }
    }

    /// Returns the unit at `start` if it is kept.
    pub fn kept(&self, start: u64) -> Option<Kept> {
        self.lock().kept(start)
    }

    /// Whether the unit at `start` is neither kept nor read by a thread.
    pub fn is_missing(&self, start: u64) -> bool {
        let state = self.lock();
        !state.claimed.contains(&start) && state.piece(start).is_none()
    }

    /// Waits until no thread reads the unit at `start`. The caller must hold no claim.
    pub fn wait(&self, start: u64) {
        let mut state = self.lock();
        while state.claimed.contains(&start) {
            state = self.read.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Memory for `len` bytes of units that are claimed, read from `input`. What is in it has no meaning.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn memory(&self, len: u64, input: &Input) -> Result<Aligned, Error> {
        let mut memory = self.lock().spare.pop().unwrap_or_default();
        let resized = usize::try_from(len).is_ok_and(|len| memory.try_resize(len).is_ok());
        if resized { Ok(memory) } else { Err(Error::refused(input, Refusal::Memory(len))) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The offset of the piece that has the byte at `start`.
    fn piece(&self, start: u64) -> Option<u64> {
        let (&first, piece) = self.pieces.range(..=start).next_back()?;
        (start - first < piece.bytes.len() as u64).then_some(first)
    }

    fn kept(&mut self, start: u64) -> Option<Kept> {
        let first = self.piece(start)?;
        let piece = self.pieces.get_mut(&first)?;
        self.clock += 1;
        self.used.remove(&piece.used);
        piece.used = self.clock;
        self.used.insert(self.clock, first);
        Some(Kept { piece: piece.bytes.clone(), from: (start - first) as usize, to: piece.bytes.len() })
    }

    fn keep(&mut self, start: u64, bytes: Arc<Aligned>, room: u64) {
        self.clock += 1;
        self.bytes += bytes.len() as u64;
        self.pieces.insert(start, Piece { bytes, used: self.clock });
        self.used.insert(self.clock, start);
        while self.bytes > room && self.used.len() > 1 {
            let Some((_, oldest)) = self.used.pop_first() else { break };
            let Some(piece) = self.pieces.remove(&oldest) else { continue };
            self.bytes -= piece.bytes.len() as u64;
            let (most, longest) = Units::SPARE;
            // Not if somebody still reads it.
            if let Some(memory) = Arc::into_inner(piece.bytes)
                && self.spare.len() < most
                && memory.len() <= longest
            {
                self.spare.push(memory);
            }
        }
    }
}

/// Units that follow one another and that the holder reads; if it is dropped, they are missing again.
pub struct Claim<'a> {
    units: &'a Units,
    starts: Vec<u64>,
}

impl Claim<'_> {
    /// Claims the unit at `start`, too, which follows the others, if it is missing.
    pub fn extend(&mut self, start: u64) -> bool {
        let mut state = self.units.lock();
        let is_claimed = state.piece(start).is_none() && state.claimed.insert(start);
        if is_claimed {
            self.starts.push(start);
        }
        is_claimed
    }

    /// Keeps the bytes of all of them.
    pub fn keep(self, bytes: Arc<Aligned>) {
        self.units.lock().keep(self.starts[0], bytes, self.units.room);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.units.lock();
        for start in &self.starts {
            state.claimed.remove(start);
        }
        drop(state);
        self.units.read.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Keeps a piece of units of ten bytes.
    fn put(units: &Units, start: u64, count: u64) {
        let Lookup::Claimed(mut claim) = units.claim(start) else { panic!("{start} is missing") };
        assert!(matches!(units.claim(start), Lookup::Awaited) && !units.is_missing(start));
        (1..count).for_each(|unit| assert!(claim.extend(start + 10 * unit)));
        assert!(!claim.extend(start));
        let mut memory = units.memory(10 * count, &Input::from(Path::new("file"))).unwrap();
        memory.iter_mut().zip(start as u8..).for_each(|(byte, at)| *byte = at);
        claim.keep(Arc::new(memory));
    }

    fn kept(units: &Units, starts: &[u64]) -> Vec<bool> {
        starts.iter().map(|&start| !units.is_missing(start)).collect()
    }

    #[test]
    fn the_units_used_last_are_kept() {
        let units = Units::new(30);
        (0..3).for_each(|unit| put(&units, 10 * unit, 1));
        assert!(units.kept(0).is_some());
        put(&units, 30, 1);
        assert_eq!(kept(&units, &[0, 10, 20, 30]), [true, false, true, true]);
        // What is too long for the room is kept alone.
        put(&units, 40, 5);
        assert_eq!(kept(&units, &[0, 20, 30, 40, 80]), [false, false, false, true, true]);
        assert_eq!(units.lock().spare.len(), 3);
        drop(units.claim(100));
        units.wait(100);
        put(&units, 100, 1);
    }

    #[test]
    fn a_part_of_a_piece_has_the_bytes_that_were_kept() {
        let units = Units::new(100);
        put(&units, 40, 3);
        assert!(!matches!(units.claim(50), Lookup::Claimed(_)));
        let at =
            |start, from, len| units.kept(start).and_then(|kept: Kept| kept.part(from, len)).map(|kept| kept.to_vec());
        assert_eq!(at(40, 0, 30), Some((40..70).collect()));
        assert_eq!(at(50, 3, 17), Some((53..70).collect()));
        assert_eq!(at(60, 10, 0), Some(vec![]));
        assert_eq!((at(50, 3, 18), at(60, 11, 0), at(60, usize::MAX, 1), at(70, 0, 0)), (None, None, None, None));
    }
}
