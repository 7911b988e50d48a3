//! Mirrors of logs: each step is verified before it is written, and a log that contradicts itself is caught.

use crate::checkpoint::Checkpoint;
use crate::disk::{Access, replace};
use crate::error::Error;
use crate::log::{Writer, evidence, mirror_lock};
use crate::note::{LONGEST_NOTE, Note};
use crate::policy::Policy;
use crate::proof::ConsistencyProof;
use crate::published::Published;
use crate::source::{Folder, Source, read_file};
use crate::text::base64;
use crate::tile::{CHECKPOINT, WIDTH};
use crate::tree::root;
use std::fs;
use std::path::{Path, PathBuf};

/// What [`follow`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The entries that the mirror had before.
    pub before: u64,
    /// The checkpoint that it has now.
    pub checkpoint: Checkpoint,
}

/// Brings the mirror of a log in a folder up to date.
///
/// The new checkpoint must be signed as `policy` wants it, and extend the one that the mirror has; each entry is compared with the tree
/// before it is written. `progress` is called with the entries that the mirror has so far.
///
/// # Errors
/// If the log shows an older tree than before ([`Error::Rollback`]) or another one ([`Error::Fork`]): both checkpoints are then written
/// below the folder's `.mksum/log/evidence`, and the mirror stays as it was. If the source lacks files or has damaged ones, or a file
/// cannot be written: the mirror is at its last checkpoint then, and can go on.
pub fn follow<S: Source>(
    source: S,
    path: &Path,
    policy: &Policy,
    progress: &mut dyn FnMut(u64),
) -> Result<Followed, Error> {
    let remote = Published::verified(source, policy)?;
    let _lock = mirror_lock(path)?;
    let local = read_file(&path.join(CHECKPOINT), LONGEST_NOTE)?.map(|bytes| Note::parse(&bytes)).transpose()?;
    let Some(local) = local else {
        let mut writer = Writer::empty(path);
        return copy(&remote, &mut writer, 0, progress);
    };
    // A policy may have changed since: the mirror's own checkpoint counts by its text.
    let seen: Checkpoint = local.text().parse()?;
    let shown = remote.checkpoint();
    if seen.origin() != shown.origin() {
        return Err(Error::Refused(format!(
            "{} mirrors the log {}, not {}",
            path.display(),
            seen.origin(),
            shown.origin()
        )));
    }
    compare(&remote, (&local, &seen), path)?;
    let folder = Folder::new(path);
    let mut writer = Writer::read(path, &folder, &seen)?;
    copy(&remote, &mut writer, seen.size(), progress)
}

/// Fails with evidence unless the log that is shown extends the tree that was seen.
fn compare<S: Source>(remote: &Published<S>, (local, seen): (&Note, &Checkpoint), path: &Path) -> Result<(), Error> {
    let shown = remote.checkpoint();
    let (seen_size, shown_size) = (seen.size(), shown.size());
    let fork = |proof: Option<&ConsistencyProof>| {
        let evidence = Some(write_evidence(path, local, remote.note(), proof)?);
        Ok(Error::Fork { seen: seen_size, shown: shown_size, evidence })
    };
    if shown_size < seen_size {
        let then = root(&Published::at(Folder::new(path), local.clone())?, shown_size);
        return Err(match then? == shown.root() {
            true => {
                let evidence = Some(write_evidence(path, local, remote.note(), None)?);
                Error::Rollback { seen: seen_size, shown: shown_size, evidence }
            }
            false => fork(None)?,
        });
    }
    if shown_size == seen_size {
        return if seen.root() == shown.root() { Ok(()) } else { Err(fork(None)?) };
    }
    let (_, then) = remote.growth(seen_size)?;
    match then == seen.root() {
        true => Ok(()),
        // The proof leads from another tree of that size to the signed one: the signed one cannot extend both.
        false => Err(fork(Some(&remote.consistency(seen_size)?))?),
    }
}

/// Copies the entries after those that the writer has, and publishes the checkpoint.
fn copy<S: Source>(
    remote: &Published<S>,
    writer: &mut Writer,
    before: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Followed, Error> {
    let size = remote.checkpoint().size();
    for number in before / WIDTH..size.div_ceil(WIDTH) {
        if before == size {
            break;
        }
        let first = number * WIDTH;
        let entries = remote.bundle(number)?;
        writer.push(&entries[before.saturating_sub(first) as usize..])?;
        progress(writer.edge.size());
    }
    let checkpoint = remote.checkpoint().clone();
    if writer.edge.root() != checkpoint.root() {
        return Err(Error::Damaged {
            name: "tile".into(),
            why: "the entries have another root than the checkpoint".into(),
        });
    }
    writer.finish(before)?;
    writer.disk.replace(CHECKPOINT, remote.note().to_string().as_bytes())?;
    writer.remove_partial(before);
    Ok(Followed { before, checkpoint })
}

/// Writes both checkpoints, and the proof if there is one, and returns their folder.
fn write_evidence(path: &Path, seen: &Note, shown: &Note, proof: Option<&ConsistencyProof>) -> Result<PathBuf, Error> {
    let name = |note: &Note| -> Result<String, Error> {
        let checkpoint: Checkpoint = note.text().parse()?;
        let root = base64(&checkpoint.root()).replace(['/', '+', '='], "_");
        Ok(format!("{}-{}", checkpoint.size(), &root[..8]))
    };
    let folder = evidence(path).join(format!("{}-{}", name(seen)?, name(shown)?));
    fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    replace(&folder.join("seen"), seen.to_string().as_bytes(), Access::Everyone)?;
    replace(&folder.join("shown"), shown.to_string().as_bytes(), Access::Everyone)?;
    if let Some(proof) = proof {
        replace(&folder.join("proof"), proof.to_string().as_bytes(), Access::Everyone)?;
    }
    Ok(folder)
}
