//! `mksum merklize --bench`: the speed of node trees and its limits.

use super::timeline::{self, millis};
use crate::args::Merklize;
use crate::report::grouped;
use crate::tool::Tool;
use base16ct::lower::encode_string;
use mksum::Hash;
use mksum::node_tree::{self, Aligned, Limits, Timeline, Timings};
use mksum_io::random;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// The sizes of merklize-blake3's table, as powers of two.
const SIZES: std::ops::RangeInclusive<u32> = 20..=25;

/// Measures trees on `device`.
pub fn run(tool: &Tool, args: &Merklize, device: &dyn node_tree::Merklize, runs: u32) {
    if let Err(reason) = measure(tool, args, device, runs) {
        tool.console.error(Path::new(&args.device), &reason);
    }
}

/// One line of the table: medians over the runs, unless their names say otherwise.
struct Row {
    hash: &'static str,
    device: String,
    leaves: usize,
    runs: u32,
    kernel_ms: f64,
    to_device_ms: f64,
    from_device_ms: f64,
    wall_ms: f64,
    wall_least_ms: f64,
    wall_most_ms: f64,
    /// Of the wall's median.
    nodes_per_second: f64,
    /// The kernels' share of the rate at which as many bytes are copied, and of that at which nodes are hashed that are in
    /// the nearest cache already: in per cent.
    copy_percent: f64,
    hash_percent: f64,
}

fn measure(tool: &Tool, args: &Merklize, device: &dyn node_tree::Merklize, runs: u32) -> Result<(), String> {
    let (hash, size) = (args.hash, args.hash.size());
    let sizes: Vec<usize> = match args.random {
        Some(count) => vec![usize::try_from(count).map_err(|_| no_memory(count))?],
        None => SIZES.map(|power| 1 << power).collect(),
    };
    let most = sizes[sizes.len() - 1];
    let mut leaves = memory(most, size)?;
    random(args.seed, 0, &mut leaves);
    let mut nodes = memory(most, size)?;
    let limits = device.limits(hash).map_err(|error| error.to_string())?;
    if !args.json && !args.csv {
        tool.console.print(head(args, device, runs, limits).as_bytes());
        tool.console.flush();
    }
    for (index, count) in sizes.into_iter().enumerate() {
        let (row, median) = row(device, hash, runs, limits, (&leaves[..count * size], &mut nodes[..count * size]))?;
        let line = match (args.json, args.csv) {
            (true, _) => row.json(),
            (_, true) if index == 0 => csv(row.fields().map(|(name, _)| name.into())) + &row.csv(),
            (_, true) => row.csv(),
            _ => row.line(),
        };
        tool.console.print(line.as_bytes());
        tool.console.flush();
        if args.verbose {
            let Sample { wall, timeline, .. } = &median;
            let (hash, device) = (row.hash, &row.device);
            let run = timeline::Run { hash, device, leaves: count, wall: *wall, timeline };
            match args.json {
                true => tool.console.print(&run.json()),
                false => tool.console.note(&run.drawing()),
            }
            tool.console.flush();
        }
    }
    Ok(())
}

/// A run over a tree.
struct Sample {
    wall: Duration,
    timings: Timings,
    timeline: Timeline,
}

