//! Signed notes: a text, and lines with signatures of it (C2SP signed-note).

use crate::error::Error;
use crate::key::{SignerKey, VerifierKey, is_name};
use crate::text::{base64, from_base64};
use std::fmt;

/// The longest note that is read, in bytes.
pub(crate) const LONGEST_NOTE: usize = 1 << 20;
/// The most signatures of a note that are read.
const MOST_SIGNATURES: usize = 256;
/// What a signature line begins with: an em dash and a space.
const BEGIN: &str = "\u{2014} ";

/// A signed note: its text, and its signatures, none of which is verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// A line of a note with a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    /// The name of the key.
    pub name: String,
    /// The identifier of the key.
    pub id: [u8; 4],
    /// The bytes of the signature.
    pub bytes: Vec<u8>,
}

impl NoteSignature {
    /// Reads one signature line, without its newline.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(line: &str) -> Result<NoteSignature, Error> {
        let wrong = |why: &str| Error::malformed("a signature line", why);
        let rest = line
            .strip_prefix(BEGIN)
            .ok_or_else(|| wrong("expected an em dash, a space, a name, a space and base64"))?;
        let (name, signature) = rest.split_once(' ').ok_or_else(|| wrong("expected a name, a space and base64"))?;
        if !is_name(name) {
            return Err(wrong("the name of the key is empty, or has spaces or a plus sign"));
        }
        let bytes = from_base64(signature).ok_or_else(|| wrong("the signature is not base64"))?;
        match bytes.split_first_chunk::<4>() {
            Some((id, bytes)) if !bytes.is_empty() => {
                Ok(NoteSignature { name: name.into(), id: *id, bytes: bytes.into() })
            }
            _ => Err(wrong("the signature has fewer than 5 bytes")),
        }
    }

    /// Whether it claims to be by a key.
    fn is_by(&self, key: &VerifierKey) -> bool {
        self.name == key.name() && self.id == key.id()
    }
}

impl fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGIN}{} {}", self.name, base64(&[&self.id[..], &self.bytes].concat()))
    }
}

/// The time of a valid signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The time that a witness gave, in seconds since 1970; 0 for a plain signature.
    pub time: u64,
}

impl Note {
    /// A note of `text`, signed by `key`. `time`, in seconds since 1970, is that of a cosignature; a plain signature has none.
    ///
    /// # Errors
    /// If the text is not that of a note: empty, without a newline at its end, or with control characters.
    pub fn sign(text: &str, key: &SignerKey, time: u64) -> Result<Note, Error> {
        let wrong = |why: &str| Error::malformed("the text of a note", why);
        if !text.ends_with('\n') {
            return Err(wrong("its last line has no newline"));
        }
        if text.len() > LONGEST_NOTE / 2 {
            return Err(wrong("it is longer than 512 KiB"));
        }
        if text.contains(|letter: char| letter < ' ' && letter != '\n') {
            return Err(wrong("it has control characters"));
        }
        let mut note = Note { text: text.into(), signatures: Vec::new() };
        note.add_signature(key, time)?;
        Ok(note)
    }

    /// A note without signatures, for a tree that was verified otherwise.
    pub(crate) fn of(text: &impl fmt::Display) -> Note {
        Note { text: text.to_string(), signatures: Vec::new() }
    }

    /// Reads a note, and verifies nothing.
    ///
    /// # Errors
    /// If it has no signature, is longer than 1 MiB, is not UTF-8, or has control characters.
    pub fn parse(bytes: &[u8]) -> Result<Note, Error> {
        let wrong = |why: &str| Error::malformed("a signed note", why);
        if bytes.len() > LONGEST_NOTE {
            return Err(wrong("it is longer than 1 MiB"));
        }
        let all =
            str::from_utf8(bytes).map_err(|error| wrong(&format!("byte {} is not UTF-8", error.valid_up_to())))?;
        if let Some(at) = all.find(|letter: char| letter < ' ' && letter != '\n') {
            return Err(wrong(&format!("byte {at} is a control character")));
        }
        let split = all.rfind("\n\n").ok_or_else(|| wrong("no empty line is before its signatures"))?;
        let (text, lines) = (&all[..=split], &all[split + 2..]);
        let lines =
            lines.strip_suffix('\n').ok_or_else(|| wrong("its last line has no newline, or it has no signature"))?;
        if lines.split('\n').nth(MOST_SIGNATURES).is_some() {
            return Err(wrong(&format!("it has more than {MOST_SIGNATURES} signatures")));
        }
        let signatures = lines.split('\n').map(NoteSignature::parse).collect::<Result<_, _>>()?;
        Ok(Note { text: text.into(), signatures })
    }

    /// The text, with the newline at its end.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signatures, none of which need be valid.
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// The valid signature by `key`; `None` if the note has none by this key.
    ///
    /// # Errors
    /// If a signature claims to be by the key, and is not: such a note is refused whatever else signed it.
    pub fn verify(&self, key: &VerifierKey) -> Result<Option<Signed>, Error> {
        let mut found = None;
        for signature in self.signatures.iter().filter(|signature| signature.is_by(key)) {
            match key.verify(&self.text, &signature.bytes) {
                Some(time) => found = found.or(Some(Signed { time })),
                None => {
                    return Err(Error::Untrusted(format!(
                        "the signature of {} is not valid: the note was changed, or another key of that name signed it",
                        key.name()
                    )));
                }
            }
        }
        Ok(found)
    }

    /// Signs the note by another key, too; one older signature by it is replaced.
    ///
    /// # Errors
    /// If the key signs checkpoints alone, and the note is none.
    pub fn add_signature(&mut self, key: &SignerKey, time: u64) -> Result<(), Error> {
        let verifier = key.verifier();
        let bytes = key.sign(&self.text, time)?;
        self.signatures.retain(|signature| !signature.is_by(&verifier));
        self.signatures.push(NoteSignature { name: key.name().into(), id: verifier.id(), bytes });
        Ok(())
    }

    /// Adds a signature by `key` that was made elsewhere, such as a witness's; one older signature by it is replaced.
    ///
    /// # Errors
    /// If it is not a valid signature of this note by the key, or the note has too many already.
    pub fn add(&mut self, signature: NoteSignature, key: &VerifierKey) -> Result<(), Error> {
        if !signature.is_by(key) {
            return Err(Error::Untrusted(format!("the signature is not by {key}")));
        }
        if key.verify(&self.text, &signature.bytes).is_none() {
            return Err(Error::Untrusted(format!("the signature of {} is not valid for this checkpoint", key.name())));
        }
        self.signatures.retain(|old| !old.is_by(key));
        if self.signatures.len() >= MOST_SIGNATURES {
            return Err(Error::Refused(format!("a note has at most {MOST_SIGNATURES} signatures")));
        }
        self.signatures.push(signature);
        Ok(())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}
