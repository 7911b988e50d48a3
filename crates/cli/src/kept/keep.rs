//! `mksum keep`: writes and updates outboards.

use super::batch::{Batch, Waiting};
use super::{Did, attributes, files, is_missing, lengths, outboard_of, publish, report_skipped, report_unchanged};
use crate::args::Keep;
use crate::catalogue;
use crate::exit::{Ended, refuse, usage};
use crate::failure::Failure;
use crate::print::{print_root, report, suggest_place};
use crate::ranges::RangeLine;
use crate::tool::Tool;
use crate::{figures, json};
use mksum::outboard::{ForeignFormat, KeptLayout, Outboard};
use mksum::{ByOffset, Root, Spec};
use mksum_cli::name::{self, Shown};
use mksum_cli::range::merged;
use mksum_io::outboard::{
    Changes, EXTENSION, How, Keeping, Kept, Remote, Stored, Updated, is_unchanged, keep_foreign, open, open_with,
    prepare, update,
};
use mksum_io::{Error, File, Input, Url};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Keeps the tree of each file.
pub fn run(tool: &Tool, args: &Keep) -> Ended {
    if args.xattr {
        return attributes::keep(tool, args);
    }
    if let Some(folder) = &args.publish {
        return publish::run(tool, args, folder);
    }
    if args.directories.recursive && !args.beside && args.foreign.is_none() {
        return catalogue::keep::run(tool, args);
    }
    tool.console.use_json(args.json);
    let [choice] = &tool.formats[..] else { return refuse(&"keep takes one --format: an outboard has one tree") };
    let foreign = args.foreign.as_ref().map(|tree| foreign_of(tree.as_ref(), args, choice.spec())).transpose();
    let foreign = foreign.map_err(|why| usage(&why))?;
    let spec = foreign.as_ref().map_or(choice.spec(), ForeignFormat::spec);
    if let Err(reason) = spec.supports(ByOffset::Outboard) {
        return refuse(&reason);
    }
    let rules = tool.rules(&args.directories)?;
    let several = args.files.len() > 1 || args.directories.recursive;
    if (args.output.is_some() || !args.range.is_empty()) && several {
        return refuse(&"--output and --range can be used with one file only");
    }
    let _progress = tool.progress(lengths(&rules, &args.files));
    if several {
        tool.console.flush_regularly();
    }
    let placed = |printed: Printed, url: Option<&Url>, kept: &Kept| {
        printed.root(tool, args, url, &kept.root, kept.resumed);
    };
    let mut batch = Batch::new(tool, &placed);
    let mut skipped = 0;
    for file in files(&rules, &args.files) {
        match file.map(|path| one(tool, args, (spec, foreign.as_ref()), path, &mut batch)) {
            Ok(Ok(Did::Done | Did::New)) => {}
            Ok(Ok(Did::Skipped)) => skipped += 1,
            Ok(Err(error)) => report_failure(tool, args, &error),
            Err((path, reason)) => tool.console.error(&path, &reason),
        }
        tool.options.meter.finish_file();
    }
    batch.commit();
    report_skipped(tool, skipped, "size, mtime and inode");
    Ok(tool.console.exit())
}

/// Reports why the tree of a file was not kept; of a damaged file the ranges.
fn report_failure(tool: &Tool, args: &Keep, failure: &Failure) {
    if let Failure::Io(Error::Damaged { path, outboard, ranges }) = failure
        && let Ok(old) = open_with(outboard, &tool.options)
    {
        for range in ranges {
            let line = RangeLine::new("damaged", range.clone(), old.spec().shape(), old.len().max(range.end));
            line.print(tool, args.json, path);
        }
    }
    report(&tool.console, failure);
    if let Failure::Io(error) = failure {
        suggest_place(tool, error);
    }
}

/// The tree of another program that is written: the one that was named, or the usual one of the format.
fn foreign_of(named: Option<&ForeignFormat>, args: &Keep, spec: &Spec) -> Result<ForeignFormat, String> {
    match named {
        None => ForeignFormat::new(spec).map_err(|error| error.to_string()),
        Some(named) if args.choices.any() && named.spec() != spec => {
            Err(format!("--foreign={}: this tree is in {}, not in {spec}", named.extension(), named.spec()))
        }
        Some(named) => Ok(named.clone()),
    }
}

