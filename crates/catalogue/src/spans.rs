//! Digests over spans of entries, so that two catalogues are compared by what differs (`spec/catalogue.md`).

use crate::digest::Walk;
use crate::error::Error;
use crate::paths::Paths;
use crate::store::Catalogue;
use mksum::{Digest, Spec};
use mksum_io::Options;
use rusqlite::types::{FromSqlError, ValueRef};
use rusqlite::{OptionalExtension, params};
use std::mem;

/// The levels of spans: one of level n has some 256 of the level below, and one of level 1 some 256 entries.
const LEVELS: u32 = 3;

/// The bits of a path's hash that are zero where a span of level 1 begins, and again for each further level; in tests, spans are small.
const BITS: u32 = if cfg!(test) { 2 } else { 8 };

/// A summary of the entries of some paths.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    paths: Paths,
    /// The number of entries.
    entries: u64,
    /// No bytes if they are never equal to others: a file among them has no root.
    digest: Vec<u8>,
}

/// The number of entries in spans that two catalogues have in common, and the paths of all others, which ascend.
pub(crate) fn differing(left: &Catalogue, right: &Catalogue) -> Result<(u64, Vec<Paths>), Error> {
    let (mut equal, mut parts) = (0, vec![Paths::all()]);
    for level in (1..=LEVELS).rev() {
        let mut smaller = Vec::new();
        for part in parts {
            let (mut from, mut theirs) = (Some(part.start.clone()), right.spans(level, &part)?.into_iter().peekable());
            for span in left.spans(level, &part)? {
                while theirs.next_if(|other| other.paths.start < span.paths.start).is_some() {}
                let same = theirs.peek() == Some(&span) && !span.digest.is_empty() && part.have(&span.paths);
                if let Some(start) = from.take_if(|start| same && *start <= span.paths.start) {
                    equal += span.entries;
                    smaller.extend(Paths::between(&start, Some(&span.paths.start)));
                    from = span.paths.end;
                }
            }
            // The last span has no end.
            smaller.extend(from.and_then(|start| Paths::between(&start, part.end.as_deref())));
        }
        parts = smaller;
    }
    Ok((equal, parts))
}

impl Catalogue {
    /// Removes the spans that have a path, before its entry is written or removed: also the span that ends with it, which does not end
    /// there without it.
    pub(crate) fn lose_spans(&self, path: &[u8]) -> Result<(), Error> {
        let mut unspanned = self.unspanned.borrow_mut();
        let inside = |paths: &Paths| &paths.start[..] < path && paths.end.as_ref().is_none_or(|end| path < &end[..]);
        if unspanned.as_ref().is_some_and(inside) {
            return Ok(());
        }
        let lose = || {
            let mut around = Paths::all();
            for level in 1..=LEVELS {
                let last = "SELECT start FROM span WHERE level = ?1 AND start < ?2 ORDER BY start DESC LIMIT 1";
                let text = format!(
                    "DELETE FROM span WHERE level = ?1 AND (start = ?2 OR start = ({last}) AND (\"end\" >= ?2 OR \"end\" IS NULL))"
                );
                self.db.prepare_cached(&text)?.execute(params![level, path])?;
                let before = "SELECT \"end\" FROM span WHERE level = ?1 AND start < ?2 ORDER BY start DESC LIMIT 1";
                let before =
                    self.db.prepare_cached(before)?.query_row(params![level, path], |row| row.get(0)).optional()?;
                let next = "SELECT start FROM span WHERE level = ?1 AND start > ?2 ORDER BY start LIMIT 1";
                let next =
                    self.db.prepare_cached(next)?.query_row(params![level, path], |row| row.get(0)).optional()?;
                around.start = around.start.max(before.unwrap_or_default());
                around.end = around.end.take().into_iter().chain(next).min();
            }
            Ok(around)
        };
        *unspanned = Some(lose().map_err(|error| self.fail(error))?);
        Ok(())
    }

