//! Two lists of entries compared, without reading any file.

use crate::error::Error;
use crate::finding::{Finding, State};
use crate::paths::{Paths, after};
use crate::row::root;
use crate::spans::differing;
use crate::store::Catalogue;
use mksum::{Digest, Spec};
use mksum_io::{EntryKind, Stop};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

/// An entry as a catalogue or a list describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The bytes of its path, with slashes between names.
    pub path: Vec<u8>,
    /// The entry's type.
    pub kind: EntryKind,
    /// The file's length in bytes, if it is known.
    pub size: Option<u64>,
    /// The text of a link.
    pub link: Option<Vec<u8>>,
    /// The digests of its roots, with their formats.
    pub roots: Vec<(Spec, Digest)>,
}

/// Entries by the bytes of their paths.
pub type Sorted<'a> = Box<dyn Iterator<Item = Result<Known, Error>> + 'a>;

/// Compares two lists, and hands `each` what differs: first what is in both, by path: changed or incomparable; then what is in one:
/// added, moved, removed. Returns the number of entries that are in both and equal, by a root or a link's text.
///
/// Memory holds what is in one list alone.
///
/// # Errors
/// If a list cannot be read or is not sorted, or the work is stopped.
pub fn diff(
    mut left: Sorted<'_>,
    mut right: Sorted<'_>,
    stop: &Stop,
    each: &mut dyn FnMut(Finding),
) -> Result<u64, Error> {
    let (mut removed, mut added, mut equal) = (Vec::new(), Vec::new(), 0);
    let (mut one, mut other) = (left.next().transpose()?, right.next().transpose()?);
    loop {
        if stop.is_stopped() {
            let path = one.as_ref().or(other.as_ref()).map(|known| known.path.as_slice()).unwrap_or_default();
            let path = mksum_io::path_from_bytes(path).unwrap_or_default();
            return Err(mksum_io::Error::Stopped { path: path.into() }.into());
        }
        let order = match (&one, &other) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.path.cmp(&other.path),
        };
        let (mut before, mut after) = (None, None);
        if order != Ordering::Greater {
            before = std::mem::replace(&mut one, left.next().transpose()?);
        }
        if order != Ordering::Less {
            after = std::mem::replace(&mut other, right.next().transpose()?);
        }
        match (before, after) {
            (Some(before), Some(after)) => match same(&before, &after) {
                Some(true) => equal += 1,
                Some(false) => each(Finding::new(State::Changed, after.path)),
                None => each(Finding::new(State::Incomparable, after.path)),
            },
            (before, after) => {
                removed.extend(before);
                added.extend(after);
            }
        }
    }
    alone(removed, added, each);
    Ok(equal)
}

/// Compares two catalogues as [`diff`] compares lists, but reads only the entries of spans that differ (`spec/catalogue.md`): what is
/// equal costs next to nothing.
///
/// # Errors
/// If a catalogue cannot be read, or the work is stopped.
pub fn diff_catalogues(
    left: Catalogue,
    right: Catalogue,
    stop: &Stop,
    each: &mut dyn FnMut(Finding),
) -> Result<u64, Error> {
    let (equal, parts) = match differing(&left, &right) {
        // Spans that are damaged are not used.
        Err(Error::Row { .. }) => (0, vec![Paths::all()]),
        found => found?,
    };
    Ok(equal + diff(left.into_known_of(parts.clone()), right.into_known_of(parts), stop, each)?)
}

/// Reports what is in one list only, but for the files that are in the other at another path.
fn alone(removed: Vec<Known>, added: Vec<Known>, each: &mut dyn FnMut(Finding)) {
    let mut places: HashMap<(String, Digest), Vec<usize>> = HashMap::new();
    for (index, known) in removed.iter().enumerate().rev() {
        // All empty files are alike: none is another one moved.
        if known.size != Some(0) {
            for (spec, digest) in &known.roots {
                places.entry((spec.to_string(), *digest)).or_default().push(index);
            }
        }
    }
    let mut found = vec![false; removed.len()];
    for known in added {
        let from = known.roots.iter().find_map(|(spec, digest)| {
            let waiting = places.get_mut(&(spec.to_string(), *digest))?;
            std::iter::from_fn(|| waiting.pop()).find(|&index| !found[index] && removed[index].path != known.path)
        });
        match from {
            Some(index) => {
                found[index] = true;
                let from = Some(removed[index].path.clone());
                each(Finding { from, ..Finding::new(State::Moved, known.path) });
            }
            None => each(Finding::new(State::Added, known.path)),
        }
    }
    for (known, _) in removed.into_iter().zip(found).filter(|(_, found)| !found) {
        each(Finding::new(State::Removed, known.path));
    }
}

