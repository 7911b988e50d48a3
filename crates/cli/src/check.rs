//! --check: compares files with the roots in sum files.

use crate::args::{Run, read_input};
use crate::console::Console;
use crate::directory::root_of;
use crate::exit::{Ended, usage};
use crate::extra::Listed;
use crate::json;
use crate::pieces;
use crate::print::{report_read_error, window, within};
use crate::signed;
use crate::summary::Verdict;
use crate::tool::Tool;
use crate::walk::{self, length};
use mksum::directory::DirectorySpec;
use mksum::{ClaimedRoot, Root, Spec, format_size};
use mksum_cli::choice::Choice;
use mksum_cli::name::{self, Named, Shown};
use mksum_cli::pieces::Manifest;
use mksum_cli::sum::End;
use mksum_cli::sumfile::{Entry, Holds, Lines, Malformed, Source, alternatives};
use mksum_cli::utf16::Text;
use mksum_io::reason;
use mksum_io::{Below, Error, Hashed, Input, Job, Roots, Window, hash_items, open_regular};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Checks every file that is listed, sum file by sum file.
pub fn run(tool: &Tool, args: &Run) -> Ended {
    // URLs were refused.
    let sum_files: Vec<PathBuf> = args.files.iter().map(|file| file.as_os_str().into()).collect();
    let sum_files = if sum_files.is_empty() { vec!["-".into()] } else { sum_files };
    tool.console.use_json(args.json);
    // Nothing is believed of a list before its signature is.
    let first = Input::parse(&sum_files[0]);
    let says = signed::Says { json: args.json, words: !args.common.quiet, otherwise: "no file was checked" };
    let signed = signed::read(tool, &args.signature, (&first, || walk::open(&first)), says)?;
    let progress = tool.progress(lengths(tool, args, &sum_files, signed.clone()));
    tool.console.flush_regularly();
    let below = args.below.as_deref().map(|folder| {
        Below::new(folder).map_err(|error| usage(&format_args!("--below: {}: {}", Shown(folder), reason(&error))))
    });
    let below = below.transpose()?;
    let (mut failures, mut listed) = (Failures::default(), args.report_extra.then(Listed::default));
    for sum_file in &sum_files {
        let folder = sum_file.parent().unwrap_or(sum_file);
        if let Some(listed) = &mut listed {
            listed.search(below.as_ref().map_or(folder, |below| &below.folder));
            if sum_file.as_os_str() != "-" {
                listed.add(sum_file);
            }
            if let Some(sig) = &args.signature.sig {
                listed.add(sig);
            }
        }
        let bag = match Below::new(folder) {
            Ok(folder) if bag_version(sum_file).is_some() => Some(folder),
            _ => None,
        };
        let limits: Vec<_> = below.iter().chain(&bag).collect();
        let tally = check(tool, args, (sum_file, signed.clone(), &limits), (&mut failures, &mut listed));
        tool.console.flush();
        if !tally.is_good(args) {
            tool.console.fail();
        }
        tally.report(&tool.console, args, sum_file);
        let is_silent = args.common.quiet || args.signature.key.is_some();
        if let Some(hint) = if is_silent { None } else { signed::hint(sum_file, tally.holds) } {
            tool.console.note(&format_args!("{}: {hint}", shown(sum_file)));
        }
    }
    if let Some(listed) = listed {
        let mut report = |path: &Path| match args.json {
            true => tool.console.print_json(path, json::State { kind: "extra" }),
            false => print(tool, path, "EXTRA"),
        };
        let count = listed.find(tool, &args.directories, &mut report)?;
        if count > 0 {
            tool.console.fail();
        }
        tool.console.count(Verdict::Extra, count);
        match count {
            _ if tool.console.is_brief() => {}
            0 => {}
            1 => tool.console.note(&"WARNING: 1 file is not listed"),
            count => tool.console.note(&format_args!("WARNING: {count} files are not listed")),
        }
    }
    drop(progress);
    match tool.console.is_brief() {
        true => tool.console.summarize(tool.options.meter.bytes()),
        false => failures.report(&tool.console),
    }
    Ok(tool.console.exit())
}

