//! `mksum check-proof`: a proof, and for a range its bytes, against a root.

use crate::args::CheckProof;
use crate::directory;
use crate::exit::{Ended, refuse, usage};
use crate::json;
use crate::tool::Tool;
use crate::walk;
use mksum::ClaimedRoot;
use mksum::directory::EntryProof;
use mksum::formats::Binding;
use mksum::proof::{Claim, Proof, ProofError, Trusted};
use mksum_cli::choice::Choice;
use mksum_cli::name::Shown;
use mksum_cli::published::Published;
use mksum_io::{Input, Sequence, reason};
use serde::Serialize;
use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// Prints OK if the proof is valid, and fails if not.
pub fn run(tool: &Tool, args: &CheckProof) -> Ended {
    tool.console.use_json(args.json);
    let [choice] = &tool.formats[..] else { return refuse(&"a root is in one --format") };
    let (choice, root) =
        claimed(&args.root, choice, args.choices.any()).map_err(|error| usage(&format_args!("ROOT: {error}")))?;
    let spec = choice.spec();
    if let Some(directory) = choice.directory() {
        return directory::check_proof(tool, args, directory, &root);
    }
    let root = Trusted { spec: spec.clone(), root, len: args.length };
    let old = args.old_root.as_deref().map(|text| claimed(text, &choice, true)).transpose();
    let old = old.map_err(|error| usage(&format_args!("--old-root: {error}")))?;
    let old = old.map(|(old, root)| Trusted { spec: old.spec().clone(), root, len: args.old_length });
    let proof = checked(tool, args, &root, old.as_ref());
    let proof = proof.map_err(|(path, reason)| tool.console.fail_with(&path, &reason))?;
    if args.json {
        tool.console.print(&json(&args.proof, &proof, &root));
        return Ok(tool.console.exit());
    }
    let shown = match proof.claim() {
        Claim::Range(Range { start, end }) => format!("bytes {start}..{end} of {}", proof.len()),
        Claim::Consistency(old) => format!("the first {old} bytes of {}", proof.len()),
    };
    tool.console.print(format!("{}: OK ({shown})\n", Shown(&args.proof)).as_bytes());
    match (args.length, proof.claim(), spec.family().binding()) {
        (None, Claim::Range(_), Binding::Leaves) => tool.console.note(&format_args!(
            "{}: without --length, this does not prove the offset of the bytes",
            Shown(&args.proof)
        )),
        (None, Claim::Range(_), Binding::Offsets) => tool.console.note(&format_args!(
            "{}: without --length, this does not prove the length of the input",
            Shown(&args.proof)
        )),
        (None, Claim::Consistency(_), Binding::Leaves | Binding::Offsets) => tool.console.note(&format_args!(
            "{}: without --length and --old-length, this does not prove the lengths of the inputs",
            Shown(&args.proof)
        )),
        _ => {}
    }
    Ok(tool.console.exit())
}

/// A trusted root and its format: `choice`, unless the text names another one and none `is_given`.
fn claimed(text: &str, choice: &Choice, is_given: bool) -> Result<(Choice, ClaimedRoot), String> {
    let is_named = |published: &Published| !is_given && published.usual.len() == 1 && published.unusual.is_empty();
    let read = Published::read(text, Some(choice))
        .or_else(|error| Published::read(text, None).ok().filter(is_named).ok_or(error));
    read.map(|mut published| (published.usual.swap_remove(0), published.root))
}

/// The proof, if it is valid; else the path of the wrong file, and the reason.
fn checked(tool: &Tool, args: &CheckProof, root: &Trusted, old: Option<&Trusted>) -> Result<Proof, (Input, String)> {
    let fail = |error: ProofError| match error {
        ProofError::Join(error) => {
            let error = mksum_io::Error::from_join(error, &args.proof, &root.spec);
            let why =
                wrong_bytes(&error).map_or_else(|| error.to_string(), |error| format!("{error}{}", advice(error)));
            (error.input().clone(), why)
        }
        error => ((&args.proof).into(), format!("{error}{}", advice(&error))),
    };
    let bytes = fs::read(&args.proof).map_err(|error| ((&args.proof).into(), reason(&error)))?;
    if bytes.starts_with(&EntryProof::MAGIC) {
        let why = "it is a proof about a directory: give the format of its root with -f dir";
        return Err(((&args.proof).into(), why.into()));
    }
    let proof = Proof::parse(&bytes).map_err(fail)?;
    match (proof.claim(), old) {
        (Claim::Range(range), None) => {
            // First, so that nothing is read in vain.
            proof.sound(root).map_err(fail)?;
            range_holds(tool, args, &proof, range.end - range.start, root).map_err(fail)?;
        }
        (Claim::Consistency(_), Some(old)) => proof.verify_consistency(old, root).map_err(fail)?,
        (Claim::Range(_), Some(_)) => return Err(fail(ProofError::Kind { expected: "consistency" })),
        (Claim::Consistency(_), None) => return Err(fail(ProofError::Kind { expected: "inclusion" })),
    }
    Ok(proof)
}

