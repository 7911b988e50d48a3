//! `mksum prove`: a proof about a part of a file, from its outboard if there is one.

use crate::args::Prove;
use crate::exit::{Exit, usage};
use crate::kept::is_unchanged;
use crate::tool::Tool;
use base16ct::lower::encode_string;
use base64ct::{Base64, Encoding};
use mksum::{
    Checked, Claim, Cut, Format, NodeHash, Outboard, Plan, Proof, ProofError, Role, Root, Spec, Subtree, Subtrees,
    Visitor,
};
use mksum_cli::name::{self, Shown};
use mksum_io::outboard::{self, Stored};
use mksum_io::{Error, File};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::ops::Range;
use std::path::Path;

/// The most bytes that a proof carries besides digests.
const MOST_EDGES: u64 = 256 << 20;

/// Writes the proof to the standard output.
pub fn run(tool: &Tool, args: &Prove) -> Exit {
    if tool.formats.len() > 1 {
        return usage(&"a proof is in one --format");
    }
    if !args.json && io::stdout().is_terminal() {
        return usage(
            &"a proof is no text: write it to a file, as in 'mksum prove FILE --range A..B > proof', or use --json",
        );
    }
    match proof(tool, args) {
        Ok((root, proof)) if args.json => tool.console.print(&json(&args.file, &root, &proof)),
        Ok((_, proof)) => tool.console.print(&proof.to_bytes()),
        Err(Failure::Input(error)) => crate::print::tell(&tool.console, &error),
        Err(Failure::Told(reason)) => tool.console.error(&args.file, &reason),
    }
    tool.console.exit()
}

/// Why there is no proof.
enum Failure {
    Input(Error),
    Told(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Input(error)
    }
}

fn told(reason: impl Display) -> Failure {
    Failure::Told(reason.to_string())
}

fn proof(tool: &Tool, args: &Prove) -> Result<(Root, Proof), Failure> {
    let file = File::open(&args.file, &tool.options)?;
    let len = file.len();
    let outboard = kept(tool, args, &file)?;
    let spec = outboard.as_ref().map_or(tool.formats[0].spec(), Outboard::spec).clone();
    let claim = match (&args.range, args.consistency) {
        (Some(range), _) => Claim::Range(range.within(len).map_err(told)?),
        (None, old) => Claim::Growth(old.unwrap_or(len)),
    };
    let fail = |error| match error {
        ProofError::Join(error) => Failure::Input(Error::from_join(error, &args.file, &spec)),
        error => told(format_args!("{spec}: {error}")),
    };
    let cut = claim.cut(&spec, len).map_err(fail)?;
    let edges = claim.edges(&spec, len).map_err(fail)?;
    let extra: u64 = edges.iter().map(|edge| edge.end - edge.start).sum();
    if extra > MOST_EDGES {
        let (start, end) = edges.iter().fold((cut.bytes().start, cut.bytes().end), |(start, end), edge| {
            (start.min(edge.start), end.max(edge.end))
        });
        return Err(told(format_args!(
            "{spec}: the proof would have to carry {extra} bytes more, of leaves at the edges: take whole leaves, as in \
             {start}..{end}"
        )));
    }
    let bytes = edges.into_iter().map(|edge| file.bytes(edge)).collect::<Result<Vec<_>, _>>()?.concat();
    let whole = outboard.is_none();
    let _progress = tool.progress(move || [whole.then_some(len)].into_iter());
    let making = Making { file: &file, outboard: outboard.as_ref(), spec: &spec, claim, cut, edges: bytes };
    let (root, proof) = spec.visit(making).map_err(fail)?;
    file.finish()?;
    match outboard.filter(|outboard| *outboard.root().digest() != *root.digest()) {
        Some(_) => Err(told("it is not what its outboard was made of: 'mksum verify' tells where")),
        None => Ok((root, proof)),
    }
}

/// The outboard to prove from, if there is one that is of this file in the format that is asked for.
fn kept(tool: &Tool, args: &Prove, file: &File) -> Result<Option<Outboard<Stored>>, Failure> {
    let path = args.outboard.clone().unwrap_or_else(|| outboard::beside(&args.file));
    if args.outboard.is_none() && !path.exists() {
        return Ok(None);
    }
    let unfit = match outboard::open(&path) {
        Err(error) if args.outboard.is_some() => return Err(error.into()),
        Err(error) => error.to_string(),
        Ok(outboard) if args.choices.any() && outboard.spec() != tool.formats[0].spec() => {
            format!("it is in {}, not in {}", outboard.spec(), tool.formats[0].spec())
        }
        Ok(outboard) if !is_unchanged(file, outboard.header()) => {
            format!("{} was written to since", Shown(&args.file))
        }
        Ok(outboard) => return Ok(Some(outboard)),
    };
    if args.outboard.is_some() {
        return Err(told(format_args!("it cannot be proven from {}: {unfit}", Shown(&path))));
    }
    tool.console.tell(&format_args!("{}: not used, so all of the file is read: {unfit}", Shown(&path)));
    Ok(None)
}

/// Makes a proof, and tells the root that came of it.
struct Making<'a> {
    file: &'a File,
    outboard: Option<&'a Outboard<Stored>>,
    spec: &'a Spec,
    claim: Claim,
    cut: Cut,
    edges: Vec<u8>,
}

impl Visitor for Making<'_> {
    type Output = Result<(Root, Proof), ProofError>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        let (file, cut, len) = (self.file, self.cut, self.file.len());
        let (root, digests) = match self.outboard {
            None => format.prove(file, cut, &file.plan(format))?,
            Some(outboard) => {
                let inner = Inner { checked: Checked::new(format, outboard), cut };
                // One piece: only what the proof needs is asked for.
                format.prove(&(&inner, file), cut, &Plan { threads: 1, piece: u64::MAX, group: 1 })?
            }
        };
        Ok((self.spec.sealed(len, root.into()), Proof::new(self.spec, len, self.claim, &digests, self.edges)?))
    }
}

/// An outboard, but for the leaves at the edges: their bytes are sent, so the file has to answer for them.
struct Inner<'a, N: NodeHash> {
    checked: Checked<'a, N, Stored>,
    cut: Cut,
}

impl<const D: usize, N: NodeHash<Digest = [u8; D]>> Subtrees<N> for Inner<'_, N> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<[u8; D]>, mksum::Error> {
        if self.cut.opens(node) { Ok(None) } else { self.checked.digest(format, node, role) }
    }
}

#[derive(Serialize)]
struct Record<'a> {
    path: &'a str,
    format: String,
    length: u64,
    root: String,
    kind: &'a str,
    start: u64,
    end: u64,
    digests: Vec<String>,
    before_base64: String,
    after_base64: String,
}

fn json(path: &Path, root: &Root, proof: &Proof) -> Vec<u8> {
    let (kind, Range { start, end }) = (proof.claim().kind(), proof.claim().bytes());
    let (before, after) = proof.edges();
    let record = Record {
        path: &name::lossy(path),
        format: proof.spec().to_string(),
        length: proof.len(),
        root: root.to_string(),
        kind,
        start,
        end,
        digests: proof.digests().map(encode_string).collect(),
        before_base64: Base64::encode_string(before),
        after_base64: Base64::encode_string(after),
    };
    let mut line = serde_json::to_vec(&record).expect("strings and numbers");
    line.push(b'\n');
    line
}