/// The counts of one sum file.
#[derive(Debug, Default)]
pub struct Tally {
    pub listed: u64,
    malformed: u64,
    /// The malformed lines that only lack a format.
    without_format: u64,
    /// The sum file itself could not be read to its end.
    pub broken: bool,
    matched: u64,
    differing: u64,
    unreadable: u64,
    /// Files that are not where the list says, but beside it.
    pub beside: u64,
    /// The lines of POSIX cksum, whose CRC is not a format.
    of_cksum: u64,
    /// Sums without the name of a file.
    without_path: u64,
    /// The formats that were taken where several fit, by the number of hex digits of their sums.
    taken: BTreeMap<usize, Taken>,
    /// The program whose signature is within the sum file.
    holds: Option<Holds>,
}

/// A format that was taken where several fit.
#[derive(Debug)]
struct Taken {
    spec: Spec,
    /// Whether a file has the sum that was taken as one of this format: then it was right.
    proven: bool,
    /// Whether a file has another one.
    doubtful: bool,
}

impl Tally {
    fn is_good(&self, args: &Run) -> bool {
        let verified = self.matched > 0 || !args.ignore_missing;
        let well_formed = self.malformed == 0 || !args.strict;
        self.listed > 0 && verified && well_formed && self.differing == 0 && self.unreadable == 0 && !self.broken
    }

    pub fn add(&mut self, status: Status) {
        match status {
            Status::Ok => self.matched += 1,
            Status::Failed => self.differing += 1,
            Status::Missing | Status::Error => self.unreadable += 1,
        }
    }

    /// In the words of coreutils, which scripts may know.
    fn report(&self, console: &Console, args: &Run, sum_file: &Path) {
        let sum_file = shown(sum_file);
        if self.listed == 0 && !self.broken {
            console.complain(&format_args!("{sum_file}: no properly formatted checksum lines found"));
        }
        if self.without_format > 0 {
            console.note(&format_args!(
                "{sum_file}: some lines do not name their format: give it with -f, for example -f sha256 for sums of \
                 sha256sum, or -f blake3 for b3sum"
            ));
        }
        if self.of_cksum > 0 {
            console.note(&format_args!(
                "{sum_file}: some lines are those of POSIX cksum, whose CRC mksum does not have: compare them with the output of \
                 cksum, or list the files with cksum -a sha256"
            ));
        }
        if self.without_path > 0 && self.listed == 0 && !args.warn {
            console.note(&format_args!("{sum_file}: {}", Malformed::NoPath));
        }
        if self.listed == 0 {
            return;
        }
        let doubtful = self.taken.iter().filter(|(_, taken)| taken.doubtful && !taken.proven);
        let taken: Vec<_> = doubtful
            .map(|(digits, Taken { spec, .. })| {
                let others = alternatives(spec).join(", ");
                format!("{digits} hex digits were taken as {spec} (other possibilities: {others})")
            })
            .collect();
        if !taken.is_empty() {
            let how = "choose the hash with -f if this is wrong";
            console.note(&format_args!("{sum_file}: its lines do not name their hash: {}; {how}", taken.join("; ")));
        }
        if self.beside > 0 {
            let files = if self.beside == 1 { "1 file was" } else { &format!("{} files were", self.beside) };
            console.note(&format_args!("{sum_file}: {files} found beside it, and not in the current directory"));
        }
        let warn = |count: u64, one: &str, more: &str| {
            if count > 0 {
                console.note(&format_args!("WARNING: {count} {}", if count == 1 { one } else { more }));
            }
        };
        warn(self.malformed, "line is improperly formatted", "lines are improperly formatted");
        // A person gets these numbers in the last line.
        if !console.is_brief() {
            warn(self.unreadable, "listed file could not be read", "listed files could not be read");
            warn(self.differing, "computed checksum did NOT match", "computed checksums did NOT match");
        }
        if args.ignore_missing && self.matched == 0 {
            console.note(&format_args!("{sum_file}: no file was verified"));
        }
    }
}

/// The failures of all sum files, repeated at the end, where they have not scrolled away.
#[derive(Debug, Default)]
pub struct Failures {
    checked: u64,
    failed: u64,
    first: Vec<(Input, &'static str)>,
}

impl Failures {
    /// The failures that are listed by name.
    const MOST: usize = 20;

