//! Units of a file in memory: those used last, and those that a thread reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Units that were read, each by its offset, in bounded memory.
#[derive(Debug)]
pub struct Units {
    /// The bytes that are kept at most, unless one unit has more.
    room: u64,
    state: Mutex<State>,
    read: Condvar,
}

#[derive(Debug, Default)]
struct State {
    units: HashMap<u64, Unit>,
    /// The units that are kept by their last use, the oldest first.
    used: BTreeMap<u64, u64>,
    bytes: u64,
    clock: u64,
}

#[derive(Debug)]
enum Unit {
    /// A thread reads it.
    Claimed,
    Kept {
        bytes: Arc<Vec<u8>>,
        used: u64,
    },
}

/// The state of a unit when it was looked up.
pub enum Lookup<'a> {
    Kept(Arc<Vec<u8>>),
    /// A missing unit, which the caller reads.
    Claimed(Claim<'a>),
    /// Another thread reads it.
    Awaited,
}

impl Units {
    pub fn new(room: u64) -> Units {
        Units { room, state: Mutex::default(), read: Condvar::new() }
    }

    /// Finds the unit at `start`, or claims it for the caller.
    pub fn claim(&self, start: u64) -> Lookup<'_> {
        let mut state = self.lock();
        match state.kept(start) {
            Some(bytes) => Lookup::Kept(bytes),
            None if state.units.contains_key(&start) => Lookup::Awaited,
            None => {
                state.units.insert(start, Unit::Claimed);
                Lookup::Claimed(Claim { units: self, start })
            }
        }
    }

    /// Returns the unit at `start` if it is kept.
    pub fn kept(&self, start: u64) -> Option<Arc<Vec<u8>>> {
        self.lock().kept(start)
    }

    /// Waits until no thread reads the unit at `start`. The caller must hold no claim.
    pub fn wait(&self, start: u64) {
        let mut state = self.lock();
        while let Some(Unit::Claimed) = state.units.get(&start) {
            state = self.read.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn kept(&mut self, start: u64) -> Option<Arc<Vec<u8>>> {
        let Some(Unit::Kept { bytes, used }) = self.units.get_mut(&start) else { return None };
        self.clock += 1;
        self.used.remove(used);
        *used = self.clock;
        self.used.insert(self.clock, start);
        Some(bytes.clone())
    }

    fn keep(&mut self, start: u64, bytes: Arc<Vec<u8>>, room: u64) {
        self.clock += 1;
        self.bytes += bytes.len() as u64;
        self.units.insert(start, Unit::Kept { bytes, used: self.clock });
        self.used.insert(self.clock, start);
        while self.bytes > room && self.used.len() > 1 {
            let Some((_, oldest)) = self.used.pop_first() else { break };
            if let Some(Unit::Kept { bytes, .. }) = self.units.remove(&oldest) {
                self.bytes -= bytes.len() as u64;
            }
        }
    }
}

/// A unit that its holder reads; if it is dropped, the unit is missing again.
pub struct Claim<'a> {
    units: &'a Units,
    start: u64,
}

impl Claim<'_> {
    /// Keeps the bytes.
    pub fn keep(self, bytes: Arc<Vec<u8>>) {
        self.units.lock().keep(self.start, bytes, self.units.room);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.units.lock();
        if let Some(Unit::Claimed) = state.units.get(&self.start) {
            state.units.remove(&self.start);
        }
        drop(state);
        self.units.read.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(units: &Units, start: u64) {
        let Lookup::Claimed(claim) = units.claim(start) else { panic!("{start} is missing") };
        assert!(matches!(units.claim(start), Lookup::Awaited));
        claim.keep(Arc::new(vec![0; 10]));
    }

    #[test]
    fn the_units_used_last_are_kept() {
        let units = Units::new(30);
        (0..3).for_each(|start| put(&units, start));
        assert!(units.kept(0).is_some());
        put(&units, 3);
        assert_eq!([0, 1, 2, 3].map(|start| units.kept(start).is_some()), [true, false, true, true]);
        // One that is too long for the room is kept alone.
        let Lookup::Claimed(claim) = units.claim(4) else { panic!() };
        claim.keep(Arc::new(vec![0; 50]));
        assert_eq!([0, 2, 3, 4].map(|start| units.kept(start).is_some()), [false, false, false, true]);
        assert_eq!(units.lock().units.len(), 1);
        drop(units.claim(5));
        units.wait(5);
        put(&units, 5);
    }
}
