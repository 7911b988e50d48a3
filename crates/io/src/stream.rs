//! Bytes that come in order, once: hashed on all threads, in several formats at a time, as they come.

use crate::permits::Permits;
use crate::{Error, Options, Roots};
use mksum::{Format, Frontier, Memory, Messages, NodeHash, Role, Shape, Spec, Subtree, Subtrees, Visitor};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// The bytes that are read at once, about.
const CHUNK: u64 = 1 << 20;
/// The bytes that wait to be hashed, for each format.
const WAITING: u64 = 16 << 20;

/// What threads are given at a time, or some of them.
fn unit(shape: Shape) -> Option<Subtree> {
    shape.unit(shape.batch(CHUNK))
}

/// Bytes in order.
pub(crate) trait Bytes {
    /// Fills the buffer: less only at the end.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error>;
}

/// What a stream is in each format; `len` is its length if that is known before, in bytes.
pub(crate) fn hash_stream(
    bytes: &mut dyn Bytes,
    len: Option<u64>,
    path: &Path,
    specs: &[Spec],
    options: &Options,
) -> Result<Roots, Error> {
    let failed = |spec: &Spec, error: mksum::Error| Error::from_join(error, path, spec);
    let possible = |spec: &Spec| len.is_some() || spec.family().streams();
    if !specs.iter().any(possible) {
        return Ok(specs.iter().map(|spec| Err(failed(spec, needs_length()))).collect());
    }
    // A chunk of whole units needs no copying; with several formats only the first has that.
    let unit = specs.first().and_then(|spec| unit(spec.shape())).map_or(CHUNK, |unit| unit.len);
    let size = if unit > CHUNK { CHUNK } else { CHUNK / unit * unit } as usize;
    let mut first = vec![0; size.min(len.map_or(size, |len| len as usize + 1))];
    let got = bytes.fill(&mut first)?;
    if got < first.len() {
        // Short inputs need no threads. A format that refuses long streams refuses short ones too.
        options.meter.add(got as u64);
        let root = |spec: &Spec| if possible(spec) { spec.root(&first[..got]) } else { Err(needs_length()) };
        return Ok(specs.iter().map(|spec| root(spec).map_err(|error| failed(spec, error))).collect());
    }
    let permits = Permits::new(options.threads);
    thread::scope(|scope| {
        let mut formats = Vec::new();
        for spec in specs {
            let (sender, chunks) = mpsc::sync_channel::<Arc<Vec<u8>>>(2);
            let driver = Driver { chunks, len, threads: options.threads, permits: &permits };
            formats.push((spec, Some(sender), scope.spawn(move || spec.visit(driver))));
        }
        let (mut chunk, mut got, mut total) = (first, got, 0);
        let mut spent = Vec::new();
        let read = loop {
            chunk.truncate(got);
            total += got as u64;
            options.meter.add(got as u64);
            let end = chunk.len() < size;
            let shared = Arc::new(chunk);
            for (_, sender, _) in &mut formats {
                // A format that failed hangs up; the others go on.
                if sender.as_ref().is_some_and(|sender| sender.send(shared.clone()).is_err()) {
                    *sender = None;
                }
            }
            spent.push(shared);
            if end || formats.iter().all(|(_, sender, _)| sender.is_none()) {
                break Ok(());
            }
            // Memory that everyone is done with is read into again.
            let free = spent.iter_mut().position(|chunk| Arc::get_mut(chunk).is_some());
            let free = free.and_then(|index| Arc::into_inner(spent.swap_remove(index)));
            chunk = free.unwrap_or_default();
            chunk.resize(size, 0);
            got = match bytes.fill(&mut chunk) {
                Ok(got) => got,
                Err(error) => break Err(error),
            };
        };
        // Hanging up tells the formats that this was all.
        let results: Vec<_> = formats
            .into_iter()
            .map(|(spec, sender, driver)| {
                drop(sender);
                (spec, driver.join())
            })
            .collect();
        read?;
        let root = |(spec, result): (&Spec, thread::Result<Result<Vec<u8>, mksum::Error>>)| match result {
            Ok(Ok(digest)) => Ok(spec.sealed(total, digest)),
            Ok(Err(error)) => Err(failed(spec, error)),
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok(results.into_iter().map(root).collect())
    })
}

fn needs_length() -> mksum::Error {
    mksum::Error::Source(Box::new(mksum::NeedsLength))
}

/// One format's part of a stream.
struct Driver<'a> {
    chunks: mpsc::Receiver<Arc<Vec<u8>>>,
    len: Option<u64>,
    threads: usize,
    permits: &'a Permits,
}

impl Visitor for Driver<'_> {
    type Output = Result<Vec<u8>, mksum::Error>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        let digest = match (format.frontier(), unit(format.shape)) {
            (Ok(frontier), Some(unit)) if unit.len <= WAITING / 2 => self.parallel(format, frontier, unit),
            (Ok(frontier), _) => self.serial(frontier),
            (Err(_), _) => self.in_order(format),
        };
        Ok(digest?.into())
    }
}

