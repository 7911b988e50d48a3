//! Bytes that come in order, once: hashed on all threads, in several formats at a time, as they come.

use crate::permits::Permits;
use crate::{Error, Input, Options};
use mksum::ordered::ordered;
use mksum::{
    Cuts, Digest, Digests, Frontier, Layout, Memory, Messages, NeedsLength, Part, PartScan, Role, Root, Scanned, Shape,
    Spec, Subtree, Subtrees, Wanted,
};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::{mem, thread};

/// The bytes that are read at once, about.
const CHUNK: u64 = 1 << 20;
/// The bytes that wait to be hashed, for each format.
const WAITING: u64 = 16 << 20;

/// The bytes that a thread scans at once for leaves that end where the content says: those at both ends are scanned twice.
const SCAN: u64 = 4 << 20;

/// The subtree that threads are given at a time, alone or several in a row.
fn unit(shape: Shape) -> Option<Subtree> {
    shape.unit(shape.batch(CHUNK))
}

/// The roots of an input in each of its formats, in their order, or why that format has none for it.
pub type Roots = Vec<Result<Root, Error>>;

/// Bytes in order.
pub(crate) trait Bytes {
    /// Fills the buffer: less only at the end. Notes the progress.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error>;
}

/// The roots of bytes in each format; `len` is their number if it is known before.
///
/// With several formats, each has a thread of its own. Where the system has none to give, this returns `None` if the length
/// is known, so that the bytes can be read again for each format; else the calling thread does all the work.
pub(crate) fn hash_stream(
    bytes: &mut (dyn Bytes + Send),
    len: Option<u64>,
    input: &Input,
    specs: &[Spec],
    options: &Options,
) -> Result<Option<Roots>, Error> {
    let failed = |spec: &Spec, error: mksum::Error| Error::from_join(error, input, spec);
    let possible = |spec: &Spec| len.is_some() || spec.family().streams();
    if !specs.iter().any(possible) {
        return Ok(Some(specs.iter().map(|spec| Err(failed(spec, NeedsLength.into()))).collect()));
    }
    // A chunk of whole units needs no copying; with several formats only the first has that.
    let unit = specs.first().and_then(|spec| unit(spec.shape())).map_or(CHUNK, |unit| unit.len);
    let size = if unit > CHUNK { CHUNK } else { CHUNK / unit * unit } as usize;
    let mut first = vec![0; size.min(len.map_or(size, |len| len as usize + 1))];
    let got = bytes.fill(&mut first)?;
    first.truncate(got);
    if got < size {
        // Short inputs need no threads. A format that refuses long streams refuses short ones too.
        let root = |spec: &Spec| if possible(spec) { spec.root(&first) } else { Err(NeedsLength.into()) };
        return Ok(Some(specs.iter().map(|spec| root(spec).map_err(|error| failed(spec, error))).collect()));
    }
    let mut chunks = Chunks { bytes, size, first: Some(first), spent: Vec::new(), ended: false, failure: None };
    let roots = match specs {
        [spec] => Some(vec![Driver { spec, len, options, permits: &Permits::new(options.threads) }.drive(&mut chunks)]),
        specs => several(&mut chunks, specs, len, options),
    };
    let roots = match roots {
        None if len.is_some() => return Ok(None),
        None => in_turn(&mut chunks, specs),
        Some(roots) => roots,
    };
    if let Some(failure) = chunks.failure {
        return Err(failure);
    }
    let named = specs.iter().zip(roots).map(|(spec, root)| root.map_err(|error| failed(spec, error)));
    Ok(Some(named.collect()))
}

/// A root, or why the format has none.
type FormatRoot = Result<Root, mksum::Error>;

/// The roots in each format, with a thread for each; `None` where the system has fewer threads, and then nothing is read.
fn several(chunks: &mut Chunks<'_>, specs: &[Spec], len: Option<u64>, options: &Options) -> Option<Vec<FormatRoot>> {
    let permits = &Permits::new(options.threads);
    thread::scope(|scope| {
        let mut drivers = Vec::new();
        for spec in specs {
            let (sender, received) = mpsc::sync_channel::<Chunk>(2);
            let driver = Driver { spec, len, options, permits };
            let drive = move || driver.drive(received.into_iter());
            // Without it, the others end at once: their senders are dropped.
            let thread = thread::Builder::new().name("format".into()).spawn_scoped(scope, drive).ok()?;
            drivers.push((Some(sender), thread));
        }
        for chunk in chunks.by_ref() {
            for (sender, _) in &mut drivers {
                // A format that failed hangs up; the others go on.
                if sender.as_ref().is_some_and(|sender| sender.send(chunk.clone()).is_err()) {
                    *sender = None;
                }
            }
            if drivers.iter().all(|(sender, _)| sender.is_none()) {
                break;
            }
        }
        // Hanging up tells the formats that this was all.
        let threads: Vec<_> = drivers.into_iter().map(|(_, thread)| thread).collect();
        let joined =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Some(joined.collect())
    })
}