    pub fn add(&mut self, checked: &Checked<'_>) {
        self.checked += 1;
        if checked.status == Status::Ok {
            return;
        }
        self.failed += 1;
        if self.first.len() < Self::MOST {
            self.first.push((checked.path.clone(), checked.status.names().1));
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
    /// The number of hex digits of the sum, if its hash was taken from several.
    taken: Option<usize>,
}

/// What the next line of the output is about.
enum Next {
    /// The result of a job.
    Result(Awaited),
    /// A file that is not read, and why.
    Refused(Entry, String),
    /// A directory, which is hashed between files.
    Directory(Entry),
}

fn check(
    tool: &Tool,
    args: &Run,
    (sum_file, signed, limits): (&Path, Option<Arc<[u8]>>, &[&Below]),
    (failures, listed): (&mut Failures, &mut Option<Listed>),
) -> Tally {
    let console = &*tool.console;
    let (lines, from_stdin) = match open(sum_file, signed) {
        Ok(Opened::Pieced(reader)) => {
            return pieces::check(tool, args, (sum_file, reader, limits), (failures, listed));
        }
        Ok(Opened::Lines(reader)) => {
            let source = source(tool.end, given_format(tool, args), sum_file);
            (Lines::new(reader, source), sum_file.as_os_str() == "-")
        }
        Err(error) => {
            console.error(sum_file, &reason(&error));
            return Tally { broken: true, ..Tally::default() };
        }
    };
    let tally = Mutex::new(Tally::default());
    let listing = Listing { tool, args, sum_file, lines, from_stdin, limits, listed, tally: &tally };
    hash_items(listing, &tool.options, |next, hashed| {
        let checked = match &next {
            Next::Result(awaited) => file(tool, args, awaited, hashed.expect("a job for each result")),
            Next::Directory(entry) => directory(tool, args, entry),
            Next::Refused(entry, why) => {
                console.error(&input(entry), why);
                Some(Checked::new(entry, Status::Error, None))
            }
        };
        if let Some(checked) = checked {
            tool.console.count(checked.status.verdict(), 1);
            failures.add(&checked);
            let mut tally = lock(&tally);
            tally.add(checked.status);
            if let Next::Result(Awaited { taken: Some(digits), .. }) = &next
                && let Some(taken) = tally.taken.get_mut(digits)
            {
                taken.proven |= checked.status == Status::Ok;
                taken.doubtful |= checked.status == Status::Failed;
            }
            drop(tally);
            report(tool, args, &checked);
        }
        ControlFlow::Continue(())
    });
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What became of a file or directory that a sum file lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok,
    /// The root is another one.
    Failed,
    Missing,
    /// The file could not be read.
    Error,
}

impl Status {
    /// The verdict under which the last line counts it.
    pub fn verdict(self) -> Verdict {
        match self {
            Status::Ok => Verdict::Ok,
            Status::Failed => Verdict::Failed,
            Status::Missing => Verdict::Missing,
            Status::Error => Verdict::Unreadable,
        }
    }

    /// The name in JSON, and the words that coreutils prints.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Status::Ok => ("ok", "OK"),
            Status::Failed => ("failed", "FAILED"),
            Status::Missing => ("missing", "FAILED open or read"),
            Status::Error => ("error", "FAILED open or read"),
        }
    }
}

/// A file or directory that a sum file lists, and what became of it.
pub struct Checked<'a> {
    pub path: Input,
    pub status: Status,
    /// The root that was computed.
    pub found: Option<Root>,
    pub claimed: &'a ClaimedRoot,
    pub spec: Spec,
    pub part: Option<Window>,
    /// The format of a directory.
    pub directory: Option<&'a DirectorySpec>,
    /// Whether several formats were possible.
    pub guessed: bool,
}

impl<'a> Checked<'a> {
    fn new(entry: &'a Entry, status: Status, found: Option<Root>) -> Self {
        let (path, spec, part) = (input(entry), entry.choice.spec().clone(), entry.range.map(window));
        Checked { path, status, found, claimed: &entry.claimed, spec, part, directory: None, guessed: false }
    }
}

