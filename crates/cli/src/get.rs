//! `mksum get`: a file from untrusted mirrors, verified against a trusted root.

use crate::args::Get as Args;
use crate::below::Below;
use crate::check;
use crate::exit::{Exit, usage};
use crate::figures::{self, grouped};
use crate::output::write_output;
use crate::print::report_transfer;
use crate::ranges;
use crate::signed;
use crate::summary::Verdict;
use crate::tool::Tool;
use crate::walk;
use mksum::ordered::ordered;
use mksum_cli::choice::Choice;
use mksum_cli::name::Shown;
use mksum_cli::sumfile::{Lines, Source};
use mksum_get::{Error, Expected, Got, List, Listed, Mirror, Outcome, Request, Target, get};
use mksum_io::{Input, Options, Throttle, open_bytes, reason};
use serde::Serialize;
use std::fs;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Fetches the file, or those of a list.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    tool.console.use_json(args.json);
    let mut options = tool.options.clone();
    if let Some(rate) = args.limit_rate {
        options = Options { throttle: Some(Arc::new(Throttle::new(rate))), ..options };
    }
    let given = args.choices.any().then(|| &tool.formats[0]);
    match (&args.check, &args.output) {
        (Some(list), folder) => list_of(tool, args, (list, given), folder.as_ref(), &options),
        (None, Some(output)) => file(tool, args, given, output, &options),
        (None, None) => usage(&"-o is missing: the file to be written"),
    }
}

