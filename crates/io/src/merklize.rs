//! Node trees from files to files, a subtree in memory at a time.

use crate::jobs::Stream;
use crate::open::{Opened, Waiting, open_with};
use crate::platform::widen_pipe;
use crate::replacement::Replacement;
use crate::stream::Bytes;
use crate::{Error, File, Input, Options, Refusal};
use mksum::Hash;
use mksum::node_tree::{Aligned, Merklize, NodeTree, NodeTreeError};
use std::fs;
use std::path::Path;

/// The source of a node tree's leaves.
#[derive(Clone, Copy, Debug)]
pub enum Leaves<'a> {
    /// A file; or the standard input or a pipe, whose bytes are held in memory.
    At(&'a Input),
    /// [Random](random) ones.
    Random {
        /// The seed of the sequence.
        seed: u64,
        /// The length of the leaves, in bytes.
        len: u64,
    },
}

/// A node tree that was computed.
#[derive(Clone, Debug)]
pub struct Merklized {
    /// The number of leaves.
    pub leaves: u64,
    /// The root: a digest of the hash.
    pub root: Vec<u8>,
}

/// Fills `out` with the bytes from `offset` on of an endless sequence: the numbers of SplitMix64 with this seed, the least
/// byte first (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014, figure 16).
///
/// # Panics
/// If `offset` is not a multiple of 8.
pub fn random(seed: u64, offset: u64, out: &mut [u8]) {
    assert!(offset.is_multiple_of(8), "numbers of 8 bytes");
    for (word, index) in out.chunks_mut(8).zip(offset / 8 + 1..) {
        let mut z = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..word.len()]);
    }
}

/// Leaves that are in memory at once, in bytes, at most; and as much of nodes.
const TILE: u64 = 64 << 20;

/// Computes all nodes over leaves on `device`, and writes them to `output`, if there is one, in [`NodeTree`]'s heap order: all
/// of them, or no file at all.
///
/// # Errors
/// If the leaves cannot be read, change meanwhile, or are not 2^k digests; if the device fails; if the nodes cannot be
/// written. Then nothing is left behind.
pub fn merklize(
    leaves: Leaves<'_>,
    hash: Hash,
    device: &dyn Merklize,
    output: Option<&Path>,
    options: &Options,
) -> Result<Merklized, Error> {
    let (input, source) = match leaves {
        Leaves::Random { seed, len } => (Input::place("random leaves"), Held::Random { seed, len }),
        Leaves::At(input) => (input.clone(), held(input, options)?),
    };
    if let (Held::File(file), Some(output)) = (&source, output) {
        // A file that is named twice is not meant to be overwritten.
        let same = |path| fs::canonicalize(path).ok();
        if file.input().file().and_then(same).is_some_and(|leaves| same(output) == Some(leaves)) {
            return Err(Error::refused(output, Refusal::Input));
        }
    }
    let tiled = Tiled { source: &source, input: &input, hash, device, options };
    let output = output.map(Replacement::create).transpose()?;
    let done = tiled.run(output.as_ref())?;
    if let Held::File(file) = source {
        file.finish()?;
    }
    output.map_or(Ok(()), Replacement::finish)?;
    Ok(done)
}

/// Leaves that can be had from any offset on.
enum Held {
    File(Box<File>),
    Memory(Aligned),
    Random { seed: u64, len: u64 },
}

impl Held {
    /// The length of the leaves, in bytes.
    fn len(&self) -> u64 {
        match self {
            Held::File(file) => file.len(),
            Held::Memory(bytes) => bytes.len() as u64,
            Held::Random { len, .. } => *len,
        }
    }
}

fn held(input: &Input, options: &Options) -> Result<Held, Error> {
    match open_with(input, None, Waiting::ForWriter, options)? {
        Opened::File(file) => Ok(Held::File(file)),
        Opened::Stream(stream) => Ok(Held::Memory(read_all(stream, input, options)?)),
    }
}

/// All bytes of a stream: only its end shows how many leaves there are.
fn read_all(mut stream: fs::File, input: &Input, options: &Options) -> Result<Aligned, Error> {
    widen_pipe(&stream);
    let (mut stream, mut bytes) = (Stream::new(&mut stream, input, options), Aligned::default());
    loop {
        // Twice as much as there is: memory is asked for as bytes come.
        let (filled, more) = (bytes.len(), bytes.len().max(1 << 20));
        let refuse = |_| Error::refused(input, Refusal::Memory((filled + more) as u64));
        bytes.try_resize(filled + more).map_err(refuse)?;
        let got = stream.fill(&mut bytes[filled..])?;
        if got < more {
            bytes.try_resize(filled + got).map_err(refuse)?;
            return Ok(bytes);
        }
    }
}

/// A tree that is cut into equal subtrees.
struct Tiled<'a> {
    source: &'a Held,
    input: &'a Input,
    hash: Hash,
    device: &'a dyn Merklize,
    options: &'a Options,
}

impl Tiled<'_> {
    fn run(&self, output: Option<&Replacement>) -> Result<Merklized, Error> {
        let (size, bytes) = (self.hash.size() as u64, self.source.len());
        let whole = usize::try_from(bytes).map_err(|_| Error::refused(self.input, Refusal::Memory(bytes)))?;
        let tree = NodeTree::over(self.hash, whole).map_err(|error| self.fail(error))?;
        let leaves = (tree.leaves() as u64).min(1 << (TILE / size).ilog2());
        let (tile, tiles) = ((leaves * size) as usize, tree.leaves() / leaves as usize);
        let (mut below, mut nodes) = (self.zeros(tile)?, self.zeros(tile)?);
        let mut roots = self.zeros(tiles * size as usize)?;
        for (at, root) in (0..tiles).zip(roots.chunks_exact_mut(size as usize)) {
            let leaves = self.leaves((at * tile) as u64, &mut below)?;
            self.device.merklize(self.hash, leaves, &mut nodes).map_err(|error| self.fail(error))?;
            root.copy_from_slice(&nodes[size as usize..2 * size as usize]);
            if let Some(output) = output.filter(|_| tiles > 1) {
                for (own, place) in tree.tile_places(tiles, at) {
                    output.write_at(&nodes[own], place)?;
                }
            }
        }
        if tiles == 1 {
            output.map_or(Ok(()), |output| output.write_at(&nodes, 0))?;
            return Ok(Merklized { leaves: tree.leaves() as u64, root: roots.to_vec() });
        }
        let mut top = self.zeros(roots.len())?;
        self.device.merklize(self.hash, &roots, &mut top).map_err(|error| self.fail(error))?;
        output.map_or(Ok(()), |output| output.write_at(&top, 0))?;
        Ok(Merklized { leaves: tree.leaves() as u64, root: top[size as usize..2 * size as usize].into() })
    }

    /// The leaves of the tile that begins at byte `start`, in `memory` or where they are.
    fn leaves<'a>(&'a self, start: u64, memory: &'a mut [u8]) -> Result<&'a [u8], Error> {
        match self.source {
            Held::Memory(bytes) => return Ok(&bytes[start as usize..][..memory.len()]),
            Held::File(file) => file.fill(start, memory)?,
            Held::Random { seed, .. } => {
                random(*seed, start, memory);
                self.options.meter.add(memory.len() as u64);
            }
        }
        Ok(memory)
    }

    /// `len` zero bytes.
    fn zeros(&self, len: usize) -> Result<Aligned, Error> {
        Aligned::zeroed(len).map_err(|_| Error::refused(self.input, Refusal::Memory(len as u64)))
    }

    fn fail(&self, error: NodeTreeError) -> Error {
        Error::Nodes { path: self.input.clone(), error }
    }
}