    /// Checks the rows by their spans, for a catalogue that has nothing else to tell whether they are all there. Without spans, the last
    /// command that wrote them did not end.
    pub(crate) fn check_spans(&self) -> Result<Walk, Error> {
        let (made, kept) = (Hasher::new(self, &Options::new()).spans(&Paths::all())?, self.spans(1, &Paths::all())?);
        let is_made = |span: &Span| {
            let found = made.binary_search_by(|made| made.paths.start.cmp(&span.paths.start));
            found.is_ok_and(|index| made[index] == *span)
        };
        match kept.iter().all(is_made) {
            true => Ok(if kept.len() == made.len() { Walk::Ended } else { Walk::Begun }),
            false => Err(self.damaged("its rows are not those of its spans")),
        }
    }

    /// Makes the spans that are missing. Only entries of these are read.
    pub(crate) fn make_spans(&self, options: &Options) -> Result<(), Error> {
        match self.make_missing(options) {
            // Damaged spans are made again, all of them.
            Err(Error::Row { .. }) => {
                self.db.execute_batch("DELETE FROM span").map_err(|error| self.fail(error))?;
                self.make_missing(options)
            }
            made => made,
        }
    }

    fn make_missing(&self, options: &Options) -> Result<(), Error> {
        if self.gaps(LEVELS, &Paths::all())?.is_empty() {
            return Ok(());
        }
        self.begin()?;
        let made = self.fill(LEVELS, &Paths::all(), &Hasher::new(self, options));
        // What was made is right, also if the rest is not.
        self.commit().and(made)
    }

    /// Makes the missing spans of a level, and of those below, among some paths.
    fn fill(&self, level: u32, paths: &Paths, hasher: &Hasher<'_>) -> Result<(), Error> {
        for gap in self.gaps(level, paths)? {
            let made = if level == 1 {
                hasher.spans(&gap)?
            } else {
                self.fill(level - 1, &gap, hasher)?;
                let parts = self.spans(level - 1, &gap)?;
                let joined = parts.windows(2).all(|two| two[0].paths.end.as_ref() == Some(&two[1].paths.start));
                let ends = parts.first().zip(parts.last());
                if !joined
                    || ends.is_none_or(|(first, last)| first.paths.start != gap.start || last.paths.end != gap.end)
                {
                    // Only a damaged catalogue has others; without a span, its entries are compared.
                    continue;
                }
                hasher.joined(level, parts)
            };
            let text = "INSERT INTO span VALUES (?1, ?2, ?3, ?4, ?5)";
            let mut insert = self.db.prepare_cached(text).map_err(|error| self.fail(error))?;
            for Span { paths, entries, digest } in made {
                let done = insert.execute(params![level, paths.start, paths.end, entries as i64, digest]);
                done.map_err(|error| self.fail(error))?;
            }
        }
        Ok(())
    }

    /// The paths without a span of a level, among others.
    fn gaps(&self, level: u32, paths: &Paths) -> Result<Vec<Paths>, Error> {
        let (mut gaps, mut from) = (Vec::new(), Some(paths.start.clone()));
        for span in self.spans(level, paths)? {
            gaps.extend(from.and_then(|start| Paths::between(&start, Some(&span.paths.start))));
            from = span.paths.end;
        }
        gaps.extend(from.and_then(|start| Paths::between(&start, paths.end.as_deref())));
        Ok(gaps)
    }

