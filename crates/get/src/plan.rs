//! The leaves that are still missing, and who fetches them: arithmetic, no bytes.

use mksum::outboard::KeptLayout;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Instant;

/// The times that a range is asked of one mirror, at most.
const TRIES: u8 = 3;

/// A range that is being fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The number of the task: a stolen task has that of the one it was stolen from.
    pub number: u64,
    /// Whole units, in bytes.
    pub range: Range<u64>,
}

/// The ranges that are missing, of a file whose units have a layout.
#[derive(Debug)]
pub struct Plan {
    layout: KeptLayout,
    /// Ranges that were not asked for, the first first.
    fresh: VecDeque<Range<u64>>,
    /// Ranges that failed by their start, with the number of times that each mirror was asked for them.
    again: BTreeMap<u64, (u64, Vec<u8>)>,
    flights: BTreeMap<u64, Flight>,
    number: u64,
    mirrors: usize,
}

#[derive(Debug)]
struct Flight {
    range: Range<u64>,
    tries: Vec<u8>,
    /// The mirrors that fetch it.
    holders: Vec<usize>,
    since: Instant,
}

impl Plan {
    /// A plan to fetch ranges of whole units from a number of mirrors.
    pub fn new(layout: KeptLayout, missing: Vec<Range<u64>>, mirrors: usize) -> Plan {
        let fresh = missing.into_iter().filter(|range| !range.is_empty()).collect();
        Plan { layout, fresh, again: BTreeMap::new(), flights: BTreeMap::new(), number: 0, mirrors }
    }

    /// Whether nothing is missing.
    pub fn is_done(&self) -> bool {
        self.fresh.is_empty() && self.again.is_empty() && self.flights.is_empty()
    }

    /// Whether nothing is being fetched.
    pub fn is_idle(&self) -> bool {
        self.flights.is_empty()
    }

    /// The ranges that are missing, in order.
    pub fn missing(&self) -> Vec<Range<u64>> {
        let again = self.again.iter().map(|(&start, &(end, _))| start..end);
        let flights = self.flights.values().map(|flight| flight.range.clone());
        mksum::ranges::union(self.fresh.iter().cloned().chain(again).chain(flights).collect())
    }

    /// Takes the next range that a mirror has not failed at too often: of at most `most` bytes or one unit, and beginning before
    /// `limit`. Where one failed, those of the `alive` mirrors come first that were asked the least. What it failed at itself comes after all
    /// else, and by one unit, since it may have the others.
    pub fn take(&mut self, mirror: usize, most: u64, limit: u64, alive: &[bool]) -> Option<Task> {
        let fresh = self.fresh.front().filter(|range| range.start < limit).cloned();
        let failed = self.failed(mirror, limit, alive).filter(|(tries, _)| *tries == 0 || fresh.is_none());
        if let Some((_, start)) = failed {
            let (end, tries) = self.again.remove(&start)?;
            let first = self.first(&(start..end), if tries[mirror] == 0 { most } else { 1 });
            if first < end {
                self.again.insert(first, (end, tries.clone()));
            }
            return Some(self.fly(start..first, tries, mirror));
        }
        let range = fresh?;
        let first = self.first(&range, most);
        match self.fresh.front_mut() {
            Some(rest) if first < range.end => rest.start = first,
            _ => drop(self.fresh.pop_front()),
        }
        let tries = vec![0; self.mirrors];
        Some(self.fly(range.start..first, tries, mirror))
    }

    /// Takes one unit for a mirror that was asked for nothing yet: not the first one of the file, so that a server which sends the whole file
    /// instead is known by the bytes before it.
    pub fn probe(&mut self, mirror: usize, limit: u64, alive: &[bool]) -> Option<Task> {
        let range = self.fresh.front().filter(|range| range.start == 0).cloned();
        let first = range.as_ref().map_or(0, |range| self.first(range, 1));
        match range {
            Some(range) if first < range.end.min(limit) && self.failed(mirror, limit, alive).is_none() => {
                let second = self.first(&(first..range.end), 1);
                self.fresh[0] = 0..first;
                if second < range.end {
                    self.fresh.insert(1, second..range.end);
                }
                let tries = vec![0; self.mirrors];
                Some(self.fly(first..second, tries, mirror))
            }
            _ => self.take(mirror, 1, limit, alive),
        }
    }

    /// The range that failed, and that a mirror is asked for again: how often it was, least often first, and where the range begins.
    fn failed(&self, mirror: usize, limit: u64, alive: &[bool]) -> Option<(u8, u64)> {
        let least = |tries: &[u8]| tries.iter().zip(alive).filter(|(_, alive)| **alive).map(|(tries, _)| *tries).min();
        let fits = |tries: &[u8]| tries[mirror] < TRIES && Some(tries[mirror]) == least(tries);
        let fitting = self.again.range(..limit).filter(|(_, (_, tries))| fits(tries));
        fitting.map(|(&start, (_, tries))| (tries[mirror], start)).min()
    }

