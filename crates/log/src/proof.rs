//! Proofs as text: that an entry is in a log (C2SP tlog-proof), and that a log has only grown (C2SP tlog-witness).

use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::note::{LONGEST_NOTE, Note};
use crate::policy::Policy;
use crate::text::{array, base64, from_base64, number};
use crate::tree::{entry_hash, verify_consistency, verify_inclusion};
use std::fmt;

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";
/// The most hashes of a proof: a tree has at most 63 levels, and a consistency proof one hash more.
const MOST_HASHES: usize = 64;
/// The longest opaque data of a proof, in bytes.
const LONGEST_EXTRA: usize = 1 << 20;

/// A proof that an entry is in a log, with a signed checkpoint: a `.tlog-proof` file. Nothing in it is trusted before
/// [`Proof::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    extra: Option<Vec<u8>>,
    index: u64,
    hashes: Vec<[u8; 32]>,
    note: Note,
}

impl Proof {
    pub(crate) fn new(index: u64, hashes: Vec<[u8; 32]>, note: Note) -> Proof {
        Proof { extra: None, index, hashes, note }
    }

    /// Reads a proof. One without the first line, as the prototype `spicy` wrote it, is read, too.
    ///
    /// # Errors
    /// If the bytes are not a proof: the error names the line.
    pub fn parse(bytes: &[u8]) -> Result<Proof, Error> {
        let what = "a tlog-proof";
        let wrong = |why: String| Error::malformed(what, why);
        let (lines, note) = split(what, bytes)?;
        let mut lines = lines.iter().copied().enumerate().map(|(at, line)| (at + 1, line)).peekable();
        lines.next_if(|(_, line)| *line == FIRST_LINE);
        let mut extra = None;
        if let Some((at, line)) = lines.next_if(|(at, line)| *at > 1 && line.starts_with("extra ")) {
            let data = from_base64(&line["extra ".len()..]).filter(|data| data.len() <= LONGEST_EXTRA);
            extra = Some(data.ok_or_else(|| wrong(format!("line {at} has no base64 of at most 1 MiB")))?);
        }
        let (at, line) = lines.next().ok_or_else(|| wrong("it has no line 'index N'".into()))?;
        let index = line.strip_prefix("index ").and_then(number);
        let index = index.ok_or_else(|| wrong(format!("line {at}: expected '{FIRST_LINE}' and 'index N'")))?;
        let hashes = hashes(what, lines)?;
        Ok(Proof { extra, index, hashes, note })
    }

    /// The index of the entry, from 0.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The hashes beside the path from the entry to the root, from the entry upwards.
    pub fn hashes(&self) -> &[[u8; 32]] {
        &self.hashes
    }

    /// The checkpoint and its signatures, none of which is verified yet.
    pub fn note(&self) -> &Note {
        &self.note
    }

    /// Opaque data of an application, which nothing vouches for.
    pub fn extra(&self) -> Option<&[u8]> {
        self.extra.as_deref()
    }

    /// Checks that a log and witnesses as `policy` wants them signed a tree with `entry` at the proof's index. Returns the checkpoint.
    ///
    /// # Errors
    /// If the checkpoint is not signed so, or the entry is another one or elsewhere.
    pub fn check(&self, entry: &[u8], policy: &Policy) -> Result<Checkpoint, Error> {
        self.check_hash(entry_hash(entry), policy)
    }

    /// The same by the hash of the entry as a leaf: see [`entry_hash`].
    ///
    /// # Errors
    /// As [`Proof::check`].
    pub fn check_hash(&self, entry: [u8; 32], policy: &Policy) -> Result<Checkpoint, Error> {
        let checkpoint = policy.check(&self.note)?;
        verify_inclusion(entry, self.index, &self.hashes, checkpoint.size(), checkpoint.root())?;
        Ok(checkpoint)
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}")?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", base64(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        self.hashes.iter().try_for_each(|hash| writeln!(f, "{}", base64(hash)))?;
        write!(f, "\n{}", self.note)
    }
}

