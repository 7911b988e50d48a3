//! Where a tree splits: arithmetic on byte ranges, no hashing.

use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;
use core::fmt;

/// The longest input, in bytes.
pub const MAX_LEN: u64 = 1 << 63;

/// A subtree: the node over the bytes `start..start + len`, `level` steps above its lowest leaves.
///
/// Ordered from left to right, a node before those below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subtree {
    /// The offset of its first byte.
    pub start: u64,
    /// The subtree's length, in bytes; at the right edge shorter than its level allows.
    pub len: u64,
    /// 0 for a leaf; at most 64.
    pub level: u32,
}

impl Subtree {
    /// The offset after its last byte.
    pub fn end(self) -> u64 {
        self.start + self.len
    }
}

impl Ord for Subtree {
    fn cmp(&self, other: &Self) -> Ordering {
        let from_the_top = other.len.cmp(&self.len).then(other.level.cmp(&self.level));
        self.start.cmp(&other.start).then(from_the_top)
    }
}

impl PartialOrd for Subtree {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The rule for nodes at the right edge that lack children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// A lone child moves up unchanged (RFC 9162, 2.1.1; BLAKE3; Glacier).
    Promote,
    /// A missing child is the zero digest, whatever its level (fs-verity, dm-verity).
    PadZero,
    /// A missing child is the root of a subtree of zero digests (BEP 52).
    PadSubtree,
    /// Every node has all its children: the leaves are whole and as many as a power of the arity, at least one node.
    Reject,
}

/// The rule for a last leaf that is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// A short last leaf is a leaf like the others; its node hash may pad it.
    Short,
    /// Only whole leaves have a root.
    Reject,
}

/// The rule by which a tree splits: leaves, nodes and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Leaves of one length under nodes of one arity.
    Even {
        /// The length of a leaf, in bytes: 1 to 2^40.
        leaf: u64,
        /// The children of a node: 2 or more.
        arity: u64,
        /// The rule for the right edge.
        edge: Edge,
        /// The rule for a short last leaf.
        tail: Tail,
    },
    /// A single node over all leaves, whatever their number (S3's composite checksums, Dropbox).
    Flat {
        /// The length of a leaf, in bytes: 1 to 2^40.
        leaf: u64,
    },
    /// Halved by length, the left half the shorter, until a piece is small enough; the root always splits (mtsum).
    Halved {
        /// The length of the longest leaf, in bytes: 1 to 2^40.
        longest: u64,
    },
}

impl Shape {
    /// Whether an input of `len` bytes has a tree; an empty one is left to the node hash.
    ///
    /// # Errors
    /// If it is longer than [`MAX_LEN`], or ragged where the shape forbids it.
    pub fn check(self, len: u64) -> Result<(), LengthError> {
        let refuse = |rule: &str| Err(LengthError { len, rule: rule.into() });
        if len > MAX_LEN {
            return refuse("at most 2^63 bytes");
        }
        match self {
            Shape::Even { leaf, tail: Tail::Reject, .. } if !len.is_multiple_of(leaf) => {
                refuse(&format!("a multiple of {leaf} bytes"))
            }
            Shape::Even { leaf, arity, edge: Edge::Reject, .. } => match self.root(len) {
                root if root.level > 0 && self.span(root.level) == len => Ok(()),
                _ => refuse(&format!("{leaf} bytes times a power of {arity}")),
            },
            _ => Ok(()),
        }
    }

    /// The length of a leaf; of a halved tree, the longest allowed.
    pub fn leaf(self) -> u64 {
        match self {
            Shape::Even { leaf, .. } | Shape::Flat { leaf } | Shape::Halved { longest: leaf } => leaf,
        }
    }

    /// The root of an input of `len` bytes.
    pub fn root(self, len: u64) -> Subtree {
        let level = match self {
            Shape::Even { .. } => self.level(len),
            Shape::Flat { .. } => 1,
            Shape::Halved { .. } => self.level(len).max(1),
        };
        Subtree { start: 0, len, level }
    }

    /// The bytes under a full node of an even tree at `level`, saturating.
    pub(crate) fn span(self, level: u32) -> u64 {
        match self {
            Shape::Even { leaf, arity, .. } => leaf.saturating_mul(arity.saturating_pow(level)),
            Shape::Flat { leaf } if level == 0 => leaf,
            Shape::Flat { .. } | Shape::Halved { .. } => u64::MAX,
        }
    }

    /// The children of `node`, left to right; none for a leaf.
    ///
    /// Padding at the right edge is not among them: see [`Shape::missing`].
    pub fn children(self, node: Subtree) -> Children {
        let step = match self {
            Shape::Even { .. } | Shape::Flat { .. } => self.span(node.level.saturating_sub(1)),
            Shape::Halved { .. } => node.len / 2,
        };
        let count = match self {
            _ if node.level == 0 => 0,
            Shape::Even { .. } | Shape::Flat { .. } => node.len.div_ceil(step),
            Shape::Halved { .. } => 2,
        };
        Children { shape: self, node, step, index: 0, count }
    }

    /// Returns the number of children that `node` lacks at the right edge, to be filled with padding.
    pub fn missing(self, node: Subtree) -> u64 {
        match self {
            Shape::Even { arity, edge: Edge::PadZero | Edge::PadSubtree, .. } if node.level > 0 => {
                arity - node.len.div_ceil(self.span(node.level - 1))
            }
            _ => 0,
        }
    }

