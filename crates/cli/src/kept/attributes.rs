//! `mksum keep --xattr` and `mksum verify --xattr`: roots in extended attributes of the files themselves.

use super::{files, lengths, report_new, report_skipped, report_unchanged};
use crate::args::{Directories, Keep, Verify};
use crate::check::Record;
use crate::exit::Ended;
use crate::failure::Failure;
use crate::json;
use crate::print::{print_root, report};
use crate::ranges::line;
use crate::tool::Tool;
use mksum::{Root, Spec};
use mksum_cli::name::Shown;
use mksum_io::{Attribute, EntryKind, Error, Facts, Hashed, Input, Job, hash_items};
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file whose turn it is.
enum Next {
    /// A file to hash, with the attribute that still describes it.
    File(PathBuf, Facts, Option<Attribute>),
    /// The attribute has all roots that are asked for.
    Unchanged(PathBuf, Facts),
    /// The attribute describes an earlier content.
    Changed(PathBuf, Attribute),
    /// The file has no attribute.
    New(PathBuf),
    Failed(Failure),
}

/// The facts of a file; links are followed.
fn facts(path: &Path) -> Result<Facts, Failure> {
    let metadata = fs::metadata(path).map_err(|error| Error::Open { path: path.into(), error })?;
    Ok(Facts::from(&metadata))
}

/// The facts of a file and its attribute.
fn look(path: &Path) -> Result<(Facts, Option<Attribute>), Failure> {
    let facts = facts(path)?;
    if facts.kind == EntryKind::Directory {
        return Err(Error::Open { path: path.into(), error: ErrorKind::IsADirectory.into() }.into());
    }
    if facts.kind != EntryKind::File {
        return Err(Failure::refused(path, "not a regular file: only regular files have such attributes"));
    }
    match Attribute::of(path) {
        Ok(attribute) => Ok((facts, attribute)),
        Err(error) => Err(unsupported(error)),
    }
}

/// Says what to do where there are no attributes.
fn unsupported(error: Error) -> Failure {
    match &error {
        Error::Open { path, error } | Error::Write { path, error } if error.kind() == ErrorKind::Unsupported => {
            Failure::refused(path, "this file system has no extended attributes: keep an outboard instead (mksum keep)")
        }
        Error::Write { path, error } => {
            let how = "cannot be written";
            Failure::refused(path, format_args!("its attribute user.mksum {how}: {}", mksum_io::reason(error)))
        }
        _ => error.into(),
    }
}

/// Writes the roots of each file into its attribute.
pub fn keep(tool: &Tool, args: &Keep) -> Ended {
    let specs: Vec<Spec> = tool.formats.iter().map(|choice| choice.spec().clone()).collect();
    let next = |path: PathBuf| {
        let (facts, attribute) = match look(&path) {
            // It is replaced.
            Err(Failure::Io(Error::Refused { .. })) if args.accept_changes => (facts(&path)?, None),
            found => found?,
        };
        let attribute = attribute.filter(|attribute| attribute.is_of(&facts) && !args.accept_changes);
        let has_all = |attribute: &Attribute| specs.iter().all(|spec| attribute.root(spec).is_some());
        if args.quick && attribute.as_ref().is_some_and(has_all) {
            return Ok((None, Next::Unchanged(path, facts)));
        }
        facts.wait_until_past();
        // In the formats that it has already too: so a damaged file gets no root of its new content.
        let old = attribute.iter().flat_map(|attribute| &attribute.roots).map(|(spec, _)| spec);
        let all = specs.iter().chain(old.filter(|spec| !specs.contains(spec))).cloned().collect();
        Ok((Some(Job::new((&path).into(), all)), Next::File(path, facts, attribute)))
    };
    run(tool, (args.json, &args.directories, &args.files), next, |next, roots, took| {
        let Next::File(path, facts, old) = next else { return Ok(()) };
        write(&path, &facts, old.as_ref(), roots)?;
        let roots = roots.iter().filter(|root| specs.contains(root.spec()));
        roots.for_each(|root| print(tool, args.json, &path, root, took.as_secs_f64()));
        Ok(())
    })
}

