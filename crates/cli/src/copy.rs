//! `mksum copy`: files hashed while they are copied, and read back.

use crate::args::{Copy as Args, Links, ReadBack};
use crate::exit::{Ended, refuse};
use crate::figures::{bytes, grouped};
use crate::print::report_transfer;
use crate::ranges;
use crate::summary::Verdict;
use crate::tool::Tool;
use mksum::ordered::ordered;
use mksum::{ByOffset, Spec};
use mksum_cli::name::Shown;
use mksum_get::{Copied, Copy, Error, copy, copy_link, make_folder, refuse_links, set_like};
use mksum_io::{Below, EntryKind, Input};
use serde::Serialize;
use std::fs;
use std::iter;
use std::path::{Component, Path, PathBuf};

/// The files that are copied at a time: small ones wait for the disk most of their time.
const FILES: usize = 4;

/// Copies the files.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    let console = &tool.console;
    console.use_json(args.json);
    let [choice] = &tool.formats[..] else { return refuse(&"copy takes one --format") };
    let spec = choice.spec();
    if let (true, Err(why)) = (args.keep, spec.supports(ByOffset::Outboard)) {
        return refuse(&format_args!("--keep: {why}"));
    }
    let target = &args.target;
    if target.url().is_some_and(|url| url.as_str().starts_with("http")) {
        return refuse(&"objects are written to S3, Google Cloud Storage, Azure and HDFS: a web server takes none");
    }
    let sources = &args.sources;
    let is_folder = target.is_directory();
    if sources.len() > 1 && !is_folder {
        return refuse(&format_args!("{}: several things are copied into a directory that is there", Shown(target)));
    }
    let rules = tool.rules(&args.directories())?;
    let rules = if args.symlinks == Links::Copy { rules.with_others() } else { rules };
    if let Some(folder) = sources.iter().filter_map(Input::file).find(|source| source.is_dir()) {
        let is_inside =
            |target: &Path| Below::new(folder).is_ok_and(|below| below.refuses(target, "not copied").is_none());
        match target.file() {
            _ if !args.recursive => {
                return refuse(&format_args!("{}: a directory: -r copies the files in it", Shown(folder)));
            }
            Some(path) if is_inside(path) => {
                return refuse(&format_args!("{}: inside of {}, which is copied", Shown(target), Shown(folder)));
            }
            _ => {}
        }
    }
    let jobs = sources.iter().flat_map(|source| {
        let is_whole = sources.len() == 1 && (source.file().is_some_and(Path::is_dir) || is_prefix(args, source));
        let base = match source.name() {
            Some(name) if is_folder && !is_whole => target.join(Path::new(&name)),
            _ => target.clone(),
        };
        // All of a folder: outboards and catalogues too.
        let mut walk = rules.walk_with(std::slice::from_ref(source), |_| false);
        let found = iter::from_fn(move || {
            let found = walk.next()?;
            Some((found, walk.kind()))
        });
        found.map(move |(found, kind)| {
            let path = found?;
            let below = below(source, &path);
            // Keys of objects may be any text.
            let target = match below.components().all(|part| matches!(part, Component::Normal(_))) {
                true if below.as_os_str().is_empty() => base.clone(),
                true => base.join(&below),
                false => return Err((path, "its name leads out of the copy".into())),
            };
            Ok(Entry { source: path, base: base.clone(), target, kind })
        })
    });
    let progress = tool.progress(|| [Some(0)].into_iter());
    let (mut bytes, threads) = (0, FILES.min(tool.options.threads.max(1)));
    let (mut folders, mut left_out) = (Vec::new(), 0);
    ordered(
        threads,
        4 * threads,
        jobs,
        || (),
        |(), job: Result<Entry, (Input, String)>| job.map(|entry| (entry.copy(tool, args, spec), entry)),
        |results| {
            for result in results {
                match result {
                    Ok((Ok(Done::File(copied)), entry)) => {
                        bytes += copied.copied;
                        report(tool, args, (&entry.source, &entry.target), &copied);
                    }
                    Ok((Ok(Done::Link(is_new)), entry)) => report_link(tool, args, &entry, is_new),
                    Ok((Ok(Done::Folder), entry)) => folders.push(entry),
                    Ok((Ok(Done::LeftOut), _)) => left_out += 1,
                    Ok((Err(error), _)) => {
                        console.count(Verdict::Failed, 1);
                        report_transfer(console, &error);
                    }
                    Err((path, why)) => {
                        console.count(Verdict::Unreadable, 1);
                        console.error(&path, &why);
                    }
                }
                tool.options.meter.finish_file();
            }
        },
    );
    // What is made in a folder changes its time.
    for entry in folders.iter().rev() {
        if let (Some(source), Some(target)) = (entry.source.file(), entry.target.file())
            && let Err(error) = set_like(source, target)
        {
            report_transfer(console, &error);
        }
    }
    drop(progress);
    if left_out > 0 {
        let plural = if left_out == 1 { "symbolic link" } else { "symbolic links" };
        console.note(&format_args!(
            "{} {plural} skipped: stores have none (--symlinks follow copies what they point to)",
            grouped(left_out)
        ));
    }
    // Without them, the copy is not whole.
    if rules.report_skipped(console) + left_out > 0 {
        console.fail();
    }
    console.summarize(bytes);
    Ok(console.exit())
}

