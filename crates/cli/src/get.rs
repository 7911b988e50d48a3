//! `mksum get`: a file from untrusted mirrors, verified against a trusted root.

use crate::args::Get as Args;
use crate::catalogue::get as catalogue;
use crate::check;
use crate::claims::{Claim, claims, strongest};
use crate::directory;
use crate::exit::{Ended, Exit, refuse, usage};
use crate::figures::{self, grouped};
use crate::json;
use crate::output::write_output;
use crate::pieces;
use crate::print::{print_root, report_transfer};
use crate::ranges;
use crate::signed;
use crate::summary::Verdict;
use crate::tool::Tool;
use crate::walk;
use mksum::directory::DirectorySpec;
use mksum::{Root, Spec};
use mksum_cli::choice::Choice;
use mksum_cli::name::Shown;
use mksum_cli::sumfile::{Lines, Source};
use mksum_get::{
    Error, Expected, FolderRequest, Got, List, Manifest, Mirror, Outcome, Pieces, Request, Target, extra, get, get_list,
};
use mksum_io::{Input, Options, Throttle, Url, open_bytes, reason};
use serde::Serialize;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Fetches the file, or those of a list.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    tool.console.use_json(args.json);
    if args.also.iter().any(|choice| choice.directory().is_some()) {
        return refuse(&"--also: a directory has no sums of bytes: give a format of files");
    }
    let mut options = tool.options.clone();
    if let Some(rate) = args.limit_rate {
        options = Options { throttle: Some(Arc::new(Throttle::new(rate))), ..options };
    }
    let given = args.choices.any().then(|| &tool.formats[0]);
    match (&args.check, &args.output) {
        (Some(list), folder) => list_of(tool, args, (list, given), folder.as_ref(), &options),
        (None, Some(output)) => file(tool, args, given, output, &options),
        (None, None) => refuse(&"-o is missing: the file to be written"),
    }
}

/// Fetches one file.
fn file(tool: &Tool, args: &Args, given: Option<&Choice>, output: &Input, options: &Options) -> Ended {
    if args.signature.key.is_some() || args.signature.sig.is_some() {
        return refuse(&"--sig and --key verify the list of --check");
    }
    let (expected, trusted, described) = match &args.root {
        Some(root) => {
            let expected = Expected::parse(root, given).map_err(|why| usage(&format_args!("--root: {why}")))?;
            (expected, Trusted::Given, Described::default())
        }
        None => {
            let (expected, header, described) = stated(tool, args, given, options)?;
            (expected, Trusted::Server(header), described)
        }
    };
    if let Some(spec) = expected.directory() {
        return tree(tool, args, (&expected, spec), output, options);
    }
    if !args.catalogue.is_empty() {
        return refuse(&"--catalogue is for the root of a directory: 'mksum -f dir DIR' prints one");
    }
    let target = match output {
        Input::File(path) => Target::File(path.clone()),
        Input::Url(_) => return refuse(&"objects are not written: give the path of a file with -o"),
        Input::Stdin if args.json || !args.seed.is_empty() => {
            return refuse(&"standard output has the file alone: --json and --seed need a file with -o");
        }
        Input::Stdin => Target::Writer(Arc::new(Mutex::new(Output))),
    };
    let mut request = Request::new([&args.mirrors[..], &described.mirrors].concat(), expected, target);
    if let Some(format) = &args.foreign {
        request = request.with_foreign(format.clone());
    }
    if args.no_outboard || !args.outboard.is_empty() {
        request.outboards = args.outboard.clone();
    }
    (request.seeds, request.len, request.connections) =
        (args.seed.clone(), args.length.or(described.len), args.connections);
    request.pieces = described.pieces;
    request.also = also(args);
    let _progress = tool.progress(|| [Some(0)].into_iter());
    match get(&request, options) {
        Err(Error::Io(mksum_io::Error::Write { path: Input::Stdin, error }))
            if error.kind() == ErrorKind::BrokenPipe =>
        {
            return Ok(Exit::Unread);
        }
        got => report(tool, args, output, (got, args.common.quiet), &trusted),
    }
    Ok(tool.console.exit())
}

