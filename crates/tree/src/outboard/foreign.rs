//! Trees as other programs keep them: the outboards of Bao and iroh, the Merkle trees of fs-verity and dm-verity.

use super::{HEADER, Header, KeptLayout, OutboardError, ReadAt, SEALS};
use crate::formats::{FAMILIES, ForeignTree};
use crate::{Digest, Error, Hash, LengthError, Memory, Role, Root, Shape, Spec, Subtree};
use alloc::vec;
use alloc::vec::Vec;
use core::str::FromStr;

/// A tree that another program keeps: its format, and how its digests lie in a file.
///
/// It is parsed from a format, whose usual tree it is (`blake3` is Bao's), or from the extension of its files (`obao4`).
///
/// ```
/// use mksum::outboard::ForeignFormat;
///
/// let iroh: ForeignFormat = "obao4".parse()?;
/// assert_eq!((iroh.spec().to_string(), iroh.extension()), ("blake3".into(), "obao4"));
/// # Ok::<(), mksum::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFormat {
    spec: Spec,
    tree: ForeignTree,
}

impl ForeignFormat {
    /// The usual tree that another program keeps in a format: `bao` for `blake3`, `fsverity digest --out-merkle-tree` and
    /// `veritysetup format` for theirs.
    ///
    /// # Errors
    /// If no program keeps trees of this format.
    pub fn new(spec: &Spec) -> Result<ForeignFormat, Error> {
        match spec.family().foreign {
            [tree, ..] => Ok(ForeignFormat { spec: spec.clone(), tree: *tree }),
            [] => Err(OutboardError::NoForeign(spec.family().name).into()),
        }
    }

    /// The format of the tree.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The usual extension of such a file, behind the name of the file that the tree is over.
    pub fn extension(&self) -> &'static str {
        self.tree.extension()
    }

    /// The layout of the tree over `len` bytes.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn layout(&self, len: u64) -> Result<ForeignLayout, Error> {
        let spec = &self.spec;
        let kind = match self.tree {
            ForeignTree::Bao => Kind::Pairs { before: 8, unit: spec.leaf() },
            ForeignTree::Iroh => Kind::Pairs { before: 0, unit: 16 << 10 },
            ForeignTree::Fsverity => Kind::Levels { before: 0 },
            // The superblock takes a block.
            ForeignTree::Dmverity => Kind::Levels { before: spec.leaf().max(SUPERBLOCK as u64) },
        };
        spec.shape().check(len)?;
        if len == 0 && self.tree == ForeignTree::Dmverity {
            return Err(LengthError { len, rule: "at least one byte".into() }.into());
        }
        Ok(ForeignLayout { format: self.clone(), len, kind })
    }
}

impl FromStr for ForeignFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<ForeignFormat, Error> {
        let spec = text.parse::<Spec>();
        let named = FAMILIES.iter().find_map(|family| {
            let tree = family.foreign.iter().find(|tree| tree.extension() == text)?;
            Some((family.name, *tree))
        });
        match (spec, named) {
            (Ok(spec), _) => ForeignFormat::new(&spec),
            (Err(_), Some((name, tree))) => {
                Ok(ForeignFormat { spec: name.parse().map_err(OutboardError::Spec)?, tree })
            }
            (Err(error), None) => Err(OutboardError::Spec(error).into()),
        }
    }
}

/// The layout of a tree that another program keeps: the offset of the digest of each node but the root.
#[derive(Clone, Debug)]
pub struct ForeignLayout {
    format: ForeignFormat,
    len: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Pairs of digests in pre-order (the Bao specification, "Outboard encoding"; the crate bao-tree, "pre-order outboard").
    Pairs {
        /// The bytes before them: the length, or nothing.
        before: u64,
        /// The length of the subtrees that nothing is kept below, in bytes.
        unit: u64,
    },
    /// Blocks of digests, level by level, the highest first (Linux, Documentation/filesystems/fsverity.rst, "Merkle tree").
    Levels {
        /// The bytes before them.
        before: u64,
    },
}

/// The length of dm-verity's superblock, in bytes.
const SUPERBLOCK: usize = 512;
/// The magic number of a dm-verity superblock.
const SUPERBLOCK_MAGIC: &[u8; 8] = b"verity\0\0";

impl ForeignLayout {
    /// The layout of the usual tree over `len` bytes that another program keeps in a format.
    ///
    /// # Errors
    /// If no program keeps trees of this format, or the format has no root for this length.
    pub fn new(spec: &Spec, len: u64) -> Result<ForeignLayout, Error> {
        ForeignFormat::new(spec)?.layout(len)
    }

    /// The tree that it is the layout of.
    pub fn format(&self) -> &ForeignFormat {
        &self.format
    }

    /// The format of the tree.
    pub fn spec(&self) -> &Spec {
        &self.format.spec
    }