    /// The full parent whose last child `node` is, if it is one.
    pub(crate) fn completed_by(self, node: Subtree) -> Option<Subtree> {
        let level = node.level + 1;
        let len = self.span(level);
        let full = matches!(self, Shape::Even { .. }) && self.is_perfect(node) && node.end().is_multiple_of(len);
        full.then(|| Subtree { start: node.end() - len, len, level })
    }

    /// The first of the equal perfect subtrees that bytes are best taken in: as long as fits `at_most`, at least a leaf.
    ///
    /// `None` where the final length moves the splits.
    pub fn unit(self, at_most: u64) -> Option<Subtree> {
        let level = match self {
            Shape::Even { .. } => (0..64).take_while(|&level| level == 0 || self.span(level) <= at_most).last()?,
            Shape::Flat { .. } => 0,
            Shape::Halved { .. } => return None,
        };
        Some(Subtree { start: 0, len: self.span(level), level })
    }

    /// `at_most`, or less where that many bytes would be more leaves than a thread should hold the digests of.
    pub fn batch(self, at_most: u64) -> u64 {
        /// A megabyte of digests of 64 bytes.
        const LEAVES: u64 = 1 << 14;
        at_most.min(self.leaf().saturating_mul(LEAVES))
    }

    /// The child of `node` that is `descendant` or has it below, and how many children lie before it.
    pub(crate) fn child_over(self, node: Subtree, descendant: Subtree) -> (u64, Subtree) {
        let mut children = self.children(node);
        let before = match children.step {
            // The halves of one byte: the left one is empty.
            0 => u64::from(descendant.len > 0),
            step => ((descendant.start - node.start) / step).min(children.count.saturating_sub(1)),
        };
        children.skip_ahead(before);
        (before, children.next().unwrap_or(descendant))
    }

    /// Whether `node` is not cut further where pieces have at most `at_most` bytes.
    ///
    /// A leaf is never cut. The only node of a flat tree always is: it is as long as the input.
    pub(crate) fn is_piece(self, node: Subtree, at_most: u64) -> bool {
        node.level == 0 || (node.len <= at_most && !matches!(self, Shape::Flat { .. }))
    }

    /// Whether appending to the input does not change `node`.
    pub fn is_perfect(self, node: Subtree) -> bool {
        match self {
            Shape::Even { .. } | Shape::Flat { .. } => node.len == self.span(node.level),
            Shape::Halved { .. } => false,
        }
    }

    /// The levels above the leaves of an inner subtree of `len` bytes.
    pub(crate) fn level(self, len: u64) -> u32 {
        match self {
            Shape::Even { .. } => (0..64).find(|&level| self.span(level) >= len).unwrap_or(64),
            Shape::Flat { .. } => 0,
            // Halving rounds up on the right, and the right half is the deeper one.
            Shape::Halved { longest } => (0..64).find(|&level| len.div_ceil(1 << level) <= longest).unwrap_or(64),
        }
    }
}

/// The children of a node, left to right: see [`Shape::children`].
#[derive(Clone, Debug)]
pub struct Children {
    shape: Shape,
    node: Subtree,
    step: u64,
    index: u64,
    count: u64,
}

impl Children {
    /// Keeps only the subtrees that begin at or after byte `start`.
    pub(crate) fn starting_at(self, start: u64) -> Self {
        let index = start.saturating_sub(self.node.start).div_ceil(self.step.max(1)).min(self.count);
        Children { index, ..self }
    }

    /// The node whose children these are.
    pub(crate) fn node(&self) -> Subtree {
        self.node
    }

    /// Skips the children that end at or before byte `end`.
    pub(crate) fn pass(&mut self, end: u64) {
        let passed = if end >= self.node.end() {
            self.count
        } else {
            // Halved nodes have two children of unequal length: the second is never passed alone.
            (end.saturating_sub(self.node.start) / self.step.max(1)).min(self.count - 1)
        };
        self.index = self.index.max(passed);
    }

    /// The number of subtrees that are left.
    pub(crate) fn remaining(&self) -> u64 {
        self.count - self.index
    }

    /// Passes over the next `children`.
    pub(crate) fn skip_ahead(&mut self, children: u64) {
        self.index = self.index.saturating_add(children).min(self.count);
    }
}

impl Iterator for Children {
    type Item = Subtree;

    fn next(&mut self) -> Option<Subtree> {
        if self.index == self.count {
            return None;
        }
        let offset = self.step * self.index;
        self.index += 1;
        let len = if self.index == self.count { self.node.len - offset } else { self.step };
        let level = match self.shape {
            Shape::Even { edge: Edge::PadZero | Edge::PadSubtree, .. } => self.node.level - 1,
            // A full child, as nearly all are.
            Shape::Even { .. } if len == self.step => self.node.level - 1,
            _ => self.shape.level(len),
        };
        Some(Subtree { start: self.node.start + offset, len, level })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.count - self.index).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

/// The format has no root for an input of this length.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LengthError {
    /// The input's length, in bytes.
    pub len: u64,
    /// The lengths that have a root, as words: "at least one byte".
    pub rule: String,
}

/// Like `Display`: see `OutboardError`.
impl fmt::Debug for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LengthError({self})")
    }
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this format has no root for {} bytes: it needs {}", self.len, self.rule)
    }
}

impl core::error::Error for LengthError {}