/// Processes each file: `next` says what is to be done with it, and `done` takes what is not unchanged, with the roots of its job.
fn run(
    tool: &Tool,
    (json, directories, arguments): (bool, &Directories, &[Input]),
    next: impl Fn(PathBuf) -> Result<(Option<Job>, Next), Failure> + Sync,
    mut done: impl FnMut(Next, &[Root], Duration) -> Result<(), Failure>,
) -> Ended {
    tool.console.use_json(json);
    tool.console.flush_regularly();
    let rules = tool.rules(directories)?;
    let _progress = tool.progress(lengths(&rules, arguments));
    let items = files(&rules, arguments).map(|path| {
        let path = match path {
            Ok(Input::File(path)) => Ok(path),
            Ok(input) => Err(Failure::refused(
                input,
                "an object has no extended attributes: a store has sums of its own (mksum --stored)",
            )),
            Err((path, reason)) => Err(Failure::Refused(path, reason)),
        };
        path.and_then(&next).unwrap_or_else(|failure| (None, Next::Failed(failure)))
    });
    let mut skipped = 0;
    hash_items(items, &tool.options, |next, hashed| {
        let result = match (next, hashed) {
            (Next::Failed(failure), _) => Err(failure),
            (Next::Unchanged(path, facts), _) => {
                skipped += 1;
                tool.options.meter.skip(facts.size);
                report_unchanged(tool, json, &path.into());
                Ok(())
            }
            (next, None) => done(next, &[], Duration::ZERO),
            (next, Some(Hashed { result, took, .. })) => {
                let roots = result.and_then(|roots| roots.into_iter().collect::<Result<Vec<_>, _>>());
                roots.map_err(Failure::from).and_then(|roots| done(next, &roots, took))
            }
        };
        if let Err(failure) = result {
            report(&tool.console, &failure);
        }
        tool.options.meter.finish_file();
        ControlFlow::Continue(())
    });
    report_skipped(tool, skipped, "size and mtime");
    Ok(tool.console.exit())
}

/// Writes roots into the attribute of a file, or says that the file is damaged.
fn write(path: &Path, facts: &Facts, old: Option<&Attribute>, roots: &[Root]) -> Result<(), Failure> {
    let differs = |root: &&Root| old.and_then(|old| old.root(root.spec())).is_some_and(|old| !root.matches(old));
    if let Some(root) = roots.iter().find(differs) {
        let spec = root.spec();
        let how = format!("its size and mtime show no change since its {spec} was kept, but its content differs");
        let what = "restore it, or accept its content (mksum keep --xattr --accept-changes)";
        return Err(Failure::refused(path, format_args!("damaged: {how}. Its attribute is as it was: {what}")));
    }
    Attribute::new(facts, roots.iter().cloned()).write(path, facts).map_err(unsupported)
}

fn print(tool: &Tool, json: bool, path: &Path, root: &Root, seconds: f64) {
    let seconds = Some(crate::figures::micros(seconds));
    print_root(tool, json, path, root, json::Root { seconds, ..json::Root::new(root) });
}

/// Compares each file with the roots in its attribute.
pub fn verify(tool: &Tool, args: &Verify) -> Ended {
    let next = |path: PathBuf| {
        Ok(match look(&path)? {
            (_, None) => (None, Next::New(path)),
            (facts, Some(attribute)) if !attribute.is_of(&facts) => (None, Next::Changed(path, attribute)),
            (facts, Some(_)) if args.quick => (None, Next::Unchanged(path, facts)),
            (facts, Some(attribute)) => {
                let specs = attribute.roots.iter().map(|(spec, _)| spec.clone()).collect();
                (Some(Job::new((&path).into(), specs)), Next::File(path, facts, Some(attribute)))
            }
        })
    };
    run(tool, (args.json, &args.directories, &args.files), next, |next, roots, _| {
        match next {
            Next::File(path, facts, Some(attribute)) => compare(tool, args, (&path, &facts), &attribute, roots),
            Next::Changed(path, attribute) => {
                tool.console.fail();
                for (spec, root) in attribute.roots.iter().filter(|_| args.json) {
                    tool.console.print_json(&path, Record::new("changed", (spec, None), root, None));
                }
                if !args.json {
                    let how = "CHANGED since its sums were kept, so it is not verified ('mksum keep --xattr' reads it)";
                    line(tool, &path, &how);
                }
            }
            Next::New(path) if args.directories.recursive => report_new(tool, args.json, &path.into(), "sums"),
            Next::New(path) => {
                let how = format!("there is no sum in its attributes: run 'mksum keep --xattr {}' first", Shown(&path));
                return Err(Failure::refused(&path, how));
            }
            Next::File(..) | Next::Unchanged(..) | Next::Failed(_) => {}
        }
        Ok(())
    })
}

fn compare(tool: &Tool, args: &Verify, (path, before): (&Path, &Facts), attribute: &Attribute, roots: &[Root]) {
    if !facts(path).is_ok_and(|now| attribute.is_of(&now) && now.inode == before.inode) {
        return tool.console.error(path, &"it is being written, so it is not verified");
    }
    let mut wrong = Vec::new();
    for (root, (spec, kept)) in roots.iter().zip(&attribute.roots) {
        let good = root.matches(kept);
        if !good {
            wrong.push(spec.to_string());
        }
        if args.json && !(good && args.common.quiet) {
            let status = if good { "ok" } else { "failed" };
            tool.console.print_json(path, Record::new(status, (spec, None), kept, Some(root)));
        }
    }
    if !wrong.is_empty() {
        tool.console.fail();
    }
    if !args.json {
        let why = "its size and mtime show no change since it was kept, but its content differs";
        match wrong.is_empty() {
            true if args.common.quiet => {}
            true => line(tool, path, &format_args!("OK ({})", crate::figures::bytes(before.size))),
            false => line(tool, path, &format_args!("FAILED: {why} ({})", wrong.join(", "))),
        }
    }
}
