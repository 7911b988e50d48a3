//! Files read side by side, each as it is at one moment.

use mksum::{Root, Spec};
use mksum_io::{Error, Facts, Hashed, Job, Options, hash_items};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A file to be read.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<T> {
    /// Whatever its result is for.
    pub about: T,
    pub place: PathBuf,
    /// The file's length when its directory was listed, in bytes.
    pub size: u64,
    pub specs: Vec<Spec>,
}

/// A file that was read: its facts, and its roots in the order of the formats.
pub(crate) type Read = Result<(Facts, Vec<Root>), Error>;

/// Hashes all of `files` in the lanes of all threads, and hands each result to `each`, in their order, until that breaks. Files for
/// which `alone` is true are handed over unread, with their facts and no roots, in their turn.
///
/// No root is handed out of a file that is another at the end than it was before it was opened, or whose time of change is so
/// near that the next change could have the same.
pub(crate) fn read_all<T: Send>(
    files: impl Iterator<Item = Wanted<T>> + Send,
    options: &Options,
    alone: &(dyn Fn(&Facts, &[Spec]) -> bool + Sync),
    mut each: impl FnMut(Wanted<T>, Read) -> ControlFlow<()>,
) {
    let items = files.map(|wanted| {
        if wanted.size <= Job::SHORT {
            let job = Job::short_entry(wanted.place.clone(), wanted.specs.clone());
            return (Some(job), (wanted, None));
        }
        let facts = Facts::of(&wanted.place).map_err(|error| Error::Open { path: wanted.place.clone().into(), error });
        let hashed = facts.as_ref().is_ok_and(|facts| {
            facts.wait_until_past();
            !alone(facts, &wanted.specs)
        });
        let job = hashed.then(|| Job::new((&wanted.place).into(), wanted.specs.clone()));
        (job, (wanted, Some(facts)))
    });
    hash_items(items, options, |(wanted, facts), hashed| {
        let read = match (facts, hashed) {
            (Some(facts), None) => facts.map(|facts| (facts, Vec::new())),
            (Some(facts), Some(hashed)) => facts.and_then(|facts| {
                let roots = roots(hashed, options)?;
                facts.check(&wanted.place).map(|()| (facts, roots))
            }),
            (None, hashed) => {
                let hashed = hashed.expect("a job for each short file");
                let facts = hashed.job.facts();
                roots(hashed, options).map(|roots| (facts.expect("facts of a file that was opened"), roots))
            }
        };
        each(wanted, read)
    });
}

/// The roots of a job that is done.
fn roots(hashed: Hashed<'_>, options: &Options) -> Result<Vec<Root>, Error> {
    options.meter.finish_file();
    hashed.result?.into_iter().collect()
}
