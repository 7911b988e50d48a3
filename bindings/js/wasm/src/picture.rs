//! Pictures of trees, for the site: those of the tool.

use crate::abi::buffer;
use crate::refusal::{Class, Refusal};
use crate::root_abi::{answer, of_spec};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use mksum::Spec;
use mksum::outboard::{HEADER, Outboard};
use mksum_js_host::exports;
use mksum_sums::name::{self, Shown};
use mksum_sums::picture::{Picture, svg};

/// The lowest nodes of a picture: few enough for the page.
const LOWEST: usize = 32;

/// Returns the picture of a tree without digests.
fn planned(spec: &Spec, len: u64) -> Result<Picture, Refusal> {
    Picture::plan(spec, len, None, LOWEST).map_err(|error| Refusal::new(Class::Length, error))
}

/// Returns the unit of an outboard that has the digests of a picture's nodes, at least a 65,536th of the file.
fn unit_of_picture(spec: &Spec, len: u64) -> Result<u64, Refusal> {
    let mut unit = u64::MAX;
    planned(spec, len)?.tree.for_each(&mut |node| unit = unit.min(node.subtree.len));
    Ok(unit.max(len >> 16).max(1))
}

/// Returns the picture of an outboard's tree as an SVG document: `path` is in its title, and the lowest nodes with `damaged` bytes are
/// hatched. Digests are those of the outboard, unchecked; nodes that it does not keep have none.
fn drawn(bytes: &[u8], damaged: &[Range<u64>], path: &[u8]) -> Result<String, Refusal> {
    let outboard = Outboard::open(bytes)?;
    let (layout, size) = (outboard.layout(), outboard.spec().hash().size());
    let stored = |node| {
        let at = usize::try_from(HEADER + layout.place(node)? * size as u64).ok()?;
        bytes.get(at..)?.get(..size)
    };
    let mut picture = planned(outboard.spec(), outboard.len())?;
    picture.tree.for_each(&mut |node| node.digest = stored(node.subtree).unwrap_or_default().into());
    picture.crown(outboard.root());
    picture.mark_damage(damaged);
    Ok(svg::text(&picture, Shown(&name::lossy_path(path))))
}

exports! {
    /// Answers the unit of an outboard for `tree_svg`, as an `f64`: see `unit_of_picture`.
    fn picture_unit(spec: u32, len: f64) -> u32 {
        of_spec(spec, |spec, _| Ok((unit_of_picture(spec, len as u64)? as f64).to_le_bytes()))
    }

    /// Answers the picture of the tree of the outboard in a block: see `drawn`. Another block has the damaged ranges, the start and
    /// end of each as an `f64`, and the input's first `len` bytes are the path.
    fn tree_svg(outboard: u32, damaged: u32, len: u32) -> u32 {
        answer(|global| {
            let damaged = global.blocks.get(damaged).as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes) as u64);
            let damaged: Vec<_> = damaged.collect();
            let damaged: Vec<_> = damaged.as_chunks().0.iter().map(|&[start, end]| start..end).collect();
            drawn(global.blocks.get(outboard), &damaged, buffer(len).0)
        })
    }
}
