//! The costs of the kernels on this machine, by which messages are shared among them.
//!
//! The costs in this crate's tables were measured on one chip. Others have other ratios, and a program whose work is long can measure its
//! own machine in a few milliseconds. Every kernel computes the same digests: only the time depends on the costs.
//!
//! ```
//! use mksum_lanes::{Hash, calibration::Calibration};
//!
//! let measured = Calibration::measure(Hash::Sha256);
//! measured.install();
//! assert_eq!(Calibration::in_use(Hash::Sha256), measured);
//! // As text, for a file.
//! assert_eq!(Calibration::parse(&measured.to_string()), Ok(vec![measured]));
//! ```

use crate::{
    Hash,
    costs::{SHORT, measure},
    cpu::{Cpu, Kernel},
    dispatch::{Entry, Family, Layout, SOURCE},
};
use core::{cell::RefCell, fmt, ptr};
use std::{boxed::Box, format, string::String, sync::OnceLock, thread_local, vec::Vec};

/// The costs of all kernels of a hash on this machine, and of those hashes that have the same kernels.
#[derive(Clone, Debug)]
pub struct Calibration {
    hash: Hash,
    costs: Vec<Cost>,
}

/// The cost of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The kernel.
    pub kernel: Kernel,
    /// The time of a block of all lanes, in picoseconds: 1 to [`MOST`].
    pub apart: u32,
    /// The same where messages lie a multiple of 2 KiB apart, and so in the same few cache sets, as leaves that lie one after another do.
    pub conflicting: u32,
}

/// The most that a kernel costs: a millisecond, in picoseconds.
pub const MOST: u32 = 1_000_000_000;

/// A line that is not a cost of a kernel of this machine, or a kernel that has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The number of the line, from 1; that of the hash's first line if a kernel is missing.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for ParseError {}

/// Calibrations are equal if they give the same kernels the same costs.
impl PartialEq for Calibration {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.family(), other.family()) && self.costs == other.costs
    }
}

impl Calibration {
    /// Measures the kernels of a hash: 5 to 10 ms.
    pub fn measure(hash: Hash) -> Calibration {
        let costs = measure(hash.scheme(), SHORT).into_iter();
        Calibration::of(hash, costs.map(|(entry, costs)| (entry, costs.map(|cost| cost.clamp(1, MOST)))))
    }

    /// The costs by which messages are shared among kernels now: those that were [installed](Calibration::install), or those of the table.
    pub fn in_use(hash: Hash) -> Calibration {
        Calibration::of(hash, hash.scheme().family.costs(Cpu::detected()))
    }

