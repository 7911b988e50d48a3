//! A tree as a picture, left to right: each node in a column by its depth, in the middle of its children's rows.

use super::picture::{Child, Kind, Node, Picture};
use crate::figures::grouped;
use mksum_cli::name::Shown;
use std::fmt::Write;

/// Lengths in the picture's units.
const BOX_HEIGHT: f64 = 34.0;
/// Left and right of the text in a box together.
const BOX_MARGIN: f64 = 16.0;
/// Between two columns.
const GAP: f64 = 48.0;
const ROW: f64 = 42.0;
const NOTE_ROW: f64 = 26.0;
const MARGIN: f64 = 16.0;
const TITLE: f64 = 52.0;
/// A letter of the title, which is set in a monospaced font of 12 units.
const LETTER: f64 = 7.3;
/// A letter of a label, which is set in 11 units.
const LABEL_LETTER: f64 = 6.7;

const STYLE: &str = "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1b2733}\
                     .title{font-size:12px}.title .format{font-weight:bold}.note{fill:#666}\
                     rect{stroke:#3b5b7a;fill:#d7e5f3}.leaf rect{stroke:#55803f;fill:#e3f1df}\
                     .elided rect{fill:#f7f7f7;stroke-dasharray:4 3}\
                     .root rect{fill:#1f4e79;stroke:#0d2c49;stroke-width:2.5}.root text{fill:#fff}\
                     path{fill:none;stroke:#7d8b99}.dotted{stroke-dasharray:2 3}";

/// The picture as an SVG document.
pub fn text(picture: &Picture) -> String {
    let width = BOX_MARGIN + LABEL_LETTER * widest(&picture.tree) as f64;
    let mut drawing = Drawing { edges: String::new(), nodes: String::new(), bottom: TITLE, depth: 0, width };
    let seal = picture.seal();
    let row = drawing.node(&picture.tree, usize::from(seal.is_some()));
    if let Some((label, tooltip)) = seal {
        drawing.shape("root", 0, row, &tooltip, &label);
        drawing.edge("", 0, row, row);
    }
    let heading = format!("{} ({})", picture.root().spec(), Shown(&picture.path));
    let root = picture.root().to_string();
    let title = LETTER * heading.chars().count().max(root.chars().count()) as f64;
    let width = MARGIN + (drawing.left(drawing.depth) + drawing.width).max(title + MARGIN);
    let height = drawing.bottom + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height}\" width=\"{width:.1}\" \
         height=\"{height}\">\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" \
         style=\"fill:#fff;stroke:none\"/>\n<text class=\"title\" x=\"{MARGIN}\" y=\"22\"><tspan class=\"format\">{}</tspan>\
         <tspan x=\"{MARGIN}\" dy=\"17\">{root}</tspan></text>\n{}{}</svg>\n",
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
    /// Where the next row begins.
    bottom: f64,
    /// The last column.
    depth: usize,
    /// The width of a box.
    width: f64,
}

impl Drawing {
    /// Draws a node and what is under it; the middle of its row.
    fn node(&mut self, node: &Node, column: usize) -> f64 {
        self.depth = self.depth.max(column);
        let rows: Vec<_> = node.children.iter().map(|child| (child, self.child(child, column + 1))).collect();
        let row = match (rows.first(), rows.last()) {
            (Some((_, first)), Some((_, last))) => (first + last) / 2.0,
            _ => self.next_row(ROW),
        };
        for (child, to) in rows {
            let class = if matches!(child, Child::Node(_)) { "" } else { " class=\"dotted\"" };
            self.edge(class, column, row, to);
        }
        let class = match node.kind {
            Kind::Root => "root",
            Kind::Leaf => "leaf",
            _ if node.is_elided() => "elided",
            Kind::Top | Kind::Inner => "inner",
        };
        self.shape(class, column, row, &node.tooltip(), &node.label());
        row
    }

    fn child(&mut self, child: &Child, column: usize) -> f64 {
        let note = match child {
            Child::Node(node) => return self.node(node, column),
            Child::Elided(count) => format!("… {} more …", grouped(*count)),
            Child::Padding(count) => format!("{} × padding", grouped(*count)),
        };
        self.depth = self.depth.max(column);
        let (left, row) = (self.left(column) + 4.0, self.next_row(NOTE_ROW));
        let _ = writeln!(self.nodes, "<text class=\"note\" x=\"{left:.1}\" y=\"{}\">{note}</text>", row + 4.0);
        row
    }

    fn next_row(&mut self, height: f64) -> f64 {
        self.bottom += height;
        self.bottom - height / 2.0
    }

    fn shape(&mut self, class: &str, column: usize, row: f64, title: &str, label: &str) {
        let (x, y, width) = (self.left(column), row - BOX_HEIGHT / 2.0, self.width);
        let round = if class == "leaf" { 0 } else { 7 };
        let _ = write!(
            self.nodes,
            "<g class=\"{class}\"><title>{}</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" \
             height=\"{BOX_HEIGHT}\" rx=\"{round}\"/>",
            escaped(title)
        );
        for (line, down) in label.lines().zip([14.0, 28.0]) {
            let (left, base) = (x + BOX_MARGIN / 2.0, y + down);
            let _ = write!(self.nodes, "<text x=\"{left:.1}\" y=\"{base}\">{}</text>", escaped(line));
        }
        self.nodes += "</g>\n";
    }

    /// A line from the box in `column` to the next column.
    fn edge(&mut self, class: &str, column: usize, from: f64, to: f64) {
        let start = self.left(column) + self.width;
        let end = self.left(column + 1);
        let middle = (start + end) / 2.0;
        let _ = writeln!(self.edges, "<path{class} d=\"M{start:.1} {from}H{middle:.1}V{to}H{end:.1}\"/>");
    }

    fn left(&self, column: usize) -> f64 {
        MARGIN + column as f64 * (self.width + GAP)
    }
}

/// Text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