/// Fetches one file.
fn file(tool: &Tool, args: &Args, given: Option<&Choice>, output: &Input, options: &Options) -> Exit {
    if args.signature.key.is_some() || args.signature.sig.is_some() {
        return usage(&"--sig and --key verify the list of --check");
    }
    let Some(root) = &args.root else {
        return usage(
            &"--root is missing, and nothing is fetched that cannot be verified: give a root or sum of the file from a source that \
              you trust",
        );
    };
    let expected = match Expected::parse(root, given) {
        Ok(expected) => expected,
        Err(why) => return usage(&format_args!("--root: {why}")),
    };
    let target = match output {
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
    let _progress = tool.progress(|| [Some(0)].into_iter());
    match get(&request, options) {
        Err(Error::Io(mksum_io::Error::Write { path: Input::Stdin, error }))
            if error.kind() == ErrorKind::BrokenPipe =>
        {
            return Exit::Unread;
        }
        got => report(tool, args, output, got),
    }
    tool.console.exit()
}

/// The files of a list that are fetched at a time: small ones wait for answers most of their time.
const FILES: usize = 4;

/// Fetches the files of a list.
fn list_of(
    tool: &Tool,
    args: &Args,
    (sums, given): (&Input, Option<&Choice>),
    folder: Option<&Input>,
    options: &Options,
) -> Exit {
    let console = &tool.console;
    if let Some(why) = args.signature.conflict() {
        return usage(&why);
    }
    let folder = match folder {
        None => PathBuf::new(),
        Some(Input::File(folder)) => folder.clone(),
        Some(Input::Stdin | Input::Url(_)) => return usage(&"-o: with --check, the path of a folder"),
    };
    let mirrors = match (&args.from[..], sums) {
        ([], Input::Url(url)) => vec![url.folder().into()],
        ([], _) => return usage(&"--from is missing: the URL or path of the folder that has the files of the list"),
        (from, _) => from.to_vec(),
    };
    let list = match read(tool, args, (sums, given), options) {
        Ok(list) => list,
        Err(exit) => return exit,
    };
    let names: Vec<_> = args.mirrors.iter().map(|name| name.as_os_str().into()).collect();
    let List { files, refused, malformed } = match if names.is_empty() { Ok(list) } else { list.select(&names) } {
        Ok(list) => list,
        Err(why) => return usage(&format_args!("{}: {why}", Shown(sums))),
    };
    for (number, why) in &malformed {
        if args.common.verbose || files.is_empty() {
            console.note(&format_args!("{}: {number}: improperly formatted checksum line: {why}", Shown(sums)));
        }
    }
    if files.is_empty() && refused.is_empty() {
        console.error(sums, &"no properly formatted checksum lines found");
    }
    for (name, why) in &refused {
        console.error(name, &format_args!("not fetched: {why}"));
        console.count(Verdict::Unreadable, 1);
    }
    let below = match fs::create_dir_all(&folder).and_then(|()| Below::new(&folder)) {
        Ok(below) => below,
        Err(error) => {
            console.error(&folder, &reason(&error));
            return console.exit();
        }
    };
    let progress = tool.progress(|| [Some(0)].into_iter());
    let at_once = FILES.min(args.connections).min(files.len().max(1));
    let fetch = |listed: Listed| {
        let mut request = listed.request(&mirrors, &folder);
        request.connections = args.connections / at_once;
        if args.no_outboard {
            request.outboards = Vec::new();
        }
        let path = folder.join(listed.name());
        let got = match below.refuses(&path, "not written") {
            Some(why) => Err(Error::Refused(path.clone().into(), why)),
            None => path
                .parent()
                .map_or(Ok(()), fs::create_dir_all)
                .map_err(|error| mksum_io::Error::Write { path: path.clone().into(), error }.into())
                .and_then(|()| get(&request, options)),
        };
        (Input::from(path), got)
    };
    ordered(
        at_once,
        4 * at_once,
        files.into_iter(),
        || (),
        |(), listed| fetch(listed),
        |results| {
            for (path, got) in results {
                let is_good = got.as_ref().is_ok_and(|got| got.outcome != Outcome::Incomplete);
                console.count(if is_good { Verdict::Ok } else { Verdict::Failed }, 1);
                report(tool, args, &path, got);
            }
        },
    );
    drop(progress);
    console.summarize(options.meter.bytes());
    console.exit()
}

/// Reads a list, of which nothing is believed before its signature is.
fn read(tool: &Tool, args: &Args, (sums, given): (&Input, Option<&Choice>), options: &Options) -> Result<List, Exit> {
    let open = || match sums {
        Input::Stdin => walk::stdin(),
        place => open_bytes(place, options).map_err(|error| io::Error::other(error.to_string())),
    };
    let says = signed::Says { json: args.json, words: !args.common.quiet, otherwise: "nothing was fetched" };
    let reader: Box<dyn Read + Send> = match signed::read(tool, &args.signature, (sums, open), says)? {
        Some(list) => Box::new(Cursor::new(list)),
        None => open().map_err(|error| {
            tool.console.error(sums, &reason(&error));
            Exit::Failed
        })?,
    };
    // Its name tells hashes and files, its folder nothing: the names are those below the mirrors.
    let text = sums.as_os_str().to_string_lossy();
    let name = text.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or_default();
    let source = Source::new(tool.end, given).at(name.split(['?', '#']).next().unwrap_or_default().as_ref());
    List::read(&mut Lines::new(check::text(reader), source), given).map_err(|error| {
        tool.console.error(sums, &reason(&error));
        Exit::Failed
    })
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

/// Prints what became of a file.
fn report(tool: &Tool, args: &Args, path: &Input, got: Result<Got, Error>) {
    let console = &tool.console;
    let got = &match got {
        Ok(got) => got,
        Err(error) => return report_transfer(console, &error),
    };
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
        console.print_json(path, Record::new(got));
    }
    if got.outcome == Outcome::Incomplete {
        let missing: u64 = got.missing.iter().map(|range| range.end - range.start).sum();
        let why = match (&got.outboard, &got.left) {
            (None, None) => "not fetched: no mirror has a file with this root".into(),
            (None, Some(left)) if got.is_other => format!(
                "not fetched: no mirror has a file with this root; what came last is kept as {}: with an --outboard of the right file, \
                 only what is wrong of it is fetched again",
                Shown(left)
            ),
            (None, Some(left)) => {
                format!(
                    "not whole: no mirror had all of it; what came is kept as {}: the next run goes on there",
                    Shown(left)
                )
            }
            (Some(_), _) => format!(
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
            let part = |bytes: u64, what: &str| (bytes > 0).then(|| format!(", {} {what}", figures::bytes(bytes)));
            let resumed = part(got.resumed, "resumed").unwrap_or_default();
            let seeded = part(got.seeded, "from older files").unwrap_or_default();
            format!("OK: {} fetched{resumed}{seeded}", figures::bytes(got.fetched))
        }
    };
    match path {
        _ if args.json || (args.check.is_some() && (args.common.quiet || console.is_brief())) => {}
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
struct Record {
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

impl Record {
    fn new(got: &Got) -> Record {
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
        Record {
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
