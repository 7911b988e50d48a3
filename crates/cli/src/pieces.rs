//! Torrents and manifests in XML in the place of sum files: files verified, piece by piece where pieces have sums.

use crate::args::Run;
use crate::check::{self, Checked, Failures, Status, Tally};
use crate::extra::Listed;
use crate::print::report_read_error;
use crate::ranges::RangeLine;
use crate::tool::Tool;
use mksum::Root;
use mksum::outboard::Outboard;
use mksum_cli::name::Shown;
use mksum_cli::pieces::{LONGEST, Manifest, PiecedFile};
use mksum_get::{Expected, JointFile, verify_joint};
use mksum_io::outboard::{append, verify};
use mksum_io::{Below, Error, File, Input, Job, hash, reason};
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Reads a torrent, metalink or ASC MHL manifest to its end.
///
/// # Errors
/// If it cannot be read, is not valid, or is longer than 64 MiB: as words.
pub fn read(reader: impl Read) -> Result<Manifest, String> {
    let mut bytes = Vec::new();
    reader.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    if bytes.len() as u64 > LONGEST {
        return Err("longer than 64 MiB, the most that is read of a torrent or manifest".into());
    }
    Manifest::read(&bytes)
        .unwrap_or_else(|| Err("neither a torrent nor a manifest: its first bytes are different".into()))
}

/// What was found of a file.
struct Verified {
    /// The kind of each range, as [`RangeLine`] has it.
    ranges: Vec<(&'static str, Range<u64>)>,
    /// The computed root, if the file is right.
    root: Option<Root>,
    /// The longer of the file's length and the expected one, in bytes.
    len: u64,
    /// Whether it is right: it may have another sum although its pieces are right.
    is_right: bool,
}

/// Verifies the files of a torrent, metalink or ASC MHL manifest.
pub fn check(
    tool: &Tool,
    args: &Run,
    (list, reader, limits): (&Path, impl Read, &[&Below]),
    (failures, listed): (&mut Failures, &mut Option<Listed>),
) -> Tally {
    let mut tally = Tally::default();
    let manifest = match read(reader) {
        Ok(manifest) => manifest,
        Err(why) => {
            tool.console.error(list, &why);
            tally.broken = true;
            return tally;
        }
    };
    for (name, why) in &manifest.refused {
        tool.console.note(&format_args!("{}: {why}", Shown(name)));
    }
    // The folder `ascmhl` is beside the files that its manifests list.
    let folder = list.parent().filter(|folder| manifest.is_mhl && folder.ends_with("ascmhl"));
    let place = folder.unwrap_or(list);
    let mut find = |file: &PiecedFile| {
        let there = check::beside(&file.path, place);
        tally.beside += u64::from(there.is_some());
        there.unwrap_or_else(|| file.path.clone())
    };
    let paths: Vec<PathBuf> = manifest.files.iter().map(&mut find).collect();
    if let Some(listed) = listed {
        paths.iter().for_each(|path| listed.add(path));
    }
    let joint = manifest.joint.as_ref().map(|joint| (joint, verify_joint(joint, &paths, &tool.options)));
    for (index, (file, path)) in manifest.files.iter().zip(&paths).enumerate() {
        tally.listed += 1;
        let refused = limits.iter().find_map(|below| below.refuses(path, "not read"));
        let input = Input::from(path);
        let verified = match (&joint, refused) {
            (_, Some(why)) => {
                tool.console.error(&input, &why);
                Err(None)
            }
            (Some((_, found)), None) => of_joint(file, &input, &found[index]).map_err(Some),
            (None, None) => one(tool, file, &input).map_err(Some),
        };
        let sum = file.sum.as_ref().map(|(spec, expected)| (spec.clone(), expected.clone()));
        let of_pieces = || {
            let pieces = file.pieces.as_ref().or(joint.as_ref().map(|(joint, _)| &joint.pieces))?;
            Some((pieces.spec().clone(), Expected::from(&pieces.root().ok()?)))
        };
        let Some((spec, expected)) = sum.or_else(of_pieces) else { continue };
        let (status, found) = match verified {
            Ok(verified) => {
                let spec = file.pieces.as_ref().map_or(&spec, |pieces| pieces.spec());
                for (kind, range) in &verified.ranges {
                    let line = RangeLine::new(kind, range.clone(), spec.shape(), verified.len);
                    line.print(tool, args.json, &input);
                }
                (if verified.is_right { Status::Ok } else { Status::Failed }, verified.root)
            }
            Err(Some(error)) if is_missing(&error) && args.ignore_missing => continue,
            Err(error) => {
                let is_missing = error.as_ref().is_some_and(is_missing);
                if let Some(error) = error {
                    report_read_error(tool, args, &error);
                }
                (if is_missing { Status::Missing } else { Status::Error }, None)
            }
        };
        let claimed = expected.root();
        let checked =
            Checked { path: input, status, found, claimed, spec, part: None, directory: None, guessed: false };
        tool.console.count(status.verdict(), 1);
        failures.add(&checked);
        tally.add(status);
        check::report(tool, args, &checked);
        tool.options.meter.finish_file();
    }
    tally
}

fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Open { error, .. } if error.kind() == ErrorKind::NotFound)
}

