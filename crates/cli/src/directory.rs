//! Roots of directories: printed, checked, and proofs about their entries.

use crate::args::{CheckProof, Join, Prove, Run};
use crate::catalogue;
use crate::exit::{Ended, Exit, refuse};
use crate::figures::{bytes, grouped, micros};
use crate::json;
use crate::tool::Tool;
use mksum::directory::{Content, DirectorySpec, Entry, EntryError, EntryProof, Leaves};
use mksum::{ClaimedRoot, Root};
use mksum_cli::name::{self, Shown};
use mksum_cli::sum::{self, Style};
use mksum_io::{Input, Job, Options, hash, hash_directory, reason};
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Refuses formats of directories, for a command that has only those of files.
pub fn refuse_formats(tool: &Tool) -> Result<(), Exit> {
    match tool.formats.iter().find(|choice| choice.directory().is_some()) {
        None => Ok(()),
        Some(named) => refuse(&format_args!(
            "{named} is a format of directories, for printing (mksum -f dir DIR), -c, --expect, join, prove --path and check-proof"
        )),
    }
}

/// Prints a line for each directory and format.
pub fn run(tool: &Tool, args: &Run) -> Ended {
    let Some(specs) = tool.formats.iter().map(|choice| choice.directory().cloned()).collect::<Option<Vec<_>>>() else {
        return refuse(&"formats of directories and of files are printed by separate runs");
    };
    if args.directories.recursive || !args.directories.exclude.is_empty() {
        return refuse(&"a format of directories covers all that is in them: omit --recursive and --exclude");
    }
    if args.range.is_some() || args.list().is_some() || args.files.is_empty() {
        return refuse(&"a format of directories needs their names as arguments, and no --range");
    }
    tool.console.use_json(args.json);
    let _progress = tool.progress(|| [None].into_iter());
    for path in &args.files {
        let begin = Instant::now();
        let Some(leaves) = leaves_of(tool, path, &specs, &mut |_| {}) else { continue };
        print(tool, path, (&specs, &leaves), style(args), Some(begin));
    }
    Ok(tool.console.exit())
}

/// Prints the directory's line if its root is the `claimed` one, and fails if not.
pub fn expect(tool: &Tool, args: &Run, spec: &DirectorySpec, (claimed, text): (&ClaimedRoot, &str)) -> Ended {
    let [path] = &args.files[..] else {
        return refuse(&"--expect compares one directory with its root: give its path");
    };
    if args.range.is_some() || !args.directories.exclude.is_empty() {
        return refuse(&"the root of a directory covers all that is in it: omit --range and --exclude");
    }
    let _progress = tool.progress(|| [None].into_iter());
    let begin = Instant::now();
    let specs = std::slice::from_ref(spec);
    let Some(leaves) = leaves_of(tool, path, specs, &mut |_| {}) else { return Ok(tool.console.exit()) };
    let found = root(&leaves[0]);
    match found.matches(claimed) {
        true => print(tool, path, (specs, &leaves), style(args), Some(begin)),
        false => {
            let words = format_args!("the root differs:\n  expected {text}\n  found    {found} ({spec})");
            tool.console.differ(path, &words);
        }
    }
    Ok(tool.console.exit())
}

/// The style of lines that the flags ask for; none for JSON.
fn style(args: &Run) -> Option<Style> {
    let style = if args.untagged { Style::Untagged } else { Style::Tagged };
    (!args.json).then_some(style)
}

/// Prints the roots of a directory: as lines, or as JSON if there is no style of lines.
fn print(
    tool: &Tool,
    path: &Input,
    (specs, leaves): (&[DirectorySpec], &[Leaves]),
    style: Option<Style>,
    begin: Option<Instant>,
) {
    for (spec, root) in specs.iter().zip(leaves.iter().map(root)) {
        tool.console.print(&match style {
            Some(style) => sum::line(style, tool.end, &spec.to_string(), &name::listed(path), &root.to_string()),
            None => {
                let seconds = begin.map(|begin| micros(begin.elapsed().as_secs_f64()));
                json::line(path, Record { seconds, ..Record::new(spec, &root) })
            }
        });
    }
}

/// Prints the root of the directory whose parts have catalogues: PLACE=CATALOGUE each.
pub fn join(tool: &Tool, args: &Join) -> Ended {
    let Some(specs) = tool.formats.iter().map(|choice| choice.directory().cloned()).collect::<Option<Vec<_>>>() else {
        return refuse(&"formats of directories and of files are joined by separate runs");
    };
    if args.plan.is_some() || args.files.is_empty() {
        return refuse(&"a format of directories joins catalogues: mksum join -f dir PLACE=CATALOGUE...");
    }
    let leaves = catalogue::leaves::of_parts(tool, &args.files, &specs)?;
    let style = (!args.json).then_some(Style::Tagged);
    print(tool, &Input::Stdin, (&specs, &leaves), style, None);
    Ok(tool.console.exit())
}

