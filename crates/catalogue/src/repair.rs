//! Damaged files of a directory, repaired from copies.

use crate::compare::{Found, Scope, compare};
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::long::{damage, is_long, long_roots, outboard};
use crate::reading::{Read, Wanted, read_all};
use crate::row::{Kept, Row};
use crate::store::Catalogue;
use mksum_io::outboard::{Repair, append, repair as repair_long, repair_whole};
use mksum_io::{EntryKind, Facts, HeldDirectory, HeldFile, Input, Options, Refusal, open_replicas, path_from_bytes};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Repairs the damaged files of a directory from copies, whose places `copies_of` returns by the path of the entry, in the order in which they
/// are asked: only
/// damaged ranges are fetched where a file has an outboard, else the file; nothing is written that has another root than the
/// catalogue's. `each` receives a finding about every file: intact, repaired, not repaired; and what is left alone: changed, gone.
///
/// # Errors
/// If the directory or the catalogue cannot be read or written, or the work is stopped.
pub fn repair(
    catalogue: &mut Catalogue,
    directory: &Path,
    options: &Options,
    copies_of: &dyn Fn(&[u8]) -> Vec<Input>,
    each: &mut dyn FnMut(Finding),
) -> Result<(), Error> {
    catalogue.check()?;
    let scope = Scope::new(directory, catalogue);
    let mut same = Vec::new();
    compare(catalogue, &scope, options, &mut |found| {
        match found {
            Found::Same(listed, row) if listed.facts.kind == EntryKind::File && row.roots > 0 => {
                same.push((row.path, listed.facts.size));
            }
            Found::Changed(listed, _) => each(Finding::new(State::Changed, listed.path)),
            Found::Missing(row) => each(Finding::new(State::Gone, row.path)),
            Found::Unlisted(unlisted) => each(Finding::failed(State::NotRepaired, unlisted.prefix, unlisted.error)),
            Found::Same(..) | Found::New(_) | Found::Excluded(_) | Found::Unknown(_) => {}
        }
        Ok(())
    })?;
    let held_directory = HeldDirectory::open(directory)?;
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
            let lost = || Error::Row { path: catalogue.path().into(), row: path.clone(), why: "it is lost".into() };
            let row = catalogue.row(&path)?.ok_or_else(lost)?;
            let kept = catalogue.roots(&row)?;
            let read = match read {
                // A long file without an outboard is read whole.
                Ok((facts, roots)) if roots.is_empty() && row.is_of(&facts) && outboard(catalogue, &kept).is_none() => {
                    long_roots(&place, &facts, &kept, options).map(|roots| (facts, roots))
                }
                read => read,
            };
            let mut facts = read.as_ref().map_or(row.facts, |(facts, _)| *facts);
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
                    _ => {
                        let below = path_from_bytes(&path).expect("the path of a place");
                        match HeldFile::open_below(&held_directory, &below) {
                            Ok(mut file) if is_judged(&row, &read, &file.facts()) => {
                                let mended = mend(catalogue, (&row, &kept), &mut file, &copies_of(&path), options)?;
                                facts = file.facts();
                                mended
                            }
                            Ok(_) => Finding::new(State::Changed, &path[..]),
                            Err(error) => Finding::failed(State::NotRepaired, &path[..], error),
                        }
                    }
                },
            };
            if mended.state == State::NotRepaired && options.stop.is_stopped() {
                return stopped();
            }
            if mended.state == State::Repaired || (row.repair && mended.state == State::Intact) {
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

/// Whether an open file is the one that was found damaged.
fn is_judged(row: &Row, read: &Read, facts: &Facts) -> bool {
    row.is_of(facts) && read.as_ref().map_or(true, |(read, _)| read == facts)
}

fn mend(
    catalogue: &Catalogue,
    (row, kept): (&Row, &[Kept]),
    file: &mut HeldFile<'_>,
    from: &[Input],
    options: &Options,
) -> Result<Finding, Error> {
    // If the run is killed, nobody takes what it wrote for a change.
    catalogue.begin_repair(&row.path)?;
    let mut passed = Vec::new();
    let written = write_good(catalogue, kept, file, from, options, &mut passed);
    let (seconds, nanoseconds) = row.facts.modified;
    let time =
        u64::try_from(seconds).ok().and_then(|seconds| UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds)));
    // With another time, the row gets that.
    let timed = time.map_or(Ok(()), |time| file.set_modified(time));
    let why = match (written, timed) {
        (Err(error @ mksum_io::Error::Refused { refusal: Refusal::Overtaken(_), .. }), _)
        | (_, Err(error @ mksum_io::Error::Refused { .. })) => error.to_string(),
        // No copy helps.
        (Err(error @ mksum_io::Error::Write { .. }), _) => error.to_string(),
        (Err(error), _) => format!("{}: try another copy than {}", words(error, from), listed(from)),
        (Ok(Err(why)), _) => format!("{why}: try another copy than {}", listed(from)),
        (Ok(Ok(Written { ranges, fetched, copies })), _) => {
            let repaired = Finding::new(State::Repaired, &row.path[..]);
            return Ok(Finding { ranges, bytes: Some(fetched), copies, passed, ..repaired });
        }
    };
    // A file that has the time of its row again, or was changed by others, is not one that is being repaired.
    let is_same = |own, other| Row { facts: own, repair: false, ..row.clone() }.is_of(&other);
    let there = Facts::of(file.path());
    if is_same(row.facts, file.facts()) || !there.is_ok_and(|there| is_same(file.facts(), there)) {
        catalogue.end_repair(&row.path)?;
    }
    Ok(Finding { passed, ..Finding::failed(State::NotRepaired, &row.path[..], Error::refused(file.path(), why)) })
}

