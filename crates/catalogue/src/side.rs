//! What can be compared with a catalogue and imported: catalogues, directories that have one, sum files, lines of JSON, and URLs of
//! catalogues.

use crate::diff::{Known, Sorted, diff, diff_catalogues};
use crate::error::Error;
use crate::finding::Finding;
use crate::folder::Access;
use crate::listing;
use crate::store::{Catalogue, is_catalogue, place, scratch};
use crate::update::update;
use mksum::Spec;
use mksum_io::{EntryKind, File, Input, Options, Stop, Url};
use mksum_sums::choice::Choice;
use mksum_sums::sum::End;
use mksum_sums::sumfile::{LONGEST, Lines, Source};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// A side of a comparison, or a list to import.
#[derive(Debug)]
pub enum Side {
    /// A catalogue, and the paths of what could not be read for it, if it was made for the comparison.
    Catalogue(Box<Catalogue>, Vec<Vec<u8>>),
    /// The entries of a list, sorted, and the number of its lines that were not used: those that are malformed or not about a whole file.
    List(Vec<Known>, u64),
}

impl Side {
    /// Whether an input is one that [`Side::open`] opens, rather than a file with an outboard.
    pub fn is_one(input: &Input) -> bool {
        let is_one = |path: &Path| path.is_dir() || is_catalogue(path) || is_list(path);
        input.url().is_some() || input.file().is_some_and(is_one)
    }

    /// Opens the catalogue of a directory, a catalogue, its URL, or a list of roots.
    ///
    /// Lines of sum files that name no format have the one that is given.
    ///
    /// # Errors
    /// If it cannot be read, or the file is neither a catalogue nor a list.
    pub fn open(input: &Input, format: Option<&Choice>, options: &Options) -> Result<Side, Error> {
        match input.file().filter(|path| !path.is_dir() && !is_catalogue(path)) {
            Some(path) => list(path, format),
            None => Side::catalogue(input, options).map(|opened| Side::Catalogue(opened.into(), Vec::new())),
        }
    }

    /// Opens the catalogue at a path, that of a directory, or a copy of the one at a URL, which is removed when it is closed.
    ///
    /// # Errors
    /// If there is none.
    pub fn catalogue(input: &Input, options: &Options) -> Result<Catalogue, Error> {
        let read = |path: &Path| Catalogue::open(path, Access::Read, &mut || {});
        match input {
            Input::Url(url) => {
                let (folder, copy) = scratch()?;
                fetch(url, &copy, options)?;
                // Whoever reads an error has never seen the copy.
                let catalogue = read(&copy).map_err(|error| error.of_original(&copy, input))?;
                Ok(catalogue.of_original(input, folder))
            }
            Input::File(path) if path.is_dir() => read(&place(path)),
            Input::File(path) => read(path),
            Input::Stdin => Err(Error::refused(input, "a stream is no catalogue: write it to a file first")),
        }
    }

    /// Reads all files of a directory that has no catalogue, in these formats; `each` receives what could not be read, which is no
    /// difference from anything. Nothing is written to the directory.
    ///
    /// # Errors
    /// If the directory cannot be listed, a temporary folder cannot be written, or the work is stopped.
    pub fn hashed(
        directory: &Path,
        formats: &[Spec],
        options: &Options,
        each: &mut dyn FnMut(Finding),
    ) -> Result<Side, Error> {
        let mut catalogue = Catalogue::trial(&place(directory))?;
        catalogue.add_formats(formats)?;
        let mut unread = Vec::new();
        update(&mut catalogue, directory, options, &mut |finding| {
            if finding.error.is_some() {
                unread.push(finding.path.clone());
                each(finding);
            }
        })?;
        Ok(Side::Catalogue(catalogue.into(), unread))
    }

    /// The formats in which it has roots; of a list, those of its first entry.
    pub fn formats(&self) -> Vec<Spec> {
        match self {
            Side::Catalogue(catalogue, _) => catalogue.formats().cloned().collect(),
            Side::List(entries, _) => entries
                .first()
                .map(|known| known.roots.iter().map(|(spec, _)| spec.clone()).collect())
                .unwrap_or_default(),
        }
    }

    /// Whether this side is a list, which has files only.
    pub fn has_files_only(&self) -> bool {
        matches!(self, Side::List(..))
    }

    /// The number of lines of a list that were not used.
    pub fn unused(&self) -> u64 {
        match self {
            Side::Catalogue(..) => 0,
            Side::List(_, unused) => *unused,
        }
    }

    /// The paths of what could not be read.
    fn unread(&self) -> &[Vec<u8>] {
        match self {
            Side::Catalogue(_, unread) => unread,
            Side::List(..) => &[],
        }
    }