/// Measures a tree, and returns the run with the median of the wall's times too.
fn row(
    device: &dyn node_tree::Merklize,
    hash: Hash,
    runs: u32,
    limits: Limits,
    (leaves, nodes): (&[u8], &mut [u8]),
) -> Result<(Row, Sample), String> {
    let size = hash.size();
    // Every byte is there before it is timed, and none is right.
    nodes.fill(0xa5);
    let run = |nodes: &mut [u8]| {
        let begin = Instant::now();
        let timeline = device.merklize_timed(hash, leaves, nodes).map_err(|error| error.to_string())?;
        Ok::<_, String>(Sample { wall: begin.elapsed(), timings: timeline.timings(), timeline })
    };
    // The first run is not counted, but checked.
    run(nodes)?;
    check(hash, leaves, nodes)?;
    let root = nodes[size..2 * size].to_vec();
    let mut done = Vec::new();
    for _ in 0..runs {
        nodes[..2 * size].fill(0xa5);
        done.push(run(nodes)?);
        if nodes[size..2 * size] != root {
            let (found, expected) = (encode_string(&nodes[size..2 * size]), encode_string(&root));
            return Err(format!("another run over the same leaves has the root {found}, not {expected}"));
        }
    }
    done.sort_by_key(|run| run.wall);
    let part = |part: fn(&Sample) -> Duration| {
        let mut sorted: Vec<_> = done.iter().map(part).collect();
        sorted.sort();
        sorted
    };
    let median = |sorted: &[Duration]| (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2;
    let (wall, kernel) = (part(|run| run.wall), median(&part(|run| run.timings.kernel)));
    let count = leaves.len() / size;
    let share = |most: f64, amount: usize| rounded(100.0 * amount as f64 / most / kernel.as_secs_f64().max(1e-9), 1);
    let row = Row {
        hash: hash.name(),
        device: device.name(),
        leaves: count,
        runs,
        kernel_ms: millis(kernel),
        to_device_ms: millis(median(&part(|run| run.timings.to_device))),
        from_device_ms: millis(median(&part(|run| run.timings.from_device))),
        wall_ms: millis(median(&wall)),
        wall_least_ms: millis(wall[0]),
        wall_most_ms: millis(wall[wall.len() - 1]),
        nodes_per_second: rounded((count - 1) as f64 / median(&wall).as_secs_f64().max(1e-9), 0),
        copy_percent: share(limits.copy, leaves.len()),
        hash_percent: share(limits.nodes, count - 1),
    };
    // Of an even number of runs, the shorter one of both in the middle.
    let middle = (done.len() - 1) / 2;
    Ok((row, done.swap_remove(middle)))
}

/// Compares every node with the hash of its children, one at a time: by another kernel than many are hashed with.
fn check(hash: Hash, leaves: &[u8], nodes: &[u8]) -> Result<(), String> {
    let (pair, half) = (2 * hash.size(), nodes.len() / 2);
    let wrong = |(node, children): (&[u8], &[u8])| *node != mksum_lanes::digest(hash, &[children])[..hash.size()];
    // The children of the upper half are the lower half, those of the lower half the leaves.
    let parts = nodes[..half].chunks_exact(pair / 2).zip(nodes.chunks_exact(pair));
    let found = parts.skip(1).position(wrong).map(|at| at + 1);
    let lowest = nodes[half..].chunks_exact(pair / 2).zip(leaves.chunks_exact(pair));
    match found.or_else(|| lowest.map(wrong).position(|wrong| wrong).map(|at| at + nodes.len() / pair)) {
        Some(at) => Err(format!("node {at} is wrong: it is not the hash of its children")),
        None if nodes[..pair / 2].iter().any(|&byte| byte != 0) => Err("place 0 is not zero".into()),
        None => Ok(()),
    }
}

fn memory(count: usize, size: usize) -> Result<Aligned, String> {
    let bytes = count.checked_mul(size).ok_or_else(|| no_memory(count as u64))?;
    Aligned::zeroed(bytes).map_err(|_| no_memory(count as u64))
}

fn no_memory(count: u64) -> String {
    format!("{} leaves and their nodes do not fit into memory: --random takes fewer", grouped(count))
}

fn rounded(number: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (number * unit).round() / unit
}

/// What stands above the table.
fn head(args: &Merklize, device: &dyn node_tree::Merklize, runs: u32, limits: Limits) -> String {
    format!(
        "{}, {}: medians of {runs} runs, with the least and the most of the whole; every node was checked\n\
         copying in memory {:.1} GB/s, hashing what is in the cache {:.1} million nodes/s\n\
         {:>11} {:>10} {:>10} {:>10} {:>10} {:>19} {:>9} {:>7} {:>7}\n",
        args.hash.name(),
        device.name(),
        limits.copy / 1e9,
        limits.nodes / 1e6,
        "leaves",
        "kernel ms",
        "to dev ms",
        "from ms",
        "wall ms",
        "(least-most)",
        "Mnode/s",
        "% copy",
        "% hash"
    )
}

impl Row {
    /// What machines read, by name.
    fn fields(&self) -> [(&'static str, Value); 13] {
        [
            ("hash", self.hash.into()),
            ("device", self.device.clone().into()),
            ("leaves", self.leaves.into()),
            ("runs", self.runs.into()),
            ("kernel_ms", self.kernel_ms.into()),
            ("to_device_ms", self.to_device_ms.into()),
            ("from_device_ms", self.from_device_ms.into()),
            ("wall_ms", self.wall_ms.into()),
            ("wall_least_ms", self.wall_least_ms.into()),
            ("wall_most_ms", self.wall_most_ms.into()),
            ("nodes_per_second", self.nodes_per_second.into()),
            ("copy_percent", self.copy_percent.into()),
            ("hash_percent", self.hash_percent.into()),
        ]
    }

    fn json(&self) -> String {
        format!(
            "{{\"kind\":\"benchmark\",{}}}\n",
            self.fields().map(|(name, value)| format!("\"{name}\":{value}")).join(",")
        )
    }

    fn csv(&self) -> String {
        csv(self.fields().map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_string)))
    }

    fn line(&self) -> String {
        let spread = format!("({:.2}-{:.2})", self.wall_least_ms, self.wall_most_ms);
        format!(
            "{:>11} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {spread:>19} {:>9.1} {:>7.1} {:>7.1}\n",
            grouped(self.leaves as u64),
            self.kernel_ms,
            self.to_device_ms,
            self.from_device_ms,
            self.wall_ms,
            self.nodes_per_second / 1e6,
            self.copy_percent,
            self.hash_percent
        )
    }
}

/// A line of these fields (RFC 4180).
fn csv(fields: impl IntoIterator<Item = String>) -> String {
    let quoted = |text: String| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    };
    fields.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum::node_tree::CpuLanes;

    #[test]
    fn every_wrong_node_is_found() {
        let (hash, mut leaves, mut nodes) = (Hash::Sha1, vec![0; 16 * 20], vec![0; 16 * 20]);
        random(3, 0, &mut leaves);
        node_tree::Merklize::merklize(&CpuLanes { threads: 1 }, hash, &leaves, &mut nodes).unwrap();
        assert_eq!(check(hash, &leaves, &nodes), Ok(()));
        for at in 0..nodes.len() {
            nodes[at] ^= 1;
            assert!(check(hash, &leaves, &nodes).is_err(), "byte {at}");
            nodes[at] ^= 1;
        }
    }

    #[test]
    fn medians_of_even_and_odd_numbers_of_runs() {
        let cpu = CpuLanes { threads: 1 };
        let limits = Limits { copy: 1e9, nodes: 1e6 };
        let (leaves, mut nodes) = (vec![7; 64 * 32], vec![0; 64 * 32]);
        for runs in [1, 2, 5] {
            let (row, median) = row(&cpu, Hash::Blake3, runs, limits, (&leaves, &mut nodes)).unwrap();
            assert!(row.wall_least_ms <= row.wall_ms && row.wall_ms <= row.wall_most_ms);
            assert_eq!((row.leaves, row.runs, row.to_device_ms), (64, runs, 0.0));
            assert!((row.wall_least_ms..=row.wall_most_ms).contains(&millis(median.wall)));
            assert_eq!(median.timeline.spans().len(), 1);
        }
    }
}
