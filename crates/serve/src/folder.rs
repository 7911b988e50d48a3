//! A directory that is served: the files below it, and never one outside.

use crate::content::Content;
use crate::index::Item;
use crate::opened::Version;
use crate::reading::Reading;
use hyper::StatusCode;
use mksum::Root;
#[cfg(feature = "catalogue")]
use mksum_catalogue::{Access, Catalogue, Row};
use mksum_io::outboard::{self, beside, is_part_of_outboard, is_unchanged};
use mksum_io::{
    EntryKind, Error, Facts, File, HeldDirectory, HeldFile, Input, KEPT_FOLDER, Opening, UnitCache, Url, Verified,
    path_from_bytes, reason,
};
use std::fs;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "catalogue")]
use std::sync::{Mutex, PoisonError};

/// What a request found.
#[derive(Debug)]
pub enum Found {
    /// A file.
    Content(Box<Content>),
    /// A directory, whose entries are listed.
    Index(Vec<Item>),
}

/// Why a request finds nothing: the status, and the reason for the log. Clients get the status alone, since they need not learn what
/// is outside of the directory.
pub type Missing = (StatusCode, String);

/// The system's reason why a path leads to no file.
pub fn missing(error: &io::Error) -> Missing {
    let status = match (error.kind(), error.raw_os_error()) {
        (ErrorKind::PermissionDenied, _) => StatusCode::FORBIDDEN,
        // No descriptors are left: EMFILE and ENFILE.
        (_, Some(23 | 24)) if cfg!(unix) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::NOT_FOUND,
    };
    (status, reason(error))
}

/// The same of a file or an object. What a server says of itself, or a store that cannot be reached, says nothing about the object.
pub fn unopened(error: &Error) -> Missing {
    let status = match error {
        Error::Open { path, error } if path.url().is_none() => return missing(error),
        Error::Open { error, .. } if error.kind() == ErrorKind::NotFound => StatusCode::NOT_FOUND,
        Error::Open { .. } | Error::Fetch { .. } | Error::Changed { .. } => StatusCode::BAD_GATEWAY,
        _ => StatusCode::NOT_FOUND,
    };
    (status, error.to_string())
}

fn not_found(why: &str) -> Missing {
    (StatusCode::NOT_FOUND, why.into())
}

/// An open directory.
#[derive(Debug)]
pub struct Folder {
    /// The directory's path without symbolic links.
    real: PathBuf,
    held: HeldDirectory,
    #[cfg(feature = "catalogue")]
    catalogue: Option<Mutex<Catalogue>>,
}