/// Who says what the root of a file is.
enum Trusted {
    /// The user, or a list that the user trusts.
    Given,
    /// The server of the file, in this header.
    Server(String),
}

/// What the servers of a file have about it besides its root.
#[derive(Default)]
struct Described {
    /// Other places of the file.
    mirrors: Vec<Input>,
    pieces: Option<Pieces>,
    len: Option<u64>,
}

impl Described {
    /// The mirrors that are taken from one response, at most.
    const MIRRORS: usize = 16;

    /// Adds places of the file that are not there.
    fn add(&mut self, args: &Args, places: impl IntoIterator<Item = Input>) {
        for place in places {
            if self.mirrors.len() < Self::MIRRORS && !args.mirrors.contains(&place) && !self.mirrors.contains(&place) {
                self.mirrors.push(place);
            }
        }
    }
}

/// The media type of a metalink (RFC 5854).
const METALINK: &str = "application/metalink4+xml";

/// What the metalink of a file at `mirror` says about it (RFC 6249, 2).
fn described(url: &Url, mirror: &Input, options: &Options) -> Result<Request, String> {
    let reader = open_bytes(&url.clone().into(), options).map_err(|error| error.to_string())?;
    let mut list = List::of_manifest(pieces::read(reader)?);
    if let [_, _, ..] = list.files[..] {
        let name = mirror.name().ok_or("it has several files")?;
        list = list.select(&[name])?;
    }
    let file = list.files.first().ok_or("it has no sum of the file")?;
    Ok(file.request(&[], Path::new("")))
}

/// The root that the servers of a file state themselves, the header that has it, and what else they have about the file. Two roots that
/// differ are an error.
fn stated(
    tool: &Tool,
    args: &Args,
    given: Option<&Choice>,
    options: &Options,
) -> Result<(Expected, String, Described), Exit> {
    let missing =
        "nothing is fetched that cannot be verified: give a root or sum of the file from a source that you trust";
    let urls: Vec<_> = args.mirrors.iter().filter_map(|mirror| Some((mirror, mirror.url()?))).collect();
    let Some(objects) = options.objects.as_ref().filter(|_| !urls.is_empty()) else {
        return Err(usage(&format_args!("--root is missing, and {missing}")));
    };
    let console = &tool.console;
    let (mut found, mut failed): (Option<(&Input, Claim)>, usize) = (None, 0);
    let (mut more, mut metalink) = (Described::default(), None);
    for (mirror, url) in &urls {
        let stored = match objects.stored(url) {
            Ok(stored) => stored,
            Err(error) => {
                failed += 1;
                console.note(&format_args!("{}: {error}", Shown(*mirror)));
                continue;
            }
        };
        for link in &stored.links {
            let is = |relation: &str| link.relations.iter().any(|other| other == relation);
            if is("duplicate") {
                more.add(args, [link.url.clone().into()]);
            }
            // It has no other formats than its own.
            if is("describedby")
                && link.media_type.as_deref() == Some(METALINK)
                && given.is_none()
                && metalink.is_none()
            {
                match described(&link.url, mirror, options) {
                    Ok(request) => metalink = Some((*mirror, link.url.clone(), request)),
                    Err(why) => console.note(&format_args!("{}: {why}", Shown(&Input::from(link.url.clone())))),
                }
            }
        }
        let claims = claims(&stored);
        for (name, text) in stored.sums.iter().filter(|(name, _)| name.ends_with("digest")) {
            if !claims.iter().any(|claim| claim.name == *name) {
                let text: String = text.chars().take(80).collect();
                console
                    .note(&format_args!("{}: {name}: {text}: no digest of the file is known from it", Shown(*mirror)));
            }
        }
        match &found {
            None => {
                found = strongest(claims, given.map(Choice::spec)).map(|claim| (*mirror, claim));
            }
            Some((first, chosen)) => {
                let other = claims.iter().find(|claim| claim.specs == chosen.specs && claim.claimed != chosen.claimed);
                if let Some(other) = other {
                    let (first, name) = (Shown(*first), &other.name);
                    let why = format_args!("its {name} is {}, and {} has {}", other.text, first, chosen.text);
                    console.error(*mirror, &format_args!("the mirrors have different files: {why}"));
                    return Err(console.exit());
                }
            }
        }
    }
    let found = match found {
        Some((mirror, Claim { name, claimed, specs, .. })) => {
            let text = format!("{}:{}", specs[0], claimed[0].text(&specs[0]));
            Some((mirror, name, Expected::parse(&text, None).map_err(|why| usage(&why))?))
        }
        None => None,
    };
    if let Some((mirror, url, request)) = metalink {
        let root = |expected: &Expected| (expected.specs(0), expected.text());
        if let Some((other, name, expected)) = found
            && root(&expected).0 == root(&request.expected).0
            && root(&expected).1 != root(&request.expected).1
        {
            let why = format_args!(
                "its metalink has {}, and {name} of {} {}",
                request.expected.text(),
                Shown(other),
                expected.text()
            );
            console.error(mirror, &format_args!("the mirrors have different files: {why}"));
            return Err(console.exit());
        }
        more.add(args, request.mirrors);
        (more.pieces, more.len) = (request.pieces, request.len);
        return Ok((request.expected, format!("the metalink {}", Shown(&Input::from(url))), more));
    }
    match found {
        Some((_, name, expected)) => Ok((expected, name, more)),
        None if failed == urls.len() => {
            console.fail();
            Err(console.exit())
        }
        None => Err(usage(&format_args!("--root is missing, the server states no sum of the file, and {missing}"))),
    }
}

