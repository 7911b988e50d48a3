//! A tree as a picture, left to right: each node in a column by its depth, in the middle of its children's rows.

use super::{Child, Kind, Node, Picture};
use crate::figures::grouped;
use std::fmt::{Display, Write};

/// Lengths in the picture's units.
const BOX_HEIGHT: usize = 34;
/// Left and right of the text in a box together.
const BOX_MARGIN: usize = 16;
/// Between two columns.
const GAP: usize = 48;
const ROW: usize = 42;
const NOTE_ROW: usize = 26;
const MARGIN: usize = 16;
const TITLE: usize = 52;
/// A letter of the title, which is set in a monospaced font of 12 units; one of a label is set in 11 and narrower.
const LETTER: usize = 7;

const STYLE: &str = "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1b2733}\
                     .title{font-size:12px}.title .format{font-weight:bold}.note{fill:#666}\
                     rect{stroke:#3b5b7a;fill:#d7e5f3}.leaf rect{stroke:#55803f;fill:#e3f1df}\
                     .elided rect{fill:#f7f7f7;stroke-dasharray:4 3}\
                     .root rect{fill:#1f4e79;stroke:#0d2c49;stroke-width:2.5}.root text{fill:#fff}\
                     path{fill:none;stroke:#7d8b99}.dotted{stroke-dasharray:2 3}.paper{fill:#fff;stroke:none}\
                     .damaged rect{fill:url(#hatch);stroke:#b3261e}#hatch rect{fill:#fff;stroke:none}\
                     #hatch path{stroke:#e6a49e;stroke-width:3}";

/// The hatch of damaged nodes.
const HATCH: &str = "<pattern id=\"hatch\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" \
                     patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\"/><path d=\"M0 0V8\"/></pattern>\n";

/// The picture as an SVG document, with the file's path in its title.
pub fn text(picture: &Picture, path: impl Display) -> String {
    let width = BOX_MARGIN + LETTER * widest(&picture.tree);
    let mut drawing = Drawing { edges: String::new(), nodes: String::new(), hatch: "", bottom: TITLE, depth: 0, width };
    let seal = picture.seal();
    let row = drawing.node(&picture.tree, usize::from(seal.is_some()));
    if let Some((label, tooltip)) = seal {
        drawing.shape("root", 0, row, &tooltip, &label);
        drawing.edge("", 0, row, row);
    }
    let heading = format!("{} ({})", picture.root().spec(), path);
    let root = picture.root().to_string();
    // The title's letters are wider by a twentieth.
    let title = LETTER * heading.chars().count().max(root.len()) * 21 / 20;
    let width = MARGIN + (drawing.left(drawing.depth) + drawing.width).max(title + MARGIN);
    let height = drawing.bottom + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n<style>{STYLE}</style>\n{}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text class=\"title\" x=\"{MARGIN}\" y=\"22\"><tspan class=\"format\">{}</tspan>\
         <tspan x=\"{MARGIN}\" dy=\"17\">{root}</tspan></text>\n{}{}</svg>\n",
        drawing.hatch,
        escaped(&heading),
        drawing.edges,
        drawing.nodes
    )
}

/// The letters of the longest line on any node.
fn widest(node: &Node) -> usize {
    let below = node.children.iter().map(|child| if let Child::Node(node) = child { widest(node) } else { 0 });
    let own = node.label().lines().map(|line| line.chars().count()).max().unwrap_or(0);
    below.max().unwrap_or(0).max(own)
}

struct Drawing {
    edges: String,
    nodes: String,
    /// The hatch, if a node needs it.
    hatch: &'static str,
    /// Where the next row begins.
    bottom: usize,
    /// The last column.
    depth: usize,
    /// The width of a box.
    width: usize,
}

impl Drawing {
    /// Draws a node and what is under it; the middle of its row.
    fn node(&mut self, node: &Node, column: usize) -> usize {
        self.depth = self.depth.max(column);
        let rows: Vec<_> = node.children.iter().map(|child| (child, self.child(child, column + 1))).collect();
        let row = match (rows.first(), rows.last()) {
            (Some((_, first)), Some((_, last))) => (first + last) / 2,
            _ => self.next_row(ROW),
        };
        for (child, to) in rows {
            let class = if matches!(child, Child::Node(_)) { "" } else { " class=\"dotted\"" };
            self.edge(class, column, row, to);
        }
        let class = match node.kind {
            _ if node.is_damaged => "damaged",
            Kind::Root => "root",
            Kind::Leaf => "leaf",
            _ if node.is_elided() => "elided",
            Kind::Top | Kind::Inner => "inner",
        };
        if node.is_damaged {
            self.hatch = HATCH;
        }
        self.shape(class, column, row, &node.tooltip(), &node.label());
        row
    }

    fn child(&mut self, child: &Child, column: usize) -> usize {
        let note = match child {
            Child::Node(node) => return self.node(node, column),
            Child::Elided(count) => format!("… {} more …", grouped(*count)),
            Child::Padding(count) => format!("{} × padding", grouped(*count)),
        };
        self.depth = self.depth.max(column);
        let (left, row) = (self.left(column) + 4, self.next_row(NOTE_ROW));
        let _ = writeln!(self.nodes, "<text class=\"note\" x=\"{left}\" y=\"{}\">{note}</text>", row + 4);
        row
    }

    fn next_row(&mut self, height: usize) -> usize {
        self.bottom += height;
        self.bottom - height / 2
    }

    fn shape(&mut self, class: &str, column: usize, row: usize, title: &str, label: &str) {
        let (x, y, width) = (self.left(column), row - BOX_HEIGHT / 2, self.width);
        let round = if class == "leaf" { 0 } else { 7 };
        let _ = write!(
            self.nodes,
            "<g class=\"{class}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" \
             height=\"{BOX_HEIGHT}\" rx=\"{round}\"/>",
            escaped(title)
        );
        for (line, down) in label.lines().zip([14, 28]) {
            let (left, base) = (x + BOX_MARGIN / 2, y + down);
            let _ = write!(self.nodes, "<text x=\"{left}\" y=\"{base}\">{}</text>", escaped(line));
        }
        self.nodes += "</g>\n";
    }

    /// A line from the box in `column` to the next column.
    fn edge(&mut self, class: &str, column: usize, from: usize, to: usize) {
        let start = self.left(column) + self.width;
        let end = self.left(column + 1);
        let middle = (start + end) / 2;
        let _ = writeln!(self.edges, "<path{class} d=\"M{start} {from}H{middle}V{to}H{end}\"/>");
    }

    fn left(&self, column: usize) -> usize {
        MARGIN + column * (self.width + GAP)
    }
}

/// Text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
