//! A tree for Graphviz, left to right: `mksum -g FILE | dot -Tsvg`.

use crate::figures::grouped;
use mksum_cli::name::Shown;
use mksum_cli::picture::{Child, Kind, Node, Picture};
use mksum_io::Input;
use std::fmt::Write;

/// The picture as a directed graph in the DOT language.
pub fn text(picture: &Picture, path: &Input) -> String {
    let title = format!("{} ({}) = {}", picture.root().spec(), Shown(path), picture.root());
    let mut out = format!(
        "digraph mksum {{\n  graph [rankdir=LR, nodesep=0.12, ranksep=0.6, labelloc=t, fontname=\"monospace\", fontsize=12, \
         label={}];\n  node [shape=box, style=filled, fontname=\"monospace\", fontsize=10, color=\"#3b5b7a\"];\n  edge \
         [arrowhead=none, tailport=e, headport=w, color=\"#7d8b99\"];\n",
        quoted(&title)
    );
    if let Some((label, tooltip)) = picture.seal() {
        let (label, tooltip) = (quoted(&label), quoted(&tooltip));
        let _ = writeln!(out, "  root [label={label}, tooltip={tooltip}, {ROOT}];\n  root -> {};", picture.tree.name());
    }
    node(&mut out, &picture.tree);
    out + "}\n"
}

const ROOT: &str = "peripheries=2, fillcolor=\"#1f4e79\", fontcolor=white";

fn node(out: &mut String, this: &Node) {
    let look = match this.kind {
        Kind::Root => ROOT,
        Kind::Leaf => "fillcolor=\"#e3f1df\", color=\"#55803f\"",
        _ if this.is_elided() => "style=\"rounded,filled,dashed\", fillcolor=\"#f7f7f7\"",
        Kind::Top | Kind::Inner => "style=\"rounded,filled\", fillcolor=\"#d7e5f3\"",
    };
    let (name, label, tooltip) = (this.name(), quoted(&this.label()), quoted(&this.tooltip()));
    let _ = writeln!(out, "  {name} [label={label}, tooltip={tooltip}, {look}];");
    for (index, child) in this.children.iter().enumerate() {
        match child {
            Child::Node(child) => {
                let _ = writeln!(out, "  {name} -> {};", child.name());
                node(out, child);
            }
            Child::Elided(count) => note(out, &name, index, &format!("… {} more …", grouped(*count))),
            Child::Padding(count) => note(out, &name, index, &format!("{} × padding", grouped(*count))),
        }
    }
}

/// Text in the place of children.
fn note(out: &mut String, parent: &str, index: usize, text: &str) {
    let name = format!("{parent}_{index}");
    let look = "shape=plaintext, style=\"\", fontcolor=\"#666666\"";
    let _ = writeln!(out, "  {name} [label={}, {look}];\n  {parent} -> {name} [style=dotted];", quoted(text));
}

/// A string of the DOT language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