/// Fetches the directory that has the trusted root.
fn tree(
    tool: &Tool,
    args: &Args,
    (expected, spec): (&Expected, &DirectorySpec),
    output: &Input,
    options: &Options,
) -> Ended {
    let Input::File(folder) = output else {
        return refuse(&"-o: with the root of a directory, the path of a folder");
    };
    if !args.outboard.is_empty() || args.foreign.is_some() || !args.seed.is_empty() || args.length.is_some() {
        return refuse(
            &"--outboard, --foreign, --seed and --length are for one file, and the root is that of a directory",
        );
    }
    let (root, mut list) = catalogue::trusted(tool, (&args.catalogue, &args.mirrors), expected, options)?;
    list.refuse_clashes();
    folder_of(tool, args, (list, Some((spec, root))), &args.mirrors, folder, options)
}

/// The bytes at the beginning of a list that show whether it is a catalogue, torrent or metalink.
const HEAD: u64 = 64;

/// The first bytes of a catalogue: SQLite's.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Fetches the files of a list.
fn list_of(
    tool: &Tool,
    args: &Args,
    (sums, given): (&Input, Option<&Choice>),
    folder: Option<&Input>,
    options: &Options,
) -> Ended {
    let console = &tool.console;
    if let Some(why) = args.signature.conflict() {
        return refuse(&why);
    }
    let folder = match folder {
        None => PathBuf::new(),
        Some(Input::File(folder)) => folder.clone(),
        Some(Input::Stdin | Input::Url(_)) => return refuse(&"-o: with --check, the path of a folder"),
    };
    let needs_from = "--from is missing: the URL or path of the folder that has the files of the list";
    // A torrent or metalink may name mirrors itself.
    let may_name = sums.name().is_none_or(|name| {
        name.extension().is_some_and(|kind| ["torrent", "meta4"].iter().any(|other| kind.eq_ignore_ascii_case(other)))
    });
    if args.from.is_empty() && sums.url().is_none() && !may_name {
        return refuse(&needs_from);
    }
    let list = read(tool, args, (sums, given), options)?;
    let has_mirrors = !list.mirrors.is_empty() || list.files.iter().any(|file| !file.mirrors.is_empty());
    let mirrors = match (&args.from[..], sums) {
        ([], _) if has_mirrors => list.mirrors.clone(),
        ([], Input::Url(url)) => vec![folder_of_list(url)],
        ([], _) => return refuse(&needs_from),
        (from, _) => [from, &list.mirrors].concat(),
    };
    let names: Vec<_> = args.mirrors.iter().map(|name| name.as_os_str().into()).collect();
    let list = if names.is_empty() { Ok(list) } else { list.select(&names) };
    let list = list.map_err(|why| usage(&format_args!("{}: {why}", Shown(sums))))?;
    for (number, why) in &list.malformed {
        if args.common.verbose || list.files.is_empty() {
            console.note(&format_args!("{}: {number}: improperly formatted checksum line: {why}", Shown(sums)));
        }
    }
    if list.files.is_empty() && list.refused.is_empty() {
        console.error(sums, &"no properly formatted checksum lines found");
    }
    folder_of(tool, args, (list, None), &mirrors, &folder, options)
}