/// Computes the roots of a stream on the calling thread.
fn in_turn(chunks: &mut Chunks<'_>, specs: &[Spec]) -> Vec<FormatRoot> {
    let mut frontiers: Vec<Result<Frontier, mksum::Error>> = specs.iter().map(|spec| Ok(spec.frontier()?)).collect();
    for chunk in chunks.by_ref() {
        for growing in &mut frontiers {
            if let Ok(frontier) = growing
                && let Err(error) = frontier.update(&chunk)
            {
                *growing = Err(error);
            }
        }
    }
    frontiers.into_iter().map(|frontier| frontier?.root()).collect()
}

/// A chunk of the stream's bytes.
type Chunk = Arc<Vec<u8>>;

/// The bytes as chunks of one size, of which only the last is shorter, perhaps empty.
struct Chunks<'a> {
    bytes: &'a mut (dyn Bytes + Send),
    /// The bytes of a chunk.
    size: usize,
    /// The first chunk, which is read already.
    first: Option<Vec<u8>>,
    /// Chunks that were handed out.
    spent: Vec<Chunk>,
    ended: bool,
    /// The error that ended the bytes too soon.
    failure: Option<Error>,
}

impl Chunks<'_> {
    /// Reads the next chunk.
    fn read(&mut self) -> Result<Vec<u8>, Error> {
        // Memory that everyone is done with is read into again.
        let free = self.spent.iter_mut().position(|chunk| Arc::get_mut(chunk).is_some());
        let free = free.and_then(|index| Arc::into_inner(self.spent.swap_remove(index)));
        let mut chunk = free.unwrap_or_default();
        chunk.resize(self.size, 0);
        let got = self.bytes.fill(&mut chunk)?;
        chunk.truncate(got);
        Ok(chunk)
    }
}

impl Iterator for Chunks<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        if self.ended {
            return None;
        }
        let chunk = match self.first.take().map_or_else(|| self.read(), Ok) {
            Ok(chunk) => Arc::new(chunk),
            Err(error) => {
                (self.failure, self.ended) = (Some(error), true);
                return None;
            }
        };
        self.ended = chunk.len() < self.size;
        self.spent.push(chunk.clone());
        Some(chunk)
    }
}

/// A thread that hashes a stream in one format.
struct Driver<'a> {
    spec: &'a Spec,
    len: Option<u64>,
    options: &'a Options,
    permits: &'a Permits,
}

impl Driver<'_> {
    /// The root of all chunks.
    fn drive(&self, chunks: impl Iterator<Item = Chunk> + Send) -> FormatRoot {
        if let Layout::Found(cuts) = self.spec.layout()
            && self.options.threads > 1
        {
            return Ok(self.scans(cuts, chunks));
        }
        match (self.spec.frontier(), unit(self.spec.shape())) {
            (Ok(frontier), Some(unit)) if unit.len <= WAITING / 2 => self.parallel(frontier, unit, chunks),
            (Ok(frontier), _) => self.serial(frontier, chunks),
            (Err(_), _) => self.left_to_right(chunks),
        }
    }

    /// Threads hash units of the tree, which are pushed in order.
    fn parallel(
        &self,
        mut frontier: Frontier,
        unit: Subtree,
        chunks: impl Iterator<Item = Chunk> + Send,
    ) -> FormatRoot {
        let threads = self.options.threads;
        let run = (self.spec.shape().batch(CHUNK) / unit.len).max(1) * unit.len;
        let ahead = (2 * threads as u64).min(WAITING.div_ceil(run)).max(2);
        let rest = Mutex::new(None);
        let runs = Runs { chunks, current: None, pending: Run::at(0), len: run, rest: &rest };
        let hash = |(): &mut (), run: Run| {
            self.permits.with(|| run.digests(self.spec, unit)).map(|digests| (run.start, digests))
        };
        ordered(
            threads,
            ahead as usize,
            runs,
            || (),
            hash,
            |results| {
                for result in results {
                    let (start, digests) = result?;
                    for (digest, index) in digests.iter().zip(0..) {
                        frontier.push(Subtree { start: start + index * unit.len, ..unit }, digest)?;
                    }
                }
                let rest = rest.lock().unwrap_or_else(PoisonError::into_inner).take().expect("the end of the runs");
                frontier.root_with(&Memory::from(rest.start, &rest.bytes()), rest.end())
            },
        )
    }

    /// Threads scan runs of bytes, and the leaves that they find are joined in order.
    fn scans(&self, cuts: Cuts, chunks: impl Iterator<Item = Chunk> + Send) -> Root {
        let threads = self.options.threads;
        let ahead = (2 * threads as u64).clamp(2, WAITING / SCAN);
        let rest = Mutex::new(None);
        let runs = Runs { chunks, current: None, pending: Run::at(0), len: SCAN, rest: &rest };
        let scan = |(): &mut (), run: Run| {
            let part = Part { start: run.start, end: run.end(), last: false, wanted: Wanted::AfterFirstEnd };
            let mut scan = PartScan::new(cuts, part);
            self.permits.with(|| run.slices().for_each(|slice| scan.update(slice)));
            (run, scan.finish())
        };
        ordered(
            threads,
            ahead as usize,
            runs,
            || (),
            scan,
            |results| {
                let mut scanned = Scanned::new(cuts);
                for (run, found) in results {
                    self.permits.with(|| scanned.append(run.start, run.slices(), &found));
                }
                let rest = rest.lock().unwrap_or_else(PoisonError::into_inner).take().expect("the end of the runs");
                rest.slices().for_each(|slice| scanned.update(slice));
                self.spec.seal(scanned.finish(), rest.end())
            },
        )
    }

    /// Leaves that are too long to wait in memory are hashed as they come.
    fn serial(&self, mut frontier: Frontier, chunks: impl Iterator<Item = Chunk>) -> FormatRoot {
        for chunk in chunks {
            self.permits.with(|| frontier.update(&chunk))?;
        }
        frontier.root()
    }

    /// The tree of a known length takes its leaves from the left to the right.
    fn left_to_right(&self, chunks: impl Iterator<Item = Chunk>) -> FormatRoot {
        let len = self.len.ok_or(NeedsLength)?;
        let leaves = Leaves { permits: self.permits, left: RefCell::new((chunks, Chunk::default(), 0)) };
        self.spec.root_from(&leaves, len)
    }
}