    /// The usual extension of such a file, behind the name of the file that the tree is over.
    pub fn extension(&self) -> &'static str {
        self.format.extension()
    }

    /// The length of the subtrees that no digests are kept below, in bytes.
    pub fn unit(&self) -> u64 {
        match self.kind {
            Kind::Pairs { unit, .. } => unit,
            Kind::Levels { .. } => self.spec().leaf(),
        }
    }

    /// The bytes that it takes.
    pub fn size(&self) -> u64 {
        match self.kind {
            Kind::Pairs { before, unit } => before + 64 * self.len.div_ceil(unit).saturating_sub(1),
            Kind::Levels { .. } => self.level(0),
        }
    }

    /// Returns the offset of the blocks that are the nodes at `level`: they follow all higher ones.
    fn level(&self, level: u32) -> u64 {
        let shape = self.spec().shape();
        let Kind::Levels { before } = self.kind else { return 0 };
        let levels = if self.len == 0 { 0 } else { shape.root(self.len).level };
        before + (level + 1..=levels).map(|above| self.len.div_ceil(shape.span(above))).sum::<u64>() * shape.leaf()
    }

    /// Returns the offset of the digest of `node`, in bytes from the start of the file; `None` for the root.
    pub fn place(&self, node: Subtree) -> Option<u64> {
        let shape = self.spec().shape();
        let root = (self.len > 0).then(|| shape.root(self.len)).filter(|&root| root != node)?;
        match (self.kind, shape) {
            (Kind::Levels { .. }, Shape::Even { leaf, arity, .. }) => {
                let index = node.start / shape.span(node.level);
                Some(self.level(node.level + 1) + index * (leaf / arity))
            }
            (Kind::Levels { .. }, _) => None,
            (Kind::Pairs { before, unit }, _) => {
                // The pairs before that of a right child's parent: its parent's, and all below its left neighbour.
                let (mut at, mut pair, mut place) = (root, 0, 0);
                while at != node {
                    if at.level <= node.level || shape.is_piece(at, unit) {
                        return None;
                    }
                    let (right, child) = shape.child_over(at, node);
                    place = before + 64 * pair + 32 * right;
                    let left = shape.children(at).next().map_or(0, |left| left.len.div_ceil(unit) - 1);
                    pair += 1 + right * left;
                    at = child;
                }
                Some(place)
            }
        }
    }

    /// The bytes before the first digest.
    ///
    /// `uuid` is dm-verity's name for the device of hashes, which nothing is derived from.
    pub fn head(&self, uuid: [u8; 16]) -> Vec<u8> {
        match self.kind {
            Kind::Pairs { before: 0, .. } | Kind::Levels { before: 0 } => Vec::new(),
            Kind::Pairs { .. } => self.len.to_le_bytes().into(),
            Kind::Levels { before } => {
                let (leaf, salt) = (self.spec().leaf() as u32, self.spec().salt());
                let mut head = SUPERBLOCK_MAGIC.to_vec();
                head.extend(1_u32.to_le_bytes());
                head.extend(1_u32.to_le_bytes());
                head.extend(uuid);
                head.extend(self.spec().hash().name().bytes());
                head.resize(64, 0);
                head.extend(leaf.to_le_bytes());
                head.extend(leaf.to_le_bytes());
                head.extend((self.len / u64::from(leaf)).to_le_bytes());
                head.extend((salt.len() as u16).to_le_bytes());
                head.resize(88, 0);
                head.extend(salt);
                head.resize(before as usize, 0);
                head
            }
        }
    }

    /// Refuses a tree of another size or of other choices.
    fn check(&self, bytes: &impl ReadAt) -> Result<(), Error> {
        if bytes.size() != self.size() {
            return Err(OutboardError::Size { expected: self.size(), found: bytes.size() }.into());
        }
        let mut expected = self.head([0; 16]);
        let mut found = vec![0; expected.len()];
        bytes.read_at(0, &mut found)?;
        // The device's name may be any, and the bytes after the superblock have no meaning.
        for head in [&mut expected, &mut found] {
            head.truncate(SUPERBLOCK);
            if let Some(uuid) = head.get_mut(16..32) {
                uuid.fill(0);
            }
        }
        if expected == found { Ok(()) } else { Err(OutboardError::Head.into()) }
    }
}

/// A foreign tree, read as if it were an outboard of this project: with every node down to the leaves.
///
/// [`Outboard::open`](super::Outboard::open) reads it. Its root is computed from the highest digests.
#[derive(Debug)]
pub struct Foreign<R> {
    layout: ForeignLayout,
    kept: KeptLayout,
    /// The header that it would have.
    header: Vec<u8>,
    /// The top digest, which is stored nowhere.
    top: Digest,
    bytes: R,
}

impl<R: ReadAt> Foreign<R> {
    /// Whether `bytes` begin as such a tree over a file of any length does; those of iroh and fs-verity begin with a digest, so never.
    pub fn is_begun(format: &ForeignFormat, bytes: &R) -> bool {
        let mut head = [0; 8];
        let begun = bytes.read_at(0, &mut head).is_ok();
        begun
            && match format.tree {
                ForeignTree::Bao => {
                    let layout = format.layout(u64::from_le_bytes(head));
                    layout.is_ok_and(|layout| layout.size() == bytes.size())
                }
                ForeignTree::Dmverity => head == *SUPERBLOCK_MAGIC,
                ForeignTree::Iroh | ForeignTree::Fsverity => false,
            }
    }