/// A proof that a log has only grown, with the newer checkpoint: the request that C2SP tlog-witness defines for `add-checkpoint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsistencyProof {
    old: u64,
    hashes: Vec<[u8; 32]>,
    note: Note,
}

impl ConsistencyProof {
    pub(crate) fn new(old: u64, hashes: Vec<[u8; 32]>, note: Note) -> ConsistencyProof {
        ConsistencyProof { old, hashes, note }
    }

    /// Reads a proof.
    ///
    /// # Errors
    /// If the bytes are not a proof: the error names the line.
    pub fn parse(bytes: &[u8]) -> Result<ConsistencyProof, Error> {
        let what = "a consistency proof";
        let (lines, note) = split(what, bytes)?;
        let old = lines[0].strip_prefix("old ").and_then(number);
        let old = old.ok_or_else(|| Error::malformed(what, "line 1: expected 'old N'"))?;
        let hashes = hashes(what, lines[1..].iter().copied().enumerate().map(|(at, line)| (at + 2, line)))?;
        Ok(ConsistencyProof { old, hashes, note })
    }

    /// The size of the older tree.
    pub fn old_size(&self) -> u64 {
        self.old
    }

    /// The hashes, in the order of RFC 9162, 2.1.4.
    pub fn hashes(&self) -> &[[u8; 32]] {
        &self.hashes
    }

    /// The newer checkpoint and its signatures, none of which is verified yet.
    pub fn note(&self) -> &Note {
        &self.note
    }

    /// Checks that the newer checkpoint is signed as `policy` wants it, and that its tree extends that of `old`. Returns the newer one.
    ///
    /// The caller has verified the older checkpoint.
    ///
    /// # Errors
    /// If it is not signed so, or does not extend the older one.
    pub fn check(&self, old: &Checkpoint, policy: &Policy) -> Result<Checkpoint, Error> {
        let new = policy.check(&self.note)?;
        if old.size() != self.old {
            return Err(Error::Invalid(format!(
                "the proof begins at size {}, and the older checkpoint has {} entries",
                self.old,
                old.size()
            )));
        }
        if old.origin() != new.origin() {
            return Err(Error::Invalid(format!(
                "the checkpoints are of two logs, {} and {}",
                old.origin(),
                new.origin()
            )));
        }
        verify_consistency((old.size(), old.root()), &self.hashes, (new.size(), new.root()))?;
        Ok(new)
    }
}

impl fmt::Display for ConsistencyProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old {}", self.old)?;
        self.hashes.iter().try_for_each(|hash| writeln!(f, "{}", base64(hash)))?;
        write!(f, "\n{}", self.note)
    }
}

/// The lines before the first empty one, at least one, and the note after it.
fn split<'a>(what: &'static str, bytes: &'a [u8]) -> Result<(Vec<&'a str>, Note), Error> {
    if bytes.len() > 2 * LONGEST_EXTRA + LONGEST_NOTE {
        return Err(Error::malformed(what, "it is too long"));
    }
    let text = str::from_utf8(bytes)
        .map_err(|error| Error::malformed(what, format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let (lines, note) =
        text.split_once("\n\n").ok_or_else(|| Error::malformed(what, "no empty line is before its checkpoint"))?;
    let lines: Vec<_> = lines.split('\n').take(MOST_HASHES + 5).collect();
    Ok((lines, Note::parse(note.as_bytes())?))
}

/// The hashes in numbered lines.
fn hashes<'a>(what: &'static str, lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<[u8; 32]>, Error> {
    let mut hashes = Vec::new();
    for (at, line) in lines {
        if hashes.len() == MOST_HASHES {
            return Err(Error::malformed(what, format!("line {at}: it has more than {MOST_HASHES} hashes")));
        }
        let hash = array(line);
        hashes.push(hash.ok_or_else(|| Error::malformed(what, format!("line {at} is not the base64 of 32 bytes")))?);
    }
    Ok(hashes)
}
