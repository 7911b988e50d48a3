//! The outboard of the file, from anywhere: nothing of it is used that does not lead up to the trusted root.

use crate::error::Error;
use mksum::outboard::{Checked, HEADER, Header, Outboard, OutboardError, ReadAt};
use mksum_io::outboard::{Stored, opened};
use mksum_io::{Input, Options, Verified, check_room, open_bytes};
use mksum_sums::expected::Expected;
use std::env;
use std::io::{ErrorKind, Read};

/// What is at the place of an outboard.
pub enum Found {
    /// The outboard: each of its digests was compared with the one above it, up to the trusted root.
    Right(Box<Outboard<Stored>>),
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
    let mut reader = match open_bytes(place, options) {
        Err(mksum_io::Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        reader => reader?,
    };
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
    let outboard = opened(stored, place)?;
    check(&outboard).map_err(|error| mksum_io::Error::from_outboard(error, place))?;
    Ok(Found::Right(Box::new(outboard)))
}

/// Compares each digest with the one above it.
fn check<R: ReadAt>(outboard: &Outboard<R>) -> Result<(), mksum::Error> {
    let (layout, checked) = (outboard.layout(), Checked::new(outboard));
    match layout.root() {
        None if outboard.spec().root(b"")? != outboard.root() => Err(OutboardError::Seals.into()),
        None => Ok(()),
        Some(root) => layout.units_under(root).try_for_each(|unit| checked.trusted(unit).map(drop)),
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
