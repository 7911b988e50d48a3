//! --check: compares files with the roots in sum files.

use crate::args::Run;
use crate::console::Console;
use crate::exit::Exit;
use crate::print::{report_read_error, window, within};
use crate::tool::Tool;
use crate::walk::{length, stdin};
use mksum::{ClaimedRoot, Root, format_size};
use mksum_cli::choice::Choice;
use mksum_cli::name::{self, Shown};
use mksum_cli::sumfile::{Entry, Lines, Malformed};
use mksum_cli::utf16::Text;
use mksum_io::reason;
use mksum_io::{Error, Input, Job, Roots, hash_all};
use serde::Serialize;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Checks every file that is listed, sum file by sum file.
pub fn run(tool: &Tool, args: &Run) -> Exit {
    let sum_files = if args.files.is_empty() { vec![PathBuf::from("-")] } else { args.files.clone() };
    tool.console.use_json(args.json);
    let _progress = tool.progress(lengths(tool, args, &sum_files));
    tool.console.flush_regularly();
    let mut summary = Summary::default();
    for sum_file in &sum_files {
        let tally = check(tool, args, sum_file, &mut summary);
        tool.console.flush();
        if !tally.is_good(args) {
            tool.console.fail();
        }
        tally.report(&tool.console, args, sum_file);
    }
    if !args.status {
        summary.report(&tool.console);
    }
    tool.console.exit()
}

/// The counts of one sum file.
#[derive(Debug, Default)]
struct Tally {
    listed: u64,
    malformed: u64,
    /// Those of them that only lack a format.
    without_format: u64,
    /// The sum file itself could not be read to its end.
    broken: bool,
    matched: u64,
    differing: u64,
    unreadable: u64,
}

impl Tally {
    fn is_good(&self, args: &Run) -> bool {
        let verified = self.matched > 0 || !args.ignore_missing;
        let well_formed = self.malformed == 0 || !args.strict;
        self.listed > 0 && verified && well_formed && self.differing == 0 && self.unreadable == 0 && !self.broken
    }

    /// In the words of coreutils, which scripts may know.
    fn report(&self, console: &Console, args: &Run, sum_file: &Path) {
        let sum_file = shown(sum_file);
        if self.listed == 0 && !self.broken {
            console.note(&format_args!("{sum_file}: no properly formatted checksum lines found"));
        }
        if self.without_format > 0 && !args.status {
            console.note(&format_args!(
                "{sum_file}: its lines do not name their format: give it with -f, for example -f sha256 for sums of \
                 sha256sum, or -f blake3 for b3sum"
            ));
        }
        if self.listed == 0 || args.status {
            return;
        }
        let warn = |count: u64, one: &str, more: &str| {
            if count > 0 {
                console.note(&format_args!("WARNING: {count} {}", if count == 1 { one } else { more }));
            }
        };
        warn(self.malformed, "line is improperly formatted", "lines are improperly formatted");
        warn(self.unreadable, "listed file could not be read", "listed files could not be read");
        warn(self.differing, "computed checksum did NOT match", "computed checksums did NOT match");
        if args.ignore_missing && self.matched == 0 {
            console.note(&format_args!("{sum_file}: no file was verified"));
        }
    }
}

/// The failures of all sum files, repeated at the end, where they have not scrolled away.
#[derive(Debug, Default)]
struct Summary {
    checked: u64,
    failed: u64,
    first: Vec<(PathBuf, &'static str)>,
}

impl Summary {
    /// The failures that are listed by name.
    const MOST: usize = 20;

    fn add(&mut self, path: &Path, how: &'static str) {
        self.failed += 1;
        if self.first.len() < Self::MOST {
            self.first.push((path.into(), how));
        }
    }

