//! Policies: which logs are trusted, and which witnesses must have cosigned (C2SP tlog-policy).

use crate::algorithm::KeyKind;
use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::key::VerifierKey;
use crate::note::Note;
use std::collections::{HashMap, HashSet};

/// The longest policy that is read, in bytes.
const LONGEST: usize = 1 << 18;

/// A policy: the keys of logs, and the quorum of witnesses.
#[derive(Clone, Debug)]
pub struct Policy {
    logs: Vec<VerifierKey>,
    witnesses: Vec<VerifierKey>,
    /// In the order of their lines: a group has members of lines above its own alone.
    members: Vec<Member>,
    /// The member that must have cosigned; `None` for no witness.
    quorum: Option<usize>,
}

/// A name of a policy.
#[derive(Clone, Debug)]
enum Member {
    /// The place of a witness.
    Witness(usize),
    /// A group, of which `needed` of `members` must have cosigned.
    Group { needed: usize, members: Vec<usize> },
}

impl From<VerifierKey> for Policy {
    /// The policy that trusts one log, without witnesses.
    fn from(key: VerifierKey) -> Policy {
        Policy { logs: vec![key], witnesses: Vec::new(), members: Vec::new(), quorum: None }
    }
}

impl std::str::FromStr for Policy {
    type Err = Error;

    /// Reads a verifier key, whose log is trusted then, or the lines of a policy.
    fn from_str(text: &str) -> Result<Policy, Error> {
        match text.trim_end().contains(['\n', ' ']) {
            true => Policy::parse(text.as_bytes()),
            false => text.trim_end().parse().map(|key: VerifierKey| key.into()),
        }
    }
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// If it is none: the error names the line.
    pub fn parse(text: &[u8]) -> Result<Policy, Error> {
        let wrong = |why: String| Error::malformed("a policy", why);
        if text.len() > LONGEST {
            return Err(wrong("it is longer than 256 KiB".into()));
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            return Err(wrong("its last line has no newline".into()));
        }
        let mut reading = Reading::default();
        for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
            reading.line(line).map_err(|why| wrong(format!("line {}: {why}", at + 1)))?;
        }
        let Reading { logs, witnesses, members, quorum, .. } = reading;
        let quorum =
            quorum.ok_or_else(|| wrong("it has no line 'quorum NAME'; 'quorum none' asks for no witness".into()))?;
        Ok(Policy { logs, witnesses, members, quorum })
    }

    /// The keys of the trusted logs.
    pub fn logs(&self) -> &[VerifierKey] {
        &self.logs
    }

    /// The keys of the witnesses, of the quorum or not.
    pub fn witnesses(&self) -> &[VerifierKey] {
        &self.witnesses
    }

    /// Checks that a note is a checkpoint that one of the logs signed and enough witnesses cosigned. Returns it.
    ///
    /// # Errors
    /// If it is none, is not signed by a log of its origin, has a signature by one of the keys that is not valid, or too few cosigned.
    pub fn check(&self, note: &Note) -> Result<Checkpoint, Error> {
        let checkpoint: Checkpoint = note.text().parse()?;
        let mut is_signed = false;
        for log in self.logs.iter().filter(|log| log.name() == checkpoint.origin()) {
            is_signed |= note.verify(log)?.is_some();
        }
        if !is_signed {
            let names: Vec<_> = self.logs.iter().map(VerifierKey::to_string).collect();
            return Err(Error::Untrusted(format!(
                "the checkpoint of {} is not signed by a trusted log: trusted are {}",
                checkpoint.origin(),
                if names.is_empty() { "none".into() } else { names.join(", ") }
            )));
        }
        let cosigned = self
            .witnesses
            .iter()
            .map(|witness| Ok(note.verify(witness)?.is_some()))
            .collect::<Result<Vec<_>, Error>>()?;
        // Each member's state follows from those before it.
        let mut states: Vec<bool> = Vec::with_capacity(self.members.len());
        for member in &self.members {
            states.push(match member {
                Member::Witness(at) => cosigned[*at],
                Member::Group { needed, members } => members.iter().filter(|at| states[**at]).count() >= *needed,
            });
        }
        match self.quorum {
            Some(at) if !states[at] => Err(Error::Untrusted(format!(
                "the checkpoint is cosigned by {} of {} witnesses of the policy, which is no quorum",
                cosigned.iter().filter(|is_there| **is_there).count(),
                self.witnesses.len()
            ))),
            _ => Ok(checkpoint),
        }
    }
}

