//! The entries of a catalogue as lines of a sum file or of a BagIt manifest, or as elements of an ASC MHL manifest.

use crate::diff::Known;
use crate::error::Error;
use crate::store::Catalogue;
use mksum::Spec;
use mksum_io::EntryKind;
use mksum_sums::pieces::mhl;
use mksum_sums::sum::{End, Style, line};

/// The syntax of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manifest {
    /// A sum file: `FORMAT (PATH) = ROOT`, a line for each file and format.
    Sums,
    /// The manifest of a bag: `SUM  PATH`, a line for each file below `data/`, with percent-encoded paths (RFC 8493, 2.1.3).
    Bagit,
    /// The elements of an ASC MHL manifest: one for each file, with all its roots that the manifest can have.
    Mhl,
}

/// A result of exporting a file.
#[derive(Debug)]
pub enum Exported<'a> {
    /// A line with its end, or the element of a file.
    Line(Vec<u8>),
    /// The path of the file is not UTF-8, so it is not in the manifest.
    Unwritten(&'a Known),
    /// The file has no root in this format, so it is not in the list.
    Lacks(&'a Known, &'a Spec),
}

/// The reason why a catalogue has no lines of this kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// The catalogue has no roots in this format.
    Lacks(Spec),
    /// The catalogue has no sums that the manifest can have, or another format was asked for.
    NoSum,
}

impl Manifest {
    /// The formats in which `catalogue` can be exported: all that are asked for, or without any those of the catalogue. A bag's manifest
    /// has one, which is a plain sum.
    ///
    /// # Errors
    /// If the catalogue lacks a format, or a bag's manifest cannot have it.
    pub fn formats(self, catalogue: &Catalogue, asked: &[Spec]) -> Result<Vec<Spec>, Unlisted> {
        let mut specs: Vec<Spec> = if asked.is_empty() { catalogue.formats().cloned().collect() } else { asked.into() };
        if let Some(missing) = specs.iter().find(|spec| !catalogue.formats().any(|own| own == *spec)) {
            return Err(Unlisted::Lacks(missing.clone()));
        }
        if self == Manifest::Bagit {
            if asked.is_empty() {
                specs.retain(|spec| spec.family().tag.is_some());
            }
            specs.truncate(1);
            if specs.first().is_none_or(|spec| spec.family().tag.is_none()) {
                return Err(Unlisted::NoSum);
            }
        }
        if self == Manifest::Mhl {
            if asked.is_empty() {
                specs.retain(is_of_mhl);
            }
            if specs.is_empty() || !specs.iter().all(is_of_mhl) {
                return Err(Unlisted::NoSum);
            }
        }
        Ok(specs)
    }

    fn lists(self, known: &Known) -> bool {
        known.kind == EntryKind::File && (self != Manifest::Bagit || known.path.starts_with(b"data/"))
    }

    fn line(self, path: &[u8], root: &mksum::Root) -> Vec<u8> {
        let text = root.to_string();
        match self {
            Manifest::Sums => line(Style::Tagged, End::Newline, &root.spec().tag(), path, &text),
            Manifest::Mhl => unreachable!("a file has one element, not a line for each root"),
            Manifest::Bagit => [text.as_bytes(), b"  ", &*percent_encoded(path), b"\n"].concat(),
        }
    }
}

/// Tells `each` the lines of all files, by path, and which files have no root in one of the formats, until it answers `false`. Returns the
/// number of files.
///
/// # Errors
/// If the catalogue cannot be read; after the last line, if it lacks entries that could not be read.
pub fn export(
    catalogue: Catalogue,
    manifest: Manifest,
    specs: &[Spec],
    each: &mut dyn FnMut(Exported<'_>) -> bool,
) -> Result<u64, Error> {
    let unread = catalogue.check_list()?;
    let mut count = 0;
    for known in catalogue.into_known() {
        let known = known?;
        if !manifest.lists(&known) {
            continue;
        }
        count += 1;
        let wanted = known.roots.iter().filter(|(spec, _)| specs.contains(spec));
        let roots = wanted.map(|(spec, digest)| spec.root_with_digest(*digest, known.size.unwrap_or(0)));
        let lines = match manifest {
            Manifest::Mhl => {
                let roots: Vec<_> = roots.collect();
                match str::from_utf8(&known.path) {
                    Ok(path) if !roots.is_empty() => vec![Exported::Line(mhl::entry(path, known.size, &roots))],
                    Ok(_) => Vec::new(),
                    Err(_) => vec![Exported::Unwritten(&known)],
                }
            }
            _ => roots.map(|root| Exported::Line(manifest.line(&known.path, &root))).collect(),
        };
        if !lines.into_iter().all(&mut *each) {
            return Ok(count);
        }
        let lacks = specs.iter().find(|spec| !known.roots.iter().any(|(own, _)| own == *spec));
        if lacks.is_some_and(|spec| !each(Exported::Lacks(&known, spec))) {
            return Ok(count);
        }
    }
    unread.map_or(Ok(count), Err)
}

/// Whether an ASC MHL manifest has an element for roots of this format.
fn is_of_mhl(spec: &Spec) -> bool {
    mhl::SUMS.contains(&&*spec.to_string())
}

/// A path as a line of a manifest can hold it (RFC 8493, 2.1.3).
fn percent_encoded(path: &[u8]) -> Vec<u8> {
    let encode = |&byte: &u8| match byte {
        b'\n' => b"%0A".to_vec(),
        b'\r' => b"%0D".to_vec(),
        b'%' => b"%25".to_vec(),
        byte => vec![byte],
    };
    path.iter().flat_map(encode).collect()
}