/// Fetches a list into a folder; all of a directory, if it has a root.
fn folder_of(
    tool: &Tool,
    args: &Args,
    (list, root): (List, Option<(&DirectorySpec, Root)>),
    mirrors: &[Input],
    folder: &Path,
    options: &Options,
) -> Ended {
    let console = &tool.console;
    for (name, why) in &list.refused {
        console.error(name, &format_args!("not fetched: {why}"));
        console.count(Verdict::Unreadable, 1);
    }
    let mut request = FolderRequest::new(mirrors.to_vec(), folder.into());
    (request.connections, request.use_outboards) = (args.connections, !args.no_outboard);
    request.also = also(args);
    let progress = tool.progress(|| [Some(0)].into_iter());
    let mut failed = list.refused.len() as u64;
    let done = get_list(&list, &request, options, &mut |path, got| {
        let is_good = got.as_ref().is_ok_and(Got::is_whole);
        console.count(if is_good { Verdict::Ok } else { Verdict::Failed }, 1);
        failed += u64::from(!is_good);
        report(tool, args, &path.into(), (got, args.common.quiet || console.is_brief()), &Trusted::Given);
    });
    drop(progress);
    if let Err(error) = done {
        report_transfer(console, &error);
        return Ok(console.exit());
    }
    if let (Some((spec, root)), 0) = (root, failed) {
        whole(tool, args, &list, (spec, &root), folder);
    }
    console.summarize(options.meter.bytes());
    Ok(console.exit())
}

/// Reports a directory of which all entries are there.
fn whole(tool: &Tool, args: &Args, list: &List, (spec, root): (&DirectorySpec, &Root), folder: &Path) {
    let (first, count) = match extra(list, folder, 1) {
        Ok((found, count)) => (found.first().cloned(), count),
        Err(error) => return report_transfer(&tool.console, &error),
    };
    if args.json {
        tool.console.print(&json::line(folder, directory::Record::new(spec, root)));
    } else if !args.common.quiet {
        let entries = grouped(root.len());
        ranges::line(tool, folder, &format_args!("OK: all {entries} entries are there (root {root}, {spec})"));
    }
    if let Some(first) = first {
        let (these, others) = match count {
            1 => ("1 entry that the directory does not have, which was".into(), ""),
            count => (format!("{} entries that the directory does not have, which were", grouped(count)), ", …"),
        };
        tool.console.note(&format_args!("{}: has {these} left alone: {}{others}", Shown(folder), Shown(&first)));
    }
}

/// The folder that has the files of a list, or the directory of a catalogue.
fn folder_of_list(list: &Url) -> Input {
    let folder = Input::from(list.folder());
    match folder.url().map(Url::folder).map(Input::from) {
        Some(above) if catalogue::place_below(&above) == Input::from(list) => above,
        _ => folder,
    }
}

