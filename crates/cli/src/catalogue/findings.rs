//! Findings about the entries of a directory, printed and counted.

use super::{line, path_of, shown_path};
use crate::figures::{bytes, grouped, size};
use crate::summary::counted;
use crate::tool::Tool;
use mksum_catalogue::{Catalogue, Finding, State};
use mksum_cli::name::{self, Shown};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

/// What is found about a directory.
pub struct Findings<'a> {
    tool: &'a Tool,
    json: bool,
    directory: &'a Path,
    counts: BTreeMap<State, u64>,
}

impl<'a> Findings<'a> {
    /// Nothing yet.
    pub fn new(tool: &'a Tool, json: bool, directory: &'a Path) -> Self {
        Findings { tool, json, directory, counts: BTreeMap::new() }
    }

    pub fn count(&mut self, finding: &Finding) {
        *self.counts.entry(finding.state).or_default() += 1;
    }

    /// Prints a finding with these words, or with the usual ones: as a line or as JSON, or as an error where it has one.
    pub fn print(&self, mut finding: Finding, words: Option<&dyn Display>) {
        let path = shown_path(self.directory, &finding.path);
        if let Some(error) = &finding.error {
            return self.tool.console.error(&path, words.unwrap_or(error));
        }
        if let Some(from) = &mut finding.from {
            *from = name::bytes(&shown_path(self.directory, from)).into();
        }
        match (self.json, words) {
            (true, _) => self.tool.console.print_json(&path, finding),
            (false, Some(words)) => line(self.tool, &path, words),
            (false, None) => line(self.tool, &path, &text(&finding)),
        }
    }

    /// Whether there is any but of these states.
    pub fn has_others(&self, good: &[State]) -> bool {
        self.counts.keys().any(|state| !good.contains(state))
    }

    /// How many have this state.
    pub fn number(&self, state: State) -> u64 {
        self.counts.get(&state).copied().unwrap_or(0)
    }

    /// How many have which state, with words for a summary: these states first, then the others in their order.
    pub fn counts(&self, first: &[State]) -> Vec<(u64, &'static str)> {
        let words = |state: State| match state {
            State::Touched => "read again (same content)",
            State::Intact => "OK",
            State::DamagedTree => "with a damaged tree",
            State::Busy => "being written",
            State::NotRepaired => "still damaged",
            State::Incomparable => "not compared (no root in a common format)",
            state => state.as_str(),
        };
        let others = self.counts.keys().filter(|state| !first.contains(state));
        first.iter().chain(others).map(|&state| (self.number(state), words(state))).collect()
    }

    /// Prints the counts after all lines, and `more` after them; or `otherwise`, if all are 0.
    pub fn end(&self, catalogue: &Catalogue, first: &[State], more: &[(u64, &'static str)], otherwise: &str) {
        let counts = [&self.counts(first), more].concat();
        let read = self.tool.options.meter.bytes();
        let pace = match self.tool.console.took() {
            took if read > 0 && !took.is_empty() => format!(", {}{took}", size(read)),
            _ => String::new(),
        };
        self.tool.console.flush();
        if self.tool.console.is_silent() {
            return;
        }
        let (path, counts, excluded) = (Shown(catalogue.path()), counted(&counts, otherwise), excluded(catalogue));
        self.tool.console.note(&format_args!("{path}: {counts}{excluded}{pace}"));
    }
}

/// What a summary says after its counts of what was left out, if anything was.
pub fn excluded(catalogue: &Catalogue) -> String {
    let dropped = match catalogue.dropped() {
        0 => String::new(),
        count => format!(", {} no longer kept", grouped(count)),
    };
    match catalogue.excluded() {
        0 => dropped,
        count => format!(", {} excluded{dropped}", grouped(count)),
    }
}

/// A finding as a line has it.
fn text(finding: &Finding) -> String {
    let Finding { state, from, length, bytes: done, ranges, .. } = finding;
    let (len, done) = (length.unwrap_or(0), done.unwrap_or(0));
    let touched = || ranges.iter().map(|range| range.end - range.start).sum();
    match state {
        State::Incomplete => {
            "INCOMPLETE: it has no root yet in some formats of the catalogue ('mksum update' reads it)".into()
        }
        State::Moved => format!("MOVED from {}", Shown(&path_of(from.as_deref().unwrap_or_default()))),
        State::Intact if done == len => format!("OK ({})", bytes(len)),
        State::Intact => format!("OK ({} of {})", grouped(done), bytes(len)),
        State::Damaged => match ranges.len() {
            0 => format!("FAILED: {}", finding.reason().unwrap_or_default()),
            1 => format!("FAILED: {} of {} are damaged (1 range)", grouped(touched()), bytes(len)),
            several => format!("FAILED: {} of {} are damaged ({several} ranges)", grouped(touched()), bytes(len)),
        },
        State::DamagedTree => {
            "its kept tree is damaged or gone: 'mksum update' reads the file and keeps it again".into()
        }
        State::Repaired => {
            let copies: Vec<_> = finding.copies.iter().map(|copy| Shown(copy).to_string()).collect();
            let from = if finding.passed.is_empty() { "" } else { &format!(" from {}", copies.join(", ")) };
            format!("OK: {} repaired, {} fetched{from}", bytes(touched()), bytes(done))
        }
        State::Incomparable => "NOT COMPARED (no root in a common format)".into(),
        state => state.as_str().to_uppercase(),
    }
}
