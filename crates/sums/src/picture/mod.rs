//! Pictures of trees: what is shown, and what is left out.

pub mod svg;

use crate::extent::leaves;
use crate::figures::grouped;
use base16ct::lower::encode_string;
use mksum::{Root, Shape, Spec, Subtree, format_size};
use std::fmt;
use std::ops::Range;

/// The part of a file's tree that is shown.
#[derive(Debug)]
pub struct Picture {
    root: Option<Root>,
    /// The tree from its top.
    pub tree: Node,
}

/// A node that is shown.
#[derive(Debug)]
pub struct Node {
    /// Where it is.
    pub subtree: Subtree,
    /// What it is.
    pub kind: Kind,
    /// The leaves under it.
    pub leaves: u64,
    /// The node's digest; empty where it is unknown.
    pub digest: Vec<u8>,
    /// Whether bytes under it are damaged; of a node with children that are shown, these tell.
    pub is_damaged: bool,
    /// What is shown under it; nothing for a leaf, and where the picture ends.
    pub children: Vec<Child>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The top of the tree, which is the root.
    Root,
    /// The top of the tree, over which the root is sealed.
    Top,
    /// A node with a parent and children.
    Inner,
    /// A range of bytes.
    Leaf,
}

/// What is shown under a node.
#[derive(Debug)]
pub enum Child {
    /// A node.
    Node(Node),
    /// This many children in a row that are left out.
    Elided(u64),
    /// This many children that the tree lacks at its right edge, and that padding stands in for.
    Padding(u64),
}

/// More nodes are asked for than anybody can look at.
#[derive(Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its tree has too many nodes to be drawn: choose a smaller --graph-depth")
    }
}

/// The nodes of a picture, at the most.
const MOST: usize = 50_000;
/// Nodes with more children show only the first and the last of them.
const WIDE: u64 = 16;
const FIRST: u64 = 8;
const LAST: u64 = 4;
/// The hex digits of a digest that is only to be told from others.
const SHORT: usize = 12;

impl Picture {
    /// The picture of `len` bytes, without digests yet: `depth` levels below the top, or as many as have at most `lowest` nodes at their ends.
    ///
    /// # Errors
    /// If `depth` asks for too many nodes.
    pub fn plan(spec: &Spec, len: u64, depth: Option<u32>, lowest: usize) -> Result<Picture, TooLarge> {
        let shape = spec.shape();
        let top = if len == 0 { Subtree { start: 0, len: 0, level: 0 } } else { shape.root(len) };
        let plan = |depth| Planner { shape, room: MOST }.node(top, depth, Kind::Root);
        let tree = match depth {
            Some(depth) => plan(depth)?,
            None => {
                let mut tree = plan(1)?;
                for depth in 2..=top.level {
                    match plan(depth) {
                        Ok(deeper) if deeper.lowest() <= lowest => tree = deeper,
                        _ => break,
                    }
                }
                tree
            }
        };
        Ok(Picture { root: None, tree })
    }

    /// Takes in the root: it is the digest at the top of the tree, or sealed over that with the file's length (fs-verity).
    pub fn crown(&mut self, root: Root) {
        if *root.digest().as_bytes() != self.tree.digest {
            self.tree.kind = Kind::Top;
        }
        self.root = Some(root);
    }

    /// Marks the lowest nodes that have bytes in one of these ranges, which are sorted and do not overlap.
    pub fn mark_damage(&mut self, ranges: &[Range<u64>]) {
        self.tree.for_each(&mut |node| {
            let first = ranges.partition_point(|range| range.end <= node.subtree.start);
            let is_hit = ranges.get(first).is_some_and(|range| range.start < node.subtree.end());
            node.is_damaged = node.children.is_empty() && is_hit;
        });
    }

    /// The file's root.
    ///
    /// # Panics
    /// Before [`Picture::crown`].
    pub fn root(&self) -> &Root {
        self.root.as_ref().expect("the file was hashed")
    }

    /// The root where it is a node of its own: its label and its tooltip.
    pub fn seal(&self) -> Option<(String, String)> {
        let (root, text) = (self.root(), self.root().to_string());
        let label = format!("root\n{}", short(&text));
        (self.tree.kind == Kind::Top)
            .then(|| (label, format!("{text} (over the top node and {} bytes of length)", root.len())))
    }
}

