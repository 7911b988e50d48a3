//! The root of a directory, whose files are hashed side by side.

use crate::entries::{Entries, EntryKind, Listed, Stamps, Unlisted};
use crate::{Error, Input, Job, Options, Refusal, hash_all};
use mksum::directory::{Content, DirectorySpec, Entry, Leaves};
use std::collections::VecDeque;
use std::fs;
use std::mem;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The folder in a directory in which its catalogue is kept: no root and no catalogue covers it.
pub const KEPT_FOLDER: &str = ".mksum";

/// The leaves of a directory in each format, from which its roots and proofs follow. All files are read once, and hashed in
/// the lanes of all threads.
///
/// `each` is shown every entry of the first format before it becomes a leaf, in their order.
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
    let skip = Box::new(|path: &[u8], _: &Path, _: &_| path == KEPT_FOLDER.as_bytes());
    let entries = Entries::checked(directory, skip).map_err(|error| vec![error])?;
    let walk = Walk::default();
    let mut growing = Growing { leaves: specs.iter().map(Leaves::new).collect(), errors: Vec::new() };
    let files = specs.iter().map(|spec| spec.file().clone()).collect::<Vec<_>>();
    let jobs = Jobs { entries, files, walk: &walk };
    hash_all(jobs, options, |_, result, _| {
        options.meter.finish_file();
        loop {
            let next = lock(&walk.next).pop_front().expect("an entry for each job");
            let Next::File(listed) = next else {
                growing.add(next, each);
                continue;
            };
            let roots = result.and_then(|roots| roots.into_iter().collect::<Result<Vec<_>, _>>());
            let roots = roots.and_then(|roots| listed.facts.check(&listed.place).map(|()| roots));
            match roots {
                Ok(roots) => growing.push(&listed, &mut roots.into_iter().map(Content::File), each),
                Err(error) => growing.fail(error),
            }
            break;
        }
        if growing.errors.len() < Growing::MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    mem::take(&mut *lock(&walk.next)).into_iter().for_each(|next| growing.add(next, each));
    if growing.errors.is_empty()
        && let Some(stamps) = &*lock(&walk.ended)
        && let Err(error) = stamps.check()
    {
        growing.fail(error);
    }
    if growing.errors.is_empty() { Ok(growing.leaves) } else { Err(growing.errors) }
}

/// What the jobs leave for their results.
#[derive(Default)]
struct Walk {
    /// The directories as they were when they were listed, at the end of the walk.
    ended: Mutex<Option<Stamps>>,
    next: Mutex<VecDeque<Next>>,
}

/// What comes next in the order of paths.
enum Next {
    /// A file, with the next result.
    File(Listed),
    /// A directory.
    Directory(Listed),
    /// A link and its text.
    Link(Listed, PathBuf),
    Failed(Error),
}

/// The files of a walk as jobs.
struct Jobs<'a> {
    entries: Entries,
    files: Vec<mksum::Spec>,
    walk: &'a Walk,
}

impl Iterator for Jobs<'_> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            let Some(entry) = self.entries.next() else {
                *lock(&self.walk.ended) = self.entries.take_stamps();
                return None;
            };
            let (next, job) = match entry {
                Ok(listed) if listed.facts.kind == EntryKind::File => {
                    let job = Job::new(Input::Path(listed.place.clone()), self.files.clone());
                    (Next::File(listed), Some(job))
                }
                Ok(listed) => (other(listed), None),
                Err(Unlisted { error, .. }) => (Next::Failed(error), None),
            };
            lock(&self.walk.next).push_back(next);
            if job.is_some() {
                return job;
            }
        }
    }
}

/// An entry that is no file.
fn other(listed: Listed) -> Next {
    match listed.facts.kind {
        EntryKind::Directory => Next::Directory(listed),
        EntryKind::Link => match fs::read_link(&listed.place) {
            Ok(text) => Next::Link(listed, text),
            Err(error) => Next::Failed(Error::Open { path: listed.place, error }),
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
            Next::Directory(listed) => self.push(&listed, &mut std::iter::repeat(Content::Directory), each),
            Next::Link(listed, text) => {
                let text = text.as_os_str().as_encoded_bytes();
                self.push(&listed, &mut std::iter::repeat(Content::Link(text)), each);
            }
            Next::Failed(error) => self.fail(error),
            Next::File(listed) => self.fail(Error::Stopped { path: listed.place }),
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
        if let Some(error) = failed {
            self.fail(Error::Changed { path: listed.place.clone(), how: error.to_string() });
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
