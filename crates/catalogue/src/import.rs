//! Roots that another program computed, taken into a catalogue without reading the files.

use crate::compare::Scope;
use crate::diff::Sorted;
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::row::Kept;
use crate::store::Catalogue;
use mksum::Spec;
use mksum_io::{EntryKind, Facts, Options};
use std::io::ErrorKind;
use std::path::Path;

/// Takes the roots of files in a list into a catalogue, with the sizes and times that the files have now, and hands `each` a finding
/// about every file of the list: imported, known, gone, refused, unreadable.
///
/// No content is read: [`verify`](crate::verify) compares it with the roots. Entries that are no files are passed over. Formats that
/// the catalogue does not have yet are added to it.
///
/// # Errors
/// If the list or the catalogue cannot be read or written, or the work is stopped. What was written until then stays.
pub fn import(
    catalogue: &mut Catalogue,
    directory: &Path,
    list: Sorted<'_>,
    options: &Options,
    each: &mut dyn FnMut(Finding),
) -> Result<(), Error> {
    /// The entries of a transaction.
    const PAGE: usize = 1024;
    let scope = Scope::new(directory, catalogue);
    let mut list = list.filter(|entry| entry.as_ref().map_or(true, |known| known.kind == EntryKind::File)).peekable();
    while list.peek().is_some() {
        if options.stop.is_stopped() {
            return Err(mksum_io::Error::Stopped { path: directory.into() }.into());
        }
        let page = list.by_ref().take(PAGE).collect::<Result<Vec<_>, _>>()?;
        let specs = page.iter().flat_map(|known| &known.roots).map(|(spec, _)| spec);
        let new: Vec<Spec> = specs.filter(|&spec| !catalogue.formats().any(|own| own == spec)).cloned().collect();
        catalogue.add_formats(&new)?;
        let mut taken = Vec::new();
        'files: for known in page {
            let facts = match facts(&scope, &known.path) {
                Ok(Some(facts)) => facts,
                Ok(None) => {
                    let why = "no such file: paths of a list are those below the directory";
                    each(Finding::failed(State::Gone, known.path, Error::refused(directory, why)));
                    continue;
                }
                Err(error) => {
                    each(Finding::failed(State::Unreadable, known.path, error));
                    continue;
                }
            };
            if let Some(len) = known.size.filter(|&len| len != facts.size) {
                let why = format!("it has {} bytes, and {len} in the list: its root was not imported", facts.size);
                each(Finding::failed(State::Refused, known.path, Error::refused(directory, why)));
                continue;
            }
            let row = catalogue.row(&known.path)?.filter(|row| row.is_of(&facts));
            let mut kept = row.map_or(Ok(Vec::new()), |row| catalogue.roots(&row))?;
            let before = kept.len();
            for (spec, digest) in &known.roots {
                let root = spec.root_with_digest(*digest, facts.size);
                match kept.iter().find(|kept| kept.root.spec() == spec) {
                    Some(kept) if kept.root == root => {}
                    Some(kept) => {
                        let (own, why) = (&kept.root, "nothing was imported for it");
                        let why = format!("the catalogue has {own} in {spec}, the list {root}: {why}");
                        each(Finding::failed(State::Refused, known.path, Error::refused(directory, why)));
                        continue 'files;
                    }
                    None => kept.push(Kept { verified: 0, ..Kept::new(root, "import", None) }),
                }
            }
            match kept.len() == before {
                true => each(Finding::new(State::Known, known.path)),
                false => taken.push((known.path, facts, kept, before)),
            }
        }
        catalogue.begin()?;
        for (path, facts, kept, _) in &taken {
            catalogue.put((path, facts), None, kept)?;
        }
        catalogue.commit()?;
        for (path, _, mut kept, before) in taken {
            each(Finding { roots: kept.split_off(before), ..Finding::new(State::Imported, path) });
        }
    }
    catalogue.make_spans(options)
}

/// Reads a file's metadata, after the time in which a change would not be seen; `None` if there is no file.
fn facts(scope: &Scope, path: &[u8]) -> Result<Option<Facts>, mksum_io::Error> {
    let Some(place) = scope.place(path).filter(|_| crate::row::is_path(path)) else { return Ok(None) };
    let facts = || match Facts::of(&place) {
        Ok(facts) => Ok(Some(facts).filter(|facts| facts.kind == EntryKind::File)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(mksum_io::Error::Open { path: place.clone().into(), error }),
    };
    let found = facts()?;
    if found.as_ref().is_some_and(Facts::wait_until_past) { facts() } else { Ok(found) }
}
