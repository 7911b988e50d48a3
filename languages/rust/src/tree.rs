//! The tree over the bytes written so far.

use mksum::{Error, Frontier, NeedsLength, Root, Spec};
use std::io;

/// The tree over the bytes written so far: a [`Frontier`] that implements [`io::Write`].
#[derive(Clone, Debug)]
pub struct Tree(Frontier);

impl Tree {
    /// An empty tree.
    ///
    /// # Errors
    /// If the format needs the input's length first.
    pub fn new(spec: &Spec) -> Result<Self, NeedsLength> {
        Ok(Tree(spec.frontier()?))
    }

    /// The root of the bytes so far; more may be written afterwards.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root(&self) -> Result<Root, Error> {
        self.0.root()
    }

    /// The number of bytes so far.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// Removes all bytes.
    pub fn reset(&mut self) {
        self.0 = self.0.spec().frontier().expect("the format made a frontier before");
    }
}

impl io::Write for Tree {
    /// Takes all bytes.
    ///
    /// # Errors
    /// If there are more than 2^63 in all.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
