//! Torrents made of files: v2 (BEP 52), with SHA-1 pieces hybrid (BEP 3, BEP 47).

use crate::error::Error;
use mksum::outboard::{Checked, Outboard, ReadAt};
use mksum::{Digest, Messages, Role, Root, Spec, Subtree, Subtrees};
use mksum_io::outboard::{EXTENSION, is_unchanged, open};
use mksum_io::{Entries, EntryKind, File, Input, KEPT_FOLDER, Options, Skip, hash_pieces, path_from_bytes};
use mksum_sums::pieces::bencode::Made;
use mksum_sums::pieces::is_name;
use mksum_sums::url::percent_encode;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The pieces that a torrent has, at most, if no length is chosen.
const PIECES: u64 = 2048;
/// The lengths of pieces, in bytes: the shortest that BEP 52 allows, and the longest and shortest that are chosen.
const BLOCK: u64 = 16 << 10;
const SHORT: u64 = 32 << 10;
const LONG: u64 = 16 << 20;

/// A torrent to be made.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NewTorrent {
    /// The length of a piece, in bytes: a power of two from 16 KiB on; chosen if none.
    pub piece: Option<u64>,
    /// Whether programs that know version 1 alone can use it, too.
    pub is_hybrid: bool,
    /// Whether peers are taken from the tracker alone (BEP 27).
    pub is_private: bool,
    /// The addresses of the file, or of the folder that has the directory (BEP 19).
    pub web_seeds: Vec<String>,
    /// The address of the tracker.
    pub announce: Option<String>,
}

/// A torrent that was made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MadeTorrent {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The info-hash of version 1, in hex, of a hybrid.
    pub v1: Option<Root>,
    /// The info-hash of version 2, in hex.
    pub v2: Root,
    /// The link of both (BEP 9, and BEP 52, "magnet links").
    pub magnet: String,
    /// The number of files.
    pub files: u64,
    /// The length of all files, in bytes.
    pub len: u64,
    /// The length of a piece, in bytes.
    pub piece: u64,
    /// The number of files whose pieces were taken from their kept trees.
    pub kept: u64,
    /// The entries of the directory that are no files, and are left out.
    pub left_out: Vec<PathBuf>,
}

/// A file of a torrent.
struct Entry {
    names: Vec<String>,
    place: PathBuf,
    len: u64,
}