    /// Returns the entries, sorted by path.
    pub fn into_entries(self) -> Sorted<'static> {
        match self {
            Side::Catalogue(catalogue, _) => catalogue.into_known(),
            Side::List(entries, _) => Box::new(entries.into_iter().map(Ok)),
        }
    }

    /// Compares it with another one, as [`diff`] does. Of two catalogues, only what differs is read. A
    /// list has no directories and links, so that they are no difference from one; neither is what could not be read.
    ///
    /// # Errors
    /// If a side cannot be read, or the work is stopped.
    pub fn diff(self, other: Side, stop: &Stop, each: &mut dyn FnMut(Finding)) -> Result<u64, Error> {
        let unread = [self.unread(), other.unread()].concat();
        let each = &mut |finding: Finding| {
            if !unread.iter().any(|unread| is_below(&finding.path, unread)) {
                each(finding);
            }
        };
        let (left, right) = match (self, other) {
            (Side::Catalogue(left, _), Side::Catalogue(right, _)) => {
                return diff_catalogues(*left, *right, stop, each);
            }
            sides => sides,
        };
        let files_only = left.has_files_only() || right.has_files_only();
        let only = |side: Side| -> Sorted<'static> {
            let wanted = move |kind| kind == EntryKind::File || !files_only;
            Box::new(side.into_entries().filter(move |entry| entry.as_ref().map_or(true, |known| wanted(known.kind))))
        };
        diff(only(left), only(right), stop, each)
    }
}

/// Whether a path is this one, or one below it.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with(b"/"))
}

/// Whether the first line of a file is one of a sum file or of a list in JSON.
fn is_list(path: &Path) -> bool {
    let Ok(mut lines) = lines(path, None) else { return false };
    is_json(path).unwrap_or(false) || matches!(lines.next_entry(), Ok(Some(Ok(_))))
}

fn is_json(path: &Path) -> io::Result<bool> {
    let mut first = Vec::new();
    reader(path)?.take(LONGEST as u64).read_until(b'\n', &mut first)?;
    Ok(listing::is_one(&first))
}

fn reader(path: &Path) -> io::Result<BufReader<fs::File>> {
    // It is read several times, and a pipe without a writer would not even be opened.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file: write the list to a file first"));
    }
    Ok(BufReader::with_capacity(64 << 10, fs::File::open(path)?))
}

fn lines(path: &Path, format: Option<&Choice>) -> io::Result<Lines<BufReader<fs::File>>> {
    Ok(Lines::new(reader(path)?, Source::new(End::Newline, format).at(path)))
}

/// The entries of a list; lines with several formats of one path are one entry.
fn list(path: &Path, format: Option<&Choice>) -> Result<Side, Error> {
    let fail = |error| Error::Io(mksum_io::Error::Open { path: path.into(), error });
    let (mut entries, mut unused): (Vec<Known>, u64) = (Vec::new(), 0);
    let mut add = |known: Option<Known>| match known {
        Some(known) => entries.push(known),
        None => unused += 1,
    };
    if is_json(path).map_err(fail)? {
        let (mut reader, mut line) = (reader(path).map_err(fail)?, Vec::new());
        while reader.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line).map_err(fail)? > 0 {
            add(listing::entry(&line));
            line.clear();
        }
    } else {
        let mut lines = lines(path, format).map_err(fail)?;
        while let Some(entry) = lines.next_entry().map_err(fail)? {
            let whole = entry.ok().filter(|entry| entry.range.is_none() && entry.choice.directory().is_none());
            add(whole.map(|entry| {
                let path = entry.path.strip_prefix(b"./").unwrap_or(&entry.path).to_vec();
                let roots = vec![(entry.choice.spec().clone(), entry.claimed.digest())];
                Known { path, kind: EntryKind::File, size: None, link: None, roots }
            }));
        }
    }
    if entries.is_empty() && unused > 0 {
        return Err(Error::refused(
            path,
            "neither a catalogue nor a list: no line has a path and the root of a whole file",
        ));
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries.dedup_by(|next, kept| {
        let same = next.path == kept.path;
        if same {
            kept.roots.append(&mut next.roots);
        }
        same
    });
    Ok(Side::List(entries, unused))
}

/// Copies the catalogue at a URL to a path.
fn fetch(url: &Url, path: &Path, options: &Options) -> Result<(), Error> {
    const PART: u64 = 8 << 20;
    let file = File::open(url, options)?;
    let failed = |error| Error::Io(mksum_io::Error::Write { path: path.into(), error });
    let mut copy = fs::File::create_new(path).map_err(failed)?;
    let mut done = 0;
    while done < file.len() {
        let end = file.len().min(done + PART);
        copy.write_all(&file.bytes(done..end)?).map_err(failed)?;
        done = end;
    }
    file.finish()?;
    Ok(())
}
