//! The kept tree: the digests of a file's nodes, beside the file.
//!
//! With them a changed byte is found without reading the other bytes, and what is damaged has a place and not only a
//! name. An [`Outboard`] is read at random from anything that is [`ReadAt`]; [`Checked`] makes a [`Subtrees`] source of
//! it, which hands out no digest that was not checked against its parent's, from the root down. [`Telling`] is how one is
//! written while a join runs, and [`Outboard::damaged`] how a file is held against one. `spec/outboard.md` has the bytes.
//!
//! ```
//! use mksum::{Outboard, Spec};
//!
//! // A file of 1000 bytes, its tree kept down to leaves of 100.
//! let spec: Spec = "rfc6962:sha256:100".parse()?;
//! let mut file = vec![7; 1000];
//! let kept = mksum::keep(&spec, 100, &file)?;
//! let outboard = Outboard::open(kept)?;
//! assert_eq!(outboard.root(), spec.root(&file)?);
//!
//! // One byte of the fourth leaf changes.
//! file[345] = 8;
//! let found = outboard.damaged_in(&file)?;
//! assert_eq!((found[0].start, found[0].end()), (300, 400));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checked;
mod damage;
mod diff;
mod foreign;
mod header;
mod inspect;
mod kept;
mod tell;
mod write;

pub use checked::Checked;
pub use damage::Damage;
pub use foreign::{Foreign, Layout};
pub use header::{HEADER, Header, Identity};
pub use kept::{Kept, PostOrder};
pub use tell::Telling;
pub use write::{Begun, SEALS, keep};

use crate::{Error, LengthError, Root, Spec, SpecError, Subtree};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use header::Seal;

/// Bytes that can be read at any offset: memory, a file.
pub trait ReadAt: Sync {
    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// If they cannot be read, or end before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// How many bytes there are.
    fn size(&self) -> u64;
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let from = usize::try_from(offset).ok().and_then(|from| self.get(from..)?.get(..buffer.len()));
        buffer.copy_from_slice(from.ok_or_else(|| Error::from(OutboardError::Short { size: self.size() }))?);
        Ok(())
    }

    fn size(&self) -> u64 {
        self.len() as u64
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        self.as_slice().read_at(offset, buffer)
    }

    fn size(&self) -> u64 {
        self.len() as u64
    }
}

impl<R: ReadAt + ?Sized> ReadAt for Box<R> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        (**self).read_at(offset, buffer)
    }

    fn size(&self) -> u64 {
        (**self).size()
    }
}

impl<R: ReadAt + ?Sized> ReadAt for &R {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        (**self).read_at(offset, buffer)
    }

    fn size(&self) -> u64 {
        (**self).size()
    }
}

/// The kept nodes of one file, with the root that they belong to.
///
/// It is as true as its root: compare [`Outboard::root`] with one that you trust.
#[derive(Clone, Debug)]
pub struct Outboard<R> {
    header: Header,
    kept: Kept,
    root: Vec<u8>,
    bytes: R,
}

impl<R: ReadAt> Outboard<R> {
    /// Reads the header of a finished outboard.
    ///
    /// # Errors
    /// If it is none, is not finished, is not as long as it says, or a byte of what its header tells was changed.
    pub fn open(bytes: R) -> Result<Self, Error> {
        let (header, seals) = open(&bytes)?;
        let kept = header.kept()?;
        let done = seals.iter().map(|(_, seal)| seal.done).max().ok_or(OutboardError::Seals)?;
        if done != kept.count() {
            return Err(OutboardError::Unfinished { done, count: kept.count() }.into());
        }
        let size = header.spec.hash().size();
        let expected = HEADER + kept.count() * size as u64;
        if bytes.size() != expected {
            return Err(OutboardError::Size { expected, found: bytes.size() }.into());
        }
        let seal = seals.iter().find(|(_, seal)| seal.done == done).expect("the one with the most digests");
        let root = seal.1.value[..size].to_vec();
        Ok(Outboard { header, kept, root, bytes })
    }

    /// What it says of its file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The format of the tree.
    pub fn spec(&self) -> &Spec {
        &self.header.spec
    }

    /// The length of the file, in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.header.len
    }

    /// Which nodes are kept.
    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// The root of the file.
    pub fn root(&self) -> Root {
        self.header.spec.sealed(self.header.len, self.root.clone())
    }

    /// The digest that is stored for a kept node, unchecked; `None` if the node is not kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn stored<const N: usize>(&self, node: Subtree) -> Result<Option<[u8; N]>, Error> {
        let Some(place) = self.kept.place(node) else { return Ok(None) };
        let (mut digest, size) = ([0; N], self.size());
        self.bytes.read_at(HEADER + place * size as u64, &mut digest[..size])?;
        Ok(Some(digest))
    }

    /// The bytes of a digest.
    pub(crate) fn size(&self) -> usize {
        self.header.spec.hash().size()
    }
}