/// Makes the torrent of a file, or of all files in a directory but mksum's own.
///
/// The pieces of version 2 are taken from the file's kept tree, if that is in `btv2` and as old as the file; others are hashed.
///
/// # Errors
/// If a file cannot be read, changes meanwhile, or has a name that no torrent has; if there is none.
pub fn make_torrent(input: &Path, wanted: &NewTorrent, options: &Options) -> Result<MadeTorrent, Error> {
    let refuse = |why: String| Err(Error::Refused(input.into(), why));
    let Some(name) = Input::from(input).name().and_then(|name| name.to_str().map(String::from)) else {
        return refuse("a torrent needs a name in UTF-8".into());
    };
    let (entries, left_out) = entries(input, &name)?;
    let len: u64 = entries.iter().map(|entry| entry.len).sum();
    if len == 0 {
        return refuse("no bytes: a torrent needs a file that is not empty".into());
    }
    let piece = wanted.piece.unwrap_or_else(|| piece_of(len));
    if !piece.is_power_of_two() || piece < BLOCK {
        return refuse(format!("pieces of {piece} bytes: expected a power of two from 16 KiB on"));
    }
    options.meter.expect(len);
    let is_single = input.is_file();
    let (v2, v1) = (spec("btv2")?, spec(&format!("s3:sha1:{piece}"))?);
    let (mut tree, mut layers) = (BTreeMap::new(), BTreeMap::new());
    let (mut files, mut sums, mut kept) = (Vec::new(), Vec::new(), 0);
    for (index, entry) in entries.iter().enumerate() {
        let mut facts = Made::dict([("length", Made::Integer(entry.len))]);
        let mut padding = 0;
        if entry.len > 0 {
            let found = pieces(&entry.place, &v2, piece, wanted.is_hybrid.then_some(&v1), options)?;
            if found.root.len() != entry.len {
                let how = format!("it had {} bytes and has {} now", entry.len, found.root.len());
                return Err(mksum_io::Error::Changed { path: (&entry.place).into(), how }.into());
            }
            kept += u64::from(found.is_kept);
            let root = found.root.digest().as_bytes().to_vec();
            if entry.len > piece {
                layers.insert(root.clone(), Made::Bytes(found.digests));
            }
            facts.set("pieces root", Made::Bytes(root));
            if wanted.is_hybrid {
                let mut digests = found.flat;
                if index + 1 < entries.len() {
                    padding = entry.len.next_multiple_of(piece) - entry.len;
                }
                if padding > 0 {
                    digests.truncate(digests.len() - 20);
                    digests.extend(padded(entry, &v1, piece)?.as_bytes());
                }
                sums.extend(digests);
            }
        }
        let path = entry.names.iter().map(|name| Made::text(name)).collect();
        files.push(Made::dict([("length", Made::Integer(entry.len)), ("path", Made::List(path))]));
        if padding > 0 {
            files.push(Made::dict([
                ("attr", Made::text("p")),
                ("length", Made::Integer(padding)),
                ("path", Made::List(vec![Made::text(".pad"), Made::text(&padding.to_string())])),
            ]));
        }
        insert(&mut tree, &entry.names, Made::dict([("", facts)]));
    }
    let mut info = Made::dict([
        ("file tree", Made::Dict(tree)),
        ("meta version", Made::Integer(2)),
        ("name", Made::text(&name)),
        ("piece length", Made::Integer(piece)),
    ]);
    if wanted.is_private {
        info.set("private", Made::Integer(1));
    }
    if wanted.is_hybrid {
        info.set("pieces", Made::Bytes(sums));
        match is_single {
            true => info.set("length", Made::Integer(len)),
            false => info.set("files", Made::List(files)),
        }
    }
    let hashed = |format: &str| -> Result<Root, Error> {
        let spec = spec(format)?;
        spec.root(&info.encode()).map_err(|error| mksum_io::Error::from_join(error, input, &spec).into())
    };
    let (v1, v2) = (wanted.is_hybrid.then(|| hashed("sha1")).transpose()?, hashed("sha256")?);
    let mut magnet = String::from("magnet:?");
    if let Some(v1) = &v1 {
        magnet += &format!("xt=urn:btih:{v1}&");
    }
    magnet += &format!("xt=urn:btmh:1220{v2}&dn=");
    percent_encode(name.as_bytes(), &mut magnet);
    let mut outer =
        Made::dict([("created by", Made::text("mksum")), ("info", info), ("piece layers", Made::Dict(layers))]);
    if let Some(announce) = &wanted.announce {
        outer.set("announce", Made::text(announce));
        magnet += "&tr=";
        percent_encode(announce.as_bytes(), &mut magnet);
    }
    if !wanted.web_seeds.is_empty() {
        outer.set("url-list", Made::List(wanted.web_seeds.iter().map(|url| Made::text(url)).collect()));
        for url in &wanted.web_seeds {
            magnet += "&ws=";
            percent_encode(url.as_bytes(), &mut magnet);
        }
    }
    Ok(MadeTorrent { bytes: outer.encode(), v1, v2, magnet, files: entries.len() as u64, len, piece, kept, left_out })
}

/// The length of a piece of `len` bytes, if none is chosen.
pub fn piece_of(len: u64) -> u64 {
    len.div_ceil(PIECES).next_power_of_two().clamp(SHORT, LONG)
}

fn spec(text: &str) -> Result<Spec, Error> {
    text.parse().map_err(|error: mksum::SpecError| Error::Refused(Input::Stdin, error.to_string()))
}

/// The files in the order of the tree, and what is left out.
fn entries(input: &Path, name: &str) -> Result<(Vec<Entry>, Vec<PathBuf>), Error> {
    let of = |place: &Path| fs::metadata(place).map_err(|error| mksum_io::Error::Open { path: place.into(), error });
    let metadata = of(input)?;
    if !metadata.is_dir() {
        return Ok((vec![Entry { names: vec![name.into()], place: input.into(), len: metadata.len() }], Vec::new()));
    }
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    let skip: Skip = Box::new(|path: &[u8], _: &dyn Fn() -> PathBuf, _: &_| path == KEPT_FOLDER.as_bytes());
    for entry in Entries::of(input, skip)? {
        let entry = entry.map_err(|unlisted| unlisted.error)?;
        match entry.facts.kind {
            EntryKind::Directory => continue,
            EntryKind::File if is_outboard(&entry.place) => continue,
            EntryKind::File => {}
            EntryKind::Link | EntryKind::Special => {
                left_out.extend(path_from_bytes(&entry.path));
                continue;
            }
        }
        let names: Option<Vec<_>> =
            str::from_utf8(&entry.path).ok().map(|path| path.split('/').map(String::from).collect());
        match names.filter(|names| names.iter().all(|name| is_name(name))) {
            Some(names) => files.push(Entry { names, len: of(&entry.place)?.len(), place: entry.place }),
            None => {
                return Err(Error::Refused(
                    (&entry.place).into(),
                    "its name is not one that a torrent can have".into(),
                ));
            }
        }
    }
    files.sort_by(|one, other| one.names.cmp(&other.names));
    Ok((files, left_out))
}

