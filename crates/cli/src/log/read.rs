//! Commands that read a log, or check what one has proven.

use super::print::{About, Entry, Intact, Newest};
use super::trust::{needed, open, policy, source};
use super::wrong::{Wrong, bytes};
use crate::args::Trust;
use crate::failure::Failure;
use crate::tool::Tool;
use mksum_cli::name::Shown;
use mksum_io::{Input, open_bytes, reason};
use mksum_log::{Checkpoint, ConsistencyProof, Folder, Framing, Note, Policy, Proof, Published, Record, own_key};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The longest proof or checkpoint that is read, in bytes.
const LONGEST: usize = 4 << 20;
/// The bytes of entries that are printed at once.
const PRINTED: usize = 1 << 16;

/// Prints the newest checkpoint.
pub fn checkpoint(tool: &Tool, log: &Input, trust: &Trust, json: bool) -> Result<(), Wrong> {
    let published = open(tool, log, trust)?;
    match json {
        true => tool.console.print_json(log, Newest::new(published.checkpoint(), published.note(), None)),
        false => tool.console.print(published.note().to_string().as_bytes()),
    }
    Ok(())
}

/// Prints a proof.
pub fn prove(
    tool: &Tool,
    log: &Input,
    (index, from): (Option<u64>, Option<u64>),
    trust: &Trust,
    json: bool,
) -> Result<(), Wrong> {
    let published = open(tool, log, trust)?;
    let proof = match (index, from) {
        (Some(index), _) => published.inclusion(index).map(|proof| proof.to_string()),
        (None, Some(from)) => published.consistency(from).map(|proof| proof.to_string()),
        (None, None) => return Err(Wrong::Usage("give the INDEX of an entry, or --from SIZE".into())),
    };
    let proof = proof.map_err(Wrong::of(log))?;
    match json {
        true => tool.console.print_json(log, About::new(published.checkpoint(), (index, from), proof)),
        false => tool.console.print(proof.as_bytes()),
    }
    Ok(())
}

/// Checks a proof, and prints OK.
pub fn check(
    tool: &Tool,
    place: &Input,
    trust: &Trust,
    (entry, old): (Option<&Input>, Option<&Input>),
    json: bool,
) -> Result<(), Wrong> {
    let policy = needed(tool, trust)?;
    let text = bytes(place, LONGEST, &tool.options)?;
    let is_growth = text.starts_with(b"old ");
    let (checkpoint, about, shows) = match (is_growth, old) {
        (true, None) => {
            return Err(Wrong::Usage(
                "the proof is about the growth of a log: give the older checkpoint with --old".into(),
            ));
        }
        (false, Some(_)) => return Err(Wrong::Usage("the proof is about an entry: omit --old".into())),
        (true, Some(old)) => {
            let older = bytes(old, LONGEST, &tool.options)?;
            let older = Note::parse(&older).and_then(|note| policy.check(&note)).map_err(Wrong::of(old))?;
            let proof = ConsistencyProof::parse(&text).map_err(Wrong::of(place))?;
            let new = proof.check(&older, &policy).map_err(Wrong::of(place))?;
            let shows = format!("{} extends the tree of {} entries to {}", new.origin(), older.size(), new.size());
            (new, (None, Some(older.size())), shows)
        }
        (false, None) => {
            let proof = Proof::parse(&text).map_err(Wrong::of(place))?;
            let entry = entry.unwrap_or(&Input::Stdin);
            let entries = open_bytes(entry, &tool.options)
                .map_err(|error| Wrong::Failed(entry.clone(), Failure::from(error).to_string()))
                .and_then(|reader| entries(reader).map_err(|error| Wrong::Failed(entry.clone(), reason(&error))))?;
            let checkpoint = included(&proof, &entries, &policy).map_err(Wrong::of(place))?;
            let shows = format!("entry {} of {} in {}", proof.index(), checkpoint.size(), checkpoint.origin());
            (checkpoint, (Some(proof.index()), None), shows)
        }
    };
    match json {
        true => tool.console.print_json(place, About::checked(&checkpoint, about)),
        false => tool.console.print(format!("{}: OK ({shows})\n", Shown(place)).as_bytes()),
    }
    Ok(())
}