    /// Whether [`Plan::take`] has a range for a mirror.
    pub fn has(&self, mirror: usize, limit: u64, alive: &[bool]) -> bool {
        self.failed(mirror, limit, alive).is_some() || self.fresh.front().is_some_and(|range| range.start < limit)
    }

    /// The end of the first units of a range that have at most `most` bytes, and of one at least.
    fn first(&self, range: &Range<u64>, most: u64) -> u64 {
        let one = self.layout.unit_over(range.start).map_or(range.end, |unit| unit.end());
        let wanted = range.start.saturating_add(most);
        let many = self.layout.unit_over(wanted).map_or(range.end, |unit| unit.start);
        many.max(one).min(range.end)
    }

    fn fly(&mut self, range: Range<u64>, tries: Vec<u8>, mirror: usize) -> Task {
        self.number += 1;
        let flight = Flight { range: range.clone(), tries, holders: vec![mirror], since: Instant::now() };
        self.flights.insert(self.number, flight);
        Task { number: self.number, range }
    }

    /// Takes the oldest range that others have been fetching since before `since`, to be fetched a second time.
    pub fn steal(&mut self, mirror: usize, since: Instant) -> Option<Task> {
        let is_slow = |flight: &Flight| flight.since < since && flight.tries[mirror] == 0;
        let is_others = |flight: &Flight| flight.holders.len() == 1 && flight.holders[0] != mirror;
        let (&number, flight) = self.flights.iter_mut().find(|(_, flight)| is_slow(flight) && is_others(flight))?;
        flight.holders.push(mirror);
        Some(Task { number, range: flight.range.clone() })
    }

    /// Whether a task is still wanted: nobody else has finished it.
    pub fn is_wanted(&self, task: &Task) -> bool {
        self.flights.contains_key(&task.number)
    }