    /// The spans of a level that begin among some paths.
    fn spans(&self, level: u32, paths: &Paths) -> Result<Vec<Span>, Error> {
        let fail = |error| self.fail(error);
        let text = "SELECT start, \"end\", entries, digest FROM span WHERE level =";
        let text = format!("{text} {level} AND {} ORDER BY start", paths.condition("start"));
        let mut statement = self.db.prepare_cached(&text).map_err(fail)?;
        let found = statement.query_map(paths.parameters(), |row| {
            let paths = Paths { start: row.get(0)?, end: row.get(1)? };
            Ok(Span { paths, entries: row.get::<_, i64>(2)? as u64, digest: row.get(3)? })
        });
        let mut spans: Vec<Span> = Vec::new();
        for span in found.map_err(fail)? {
            let span = span.map_err(fail)?;
            let (start, end) = (&span.paths.start, &span.paths.end);
            let order = spans.last().is_none_or(|last| last.paths.end.as_ref().is_some_and(|end| end <= start));
            if !order || end.as_ref().is_some_and(|end| end <= start) {
                let (path, row) = (self.input().clone(), span.paths.start);
                return Err(Error::Row { path, row, why: "its span is out of order".into() });
            }
            spans.push(span);
        }
        Ok(spans)
    }
}

/// Makes spans of entries.
struct Hasher<'a> {
    catalogue: &'a Catalogue,
    options: &'a Options,
    sha256: Spec,
    /// The formats by their names, as parts of entries.
    formats: Vec<(i64, Vec<u8>)>,
}

impl<'a> Hasher<'a> {
    fn new(catalogue: &'a Catalogue, options: &'a Options) -> Self {
        let mut names: Vec<_> = catalogue.formats.iter().map(|(id, spec)| (spec.to_string(), *id)).collect();
        names.sort_unstable();
        let formats = names.into_iter().map(|(name, id)| {
            let mut part = Vec::new();
            push_part(&mut part, name.as_bytes());
            (id, part)
        });
        Hasher { catalogue, options, sha256: "sha256".parse().expect("a format"), formats: formats.collect() }
    }

    fn digest(&self, bytes: &[u8]) -> Digest {
        self.sha256.root(bytes).expect("a hash of any bytes").digest()
    }

    /// The highest level on which a span begins with this path.
    fn level(&self, path: &[u8]) -> u32 {
        let digest = self.digest(path);
        let zeros = u64::from_be_bytes(*digest.as_bytes().first_chunk().expect("32 bytes")).leading_zeros();
        zeros / BITS
    }

    /// The spans of level 1 of some paths.
    fn spans(&self, paths: &Paths) -> Result<Vec<Span>, Error> {
        let fail = |error| self.catalogue.fail(error);
        let odd = |error: FromSqlError| fail(error.into());
        let of =
            |paths: &Paths, columns: &str| format!("SELECT {columns} WHERE {} ORDER BY path", paths.condition("path"));
        let db = &self.catalogue.db;
        let mut entries = db.prepare(&of(paths, "path, type, size, link FROM entry")).map_err(fail)?;
        let mut roots = db.prepare(&(of(paths, "path, format, root FROM root") + ", format")).map_err(fail)?;
        let mut entries = entries.query(paths.parameters()).map_err(fail)?;
        let mut roots = roots.query(paths.parameters()).map_err(fail)?;
        let mut root = roots.next().map_err(fail)?;
        let (mut made, mut open) = (Vec::new(), Open::new(paths.start.clone()));
        // The roots of an entry by the names of their formats; no bytes where there is none.
        let (mut last, mut own) = (Vec::new(), vec![Vec::new(); self.formats.len()]);
        while let Some(entry) = entries.next().map_err(fail)? {
            let path = entry.get_ref(0).map_err(fail)?.as_blob().map_err(odd)?;
            if &last[..] >= path {
                let why = "it is out of order".into();
                return Err(Error::Row { path: self.catalogue.input().clone(), row: path.into(), why });
            }
            if path != open.start && self.level(path) >= 1 {
                if self.options.stop.is_stopped() {
                    return Err(mksum_io::Error::Stopped { path: self.catalogue.input().clone() }.into());
                }
                made.push(open.close(Some(path), self));
            }
            let mut found = 0_u64;
            while let Some(row) = root {
                let its = row.get_ref(0).map_err(fail)?.as_blob().map_err(odd)?;
                if its > path {
                    break;
                }
                let format = row.get_ref(1).map_err(fail)?.as_i64().map_err(odd)?;
                if let Some(index) = self.formats.iter().position(|(id, _)| *id == format).filter(|_| its == path) {
                    let digest = row.get_ref(2).map_err(fail)?.as_blob().map_err(odd)?;
                    found += u64::from(!digest.is_empty());
                    own[index].extend(digest);
                }
                root = roots.next().map_err(fail)?;
            }
            let kind = entry.get_ref(1).map_err(fail)?.as_str().map_err(odd)?;
            let bytes = &mut open.bytes;
            bytes.extend(kind.as_bytes());
            push_part(bytes, path);
            match (kind, entry.get_ref(3).map_err(fail)?) {
                ("f", _) => {
                    bytes.extend(entry.get_ref(2).map_err(fail)?.as_i64().map_err(odd)?.to_le_bytes());
                    bytes.extend(found.to_le_bytes());
                    for ((_, name), digest) in self.formats.iter().zip(&own).filter(|(_, digest)| !digest.is_empty()) {
                        bytes.extend(name);
                        push_part(bytes, digest);
                    }
                    open.comparable &= found > 0;
                }
                ("l", ValueRef::Blob(text)) => push_part(bytes, text),
                ("d", _) => {}
                _ => open.comparable = false,
            }
            open.entries += 1;
            own.iter_mut().for_each(Vec::clear);
            last.clear();
            last.extend(path);
        }
        made.push(open.close(paths.end.as_deref(), self));
        Ok(made)
    }

