//! The output of --verbose, and figures as words.

use crate::args::Io;
use crate::extent::{depth, leaves};
use crate::tool::Tool;
use mksum::Root;
use mksum_cli::name::Shown;
use mksum_io::Input;
use std::fmt::Write;

/// `4096000` as `4,096,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of bytes, as words.
pub fn bytes(number: u64) -> String {
    format!("{} byte{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Bytes a second in units of 10^9, as disks and memory are sold.
pub fn speed(bytes: u64, seconds: f64) -> String {
    format!("{:.2} GB/s", bytes as f64 / 1e9 / seconds.max(1e-9))
}

/// A duration with three or four digits that matter.
pub fn time(seconds: f64) -> String {
    match seconds {
        0.0..1e-3 => format!("{:.0} µs", seconds * 1e6),
        1e-3..1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// Seconds without the digits after the millionths.
pub fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!([0, 999, 1000, 4_096_000].map(grouped), ["0", "999", "1,000", "4,096,000"]);
        assert_eq!([0.000_05, 0.0123, 1.5, 99.994].map(time), ["50 µs", "12.3 ms", "1.50 s", "99.99 s"]);
        assert_eq!(speed(3_000_000_000, 2.0), "1.50 GB/s");
    }
}