/// Checks a range with its `len` bytes, as they come.
fn range_holds(tool: &Tool, args: &CheckProof, proof: &Proof, len: u64, root: &Trusted) -> Result<(), ProofError> {
    let path = args.bytes.as_ref().unwrap_or(&Input::Stdin);
    let join = |error: mksum_io::Error| ProofError::Join(error.into());
    let reader = walk::open(path).map_err(|error| join(mksum_io::Error::Open { path: path.clone(), error }))?;
    let _progress = tool.progress(move || [Some(len)].into_iter());
    let (before, after) = proof.edges();
    let start = match proof.claim() {
        Claim::Range(range) => range.start - before.len() as u64,
        Claim::Consistency(_) => 0,
    };
    let bytes = before.chain(Exactly { reader, len, done: 0 }).chain(after);
    let sequence = Sequence::new(path.clone(), start, bytes, &tool.options);
    proof.verify_from(root, &sequence)?;
    sequence.finish().map_err(join)
}

/// A reader that must have exactly `len` bytes.
struct Exactly<R> {
    reader: R,
    len: u64,
    done: u64,
}

impl<R: Read> Read for Exactly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = |found| Err(io::Error::other(ProofError::Bytes { expected: self.len, found }));
        if self.done == self.len {
            return match self.reader.read(&mut [0])? {
                0 => Ok(0),
                _ => wrong(self.len + 1),
            };
        }
        let most = usize::try_from(self.len - self.done).unwrap_or(usize::MAX).min(buffer.len());
        match self.reader.read(&mut buffer[..most])? {
            0 => wrong(self.done),
            more => {
                self.done += more as u64;
                Ok(more)
            }
        }
    }
}

/// Why the bytes of a range are not those of the proof, if a read failed for that.
fn wrong_bytes(error: &mksum_io::Error) -> Option<&ProofError> {
    let mksum_io::Error::Read { error, .. } = error else { return None };
    error.get_ref()?.downcast_ref()
}

/// Advice for the user, appended to the error.
fn advice(error: &ProofError) -> &'static str {
    match error {
        ProofError::NeedsLength(_) => ": give it with --length",
        ProofError::Malformed { .. } => ". 'mksum prove FILE --range A..B > PROOF' writes one",
        ProofError::Bytes { .. } => {
            ": give exactly these, in a file after the proof or on standard input, as in \
             'tail -c +1 FILE | head -c 4096 | mksum check-proof ROOT PROOF' for the range 0..4096"
        }
        ProofError::Kind { expected: "consistency" } => ": omit --old-root, and give the bytes of the range",
        ProofError::Kind { .. } => ": it is a consistency proof; give the older root with --old-root",
        ProofError::Format { .. } => ": if the root is in that format, give it with --format",
        _ => "",
    }
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
    ok: bool,
    shows: &'a str,
}

fn json(path: &Path, proof: &Proof, root: &Trusted) -> Vec<u8> {
    let (claim, Range { start, end }) = (proof.claim().kind(), proof.claim().bytes());
    let shows = match (root.len, proof.spec().family().binding()) {
        (Some(_), _) | (None, Binding::Length) => "all",
        (None, Binding::Offsets) => "offsets",
        (None, Binding::Leaves | Binding::Nothing) => "leaves",
    };
    let format = proof.spec().to_string();
    let root = root.root.text(&root.spec);
    let kind = "checked proof";
    json::line(path, Record { kind, format, length: proof.len(), root, claim, start, end, ok: true, shows })
}
