//! What a mirror carries beside a file, so that others can fetch and verify it: outboard, sum, metalink and torrent.

use crate::error::Error;
use crate::torrent::{NewTorrent, make_torrent, piece_of, pieces};
use mksum::outboard::KeptLayout;
use mksum::{Root, Spec};
use mksum_io::outboard::{Changes, EXTENSION, Keeping, keep};
use mksum_io::{File, Input, Job, Options, Replacement, Url, hash};
use mksum_sums::pieces::{Pieces, flat, is_name, write_metalink};
use mksum_sums::sum::{End, Style, line};
use mksum_sums::url::masked;
use std::fs;
use std::path::{Path, PathBuf};

/// How files are published.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Publish {
    /// The format of the root and the outboard.
    pub spec: Spec,
    /// The length of the subtrees that digests are kept of, in bytes; the usual one if none.
    pub unit: Option<u64>,
    /// Whether an outboard that is there may be replaced although the file seems to be damaged.
    pub changes: Changes,
    /// The folder that is written.
    pub folder: PathBuf,
    /// The addresses of that folder on web servers or in stores.
    pub mirrors: Vec<Url>,
}

impl Publish {
    /// Publishes roots of `spec` in `folder`, which `mirrors` will serve.
    pub fn new(spec: Spec, folder: PathBuf, mirrors: Vec<Url>) -> Publish {
        Publish { spec, unit: None, changes: Changes::Refuse, folder, mirrors }
    }
}

/// What was written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Published {
    /// The root of the file.
    pub root: Root,
    /// The outboard, the list with the file's root, the metalink, and the torrent of a file that is not empty.
    pub written: Vec<PathBuf>,
    /// The addresses of the file.
    pub mirrors: Vec<Url>,
    /// Whether the file itself is in the folder, too.
    pub has_file: bool,
}

/// Writes the outboard, sum, metalink and hybrid torrent of a file.
///
/// The file is read once for each: for the tree, the SHA-256, its pieces, and the pieces of version 2 and 1 of the torrent.
///
/// # Errors
/// If the file cannot be read, changes meanwhile, or has a name that a metalink or torrent cannot have; if a mirror's address has a
/// password, or the folder cannot be written.
pub fn publish(path: &Path, wanted: &Publish, options: &Options) -> Result<Published, Error> {
    let refuse = |why: &str| Err(Error::Refused(path.into(), why.into()));
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|name| is_name(name) && !name.contains(char::is_control)) else {
        return refuse(
            "metalinks and torrents need a name in UTF-8, without '\\' and control characters: rename the file",
        );
    };
    if let Some(url) = wanted.mirrors.iter().find(|url| masked(url.as_str()) != url.as_str()) {
        let why = "a mirror's address with a password, which everybody could read: give it without";
        return Err(Error::Refused(url.clone().into(), why.into()));
    }
    let before = File::open(path, options)?;
    let (len, identity) = (before.len(), before.identity());
    // The torrent counts its own.
    options.meter.expect(len * 3);
    fs::create_dir_all(&wanted.folder).map_err(|error| crate::error::write(&*wanted.folder, error))?;
    let beside = |extension: &str| wanted.folder.join(format!("{name}.{extension}"));
    let mirrors: Vec<_> = wanted.mirrors.iter().map(|folder| folder.join(name.as_ref())).collect();
    // Others read no addresses of stores.
    let web: Vec<_> = mirrors.iter().filter(|url| url.parts().0.starts_with("http")).cloned().collect();
    let outboard = beside(EXTENSION);
    let mut keeping = Keeping::new(KeptLayout::unit_of(&wanted.spec, wanted.unit), &outboard);
    keeping.changes = wanted.changes;
    let root = keep(before, &wanted.spec, &keeping)?.root;
    let metalink = metalink(path, name, &web, options)?;
    let torrent = match len {
        0 => None,
        _ => {
            let web_seeds = web.iter().map(|url| url.as_str().into()).collect();
            let torrent = NewTorrent { is_hybrid: true, web_seeds, ..NewTorrent::default() };
            Some(make_torrent(path, &torrent, options)?.bytes)
        }
    };
    let after = File::open(path, options)?;
    if (after.len(), after.identity()) != (len, identity) {
        return refuse("it changed while it was read: publish it again when nothing writes to it");
    }
    let sum = line(Style::Tagged, End::Newline, &root.spec().tag(), name.as_bytes(), &root.to_string());
    let mut written = vec![outboard];
    for (extension, bytes) in [("sum", Some(sum)), ("meta4", Some(metalink.into_bytes())), ("torrent", torrent)] {
        let Some(bytes) = bytes else { continue };
        let file = Replacement::create(&beside(extension))?;
        file.write_at(&bytes, 0)?;
        file.finish()?;
        written.push(beside(extension));
    }
    Ok(Published { root, written, mirrors, has_file: wanted.folder.join(name).exists() })
}

/// The metalink of a file, with its SHA-256 and that of its pieces.
fn metalink(path: &Path, name: &str, mirrors: &[Url], options: &Options) -> Result<String, Error> {
    let refuse = |why: String| Error::Refused(Input::from(path), why);
    let sha256: Spec = "sha256".parse().map_err(|error: mksum::SpecError| refuse(error.to_string()))?;
    let sum = hash(&Job::new(path.into(), vec![sha256]), options)?.remove(0)?;
    let piece = piece_of(sum.len());
    let pieces = match sum.len() {
        0 => None,
        len => {
            let flat = flat("sha256", piece).map_err(refuse)?;
            let digests = pieces(path, &flat, piece, None, options)?.digests;
            Some(Pieces::new(flat, (len, piece), digests).map_err(refuse)?)
        }
    };
    write_metalink(name, &sum, pieces.as_ref(), mirrors).map_err(refuse)
}
