//! Damaged files of a directory, repaired from copies.

use crate::compare::{Found, Scope, compare};
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::long::{damage, is_long, long_roots, outboard, roots_of};
use crate::reading::{Wanted, read_all};
use crate::row::{Kept, Row};
use crate::store::Catalogue;
use mksum_io::outboard::{Repair, repair as repair_long};
use mksum_io::{EntryKind, Facts, Input, Options, Refusal, open_replica};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Repairs the damaged files of a directory from copies, of which `copy_of` tells the place by the path of the entry: only
/// damaged ranges are fetched where a file has an outboard, else the file; nothing is written that has another root than the
/// catalogue's. `each` receives a finding about every file: intact, repaired, not repaired; and what is left alone: changed, gone.
///
/// # Errors
/// If the directory or the catalogue cannot be read or written, or the work is stopped.
pub fn repair(
    catalogue: &mut Catalogue,
    directory: &Path,
    options: &Options,
    copy_of: &dyn Fn(&[u8]) -> Input,
    each: &mut dyn FnMut(Finding),
) -> Result<(), Error> {
    catalogue.check()?;
    let scope = Scope::new(directory, catalogue.path());
    let mut same = Vec::new();
    compare(catalogue, &scope, options, &mut |found| {
        match found {
            Found::Same(listed, row) if listed.facts.kind == EntryKind::File && row.roots > 0 => {
                same.push((row.path, listed.facts.size));
            }
            Found::Changed(listed, _) => each(Finding::new(State::Changed, listed.path)),
            Found::Missing(row) => each(Finding::new(State::Gone, row.path)),
            Found::Unlisted(unlisted) => each(Finding::failed(State::NotRepaired, unlisted.prefix, unlisted.error)),
            Found::Same(..) | Found::New(_) | Found::Unknown => {}
        }
        Ok(())
    })?;
    let specs: Vec<_> = catalogue.formats().cloned().collect();
    let files = same.into_iter().filter_map(|(path, size)| {
        let place = scope.place(&path)?;
        Some(Wanted { about: path, place, size, specs: specs.clone() })
    });
    let mut result: Result<(), Error> = Ok(());
    read_all(files, options, &is_long, |Wanted { about: path, place, .. }, read| {
        let one = || {
            let stopped = || Err(mksum_io::Error::Stopped { path: place.clone().into() }.into());
            if options.stop.is_stopped() {
                return stopped();
            }
            let Some(row) = catalogue.row(&path)? else { return Ok(()) };
            let kept = catalogue.roots(&row)?;
            let read = match read {
                // A long file without an outboard is read whole.
                Ok((facts, roots)) if roots.is_empty() && row.is_of(&facts) && outboard(catalogue, &kept).is_none() => {
                    long_roots(&place, &facts, &kept, options).map(|roots| (facts, roots))
                }
                read => read,
            };
            let mended = match &read {
                Err(error @ (mksum_io::Error::Changed { .. } | mksum_io::Error::Open { .. })) => {
                    Finding::failed(State::NotRepaired, &path[..], Error::refused(&place, error))
                }
                Ok((facts, _)) if !row.is_of(facts) => Finding::new(State::Changed, &path[..]),
                Ok((_, roots)) if kept.iter().all(|kept| roots.contains(&kept.root)) => {
                    Finding::new(State::Intact, &path[..])
                }
                _ => match (&read, outboard(catalogue, &kept)) {
                    // Whether a long file is damaged is known only by its outboard.
                    (Ok(_), Some((outboard, stored)))
                        if damage(&place, (&outboard, &stored), 0..row.facts.size, options)?.0.is_empty() =>
                    {
                        Finding::new(State::Intact, &path[..])
                    }
                    _ => mend(catalogue, (&row, &kept), &place, &copy_of(&path), options)?,
                },
            };
            if mended.state == State::NotRepaired && options.stop.is_stopped() {
                return stopped();
            }
            if mended.state == State::Repaired || (row.repair && mended.state == State::Intact) {
                let facts = Facts::of(&place).unwrap_or(row.facts);
                let roots: Vec<_> =
                    kept.into_iter().map(|kept| Kept::new(kept.root, "repair", kept.outboard)).collect();
                catalogue.begin()?;
                catalogue.put((&path, &facts), None, &roots)?;
                catalogue.commit()?;
            }
            each(mended);
            Ok(())
        };
        match one() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                result = Err(error);
                ControlFlow::Break(())
            }
        }
    });
    result?;
    catalogue.make_spans(options)
}