impl Folder {
    /// Opens the directory at a path, and its catalogue, if it has one that can be read.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Folder, Error> {
        let real = path.canonicalize().map_err(|error| Error::Open { path: path.into(), error })?;
        Ok(Folder {
            held: HeldDirectory::open(&real)?,
            #[cfg(feature = "catalogue")]
            catalogue: Catalogue::open(&mksum_catalogue::place(&real), Access::Read, &mut || {}).ok().map(Mutex::new),
            real,
        })
    }

    /// Finds the file or directory with these names below it. Symbolic links are followed if they lead to something below it.
    pub fn find(&self, names: &[Vec<u8>], reading: &Reading) -> Result<Found, Missing> {
        let mut path = self.real.clone();
        for name in names {
            path.push(path_from_bytes(name).ok_or_else(|| not_found("no such name on this system"))?);
        }
        let real = path.canonicalize().map_err(|error| missing(&error))?;
        let below = self.below(&real)?;
        if below.as_os_str().is_empty() {
            return self.index(&real);
        }
        // By the path without links: if one appears on it now, it is not followed.
        let held = HeldFile::open_below(&self.held, below).map_err(|error| unopened(&error))?;
        match held.facts().kind {
            EntryKind::Directory => self.index(&real),
            EntryKind::File if is_unfinished(&real) => Err(not_found("a file of mksum's own")),
            // Clients compare it with its root, and these are digests.
            EntryKind::File if below.starts_with(KEPT_FOLDER) => plain(&held, &real, None, reading).map(Found::Content),
            EntryKind::File => read(&held, &real, self.catalogued(below), reading).map(Found::Content),
            EntryKind::Link | EntryKind::Special => Err(not_found("not a regular file")),
        }
    }

    /// The path below the directory of what is at a path without links, if that is served.
    fn below<'a>(&self, real: &'a Path) -> Result<&'a Path, Missing> {
        let below =
            real.strip_prefix(&self.real).map_err(|_| not_found("a symbolic link leads out of the directory"))?;
        match is_private(below) {
            true => Err(not_found("a file of mksum's own")),
            false => Ok(below),
        }
    }

    /// What the catalogue has of a file.
    #[cfg(feature = "catalogue")]
    fn catalogued(&self, below: &Path) -> Option<Catalogued> {
        let names: Vec<_> = below.components().map(|name| name.as_os_str().as_encoded_bytes()).collect();
        let catalogue = self.catalogue.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let row = catalogue.row(&names.join(&b'/')).ok()?.filter(|row| !row.repair)?;
        // An imported root that was never verified may be that of other bytes.
        let kept = catalogue.roots(&row).ok()?.into_iter().filter(|kept| kept.verified > 0);
        let place = |name| catalogue.outboards().join(name);
        let roots = kept.map(|kept| (kept.root, kept.outboard.map(place))).collect();
        Some(Catalogued { row, roots })
    }

    #[cfg(not(feature = "catalogue"))]
    fn catalogued(&self, _: &Path) -> Option<Catalogued> {
        None
    }

    /// The entries of a directory that are served, by their names; at most [`Item::MOST`].
    fn index(&self, real: &Path) -> Result<Found, Missing> {
        let mut items = Vec::new();
        for entry in fs::read_dir(real).map_err(|error| missing(&error))? {
            let entry = entry.map_err(|error| missing(&error))?;
            let path = entry.path();
            let Ok(target) = path.canonicalize() else { continue };
            if self.below(&target).is_err() || is_unfinished(&path) {
                continue;
            }
            let Ok(facts) = Facts::of(&target) else { continue };
            let name = entry.file_name().into_encoded_bytes();
            match facts.kind {
                EntryKind::File => items.push(Item { name, len: Some(facts.size) }),
                EntryKind::Directory => items.push(Item { name, len: None }),
                EntryKind::Link | EntryKind::Special => {}
            }
            if items.len() == Item::MOST {
                break;
            }
        }
        items.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Found::Index(items))
    }
}

/// What a catalogue has of a file.
struct Catalogued {
    #[cfg(feature = "catalogue")]
    row: Row,
    /// The roots that were found by reading the file, each with its outboard, if there is one.
    roots: Vec<(Root, Option<PathBuf>)>,
}

impl Catalogued {
    /// Whether a file with these facts has not changed since it was read.
    #[cfg(feature = "catalogue")]
    fn is_of(&self, facts: &Facts) -> bool {
        self.row.is_of(facts)
    }

    #[cfg(not(feature = "catalogue"))]
    fn is_of(&self, _: &Facts) -> bool {
        false
    }
}

/// Opens the file at a path that a user has named.
pub fn open_file(path: &Path, reading: &Reading) -> Result<Box<Content>, Missing> {
    let held = HeldFile::open(path).map_err(|error| unopened(&error))?;
    match held.facts().kind {
        EntryKind::File => read(&held, path, None, reading),
        _ => Err(not_found("not a regular file")),
    }
}

/// Opens a file at this path to be sent: as it is, or verified.
fn read(
    held: &HeldFile<'_>,
    path: &Path,
    catalogued: Option<Catalogued>,
    reading: &Reading,
) -> Result<Box<Content>, Missing> {
    let Some(verified) = &reading.verified else { return plain(held, path, catalogued, reading) };
    // Clients check outboards themselves: they are nothing but digests.
    if has_extension(path) && is_part_of_outboard(path) {
        return plain(held, path, None, reading);
    }
    let facts = held.facts();
    let file = held.reader(&reading.options).map_err(|error| unopened(&error))?;
    let (beside, roots) = (beside(path), catalogued.map(|catalogued| catalogued.roots).unwrap_or_default());
    let kept = roots.iter().find_map(|(root, place)| Some((root, place.as_ref()?)));
    let mut opening = match (kept, roots.first()) {
        _ if beside.exists() => Opening::new(path, beside),
        (Some((root, place)), _) => Opening::new(path, place).trusting(root),
        (None, Some((root, _))) if root.len() <= WHOLE => Opening::whole(path, root),
        _ => return Err(unverified(NO_OUTBOARD)),
    };
    if let Some(root) = &verified.root {
        opening.expected = Some(root.clone());
    }
    let opened = verified.opened.get(Version::of(&opening, Some(facts)), || Verified::of_file(file, opening));
    let opened = opened.map_err(|error| unverified(&error.to_string()))?;
    Ok(Box::new(Content::verified(opened, Some(&facts), verified.opened.clone())))
}