/// Whether a file is an outboard of mksum beside another one.
fn is_outboard(place: &Path) -> bool {
    place.extension().is_some_and(|extension| extension == EXTENSION) && open(place).is_ok()
}

/// The pieces of a file.
pub struct Found {
    root: Root,
    /// A digest for each piece, left to right.
    pub digests: Vec<u8>,
    /// A digest for each piece in the second format, left to right; none without one.
    flat: Vec<u8>,
    is_kept: bool,
}

/// The pieces of a file that is not empty: from its kept tree, or hashed; in the format `flat` always hashed, in the same read.
pub fn pieces(place: &Path, spec: &Spec, piece: u64, flat: Option<&Spec>, options: &Options) -> Result<Found, Error> {
    let file = File::open(place, options)?;
    let kept = Input::from(place).with_extension(EXTENSION);
    let old = kept.file().and_then(|kept| open(kept).ok());
    if let Some(old) =
        old.filter(|old| old.spec() == spec && old.header().unit <= piece && is_unchanged(&file, old.header()))
    {
        let (root, digests) =
            layer(&old, &file, piece).map_err(|error| mksum_io::Error::from_outboard(error, &kept))?;
        let flat = match flat {
            Some(flat) => hash_pieces(file, flat, piece, None)?.digests,
            None => {
                options.meter.skip(file.len());
                Vec::new()
            }
        };
        return Ok(Found { root, digests, flat, is_kept: true });
    }
    let found = hash_pieces(file, spec, piece, flat)?;
    Ok(Found { root: found.root, digests: found.digests, flat: found.flat, is_kept: false })
}

/// The root of an outboard, and the digests of its nodes at the level of pieces, left to right.
fn layer<R: ReadAt>(outboard: &Outboard<R>, file: &File, piece: u64) -> Result<(Root, Vec<u8>), mksum::Error> {
    let spec = outboard.spec();
    let level = (piece / spec.leaf()).ilog2();
    let above = Above { checked: Checked::new(outboard), file, level, digests: Mutex::default() };
    let root = spec.root_from(&above, outboard.len())?;
    if root != outboard.root() {
        return Err(mksum::outboard::OutboardError::Seals.into());
    }
    Ok((root, above.digests.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// The nodes at the level of pieces, and none above them, so that a join asks for each.
struct Above<'a, R> {
    checked: Checked<'a, R>,
    file: &'a File,
    level: u32,
    digests: Mutex<Vec<u8>>,
}

impl<R: ReadAt> Subtrees for Above<'_, R> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        if node.level > self.level {
            return Ok(None);
        }
        // Of a tree with a short end, the last unit can be a node above the piece: then the piece itself is read.
        let digest = match spec.join(&self.checked, node, role) {
            Err(mksum::Error::Missing(_)) => spec.join(self.file, node, role)?,
            digest => digest?,
        };
        self.digests.lock().unwrap_or_else(PoisonError::into_inner).extend(digest.as_bytes());
        Ok(Some(digest))
    }
}

/// The sum of the last piece of a file, with zeros behind it.
fn padded(entry: &Entry, spec: &Spec, piece: u64) -> Result<Digest, Error> {
    let start = (entry.len - 1) / piece * piece;
    let fail = |error| mksum_io::Error::Read { path: (&entry.place).into(), offset: start, error };
    let mut file = fs::File::open(&entry.place).map_err(fail)?;
    file.seek(SeekFrom::Start(start)).map_err(fail)?;
    let mut bytes = Vec::new();
    let (mut left, mut hasher) = (piece, spec.leaf_hasher(&[Subtree { start, len: piece, level: 0 }]));
    let mut reader = file.take(entry.len - start).chain(std::io::repeat(0));
    while left > 0 {
        bytes.resize(left.min(1 << 20) as usize, 0);
        reader.read_exact(&mut bytes).map_err(fail)?;
        hasher.update(Messages::one(&bytes));
        left -= bytes.len() as u64;
    }
    Ok(hasher.finish_one(Role::Inner))
}

/// Inserts a file at its path into a tree of dictionaries.
fn insert(tree: &mut BTreeMap<Vec<u8>, Made>, names: &[String], file: Made) {
    let [name, below @ ..] = names else { return };
    if below.is_empty() {
        tree.insert(name.clone().into(), file);
        return;
    }
    if let Made::Dict(inner) = tree.entry(name.clone().into()).or_insert_with(|| Made::Dict(BTreeMap::new())) {
        insert(inner, below, file);
    }
}
