//! When the commands of a device ran, how long each kind of them ran, and how much of the transfers ran beside kernels.

use crate::ranges::union;
use alloc::vec::Vec;
use core::ops::{AddAssign, Range};
use core::time::Duration;

/// The kinds of commands that compute a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A transfer of leaves to the device.
    ToDevice,
    /// A kernel, which hashes.
    Kernel,
    /// A transfer of nodes from the device.
    FromDevice,
}

impl Step {
    /// All kinds, in the order in which a tile needs them.
    pub const ALL: [Step; 3] = [Step::ToDevice, Step::Kernel, Step::FromDevice];
}

/// A command of a device, and when it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The index of its queue: the commands of a queue run one after the other.
    pub queue: usize,
    /// The index of its tile: of the equal subtrees that the tree was cut into.
    pub tile: usize,
    /// Its kind.
    pub step: Step,
    /// Its begin and its end by the device's clock, after the begin of the tree's first command.
    pub time: Range<Duration>,
}

/// The parts of the time that one tree took: of each, the time during which at least one such command ran. They may overlap, so their
/// sum may be more than the time that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// Hashing: kernels.
    pub kernel: Duration,
    /// Moving leaves to the device.
    pub to_device: Duration,
    /// Moving nodes from the device.
    pub from_device: Duration,
}

impl AddAssign for Timings {
    fn add_assign(&mut self, other: Timings) {
        self.kernel += other.kernel;
        self.to_device += other.to_device;
        self.from_device += other.from_device;
    }
}

/// The commands of one tree. Commands of different queues may run at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    spans: Vec<Span>,
}

impl Timeline {
    /// The timeline of these commands, in any order.
    pub fn new(spans: Vec<Span>) -> Self {
        Timeline { spans }
    }

    /// The commands.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The time during which at least one command of each kind ran: the length of the union of their intervals.
    pub fn timings(&self) -> Timings {
        let busy = |step| length(&self.union(|span| span.step == step));
        Timings { kernel: busy(Step::Kernel), to_device: busy(Step::ToDevice), from_device: busy(Step::FromDevice) }
    }

    /// The share of the transfers' time during which a kernel ran too, from 0 to 1; `None` without transfers.
    pub fn overlap(&self) -> Option<f64> {
        let transfers = self.union(|span| span.step != Step::Kernel);
        let kernels = self.union(|span| span.step == Step::Kernel);
        let whole = length(&transfers);
        (!whole.is_zero()).then(|| common(&transfers, &kernels).as_secs_f64() / whole.as_secs_f64())
    }

    /// The end of the last command.
    pub fn end(&self) -> Duration {
        self.spans.iter().map(|span| span.time.end).max().unwrap_or_default()
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        self.spans.iter().map(|span| span.tile + 1).max().unwrap_or(0)
    }

    /// The number of queues.
    pub fn queues(&self) -> usize {
        self.spans.iter().map(|span| span.queue + 1).max().unwrap_or(0)
    }

    fn union(&self, of: impl Fn(&Span) -> bool) -> Vec<Range<Duration>> {
        union(self.spans.iter().filter(|span| of(span)).map(|span| span.time.clone()).collect())
    }
}

/// The length of disjoint intervals.
fn length(intervals: &[Range<Duration>]) -> Duration {
    intervals.iter().map(|interval| interval.end - interval.start).sum()
}

/// The length of what two unions have in common.
fn common(mut one: &[Range<Duration>], mut other: &[Range<Duration>]) -> Duration {
    let mut sum = Duration::ZERO;
    while let ([first, later @ ..], [second, rest @ ..]) = (one, other) {
        sum += first.end.min(second.end).saturating_sub(first.start.max(second.start));
        // The interval that ends first has nothing in common with later ones.
        match first.end <= second.end {
            true => one = later,
            false => other = rest,
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nanos(range: Range<u64>) -> Range<Duration> {
        Duration::from_nanos(range.start)..Duration::from_nanos(range.end)
    }

    fn timeline(spans: &[(Step, Range<u64>)]) -> Timeline {
        let span =
            |(step, range): &(Step, Range<u64>)| Span { queue: 0, tile: 0, step: *step, time: nanos(range.clone()) };
        Timeline::new(spans.iter().map(span).collect())
    }

    #[test]
    fn kernels_of_two_queues_count_once_where_they_run_at_the_same_time() {
        use Step::{FromDevice, Kernel, ToDevice};
        let both = [(ToDevice, 0..10), (Kernel, 10..30), (FromDevice, 30..35)];
        let later = [(ToDevice, 10..20), (Kernel, 20..40), (FromDevice, 40..45)];
        let timeline = timeline(&[both, later].concat());
        let timings = timeline.timings();
        assert_eq!(timings.kernel.as_nanos(), 30);
        assert_eq!(timings.to_device.as_nanos(), 20);
        assert_eq!(timings.from_device.as_nanos(), 10);
        // Of 30 ns of transfers, 10..20 and 30..35 lie beside kernels.
        assert_eq!(timeline.overlap(), Some(0.5));
        assert_eq!(timeline.end().as_nanos(), 45);
    }

    #[test]
    fn without_transfers_there_is_no_overlap() {
        assert_eq!(timeline(&[]).overlap(), None);
        assert_eq!(timeline(&[]).timings(), Timings::default());
        assert_eq!(timeline(&[(Step::Kernel, 0..9), (Step::ToDevice, 3..3)]).overlap(), None);
        assert_eq!(timeline(&[(Step::ToDevice, 0..9)]).overlap(), Some(0.0));
    }

    proptest! {
        #[test]
        fn unions_and_overlaps_are_those_of_every_instant(
            commands in prop::collection::vec((0..3_usize, 0..60_u64, 0..20_u64), 0..30),
        ) {
            let spans: Vec<_> = commands.iter().map(|&(step, at, len)| (Step::ALL[step], at..at + len)).collect();
            let runs = |at: u64, of: &dyn Fn(Step) -> bool| spans.iter().any(|(step, range)| of(*step) && range.contains(&at));
            let instants = |of: &dyn Fn(u64) -> bool| (0..80).filter(|&at| of(at)).count();
            let timeline = timeline(&spans);
            let timings = timeline.timings();
            for (step, found) in Step::ALL.into_iter().zip([timings.to_device, timings.kernel, timings.from_device]) {
                prop_assert_eq!(found.as_nanos() as usize, instants(&|at| runs(at, &|one| one == step)));
            }
            let transfer = |at| runs(at, &|step| step != Step::Kernel);
            let transfers = instants(&transfer);
            let beside = instants(&|at| transfer(at) && runs(at, &|step| step == Step::Kernel));
            match timeline.overlap() {
                None => prop_assert_eq!(transfers, 0),
                Some(share) => prop_assert!((share - beside as f64 / transfers as f64).abs() < 1e-9),
            }
        }
    }
}