/// A policy as far as it was read.
#[derive(Default)]
struct Reading {
    logs: Vec<VerifierKey>,
    witnesses: Vec<VerifierKey>,
    members: Vec<Member>,
    names: HashMap<Vec<u8>, usize>,
    /// The members that are in a group or the quorum.
    used: HashSet<usize>,
    quorum: Option<Option<usize>>,
}

impl Reading {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if let Some(byte) = line.iter().find(|byte| (**byte < b' ' && **byte != b'\t') || **byte == 0x7f) {
            return Err(format!("the control character {byte:#04x} is not allowed"));
        }
        let mut words = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
        let Some(kind) = words.next().filter(|word| !word.starts_with(b"#")) else { return Ok(()) };
        let words: Vec<_> = words.collect();
        match (kind, &words[..]) {
            (b"log", [key] | [key, _]) => {
                let key = verifier(key, true)?;
                unique(&key, &self.logs)?;
                self.logs.push(key);
            }
            (b"witness", [name, key] | [name, key, _]) => {
                let key = verifier(key, false)?;
                unique(&key, &self.witnesses)?;
                self.add(name, Member::Witness(self.witnesses.len()))?;
                self.witnesses.push(key);
            }
            (b"group", [name, needed, members @ ..]) if !members.is_empty() => {
                let needed = match *needed {
                    b"any" => 1,
                    b"all" => members.len(),
                    number => str::from_utf8(number)
                        .ok()
                        .and_then(crate::text::number)
                        .and_then(|number| usize::try_from(number).ok())
                        .filter(|needed| (1..=members.len()).contains(needed))
                        .ok_or_else(|| format!("expected any, all or a number from 1 to {}", members.len()))?,
                };
                let members = members.iter().map(|name| self.take(name)).collect::<Result<_, _>>()?;
                self.add(name, Member::Group { needed, members })?;
            }
            (b"quorum", [name]) => {
                if self.quorum.is_some() {
                    return Err("a policy has one quorum".into());
                }
                self.quorum = Some(if *name == b"none" { None } else { Some(self.find(name)?) });
            }
            _ => {
                return Err("expected 'log KEY [URL]', 'witness NAME KEY [URL]', 'group NAME any|all|K NAME...' or 'quorum NAME'"
                    .into());
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &[u8], member: Member) -> Result<(), String> {
        if name == b"none" {
            return Err("the name none is taken".into());
        }
        if self.names.insert(name.into(), self.members.len()).is_some() {
            return Err(format!("the name {} is defined twice", name.escape_ascii()));
        }
        self.members.push(member);
        Ok(())
    }

    fn find(&self, name: &[u8]) -> Result<usize, String> {
        self.names.get(name).copied().ok_or_else(|| format!("no line above defines {}", name.escape_ascii()))
    }

    /// A member for a group: each is in one group at most.
    fn take(&mut self, name: &[u8]) -> Result<usize, String> {
        let at = self.find(name)?;
        match self.used.insert(at) {
            true => Ok(at),
            false => Err(format!("{} is in two groups, or twice in one", name.escape_ascii())),
        }
    }
}

fn verifier(text: &[u8], is_log: bool) -> Result<VerifierKey, String> {
    let text = str::from_utf8(text).map_err(|_| "the key is not UTF-8")?;
    let key: VerifierKey = text.parse().map_err(|error: Error| error.to_string())?;
    match ((key.kind() == KeyKind::Ed25519) == is_log, is_log) {
        (true, _) => Ok(key),
        (false, true) => Err("the key of a log begins with the type 0x01".into()),
        (false, false) => Err("the key of a witness begins with the type of a cosignature, 0x04 or 0x06".into()),
    }
}

fn unique(key: &VerifierKey, others: &[VerifierKey]) -> Result<(), String> {
    match others.iter().any(|other| other.public() == key.public()) {
        true => Err(format!("the key of {} is there twice", key.name())),
        false => Ok(()),
    }
}
