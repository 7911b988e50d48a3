//! Walks over a tree from left to right, and a tree cut into pieces that are hashed anywhere and joined once.

use crate::shape::Children;
use crate::{Digest, Digests, Error, LengthError, PiecesError, Role, Root, Shape, Spec, Subtree, Subtrees};
use alloc::vec::Vec;

/// A walk over a tree from left to right, a node before those below it, which are visited only if the walker
/// [enters](Walk::enter) it.
///
/// Holds one iterator a level, however large the tree is.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    shape: Shape,
    first: Option<Subtree>,
    /// The children still to come of the nodes above the next one, the top's first.
    open: Vec<Children>,
}

impl Walk {
    /// A walk that begins with `top`.
    pub fn new(shape: Shape, top: Option<Subtree>) -> Self {
        Walk { shape, first: top, open: Vec::new() }
    }

    /// The shape of the tree that is walked.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Visits the children of `node`, which came last, next.
    pub fn enter(&mut self, node: Subtree) {
        self.open.push(self.shape.children(node));
    }

    /// The node right above the one that came last, if it is not the top.
    pub fn above(&self) -> Option<Subtree> {
        self.open.last().map(Children::node)
    }

    /// Skips the next siblings that end at or before byte `end`.
    pub fn pass(&mut self, end: u64) {
        if let Some(children) = self.open.last_mut() {
            children.pass(end);
        }
    }
}

impl Iterator for Walk {
    type Item = Subtree;

    fn next(&mut self) -> Option<Subtree> {
        if let Some(top) = self.first.take() {
            return Some(top);
        }
        loop {
            if let Some(node) = self.open.last_mut()?.next() {
                return Some(node);
            }
            self.open.pop();
        }
    }
}

/// The largest subtrees of at most some length, left to right: a plan for parallel work.
///
/// A leaf is never cut: one that is longer than asked for is a piece all the same. Memory does not grow with the tree.
#[derive(Clone, Debug)]
pub struct Cover {
    walk: Walk,
    at_most: u64,
    from: u64,
}

impl Cover {
    /// The pieces under `node` of at most `at_most` bytes.
    pub fn new(shape: Shape, node: Subtree, at_most: u64) -> Self {
        Cover { walk: Walk::new(shape, Some(node)), at_most, from: 0 }
    }

    /// The pieces that do not end at or before byte `from`, where a piece begins.
    pub(crate) fn starting_at(self, from: u64) -> Self {
        Cover { from, ..self }
    }
}

impl Iterator for Cover {
    type Item = Subtree;

    fn next(&mut self) -> Option<Subtree> {
        loop {
            let node = self.walk.next()?;
            if node.start < self.from && node.end() <= self.from {
                continue;
            }
            if self.walk.shape().is_piece(node, self.at_most) {
                return Some(node);
            }
            self.walk.enter(node);
            self.walk.pass(self.from);
        }
    }
}

