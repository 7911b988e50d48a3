//! The last line of a run whose reader is a person: what was found how often, the bytes and the time.

use crate::figures::{grouped, size};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A result for a file, in the order of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Ok,
    Failed,
    Missing,
    Unreadable,
    New,
    Gone,
    Unchanged,
    Extra,
}

impl Verdict {
    /// The word in the last line.
    fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "OK",
            Verdict::Failed => "FAILED",
            Verdict::Missing => "missing",
            Verdict::Unreadable => "unreadable",
            Verdict::New => "new",
            Verdict::Gone => "gone",
            Verdict::Unchanged => "unchanged",
            Verdict::Extra => "not listed",
        }
    }
}

/// The results of a run.
#[derive(Debug)]
pub struct Summary {
    begin: Instant,
    counts: Mutex<BTreeMap<Verdict, u64>>,
}

impl Default for Summary {
    fn default() -> Self {
        Summary { begin: Instant::now(), counts: Mutex::default() }
    }
}

impl Summary {
    /// Counts a result.
    pub fn add(&self, verdict: Verdict, number: u64) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(verdict).or_default() += number;
    }

    /// The line: `19,997 OK, 2 FAILED, 1 missing, 4.20 GB in 3.1 s`.
    pub fn line(&self, read: u64) -> String {
        let counts: Vec<_> = {
            let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.iter().map(|(verdict, count)| (*count, verdict.word())).collect()
        };
        format!("{}, {}{}", counted(&counts, "no files"), size(read), self.took())
    }

    /// The time since the run began: ` in 3.1 s`.
    pub fn took(&self) -> String {
        format!(" in {:.1} s", self.begin.elapsed().as_secs_f64())
    }
}

/// Counts as words: `2 new, 1 gone`; `otherwise` if all are 0.
pub fn counted(counts: &[(u64, &str)], otherwise: &str) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> = counts.map(|(count, word)| format!("{} {word}", grouped(*count))).collect();
    if words.is_empty() { otherwise.into() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_counts_in_order() {
        let summary = Summary::default();
        for (verdict, number) in
            [(Verdict::Missing, 1), (Verdict::Ok, 19_000), (Verdict::Ok, 997), (Verdict::Failed, 2)]
        {
            summary.add(verdict, number);
        }
        let line = summary.line(4_200_000_000);
        assert!(line.starts_with("19,997 OK, 2 FAILED, 1 missing, 4.20 GB in "), "{line}");
        assert!(Summary::default().line(0).starts_with("no files, 0 bytes in "));
    }
}