/// Decides about a file that was read; `None` if it is passed over. Reports why it could not be read.
fn file<'a>(tool: &Tool, args: &Run, awaited: &'a Awaited, hashed: Hashed<'_>) -> Option<Checked<'a>> {
    let Hashed { job, result, .. } = hashed;
    tool.options.meter.finish_file();
    let path = job.input.clone();
    let (status, found) = match result.and_then(|roots| matching(roots, &awaited.claimed)) {
        Ok(decided) => decided,
        Err(error) => {
            let kind = if let Error::Open { error, .. } = &error { Some(error.kind()) } else { None };
            match kind {
                Some(ErrorKind::NotFound) if args.ignore_missing => return None,
                Some(ErrorKind::IsADirectory) => tool.console.error(&path, &"Is a directory"),
                _ => report_read_error(tool, args, &error),
            }
            (if kind == Some(ErrorKind::NotFound) { Status::Missing } else { Status::Error }, None)
        }
    };
    let (spec, part, Awaited { claimed, guessed, .. }) = (job.specs[0].clone(), job.window, awaited);
    Some(Checked { path, status, found, claimed, spec, part, directory: None, guessed: *guessed })
}

/// Compares the computed roots with the claimed one; an error only if that may be why none matches.
fn matching(roots: Roots, claimed: &ClaimedRoot) -> Result<(Status, Option<Root>), Error> {
    let (mut failure, mut other) = (None, None);
    for root in roots {
        match root {
            Ok(root) if root.matches(claimed) => return Ok((Status::Ok, Some(root))),
            Ok(root) => other = other.or(Some(root)),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok((Status::Failed, other)), Err)
}

/// Hashes a directory and decides about it; `None` if it is passed over.
fn directory<'a>(tool: &Tool, args: &Run, entry: &'a Entry) -> Option<Checked<'a>> {
    let (path, spec) = (input(entry), entry.choice.directory().expect("an entry about a directory"));
    let root = match Path::new(path.as_os_str()).try_exists() {
        Ok(false) if args.ignore_missing => return None,
        _ if entry.range.is_some() => {
            tool.console.error(&path, &"a directory has no ranges of bytes");
            None
        }
        _ => root_of(tool, &path, spec),
    };
    let status = match &root {
        Some(root) if root.matches(&entry.claimed) => Status::Ok,
        Some(_) => Status::Failed,
        None => Status::Error,
    };
    Some(Checked { part: None, directory: Some(spec), ..Checked::new(entry, status, root) })
}

/// Prints what became of a file or directory.
pub fn report(tool: &Tool, args: &Run, checked: &Checked<'_>) {
    let Checked { path, status, found, claimed, spec, part, directory, guessed } = checked;
    let (name, words) = status.names();
    match (args.json, found) {
        _ if *status == Status::Ok && args.common.quiet => {}
        // A person has the error of a file that could not be read, and wants no line for one that is right.
        _ if tool.console.is_brief() && *status != Status::Failed => {}
        (false, Some(root)) if *guessed && *status == Status::Ok => {
            print(tool, path, &format!("OK (part size {})", format_size(root.spec().leaf())));
        }
        (false, _) => print(tool, path, words),
        (true, found) => {
            let mut record = Record::new(name, (spec, *part), claimed, found.as_ref());
            if let Some(spec) = directory {
                record.format = spec.to_string();
            }
            tool.console.print_json(path, record);
        }
    }
}

/// A checked file, as JSON.
#[derive(Serialize)]
pub struct Record {
    kind: &'static str,
    /// `ok`, `failed`, `missing`, `changed` or `error`.
    status: &'static str,
    format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    expected: String,
    /// `null` if the file was not read.
    found: Option<String>,
}

impl Record {
    pub fn new(
        status: &'static str,
        (spec, part): (&Spec, Option<Window>),
        claimed: &ClaimedRoot,
        found: Option<&Root>,
    ) -> Self {
        let spec = found.map_or(spec, Root::spec);
        Record {
            kind: "check",
            status,
            format: spec.to_string(),
            start: part.map(|window| window.start),
            end: part.and_then(|window| window.end),
            expected: claimed.text(spec),
            found: found.map(ToString::to_string),
        }
    }
}