/// The root of a directory, as JSON.
#[derive(Serialize)]
pub struct Record {
    kind: &'static str,
    format: String,
    entries: u64,
    root: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

impl Record {
    pub fn new(spec: &DirectorySpec, root: &Root) -> Record {
        Record {
            kind: "directory",
            format: spec.to_string(),
            entries: root.len(),
            root: root.to_string(),
            seconds: None,
        }
    }
}

/// The root of a directory; none if it has none, which was reported.
pub fn root_of(tool: &Tool, path: &Input, spec: &DirectorySpec) -> Option<Root> {
    leaves_of(tool, path, std::slice::from_ref(spec), &mut |_| {}).map(|leaves| root(&leaves[0]))
}

/// The leaves of a directory, or of one that a catalogue stands for; none if it has no root, which was reported.
fn leaves_of(
    tool: &Tool,
    input: &Input,
    specs: &[DirectorySpec],
    each: &mut dyn FnMut(&Entry<'_>),
) -> Option<Vec<Leaves>> {
    let path = match input {
        Input::Url(_) => {
            tool.console.error(input, &"objects in stores are in no directory: fetch them first");
            return None;
        }
        Input::File(_) | Input::Stdin => Path::new(input.as_os_str()),
    };
    if let Some(leaves) = catalogue::leaves::of(tool, path, specs, each) {
        return leaves;
    }
    if let Ok(metadata) = fs::metadata(path)
        && !metadata.is_dir()
    {
        tool.console.error(path, &"not a directory, which the format needs");
        return None;
    }
    let leaves = hash_directory(path, specs, &tool.options, each);
    leaves.map_err(|errors| errors.iter().for_each(|error| crate::print::report_error(&tool.console, error))).ok()
}

fn root(leaves: &Leaves) -> Root {
    leaves.root().expect("each leaf is there")
}

/// Writes the proof that an entry is in a directory to the standard output.
pub fn prove(tool: &Tool, args: &Prove, wanted: &Path) -> Ended {
    let directory = match tool.formats[0].directory() {
        Some(directory) => directory.clone(),
        None if !args.choices.any() => "dir".parse().expect("a format"),
        None => {
            return refuse(&format_args!(
                "{} is a format of files: with --path, choose one of directories",
                tool.formats[0]
            ));
        }
    };
    if !directory.has_proofs() {
        return refuse(&EntryError::Folders);
    }
    let listed = name::listed(wanted);
    let wanted_path = listed.strip_suffix(b"/").unwrap_or(&listed);
    let (mut index, mut found) = (0, None);
    let leaves = leaves_of(tool, &args.file, std::slice::from_ref(&directory), &mut |entry| {
        if entry.path == wanted_path {
            found = directory.encode(entry).ok().map(|entry| (index, entry));
        }
        index += 1;
    });
    let Some(leaves) = leaves else { return Ok(tool.console.exit()) };
    match found.map(|(index, entry)| EntryProof::new(&leaves[0], index, entry)) {
        Some(Ok((root, proof))) => {
            tool.console.print(&proof.to_bytes());
            let how = format_args!("to check the proof: mksum check-proof {directory}:{root} PROOF [FILE]");
            tool.console.note(&format_args!("{}: {how}", Shown(&args.file)));
        }
        Some(Err(error)) => tool.console.error(&args.file, &error),
        None => {
            let how = "its path is the one below the directory";
            tool.console.error(&args.file, &format_args!("there is no entry {}: {how}", Shown(wanted)));
        }
    }
    Ok(tool.console.exit())
}

/// A checked proof about an entry, as JSON.
#[derive(Serialize)]
struct Shows {
    kind: &'static str,
    format: String,
    root: String,
    ok: bool,
    entry: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_root: Option<String>,
    index: u64,
    entries: u64,
}

/// Checks a proof about an entry, and a file against it.
pub fn check_proof(tool: &Tool, args: &CheckProof, spec: &DirectorySpec, claimed: &ClaimedRoot) -> Ended {
    if args.old_root.is_some() || args.length.is_some() {
        return refuse(&"--old-root and --length are for proofs about files");
    }
    let fail = |path: &Input, why: &dyn std::fmt::Display| tool.console.fail_with(path, why);
    let proof_file = Input::from(&args.proof);
    let read = fs::read(&args.proof).map_err(|error| fail(&proof_file, &reason(&error)))?;
    let proof = EntryProof::parse(&read).map_err(|error| fail(&proof_file, &error))?;
    let entry = proof.verify(spec, claimed).map_err(|error| fail(&proof_file, &error))?;
    if let Some(path) = &args.bytes {
        let Content::File(expected) = &entry.content else { return Err(fail(path, &"the entry is not a file")) };
        let job = Job::new(path.clone(), vec![spec.file().clone()]);
        let options = Options { pipes: true, ..tool.options.clone() };
        let root = hash(&job, &options).and_then(|mut roots| roots.remove(0));
        let root = root.map_err(|error| fail(error.input(), &error))?;
        if root != *expected {
            let (wanted, found) = (expected.len(), root.len());
            let why = format!(
                "it is not the file of the entry:\n  expected {expected} ({wanted} bytes)\n  found    {root} ({found} bytes)"
            );
            return Err(fail(path, &why));
        }
    }
    let (index, entries) = proof.place();
    let path = name::path(entry.path).unwrap_or_default();
    if args.json {
        let (length, file_root) = match &entry.content {
            Content::File(root) => (Some(root.len()), Some(root.to_string())),
            _ => (None, None),
        };
        let (format, root, entry) = (spec.to_string(), claimed.text(spec.tree()), name::lossy(&path).into_owned());
        let record = Shows { kind: "checked entry", format, root, ok: true, entry, length, file_root, index, entries };
        tool.console.print_json(&args.proof, record);
        return Ok(tool.console.exit());
    }
    let what = match &entry.content {
        Content::File(root) => format!("a file of {} with {} root {root}", bytes(root.len()), spec.file()),
        Content::Directory => "a directory".into(),
        Content::Link(text) => format!("a link to {}", Shown(&name::path(text).unwrap_or_default())),
    };
    let (place, all) = (grouped(index + 1), grouped(entries));
    tool.console
        .print(format!("{}: OK ({}: {what}; entry {place} of {all})\n", Shown(&args.proof), Shown(&path)).as_bytes());
    Ok(tool.console.exit())
}