    fn report(&self, console: &Console) {
        if self.failed == 0 || self.checked < 2 {
            return;
        }
        console.note(&format_args!("{} of {} files failed:", self.failed, self.checked));
        for (path, how) in &self.first {
            console.note(&format_args!("  {} ({how})", Shown(path)));
        }
        let more = self.failed - self.first.len() as u64;
        if more > 0 {
            console.note(&format_args!("  and {more} more"));
        }
    }
}

/// The expected result of a job.
struct Awaited {
    claimed: ClaimedRoot,
    guessed: bool,
}

fn check(tool: &Tool, args: &Run, sum_file: &Path, summary: &mut Summary) -> Tally {
    let console = &*tool.console;
    let (lines, from_stdin) = match open(sum_file) {
        Ok(reader) => (Lines::new(reader, tool.end), sum_file.as_os_str() == "-"),
        Err(error) => {
            console.error(sum_file, &reason(&error));
            return Tally { broken: true, ..Tally::default() };
        }
    };
    let (tally, awaited) = (Mutex::new(Tally::default()), Mutex::new(VecDeque::new()));
    let listing = Listing { tool, args, sum_file, lines, from_stdin, tally: &tally, awaited: &awaited };
    hash_all(listing, &tool.options, |job, result, _| {
        let awaited = lock(&awaited).pop_front().expect("a root for each job");
        let path = crate::print::path(&job.input);
        tool.options.meter.finish_file();
        let mut tally = lock(&tally);
        let result = match result {
            Ok(roots) => matching(roots, &awaited.claimed),
            Err(error) => Err(error),
        };
        match result {
            Err(Error::Open { error, .. }) if args.ignore_missing && error.kind() == ErrorKind::NotFound => {
                return ControlFlow::Continue(());
            }
            Err(error) => {
                match &error {
                    Error::Open { error, .. } if error.kind() == ErrorKind::IsADirectory => {
                        console.error(path, &"Is a directory");
                    }
                    error => report_read_error(tool, args, error),
                }
                tally.unreadable += 1;
                summary.add(path, "FAILED open or read");
                let missing = matches!(&error, Error::Open { error, .. } if error.kind() == ErrorKind::NotFound);
                let status = if missing { "missing" } else { "error" };
                if !args.json {
                    print(tool, args.status, path, "FAILED open or read");
                } else if !args.status {
                    console.print_json(path, Record::new(status, job, &awaited, None));
                }
            }
            Ok(found) => {
                let (good, root) = match &found {
                    Found::Match(root) => (true, Some(root)),
                    Found::Others(root) => (false, root.as_ref()),
                };
                let text = if good { ok(root.expect("one that matches"), &awaited) } else { "FAILED".into() };
                tally.matched += u64::from(good);
                tally.differing += u64::from(!good);
                if !good {
                    summary.add(path, "FAILED");
                }
                let silent = args.status || (good && args.quiet);
                if !args.json {
                    print(tool, silent, path, &text);
                } else if !silent {
                    console.print_json(path, Record::new(if good { "ok" } else { "failed" }, job, &awaited, root));
                }
            }
        }
        summary.checked += 1;
        ControlFlow::Continue(())
    });
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The computed roots compared with a claimed one.
enum Found {
    /// This one matches.
    Match(Root),
    /// None matches; the first of them.
    Others(Option<Root>),
}

/// Compares the computed roots with the claimed one; an error only if that may be why none matches.
fn matching(roots: Roots, claimed: &ClaimedRoot) -> Result<Found, Error> {
    let (mut failure, mut other) = (None, None);
    for root in roots {
        match root {
            Ok(root) if root.matches(claimed) => return Ok(Found::Match(root)),
            Ok(root) => other = other.or(Some(root)),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(Found::Others(other)), Err)
}

/// A checked file, as JSON.
#[derive(Serialize)]
struct Record {
    kind: &'static str,
    /// `ok`, `failed`, `missing` or `error`.
    status: &'static str,
    format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    expected: String,
    /// `null` if the file could not be read.
    found: Option<String>,
}

impl Record {
    fn new(status: &'static str, job: &Job, awaited: &Awaited, found: Option<&Root>) -> Self {
        let spec = found.map_or(&job.specs[0], Root::spec);
        Record {
            kind: "check",
            status,
            format: spec.to_string(),
            start: job.window.map(|window| window.start),
            end: job.window.and_then(|window| window.end),
            expected: awaited.claimed.text(spec),
            found: found.map(ToString::to_string),
        }
    }
}

fn ok(root: &Root, awaited: &Awaited) -> String {
    match awaited.guessed {
        true => format!("OK (part size {})", format_size(root.spec().leaf())),
        false => "OK".into(),
    }
}

/// Prints the result for a file as a line.
fn print(tool: &Tool, silent: bool, path: &Path, result: &str) {
    if silent {
        return;
    }
    let path = &*name::listed(path);
    let line = match name::escaped(path) {
        Some(escaped) => [b"\\", &*escaped, b": ", result.as_bytes(), b"\n"].concat(),
        None => [path, b": ", result.as_bytes(), b"\n"].concat(),
    };
    tool.console.print(&line);
}

type Reader = BufReader<Text<BufReader<Box<dyn Read + Send>>>>;

fn open(sum_file: &Path) -> io::Result<Reader> {
    let reader: Box<dyn Read + Send> = match sum_file.as_os_str() == "-" {
        true => stdin()?,
        false => Box::new(File::open(sum_file)?),
    };
    Ok(BufReader::with_capacity(64 << 10, Text::new(BufReader::with_capacity(64 << 10, reader))))
}

fn shown(sum_file: &Path) -> String {
    if sum_file.as_os_str() == "-" { "'standard input'".into() } else { Shown(sum_file).to_string() }
}

/// The jobs that a sum file lists.
struct Listing<'a> {
    tool: &'a Tool,
    args: &'a Run,
    sum_file: &'a Path,
    lines: Lines<Reader>,
    from_stdin: bool,
    tally: &'a Mutex<Tally>,
    awaited: &'a Mutex<VecDeque<Awaited>>,
}

impl Iterator for Listing<'_> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            let given = given_format(self.tool, self.args);
            let entry = match self.lines.next_entry(given) {
                Ok(entry) => entry?,
                Err(error) => {
                    self.tool.console.error(self.sum_file, &reason(&error));
                    lock(self.tally).broken = true;
                    return None;
                }
            };
            match entry {
                Ok(entry) if self.from_stdin && entry.path == b"-" => {
                    self.malformed(&"the standard input cannot be both the sum file and a file that it lists");
                }
                Ok(entry) => return Some(self.job(entry)),
                Err(malformed) => {
                    lock(self.tally).without_format += u64::from(malformed == Malformed::NoFormat);
                    self.malformed(&malformed);
                }
            }
        }
    }
}

