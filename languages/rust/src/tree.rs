//! The tree over the bytes written so far.

use mksum::{Error, Format, Frontier, NeedsLength, NodeHash};
use std::io;

/// The tree over the bytes written so far: a [`Frontier`] that implements [`io::Write`].
#[derive(Clone)]
pub struct Tree<'f, N: NodeHash> {
    format: &'f Format<N>,
    frontier: Frontier<'f, N>,
}

impl<'f, N: NodeHash> Tree<'f, N> {
    /// An empty tree.
    ///
    /// # Errors
    /// If the format has to know the length before.
    pub fn new(format: &'f Format<N>) -> Result<Self, NeedsLength> {
        Ok(Tree { format, frontier: format.frontier()? })
    }

    /// The root of the bytes so far; the tree stays as it is.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root(&self) -> Result<N::Digest, Error> {
        self.frontier.root()
    }

    /// The bytes so far.
    pub fn position(&self) -> u64 {
        self.frontier.position()
    }

    /// Forgets all bytes.
    pub fn reset(&mut self) {
        self.frontier = self.format.frontier().expect("the format made a frontier before");
    }
}

impl<N: NodeHash> io::Write for Tree<'_, N> {
    /// Takes all bytes.
    ///
    /// # Errors
    /// If there are more than 2^63 in all.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frontier.update(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
