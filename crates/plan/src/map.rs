//! Parts are hashed: those of an input that follow one another in one go, and whole inputs side by side.

use crate::error::RowError;
use crate::rows::Row;
use mksum::outboard::{KeptLayout, Observed};
use mksum::{Digest, Plan, Role, Spec, Subtree};
use mksum_io::{Error, File, Input, Job, Options, hash_all};
use std::ops::ControlFlow;

/// What is hashed for a row.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where the input is.
    pub path: Input,
    /// The version and the length in bytes that the input had when it was planned.
    pub planned: (String, u64),
    /// The format.
    pub spec: Spec,
    /// The part of the tree.
    pub node: Subtree,
    /// The nodes that an outboard keeps, if the row has units.
    layout: Option<KeptLayout>,
}

/// The digest of a part, and the digests of its units, one after the other.
pub type Hashed = (Digest, Vec<u8>);

impl Part {
    /// The part of a row.
    ///
    /// # Errors
    /// If no file can have its path, its format is unknown, or the tree has no such part.
    pub fn new(row: &Row<'_>) -> Result<Part, RowError> {
        let (path, spec) = (row.path().ok_or(RowError::Path)?, row.spec()?);
        if !row.is_whole() {
            row.check_part(&spec)?;
        }
        let layout = row.layout(&spec)?.filter(|_| row.has_units(&spec));
        Ok(Part { path, planned: (row.version.to_string(), row.size), node: row.node(), spec, layout })
    }

    /// Whether it is all of its input: then its digest is the root's.
    pub fn is_whole(&self) -> bool {
        self.node.start == 0 && self.node.len == self.planned.1
    }

    /// Whether it is hashed side by side with others: a whole input without units, which are found on the way down.
    pub fn is_input(&self) -> bool {
        self.is_whole() && self.layout.is_none()
    }

    /// Whether it is read in one go with the one before it.
    pub fn follows(&self, last: &Part) -> bool {
        let alike = (&self.path, &self.planned, &self.spec) == (&last.path, &last.planned, &last.spec);
        alike && self.node.start == last.node.end() && !self.is_input()
    }

    /// Hashes the part of an open input.
    fn hash(&self, file: &File) -> Result<Hashed, Error> {
        let Part { spec, layout, planned, .. } = self;
        file.check_version(planned)?;
        let (node, role) = match self.is_whole() {
            true => (spec.shape().root(planned.1), Role::Root),
            false => (self.node, Role::Inner),
        };
        let whole = layout.map_or_else(|| file.plan(spec), |layout| file.plan_of(spec, layout.unit()));
        let threads = usize::try_from(node.len.div_ceil(whole.piece.max(1))).unwrap_or(usize::MAX);
        let plan = Plan { threads: whole.threads.min(threads).max(1), ..whole };
        let mut units = Vec::new();
        let joined = match layout {
            None => spec.join_parallel(file, node, role, &plan),
            Some(layout) => {
                let mut keep = |node, digest: &Digest| {
                    if layout.is_unit(node) {
                        units.extend_from_slice(digest.as_bytes());
                    }
                    Ok(())
                };
                let observed = Observed::new(file, layout.post_order_under(node), &mut keep);
                let joined = spec.join_parallel(&observed, node, role, &plan);
                observed.finish(joined)
            }
        };
        let top = joined.map_err(|error| Error::from_join(error, &self.path, spec))?;
        Ok((if self.is_whole() { spec.seal(top, planned.1).digest() } else { top }, units))
    }
}

/// Hashes parts of an input that [follow](Part::follows) one another, and hands over what became of each, until one fails or `each`
/// breaks: those after it have the same error.
pub fn hash_parts(
    parts: &[Part],
    options: &Options,
    each: &mut dyn FnMut(Result<Hashed, Error>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return ControlFlow::Continue(()) };
    let opened = || File::open_part(&first.path, first.node.start..last.node.end(), options);
    let (is_object, mut file) = (first.path.url().is_some(), None);
    for part in parts {
        // A file of this machine is compared with itself after each part; the bytes of an object have their version.
        let hashed = file.take().map_or_else(opened, Ok).and_then(|open| {
            let hashed = part.hash(&open)?;
            match is_object {
                true => file = Some(open),
                false => open.finish()?,
            }
            Ok(hashed)
        });
        let failed = hashed.is_err();
        each(hashed)?;
        if failed {
            break;
        }
    }
    ControlFlow::Continue(())
}

/// Hashes whole [inputs](Part::is_input) side by side, and hands over the digest of each, in order, until `each` breaks.
pub fn hash_inputs(
    parts: impl Iterator<Item = Part> + Send,
    options: &Options,
    each: &mut dyn FnMut(Result<Hashed, Error>) -> ControlFlow<()>,
) {
    let jobs = parts.map(|part| {
        let mut job = Job::new(part.path, vec![part.spec]);
        job.version = Some(part.planned);
        job
    });
    hash_all(jobs, options, |_, roots, _| {
        each(roots.and_then(|mut roots| roots.remove(0)).map(|root| (root.digest(), Vec::new())))
    });
}