/// Prints the result for a file as a line.
fn print<T: Named + ?Sized>(tool: &Tool, path: &T, result: &str) {
    let path = &*name::listed(path);
    let name = name::escaped(path).map(|escaped| [b"\\", &*escaped].concat());
    tool.console.print_verdict(name.as_deref().unwrap_or(path), result);
}

pub type Reader = BufReader<Text<BufReader<Box<dyn Read + Send>>>>;

/// Opens a sum file, or what was read of it when its signature was verified.
fn open(sum_file: &Path, signed: Option<Arc<[u8]>>) -> io::Result<Opened> {
    let mut reader: Box<dyn Read + Send> = match signed {
        Some(list) => Box::new(Cursor::new(list)),
        None => walk::open(&Input::parse(sum_file))?,
    };
    let mut head = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut head)?;
    let is_pieced = Manifest::is_begun(&head);
    let reader = Box::new(Cursor::new(head).chain(reader));
    Ok(if is_pieced { Opened::Pieced(reader) } else { Opened::Lines(text(reader)) })
}

/// The bytes at the beginning of a list that show whether it is a torrent or metalink.
const HEAD: u64 = 64;

/// What is opened in the place of a sum file.
enum Opened {
    /// A sum file, in lines.
    Lines(Reader),
    /// A torrent or metalink.
    Pieced(Box<dyn Read + Send>),
}

/// The text of a sum file, in whichever encoding it is.
pub fn text(reader: Box<dyn Read + Send>) -> Reader {
    BufReader::with_capacity(64 << 10, Text::new(BufReader::with_capacity(64 << 10, reader)))
}

/// What the name and place of a sum file say about its lines.
fn source(end: End, given: Option<&Choice>, sum_file: &Path) -> Source {
    let source = Source::new(end, given);
    if sum_file.as_os_str() == "-" {
        return source;
    }
    match bag_version(sum_file) {
        Some(version) => source.at(sum_file).in_bag(sum_file, &version),
        None => source.at(sum_file),
    }
}

/// The version of BagIt if a sum file is the manifest of a bag: `bagit.txt` is beside it (RFC 8493, 2.1.1).
fn bag_version(sum_file: &Path) -> Option<String> {
    const LONGEST: u64 = 4096;
    if !Source::is_manifest(sum_file) {
        return None;
    }
    let (mut text, file) = (Vec::new(), open_regular(&sum_file.with_file_name("bagit.txt")).ok()?);
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let version = text.trim_start_matches('\u{feff}').lines().next()?.strip_prefix("BagIt-Version:")?;
    Some(version.trim().into())
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
    /// The folders that no path may lead out of.
    limits: &'a [&'a Below],
    listed: &'a mut Option<Listed>,
    tally: &'a Mutex<Tally>,
}

impl Iterator for Listing<'_> {
    type Item = (Option<Job>, Next);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.lines.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => {
                    lock(self.tally).holds = self.lines.holds();
                    return None;
                }
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
                    let mut tally = lock(self.tally);
                    tally.without_format += u64::from(malformed == Malformed::NoFormat);
                    tally.of_cksum += u64::from(malformed == Malformed::Crc);
                    tally.without_path += u64::from(malformed == Malformed::NoPath);
                    drop(tally);
                    self.malformed(&malformed);
                }
            }
        }
    }
}