/// Checks an entry that is one of some.
fn included(proof: &Proof, entries: &[Vec<u8>], policy: &Policy) -> Result<Checkpoint, mksum_log::Error> {
    let exactly = proof.check(&entries[0], policy);
    match (&exactly, entries.get(1)) {
        (Err(mksum_log::Error::Invalid(_)), Some(other)) => proof.check(other, policy).or(exactly),
        _ => exactly,
    }
}

/// The entries that a file may hold: its bytes, or those without the newline at its end.
fn entries(mut reader: impl Read) -> io::Result<Vec<Vec<u8>>> {
    let (mut record, mut last, mut buffer) = (Record::default(), None, vec![0; 1 << 16]);
    loop {
        let len = match reader.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        let Some((end, bytes)) = buffer[..len].split_last() else { break };
        let before = last.replace(*end);
        record.update(before.as_slice()).and_then(|()| record.update(bytes)).map_err(io::Error::other)?;
    }
    let without_last = record.entry();
    record.update(last.as_slice()).map_err(io::Error::other)?;
    Ok(match last {
        Some(b'\n') => vec![record.entry(), without_last],
        _ => vec![record.entry()],
    })
}

/// Brings a mirror up to date.
pub fn follow(tool: &Tool, log: &Input, directory: &Path, trust: &Trust, json: bool) -> Result<(), Wrong> {
    let policy = needed(tool, trust)?;
    let followed = mksum_log::follow(source(tool, log), directory, &policy, &mut |_| {}).map_err(Wrong::of(log))?;
    let size = followed.checkpoint.size();
    if json {
        let mirror = Published::unverified(Folder::new(directory)).map_err(Wrong::of(&directory.into()))?;
        let newest = Newest::new(&followed.checkpoint, mirror.note(), Some(followed.before));
        tool.console.print_json(directory, newest);
        return Ok(());
    }
    let shown = match size - followed.before {
        0 => format!("{size} entries, none new"),
        new => format!("{size} entries, {new} new"),
    };
    tool.console.print(format!("{}: OK ({shown})\n", Shown(directory)).as_bytes());
    Ok(())
}

/// Checks all files of a log.
pub fn fsck(tool: &Tool, log: &Input, trust: &Trust, json: bool) -> Result<(), Wrong> {
    let own = || log.file().map(own_key).transpose().map(Option::flatten).map_err(Wrong::of(log));
    let policy = match policy(tool, trust)? {
        Some(policy) => policy,
        None => match own()? {
            Some(key) => key.into(),
            None => needed(tool, trust)?,
        },
    };
    let published = Published::verified(source(tool, log), &policy).map_err(Wrong::of(log))?;
    let report = mksum_log::fsck(&published, &mut |_| {});
    for problem in &report.problems {
        tool.console.error(log, problem);
    }
    match (report.problems.is_empty(), json) {
        (true, true) => tool.console.print_json(log, Intact::new(&report)),
        (true, false) => {
            let shown = format!("{}: OK ({} entries, {} files)\n", Shown(log), report.entries, report.files);
            tool.console.print(shown.as_bytes());
        }
        (false, _) => {}
    }
    Ok(())
}

/// Prints the entries.
pub fn export(tool: &Tool, log: &Input, framing: Framing, trust: &Trust, json: bool) -> Result<(), Wrong> {
    let published = open(tool, log, trust)?;
    let mut out = Vec::new();
    for (entry, index) in published.entries(0..u64::MAX).zip(0..) {
        if json {
            let entry = entry.map_err(Wrong::of(log))?;
            tool.console.print_json(log, Entry::held(index, &entry));
            continue;
        }
        let written = entry.and_then(|entry| framing.write(&entry, &mut out));
        if out.len() >= PRINTED || written.is_err() {
            tool.console.print(&std::mem::take(&mut out));
        }
        written.map_err(Wrong::of(log))?;
    }
    tool.console.print(&out);
    Ok(())
}