    /// The spans of a level over those of the level below.
    fn joined(&self, level: u32, parts: Vec<Span>) -> Vec<Span> {
        let (mut made, mut open): (_, Option<Open>) = (Vec::new(), None);
        let end = parts.last().and_then(|span| span.paths.end.clone());
        for span in parts {
            if self.level(&span.paths.start) >= level {
                made.extend(open.take().map(|mut open| open.close(Some(&span.paths.start), self)));
            }
            let open = open.get_or_insert_with(|| Open::new(span.paths.start));
            open.entries += span.entries;
            open.comparable &= !span.digest.is_empty();
            open.bytes.extend(span.digest);
        }
        made.extend(open.map(|mut open| open.close(end.as_deref(), self)));
        made
    }
}

/// A span that has not ended yet.
struct Open {
    start: Vec<u8>,
    entries: u64,
    comparable: bool,
    /// The bytes that the digest covers.
    bytes: Vec<u8>,
}

impl Open {
    fn new(start: Vec<u8>) -> Self {
        Open { start, entries: 0, comparable: true, bytes: Vec::new() }
    }

    /// The span; the next one begins where it ends.
    fn close(&mut self, end: Option<&[u8]>, hasher: &Hasher<'_>) -> Span {
        let digest = if self.comparable { hasher.digest(&self.bytes).as_bytes().to_vec() } else { Vec::new() };
        let paths = Paths { start: mem::take(&mut self.start), end: end.map(Into::into) };
        let span = Span { paths, entries: self.entries, digest };
        self.start = end.unwrap_or_default().to_vec();
        (self.entries, self.comparable) = (0, true);
        self.bytes.clear();
        span
    }
}