    fn of(hash: Hash, costs: impl Iterator<Item = (&'static Entry, [u32; 2])>) -> Calibration {
        let costs = costs.map(|(entry, [apart, conflicting])| Cost { kernel: entry.kernel(), apart, conflicting });
        Calibration { hash, costs: costs.collect() }
    }

    /// The first of the hashes that have the same kernels as this one: what was measured for it is true for all of them.
    pub fn first_alike(hash: Hash) -> Hash {
        first_of(hash.scheme().family)
    }

    /// The hash for which this was made.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The costs of the machine's kernels, from the widest to the single message.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// The same kernels with costs from a function; they are at least 1 and at most [`MOST`].
    #[must_use]
    pub fn with(mut self, mut cost: impl FnMut(Cost) -> [u32; 2]) -> Calibration {
        for own in &mut self.costs {
            [own.apart, own.conflicting] = cost(*own).map(|cost| cost.clamp(1, MOST));
        }
        self
    }

    /// Has this process share messages among kernels by these costs from now on, on every thread.
    pub fn install(&self) {
        let costs: Vec<_> = self.costs.iter().map(|cost| [cost.apart, cost.conflicting]).collect();
        self.family().set_costs(&costs);
    }

    /// Reads calibrations from text, as [`Display`](fmt::Display) writes them: a line for each kernel, `HASH`, the kernel's name and its
    /// two costs, with a tab between them. Empty lines, and those that begin with `#`, are skipped.
    ///
    /// # Errors
    /// If a line is something else, names no kernel of this machine or names one again, or if a kernel of one of the hashes is missing.
    pub fn parse(text: &str) -> Result<Vec<Calibration>, ParseError> {
        /// A calibration, the number of its first line, and which kernels were named.
        struct Begun(Calibration, usize, Vec<bool>);
        let mut all: Vec<Begun> = Vec::new();
        for (text, line) in text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = |reason: String| ParseError { line, reason };
            let fields: Vec<&str> = text.split('\t').collect();
            let [hash, kernel, apart, conflicting] = fields[..] else {
                return Err(wrong(format!("expected 4 fields with tabs between them, found {}", fields.len())));
            };
            let hash = Hash::from_name(hash).ok_or_else(|| wrong(format!("no hash has the name {hash}")))?;
            let cost = |text: &str| match text.parse() {
                Ok(cost @ 1..=MOST) => Ok(cost),
                _ => Err(wrong(format!("expected picoseconds from 1 to {MOST}, found {text}"))),
            };
            let costs = [cost(apart)?, cost(conflicting)?];
            let same = |begun: &Begun| ptr::eq(begun.0.family(), hash.scheme().family);
            let at = all.iter().position(same).unwrap_or_else(|| {
                let calibration = Calibration::in_use(hash);
                let named = calibration.costs.iter().map(|_| false).collect();
                all.push(Begun(calibration, line, named));
                all.len() - 1
            });
            let Begun(calibration, _, named) = &mut all[at];
            let place = calibration.costs.iter().position(|cost| cost.kernel.name == kernel);
            let place = place.ok_or_else(|| wrong(format!("{} has no kernel '{kernel}' here", hash.name())))?;
            if named[place] {
                return Err(wrong(format!("the kernel '{kernel}' of {} comes again", hash.name())));
            }
            named[place] = true;
            [calibration.costs[place].apart, calibration.costs[place].conflicting] = costs;
        }
        let done = |Begun(calibration, line, named): Begun| match named.iter().position(|&named| !named) {
            None => Ok(calibration),
            Some(at) => {
                let (kernel, hash) = (calibration.costs[at].kernel.name, calibration.hash.name());
                Err(ParseError { line, reason: format!("the kernel '{kernel}' of {hash} is missing") })
            }
        };
        all.into_iter().map(done).collect()
    }

    fn family(&self) -> &'static Family {
        self.hash.scheme().family
    }
}

/// A line for each kernel.
impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Cost { kernel, apart, conflicting } in &self.costs {
            writeln!(f, "{}\t{}\t{apart}\t{conflicting}", self.hash.name(), kernel.name)?;
        }
        Ok(())
    }
}

/// Gives the calibration of a hash: from a file, or measured.
pub type Source = Box<dyn Fn(Hash) -> Option<Calibration> + Send + Sync>;

thread_local! {
    /// While this thread waits for the source's answer: the families of hashes that the source itself uses.
    static OWN: RefCell<Option<Vec<&'static Family>>> = const { RefCell::new(None) };
}

/// Has `source` asked for a calibration of each hash that is used from now on: once for all hashes with the same kernels, by the thread that
/// uses one first, while others go on with the costs of the table. A process has one source: returns whether this is it.
///
/// Hashes that the source uses itself are not asked for because of that.
pub fn set_source(source: Source) -> bool {
    let first = GIVEN.set(source).is_ok() && SOURCE.set(give).is_ok();
    if first {
        Hash::ALL.iter().for_each(|hash| hash.scheme().family.forget());
    }
    first
}

static GIVEN: OnceLock<Source> = OnceLock::new();

/// The first hash that has these kernels.
fn first_of(family: &'static Family) -> Hash {
    let first = Hash::ALL.iter().copied().find(|hash| ptr::eq(hash.scheme().family, family));
    first.expect("a family of kernels has a hash")
}

/// Asks the source about a family.
fn give(family: &'static Family) {
    let waits = OWN.with_borrow_mut(|own| match own {
        Some(own) => {
            own.push(family);
            true
        }
        None => {
            *own = Some(Vec::new());
            false
        }
    });
    if waits {
        return;
    }
    if let Some(calibration) = GIVEN.get().and_then(|source| source(first_of(family))) {
        calibration.install();
    }
    for family in OWN.take().unwrap_or_default() {
        family.forget();
    }
}

impl Cpu {
    /// The kernel that hashes the first of `count` messages, if they lie apart and if they [conflict](Cost::conflicting).
    pub fn chosen(self, hash: Hash, count: usize) -> [Kernel; 2] {
        [Layout::Apart, Layout::Conflicting].map(|layout| hash.scheme().family.pick_for(layout, self, count).kernel())
    }
}