    /// Checks what of `bytes` can be checked without the file: the size and the bytes before the digests.
    ///
    /// # Errors
    /// As [`Foreign::open`], but a tree without digests is accepted.
    pub fn check(bytes: &R, layout: &ForeignLayout) -> Result<(), Error> {
        layout.check(bytes)
    }

    /// Reads `bytes` as the tree over a file.
    ///
    /// # Errors
    /// If it is not as long as the layout has it, or is of another length or format; if it has no digests, as of a file of
    /// a single leaf or chunk group, so that its root is not known.
    pub fn open(bytes: R, layout: ForeignLayout) -> Result<Self, Error> {
        layout.check(&bytes)?;
        let header = Header { spec: layout.spec().clone(), len: layout.len, unit: layout.unit(), identity: None };
        let kept = header.layout()?;
        let (top, root) = top(&layout, kept, &bytes)?;
        let mut page = header.encode()?;
        let seal = header.finished(root.digest())?;
        for place in SEALS.map(|place| place as usize) {
            page[place..place + seal.len()].copy_from_slice(&seal);
        }
        Ok(Foreign { layout, kept, header: page, top, bytes })
    }
}

/// The top digest of a foreign tree, and the root that is made of it.
fn top(layout: &ForeignLayout, kept: KeptLayout, bytes: &impl ReadAt) -> Result<(Digest, Root), Error> {
    let spec = layout.spec();
    let Some(root) = kept.root() else {
        let empty = spec.root_from(&Memory::new(&[]), 0)?;
        return Ok((empty.digest(), empty));
    };
    if kept.is_unit(root) {
        return Err(OutboardError::NoDigests.into());
    }
    let mut digests = Vec::new();
    for child in kept.children(root) {
        let mut digest = vec![0; spec.hash().size()];
        bytes.read_at(layout.place(child).expect("it is not the root"), &mut digest)?;
        digests.push(Digest::new(&digest));
    }
    let top = spec.parent(root, digests, Role::Root);
    Ok((top, spec.seal(top, layout.len)))
}

impl<R: ReadAt> Foreign<R> {
    /// Reads the digest of `node`, which is kept at `place`.
    ///
    /// Levels also keep digests below a unit, where the node has a single child. An outboard has no place for them, so a unit
    /// whose digest is not that of its child's is damaged: its bits are then inverted, which its parent's check finds.
    fn read_kept(&self, node: Subtree, place: u64, digest: &mut [u8]) -> Result<(), Error> {
        self.bytes.read_at(place, digest)?;
        if matches!(self.layout.kind, Kind::Levels { .. }) && self.kept.is_unit(node) {
            let (mut parent, mut found, shape) = (node, Digest::new(digest), self.kept.shape());
            while let Some(child) = shape.children(parent).next()
                && let Some(place) = self.layout.place(child)
            {
                let mut below = [0; Hash::MAX_SIZE];
                let below = &mut below[..digest.len()];
                self.bytes.read_at(place, below)?;
                let below = Digest::new(below);
                if self.layout.spec().parent(parent, [below], Role::Inner) != found {
                    digest.iter_mut().for_each(|byte| *byte = !*byte);
                    break;
                }
                (parent, found) = (child, below);
            }
        }
        Ok(())
    }
}

impl<R: ReadAt> ReadAt for Foreign<R> {
    fn read_at(&self, offset: u64, mut buffer: &mut [u8]) -> Result<(), Error> {
        let mut offset = offset;
        if offset < HEADER {
            let now = buffer.len().min((HEADER - offset) as usize);
            let (head, rest) = buffer.split_at_mut(now);
            head.copy_from_slice(&self.header[offset as usize..][..now]);
            (buffer, offset) = (rest, offset + now as u64);
        }
        let size = self.top.as_bytes().len() as u64;
        let (mut skip, mut digest) = ((offset.saturating_sub(HEADER) % size) as usize, [0; Hash::MAX_SIZE]);
        let mut nodes = self.kept.post_order(offset.saturating_sub(HEADER) / size);
        while !buffer.is_empty() {
            let node = nodes.next().ok_or(OutboardError::Short { size: self.size() })?;
            let digest = &mut digest[..size as usize];
            match self.layout.place(node) {
                Some(place) => self.read_kept(node, place, digest)?,
                None => digest.copy_from_slice(self.top.as_bytes()),
            }
            let now = (digest.len() - skip).min(buffer.len());
            let (head, rest) = buffer.split_at_mut(now);
            head.copy_from_slice(&digest[skip..][..now]);
            (buffer, skip) = (rest, 0);
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        HEADER + self.kept.count() * self.top.as_bytes().len() as u64
    }
}
