//! What can be compared and imported: catalogues, directories that have one, sum files, lines of JSON, and URLs of catalogues.

use super::{explained, listing};
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Error, Known, Sorted, is_catalogue, place};
use mksum_cli::choice::Choice;
use mksum_cli::name;
use mksum_cli::sum::End;
use mksum_cli::sumfile::{LONGEST, Lines, Source};
use mksum_io::{EntryKind, File, is_url};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// One side of a comparison.
pub enum Side {
    /// A catalogue; of a URL, a copy that is removed at the end.
    Catalogue(Box<Catalogue>, Option<Fetched>),
    /// The entries of a list, sorted: what it says of others than files is not used.
    Sums(Vec<Known>),
}

/// A file that was fetched, and is removed.
pub struct Fetched(PathBuf);

impl Drop for Fetched {
    fn drop(&mut self) {
        // What cannot be removed stays in the system's folder for such files.
        let _ = fs::remove_file(&self.0);
    }
}

impl Side {
    /// Whether it has files only.
    pub fn has_files_only(&self) -> bool {
        matches!(self, Side::Sums(_))
    }

    /// Its entries, and a file to be removed after them.
    pub fn into_entries(self) -> (Sorted<'static>, Option<Fetched>) {
        match self {
            Side::Catalogue(catalogue, fetched) => (catalogue.into_known(), fetched),
            Side::Sums(entries) => (Box::new(entries.into_iter().map(Ok)), None),
        }
    }
}

/// Whether a path is one that this compares, and not a file with an outboard.
pub fn is_side(path: &Path) -> bool {
    path.is_dir() || is_catalogue(path) || is_url(path) || is_list(path)
}

/// Whether the first line of a file is one of a sum file or of a list in JSON.
fn is_list(path: &Path) -> bool {
    let Ok(mut lines) = lines(path, None) else { return false };
    is_json(path).unwrap_or(false) || matches!(lines.next_entry(), Ok(Some(Ok(_))))
}

fn is_json(path: &Path) -> std::io::Result<bool> {
    let mut first = Vec::new();
    reader(path)?.take(LONGEST as u64).read_until(b'\n', &mut first)?;
    Ok(listing::is_one(&first))
}

fn reader(path: &Path) -> std::io::Result<BufReader<fs::File>> {
    let file = fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    Ok(BufReader::with_capacity(64 << 10, file))
}

fn lines(path: &Path, choice: Option<&Choice>) -> std::io::Result<Lines<BufReader<fs::File>>> {
    Ok(Lines::new(reader(path)?, Source::new(End::Newline, choice).at(path)))
}

/// Opens a side. Lines of sum files that name no format have the one that is given.
///
/// # Errors
/// If it cannot be read.
pub fn open(tool: &Tool, path: &Path, choice: Option<&Choice>) -> Result<Side, Error> {
    if is_url(path) || path.is_dir() || is_catalogue(path) {
        let (catalogue, fetched) = open_catalogue(tool, path)?;
        return Ok(Side::Catalogue(Box::new(catalogue), fetched));
    }
    Ok(Side::Sums(sums(tool, path, choice)?))
}

/// Opens a catalogue: the one at a path, that of a directory, or a copy of the one at a URL, which is removed at the end.
///
/// # Errors
/// If there is none.
pub fn open_catalogue(tool: &Tool, path: &Path) -> Result<(Catalogue, Option<Fetched>), Error> {
    let read = |path: &Path| Catalogue::open(path, Access::Read, &mut || {});
    if is_url(path) {
        let fetched = fetch(tool, path)?;
        return Ok((read(&fetched.0)?, Some(fetched)));
    }
    let own = if path.is_dir() { place(path) } else { path.into() };
    Ok((read(&own).map_err(|error| explained(error, path, &own))?, None))
}

/// The entries of a list; lines with several formats of one path are one entry.
fn sums(tool: &Tool, path: &Path, choice: Option<&Choice>) -> Result<Vec<Known>, Error> {
    let fail = |error| Error::Io(mksum_io::Error::Open { path: path.into(), error });
    let (mut entries, mut malformed): (Vec<Known>, u64) = (Vec::new(), 0);
    let mut add = |known: Option<Known>| match known {
        Some(known) => entries.push(known),
        None => malformed += 1,
    };
    if is_json(path).map_err(fail)? {
        let (mut reader, mut line) = (reader(path).map_err(fail)?, Vec::new());
        while reader.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line).map_err(fail)? > 0 {
            add(listing::entry(&line));
            line.clear();
        }
    } else {
        let mut lines = lines(path, choice).map_err(fail)?;
        while let Some(entry) = lines.next_entry().map_err(fail)? {
            let whole = entry.ok().filter(|entry| entry.range.is_none() && entry.choice.directory().is_none());
            add(whole.map(|entry| {
                let path = entry.path.strip_prefix(b"./").unwrap_or(&entry.path).to_vec();
                let roots = vec![(entry.choice.spec().clone(), entry.claimed.digest())];
                Known { path, kind: EntryKind::File, size: None, link: None, roots }
            }));
        }
    }
    if malformed > 0 {
        let plural = if malformed == 1 { "line is" } else { "lines are" };
        tool.console.error(path, &format_args!("{malformed} {plural} malformed or not about a whole file: not used"));
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries.dedup_by(|next, kept| {
        let same = next.path == kept.path;
        if same {
            kept.roots.append(&mut next.roots);
        }
        same
    });
    Ok(entries)
}

/// Fetches a catalogue.
fn fetch(tool: &Tool, url: &Path) -> Result<Fetched, Error> {
    const PART: u64 = 8 << 20;
    let file = File::open(url, &tool.options)?;
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!("mksum-{}-{}.catalogue", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let fetched = Fetched(std::env::temp_dir().join(name));
    let failed = |error| Error::Io(mksum_io::Error::Write { path: fetched.0.clone(), error });
    let mut copy = fs::File::create_new(&fetched.0).map_err(failed)?;
    let mut done = 0;
    while done < file.len() {
        let end = file.len().min(done + PART);
        copy.write_all(&file.bytes(done..end)?).map_err(failed)?;
        done = end;
    }
    file.finish()?;
    Ok(fetched)
}

/// The path of an entry.
pub fn path_of(known: &Known) -> PathBuf {
    name::path(&known.path).unwrap_or_else(|| name::lossy_path(&known.path))
}