/// A file, folder or link to be copied.
struct Entry {
    source: Input,
    /// The copy of the argument that led to it.
    base: Input,
    target: Input,
    kind: EntryKind,
}

/// What became of it.
enum Done {
    File(Copied),
    /// A link, and whether it was made now.
    Link(bool),
    /// A folder, which gets its time at the end.
    Folder,
    /// A link, of which stores have none.
    LeftOut,
}

impl Entry {
    fn copy(&self, tool: &Tool, args: &Args, spec: &Spec) -> Result<Done, Error> {
        let Input::File(path) = &self.target else {
            return match self.kind {
                EntryKind::Link => Ok(Done::LeftOut),
                EntryKind::Directory => Ok(Done::Folder),
                _ => self.file(tool, args, spec),
            };
        };
        if let Input::File(base) = &self.base {
            // Those of a source that were copied before could lead anywhere. The target itself may be one that the user made.
            let checked = if self.kind == EntryKind::Link { path.parent().unwrap_or(base) } else { path };
            if checked.starts_with(base) {
                refuse_links(base, checked)?;
            }
        }
        match (self.kind, &self.source) {
            (EntryKind::Directory, _) => make_folder(Some(path)).map(|()| Done::Folder),
            (EntryKind::Link, Input::File(source)) => {
                make_folder(path.parent())?;
                copy_link(source, path).map(Done::Link)
            }
            _ => {
                make_folder(path.parent())?;
                self.file(tool, args, spec)
            }
        }
    }

    fn file(&self, tool: &Tool, args: &Args, spec: &Spec) -> Result<Done, Error> {
        let mut job = Copy::new(self.source.clone(), self.target.clone(), spec.clone());
        (job.read_back, job.shares_blocks) = (args.verify == ReadBack::Read, args.reflink);
        job.outboard = args.keep.then(|| self.target.with_extension(mksum_io::outboard::EXTENSION));
        copy(&job, &tool.options).map(Done::File)
    }
}

/// Whether the objects below a URL are copied.
fn is_prefix(args: &Args, source: &Input) -> bool {
    args.recursive && source.url().is_some()
}

/// The path of a file below the argument that led to it: empty if it is the argument itself.
fn below(source: &Input, path: &Input) -> PathBuf {
    match (source, path) {
        (Input::Url(prefix), Input::Url(url)) if url != prefix => url.below(prefix).into(),
        (Input::File(folder), Input::File(path)) => path.strip_prefix(folder).unwrap_or(Path::new("")).into(),
        _ => PathBuf::new(),
    }
}

fn report(tool: &Tool, args: &Args, (source, target): (&Input, &Input), copied: &Copied) {
    let Copied { root, is_present, copied, .. } = copied;
    tool.console.count(Verdict::Ok, 1);
    if args.json {
        return tool.console.print_json(
            target,
            Record {
                kind: "copy",
                source: source.to_string(),
                state: if *is_present { "present" } else { "copied" },
                format: root.spec().to_string(),
                length: root.len(),
                root: root.to_string(),
                copied: *copied,
            },
        );
    }
    if args.common.quiet || tool.console.is_brief() {
        return;
    }
    let what = match is_present {
        true => "it is right already, nothing was copied".into(),
        false => format!("{} copied", bytes(*copied)),
    };
    ranges::line(tool, target, &format_args!("OK: {what} (root {root}, {})", root.spec()));
}

/// Reports a link that is as its source now.
fn report_link(tool: &Tool, args: &Args, entry: &Entry, is_new: bool) {
    let target = &entry.target;
    let text = target.file().and_then(|path| fs::read_link(path).ok()).unwrap_or_default();
    tool.console.count(Verdict::Ok, 1);
    if args.json {
        let state = if is_new { "copied" } else { "present" };
        let (source, link) = (entry.source.to_string(), text.to_string_lossy().into_owned());
        return tool.console.print_json(target, LinkRecord { kind: "copied_link", source, state, link });
    }
    if args.common.quiet || tool.console.is_brief() {
        return;
    }
    let what = if is_new { "made" } else { "it is right already" };
    ranges::line(tool, target, &format_args!("OK: {what} (link to {})", Shown(&text)));
}

/// The result for a symbolic link, as JSON.
#[derive(Serialize)]
struct LinkRecord {
    kind: &'static str,
    source: String,
    state: &'static str,
    link: String,
}

/// The result for a file, as JSON.
#[derive(Serialize)]
struct Record {
    kind: &'static str,
    source: String,
    state: &'static str,
    format: String,
    length: u64,
    root: String,
    copied: u64,
}