impl Driver<'_> {
    /// Units of the tree are hashed by threads and pushed in order.
    fn parallel<N: NodeHash>(
        self,
        format: &Format<N>,
        mut frontier: Frontier<'_, N>,
        unit: Subtree,
    ) -> Result<N::Digest, mksum::Error> {
        let run = (format.shape.batch(CHUNK) / unit.len).max(1);
        let ahead = (2 * self.threads as u64).min(WAITING.div_ceil(run * unit.len)).max(2);
        let (jobs, todo) = mpsc::sync_channel::<Run>(ahead as usize);
        let todo = Mutex::new(todo);
        let (results, done) = mpsc::channel();
        let work = |results: mpsc::Sender<_>| {
            loop {
                let job = todo.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(job) = job else { return };
                let digests = self.permits.with(|| job.digests(format));
                if results.send((job.start, digests)).is_err() {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..self.threads {
                let (work, results) = (&work, results.clone());
                scope.spawn(move || work(results));
            }
            let jobs = jobs;
            let mut early = BTreeMap::new();
            let mut take = |frontier: &mut Frontier<'_, N>| {
                while !early.contains_key(&frontier.position()) {
                    let (start, digests) = done.recv().map_err(|_| mksum::Error::Missing(unit))?;
                    early.insert(start, digests);
                }
                let start = frontier.position();
                let digests: Vec<N::Digest> = early.remove(&start).expect("it is here")?;
                for (digest, i) in digests.into_iter().zip(0..) {
                    frontier.push(Subtree { start: start + i * unit.len, ..unit }, digest)?;
                }
                Ok::<(), mksum::Error>(())
            };
            let mut pending = Run { unit, start: 0, parts: Vec::new() };
            let mut sent = 0;
            for chunk in &self.chunks {
                let mut from = 0;
                while from < chunk.len() {
                    // A full run waits for the byte after it: only then is it certain that it is not the root.
                    if pending.len() == run * unit.len {
                        let next = Run { unit, start: pending.end(), parts: Vec::new() };
                        jobs.send(std::mem::replace(&mut pending, next)).map_err(|_| mksum::Error::Missing(unit))?;
                        sent += 1;
                        if sent >= ahead {
                            take(&mut frontier)?;
                        }
                    }
                    let more = (run * unit.len - pending.len()).min((chunk.len() - from) as u64) as usize;
                    pending.parts.push((chunk.clone(), from, more));
                    from += more;
                }
            }
            drop(jobs);
            while frontier.position() < pending.start {
                take(&mut frontier)?;
            }
            let rest = pending.bytes();
            frontier.root_with(&Memory::from(pending.start, &rest), pending.end())
        })
    }

    /// Leaves that are too long to wait in memory are hashed as they come.
    fn serial<N: NodeHash>(self, mut frontier: Frontier<'_, N>) -> Result<N::Digest, mksum::Error> {
        for chunk in &self.chunks {
            self.permits.with(|| frontier.update(&chunk))?;
        }
        frontier.root()
    }

    /// The tree of a known length takes its leaves from the left to the right.
    fn in_order<N: NodeHash>(self, format: &Format<N>) -> Result<N::Digest, mksum::Error> {
        let len = self.len.ok_or_else(needs_length)?;
        let leaves = Leaves { driver: &self, left: RefCell::default() };
        format.root(&leaves, len)
    }
}

/// A run of units, in pieces of chunks.
struct Run {
    unit: Subtree,
    start: u64,
    parts: Vec<(Arc<Vec<u8>>, usize, usize)>,
}

impl Run {
    fn len(&self) -> u64 {
        self.parts.iter().map(|(_, _, len)| *len as u64).sum()
    }

    fn end(&self) -> u64 {
        self.start + self.len()
    }

    fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|(chunk, from, len)| &chunk[*from..][..*len])
    }

    fn bytes(&self) -> Vec<u8> {
        self.slices().collect::<Vec<_>>().concat()
    }

    /// The digest of each unit.
    fn digests<N: NodeHash>(&self, format: &Format<N>) -> Result<Vec<N::Digest>, mksum::Error> {
        let mut out = Vec::new();
        if self.unit.level == 0 && self.parts.len() > 1 && self.len() == self.unit.len {
            // A leaf of several chunks is not copied together.
            let mut leaf = format.nodes.open_leaves(&[self.start]);
            self.slices().for_each(|slice| format.nodes.slices(&mut leaf, Messages::one(slice)));
            format.nodes.close_leaves(leaf, &[&[]], Role::Inner, &mut out);
            return Ok(out);
        }
        let copy;
        let bytes = match &self.parts[..] {
            [(chunk, from, len)] => &chunk[*from..][..*len],
            _ => {
                copy = self.bytes();
                &copy[..]
            }
        };
        match self.unit.level {
            0 => format.nodes.leaves(self.start, Messages::new(bytes, self.unit.len as usize), &mut out),
            _ => {
                let memory = Memory::from(self.start, bytes);
                for start in (self.start..self.end()).step_by(self.unit.len as usize) {
                    out.push(format.join(&memory, Subtree { start, ..self.unit }, Role::Inner)?);
                }
            }
        }
        Ok(out)
    }
}

/// Leaves that are asked for from the left to the right.
struct Leaves<'a, 'b> {
    driver: &'a Driver<'b>,
    /// What is left of the last chunk.
    left: RefCell<(Arc<Vec<u8>>, usize)>,
}

impl<N: NodeHash> Subtrees<N> for Leaves<'_, '_> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, mksum::Error> {
        if node.level > 0 {
            return Ok(None);
        }
        let mut leaf = format.nodes.open_leaves(&[node.start]);
        let mut missing = node.len;
        let (chunk, from) = &mut *self.left.borrow_mut();
        while missing > 0 {
            if *from == chunk.len() {
                (*chunk, *from) = (self.driver.chunks.recv().map_err(|_| mksum::Error::Missing(node))?, 0);
            }
            let slice = &chunk[*from..][..missing.min((chunk.len() - *from) as u64) as usize];
            self.driver.permits.with(|| format.nodes.slices(&mut leaf, Messages::one(slice)));
            *from += slice.len();
            missing -= slice.len() as u64;
        }
        let mut digest = Vec::new();
        format.nodes.close_leaves(leaf, &[&[]], role, &mut digest);
        Ok(digest.pop())
    }
}