struct Planner {
    shape: Shape,
    room: usize,
}

impl Planner {
    fn node(&mut self, subtree: Subtree, depth: u32, kind: Kind) -> Result<Node, TooLarge> {
        self.room = self.room.checked_sub(1).ok_or(TooLarge)?;
        let children = if depth == 0 || subtree.level == 0 { Vec::new() } else { self.children(subtree, depth - 1)? };
        let leaves = if subtree.len == 0 && kind == Kind::Root { 0 } else { leaves(self.shape, subtree) };
        let kind = if kind == Kind::Inner && subtree.level == 0 { Kind::Leaf } else { kind };
        Ok(Node { subtree, kind, leaves, digest: Vec::new(), is_damaged: false, children })
    }

    fn children(&mut self, parent: Subtree, depth: u32) -> Result<Vec<Child>, TooLarge> {
        let mut children = self.shape.children(parent);
        let count = children.size_hint().1.map_or(u64::MAX, |count| count as u64);
        let mut shown = Vec::new();
        if count <= WIDE {
            for child in children {
                shown.push(Child::Node(self.node(child, depth, Kind::Inner)?));
            }
        } else {
            let first = children.next().expect("it is wide");
            for index in (0..FIRST).chain(count - LAST..count) {
                if index == count - LAST {
                    shown.push(Child::Elided(count - FIRST - LAST));
                }
                // The children of wide nodes are of one level, and all but the last of one length.
                let start = first.start + index * first.len;
                let child = Subtree { start, len: first.len.min(parent.end() - start), ..first };
                shown.push(Child::Node(self.node(child, depth, Kind::Inner)?));
            }
        }
        let missing = self.shape.missing(parent);
        if missing > 0 {
            shown.push(Child::Padding(missing));
        }
        Ok(shown)
    }
}

impl Node {
    /// The nodes that are shown under it, and it itself.
    pub fn for_each(&mut self, visit: &mut impl FnMut(&mut Node)) {
        visit(self);
        for child in &mut self.children {
            if let Child::Node(node) = child {
                node.for_each(visit);
            }
        }
    }

    /// The nodes under which nothing is shown.
    fn lowest(&self) -> usize {
        let below = |child: &Child| match child {
            Child::Node(node) => node.lowest(),
            Child::Elided(_) | Child::Padding(_) => 1,
        };
        self.children.iter().map(below).sum::<usize>().max(1)
    }

    /// Whether what is under it is left out of the picture.
    pub fn is_elided(&self) -> bool {
        self.children.is_empty() && self.subtree.level > 0
    }

    /// A name that no other node of the tree has, the same in every run.
    pub fn name(&self) -> String {
        format!("n{}_{}_{}", self.subtree.level, self.subtree.start, self.subtree.end())
    }

    /// The whole digest.
    pub fn hex(&self) -> String {
        encode_string(&self.digest)
    }

    /// What is written on it: two lines.
    pub fn label(&self) -> String {
        let (start, end) = (format_size(self.subtree.start), format_size(self.subtree.end()));
        format!("{} · {start}..{end}\n{}", self.caption(), short(&self.hex()))
    }

    /// What it is, in a word or two.
    fn caption(&self) -> String {
        let leaves = format!("{} leaves", grouped(self.leaves));
        match self.kind {
            Kind::Root if self.is_elided() => format!("root, {leaves}"),
            _ if self.is_elided() => leaves,
            Kind::Leaf => "leaf".into(),
            Kind::Root => "root".into(),
            Kind::Top => "top".into(),
            Kind::Inner => "node".into(),
        }
    }

    /// Everything about it.
    pub fn tooltip(&self) -> String {
        let (start, end) = (self.subtree.start, self.subtree.end());
        let damaged = if self.is_damaged { ", damaged" } else { "" };
        format!("{} ({} bytes {start}..{end}{damaged})", self.hex(), self.caption())
    }
}

/// The first digits of a digest, or all of a short one.
fn short(hex: &str) -> String {
    hex.get(..SHORT).map_or_else(|| hex.into(), |digits| format!("{digits}…"))
}
