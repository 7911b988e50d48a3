//! One type for the nodes of all formats, with room for the longest digest: see [`Visitor::visit`](crate::Visitor::visit).

use crate::framed::padded;
use crate::{Blake3, Framed, NodeHash, Pairs, Role};
use alloc::vec::Vec;
use mksum_lanes::Messages;

/// The nodes of some format. Digests are followed by zeros.
#[derive(Clone, Debug)]
pub(crate) enum Wide {
    Framed(Framed<64>),
    Blake3(Blake3),
    Pairs(Pairs<64>),
}

/// Leaves being hashed.
#[derive(Clone)]
pub(crate) enum Leaves {
    Framed(<Framed<64> as NodeHash>::Leaves),
    Blake3(<Blake3 as NodeHash>::Leaves),
    Pairs(<Pairs<64> as NodeHash>::Leaves),
}

/// A parent being hashed.
#[derive(Clone)]
pub(crate) enum Parent {
    Framed(<Framed<64> as NodeHash>::Parent),
    Blake3(<Blake3 as NodeHash>::Parent),
}

/// Digests of BLAKE3 as it has them.
fn narrow(digests: &[[u8; 64]]) -> Vec<[u8; 32]> {
    digests.iter().map(|digest| *digest.first_chunk().expect("32 bytes")).collect()
}

/// What a function of BLAKE3's appends.
fn widened(out: &mut Vec<[u8; 64]>, append: impl FnOnce(&mut Vec<[u8; 32]>)) {
    let mut digests = Vec::new();
    append(&mut digests);
    out.extend(digests.iter().map(|digest| padded::<64>(digest)));
}

/// The same of all three.
macro_rules! each {
    ($self:ident, $nodes:ident => $of:expr) => {
        match $self {
            Wide::Framed($nodes) => $of,
            Wide::Blake3($nodes) => $of,
            Wide::Pairs($nodes) => $of,
        }
    };
}

const OTHERS: &str = "opened by the same format";

impl NodeHash for Wide {
    type Digest = [u8; 64];
    type Leaves = Leaves;
    type Parent = Parent;

    fn zero(&self) -> [u8; 64] {
        [0; 64]
    }

    fn empty(&self) -> Option<[u8; 64]> {
        each!(self, nodes => nodes.empty().map(|digest| padded(&digest)))
    }

    fn seal(&self, top: [u8; 64], len: u64) -> [u8; 64] {
        match self {
            Wide::Framed(nodes) => nodes.seal(top, len),
            Wide::Blake3(_) | Wide::Pairs(_) => top,
        }
    }

    fn marks_root(&self) -> bool {
        each!(self, nodes => nodes.marks_root())
    }

    fn depends_on_start(&self) -> bool {
        each!(self, nodes => nodes.depends_on_start())
    }

    fn lanes(&self) -> usize {
        each!(self, nodes => nodes.lanes())
    }

    fn leaf(&self, start: u64, bytes: &[u8], role: Role) -> [u8; 64] {
        each!(self, nodes => padded(&nodes.leaf(start, bytes, role)))
    }

    fn leaves(&self, start: u64, leaves: Messages<'_>, out: &mut Vec<[u8; 64]>) {
        match self {
            Wide::Framed(nodes) => nodes.leaves(start, leaves, out),
            Wide::Blake3(nodes) => widened(out, |out| nodes.leaves(start, leaves, out)),
            Wide::Pairs(nodes) => nodes.leaves(start, leaves, out),
        }
    }

    fn open_leaves(&self, starts: &[u64]) -> Leaves {
        match self {
            Wide::Framed(nodes) => Leaves::Framed(nodes.open_leaves(starts)),
            Wide::Blake3(nodes) => Leaves::Blake3(nodes.open_leaves(starts)),
            Wide::Pairs(nodes) => Leaves::Pairs(nodes.open_leaves(starts)),
        }
    }

    fn slices(&self, open: &mut Leaves, slices: Messages<'_>) {
        match (self, open) {
            (Wide::Framed(nodes), Leaves::Framed(open)) => nodes.slices(open, slices),
            (Wide::Blake3(nodes), Leaves::Blake3(open)) => nodes.slices(open, slices),
            (Wide::Pairs(nodes), Leaves::Pairs(open)) => nodes.slices(open, slices),
            _ => unreachable!("{OTHERS}"),
        }
    }

    fn close_leaves(&self, open: Leaves, ends: &[&[u8]], role: Role, out: &mut Vec<[u8; 64]>) {
        match (self, open) {
            (Wide::Framed(nodes), Leaves::Framed(open)) => nodes.close_leaves(open, ends, role, out),
            (Wide::Blake3(nodes), Leaves::Blake3(open)) => {
                widened(out, |out| nodes.close_leaves(open, ends, role, out));
            }
            (Wide::Pairs(nodes), Leaves::Pairs(open)) => nodes.close_leaves(open, ends, role, out),
            _ => unreachable!("{OTHERS}"),
        }
    }

    fn open_parent(&self, role: Role) -> Parent {
        match self {
            Wide::Framed(nodes) => Parent::Framed(nodes.open_parent(role)),
            Wide::Blake3(nodes) => Parent::Blake3(nodes.open_parent(role)),
            Wide::Pairs(nodes) => Parent::Framed(nodes.open_parent(role)),
        }
    }

    fn children(&self, open: &mut Parent, children: &[[u8; 64]]) {
        match (self, open) {
            (Wide::Framed(nodes), Parent::Framed(open)) => nodes.children(open, children),
            (Wide::Blake3(nodes), Parent::Blake3(open)) => nodes.children(open, &narrow(children)),
            (Wide::Pairs(nodes), Parent::Framed(open)) => nodes.children(open, children),
            _ => unreachable!("{OTHERS}"),
        }
    }

    fn close_parent(&self, open: Parent) -> [u8; 64] {
        match (self, open) {
            (Wide::Framed(nodes), Parent::Framed(open)) => nodes.close_parent(open),
            (Wide::Blake3(nodes), Parent::Blake3(open)) => padded(&nodes.close_parent(open)),
            (Wide::Pairs(nodes), Parent::Framed(open)) => nodes.close_parent(open),
            _ => unreachable!("{OTHERS}"),
        }
    }

    fn parents(&self, children: &[[u8; 64]], arity: usize, out: &mut Vec<[u8; 64]>) {
        match self {
            Wide::Framed(nodes) => nodes.parents(children, arity, out),
            Wide::Blake3(nodes) => widened(out, |out| nodes.parents(&narrow(children), arity, out)),
            Wide::Pairs(nodes) => nodes.parents(children, arity, out),
        }
    }
}
