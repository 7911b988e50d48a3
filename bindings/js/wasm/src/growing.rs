//! Frontiers of any format: roots of streams.

use crate::refusal::Refusal;
use alloc::boxed::Box;
use alloc::vec::Vec;
use mksum::{Format, Frontier, NeedsLength, NodeHash, Root, Spec, Visitor};

/// A frontier whose types are forgotten.
pub trait Growing {
    /// Appends bytes.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Refusal>;
    /// The root's digest, of what came so far.
    fn digest(&self) -> Result<Vec<u8>, Refusal>;
    /// The bytes so far.
    fn position(&self) -> u64;
}

impl<const N: usize, H: NodeHash<Digest = [u8; N]>> Growing for Frontier<'static, H> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        Ok(self.update(bytes)?)
    }

    fn digest(&self) -> Result<Vec<u8>, Refusal> {
        Ok(self.root()?.into())
    }

    fn position(&self) -> u64 {
        Frontier::position(self)
    }
}

/// A frontier and its format.
pub struct Tree {
    spec: Spec,
    frontier: Box<dyn Growing>,
}

impl Tree {
    /// Before the first byte.
    pub fn new(spec: &Spec) -> Result<Self, Refusal> {
        struct Opening;
        impl Visitor for Opening {
            type Output = Result<Box<dyn Growing>, NeedsLength>;

            fn visit<const N: usize, H: NodeHash<Digest = [u8; N]> + Clone + 'static>(
                self,
                format: &Format<H>,
            ) -> Self::Output {
                Ok(Box::new(format.clone().into_frontier()?))
            }
        }
        Ok(Tree { spec: spec.clone(), frontier: spec.visit(Opening)? })
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.frontier.append(bytes)
    }

    /// The root of what came so far.
    pub fn root(&self) -> Result<Root, Refusal> {
        Ok(self.spec.sealed(self.frontier.position(), self.frontier.digest()?))
    }
}
