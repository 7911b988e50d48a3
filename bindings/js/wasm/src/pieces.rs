//! A tree cut into pieces that are answered one by one, anywhere, and the one join.

use crate::refusal::{Class, Refusal};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use mksum::{Cover, Error, Format, Memory, Messages, NodeHash, Role, Root, Spec, Subtree, Subtrees, Visitor};

/// The most pieces that a tree is cut into: their digests lie in memory.
const MOST: usize = 1 << 20;

/// The pieces of a tree over `len` bytes, of at most `at_most` bytes unless a leaf is longer: start, length and level of
/// each, left to right, as three `f64`.
pub fn cover(spec: &Spec, len: u64, at_most: u64) -> Result<Vec<u8>, Refusal> {
    let shape = spec.shape();
    shape.check(len)?;
    let mut out = Vec::new();
    let pieces = (len > 0).then(|| Cover::new(shape, shape.root(len), at_most)).into_iter().flatten();
    for (index, piece) in pieces.enumerate() {
        if index == MOST {
            let words = format!("{spec} cuts {len} bytes into more than {MOST} pieces: ask for longer ones");
            return Err(Refusal::new(Class::Length, words));
        }
        for number in [piece.start as f64, piece.len as f64, f64::from(piece.level)] {
            out.extend(number.to_le_bytes());
        }
    }
    Ok(out)
}

/// The digest of a piece of a tree over `len` bytes, from its bytes.
pub fn subtree(spec: &Spec, len: u64, node: Subtree, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    struct Alone<'a>(Subtree, Role, &'a [u8]);
    impl Visitor for Alone<'_> {
        type Output = Result<Vec<u8>, Error>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
            let Alone(node, role, bytes) = self;
            Ok(format.join(&Memory::from(node.start, bytes), node, role)?.into())
        }
    }
    if node.len != bytes.len() as u64 {
        return Err(Refusal::new(
            Class::Length,
            format!("a subtree of {} bytes is not one of {}", node.len, bytes.len()),
        ));
    }
    let mut digest = spec.visit(Alone(node, role(spec, len, node), bytes))?;
    digest.truncate(spec.hash().size());
    Ok(digest)
}

fn role(spec: &Spec, len: u64, node: Subtree) -> Role {
    if spec.shape().root(len) == node { Role::Root } else { Role::Inner }
}

/// A leaf whose bytes come slice by slice.
pub trait Leaf {
    /// Appends bytes.
    fn append(&mut self, bytes: &[u8]);
    /// The digest.
    fn finish(self: Box<Self>) -> Vec<u8>;
}

struct Open<H: NodeHash> {
    format: Format<H>,
    leaves: H::Leaves,
    role: Role,
    size: usize,
}

impl<const N: usize, H: NodeHash<Digest = [u8; N]>> Leaf for Open<H> {
    fn append(&mut self, bytes: &[u8]) {
        self.format.nodes.slices(&mut self.leaves, Messages::one(bytes));
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        let mut digests = Vec::new();
        self.format.nodes.close_leaves(self.leaves, &[&[]], self.role, &mut digests);
        digests[0][..self.size].into()
    }
}

/// A leaf before its first byte, of a tree over `len` bytes.
pub fn leaf(spec: &Spec, len: u64, node: Subtree) -> Box<dyn Leaf> {
    struct Opening(Subtree, Role, usize);
    impl Visitor for Opening {
        type Output = Box<dyn Leaf>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]> + Clone + 'static>(
            self,
            format: &Format<H>,
        ) -> Self::Output {
            let Opening(node, role, size) = self;
            let leaves = format.nodes.open_leaves(&[node.start]);
            Box::new(Open { format: format.clone(), leaves, role, size })
        }
    }
    spec.visit(Opening(node, role(spec, len, node), spec.hash().size()))
}

/// The digests of the pieces of a tree, each where it belongs.
pub struct Answers<const N: usize>(Vec<(Subtree, [u8; N])>);

impl<const N: usize> Answers<N> {
    /// `digests` of the pieces of [`cover`], one after the other.
    pub fn new(spec: &Spec, len: u64, at_most: u64, digests: &[u8]) -> Result<Self, Refusal> {
        let shape = spec.shape();
        shape.check(len)?;
        let pieces = (len > 0).then(|| Cover::new(shape, shape.root(len), at_most)).into_iter().flatten();
        let digests = digests.chunks_exact(spec.hash().size());
        let rest = digests.remainder();
        let mut answers = Vec::new();
        let mut pieces = pieces.take(MOST);
        for digest in digests {
            match pieces.next() {
                Some(piece) => {
                    let mut wide = [0; N];
                    wide[..digest.len()].copy_from_slice(digest);
                    answers.push((piece, wide))
                }
                None => return Err(Refusal::new(Class::Argument, "more digests than the tree has pieces")),
            };
        }
        if pieces.next().is_some() || !rest.is_empty() {
            return Err(Refusal::new(Class::Argument, "fewer digests than the tree has pieces"));
        }
        Ok(Answers(answers))
    }
}

impl<const N: usize, H: NodeHash<Digest = [u8; N]>> Subtrees<H> for Answers<N> {
    fn digest(&self, _: &Format<H>, node: Subtree, _: Role) -> Result<Option<[u8; N]>, Error> {
        // A piece that is the root was hashed as one.
        let found = self.0.binary_search_by_key(&(node.start, node.len), |(piece, _)| (piece.start, piece.len)).ok();
        Ok(found.map(|place| self.0[place]).filter(|(piece, _)| *piece == node).map(|(_, digest)| digest))
    }
}

/// The root of `len` bytes whose pieces have these digests.
pub fn join(spec: &Spec, len: u64, at_most: u64, digests: &[u8]) -> Result<Root, Refusal> {
    struct Joining<'a>(&'a Spec, u64, u64, &'a [u8]);
    impl Visitor for Joining<'_> {
        type Output = Result<Vec<u8>, Refusal>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
            let Joining(spec, len, at_most, digests) = self;
            Ok(format.root(&Answers::new(spec, len, at_most, digests)?, len)?.into())
        }
    }
    Ok(spec.sealed(len, spec.visit(Joining(spec, len, at_most, digests))?))
}
