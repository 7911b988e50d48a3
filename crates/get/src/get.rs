//! A download, step by step.

use crate::also::{Also, read_again};
use crate::error::Error;
use crate::fetch;
use crate::kept::{self, Found, Tree};
use crate::pieces;
use crate::request::{Got, Outcome, Request, Target};
use crate::seed;
use crate::sink::Sink;
use crate::whole;
use mksum::{Root, Spec};
use mksum_io::{Input, Job, Mode, Options, Partial, check_room};
use std::ops::Range;
use std::sync::Arc;

/// Fetches a file from untrusted mirrors.
///
/// If the target is there and has the expected root, nothing is fetched. With an outboard, missing ranges are fetched from all mirrors
/// at once; each unit is verified before it is written to `TARGET.part`, which a later run resumes. Without one, the whole stream is
/// hashed. Either way the target gets its name when it is whole and on the disk, and is as it was until then.
///
/// # Errors
/// If the target cannot be written, or no outboard is of the expected root. That mirrors had not the right bytes is no error, but an
/// [`Outcome`].
pub fn get(request: &Request, options: &Options) -> Result<Got, Error> {
    let mut got = Got::new(&request.mirrors);
    if let Target::File(path) = &request.target
        && let Some((root, also)) = whole::present(request, path, options)?
    {
        return Ok(Got { outcome: Outcome::Present, root: Some(root), also, ..got });
    }
    if let Some(pieces) = &request.pieces {
        let place = request.mirrors.first().cloned().unwrap_or(Input::Stdin);
        if let Some(outboard) = pieces::outboard(pieces, &place)? {
            return with_outboard(request, (Arc::new(outboard), &place), got, options);
        }
    }
    match outboard(request, &mut got, options)? {
        Some((place, outboard)) => {
            got.outboard = Some(place.clone());
            with_outboard(request, (Arc::new(outboard), &place), got, options)
        }
        None => whole::fetch(request, got, options),
    }
}

/// The first outboard of the expected root.
fn outboard(request: &Request, got: &mut Got, options: &Options) -> Result<Option<(Input, Tree)>, Error> {
    let mut other = None;
    // Not all of other programs' trees have it. If it is a lie, the root is another one.
    let len = || request.len.or_else(|| kept::length(&request.mirrors, options));
    let foreign = request.foreign.as_ref().and_then(|format| Some((format, len()?)));
    for place in &request.outboards {
        let fetched = match (&request.foreign, foreign) {
            (None, _) => kept::fetch(place, &request.expected, request.len, options),
            (Some(_), Some((format, len))) => kept::fetch_foreign(place, (&request.expected, format, len), options),
            (Some(_), None) => Ok(Found::Nothing),
        };
        match fetched {
            Ok(Found::Right(outboard)) => return Ok(Some((place.clone(), *outboard))),
            // Without the name of its format, the root may be of another one.
            Ok(Found::Other(root)) if request.expected.is_named() => other = other.or(Some((place, root))),
            Ok(Found::Other(_) | Found::Nothing) => {}
            Err(error @ Error::Io(mksum_io::Error::Stopped { .. })) => return Err(error),
            Err(error) => got.notes.push((place.clone(), error.to_string())),
        }
    }
    // The whole file would not have the root either, most likely.
    match other {
        Some((place, root)) => {
            let expected = request.expected.text();
            let why = format!("this outboard is of another file:\n  expected root {expected}\n  found root    {root}");
            Err(Error::Refused(place.clone(), why))
        }
        None => Ok(None),
    }
}

