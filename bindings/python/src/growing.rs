//! Bytes that are hashed as they come, and all at once.

use mksum::ordered::ordered;
use mksum::{
    Digest, Digests, Error, Frontier, LeafHasher, MAX_LEN, Memory, Messages, NeedsLength, Plan, Role, Root, Shape,
    Spec, Subtree, Subtrees,
};
use std::sync::LazyLock;
use std::thread::available_parallelism;

use crate::spec::is_sum;

/// Threads are worth their start for at least this many bytes each: 50 µs of hashing and more.
const SHARE: u64 = 512 << 10;
/// The bytes that a thread is given at once, about: they stay in its second-level cache.
const PIECE: u64 = 256 << 10;
/// The pieces that are begun before the first of them is taken, for each thread.
const AHEAD: usize = 4;

static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, |cores| cores.get()));

/// The threads for `len` bytes in memory.
fn threads(len: u64) -> usize {
    if len < 2 * SHARE { 1 } else { usize::try_from(len / SHARE).unwrap_or(usize::MAX).min(*CORES) }
}

/// How a tree over `len` bytes in memory is cut for threads.
fn plan(spec: &Spec, len: u64) -> Plan {
    let shape = spec.shape();
    let (leaf, lanes) = (shape.leaf(), spec.hash().lanes() as u64);
    let (piece, group) = match shape {
        Shape::Even { .. } if leaf <= PIECE => (shape.batch(PIECE).max(leaf), 1),
        // Long leaves side by side: as many as there are lanes, if every thread has some then.
        _ => (leaf, len.div_ceil(leaf).div_ceil(threads(len) as u64).clamp(1, lanes.max(PIECE / leaf)) as usize),
    };
    Plan { threads: threads(len), piece, group }
}

/// The root of bytes in memory.
pub fn root(spec: &Spec, bytes: &[u8]) -> Result<Root, Error> {
    let len = bytes.len() as u64;
    if is_sum(spec) || len <= spec.leaf() {
        return spec.root(bytes);
    }
    let plan = plan(spec, len);
    match plan.threads {
        1 if plan.group == 1 => spec.root(bytes),
        _ => spec.root_parallel(&Memory::new(bytes), len, &plan),
    }
}

/// The digest of `node`, a subtree of a tree over `len` bytes, from its bytes.
pub fn subtree(spec: &Spec, len: u64, node: Subtree, bytes: &[u8]) -> Result<Digest, Error> {
    let plan = plan(spec, node.len);
    spec.join_parallel(&Memory::from(node.start, bytes), node, spec.role(len, node), &plan)
}

/// The bytes so far, hashed into one state.
#[derive(Clone)]
pub enum Growing {
    /// The hash of all bytes, and their number.
    Sum(Spec, LeafHasher, u64),
    /// A tree.
    Tree(Box<Frontier>),
}

impl Growing {
    /// Before the first byte.
    pub fn new(spec: &Spec) -> Result<Self, NeedsLength> {
        match is_sum(spec) {
            true => Ok(Growing::Sum(spec.clone(), spec.leaf_hasher(&[0]), 0)),
            false => spec.frontier().map(|frontier| Growing::Tree(Box::new(frontier))),
        }
    }

    /// Appends bytes; those of trees on all cores if they are many.
    pub fn update(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Growing::Sum(spec, hasher, len) => {
                let all = *len + bytes.len() as u64;
                spec.shape().check(all)?;
                hasher.update(Messages::one(bytes));
                *len = all;
                Ok(())
            }
            Growing::Tree(frontier) => append(frontier, bytes),
        }
    }

    /// The bytes so far.
    pub fn position(&self) -> u64 {
        match self {
            Growing::Sum(_, _, len) => *len,
            Growing::Tree(frontier) => frontier.position(),
        }
    }

    /// The root of the bytes so far.
    pub fn root(&self) -> Result<Root, Error> {
        match self {
            Growing::Sum(spec, hasher, len) => Ok(spec.seal(hasher.clone().finish_one(Role::Root), *len)),
            Growing::Tree(frontier) => frontier.root(),
        }
    }
}

/// Appends bytes to a tree: those under whole subtrees are hashed on all cores and pushed in order.
fn append(frontier: &mut Frontier, bytes: &[u8]) -> Result<(), Error> {
    let (spec, position, len) = (frontier.spec().clone(), frontier.position(), bytes.len() as u64);
    let Some(unit) = spec.shape().unit(Frontier::BUFFER) else { return frontier.update(bytes) };
    let head = position.next_multiple_of(unit.len).saturating_sub(position);
    // The last unit stays in the frontier: it may end the input.
    let units = len.saturating_sub(head + 1) / unit.len;
    let lanes = spec.hash().lanes() as u64;
    // One unit at a time fills the lanes, unless it is one leaf.
    let group = if unit.level > 0 { 1 } else { lanes.max(PIECE / unit.len) };
    if position + len > MAX_LEN || units == 0 || (units < 2 * group && threads(units * unit.len) == 1) {
        return frontier.update(bytes);
    }
    frontier.update(&bytes[..head as usize])?;
    let start = position + head;
    let (whole, tail) = bytes[head as usize..].split_at((units * unit.len) as usize);
    let memory = Memory::from(start, whole);
    let threads = threads(units * unit.len);
    let group = group.min(units.div_ceil(threads as u64));
    let groups = (0..units).step_by(group as usize).map(|first| first..(first + group).min(units));
    let at = |index: u64| Subtree { start: start + index * unit.len, ..unit };
    let hash = |(): &mut (), group: std::ops::Range<u64>| {
        let nodes: Vec<_> = group.clone().map(at).collect();
        let mut digests = Digests::new(spec.hash().size());
        memory.digests(&spec, &nodes, &mut digests).map(|()| (nodes, digests))
    };
    ordered(
        threads,
        threads * AHEAD,
        groups,
        || (),
        hash,
        |results| {
            for result in results {
                let (nodes, digests) = result?;
                for (node, digest) in nodes.into_iter().zip(digests.iter()) {
                    frontier.push(node, digest)?;
                }
            }
            Ok::<_, Error>(())
        },
    )?;
    frontier.update(tail)
}