/// Verifies a file by its own pieces and sum.
fn one(tool: &Tool, file: &PiecedFile, path: &Input) -> Result<Verified, Error> {
    let opened = File::open(path, &tool.options)?;
    let len = opened.len();
    let mut found = Verified { ranges: Vec::new(), root: None, len: len.max(file.len.unwrap_or(0)), is_right: true };
    if let Some(pieces) = &file.pieces {
        let outboard = pieces.outboard().and_then(Outboard::open).map_err(|error| Error::from_outboard(error, path))?;
        verify(opened, (&outboard, path), 0..outboard.len(), &mut |finding| {
            let (kind, range) = (finding.kind(), finding.range());
            match found.ranges.last_mut() {
                Some((other, last)) if *other == kind && last.end == range.start => last.end = range.end,
                _ => found.ranges.push((kind, range)),
            }
            Ok(())
        })?;
        found.is_right = found.ranges.is_empty();
        found.root = found.is_right.then(|| outboard.root());
    }
    // The pieces of a metalink have another sum than the file.
    let other =
        file.sum.as_ref().filter(|(_, expected)| !found.root.as_ref().is_some_and(|root| expected.matches(root)));
    if let Some((_, expected)) = other.filter(|_| found.is_right) {
        let roots = hash(&Job::new(path.clone(), expected.specs(len)), &tool.options)?;
        let roots: Vec<_> = roots.into_iter().filter_map(Result::ok).collect();
        let right = roots.iter().find(|root| expected.matches(root)).cloned();
        let is_long = file.len.is_some_and(|expected| expected != len);
        found.is_right = right.is_some() && !is_long;
        found.root = right.or(roots.into_iter().next());
    }
    Ok(found)
}

/// What was found of a file whose pieces span files.
fn of_joint(file: &PiecedFile, path: &Input, joint: &JointFile) -> Result<Verified, Error> {
    if let Some(error) = &joint.error {
        // An error of the system has its text: a kind alone has other words.
        let again = error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error);
        return Err(Error::Open { path: path.clone(), error: again });
    }
    let expected = file.len.unwrap_or(0);
    let mut damaged = Vec::new();
    joint.damaged.iter().for_each(|range| append(&mut damaged, range.clone()));
    let mut ranges: Vec<_> = damaged.into_iter().map(|range| ("damaged", range)).collect();
    ranges.extend(joint.unverified.iter().map(|range| ("unverified", range.clone())));
    if joint.len > expected {
        ranges.push(("grown", expected..joint.len));
    }
    let is_right = ranges.is_empty();
    Ok(Verified { ranges, root: None, len: expected.max(joint.len), is_right })
}