const NO_OUTBOARD: &str = "not verified: it has no outboard: make one with 'mksum keep'";

/// The longest file that is verified as a whole, in bytes: a catalogue keeps the trees of longer ones.
const WHOLE: u64 = 8 << 20;

/// Opens a file at this path to be sent as it is.
fn plain(
    held: &HeldFile<'_>,
    path: &Path,
    catalogued: Option<Catalogued>,
    reading: &Reading,
) -> Result<Box<Content>, Missing> {
    let facts = held.facts();
    let file = held.reader(&reading.options).map_err(|error| unopened(&error))?;
    let of_catalogue = || {
        let known = catalogued.filter(|catalogued| catalogued.is_of(&facts));
        known.into_iter().flat_map(|known| known.roots).map(|(root, _)| root).collect()
    };
    let roots = root_beside(path, &file).map_or_else(of_catalogue, |root| vec![root]);
    Ok(Box::new(Content::of_file(file, &facts, &roots)))
}

/// Opens an object to be sent, of which the bytes `part` will be read.
pub fn open_object(url: &Url, part: Range<u64>, reading: &Reading) -> Result<Box<Content>, Missing> {
    let content = match &reading.verified {
        Some(verified) if !is_digests(url) => {
            let place = Input::from(url).with_extension(outboard::EXTENSION);
            let cache = verified.cache.clone().map(|cache| cache as Arc<dyn UnitCache>);
            let opening = Opening { expected: verified.root.clone(), cache, ..Opening::new(url.clone(), place) };
            let version = Version::of(&opening, None);
            let opened = verified.opened.get(version, || Verified::open(opening, &reading.options));
            let opened = opened.map_err(|error| match &error {
                Error::Open { path, error } if path.url() != Some(url) && error.kind() == ErrorKind::NotFound => {
                    unverified(NO_OUTBOARD)
                }
                Error::Open { .. } | Error::Fetch { .. } => unopened(&error),
                error => unverified(&error.to_string()),
            })?;
            Content::verified(opened, None, verified.opened.clone())
        }
        _ => {
            let file = File::open_part(url.clone(), part, &reading.options).map_err(|error| unopened(&error))?;
            Content::of_object(file)
        }
    };
    Ok(Box::new(content))
}

/// Whether an object has digests alone, which clients check: an outboard, or the catalogue of a directory.
fn is_digests(url: &Url) -> bool {
    let path = Path::new(url.as_str());
    has_extension(path) || path.ends_with(Path::new(KEPT_FOLDER).join("catalogue"))
}

fn unverified(why: &str) -> Missing {
    (StatusCode::INTERNAL_SERVER_ERROR, why.into())
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == outboard::EXTENSION)
}

/// The root in the outboard beside a file, if the file has not changed since that was written.
fn root_beside(path: &Path, file: &File) -> Option<Root> {
    let outboard = outboard::open(&beside(path)).ok()?;
    is_unchanged(file, outboard.header()).then(|| outboard.root())
}

/// Whether a file belongs to an outboard and is not a finished one.
fn is_unfinished(path: &Path) -> bool {
    !has_extension(path) && is_part_of_outboard(path)
}

/// Whether a path below the directory is one of mksum's own files, of which downloads need only the catalogue and its outboards.
fn is_private(below: &Path) -> bool {
    let names: Vec<_> = below.components().map(|name| name.as_os_str()).collect();
    let is_needed = match &names[..] {
        [folder, name] if *folder == KEPT_FOLDER => *name == "catalogue",
        [folder, trees, name] if *folder == KEPT_FOLDER => {
            *trees == "catalogue.trees" && Path::new(name).extension().is_some_and(|end| end == outboard::EXTENSION)
        }
        _ => false,
    };
    !is_needed && names.iter().any(|name| name.eq_ignore_ascii_case(KEPT_FOLDER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_own_files_only_those_for_downloads_are_served() {
        for path in ["a", ".mksum/catalogue", ".mksum/catalogue.trees/ab.mkt", "a/b.mkt"] {
            assert!(!is_private(Path::new(path)), "{path}");
        }
        for path in [
            ".mksum",
            ".mksum/catalogue.trees",
            ".mksum/catalogue-wal",
            ".mksum/config",
            ".mksum/catalogue.trees/ab.part",
            ".mksum/catalogue/x",
            ".MKSUM/catalogue",
            "a/.mksum/catalogue",
        ] {
            assert!(is_private(Path::new(path)), "{path}");
        }
    }
}