/// Full runs of units, which more bytes follow, and then the rest.
struct Runs<'a, I> {
    chunks: I,
    /// A chunk and how many of its bytes are in runs.
    current: Option<(Chunk, usize)>,
    pending: Run,
    /// The bytes of a full run.
    len: u64,
    /// The bytes after the last full run, once all chunks are there.
    rest: &'a Mutex<Option<Run>>,
}

impl<I: Iterator<Item = Chunk>> Iterator for Runs<'_, I> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        loop {
            let (chunk, from) = match self.current.take().filter(|(chunk, from)| *from < chunk.len()) {
                Some(current) => current,
                None => match self.chunks.next() {
                    Some(chunk) => {
                        self.current = Some((chunk, 0));
                        continue;
                    }
                    None => {
                        let rest = mem::replace(&mut self.pending, Run::at(0));
                        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
                        return None;
                    }
                },
            };
            // A full run waits for the byte after it: only then is it certain that it is not the root.
            if self.pending.len() == self.len {
                self.current = Some((chunk, from));
                let next = Run::at(self.pending.end());
                return Some(mem::replace(&mut self.pending, next));
            }
            let more = (self.len - self.pending.len()).min((chunk.len() - from) as u64) as usize;
            self.pending.parts.push((chunk.clone(), from, more));
            self.current = Some((chunk, from + more));
        }
    }
}

/// Bytes that follow one another, in pieces of chunks.
struct Run {
    start: u64,
    parts: Vec<(Chunk, usize, usize)>,
}

impl Run {
    fn at(start: u64) -> Run {
        Run { start, parts: Vec::new() }
    }

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

    /// The digest of each unit; `unit` is the first of the tree.
    fn digests(&self, spec: &Spec, unit: Subtree) -> Result<Digests, mksum::Error> {
        let mut out = Digests::new(spec.hash().size());
        if unit.level == 0 && self.parts.len() > 1 && self.len() == unit.len {
            // A leaf of several chunks is not copied together.
            let mut leaf = spec.leaf_hasher(&[Subtree { start: self.start, ..unit }]);
            self.slices().for_each(|slice| leaf.update(Messages::one(slice)));
            out.push(leaf.finish_one(Role::Inner));
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
        match unit.level {
            0 => spec.leaf_digests(self.start, Messages::new(bytes, unit.len as usize), &mut out),
            _ => {
                let memory = Memory::from(self.start, bytes);
                for start in (self.start..self.end()).step_by(unit.len as usize) {
                    out.push(spec.join(&memory, Subtree { start, ..unit }, Role::Inner)?);
                }
            }
        }
        Ok(out)
    }
}

/// Leaves that are asked for from the left to the right.
struct Leaves<'a, I> {
    permits: &'a Permits,
    /// Chunks, the last one taken, and how many of its bytes are in leaves.
    left: RefCell<(I, Chunk, usize)>,
}

impl<I: Iterator<Item = Chunk>> Subtrees for Leaves<'_, I> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        if node.level > 0 {
            return Ok(None);
        }
        let mut leaf = spec.leaf_hasher(&[node]);
        let mut missing = node.len;
        let (chunks, chunk, from) = &mut *self.left.borrow_mut();
        while missing > 0 {
            if *from == chunk.len() {
                (*chunk, *from) = (chunks.next().ok_or(mksum::Error::Missing(node))?, 0);
            }
            let slice = &chunk[*from..][..missing.min((chunk.len() - *from) as u64) as usize];
            self.permits.with(|| leaf.update(Messages::one(slice)));
            *from += slice.len();
            missing -= slice.len() as u64;
        }
        Ok(Some(leaf.finish_one(role)))
    }
}
