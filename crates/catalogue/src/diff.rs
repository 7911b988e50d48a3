//! Two lists of entries compared, without reading any file.

use crate::row::{Columns, root};
use crate::{Catalogue, Error};
use mksum::{Digest, Spec};
use mksum_io::EntryKind;
use rusqlite::params;
use std::cmp::Ordering;
use std::collections::HashMap;

/// What is known of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The bytes of its path, with slashes between names.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
    /// Its length in bytes, if it is known.
    pub size: Option<u64>,
    /// The text of a link.
    pub link: Option<Vec<u8>>,
    /// The digests of its roots, with their formats.
    pub roots: Vec<(Spec, Digest)>,
}

/// Entries by the bytes of their paths.
pub type Sorted<'a> = Box<dyn Iterator<Item = Result<Known, Error>> + 'a>;

/// A difference of two lists.
#[derive(Debug, PartialEq, Eq)]
pub enum Difference<'a> {
    /// Only the second list has it.
    Added(&'a Known),
    /// Only the first list has it.
    Removed(&'a Known),
    /// Both have it, with different contents.
    Changed(&'a Known, &'a Known),
    /// The second list has it at another path.
    Moved(&'a Known, &'a Known),
    /// Both have it, but no root of it in the same format.
    Incomparable(&'a Known, &'a Known),
}

/// The number of entries that are in both lists and equal, and of each kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Equal by a root, or a link's text.
    pub equal: u64,
    /// Only in the second list.
    pub added: u64,
    /// Only in the first list.
    pub removed: u64,
    /// With different contents.
    pub changed: u64,
    /// At another path.
    pub moved: u64,
    /// Without roots in the same format.
    pub incomparable: u64,
}

/// Compares two lists, and tells `each` every difference: first what is in both, by path; then what is in one.
///
/// Memory holds what is in one list alone.
///
/// # Errors
/// If a list cannot be read or is not sorted.
pub fn diff(
    mut left: Sorted<'_>,
    mut right: Sorted<'_>,
    each: &mut dyn FnMut(Difference<'_>),
) -> Result<Differences, Error> {
    let (mut removed, mut added, mut count) = (Vec::new(), Vec::new(), Differences::default());
    let (mut one, mut other) = (left.next().transpose()?, right.next().transpose()?);
    loop {
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
                Some(true) => count.equal += 1,
                Some(false) => {
                    count.changed += 1;
                    each(Difference::Changed(&before, &after));
                }
                None => {
                    count.incomparable += 1;
                    each(Difference::Incomparable(&before, &after));
                }
            },
            (before, after) => {
                removed.extend(before);
                added.extend(after);
            }
        }
    }
    alone(removed, added, &mut count, each);
    Ok(count)
}

/// Reports what is in one list only, but for the files that are in the other at another path.
fn alone(removed: Vec<Known>, added: Vec<Known>, count: &mut Differences, each: &mut dyn FnMut(Difference<'_>)) {
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
    for known in &added {
        let from = known.roots.iter().find_map(|(spec, digest)| {
            let waiting = places.get_mut(&(spec.to_string(), *digest))?;
            std::iter::from_fn(|| waiting.pop()).find(|&index| !found[index] && removed[index].path != known.path)
        });
        match from {
            Some(index) => {
                found[index] = true;
                count.moved += 1;
                each(Difference::Moved(&removed[index], known));
            }
            None => {
                count.added += 1;
                each(Difference::Added(known));
            }
        }
    }
    for (known, _) in removed.iter().zip(found).filter(|(_, found)| !found) {
        count.removed += 1;
        each(Difference::Removed(known));
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

impl Catalogue {
    /// What the catalogue knows, to be compared with another.
    pub fn known(&self) -> Sorted<'_> {
        let (mut after, mut page, mut ended) = (Vec::new(), Vec::new().into_iter(), false);
        Box::new(std::iter::from_fn(move || {
            loop {
                if let Some(known) = page.next() {
                    return Some(Ok(known));
                }
                if ended {
                    return None;
                }
                match self.known_after(&after) {
                    Ok(found) => {
                        ended = found.is_empty();
                        after = found.last().map_or_else(Vec::new, |known: &Known| known.path.clone());
                        page = found.into_iter();
                    }
                    Err(error) => {
                        ended = true;
                        return Some(Err(error));
                    }
                }
            }
        }))
    }

    fn known_after(&self, after: &[u8]) -> Result<Vec<Known>, Error> {
        let fail = |error| self.fail(error);
        let specs: Vec<_> = self.formats_by_id().collect();
        let text = "SELECT e.path, e.type, e.size, e.mtime, e.inode, e.device, e.mode, e.roots, e.link, r.format, r.root FROM \
                    (SELECT * FROM entry WHERE path > ?1 ORDER BY path LIMIT 4096) AS e LEFT JOIN root AS r ON r.path = e.path \
                    ORDER BY e.path, r.format";
        let mut statement = self.db.prepare_cached(text).map_err(fail)?;
        let mut rows = statement.query(params![after]).map_err(fail)?;
        let mut page: Vec<Known> = Vec::new();
        while let Some(row) = rows.next().map_err(fail)? {
            let path: Vec<u8> = row.get(0).map_err(fail)?;
            let refuse = |(row, why)| Error::Row { path: self.path().into(), row, why };
            if page.last().is_none_or(|last| last.path != path) {
                if page.last().map_or(after, |last| &last.path) >= &path[..] {
                    return Err(refuse((path, "it is out of order".into())));
                }
                let columns: Columns = crate::store::columns(row).map_err(fail)?;
                let link = row.get(8).map_err(fail)?;
                let row = columns.row().map_err(refuse)?;
                let size = (row.facts.kind == EntryKind::File).then_some(row.facts.size);
                page.push(Known { path: row.path, kind: row.facts.kind, size, link, roots: Vec::new() });
            }
            let Some(format) = row.get::<_, Option<i64>>(9).map_err(fail)? else { continue };
            let known = page.last_mut().expect("pushed before");
            let Some((_, spec)) = specs.iter().find(|(id, _)| *id == format) else {
                return Err(refuse((
                    known.path.clone(),
                    format!("it has a root in format {format}, which is not in the catalogue"),
                )));
            };
            let digest: Vec<u8> = row.get(10).map_err(fail)?;
            let root = root(spec, known.size.unwrap_or(0), &digest).map_err(|why| refuse((known.path.clone(), why)))?;
            known.roots.push((spec.clone(), root.digest()));
        }
        Ok(page)
    }
}
