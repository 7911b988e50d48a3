//! Kept trees: written, read, and files held against them.

use crate::pieces::Answers;
use crate::refusal::{Class, Refusal};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use mksum::{Damage, Format, Kept, NodeHash, Outboard, Plan, Spec, Visitor};

/// The most bytes that a kept tree made here takes.
const MOST: u64 = 1 << 28;

/// The kept tree of bytes in memory.
pub fn keep(spec: &Spec, at_most: u64, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let (shape, len) = (spec.shape(), bytes.len() as u64);
    shape.check(len)?;
    let kept = Kept::new(shape, len, Kept::unit_within(shape, at_most));
    let size = kept.map_or(0, |kept| kept.count().saturating_mul(spec.hash().size() as u64));
    if size > MOST {
        let words = format!("the kept tree would have {size} bytes, more than {MOST}: keep longer subtrees");
        return Err(Refusal::new(Class::Length, words));
    }
    Ok(mksum::keep(spec, at_most, bytes)?)
}

/// Facts of a kept tree, a line each: the format, the file's length, the length of the subtrees kept, the root's text.
pub fn facts(outboard: &[u8]) -> Result<String, Refusal> {
    let outboard = Outboard::open(outboard)?;
    Ok(format!("{}\n{}\n{}\n{}", outboard.spec(), outboard.len(), outboard.kept().unit(), outboard.root()))
}

/// What differs from the kept tree: whether it is of the file (0) or of the tree (1), start, length and level, as four
/// `f64`. `digests` are those of the pieces of the file, of at most the length of the subtrees kept.
pub fn damaged(outboard: &[u8], digests: &[u8]) -> Result<Vec<u8>, Refusal> {
    struct Comparing<'a>(&'a Outboard<&'a [u8]>, &'a [u8]);
    impl Visitor for Comparing<'_> {
        type Output = Result<Vec<u8>, Refusal>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
            let Comparing(outboard, digests) = self;
            let (len, unit) = (outboard.len(), outboard.kept().unit());
            let answers = Answers::<N>::new(outboard.spec(), len, unit, digests)?;
            let plan = Plan { threads: 1, piece: unit, group: 1 };
            let mut out = Vec::new();
            outboard.damaged(format, &answers, 0..len, &plan, |damage| {
                let (kind, node) = match damage {
                    Damage::File(node) => (0.0, node),
                    Damage::Outboard(node) => (1.0, node),
                };
                for number in [kind, node.start as f64, node.len as f64, f64::from(node.level)] {
                    out.extend(number.to_le_bytes());
                }
                Ok(())
            })?;
            Ok(out)
        }
    }
    let outboard = Outboard::open(outboard)?;
    outboard.spec().visit(Comparing(&outboard, digests))
}
