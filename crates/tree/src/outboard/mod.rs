//! The kept tree: the digests of a file's nodes, beside the file.
//!
//! With them a changed byte is found without reading the other bytes, and damage has a place and not only a name. An
//! [`Outboard`] is read at random from anything that is [`ReadAt`]; [`Checked`] makes a [`Subtrees`](crate::Subtrees) source
//! of it, which checks every digest against its parent's, from the root down, before it hands it out. [`Observed`] writes
//! one while a join runs, and [`Outboard::damaged`] compares a file with one. `spec/outboard.md` describes the bytes.
//!
//! ```
//! use mksum::Spec;
//! use mksum::outboard::{Outboard, keep};
//!
//! // A file of 1000 bytes, its tree kept down to leaves of 100.
//! let spec: Spec = "rfc6962:sha256:100".parse()?;
//! let mut file = vec![7; 1000];
//! let outboard = Outboard::open(keep(&spec, 100, &file)?)?;
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
mod error;
mod foreign;
mod header;
mod inspect;
mod layout;
mod observe;
mod partial;
mod sequence;

pub use checked::Checked;
pub use damage::Damage;
pub use error::OutboardError;
pub use foreign::{Foreign, ForeignFormat, ForeignLayout};
pub use header::{HEADER, Header, Identity, MAGIC};
pub use layout::{KeptLayout, PostOrder};
pub use observe::Observed;
pub use partial::{PartialOutboard, SEALS, keep, keep_from};
pub use sequence::Sequence;

use crate::{Digest, Error, Root, Spec, Subtree};
use alloc::boxed::Box;
use alloc::vec::Vec;
use header::Seal;

/// Bytes that can be read at any offset: memory, a file.
pub trait ReadAt: Sync {
    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// If they cannot be read, or end before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// The total number of bytes.
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
/// It proves as much as its root: compare [`Outboard::root`] with one that you trust.
#[derive(Clone, Debug)]
pub struct Outboard<R> {
    header: Header,
    layout: KeptLayout,
    root: Digest,
    bytes: R,
}

impl<R: ReadAt> Outboard<R> {
    /// Reads the header of a finished outboard.
    ///
    /// # Errors
    /// If it is not an outboard, is unfinished, has another length than its header says, or its header was changed.
    pub fn open(bytes: R) -> Result<Self, Error> {
        let (header, seals) = open(&bytes)?;
        let layout = header.layout()?;
        let done = seals.iter().map(|(_, seal)| seal.done).max().ok_or(OutboardError::Seals)?;
        if done != layout.count() {
            return Err(OutboardError::Unfinished { done, count: layout.count() }.into());
        }
        let size = header.spec.hash().size();
        let expected = header.size()?;
        if bytes.size() != expected {
            return Err(OutboardError::Size { expected, found: bytes.size() }.into());
        }
        let seal = seals.iter().find(|(_, seal)| seal.done == done).expect("the one with the most digests");
        let root = Digest::new(&seal.1.value[..size]);
        Ok(Outboard { header, layout, root, bytes })
    }

    /// The facts about its file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The format of the tree.
    pub fn spec(&self) -> &Spec {
        &self.header.spec
    }

    /// The length of the file, in bytes.
    #[allow(clippy::len_without_is_empty)] // An outboard of an empty file is not empty.
    pub fn len(&self) -> u64 {
        self.header.len
    }

    /// The layout of the kept nodes.
    pub fn layout(&self) -> KeptLayout {
        self.layout
    }

    /// The root of the file.
    pub fn root(&self) -> Root {
        Root::new(self.header.spec.clone(), self.header.len, self.root)
    }

    /// The bytes that it is read from.
    pub fn bytes(&self) -> &R {
        &self.bytes
    }

    /// Whether the root is made of this digest at the top of the tree.
    fn is_top(&self, digest: Digest) -> bool {
        self.header.spec.nodes().seal(digest, self.header.len) == self.root
    }

    /// The digest that is stored for a kept node, unchecked; `None` if the node is not kept.
    ///
    /// # Errors
    /// If it cannot be read.
    fn stored(&self, node: Subtree) -> Result<Option<Digest>, Error> {
        let Some(place) = self.layout.place(node) else { return Ok(None) };
        let mut digest = Digest::zero(self.size());
        self.bytes.read_at(HEADER + place * self.size() as u64, digest.as_mut())?;
        Ok(Some(digest))
    }

    /// The size of a digest, in bytes.
    fn size(&self) -> usize {
        self.header.spec.hash().size()
    }
}

/// The header of an outboard, finished or not, and its whole seals.
fn open(bytes: &impl ReadAt) -> Result<(Header, Vec<(usize, Seal)>), Error> {
    let mut page = [0; HEADER as usize];
    let there = bytes.size().min(HEADER) as usize;
    bytes.read_at(0, &mut page[..there])?;
    if there < page.len() {
        // A file that is not an outboard at all is reported as such, however short.
        let begun = page[..there.min(8)] == header::MAGIC[..there.min(8)];
        let short = OutboardError::Short { size: bytes.size() };
        return Err(if begun { short } else { OutboardError::Magic }.into());
    }
    Ok((Header::decode(&page)?, Seal::decode(&page)))
}
