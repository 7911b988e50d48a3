//! The root of a directory, whose files are hashed side by side.

use crate::archive::hash_archive;
use crate::entries::{Entries, EntryKind, KEPT_FOLDER, Listed, Skip, Unlisted};
use crate::{Error, Hashed, Job, Options, Refusal, hash_items};
use mksum::directory::{Content, DirectorySpec, Entry, EntryError, Leaves};
use std::fs;
use std::iter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The leaves of a directory in each format, from which its roots and proofs follow. All files are read once, and hashed in
/// the lanes of all threads.
///
/// `each` is shown every entry of the first format before it becomes a leaf, in their order. Archives are read in a pass of their own,
/// and have no leaves.
///
/// ```
/// use mksum_io::{Options, hash_directory};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("file"), "content")?;
/// let spec: mksum::directory::DirectorySpec = "dir:sha256".parse()?;
/// let leaves = hash_directory(folder.path(), &[spec], &Options::new(), &mut |_| {}).map_err(|mut errors| errors.remove(0))?;
/// assert_eq!(leaves[0].root()?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If any entry cannot be read, is a pipe, a socket or a device, or changes meanwhile: the first 20 reasons.
pub fn hash_directory(
    directory: &Path,
    specs: &[DirectorySpec],
    options: &Options,
    each: &mut dyn FnMut(&Entry<'_>),
) -> Result<Vec<Leaves>, Vec<Error>> {
    let (archives, others): (Vec<_>, Vec<_>) = specs.iter().cloned().partition(DirectorySpec::is_archive);
    let archive = archives.first().map(|spec| hash_archive(directory, spec, options)).transpose()?;
    let mut leaves = Vec::new().into_iter();
    if archive.is_none() || !others.is_empty() {
        leaves = hash_entries(directory, &others, options, each)?.into_iter();
    }
    Ok(specs.iter().filter_map(|spec| if spec.is_archive() { archive.clone() } else { leaves.next() }).collect())
}

/// The leaves in formats whose roots are made of those of files.
fn hash_entries(
    directory: &Path,
    specs: &[DirectorySpec],
    options: &Options,
    each: &mut dyn FnMut(&Entry<'_>),
) -> Result<Vec<Leaves>, Vec<Error>> {
    let wanted = specs.to_vec();
    let skip: Skip = Box::new(move |path, _, _| {
        let is_left_out = !wanted.is_empty() && wanted.iter().all(|spec| spec.leaves_out(path));
        path == KEPT_FOLDER.as_bytes() || is_left_out
    });
    let mut entries = Entries::checked(directory, skip).map_err(|error| vec![error])?;
    let mut growing = Growing { leaves: specs.iter().map(Leaves::new).collect(), errors: Vec::new() };
    let files = specs.iter().map(|spec| spec.file().clone()).collect::<Vec<_>>();
    // The directories as they were when they were listed, at the end of the walk.
    let ended = Mutex::new(None);
    let items = iter::from_fn(|| {
        // A walk that is stopped ends, and has no root.
        let Some(entry) = (if options.stop.is_stopped() { None } else { entries.next() }) else {
            *lock(&ended) = entries.take_stamps();
            return None;
        };
        Some(match entry {
            Ok(listed) if listed.facts.kind == EntryKind::File => {
                (Some(Job::new((&listed.place).into(), files.clone())), Next::File(listed))
            }
            Ok(listed) => (None, other(listed)),
            Err(Unlisted { error, .. }) => (None, Next::Failed(error)),
        })
    });
    hash_items(items.fuse(), options, |next, hashed| {
        match (next, hashed) {
            (Next::File(listed), Some(Hashed { result, .. })) => {
                options.meter.finish_file();
                let roots = result.and_then(|roots| roots.into_iter().collect::<Result<Vec<_>, _>>());
                match roots.and_then(|roots| listed.facts.check(&listed.place).map(|()| roots)) {
                    Ok(roots) => growing.push(&listed, &mut roots.into_iter().map(Content::File), each),
                    Err(error) => growing.fail(error),
                }
            }
            (next, _) => growing.add(next, each),
        }
        if growing.errors.len() < Growing::MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if growing.errors.is_empty() && options.stop.is_stopped() {
        growing.fail(Error::Stopped { path: directory.into() });
    }
    if growing.errors.is_empty()
        && let Some(stamps) = &*lock(&ended)
        && let Err(error) = stamps.check()
    {
        growing.fail(error);
    }
    if growing.errors.is_empty() { Ok(growing.leaves) } else { Err(growing.errors) }
}

/// The next entry in the order of paths.
enum Next {
    /// A file, which has a job.
    File(Listed),
    /// A directory.
    Directory(Listed),
    /// A link and its text.
    Link(Listed, PathBuf),
    Failed(Error),
}

/// An entry that is no file.
fn other(listed: Listed) -> Next {
    match listed.facts.kind {
        EntryKind::Directory => Next::Directory(listed),
        EntryKind::Link => match fs::read_link(&listed.place) {
            Ok(text) => Next::Link(listed, text),
            Err(error) => Next::Failed(Error::Open { path: listed.place.into(), error }),
        },
        EntryKind::File | EntryKind::Special => Next::Failed(Error::refused(&listed.place, Refusal::Special)),
    }
}

/// The leaves so far, or why there is no root.
struct Growing {
    leaves: Vec<Leaves>,
    errors: Vec<Error>,
}

impl Growing {
    /// The errors that are reported.
    const MOST: usize = 20;

    fn fail(&mut self, error: Error) {
        if self.errors.len() < Self::MOST {
            self.errors.push(error);
        }
    }

    fn add(&mut self, next: Next, each: &mut dyn FnMut(&Entry<'_>)) {
        match next {
            Next::Directory(listed) => self.push(&listed, &mut iter::repeat(Content::Directory), each),
            Next::Link(listed, text) => {
                let text = text.as_os_str().as_encoded_bytes();
                self.push(&listed, &mut iter::repeat(Content::Link(text)), each);
            }
            Next::Failed(error) => self.fail(error),
            Next::File(listed) => self.fail(Error::Stopped { path: listed.place.into() }),
        }
    }

    fn push(
        &mut self,
        listed: &Listed,
        contents: &mut dyn Iterator<Item = Content<'_>>,
        each: &mut dyn FnMut(&Entry<'_>),
    ) {
        if !self.errors.is_empty() {
            return;
        }
        let mut failed = None;
        for (index, (leaves, content)) in self.leaves.iter_mut().zip(contents).enumerate() {
            let entry = Entry { path: &listed.path, content, mode: listed.facts.mode, modified: listed.facts.modified };
            if index == 0 {
                each(&entry);
            }
            if let Err(error) = leaves.push(&entry) {
                failed = Some(error);
            }
        }
        if let Some(EntryError::Repository) = failed {
            self.fail(Error::refused(&listed.place, Refusal::Repository));
        } else if let Some(error) = failed {
            self.fail(Error::Changed { path: listed.place.clone().into(), how: error.to_string() });
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_that_is_stopped_has_no_root() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("directory")).unwrap();
        let (spec, options) = ("dir:sha256".parse::<DirectorySpec>().unwrap(), Options::new());
        let found = || hash_directory(folder.path(), std::slice::from_ref(&spec), &options, &mut |_| {});
        assert_eq!(found().unwrap()[0].len(), 1);
        options.stop.stop();
        assert!(matches!(found().unwrap_err()[..], [Error::Stopped { .. }]));
    }
}