impl Spec {
    /// The pieces of a tree over `len` bytes, of at most `at_most` bytes unless a leaf is longer, left to right; none of an
    /// empty input.
    ///
    /// [`Spec::map`] hashes one of them, anywhere; [`Pieces`] joins their digests.
    ///
    /// ```
    /// use mksum::{Digests, Pieces};
    ///
    /// let (spec, input): (mksum::Spec, _) = ("rfc6962:sha256:100".parse()?, vec![7; 1000]);
    /// let mut digests = Digests::new(32);
    /// for piece in spec.plan(1000, 400)? {
    ///     let bytes = &input[piece.start as usize..piece.end() as usize];
    ///     digests.push(spec.map(1000, piece, bytes)?);
    /// }
    /// assert_eq!(Pieces::new(&spec, 1000, 400, &digests)?.root()?, spec.root(&input)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn plan(&self, len: u64, at_most: u64) -> Result<Cover, LengthError> {
        let shape = self.shape();
        shape.check(len)?;
        let top = (len > 0).then(|| shape.root(len));
        Ok(Cover { walk: Walk::new(shape, top), at_most, from: 0 })
    }

    /// Whether `node` is a subtree of a tree over `len` bytes: whether rows from elsewhere can be parts of it.
    ///
    /// ```
    /// let spec: mksum::Spec = "rfc6962:sha256:100".parse()?;
    /// assert!(spec.plan(1000, 400)?.all(|node| spec.has_part(1000, node)));
    /// let shifted = spec.plan(1000, 400)?.map(|node| mksum::Subtree { start: node.start + 100, ..node });
    /// assert!(shifted.into_iter().all(|node| !spec.has_part(1000, node)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn has_part(&self, len: u64, node: Subtree) -> bool {
        let shape = self.shape();
        if shape.check(len).is_err() || len == 0 {
            return false;
        }
        // A perfect subtree has only one place: few nodes at the right edge need the path to them.
        if let Shape::Even { .. } = shape
            && shape.is_perfect(node)
        {
            let root = shape.root(len);
            let inside = node.start.checked_add(node.len).is_some_and(|end| end <= len);
            return inside && node.level <= root.level && node.start.is_multiple_of(node.len);
        }
        // Down the only path that could lead to it.
        let mut at = shape.root(len);
        while at != node {
            if at.level == 0 {
                return false;
            }
            let (_, below) = shape.child_over(at, node);
            if below.level < node.level || below.start > node.start || below.end() < node.end() {
                return false;
            }
            at = below;
        }
        true
    }

    /// The role of `node` in a tree over `len` bytes.
    pub fn role(&self, len: u64, node: Subtree) -> Role {
        if self.shape().root(len) == node { Role::Root } else { Role::Inner }
    }
}

/// The digests of all pieces of a tree: see [`Spec::plan`].
#[derive(Clone, Debug)]
pub struct Pieces {
    spec: Spec,
    len: u64,
    by_node: Vec<(Subtree, Digest)>,
}

impl Pieces {
    /// The pieces of a tree over `len` bytes, of at most `at_most` bytes, with their digests, left to right.
    ///
    /// # Errors
    /// If the format has no root for this length, or there are fewer or more digests than pieces.
    pub fn new(spec: &Spec, len: u64, at_most: u64, digests: &Digests) -> Result<Self, Error> {
        let mut pieces = spec.plan(len, at_most)?;
        let mut by_node = Vec::with_capacity(digests.len());
        for digest in digests.iter() {
            by_node.push((pieces.next().ok_or(PiecesError::More)?, digest));
        }
        match pieces.next() {
            None => Ok(Pieces { spec: spec.clone(), len, by_node }),
            Some(piece) => Err(PiecesError::Fewer(piece).into()),
        }
    }

    /// The root.
    ///
    /// # Errors
    /// If the format has no root for an empty input, and the input is empty.
    pub fn root(&self) -> Result<Root, Error> {
        self.spec.root_from(self, self.len)
    }
}

impl Subtrees for Pieces {
    fn digest(&self, spec: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        // A piece that is the root was hashed as one.
        self.by_node.digest(spec, node, Role::Inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_tree_are_the_nodes_that_a_walk_visits() {
        for name in ["plain:sha256:3", "s3:md5:3", "mtsum:md5:3"] {
            let spec: Spec = name.parse().unwrap();
            for len in 0..30 {
                let mut walk = Walk::new(spec.shape(), (len > 0).then(|| spec.shape().root(len)));
                let mut nodes = Vec::new();
                while let Some(node) = walk.next() {
                    nodes.push(node);
                    if node.level > 0 {
                        walk.enter(node);
                    }
                }
                let all = (0..=len + 3).flat_map(|start| (0..=len + 3).map(move |part| (start, part)));
                for (start, part) in all {
                    for level in 0..7 {
                        let node = Subtree { start, len: part, level };
                        assert_eq!(spec.has_part(len, node), nodes.contains(&node), "{name} of {len} bytes: {node:?}");
                    }
                }
            }
        }
    }
}
