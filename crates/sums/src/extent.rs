//! How large a tree is, without walking it.

use mksum::{Shape, Subtree};

/// The leaves under a node.
pub fn leaves(shape: Shape, node: Subtree) -> u64 {
    match shape {
        _ if node.level == 0 => 1,
        Shape::Even { leaf, .. } | Shape::Flat { leaf } => node.len.div_ceil(leaf),
        Shape::Halved { longest } => {
            // After `halvings` there are 2^halvings pieces of `short` bytes, or of one more.
            let halvings = (1..64).find(|halvings| node.len >> halvings <= longest).unwrap_or(63);
            let (pieces, short) = (1 << halvings, node.len >> halvings);
            let longer = node.len - short * pieces;
            if short == longest { pieces + longer } else { pieces }
        }
    }
}

/// The leaf that has byte `offset`, from 0: the last for one behind the end.
pub fn leaf_at(shape: Shape, root: Subtree, offset: u64) -> u64 {
    if let Shape::Even { leaf, .. } | Shape::Flat { leaf } = shape {
        return offset / leaf;
    }
    let (mut node, mut before) = (root, 0);
    while node.level > 0 {
        let mut children = shape.children(node).peekable();
        while let Some(child) = children.next() {
            if child.end() > offset || children.peek().is_none() {
                node = child;
                break;
            }
            before += leaves(shape, child);
        }
    }
    before
}

/// The levels above the leaves.
pub fn depth(shape: Shape, len: u64) -> u32 {
    if len == 0 { 0 } else { shape.root(len).level }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_as_many_as_a_walk_finds() {
        fn walked(shape: Shape, node: Subtree) -> u64 {
            if node.level == 0 { 1 } else { shape.children(node).map(|child| walked(shape, child)).sum() }
        }
        let shapes = ["rfc6962:4", "mtsum:4", "mtsum:1", "s3:4", "fsverity:1KiB", "btv2"]
            .map(|text| text.parse::<mksum::Spec>().unwrap().shape());
        for shape in shapes {
            for len in (1..200).chain([16385, 70_000]) {
                assert_eq!(leaves(shape, shape.root(len)), walked(shape, shape.root(len)), "{shape:?} over {len}");
            }
        }
    }
}