impl Listing<'_> {
    fn malformed(&self, why: &dyn std::fmt::Display) {
        lock(self.tally).malformed += 1;
        if self.args.warn && !self.args.status {
            let (sum_file, number) = (shown(self.sum_file), self.lines.number());
            self.tool.console.note(&format_args!("{sum_file}: {number}: improperly formatted checksum line: {why}"));
        }
    }

    fn job(&self, entry: Entry) -> Job {
        lock(self.tally).listed += 1;
        let (input, Entry { choice, claimed, range, .. }) = (input(&entry), entry);
        let part = range.map(window);
        let guesses = choice.guesses(&claimed);
        let len = if guesses { length(&input).map(|len| within(part, len)) } else { None };
        let specs = choice.candidates(len.unwrap_or(0), &claimed);
        lock(self.awaited).push_back(Awaited { claimed, guessed: specs.len() > 1 });
        let mut job = Job::new(input, specs);
        job.window = part;
        job
    }
}

fn given_format<'a>(tool: &'a Tool, args: &Run) -> Option<&'a Choice> {
    tool.formats.first().filter(|_| args.choices.any())
}

fn input(entry: &Entry) -> Input {
    if entry.path == b"-" {
        return Input::Stdin;
    }
    Input::Path(name::path(&entry.path).expect("the line was read as one with a name"))
}

/// The lengths of the files that are listed, for progress; unknown where a sum file can be read only once.
fn lengths(
    tool: &Tool,
    args: &Run,
    sum_files: &[PathBuf],
) -> impl FnOnce() -> Box<dyn Iterator<Item = Option<u64>>> + Send + 'static {
    let (end, given, sum_files) = (tool.end, given_format(tool, args).cloned(), sum_files.to_vec());
    move || {
        Box::new(sum_files.into_iter().flat_map(move |sum_file| {
            let regular = std::fs::metadata(&sum_file).is_ok_and(|metadata| metadata.is_file());
            let given = given.clone();
            let lines = if regular { open(&sum_file).ok() } else { None };
            let unknown = lines.is_none().then_some(None);
            let mut lines = lines.map(|reader| Lines::new(reader, end));
            let listed = std::iter::from_fn(move || {
                let lines = lines.as_mut()?;
                loop {
                    match lines.next_entry(given.as_ref()).ok()?? {
                        Ok(entry) => {
                            let len = length(&input(&entry));
                            return Some(len.map(|len| within(entry.range.map(window), len)));
                        }
                        Err(_) => continue,
                    }
                }
            });
            unknown.into_iter().chain(listed)
        }))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
