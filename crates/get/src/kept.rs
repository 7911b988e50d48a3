//! The outboard of the file, from anywhere: nothing of it is used that does not lead up to the trusted root.

use crate::error::Error;
use mksum::outboard::{Checked, Foreign, ForeignFormat, HEADER, Header, Outboard, OutboardError, ReadAt};
use mksum_io::outboard::{Stored, opened};
use mksum_io::{Ahead, File, Input, Options, Verified, check_room, open_bytes_from};
use mksum_sums::expected::Expected;
use std::env;
use std::io::{self, ErrorKind, Read};

/// An outboard of any kind, which all threads share with the digests that were checked last.
pub type Tree = Checked<'static, Box<dyn ReadAt + Send>>;

/// What is at the place of an outboard.
pub enum Found {
    /// The outboard: each of its digests was compared with the one above it, up to the trusted root.
    Right(Box<Tree>),
    /// An outboard of another root in a format of the trusted one: that root, as text.
    Other(String),
    /// Nothing, or an outboard in another format, of which the trusted root says nothing.
    Nothing,
}

/// Fetches an outboard, and checks all of it.
///
/// # Errors
/// If it cannot be read, is damaged, or would not fit on the disk.
pub fn fetch(place: &Input, expected: &Expected, len: Option<u64>, options: &Options) -> Result<Found, Error> {
    let Some(mut reader) = there(place, options)? else { return Ok(Found::Nothing) };
    let wrong = |error: OutboardError| Error::Io(mksum_io::Error::from_outboard(error, place));
    let mut head = [0; HEADER as usize];
    match reader.read_exact(&mut head) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(wrong(OutboardError::Magic));
        }
        read => read.map_err(|error| mksum_io::Error::Read { path: place.clone(), offset: 0, error })?,
    }
    let header = Header::decode(&head).map_err(wrong)?;
    let size = header.size().map_err(wrong)?;
    // The root is in the head: whatever follows is not even fetched if it is another one.
    let root = opened(Head { head, size }, place)?.root();
    if !expected.is_of(root.spec(), root.len())
        || len.is_some_and(|len| len != root.len())
        || header.unit > Verified::LONGEST
    {
        return Ok(Found::Nothing);
    }
    if !expected.matches(&root) {
        return Ok(Found::Other(root.to_string()));
    }
    check_room(&env::temp_dir().join("outboard"), size)?;
    let stored = Stored::copied(place, &mut head.chain(reader), size)?;
    right(opened(Box::new(stored) as Box<dyn ReadAt + Send>, place)?, place)
}

/// Fetches a tree that another program keeps of a file of `len` bytes, and checks all of it.
///
/// # Errors
/// If it cannot be read, is not the tree of such a file, is damaged, or would not fit on the disk.
pub fn fetch_foreign(
    place: &Input,
    (expected, format, len): (&Expected, &ForeignFormat, u64),
    options: &Options,
) -> Result<Found, Error> {
    let wrong = |error: mksum::Error| Error::Io(mksum_io::Error::from_outboard(error, place));
    if !expected.is_of(format.spec(), len) {
        return Ok(Found::Nothing);
    }
    let layout = format.layout(len).map_err(wrong)?;
    let Some(mut reader) = there(place, options)? else { return Ok(Found::Nothing) };
    check_room(&env::temp_dir().join("outboard"), layout.size())?;
    let stored = Stored::copied(place, &mut reader, layout.size())?;
    if io::copy(&mut reader.take(1), &mut io::sink()).is_ok_and(|more| more > 0) {
        let (expected, found) = (layout.size(), layout.size() + 1);
        return Err(wrong(OutboardError::Size { expected, found }.into()));
    }
    let foreign = match Foreign::open(stored, layout) {
        // Of a file that is a single leaf or chunk group.
        Err(mksum::Error::Source(error)) if error.downcast_ref() == Some(&OutboardError::NoDigests) => {
            return Ok(Found::Nothing);
        }
        foreign => foreign.map_err(wrong)?,
    };
    let outboard = opened(Box::new(foreign) as Box<dyn ReadAt + Send>, place)?;
    match expected.matches(&outboard.root()) {
        true => right(outboard, place),
        false => Ok(Found::Other(outboard.root().to_string())),
    }
}

/// The length of the file that the first mirror has which answers.
pub fn length(mirrors: &[Input], options: &Options) -> Option<u64> {
    mirrors.iter().find_map(|mirror| File::open_part(mirror.clone(), 0..1, options).ok()).map(|file| file.len())
}

/// The bytes at the place of an outboard, if something is there.
fn there(place: &Input, options: &Options) -> Result<Option<Box<dyn Read + Send>>, Error> {
    // What comes ahead of the check of the root would be for nothing if that is another one, and lie in memory until it is copied.
    match open_bytes_from(place, 0, Ahead::No, options) {
        Err(mksum_io::Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
        reader => Ok(Some(reader?)),
    }
}

fn right(outboard: Outboard<Box<dyn ReadAt + Send>>, place: &Input) -> Result<Found, Error> {
    let tree = Tree::owning(outboard);
    check(&tree).map_err(|error| mksum_io::Error::from_outboard(error, place))?;
    Ok(Found::Right(Box::new(tree)))
}

/// Compares each digest with the one above it.
fn check(tree: &Tree) -> Result<(), mksum::Error> {
    let (outboard, layout) = (tree.outboard(), tree.outboard().layout());
    match layout.root() {
        None if outboard.spec().root(b"")? != outboard.root() => Err(OutboardError::Seals.into()),
        None => Ok(()),
        Some(root) => layout.units_under(root).try_for_each(|unit| tree.trusted(unit).map(drop)),
    }
}

/// The head of an outboard whose digests have not come.
struct Head {
    head: [u8; HEADER as usize],
    size: u64,
}

impl ReadAt for Head {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), mksum::Error> {
        self.head.as_slice().read_at(offset, buffer)
    }

    fn size(&self) -> u64 {
        self.size
    }
}