fn one(
    tool: &Tool,
    args: &Keep,
    (spec, foreign): (&Spec, Option<&ForeignFormat>),
    path: Input,
    batch: &mut Batch<'_, Printed>,
) -> Result<Did, Failure> {
    let begin = Instant::now();
    let file = File::open(&path, &tool.options)?;
    if args.output.is_none() && path.file().is_some_and(is_device) {
        return Err(Failure::refused(&path, "a device: choose the path of its outboard with --output"));
    }
    let changes = if args.accept_changes { Changes::Accept } else { Changes::Refuse };
    if let Some(format) = foreign {
        return keep_tree(tool, args, format, path, file, changes);
    }
    let target = outboard_of(&path, args.output.as_ref(), EXTENSION);
    let remote = Remote::of(&target, &tool.options)?;
    let target = &remote.as_ref().map_or_else(|| PathBuf::from(target.as_os_str()), Remote::copy);
    let old = if args.update || args.quick { existing(target)? } else { None };
    let before = existing(target).ok().flatten().map(|old| old.root());
    let printed = Printed { path, target: target.clone(), begin, before };
    let url = remote.as_ref().map(Remote::url);
    let path = &printed.path;
    if let Some(old) = old {
        if args.choices.any() && old.spec() != spec {
            let how = format!("the outboard is in {}, not in {spec}: omit --update to write a new one", old.spec());
            return Err(Failure::refused(target, how));
        }
        if is_unchanged(&file, old.header()) && args.range.is_empty() && !args.all {
            tool.options.meter.skip(file.len());
            if args.quick {
                report_unchanged(tool, args.json, path);
                return Ok(Did::Skipped);
            }
            tool.console.note(&format_args!("{}: unchanged (same size, mtime and inode), not read", Shown(path)));
            // The note has said it already.
            let known = if args.json { file.len() } else { 0 };
            printed.root(tool, args, url, &old.root(), known);
            return Ok(Did::Done);
        }
        if args.update {
            let (how, len) = (how(args, &file, &old)?, file.len());
            let updated = update(file, &old, &how, target, changes)?;
            remote.as_ref().map_or(Ok(()), |remote| remote.put())?;
            printed.changes(tool, args, &how, &old, &updated, len);
            printed.root(tool, args, url, &updated.root, 0);
            return Ok(Did::Done);
        }
    } else if !args.range.is_empty() {
        return Err(Failure::refused(target, "there is no outboard to update: omit --range to write one"));
    }
    let mut options = Keeping::new(KeptLayout::unit_of(spec, args.keep_leaf), target);
    (options.checkpoint, options.changes) = (args.checkpoint, changes);
    let pending = prepare(file, spec, &options)?;
    batch.add(Waiting { pending, remote, about: printed });
    Ok(Did::Done)
}

/// Writes the tree as another program would.
fn keep_tree(
    tool: &Tool,
    args: &Keep,
    format: &ForeignFormat,
    path: Input,
    file: File,
    changes: Changes,
) -> Result<Did, Failure> {
    let begin = Instant::now();
    let Input::File(target) = outboard_of(&path, args.output.as_ref(), format.extension()) else {
        return Err(Failure::refused(&path, "a tree of another program is written to a file: give --output a path"));
    };
    let mut options = Keeping::new(format.spec().leaf(), &target);
    (options.checkpoint, options.changes) = (args.checkpoint, changes);
    let Kept { root, resumed, .. } = keep_foreign(file, format, args.uuid.unwrap_or_default().0, &options)?;
    Printed { path, target, begin, before: None }.root(tool, args, None, &root, resumed);
    Ok(Did::Done)
}

/// Whether `path` leads to a block device.
fn is_device(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// The existing outboard, if there is one.
fn existing(target: &Path) -> Result<Option<Outboard<Stored>>, Error> {
    match open(target) {
        Ok(old) => Ok(Some(old)),
        Err(error) if is_missing(&error, &target.into()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The changes that are possible, given the arguments.
fn how(args: &Keep, file: &File, old: &Outboard<Stored>) -> Result<How, Failure> {
    if !args.range.is_empty() {
        let within = |reason| Failure::Refused(file.input().clone(), reason);
        return Ok(How::Ranges(merged(&args.range, file.len()).map_err(within)?));
    }
    Ok(if file.len() != old.len() && !args.all { How::Length } else { How::Unknown })
}

/// A file whose tree is kept, for the output.
struct Printed {
    path: Input,
    /// The path of the outboard, or of its copy.
    target: PathBuf,
    begin: Instant,
    /// The root of the outboard that was there.
    before: Option<Root>,
}

impl Printed {
    /// Prints the root; `url` is the outboard's, if it is in a store.
    fn root(&self, tool: &Tool, args: &Keep, url: Option<&Url>, root: &Root, resumed: u64) {
        if resumed > 0 && !args.json {
            tool.console.note(&format_args!("{}: resumed at byte {resumed}", Shown(&self.path)));
        }
        let changed = self.before.as_ref().filter(|before| before.spec() == root.spec() && *before != root);
        if let Some(before) = changed.filter(|_| !args.update) {
            let how = "has changed since its tree was kept, and the new tree has replaced that";
            tool.console.note(&format_args!("{}: {how}: the root was {before}", Shown(&self.path)));
        }
        let seconds = Some(figures::micros(self.begin.elapsed().as_secs_f64()));
        let outboard = url.map_or_else(|| name::lossy(&self.target), name::lossy);
        let (outboard, resumed) = (Some(&*outboard), Some(resumed));
        let record = json::Root { outboard, resumed, seconds, ..json::Root::new(root) };
        print_root(tool, args.json, &self.path, root, record);
        let one = args.files.len() == 1 && !args.directories.recursive;
        if one && tool.console.is_brief() {
            let length = std::fs::metadata(&self.target).map_or(0, |metadata| metadata.len());
            let place = outboard.unwrap_or_default();
            tool.console.note(&format_args!(
                "{}: the tree is in {place} ({})",
                Shown(&self.path),
                figures::size(length)
            ));
        }
    }

    fn changes(&self, tool: &Tool, args: &Keep, how: &How, old: &Outboard<Stored>, updated: &Updated, len: u64) {
        let shape = old.spec().shape();
        let both = old.len().min(len);
        let changed = match &updated.changed {
            Ok(ranges) => ranges,
            Err(error) => {
                let text = "so the changed ranges are not known";
                return tool.console.note(&format_args!("{}: {error}, {text}", error.input()));
            }
        };
        let print = |kind, range, len| RangeLine::new(kind, range, shape, len).print(tool, args.json, &self.path);
        for range in changed {
            // If only the length changed, the bytes of the ragged unit at the end did not change.
            let same = range.start..range.end.min(both);
            if !same.is_empty() && *how != How::Length {
                print("changed", same, old.len());
            }
        }
        if len > both {
            print("appended", both..len, len);
        } else if old.len() > both {
            print("removed", both..old.len(), old.len());
        }
    }
}