    /// Ends a task of a mirror, of which the ranges `bad` are still missing: they will be asked of others first. A task that another
    /// mirror is fetching too goes on there, unless all of it is right.
    pub fn finish(&mut self, task: &Task, mirror: usize, bad: &[Range<u64>]) {
        let Some(flight) = self.flights.get_mut(&task.number) else { return };
        flight.tries[mirror] = flight.tries[mirror].saturating_add(1);
        flight.holders.retain(|&holder| holder != mirror);
        if !bad.is_empty() && !flight.holders.is_empty() {
            return;
        }
        let Some(flight) = self.flights.remove(&task.number) else { return };
        for range in bad {
            self.again.insert(range.start, (range.end, flight.tries.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum::Spec;
    use std::time::Duration;

    const LEAF: u64 = 64 << 10;
    const LIMIT: u64 = u64::MAX;

    fn plan(len: u64, mirrors: usize) -> Plan {
        let layout = KeptLayout::new(Spec::default().shape(), len, LEAF).unwrap();
        Plan::new(layout, Vec::from_iter(Some(0..len)), mirrors)
    }

    #[test]
    fn ranges_are_whole_units_in_order() {
        let mut plan = plan(3 * LEAF + 5, 1);
        let mut taken = Vec::new();
        while let Some(task) = plan.take(0, LEAF + 5, LIMIT, &[true]) {
            taken.push(task.range.clone());
            plan.finish(&task, 0, &[]);
        }
        assert_eq!(taken, [0..LEAF, LEAF..2 * LEAF, 2 * LEAF..3 * LEAF + 5]);
        assert!(plan.is_done());
        let mut plan = super::tests::plan(10 * LEAF, 1);
        assert_eq!(plan.take(0, 1, LIMIT, &[true]).unwrap().range, 0..LEAF);
        assert_eq!(plan.take(0, 4 * LEAF, LIMIT, &[true]).unwrap().range, LEAF..5 * LEAF);
        assert_eq!(plan.take(0, 4 * LEAF, 5 * LEAF, &[true]), None, "behind the limit");
    }

    #[test]
    fn a_new_mirror_is_asked_for_the_second_unit() {
        let mut plan = plan(4 * LEAF, 2);
        assert_eq!(plan.probe(0, LIMIT, &[true; 2]).unwrap().range, LEAF..2 * LEAF);
        assert_eq!(plan.probe(1, LIMIT, &[true; 2]).unwrap().range, 0..LEAF, "of what is left");
        assert_eq!(plan.take(0, 9 * LEAF, LIMIT, &[true; 2]).unwrap().range, 2 * LEAF..4 * LEAF);
        assert_eq!(plan.missing(), std::slice::from_ref(&(0..4 * LEAF)));
        let mut plan = super::tests::plan(LEAF, 1);
        assert_eq!(plan.probe(0, LIMIT, &[true]).unwrap().range, 0..LEAF, "the only one");
        let mut plan = super::tests::plan(2 * LEAF, 1);
        assert_eq!(plan.probe(0, LEAF, &[true]).unwrap().range, 0..LEAF, "behind the limit");
    }

    #[test]
    fn a_bad_range_is_asked_of_another_mirror_first() {
        let mut plan = plan(4 * LEAF, 2);
        let task = plan.take(0, 4 * LEAF, LIMIT, &[true; 2]).unwrap();
        let bad = LEAF..2 * LEAF;
        plan.finish(&task, 0, std::slice::from_ref(&bad));
        assert_eq!(plan.missing(), std::slice::from_ref(&bad));
        assert_eq!(plan.take(0, LEAF, LIMIT, &[true; 2]), None);
        let task = plan.take(1, LEAF, LIMIT, &[true; 2]).unwrap();
        plan.finish(&task, 1, std::slice::from_ref(&task.range));
        // Both have failed once: either may be asked again, and then the other.
        for mirror in [0, 1, 1, 0] {
            let task = plan.take(mirror, LEAF, LIMIT, &[true; 2]).unwrap();
            plan.finish(&task, mirror, std::slice::from_ref(&task.range));
        }
        assert_eq!((plan.take(0, LEAF, LIMIT, &[true; 2]), plan.take(1, LEAF, LIMIT, &[true; 2])), (None, None));
        assert!(!plan.is_done() && plan.is_idle());
    }

    #[test]
    fn a_lone_mirror_is_asked_again() {
        let mut plan = plan(LEAF, 2);
        for _ in 0..TRIES {
            let task = plan.take(0, LEAF, LIMIT, &[true, false]).unwrap();
            plan.finish(&task, 0, std::slice::from_ref(&task.range));
        }
        assert_eq!(plan.take(0, LEAF, LIMIT, &[true, false]), None);
    }

    #[test]
    fn what_failed_as_a_whole_is_asked_again_by_units() {
        let mut plan = plan(4 * LEAF, 2);
        let task = plan.take(0, 4 * LEAF, LIMIT, &[true; 2]).unwrap();
        plan.finish(&task, 0, std::slice::from_ref(&task.range));
        let task = plan.take(1, 4 * LEAF, LIMIT, &[true; 2]).unwrap();
        assert_eq!(task.range, 0..4 * LEAF, "by another mirror as a whole");
        plan.finish(&task, 1, std::slice::from_ref(&task.range));
        for (mirror, unit) in [(0, 0), (1, 1), (0, 2)] {
            let task = plan.take(mirror, 4 * LEAF, LIMIT, &[true; 2]).unwrap();
            assert_eq!(task.range, unit * LEAF..(unit + 1) * LEAF);
            plan.finish(&task, mirror, &[]);
        }
        let task = plan.take(1, 4 * LEAF, LIMIT, &[true; 2]).unwrap();
        plan.finish(&task, 1, &[]);
        assert!(plan.is_done());
    }

    #[test]
    fn what_a_mirror_failed_at_comes_last() {
        let mut plan = plan(4 * LEAF, 1);
        let mut taken = Vec::new();
        while let Some(task) = plan.take(0, 2 * LEAF, LIMIT, &[true]) {
            taken.push((task.range.start / LEAF, task.range.end / LEAF));
            let bad = task.range.clone();
            plan.finish(&task, 0, if bad.start == 0 { std::slice::from_ref(&bad) } else { &[] });
        }
        // The first unit is wrong: a mirror that fails three times in a row would be left.
        assert_eq!(taken, [(0, 2), (2, 4), (0, 1), (1, 2), (0, 1)]);
        assert_eq!(plan.missing(), std::slice::from_ref(&(0..LEAF)));
    }

    #[test]
    fn the_first_of_two_that_fetch_a_range_ends_it() {
        let mut plan = plan(LEAF, 2);
        let slow = plan.take(0, LEAF, LIMIT, &[true; 2]).unwrap();
        let later = Instant::now() + Duration::from_secs(1);
        assert_eq!(plan.steal(0, later), None, "its own");
        let stolen = plan.steal(1, later).unwrap();
        assert_eq!(stolen, slow);
        assert_eq!(plan.steal(1, later), None, "twice");
        plan.finish(&stolen, 1, std::slice::from_ref(&stolen.range));
        assert!(plan.is_wanted(&slow), "the other is still at it");
        plan.finish(&slow, 0, &[]);
        assert!(plan.is_done() && !plan.is_wanted(&stolen));
    }
}
