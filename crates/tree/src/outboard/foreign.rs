//! Trees as other programs keep them: Bao's outboard, the Merkle trees of fs-verity and dm-verity.

use super::{HEADER, Header, Kept, OutboardError, ReadAt, SEALS};
use crate::{Error, Format, Hash, NodeHash, Role, Shape, Spec, Subtree, Visitor};
use alloc::vec;
use alloc::vec::Vec;

/// Where a foreign tree has the digest of each node but the root.
#[derive(Clone, Debug)]
pub struct Layout {
    spec: Spec,
    len: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The length, then pairs of digests in pre-order (the Bao specification, "Outboard encoding").
    Bao,
    /// Blocks of digests, level by level, the highest first (Linux, Documentation/filesystems/fsverity.rst, "Merkle tree").
    Levels {
        /// The bytes before them.
        before: u64,
    },
}

/// The length of dm-verity's superblock, in bytes.
const SUPERBLOCK: usize = 512;

impl Layout {
    /// How the format's own program keeps the tree over `len` bytes: `bao` for `blake3`, `fsverity digest
    /// --out-merkle-tree` and `veritysetup format` for theirs.
    ///
    /// # Errors
    /// If no program keeps trees of this format, or the format has no root for this length.
    pub fn new(spec: &Spec, len: u64) -> Result<Layout, Error> {
        let kind = match spec.family().name {
            "blake3" => Kind::Bao,
            "fsverity" => Kind::Levels { before: 0 },
            // The superblock takes a block.
            "dmverity" => Kind::Levels { before: spec.leaf().max(SUPERBLOCK as u64) },
            name => return Err(OutboardError::NoForeign(name).into()),
        };
        spec.shape().check(len)?;
        if len == 0 && spec.family().name == "dmverity" {
            return Err(crate::LengthError { len, rule: "at least one byte".into() }.into());
        }
        Ok(Layout { spec: spec.clone(), len, kind })
    }

