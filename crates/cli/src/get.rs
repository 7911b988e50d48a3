//! `mksum get`: a file from untrusted mirrors, verified against a trusted root.

use crate::args::Get as Args;
use crate::exit::{Exit, usage};
use crate::figures::grouped;
use crate::output::write_output;
use crate::print::report_error;
use crate::ranges;
use crate::tool::Tool;
use mksum_cli::name::Shown;
use mksum_get::{Error, Expected, Got, Mirror, Outcome, Request, Target, get};
use mksum_io::{Input, Options, Throttle};
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Fetches the file.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    tool.console.use_json(args.json);
    let Some(root) = &args.root else {
        return usage(
            &"--root is missing, and nothing is fetched that cannot be verified: give a root or sum of the file from a source that \
              you trust",
        );
    };
    let given = args.choices.any().then(|| &tool.formats[0]);
    let expected = match Expected::parse(root, given) {
        Ok(expected) => expected,
        Err(why) => return usage(&format_args!("--root: {why}")),
    };
    let target = match &args.output {
        Input::File(path) => Target::File(path.clone()),
        Input::Url(_) => return usage(&"objects are not written: give the path of a file with -o"),
        Input::Stdin if args.json || !args.seed.is_empty() => {
            return usage(&"standard output has the file alone: --json and --seed need a file with -o");
        }
        Input::Stdin => Target::Writer(Arc::new(Mutex::new(Output))),
    };
    let mut request = Request::new(args.mirrors.clone(), expected, target);
    if args.no_outboard || !args.outboard.is_empty() {
        request.outboards = args.outboard.clone();
    }
    (request.seeds, request.len, request.connections) = (args.seed.clone(), args.length, args.connections);
    let mut options = tool.options.clone();
    if let Some(rate) = args.limit_rate {
        options = Options { throttle: Some(Arc::new(Throttle::new(rate))), ..options };
    }
    let _progress = tool.progress(|| [Some(0)].into_iter());
    match get(&request, &options) {
        Ok(got) => report(tool, args, &got),
        Err(Error::Io(mksum_io::Error::Write { path: Input::Stdin, error }))
            if error.kind() == ErrorKind::BrokenPipe =>
        {
            return Exit::Unread;
        }
        Err(Error::Io(error)) => report_error(&tool.console, &error),
        Err(Error::Refused(place, why)) => tool.console.error(&place, &why),
    }
    tool.console.exit()
}

/// Standard output, unbuffered.
struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_output(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn report(tool: &Tool, args: &Args, got: &Got) {
    let (console, path) = (&tool.console, &args.output);
    for (place, why) in &got.notes {
        console.note(&format_args!("{}: not used: {why}", Shown(place)));
    }
    for mirror in &got.mirrors {
        let place = Shown(&mirror.place);
        for Range { start, end } in joined(&mirror.bad) {
            console.note(&format_args!("{place}: bytes {start}..{end} were wrong, and not written"));
        }
        if let Some(why) = &mirror.error {
            console.note(&format_args!("{place}: {why}"));
        }
    }
    if args.json {
        console.print_json(path, Verdict::new(got));
    }
    if got.outcome == Outcome::Incomplete {
        let missing: u64 = got.missing.iter().map(|range| range.end - range.start).sum();
        let why = match (&got.outboard, missing) {
            (None, _) => "not fetched: no mirror has a file with this root".into(),
            (Some(_), missing) => format!(
                "not whole: no mirror has the right {} bytes ({} range{}); what was verified is kept: try again, or with \
                 another mirror",
                grouped(missing),
                grouped(got.missing.len() as u64),
                if got.missing.len() == 1 { "" } else { "s" }
            ),
        };
        console.fail();
        return console.note(&format_args!("{}: {why}", Shown(path)));
    }
    let root = got.root.as_ref().map_or_else(String::new, |root| format!("root {root}, {}", root.spec()));
    let what = match got.outcome {
        Outcome::Present => "OK: it is right already, nothing was fetched".into(),
        _ => {
            let part = |bytes: u64, what: &str| (bytes > 0).then(|| format!(", {} bytes {what}", grouped(bytes)));
            let resumed = part(got.resumed, "resumed").unwrap_or_default();
            let seeded = part(got.seeded, "from older files").unwrap_or_default();
            format!("OK: {} bytes fetched{resumed}{seeded}", grouped(got.fetched))
        }
    };
    match path {
        _ if args.json => {}
        Input::Stdin => console.note(&format_args!("{what} ({root})")),
        path => ranges::line(tool, path, &format_args!("{what} ({root})")),
    }
}

/// Ranges in order, as few as possible.
fn joined(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    mksum::ranges::union(ranges.to_vec())
}

/// The result, as JSON.
#[derive(Serialize)]
struct Verdict {
    kind: &'static str,
    ok: bool,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outboard: Option<String>,
    fetched: u64,
    resumed: u64,
    seeded: u64,
    ranges: Vec<[u64; 2]>,
    mirrors: Vec<MirrorLine>,
}

/// What became of a mirror, as JSON.
#[derive(Serialize)]
struct MirrorLine {
    mirror: String,
    bytes: u64,
    bad: Vec<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Verdict {
    fn new(got: &Got) -> Verdict {
        let pairs = |ranges: &[Range<u64>]| ranges.iter().map(|range| [range.start, range.end]).collect();
        let line = |mirror: &Mirror| {
            let (name, error) = (mirror.place.to_string(), mirror.error.clone());
            MirrorLine { mirror: name, bytes: mirror.bytes, bad: pairs(&mirror.bad), error }
        };
        let state = match got.outcome {
            Outcome::Present => "present",
            Outcome::Fetched => "fetched",
            Outcome::Incomplete => "incomplete",
        };
        let root = got.root.as_ref();
        Verdict {
            kind: "get",
            ok: got.outcome != Outcome::Incomplete,
            state,
            format: root.map(|root| root.spec().to_string()),
            length: root.map(mksum::Root::len),
            root: root.map(ToString::to_string),
            outboard: got.outboard.as_ref().map(ToString::to_string),
            fetched: got.fetched,
            resumed: got.resumed,
            seeded: got.seeded,
            ranges: pairs(&got.missing),
            mirrors: got.mirrors.iter().map(line).collect(),
        }
    }
}