fn mend(
    catalogue: &Catalogue,
    (row, kept): (&Row, &[Kept]),
    place: &Path,
    from: &Input,
    options: &Options,
) -> Result<Finding, Error> {
    // If the run is killed, nobody takes what it wrote for a change.
    catalogue.begin_repair(&row.path)?;
    let done = match outboard(catalogue, kept) {
        Some((outboard, stored)) => {
            let (mut ranges, mut failed) = (Vec::new(), None);
            let repaired = open_replica(from, options).and_then(|mut replica| {
                repair_long(place, (&outboard, &stored), &mut *replica, options, &mut |repair| match repair {
                    Repair::Done(range) => mksum_io::outboard::append(&mut ranges, range),
                    Repair::Failed(range, why) => {
                        failed = Some(format!("bytes {}..{} are not repaired: {why}", range.start, range.end));
                    }
                })
            });
            match (repaired, failed) {
                (Ok(repaired), None) if repaired.whole => Ok((ranges, repaired.fetched)),
                (Ok(_), why) => Err(why.unwrap_or_else(|| "it is still damaged".into())),
                // The catalogue has the root of the file all the same.
                (Err(mksum_io::Error::Refused { refusal: Refusal::DamagedOutboard { .. }, .. }), _) => {
                    mend_whole((row, kept), place, from, options)
                }
                (Err(error), _) => Err(words(error, from)),
            }
        }
        None => mend_whole((row, kept), place, from, options),
    };
    let (seconds, nanoseconds) = row.facts.modified;
    let time =
        u64::try_from(seconds).ok().and_then(|seconds| UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds)));
    if let Some(time) = time {
        // With another time, the row gets that.
        let _ = File::options().write(true).open(place).and_then(|file| file.set_modified(time));
    }
    Ok(match done {
        Ok((ranges, fetched)) => {
            Finding { ranges, bytes: Some(fetched), ..Finding::new(State::Repaired, &row.path[..]) }
        }
        Err(why) => {
            let why = format!("{why}: try another copy than {from}");
            Finding::failed(State::NotRepaired, &row.path[..], Error::refused(place, why))
        }
    })
}

/// Why a file is not repaired: with what the reason is about, if that is the copy.
fn words(error: mksum_io::Error, from: &Input) -> String {
    if error.input() == from { format!("the copy cannot be read: {error}") } else { error.to_string() }
}

/// Fetches a whole copy, compares its roots, and writes where the file differs.
fn mend_whole(
    (row, kept): (&Row, &[Kept]),
    place: &Path,
    from: &Input,
    options: &Options,
) -> Result<(Vec<Range<u64>>, u64), String> {
    let len = row.facts.size;
    let words = |error| words(error, from);
    // The file on this disk has this length, or it would have changed.
    let mut copy = Vec::new();
    let size = usize::try_from(len).map_err(|_| "the file is too long for this machine's memory".to_string())?;
    copy.try_reserve_exact(size).map_err(|_| format!("there is no memory for its {len} bytes"))?;
    copy.resize(size, 0);
    open_replica(from, options).and_then(|mut replica| replica.read(0, &mut copy)).map_err(words)?;
    for kept in kept {
        match kept.root.spec().root(&copy) {
            Ok(root) if root == kept.root => {}
            _ => return Err(format!("the copy has another root in {}", kept.root.spec())),
        }
    }
    let ranges = write_differences(place, &copy).map_err(|error| mksum_io::reason(&error))?;
    let specs = kept.iter().map(|kept| kept.root.spec().clone()).collect();
    let roots = roots_of(place, specs, options).map_err(words)?;
    match kept.iter().all(|kept| roots.contains(&kept.root)) {
        true => Ok((ranges, len)),
        false => Err("bytes that were repaired are damaged again when they are read back".into()),
    }
}

/// Writes the blocks of a file that differ from `copy`, or cannot be read.
fn write_differences(place: &Path, copy: &[u8]) -> io::Result<Vec<Range<u64>>> {
    const BLOCK: usize = 4096;
    let (mut file, mut ranges) = (File::options().read(true).write(true).open(place)?, Vec::new());
    let mut there = vec![0; BLOCK];
    for (index, block) in copy.chunks(BLOCK).enumerate() {
        let start = (index * BLOCK) as u64;
        file.seek(SeekFrom::Start(start))?;
        let there = &mut there[..block.len()];
        if file.read_exact(there).is_ok() && there == block {
            continue;
        }
        file.seek(SeekFrom::Start(start))?;
        file.write_all(block)?;
        mksum_io::outboard::append(&mut ranges, start..start + block.len() as u64);
    }
    file.sync_all()?;
    Ok(ranges)
}
