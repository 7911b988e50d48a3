//! The output of --verbose.

use crate::args::Io;
use crate::figures::{bytes, grouped, speed, time};
use crate::tool::Tool;
use mksum::Root;
use mksum_cli::extent::{depth, leaves};
use mksum_cli::name::Shown;
use mksum_io::Input;
use std::fmt::Write;

/// The number of leaves, and their depth.
fn tree(root: &Root) -> String {
    let shape = root.spec().shape();
    let count = if root.len() == 0 { 0 } else { leaves(shape, shape.root(root.len())) };
    let plural = if count == 1 { "leaf" } else { "leaves" };
    format!("{} {plural}, depth {}", grouped(count), depth(shape, root.len()))
}

/// Reports the requests that stores got, if any.
pub fn traffic(tool: &Tool) {
    let (requests, received) = tool.options.objects.as_ref().map_or((0, 0), |objects| objects.traffic());
    if requests > 0 {
        let plural = if requests == 1 { "request" } else { "requests" };
        tool.console.note(&format_args!("{} {plural} to stores, {} received", grouped(requests), bytes(received)));
    }
}

/// The facts about a file and its trees.
pub fn facts(path: &Input, roots: &[Root], tool: &Tool, io: Io) -> String {
    let mut text = format!("{}\n", Shown(path));
    let len = roots.first().map_or(0, Root::len);
    let threads = tool.options.threads;
    let _ = writeln!(text, "  size      {}", bytes(len));
    let _ = writeln!(text, "  reading   {} with {threads} thread{}", io.name(), if threads == 1 { "" } else { "s" });
    for root in roots {
        let _ = writeln!(text, "  tree      {}: {}", root.spec(), tree(root));
    }
    text
}

/// The facts about a file that was hashed once, and the time that it took.
pub fn verbose(path: &Input, roots: &[Root], seconds: f64, tool: &Tool, io: Io) -> String {
    let len = roots.first().map_or(0, Root::len);
    format!("{}  time      {}, {}", facts(path, roots, tool, io), time(seconds), speed(len, seconds))
}
