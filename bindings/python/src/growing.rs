//! Bytes that are hashed as they come, and all at once.

use crate::spec::is_sum;
use mksum::{
    Cover, Digest, Digests, Error, Frontier, LeafHasher, MAX_LEN, Memory, Messages, NeedsLength, Role, Root, Shape,
    Spec, Subtree, Subtrees,
};
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

/// Threads are worth their start for at least this many bytes each, about a millisecond of hashing: on a busy machine a thread may
/// begin that late, and short inputs are never to be slower than on one thread.
const SHARE: u64 = 4 << 20;
/// The bytes that a thread is given at once, about: they stay in its second-level cache.
const PIECE: u64 = 256 << 10;

static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, |cores| cores.get()));

/// The threads for `len` bytes in memory.
fn threads(len: u64) -> usize {
    if len < 2 * SHARE { 1 } else { usize::try_from(len / SHARE).unwrap_or(usize::MAX).min(*CORES) }
}

/// How a tree over `len` bytes in memory is cut: the length of a piece in bytes, and the pieces that are hashed side by side.
fn cut(spec: &Spec, len: u64) -> (u64, usize) {
    let shape = spec.shape();
    let (leaf, lanes) = (shape.leaf(), spec.hash().lanes() as u64);
    match shape {
        Shape::Even { .. } if leaf <= PIECE => (shape.batch(PIECE).max(leaf), 1),
        // Long leaves side by side: as many as there are lanes, if every thread has some then.
        _ => (leaf, len.div_ceil(leaf).div_ceil(threads(len) as u64).clamp(1, lanes.max(PIECE / leaf)) as usize),
    }
}

/// The digests of subtrees that follow one another, `group` of them side by side, on as many threads as pay.
///
/// The calling thread works like the others, which end with the call, so that a process can fork afterwards.
fn digests(spec: &Spec, memory: &Memory<'_>, nodes: &[Subtree], group: usize) -> Result<Vec<(Subtree, Digest)>, Error> {
    let len = nodes.iter().map(|node| node.len).sum();
    let (groups, next) = (nodes.chunks(group).collect::<Vec<_>>(), AtomicUsize::new(0));
    let work = || {
        let mut done = Vec::new();
        while let Some(nodes) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut digests = Digests::new(spec.hash().size());
            done.push(memory.digests(spec, nodes, &mut digests).map(|()| (*nodes, digests)));
        }
        done
    };
    let done = thread::scope(|scope| {
        let helpers = (1..threads(len).min(groups.len()))
            // With fewer threads than asked for, those do all the work.
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect::<Vec<_>>();
        let mut done = work();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    let mut known = Vec::with_capacity(nodes.len());
    for result in done {
        let (nodes, digests) = result?;
        known.extend(nodes.iter().copied().zip(digests.iter()));
    }
    known.sort_unstable_by_key(|(node, _)| (node.start, node.len));
    Ok(known)
}

/// The root of bytes in memory.
pub fn root(spec: &Spec, bytes: &[u8]) -> Result<Root, Error> {
    let len = bytes.len() as u64;
    if is_sum(spec) || len <= spec.leaf() {
        return spec.root(bytes);
    }
    let (piece, group) = cut(spec, len);
    if threads(len) == 1 && group == 1 {
        return spec.root(bytes);
    }
    let pieces: Vec<_> = spec.plan(len, piece)?.collect();
    match pieces[..] {
        [_] => spec.root(bytes),
        _ => spec.root_from(&digests(spec, &Memory::new(bytes), &pieces, group)?, len),
    }
}

/// The digest of a hash object over bytes in memory.
pub fn digest(spec: &Spec, bytes: &[u8]) -> Result<Digest, Error> {
    match is_sum(spec) {
        true => Ok(spec.leaf_digest(0, bytes, Role::Root)),
        false => Ok(root(spec, bytes)?.digest()),
    }
}

/// The digest of `node`, a subtree of a tree over `len` bytes, from its bytes.
pub fn subtree(spec: &Spec, len: u64, node: Subtree, bytes: &[u8]) -> Result<Digest, Error> {
    let (memory, (piece, group)) = (Memory::from(node.start, bytes), cut(spec, node.len));
    let pieces: Vec<_> = Cover::new(spec.shape(), node, piece).collect();
    match pieces[..] {
        [_] => spec.join(&memory, node, spec.role(len, node)),
        _ => spec.join(&digests(spec, &memory, &pieces, group)?, node, spec.role(len, node)),
    }
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
    // One unit at a time fills the lanes, unless it is one leaf.
    let group = if unit.level > 0 { 1 } else { (spec.hash().lanes() as u64).max(PIECE / unit.len) };
    let threads = threads(units * unit.len);
    if position + len > MAX_LEN || units < 2 || (threads == 1 && group == 1) {
        return frontier.update(bytes);
    }
    frontier.update(&bytes[..head as usize])?;
    let start = position + head;
    let (whole, tail) = bytes[head as usize..].split_at((units * unit.len) as usize);
    let nodes: Vec<_> = (0..units).map(|index| Subtree { start: start + index * unit.len, ..unit }).collect();
    let group = group.min(units.div_ceil(threads as u64)) as usize;
    for (node, digest) in digests(&spec, &Memory::from(start, whole), &nodes, group)? {
        frontier.push(node, digest)?;
    }
    frontier.update(tail)
}