/// Appends bytes with their length before them.
fn push_part(to: &mut Vec<u8>, part: &[u8]) {
    to.extend((part.len() as u64).to_le_bytes());
    to.extend(part);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Finding, Kept, diff, diff_catalogues};
    use mksum_io::{EntryKind, Facts, Stop};
    use proptest::prelude::*;
    use std::path::Path;

    /// Paths whose order differs from a walk's: `a.b` lies between `a` and `a/b`, and `a0` after what is in `a`.
    fn path(number: usize) -> Vec<u8> {
        const NAMES: [&[u8]; 6] = [b"a", b"a.b", b"a0", b"b", b"\xff", b"a-"];
        let names = [number % 6, number / 6 % 7, number / 42 % 7];
        let names = names.iter().filter_map(|&name| NAMES.get(name).copied());
        names.collect::<Vec<_>>().join(&b'/')
    }

    /// A change of a catalogue.
    #[derive(Clone, Debug)]
    enum Act {
        /// Writes an entry of a kind.
        Put(usize, u8),
        Remove(usize),
        /// Ends a transaction.
        Commit,
        /// Makes the spans that are missing.
        Spans,
    }

    fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            8 => (0..294_usize, 0..9_u8).prop_map(|(path, kind)| Act::Put(path, kind)),
            4 => (0..294_usize).prop_map(Act::Remove),
            2 => Just(Act::Commit),
            1 => Just(Act::Spans),
        ];
        prop::collection::vec(act, 0..most)
    }

    fn put(catalogue: &Catalogue, number: usize, kind: u8) {
        let specs: Vec<Spec> = catalogue.formats.iter().map(|(_, spec)| spec.clone()).collect();
        // Contents of one length, so that roots decide; some lack one root, or all.
        let some = match kind {
            0..=4 => specs.len(),
            5 => 1,
            _ => 0,
        };
        let roots = specs.iter().take(some).map(|spec| Kept::new(spec.root(&[kind]).unwrap(), "keep", None));
        let kind = match kind {
            0..=6 => EntryKind::File,
            7 => EntryKind::Directory,
            _ => EntryKind::Link,
        };
        let facts = Facts { kind, size: 1, modified: (1, 2), inode: 0, device: 0, mode: 0 };
        let link = (kind == EntryKind::Link).then_some(&b"text"[..]);
        catalogue.put((&path(number), &facts), link, &roots.collect::<Vec<_>>()).unwrap();
    }

    fn apply(catalogue: &Catalogue, acts: &[Act]) {
        catalogue.begin().unwrap();
        for act in acts {
            match act {
                Act::Put(number, kind) => put(catalogue, *number, *kind),
                Act::Remove(number) => catalogue.remove(&path(*number)).unwrap(),
                Act::Commit | Act::Spans => {
                    catalogue.commit().unwrap();
                    if matches!(act, Act::Spans) {
                        catalogue.make_spans(&Options::new()).unwrap();
                    }
                    catalogue.begin().unwrap();
                }
            }
        }
        catalogue.commit().unwrap();
    }

    fn all_spans(catalogue: &Catalogue) -> Vec<Vec<Span>> {
        (1..=LEVELS).map(|level| catalogue.spans(level, &Paths::all()).unwrap()).collect()
    }

    fn open(path: &Path) -> Catalogue {
        Catalogue::open(path, Access::Read, &mut || {}).unwrap()
    }

    fn create(path: &Path, formats: &[&str]) -> Catalogue {
        let mut catalogue = Catalogue::create(path, &mut || {}).unwrap();
        let specs: Vec<Spec> = formats.iter().map(|format| format.parse().unwrap()).collect();
        catalogue.add_formats(&specs).unwrap();
        catalogue
    }

    /// The number of equal entries, and what differs.
    type Compared = (u64, Vec<String>);

    /// Returns the results of a comparison by spans, and of one without them.
    fn compared(left: &Path, right: &Path) -> (Compared, Compared) {
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        let mut tell = |finding: Finding| fast.push(format!("{finding:?}"));
        let by_spans = diff_catalogues(open(left), open(right), &Stop::default(), &mut tell).unwrap();
        let mut tell = |finding: Finding| slow.push(format!("{finding:?}"));
        let linear = diff(open(left).into_known(), open(right).into_known(), &Stop::default(), &mut tell).unwrap();
        ((by_spans, fast), (linear, slow))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn spans_change_no_comparison(common in acts(400), ours in acts(20), theirs in acts(20), formats in 0..3_usize) {
            let folder = tempfile::tempdir().unwrap();
            let places = [folder.path().join("left"), folder.path().join("right")];
            let other: &[&str] = [&["sha256", "md5"][..], &["md5", "sha256"], &["sha256"]][formats];
            for (place, own, formats) in [(&places[0], &ours, &["sha256", "md5"][..]), (&places[1], &theirs, other)] {
                let catalogue = create(place, formats);
                apply(&catalogue, &common);
                apply(&catalogue, own);
                let (fast, slow) = compared(&places[0], place);
                prop_assert_eq!(fast, slow, "with spans that are missing");
                catalogue.make_spans(&Options::new()).unwrap();
                // What was made again piece by piece is what would be made of all entries: nothing is out of date.
                let kept = all_spans(&catalogue);
                catalogue.db.execute_batch("DELETE FROM span").unwrap();
                catalogue.make_spans(&Options::new()).unwrap();
                prop_assert_eq!(kept, all_spans(&catalogue));
            }
            let (fast, slow) = compared(&places[0], &places[1]);
            prop_assert_eq!(fast, slow);
        }
    }

    #[test]
    fn only_what_differs_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let places = [folder.path().join("left"), folder.path().join("right")];
        let catalogues = places.each_ref().map(|place| {
            let catalogue = create(place, &["sha256"]);
            let all: Vec<_> = (0..294).map(|number| Act::Put(number, 1)).collect();
            apply(&catalogue, &all);
            catalogue.make_spans(&Options::new()).unwrap();
            catalogue
        });
        let total = catalogues[0].rows().count() as u64;
        assert_eq!(differing(&catalogues[0], &catalogues[1]).unwrap(), (total, Vec::new()));
        // Without them, all is compared.
        catalogues[1].db.execute_batch("DELETE FROM span").unwrap();
        assert_eq!(differing(&catalogues[0], &catalogues[1]).unwrap(), (0, vec![Paths::all()]));
        catalogues[1].make_spans(&Options::new()).unwrap();
        apply(&catalogues[1], &[Act::Put(100, 2), Act::Spans]);
        let (equal, parts) = differing(&catalogues[0], &catalogues[1]).unwrap();
        assert!(parts.len() == 1 && equal > total * 9 / 10 && equal < total, "{equal} of {total}");
        // What changed nothing that is compared leaves the digests as they are.
        apply(&catalogues[1], &[Act::Put(100, 1), Act::Spans]);
        assert_eq!(differing(&catalogues[0], &catalogues[1]).unwrap(), (total, Vec::new()));
        catalogues[1].begin().unwrap();
        catalogues[1].verified((&path(7), &path(7)), None, 9).unwrap();
        catalogues[1].commit().unwrap();
        assert_eq!(differing(&catalogues[0], &catalogues[1]).unwrap(), (total, Vec::new()));
    }

    #[test]
    fn spans_of_damaged_catalogues_are_refused_or_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("catalogue");
        let catalogue = create(&place, &["sha256"]);
        apply(&catalogue, &(0..294).map(|number| Act::Put(number, 1)).collect::<Vec<_>>());
        catalogue.make_spans(&Options::new()).unwrap();
        catalogue.db.execute_batch("UPDATE span SET \"end\" = X'00' WHERE level = 3").unwrap();
        assert!(matches!(differing(&catalogue, &open(&place)), Err(Error::Row { .. })));
        let (by_spans, linear) = compared(&place, &place);
        assert_eq!(by_spans, linear);
        catalogue.make_spans(&Options::new()).unwrap();
        assert_eq!(differing(&catalogue, &open(&place)).unwrap().1, Vec::new());
        // Where parts are lost, no span is made of the rest.
        catalogue.db.execute_batch("DELETE FROM span").unwrap();
        catalogue.make_spans(&Options::new()).unwrap();
        catalogue.db.execute_batch("DELETE FROM span WHERE level = 3 OR (level = 1 AND start > X'61')").unwrap();
        catalogue.make_spans(&Options::new()).unwrap();
        let (by_spans, linear) = compared(&place, &place);
        assert_eq!(by_spans, linear);
    }
}
