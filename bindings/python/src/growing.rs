//! Bytes that are hashed as they come, and all at once.

use crate::spec::is_sum;
use crate::watched::{CHUNK, Watched, go_on};
use mksum::ordered::ordered;
use mksum::{
    Digest, Digests, Error, Frontier, KeyedBlake3, LeafHasher, MAX_LEN, Memory, Messages, NeedsLength, Plan, Role,
    Root, Spec, Subtree, Subtrees,
};
use mksum_io::{Stop, available_threads};

/// How a tree over `len` bytes in memory is cut for threads and lanes.
fn cut(spec: &Spec, len: u64) -> Plan {
    Plan::in_memory(spec, len, available_threads())
}

/// The root of bytes in memory, or an error after a stop.
pub fn root(spec: &Spec, bytes: &[u8], stop: &Stop) -> Result<Root, Error> {
    let len = bytes.len() as u64;
    if is_sum(spec) && bytes.len() > CHUNK {
        let mut growing = Growing::new(spec)?;
        growing.update(bytes, stop)?;
        return growing.root();
    }
    if is_sum(spec) || len <= spec.leaf().min(CHUNK as u64) {
        return spec.root(bytes);
    }
    match cut(spec, len) {
        Plan { threads: 1, group: 1, .. } if bytes.len() <= CHUNK => spec.root(bytes),
        plan => spec.root_parallel(&Watched { start: 0, bytes, stop }, len, &plan),
    }
}

/// The digest of a hash object over bytes in memory.
pub fn digest(spec: &Spec, bytes: &[u8]) -> Result<Digest, Error> {
    match is_sum(spec) {
        true => Ok(spec.leaf_digest(0, bytes, Role::Root)),
        false if bytes.len() as u64 <= Memory::BATCH => spec.root_digest(bytes),
        false => Ok(root(spec, bytes, &Stop::default())?.digest()),
    }
}

/// The digest of `node`, a subtree of a tree over `len` bytes, from its bytes; or an error after a stop.
pub fn subtree(spec: &Spec, len: u64, node: Subtree, bytes: &[u8], stop: &Stop) -> Result<Digest, Error> {
    let source = Watched { start: node.start, bytes, stop };
    spec.join_parallel(&source, node, spec.role(len, node), &cut(spec, node.len))
}

/// The bytes so far, hashed into one state.
#[derive(Clone)]
pub enum Growing {
    /// The hash of all bytes, and their number.
    Sum(Spec, LeafHasher, u64),
    /// A tree.
    Tree(Box<Frontier>),
    /// BLAKE3 with a key, or a derived key; and the number of bytes.
    Keyed(Spec, KeyedBlake3, u64),
}

impl Growing {
    /// Before the first byte.
    pub fn new(spec: &Spec) -> Result<Self, NeedsLength> {
        match is_sum(spec) {
            true => Ok(Growing::Sum(spec.clone(), spec.leaf_hasher(&[spec.shape().root(0)]), 0)),
            false => spec.frontier().map(|frontier| Growing::Tree(Box::new(frontier))),
        }
    }

    /// Appends bytes; those of trees on all cores if they are many. After an error or a stop only some of them may be appended.
    pub fn update(&mut self, bytes: &[u8], stop: &Stop) -> Result<(), Error> {
        match self {
            Growing::Sum(spec, hasher, len) => {
                let all = *len + bytes.len() as u64;
                spec.shape().check(all)?;
                for chunk in bytes.chunks(CHUNK) {
                    go_on(stop)?;
                    hasher.update(Messages::one(chunk));
                }
                *len = all;
                Ok(())
            }
            Growing::Tree(frontier) => append(frontier, bytes, stop),
            Growing::Keyed(spec, hash, len) => {
                let all = *len + bytes.len() as u64;
                spec.shape().check(all)?;
                for chunk in bytes.chunks(CHUNK) {
                    go_on(stop)?;
                    hash.update(chunk);
                }
                *len = all;
                Ok(())
            }
        }
    }

    /// The bytes so far.
    pub fn position(&self) -> u64 {
        match self {
            Growing::Sum(_, _, len) | Growing::Keyed(_, _, len) => *len,
            Growing::Tree(frontier) => frontier.position(),
        }
    }

    /// The root of the bytes so far.
    pub fn root(&self) -> Result<Root, Error> {
        match self {
            Growing::Sum(spec, hasher, len) => Ok(spec.seal(hasher.clone().finish_one(Role::Root), *len)),
            Growing::Tree(frontier) => frontier.root(),
            Growing::Keyed(spec, hash, len) => Ok(spec.seal(Digest::new(&hash.clone().finish()), *len)),
        }
    }
}

/// Appends bytes to a tree: those under whole subtrees are hashed on all cores and pushed in order.
fn append(frontier: &mut Frontier, bytes: &[u8], stop: &Stop) -> Result<(), Error> {
    let in_order = |frontier: &mut Frontier, bytes: &[u8]| {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            go_on(stop)?;
            frontier.update(chunk)
        })
    };
    let (spec, position, len) = (frontier.spec().clone(), frontier.position(), bytes.len() as u64);
    let Some(unit) = spec.shape().unit(Frontier::BUFFER) else { return in_order(frontier, bytes) };
    let head = position.next_multiple_of(unit.len).saturating_sub(position);
    // The last unit stays in the frontier: it may end the input.
    let units = len.saturating_sub(head + 1) / unit.len;
    let Plan { threads, piece, group } = cut(&spec, units * unit.len);
    let group = match group as u64 * (piece / unit.len) {
        // One unit at a time fills the lanes, unless it is one leaf.
        group if unit.level > 0 => group.max(1),
        group => group.max(spec.hash().lanes() as u64),
    };
    if position + len > MAX_LEN || units < 2 || (threads == 1 && group == 1) {
        return in_order(frontier, bytes);
    }
    in_order(frontier, &bytes[..head as usize])?;
    let start = position + head;
    let (whole, tail) = bytes[head as usize..].split_at((units * unit.len) as usize);
    let nodes: Vec<_> = (0..units).map(|index| Subtree { start: start + index * unit.len, ..unit }).collect();
    let group = group.min(units.div_ceil(threads as u64)) as usize;
    let source = Watched { start, bytes: whole, stop };
    ordered(
        threads,
        4 * threads,
        nodes.chunks(group),
        || (),
        |(), nodes| {
            let mut digests = Digests::new(spec.hash().size());
            source.digests(&spec, nodes, &mut digests).map(|()| (nodes, digests))
        },
        |results| {
            for result in results {
                let (nodes, digests) = result?;
                for (&node, digest) in nodes.iter().zip(digests.iter()) {
                    frontier.push(node, digest)?;
                }
            }
            Ok::<(), Error>(())
        },
    )?;
    in_order(frontier, tail)
}
