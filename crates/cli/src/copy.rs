//! `mksum copy`: files hashed while they are copied, and read back.

use crate::args::{Copy as Args, ReadBack};
use crate::exit::{Exit, usage};
use crate::figures::bytes;
use crate::print::report_transfer;
use crate::ranges;
use crate::summary::Verdict;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum::ByOffset;
use mksum::ordered::ordered;
use mksum_cli::name::Shown;
use mksum_get::{Copied, Copy, Error, copy};
use mksum_io::{Below, Input, reason};
use serde::Serialize;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The files that are copied at a time: small ones wait for the disk most of their time.
const FILES: usize = 4;

/// Copies the files.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    let console = &tool.console;
    console.use_json(args.json);
    let [choice] = &tool.formats[..] else { return usage(&"copy takes one --format") };
    let spec = choice.spec();
    if let (true, Err(why)) = (args.keep, spec.supports(ByOffset::Outboard)) {
        return usage(&format_args!("--keep: {why}"));
    }
    let Input::File(target) = &args.target else {
        return usage(&"objects are not written: give the path of a file or directory as DST");
    };
    let sources = &args.sources;
    let is_folder = target.is_dir();
    if sources.len() > 1 && !is_folder {
        return usage(&format_args!("{}: several things are copied into a directory that is there", Shown(target)));
    }
    let rules = match Rules::new(&args.directories, tool.options.objects.clone()) {
        Ok(rules) => rules,
        Err(why) => return usage(&why),
    };
    if let Some(folder) = sources.iter().filter_map(Input::file).find(|source| source.is_dir()) {
        match folder {
            _ if !args.directories.recursive => {
                return usage(&format_args!("{}: a directory: -r copies the files in it", Shown(folder)));
            }
            folder if Below::new(folder).is_ok_and(|below| below.refuses(target, "not copied").is_none()) => {
                return usage(&format_args!("{}: inside of {}, which is copied", Shown(target), Shown(folder)));
            }
            _ => {}
        }
    }
    let jobs = sources.iter().flat_map(|source| {
        let is_whole = sources.len() == 1 && (source.file().is_some_and(Path::is_dir) || is_prefix(args, source));
        let base = if is_folder && !is_whole { target.join(source.name().unwrap_or_default()) } else { target.clone() };
        // All of a folder: outboards and catalogues too.
        rules.walk_with(std::slice::from_ref(source), |_| false).map(move |found| {
            let path = found?;
            let below = below(source, &path);
            // Keys of objects may be any text.
            match below.components().all(|part| matches!(part, Component::Normal(_))) {
                true if below.as_os_str().is_empty() => Ok((path, base.clone())),
                true => Ok((path, base.join(below))),
                false => Err((path, "its name leads out of the copy".into())),
            }
        })
    });
    let progress = tool.progress(|| [Some(0)].into_iter());
    let work = |(source, target): (Input, PathBuf)| {
        let mut job = Copy::new(source.clone(), target.clone(), spec.clone());
        job.read_back = args.verify == ReadBack::Read;
        job.outboard = args.keep.then(|| mksum_io::outboard::beside(&target));
        let folder = target.parent().map_or(Ok(()), fs::create_dir_all);
        let made = folder.map_err(|error| Error::Refused(target.as_path().into(), reason(&error)));
        (source, target, made.and_then(|()| copy(&job, &tool.options)))
    };
    let (mut bytes, threads) = (0, FILES.min(tool.options.threads.max(1)));
    ordered(
        threads,
        4 * threads,
        jobs,
        || (),
        |(), job: Result<_, (Input, String)>| job.map(&work),
        |results| {
            for result in results {
                match result {
                    Ok((source, target, Ok(copied))) => {
                        bytes += copied.copied;
                        report(tool, args, (&source, &target), &copied);
                    }
                    Ok((_, _, Err(error))) => {
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
    drop(progress);
    // Without them, the copy is not whole.
    if rules.report_skipped(console) > 0 {
        console.fail();
    }
    console.summarize(bytes);
    console.exit()
}

/// Whether the objects below a URL are copied.
fn is_prefix(args: &Args, source: &Input) -> bool {
    args.directories.recursive && source.url().is_some()
}

/// The path of a file below the argument that led to it: empty if it is the argument itself.
fn below(source: &Input, path: &Input) -> PathBuf {
    match (source, path) {
        (Input::Url(prefix), Input::Url(url)) if url != prefix => url.below(prefix).into(),
        (Input::File(folder), Input::File(path)) => path.strip_prefix(folder).unwrap_or(Path::new("")).into(),
        _ => PathBuf::new(),
    }
}

fn report(tool: &Tool, args: &Args, (source, target): (&Input, &Path), copied: &Copied) {
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