/// What was done to repair a file.
struct Written {
    ranges: Vec<Range<u64>>,
    fetched: u64,
    /// The copies that the ranges are from.
    copies: Vec<Input>,
}

/// Writes what is damaged of a file, or says why some bytes are not repaired. `passed` gets the copies that could not help, each once.
fn write_good(
    catalogue: &Catalogue,
    kept: &[Kept],
    file: &mut HeldFile<'_>,
    from: &[Input],
    options: &Options,
    passed: &mut Vec<(Input, String)>,
) -> Result<Result<Written, String>, mksum_io::Error> {
    let mut replica = open_replicas(from, options)?;
    if let Some((outboard, stored)) = outboard(catalogue, kept) {
        let (mut ranges, mut copies, mut failed) = (Vec::new(), Vec::new(), None);
        let repaired = repair_long(file, (&outboard, &stored), &mut *replica, options, &mut |repair| match repair {
            Repair::Done(range, copy) => {
                append(&mut ranges, range);
                if !copies.contains(&copy) {
                    copies.push(copy);
                }
            }
            Repair::Passed(_, copy, _) if passed.iter().any(|(before, _)| *before == copy) => {}
            Repair::Passed(range, copy, why) => {
                passed.push((copy, format!("bytes {}..{}: {why}", range.start, range.end)));
            }
            Repair::Failed(range, why) => {
                failed = Some(format!("bytes {}..{} are not repaired: {why}", range.start, range.end));
            }
        });
        match (repaired, failed) {
            (Ok(repaired), None) if repaired.whole => {
                return Ok(Ok(Written { ranges, fetched: repaired.fetched, copies }));
            }
            (Ok(_), why) => return Ok(Err(why.unwrap_or_else(|| "it is still damaged".into()))),
            // The catalogue has the root of the file all the same.
            (Err(mksum_io::Error::Refused { refusal: Refusal::DamagedOutboard { .. }, .. }), _) => {}
            (Err(error), _) => return Err(error),
        }
    }
    let roots: Vec<_> = kept.iter().map(|kept| kept.root.clone()).collect();
    let folder = catalogue.path().parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut note = |copy, error: mksum_io::Error| passed.push((copy, error.to_string()));
    let folder = folder.unwrap_or(Path::new("."));
    let (ranges, copy) = repair_whole(file, &roots, &mut *replica, folder, options, &mut note)?;
    Ok(Ok(Written { ranges, fetched: replica.fetched(), copies: vec![copy] }))
}

/// Why a file is not repaired: with what the reason is about, if that is a copy.
fn words(error: mksum_io::Error, from: &[Input]) -> String {
    if from.contains(error.input()) { format!("the copy cannot be read: {error}") } else { error.to_string() }
}

fn listed(from: &[Input]) -> String {
    from.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
