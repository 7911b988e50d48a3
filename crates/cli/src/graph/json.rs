//! A tree as one JSON object, parents before children.

use crate::json::line;
use mksum_cli::picture::{Child, Kind, Node, Picture};
use mksum_io::Input;
use serde::Serialize;

#[derive(Serialize)]
struct Tree {
    kind: &'static str,
    format: String,
    length: u64,
    root: String,
    nodes: Vec<Record>,
}

#[derive(Serialize)]
struct Record {
    name: String,
    kind: &'static str,
    /// The bytes under it: from `start` up to, but without, `end`.
    start: u64,
    end: u64,
    level: u32,
    leaves: u64,
    digest: String,
    /// The names of the children that are shown.
    children: Vec<String>,
    /// The children that are not shown.
    elided: u64,
    /// The children that padding stands in for.
    padding: u64,
}

/// The picture as a line of JSON.
pub fn text(picture: &Picture, path: &Input) -> String {
    let mut nodes = Vec::new();
    add(&mut nodes, &picture.tree, picture.root().spec().shape());
    let root = picture.root();
    let format = root.spec().to_string();
    let tree = Tree { kind: "graph", format, length: root.len(), root: root.to_string(), nodes };
    String::from_utf8(line(path, tree)).expect("JSON is UTF-8")
}

fn add(nodes: &mut Vec<Record>, node: &Node, shape: mksum::Shape) {
    let (mut children, mut elided, mut padding) = (Vec::new(), 0, 0);
    for child in &node.children {
        match child {
            Child::Node(child) => children.push(child.name()),
            Child::Elided(count) => elided += count,
            Child::Padding(count) => padding += count,
        }
    }
    if node.is_elided() {
        elided = shape.children(node.subtree).size_hint().0 as u64;
        padding = shape.missing(node.subtree);
    }
    let kind = match node.kind {
        Kind::Root => "root",
        Kind::Top => "top",
        Kind::Inner => "inner",
        Kind::Leaf => "leaf",
    };
    let subtree = node.subtree;
    nodes.push(Record {
        name: node.name(),
        kind,
        start: subtree.start,
        end: subtree.end(),
        level: subtree.level,
        leaves: node.leaves,
        digest: node.hex(),
        children,
        elided,
        padding,
    });
    for child in &node.children {
        if let Child::Node(child) = child {
            add(nodes, child, shape);
        }
    }
}