/// Whether two entries have the same content; `None` if nothing of theirs can be compared.
fn same(one: &Known, other: &Known) -> Option<bool> {
    if one.kind != other.kind || one.size.zip(other.size).is_some_and(|(one, other)| one != other) {
        return Some(false);
    }
    if one.kind != EntryKind::File {
        return Some(one.link == other.link);
    }
    let mut common = None;
    for (spec, digest) in &one.roots {
        if let Some((_, theirs)) = other.roots.iter().find(|(their, _)| their == spec) {
            common = Some(common.unwrap_or(true) && theirs == digest);
        }
    }
    common
}

/// The entries of a page, or why they cannot be read.
type Page = Result<Vec<Known>, Error>;

/// Pages that a thread reads ahead. When this is dropped, the thread has closed its catalogue.
struct Pages {
    receive: Option<Receiver<Page>>,
    thread: Option<JoinHandle<()>>,
}

impl Iterator for Pages {
    type Item = Page;

    fn next(&mut self) -> Option<Page> {
        self.receive.as_ref()?.recv().ok()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // Without a receiver, the thread ends at its next page.
        self.receive = None;
        if let Some(thread) = self.thread.take() {
            // A panic has ended the pages, and was printed.
            let _ = thread.join();
        }
    }
}

impl Catalogue {
    /// Returns the catalogue's entries, sorted by path. A thread of its own reads them ahead.
    pub fn into_known(self) -> Sorted<'static> {
        self.into_known_of(vec![Paths::all()])
    }

    /// Returns the catalogue's entries in `parts`, which ascend.
    fn into_known_of(self, parts: Vec<Paths>) -> Sorted<'static> {
        const AHEAD: usize = 4;
        let (send, receive) = sync_channel(AHEAD);
        let path = self.path().to_path_buf();
        let read = move || {
            for mut paths in parts {
                loop {
                    let page = self.known(&paths);
                    let next = page.as_ref().map(|page| page.last().map(|last| after(&last.path)));
                    let next = next.map_err(|_| ());
                    // No more is wanted if it fails.
                    if send.send(page).is_err() {
                        return;
                    }
                    match next {
                        Ok(Some(next)) => paths.start = next,
                        Ok(None) => break,
                        Err(()) => return,
                    }
                }
            }
        };
        let (thread, failed) = match thread::Builder::new().name("rows".into()).spawn(read) {
            Ok(thread) => (Some(thread), None),
            Err(error) => (None, Some(Err(mksum_io::Error::Open { path: path.into(), error }.into()))),
        };
        Box::new(Pages { receive: Some(receive), thread }.chain(failed).flat_map(|page| {
            let (page, error) = match page {
                Ok(page) => (page, None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            page.into_iter().map(Ok).chain(error)
        }))
    }

    /// The first entries of some paths.
    fn known(&self, paths: &Paths) -> Result<Vec<Known>, Error> {
        let (mut page, mut refusal) = (Vec::new(), None);
        for row in self.page(paths)? {
            let size = (row.facts.kind == EntryKind::File).then_some(row.facts.size);
            let link = if row.facts.kind == EntryKind::Link { self.link(&row.path)? } else { None };
            page.push(Known { path: row.path, kind: row.facts.kind, size, link, roots: Vec::new() });
        }
        let Some(last) = page.last() else { return Ok(page) };
        let (read, mut index) = (Paths { start: paths.start.clone(), end: Some(after(&last.path)) }, 0);
        self.each_root(&read, &mut |path, spec, digest| {
            while page.get(index).is_some_and(|known| &known.path[..] < path) {
                index += 1;
            }
            let Some(known) = page.get_mut(index).filter(|known| known.path == path) else { return };
            match spec.ok_or_else(|| "it has a root in a format that is not in the catalogue".into()) {
                Ok(spec) => match root(spec, known.size.unwrap_or(0), digest) {
                    Ok(root) => known.roots.push((spec.clone(), root.digest())),
                    Err(why) => refusal = Some((path.to_vec(), why)),
                },
                Err(why) => refusal = Some((path.to_vec(), why)),
            }
        })?;
        match refusal {
            None => Ok(page),
            Some((row, why)) => Err(Error::Row { path: self.input().clone(), row, why }),
        }
    }
}
