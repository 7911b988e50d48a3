//! `mksum merklize`: every node of a tree over digests.

use crate::args::Merklize;
use crate::exit::{Ended, refuse, usage};
use crate::streams::{Stream, is_open};
use crate::tool::Tool;
use crate::{figures, gpu, walk};
use base16ct::lower::encode_string;
use mksum_cli::name;
use mksum_cli::sum::{self, Style};
use mksum_io::{Input, Leaves, Merklized, merklize};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Writes the nodes and prints the root.
pub fn run(tool: &Tool, args: &Merklize) -> Ended {
    let device = gpu::merklizer(&args.device, tool.options.threads, &tool.console).map_err(|reason| usage(&reason))?;
    if args.output.as_deref() == Some(Path::new("-")) {
        return refuse(&"nodes are binary: name a file for --output, or ./- for a file of that name");
    }
    tool.console.use_json(args.json);
    let input = args.file.as_ref().map_or(Input::Stdin, Input::parse);
    if args.random.is_none() && input == Input::Stdin && !is_open(Stream::Input) {
        return Err(tool.console.fail_with(&input, &"standard input is closed"));
    }
    let begin = Instant::now();
    let leaves = match args.random {
        Some(count) => Leaves::Random { seed: args.seed, len: count * args.hash.size() as u64 },
        None => Leaves::At(&input),
    };
    let path = if args.random.is_some() { &Input::place("random") } else { &input };
    let len = match leaves {
        Leaves::Random { len, .. } => Some(len),
        Leaves::At(input) => walk::length(input),
    };
    let progress = tool.progress(move || [len].into_iter());
    let done = merklize(leaves, args.hash, &*device, args.output.as_deref(), &tool.options);
    drop(progress);
    match done {
        Ok(done) => print_root(tool, args, path, &done, &device.name(), begin.elapsed().as_secs_f64()),
        Err(error) => tool.console.error(error.input(), &error),
    }
    Ok(tool.console.exit())
}

#[derive(Serialize)]
struct Record<'a> {
    kind: &'static str,
    hash: &'a str,
    leaves: u64,
    root: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<&'a str>,
    device: &'a str,
    seconds: f64,
}

fn print_root(tool: &Tool, args: &Merklize, path: &Input, done: &Merklized, device: &str, seconds: f64) {
    let root = encode_string(&done.root);
    if args.json {
        let nodes = args.output.as_deref().map(name::lossy);
        let seconds = figures::micros(seconds);
        let (hash, nodes) = (args.hash.name(), nodes.as_deref());
        let record = Record { kind: "tree", hash, leaves: done.leaves, root: &root, nodes, device, seconds };
        return tool.console.print_json(path, record);
    }
    // As `mksum -f blake3-pairs` names it.
    let format = format!("{}-pairs", args.hash.name());
    tool.console.print(&sum::line(Style::Tagged, tool.end, &format, &name::listed(path), &root));
}