/// Reads a list, of which nothing is believed before its signature is.
fn read(tool: &Tool, args: &Args, (sums, given): (&Input, Option<&Choice>), options: &Options) -> Result<List, Exit> {
    let open = || match sums {
        Input::Stdin => walk::stdin(),
        place => open_bytes(place, options).map_err(|error| io::Error::other(error.to_string())),
    };
    let says = signed::Says { json: args.json, words: !args.common.quiet, otherwise: "nothing was fetched" };
    let fail = |error: io::Error| {
        tool.console.error(sums, &reason(&error));
        Exit::Failed
    };
    let signed = signed::read(tool, &args.signature, (sums, open), says)?;
    let is_signed = signed.is_some();
    let mut reader: Box<dyn Read + Send> = match signed {
        Some(list) => Box::new(Cursor::new(list)),
        None => open().map_err(fail)?,
    };
    let mut head = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(fail)?;
    if head.starts_with(SQLITE) && !is_signed {
        return catalogue::files(tool, sums, options);
    }
    let is_pieced = Manifest::is_begun(&head);
    let reader: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(reader));
    if is_pieced {
        let manifest = pieces::read(reader).map_err(|why| {
            tool.console.error(sums, &why);
            Exit::Failed
        })?;
        return Ok(List::of_manifest(manifest));
    }
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

/// Prints what became of a file; of one that is right nothing, if `only_problems` are printed.
fn report(tool: &Tool, args: &Args, path: &Input, (got, only_problems): (Result<Got, Error>, bool), trusted: &Trusted) {
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
        console.print_json(path, Record::new(got, trusted));
    }
    if let Some(why) = got.incomplete() {
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
        _ if args.json || only_problems => {}
        Input::Stdin => console.note(&format_args!("{what} ({root})")),
        path => ranges::line(tool, path, &format_args!("{what} ({root})")),
    }
    if let Trusted::Server(header) = trusted {
        let limits = "it shows damage on the way, not what a server replaced on purpose: only --root does";
        console.note(&format_args!("{}: the root is the server's own ({header}): {limits}", Shown(path)));
    }
    print_also(tool, args, path, got);
}

/// The formats of other sums.
fn also(args: &Args) -> Vec<Spec> {
    args.also.iter().map(|choice| choice.spec().clone()).collect()
}

/// Prints the other sums of a file that is whole.
fn print_also(tool: &Tool, args: &Args, path: &Input, got: &Got) {
    let console = &tool.console;
    if got.is_read_again && !args.common.quiet {
        console.note(&format_args!("{}: read once more for --also", Shown(path)));
    }
    for sum in &got.also {
        match sum {
            Ok(root) if *path == Input::Stdin => {
                console.note(&format_args!("{} (-) = {root}", root.spec().tag()));
            }
            Ok(root) if !args.json => print_root(tool, false, path, root, json::Root::new(root)),
            Ok(_) => {}
            Err(why) => console.error(path, &format_args!("--also: {why}")),
        }
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
    trusted: &'static str,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<SumLine>,
}

/// Another sum, as JSON.
#[derive(Serialize)]
struct SumLine {
    format: String,
    root: String,
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
    fn new(got: &Got, trusted: &Trusted) -> Record {
        let pairs = |ranges: &[Range<u64>]| ranges.iter().map(|range| [range.start, range.end]).collect();
        let line = |mirror: &Mirror| {
            let (name, error) = (mirror.place.to_string(), mirror.error.clone());
            MirrorLine { mirror: name, bytes: mirror.bytes, bad: pairs(&mirror.bad), error }
        };
        let sum = |root: &Root| SumLine { format: root.spec().to_string(), root: root.to_string() };
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
            trusted: match trusted {
                Trusted::Given => "given",
                Trusted::Server(_) => "server",
            },
            format: root.map(|root| root.spec().to_string()),
            length: root.map(mksum::Root::len),
            root: root.map(ToString::to_string),
            outboard: got.outboard.as_ref().map(ToString::to_string),
            fetched: got.fetched,
            resumed: got.resumed,
            seeded: got.seeded,
            ranges: pairs(&got.missing),
            mirrors: got.mirrors.iter().map(line).collect(),
            also: got.also.iter().flatten().map(sum).collect(),
        }
    }
}