/// The header of an outboard, finished or not, and its whole seals.
fn open(bytes: &impl ReadAt) -> Result<(Header, Vec<(usize, Seal)>), Error> {
    let mut page = [0; HEADER as usize];
    let there = bytes.size().min(HEADER) as usize;
    bytes.read_at(0, &mut page[..there])?;
    if there < page.len() {
        // What is no outboard at all is told so, however short.
        let begun = page[..there.min(8)] == header::MAGIC[..there.min(8)];
        let short = OutboardError::Short { size: bytes.size() };
        return Err(if begun { short } else { OutboardError::Magic }.into());
    }
    Ok((Header::decode(&page)?, Seal::decode(&page)))
}

/// Why bytes are no outboard, or not one to be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutboardError {
    /// They do not begin as one.
    Magic,
    /// They are of a version that this program does not know.
    Version(u32),
    /// They end within the header.
    Short {
        /// How many there are.
        size: u64,
    },
    /// The header was changed.
    Checksum,
    /// Both copies of the root were changed.
    Seals,
    /// The header's checksum is right, and still a field makes no sense.
    Field(&'static str),
    /// The format is none.
    Spec(SpecError),
    /// The format has no root for the file's length.
    Length(LengthError),
    /// No subtree of this format is so long, in bytes.
    Unit(u64),
    /// More digests than a file can hold.
    TooMany(u64),
    /// It has not all of its digests yet.
    Unfinished {
        /// Those that it has.
        done: u64,
        /// Those that it is to have.
        count: u64,
    },
    /// It is shorter or longer than its header says.
    Size {
        /// In bytes.
        expected: u64,
        /// In bytes.
        found: u64,
    },
    /// It is of another format than one that it was to be compared with.
    Formats {
        /// The one's.
        ours: String,
        /// The other's.
        theirs: String,
    },
    /// No other program keeps trees of this format.
    NoForeign(&'static str),
    /// What another program wrote before the digests is of another length or format.
    Head,
    /// A tree of another program that has no digests: the only one is the root.
    NoDigests,
    /// The digests of this node's children do not make this node's.
    Node(Subtree),
}

impl fmt::Display for OutboardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutboardError::Magic => f.write_str("this is no outboard: it does not begin as one"),
            OutboardError::Version(version) => {
                write!(f, "an outboard of version {version}: this program reads version {}", header::VERSION)
            }
            OutboardError::Short { size } => write!(f, "the outboard ends at byte {size}, within what should be there"),
            OutboardError::Checksum => f.write_str("the outboard's header is damaged: its checksum differs"),
            OutboardError::Seals => f.write_str("the outboard is damaged: neither copy of its root is whole"),
            OutboardError::Field(field) => write!(f, "the outboard's header makes no sense: {field}"),
            OutboardError::Spec(error) => write!(f, "the outboard's format: {error}"),
            OutboardError::Length(error) => write!(f, "the outboard's length: {error}"),
            OutboardError::Unit(unit) => write!(f, "this format has no subtrees of {unit} bytes to keep"),
            OutboardError::TooMany(count) => write!(f, "{count} digests are more than a file can hold"),
            OutboardError::Unfinished { done, count } => {
                write!(f, "the outboard is not finished: it has {done} of {count} digests")
            }
            OutboardError::Size { expected, found } => {
                write!(f, "the outboard should have {expected} bytes and has {found}")
            }
            OutboardError::Formats { ours, theirs } => {
                write!(f, "outboards of different formats cannot be compared: {ours} and {theirs}")
            }
            OutboardError::NoForeign(name) => {
                write!(f, "no other program keeps trees of {name}: those of blake3, fsverity and dmverity are known")
            }
            OutboardError::Head => {
                f.write_str("this tree is of a file of another length, or of another format or salt")
            }
            OutboardError::NoDigests => {
                f.write_str("this tree has no digests: the file is a single leaf, whose only digest is the root")
            }
            OutboardError::Node(node) => write!(
                f,
                "the outboard is damaged: the digests below bytes {}..{} do not make the one above them",
                node.start,
                node.end()
            ),
        }
    }
}

impl core::error::Error for OutboardError {}

impl From<OutboardError> for Error {
    fn from(error: OutboardError) -> Self {
        Error::Source(Box::new(error))
    }
}
