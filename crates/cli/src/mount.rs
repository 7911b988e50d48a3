//! `mksum mount`: a read-only view of files, every read of which is verified.

use crate::args::{Mount as Args, OnBad};
use crate::catalogue::get as catalogue;
use crate::exit::{Ended, Exit, refuse, usage};
use crate::interrupt;
use crate::kept;
use crate::tool::Tool;
use mksum_cli::name::Shown;
use mksum_get::{Attributes, Expected, List};
use mksum_io::outboard::EXTENSION;
use mksum_io::{Facts, Input, Mode, Opening, Options, Verified, WriteBack};
use mksum_mount::{Entry, Mount, Report, Stopper, Tree};
use std::path::Path;
use std::sync::Arc;

/// Mounts the source until it is unmounted, or a signal stops it.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    let console = &tool.console;
    let root = args
        .root
        .as_deref()
        .map(|root| Expected::parse(root, None))
        .transpose()
        .map_err(|why| usage(&format_args!("--root: {why}")))?;
    if args.on_bad == OnBad::Repair && args.replica.is_empty() {
        return refuse(&"--on-bad repair: --replica is missing: the copy that has the right bytes");
    }
    if let (Input::Url(_), OnBad::Repair) = (&args.source, args.on_bad) {
        return refuse(&"--on-bad repair: only files of this machine are repaired");
    }
    // The page cache is what makes the next read of the same bytes fast.
    let options = Options { mode: Mode::Buffered, ..tool.options.clone() };
    let is_directory = args.source.is_directory()
        || args.catalogue.is_some()
        || root.as_ref().is_some_and(|root| root.directory().is_some());
    let tree = match is_directory {
        true => directory(tool, args, root.as_ref(), &options)?,
        false => file(tool, args, root, &options)?,
    };
    let (stopper, stops) = Stopper::new();
    interrupt::on_first(move || stopper.stop());
    let (log, quiet) = (Arc::clone(console), args.common.quiet);
    let report = move |file: &Input, report: Report<'_>| {
        if !quiet {
            log.note(&format_args!("{}: {report}", Shown(file)));
        }
    };
    let ended = Mount::new(tree, &args.point, &options, Arc::new(report)).and_then(|mount| {
        console.print(&[args.point.as_os_str().as_encoded_bytes(), b"\n"].concat());
        console.flush();
        mount.run(stops)
    });
    if let Err(error) = ended {
        console.error(&error.path, &error);
    }
    Ok(console.exit())
}

/// The one file of the source.
fn file(tool: &Tool, args: &Args, root: Option<Expected>, options: &Options) -> Result<Tree, Exit> {
    let extension = args.foreign.as_ref().map_or(EXTENSION, |foreign| foreign.extension());
    let outboard = args.outboard.clone().unwrap_or_else(|| args.source.with_extension(extension));
    let mut opening = Opening {
        expected: root,
        foreign: args.foreign.clone(),
        replicas: args.replica.clone(),
        write_back: write_back(args),
        ..Opening::new(args.source.clone(), outboard)
    };
    // All that is wrong with it is said now, not with the first read.
    let mut opened = Verified::open(opening.clone(), options);
    if let (Err(error), Some(outboard), None) = (&opened, &opening.outboard, &args.outboard)
        && kept::is_missing(error, outboard)
    {
        if opening.expected.is_none() {
            return Err(tool.console.fail_with(&args.source, &kept::needs_outboard(&args.source, outboard)));
        }
        opening.outboard = None;
        opened = Verified::open(opening.clone(), options);
    }
    let verified = opened.map_err(|error| tool.console.fail_with(error.input(), &error))?;
    opening.len = Some(verified.len());
    let facts = args.source.file().and_then(|path| path.metadata().ok()).map(|metadata| Facts::from(&metadata));
    let attributes =
        Attributes { mode: facts.map(|facts| facts.mode & 0o7777), modified: facts.map(|facts| facts.modified) };
    let name = args.source.name().ok_or_else(|| usage(&format_args!("{}: it has no name", Shown(&args.source))))?;
    let mut tree = Tree::new();
    let added = tree.insert(&name, Entry::File(opening.into()), attributes);
    added.map_err(|why| usage(&format_args!("{}: {why}", Shown(&args.source))))?;
    Ok(tree)
}

/// The entries of the source, by its catalogue.
fn directory(tool: &Tool, args: &Args, root: Option<&Expected>, options: &Options) -> Result<Tree, Exit> {
    if args.outboard.is_some() || args.foreign.is_some() {
        return refuse(&"--outboard and --foreign are for one file, and this is a directory");
    }
    if root.is_some_and(|root| root.directory().is_none()) {
        return Err(usage(
            &"--root: the root of a file, and SOURCE is a directory: 'mksum -f dir DIR' prints its root",
        ));
    }
    let place = args.catalogue.clone().unwrap_or_else(|| catalogue::place_below(&args.source));
    let list: List = match root {
        Some(root) => catalogue::trusted(tool, (&[place], &[]), root, options)?.1,
        None => catalogue::entries(tool, &place, options)?,
    };
    let source = (&args.source, &args.replica[..], write_back(args));
    let tree = Tree::of_list(list, source, &mut |name: &Path, why: &str| {
        tool.console.note(&format_args!("{}: not shown: {why}", Shown(name)));
    });
    tree.map_err(|error| tool.console.fail_with(error.input(), &error))
}

fn write_back(args: &Args) -> WriteBack {
    match args.on_bad {
        OnBad::Eio => WriteBack::No,
        OnBad::Repair => WriteBack::Yes,
    }
}