impl Listing<'_> {
    fn malformed(&self, why: &dyn std::fmt::Display) {
        lock(self.tally).malformed += 1;
        if self.args.warn {
            let (sum_file, number) = (shown(self.sum_file), self.lines.number());
            self.tool.console.note(&format_args!("{sum_file}: {number}: improperly formatted checksum line: {why}"));
        }
    }

    /// What an entry asks for, with the job if its file is read.
    fn job(&mut self, mut entry: Entry) -> (Option<Job>, Next) {
        let is_beside = look_beside(&mut entry, self.sum_file);
        let mut tally = lock(self.tally);
        tally.listed += 1;
        tally.beside += u64::from(is_beside);
        let taken = entry.guessed.then(|| 2 * entry.choice.spec().hash().size());
        if let Some(digits) = taken {
            let new = || Taken { spec: entry.choice.spec().clone(), proven: false, doubtful: false };
            tally.taken.entry(digits).or_insert_with(new);
        }
        drop(tally);
        let input = input(&entry);
        if let Input::File(path) = &input {
            let refused = self
                .limits
                .iter()
                .find_map(|below| below.refuses(path, "not read"))
                .or_else(|| mode_of_shasum(&entry, path));
            if let Some(why) = refused {
                return (None, Next::Refused(entry, why));
            }
            if let Some(listed) = self.listed {
                listed.add(path);
            }
        }
        if entry.choice.directory().is_some() {
            return (None, Next::Directory(entry));
        }
        let Entry { choice, claimed, range, .. } = entry;
        let part = range.map(window);
        let guesses = choice.guesses(&claimed);
        let len = if guesses { length(&input).map(|len| within(part, len)) } else { None };
        let specs = choice.candidates(len.unwrap_or(0), &claimed);
        let next = Next::Result(Awaited { claimed, guessed: specs.len() > 1, taken });
        let mut job = Job::new(input, specs);
        job.window = part;
        (Some(job), next)
    }
}

/// The reason why a sum cannot be checked: it is in a mode of shasum in which it is not that of the file's bytes.
///
/// Such a mode is a letter before the path, which could also be the path's own.
fn mode_of_shasum(entry: &Entry, path: &Path) -> Option<String> {
    let (mode, file) = match (entry.one_space, &entry.path[..]) {
        (true, [b'U', file @ ..]) => ("universal newlines (U): of the text with other line ends", file),
        (true, [b'^', file @ ..]) => ("bits (^): of the digits in the file as bits", file),
        _ => return None,
    };
    let is_mode = !path.exists() && name::path(file).is_some_and(|file| file.exists());
    is_mode.then(|| format!("a sum in shasum's mode {mode}: use 'shasum -c'"))
}

fn given_format<'a>(tool: &'a Tool, args: &Run) -> Option<&'a Choice> {
    tool.formats.first().filter(|_| args.choices.any())
}

/// The file beside the list, if one is there and none where the list says: the list of a download that is checked from another directory.
pub fn beside(path: &Path, sum_file: &Path) -> Option<PathBuf> {
    let folder = sum_file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    let missing = || matches!(path.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound);
    let there = folder.join(path);
    (path.is_relative() && missing() && there.symlink_metadata().is_ok()).then_some(there)
}

/// Has an entry name the file beside the list, if that is the one.
fn look_beside(entry: &mut Entry, sum_file: &Path) -> bool {
    let Input::File(path) = input(entry) else { return false };
    let found = beside(&path, sum_file);
    if let Some(there) = &found {
        entry.path = name::bytes(there).to_vec();
    }
    found.is_some()
}

fn input(entry: &Entry) -> Input {
    let path = name::path(&entry.path).expect("the line was read as one with a name");
    // Another name is one that no file has.
    read_input(path.clone()).unwrap_or_else(|_| path.into())
}

/// The lengths of the files that are listed, for progress; unknown where a sum file can be read only once.
fn lengths(
    tool: &Tool,
    args: &Run,
    sum_files: &[PathBuf],
    signed: Option<Arc<[u8]>>,
) -> impl FnOnce() -> Box<dyn Iterator<Item = Option<u64>>> + Send + 'static {
    let (end, given, sum_files) = (tool.end, given_format(tool, args).cloned(), sum_files.to_vec());
    move || {
        Box::new(sum_files.into_iter().flat_map(move |sum_file| {
            let again = signed.is_some() || std::fs::metadata(&sum_file).is_ok_and(|metadata| metadata.is_file());
            let lines = match if again { open(&sum_file, signed.clone()).ok() } else { None } {
                Some(Opened::Lines(lines)) => Some(lines),
                Some(Opened::Pieced(_)) | None => None,
            };
            let unknown = lines.is_none().then_some(None);
            let mut lines = lines.map(|reader| Lines::new(reader, source(end, given.as_ref(), &sum_file)));
            let listed = std::iter::from_fn(move || {
                let lines = lines.as_mut()?;
                loop {
                    match lines.next_entry().ok()?? {
                        Ok(mut entry) => {
                            look_beside(&mut entry, &sum_file);
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
