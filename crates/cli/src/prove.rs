//! `mksum prove`: a proof about a part of a file, from its outboard if there is one.

use crate::args::Prove;
use crate::directory;
use crate::exit::{Ended, refuse};
use crate::failure::Failure;
use crate::figures::bytes;
use crate::json;
use crate::kept::outboard_of;
use crate::tool::Tool;
use base64ct::{Base64, Encoding};
use mksum::outboard::Outboard;
use mksum::proof::{Claim, Proof, ProofError};
use mksum::{ByOffset, Root};
use mksum_cli::name::Shown;
use mksum_io::outboard::{self, EXTENSION, Stored, is_unchanged};
use mksum_io::{Error, File, Input, Prover, Unproven};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::ops::Range;
use std::path::Path;

/// The most bytes in a proof, apart from its digests.
const MOST_EDGES: u64 = 256 << 20;

/// The bytes of leaves around a range that are worth a word.
const LONG_EDGES: u64 = 4096;

/// Writes the proof to the standard output.
pub fn run(tool: &Tool, args: &Prove) -> Ended {
    if tool.formats.len() > 1 {
        return refuse(&"a proof is in one --format");
    }
    if !args.json && io::stdout().is_terminal() {
        return refuse(
            &"a proof is binary: write it to a file, as in 'mksum prove FILE --range A..B > proof', or use --json",
        );
    }
    if args.range.is_none() && args.consistency.is_none() && args.path.is_none() {
        return refuse(
            &"say what to prove: that the file contains some bytes (--range A..B), that it has only grown (--consistency \
              OLDLEN), or that a directory contains an entry (--path PATH), as in 'mksum prove FILE --range 0..4096 > proof'",
        );
    }
    if let Err(reason) = tool.formats[0].spec().supports(ByOffset::Proof) {
        return refuse(&reason);
    }
    tool.console.use_json(args.json);
    if let Some(path) = &args.path {
        return directory::prove(tool, args, path);
    }
    directory::refuse_formats(tool)?;
    match proof(tool, args) {
        Ok((root, proof)) if args.json => tool.console.print(&json(&args.file, &root, &proof)),
        Ok((root, proof)) => {
            tool.console.print(&proof.to_bytes());
            explain(tool, args, &root, &proof);
        }
        Err(failure) => crate::print::report(&tool.console, &failure),
    }
    Ok(tool.console.exit())
}

/// Reports what a verifier has to know beside the proof, and why the proof is much longer than what it proves.
fn explain(tool: &Tool, args: &Prove, root: &Root, proof: &Proof) {
    let file = &args.file;
    let (spec, length) = (root.spec(), root.len());
    let (old, range) = match args.consistency {
        None => (String::new(), " BYTES"),
        Some(old) => (format!(" --old-root ROOT --old-length {old}"), ""),
    };
    // The root and the length are what its checker has to get from a trusted source.
    let command = format!("mksum check-proof -f {spec} --length {length}{old} {root} PROOF{range}");
    tool.console.note(&format_args!("{}: to check the proof: {command}", Shown(file)));
    let (before, after) = proof.edges();
    let (edges, range) = ((before.len() + after.len()) as u64, proof.claim().bytes());
    if edges > LONG_EDGES.max(range.end - range.start) {
        tool.console.note(&format_args!(
            "{}: the proof has {} of the leaves around the range: with shorter leaves (--leaf) it is shorter",
            Shown(file),
            bytes(edges)
        ));
    }
}

fn proof(tool: &Tool, args: &Prove) -> Result<(Root, Proof), Failure> {
    let refuse = |reason: &dyn Display| Failure::refused(&args.file, reason);
    let file = File::open(&args.file, &tool.options)?;
    let len = file.len();
    let outboard = kept(tool, args, &file)?;
    let spec = outboard.as_ref().map_or(tool.formats[0].spec(), Outboard::spec).clone();
    let claim = match (&args.range, args.consistency) {
        (Some(range), _) => Claim::Range(range.within(len).map_err(|reason| refuse(&reason))?),
        (None, old) => Claim::Consistency(old.unwrap_or(len)),
    };
    let fail = |error| match error {
        ProofError::Join(error) => Failure::Io(Error::from_join(error, &args.file, &spec)),
        error => refuse(&format_args!("{spec}: {error}")),
    };
    let cut = claim.cut(&spec, len).map_err(fail)?;
    let edges = claim.edges(&spec, len).map_err(fail)?;
    let extra: u64 = edges.iter().map(|edge| edge.end - edge.start).sum();
    if extra > MOST_EDGES {
        let (start, end) = edges.iter().fold((cut.bytes().start, cut.bytes().end), |(start, end), edge| {
            (start.min(edge.start), end.max(edge.end))
        });
        return Err(refuse(&format_args!(
            "{spec}: the proof would need {extra} more bytes, of the leaves at the edges: choose whole leaves, as in \
             {start}..{end}"
        )));
    }
    let whole = outboard.is_none();
    let _progress = tool.progress(move || [whole.then_some(len)].into_iter());
    let prover = outboard.as_ref().map_or(Prover::Whole(&spec), Prover::Kept);
    prover.prove(file, claim).map_err(|error| match error {
        Unproven::Proof(ProofError::Root { .. }) => refuse(&"it differs from its outboard: 'mksum verify' shows where"),
        Unproven::Proof(error) => fail(error),
        Unproven::File(error) => error.into(),
    })
}

/// The outboard to prove from, if there is one of this file in the requested format.
fn kept(tool: &Tool, args: &Prove, file: &File) -> Result<Option<Outboard<Stored>>, Failure> {
    let path = outboard_of(&args.file, args.outboard.as_ref(), EXTENSION);
    if args.outboard.is_none() && !path.file().is_some_and(Path::exists) {
        return Ok(None);
    }
    let unfit = match outboard::open_with(&path, &tool.options) {
        Err(error) if args.outboard.is_some() => return Err(error.into()),
        Err(error) => error.to_string(),
        Ok(outboard) if args.choices.any() && outboard.spec() != tool.formats[0].spec() => {
            format!("it is in {}, not in {}", outboard.spec(), tool.formats[0].spec())
        }
        Ok(outboard) if !is_unchanged(file, outboard.header()) => {
            format!("{} was modified since", Shown(&args.file))
        }
        Ok(outboard) => return Ok(Some(outboard)),
    };
    if args.outboard.is_some() {
        return Err(Failure::refused(&args.file, format_args!("{} cannot be used: {unfit}", Shown(&path))));
    }
    tool.console.note(&format_args!("{}: not used, so the whole file is read: {unfit}", Shown(&path)));
    Ok(None)
}

#[derive(Serialize)]
struct Record<'a> {
    kind: &'a str,
    format: String,
    length: u64,
    root: String,
    claim: &'a str,
    start: u64,
    end: u64,
    digests: Vec<String>,
    before_base64: String,
    after_base64: String,
}

fn json(path: &Input, root: &Root, proof: &Proof) -> Vec<u8> {
    let (claim, Range { start, end }) = (proof.claim().kind(), proof.claim().bytes());
    let (before, after) = proof.edges();
    let record = Record {
        kind: "proof",
        format: proof.spec().to_string(),
        length: proof.len(),
        root: root.to_string(),
        claim,
        start,
        end,
        digests: proof.digests().iter().map(|digest| digest.to_string()).collect(),
        before_base64: Base64::encode_string(before),
        after_base64: Base64::encode_string(after),
    };
    json::line(path, record)
}