    /// The name that such a tree usually has behind the file's.
    pub fn extension(&self) -> &'static str {
        match self.spec.family().name {
            "blake3" => "obao",
            "fsverity" => "fsverity",
            _ => "verity",
        }
    }

    /// The bytes that it takes.
    pub fn size(&self) -> u64 {
        let shape = self.spec.shape();
        match self.kind {
            Kind::Bao => 8 + 64 * self.len.div_ceil(shape.leaf()).saturating_sub(1),
            Kind::Levels { .. } => self.level(0),
        }
    }

    /// Where the blocks that are the nodes at `level` begin: behind all higher ones.
    fn level(&self, level: u32) -> u64 {
        let shape = self.spec.shape();
        let Kind::Levels { before } = self.kind else { return 0 };
        let levels = if self.len == 0 { 0 } else { shape.root(self.len).level };
        before + (level + 1..=levels).map(|above| self.len.div_ceil(shape.span(above))).sum::<u64>() * shape.leaf()
    }

    /// Where the digest of `node` is, in bytes from the beginning; `None` for the root.
    pub fn place(&self, node: Subtree) -> Option<u64> {
        let shape = self.spec.shape();
        let root = (self.len > 0).then(|| shape.root(self.len)).filter(|&root| root != node)?;
        match (self.kind, shape) {
            (Kind::Levels { .. }, Shape::Even { leaf, arity, .. }) => {
                let index = node.start / shape.span(node.level);
                Some(self.level(node.level + 1) + index * (leaf / arity))
            }
            _ => {
                // The pairs before that of a right child's parent: its parent's, and all below its left neighbour.
                let (mut at, mut pair, mut place) = (root, 0, 0);
                while at != node {
                    if at.level <= node.level {
                        return None;
                    }
                    let (right, child) = shape.child_over(at, node);
                    place = 8 + 64 * pair + 32 * right;
                    let left = shape.children(at).next().map_or(0, |left| left.len.div_ceil(shape.leaf()) - 1);
                    pair += 1 + right * left;
                    at = child;
                }
                Some(place)
            }
        }
    }

    /// What stands before the first digest.
    ///
    /// `uuid` is dm-verity's name for the device of hashes, which nothing is derived from.
    pub fn head(&self, uuid: [u8; 16]) -> Vec<u8> {
        match self.kind {
            Kind::Bao => self.len.to_le_bytes().into(),
            Kind::Levels { before: 0 } => Vec::new(),
            Kind::Levels { before } => {
                let (leaf, salt) = (self.spec.leaf() as u32, self.spec.salt());
                let mut head = b"verity\0\0".to_vec();
                head.extend(1_u32.to_le_bytes());
                head.extend(1_u32.to_le_bytes());
                head.extend(uuid);
                head.extend(self.spec.hash().name().bytes());
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
        // The device's name may be any; behind the superblock nothing is said.
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
/// [`Outboard::open`](super::Outboard::open) reads it. Where nothing tells the root, it is what the highest digests make.
#[derive(Debug)]
pub struct Foreign<R> {
    layout: Layout,
    kept: Kept,
    /// The header that it would have.
    header: Vec<u8>,
    /// The top digest, which is stored nowhere.
    top: Vec<u8>,
    bytes: R,
}

impl<R: ReadAt> Foreign<R> {
    /// Reads `bytes` as the tree over a file.
    ///
    /// # Errors
    /// If it is not as long as the layout has it, or is of another length or format; if it has no digests, as of a file of
    /// a single leaf, and so cannot tell the root.
    pub fn open(bytes: R, layout: Layout) -> Result<Self, Error> {
        layout.check(&bytes)?;
        let header = Header { spec: layout.spec.clone(), len: layout.len, unit: layout.spec.leaf(), identity: None };
        let kept = header.kept()?;
        let (top, root) = layout.spec.visit(Top { layout: &layout, kept, bytes: &bytes })?;
        let mut page = header.encode()?;
        let seal = header.finished(&root)?;
        for place in SEALS.map(|place| place as usize) {
            page[place..place + seal.len()].copy_from_slice(&seal);
        }
        Ok(Foreign { layout, kept, header: page, top, bytes })
    }
}

/// The top digest of a foreign tree, and the root that is made of it.
struct Top<'a, R> {
    layout: &'a Layout,
    kept: Kept,
    bytes: &'a R,
}

impl<R: ReadAt> Visitor for Top<'_, R> {
    type Output = Result<(Vec<u8>, Vec<u8>), Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
        let size = self.layout.spec.hash().size();
        let Some(root) = self.kept.root() else {
            let empty = format.root(&crate::Memory::new(&[]), 0)?;
            return Ok((empty[..size].into(), empty[..size].into()));
        };
        if self.kept.is_unit(root) {
            return Err(OutboardError::NoDigests.into());
        }
        let mut digests = Vec::new();
        for child in self.kept.children(root) {
            let mut digest = [0; D];
            self.bytes.read_at(self.layout.place(child).expect("it is not the root"), &mut digest[..size])?;
            digests.push(digest);
        }
        digests.extend(format.padding(root));
        let top = format.nodes.parent(&digests, Role::Root);
        let root = format.nodes.seal(top, self.layout.len);
        Ok((top[..size].into(), root[..size].into()))
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
        let size = self.top.len() as u64;
        let (mut skip, mut digest) = ((offset.saturating_sub(HEADER) % size) as usize, [0; Hash::MAX_SIZE]);
        let mut nodes = self.kept.post_order(offset.saturating_sub(HEADER) / size);
        while !buffer.is_empty() {
            let node = nodes.next().ok_or(OutboardError::Short { size: self.size() })?;
            let digest = &mut digest[..size as usize];
            match self.layout.place(node) {
                Some(place) => self.bytes.read_at(place, digest)?,
                None => digest.copy_from_slice(&self.top),
            }
            let now = (digest.len() - skip).min(buffer.len());
            let (head, rest) = buffer.split_at_mut(now);
            head.copy_from_slice(&digest[skip..][..now]);
            (buffer, skip) = (rest, 0);
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        HEADER + self.kept.count() * self.top.len() as u64
    }
}