/// Fetches the missing ranges of a file whose tree is known.
fn with_outboard(
    request: &Request,
    (tree, place): (Arc<Tree>, &Input),
    mut got: Got,
    options: &Options,
) -> Result<Got, Error> {
    let outboard = tree.outboard();
    let (root, len) = (outboard.root(), outboard.len());
    if let Some(why) = request.expected.doubt(&root, None).filter(|_| request.len.is_none()) {
        return Err(Error::Refused(place.clone(), why));
    }
    got.root = Some(root);
    let whole = Vec::from_iter((len > 0).then_some(0..len));
    let (mut sink, mut missing, seeds): (_, _, Vec<_>) = match &request.target {
        Target::File(path) => {
            let partial = Partial::resume(path)?;
            let old = partial.target().exists().then(|| partial.target().to_path_buf());
            let mut seeds: Vec<_> = old.into_iter().chain(request.seeds.iter().cloned()).collect();
            let shared = partial.share_blocks(&seeds, len);
            let partial = partial.sized(len)?;
            let missing = match partial.is_resumed() || shared.is_some() {
                true => seed::missing(partial.path(), (outboard, place), options)?,
                false => whole,
            };
            match shared {
                None => got.resumed = len - sum(&missing),
                Some(index) => {
                    seeds.remove(index);
                    got.seeded = len - sum(&missing);
                    missing.iter().for_each(|range| partial.clear(range));
                    if let Err(error) = check_room(partial.path(), sum(&missing)) {
                        partial.remove_if(true);
                        return Err(error.into());
                    }
                }
            }
            (Sink::of_file(partial), missing, seeds)
        }
        Target::Writer(out) => (Sink::of_writer(out.clone()), whole, Vec::new()),
    };
    for seed in seeds {
        let before = sum(&missing);
        missing = seed::copy(&seed, missing, &tree, &mut sink, options)?;
        got.seeded += before - sum(&missing);
    }
    // What is there already came in no order.
    if got.resumed + got.seeded == 0 && !request.also.is_empty() {
        let name = got.mirrors.first().map_or(place, |mirror| &mirror.place);
        Also::begin(&request.also, name, options).into_iter().for_each(|also| sink.add(also));
    }
    if !missing.is_empty() {
        let mirrors = std::mem::take(&mut got.mirrors);
        let fetched = fetch::fetch((tree.clone(), missing), mirrors, request.connections, sink, options)?;
        (sink, missing, got.mirrors) = (fetched.sink, fetched.missing, fetched.mirrors);
    }
    got.fetched = got.mirrors.iter().map(|mirror| mirror.bytes).sum();
    if let (Some(partial), true) = (&sink.file, request.read_back && missing.is_empty()) {
        partial.sync()?;
        let options = &Options { mode: Mode::Direct, ..options.clone() };
        missing = seed::missing(partial.path(), (outboard, place), options)?;
    }
    let is_whole = missing.is_empty();
    got.missing = missing;
    if let (Some(partial), true) = (&sink.file, is_whole && request.pieces.is_some()) {
        got.root = Some(whole_root(request, (partial, len), &outboard.root(), options)?);
    }
    let mut sums = None;
    if is_whole {
        (got.outcome, sums) = (Outcome::Fetched, sink.sums()?);
    }
    if let Some(partial) = sink.file {
        match is_whole {
            true => partial.finish()?,
            false => {
                let is_empty = sum(&got.missing) == len;
                got.left = (!is_empty).then(|| partial.path().to_path_buf());
                partial.remove_if(is_empty);
            }
        }
    }
    got.also = match (sums, &request.target, &got.root) {
        (Some(sums), ..) => sums,
        (None, Target::File(path), Some(root)) if is_whole && !request.also.is_empty() => {
            got.is_read_again = true;
            read_again(path, &request.also, root, options)?
        }
        (None, Target::Writer(_), _) if is_whole => request.also.iter().map(in_no_stream).collect(),
        (None, ..) => Vec::new(),
    };
    Ok(got)
}

/// The expected root of a file whose pieces are right: it may be another sum than theirs.
fn whole_root(
    request: &Request,
    (partial, len): (&Partial, u64),
    of_pieces: &Root,
    options: &Options,
) -> Result<Root, Error> {
    if request.expected.matches(of_pieces) {
        return Ok(of_pieces.clone());
    }
    let roots = mksum_io::hash(&Job::new(partial.path().into(), request.expected.specs(len)), options)?;
    let found = roots.into_iter().filter_map(Result::ok).find(|root| request.expected.matches(root));
    found.ok_or_else(|| {
        let why = "its pieces are right, but the whole file has another sum: the list contradicts itself";
        Error::Refused(partial.target().into(), why.into())
    })
}

/// The reason why a format has no sum of bytes that are passed on.
fn in_no_stream(spec: &Spec) -> Result<Root, String> {
    Err(format!("{spec}: it has to know the length first, and the bytes were passed on: write a file"))
}

fn sum(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}
