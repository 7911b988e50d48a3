//! A file that can be read at any offset, as a source of subtrees.

use crate::buffer::with_buffer;
use crate::entries::Facts;
use crate::error::reason;
use crate::permits::Permits;
use crate::platform::{Stamp, advise_soon, is_descriptor, is_rotating, is_sparse};
use crate::reader::{Medium, Reader};
use crate::{Error, Input, Mode, Object, Options, Refusal};
use mksum::outboard::Identity;
use mksum::{
    Digest, Digests, Found, Layout, Messages, Part, PartScan, Plan, Role, Shape, Spec, Subtree, Subtrees, Wanted,
};
use std::fs::{self, Metadata};
use std::ops::Range;
use std::sync::Arc;

/// The check at the end of a file's reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The file at the path is compared: a long one may have been replaced meanwhile.
    Path,
    /// The open file alone, which takes a third of the time: a short one was read at once.
    OpenFile,
}

/// Whether a file that is compared with what it was must have the same times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Same,
    /// The times may differ: digests judge the content.
    Any,
}

/// An open file or object of a known length: threads read its subtrees at their offsets, each into memory of its own.
///
/// Its digests are valid only if [`File::finish`] finds the file unchanged.
#[derive(Debug)]
pub struct File {
    pub(crate) reader: Reader,
    /// The stamp of a local file; `None` for an object.
    stamp: Option<Stamp>,
    in_order: bool,
    sparse: bool,
    /// The permission bits of a local file that is read whole; 0 for others.
    mode: u32,
    permits: Permits,
    cold: bool,
    ending: Ending,
}

impl File {
    /// The bytes that a thread reads and hashes at once: as much as the second-level cache holds.
    pub(crate) const PIECE: u64 = 1 << 20;
    /// The longest subtree that is read whole, in bytes: many long leaves side by side.
    const LARGEST: u64 = 4 << 20;
    /// Leaves of up to this many bytes are read whole.
    const LEAF: u64 = 256 << 10;
    /// The threads that wait for the device, at the least.
    const WAITING: usize = 8;

    /// The version, as text: an object's [own](Object::version), or a local file's mtime.
    pub fn version(&self) -> String {
        match (&self.reader.medium, &self.stamp) {
            (Medium::Object(object), _) => object.version().into(),
            (Medium::Disk(_), Some(Stamp { times: [(seconds, nanoseconds), _], .. })) => {
                format!("mtime:{seconds}.{nanoseconds:09}")
            }
            (Medium::Disk(_), None) => String::new(),
        }
    }

    /// Refuses it if it has another version or length than when it was planned.
    ///
    /// # Errors
    /// If so: [`Refusal::Version`].
    pub fn check_version(&self, planned: &(String, u64)) -> Result<(), Error> {
        let found = (self.version(), self.len());
        match found == *planned {
            true => Ok(()),
            false => Err(Error::refused(self.input(), Refusal::Version { planned: planned.clone(), found })),
        }
    }

    /// The `len` bytes from offset `base` on of an open file.
    pub(crate) fn new(
        input: Input,
        file: fs::File,
        metadata: &Metadata,
        (base, len): (u64, u64),
        ending: Ending,
        options: &Options,
    ) -> File {
        let reader = Reader::new(input, Medium::Disk(file), (base, len), options);
        let cold = reader.is_cold();
        File {
            stamp: Some(Stamp::of(metadata)),
            in_order: len > Self::PIECE && is_rotating(metadata),
            sparse: is_sparse(metadata),
            mode: if len == metadata.len() { Facts::from(metadata).mode } else { 0 },
            permits: Permits::new(options.threads),
            cold,
            ending,
            reader,
        }
    }

    /// The `len` bytes from offset `base` on of an object.
    pub(crate) fn of_object(input: Input, object: Arc<dyn Object>, (base, len): (u64, u64), options: &Options) -> File {
        let (in_order, permits) = (object.is_in_order(), Permits::new(options.threads));
        let reader = Reader::new(input, Medium::Object(object), (base, len), options);
        File { stamp: None, in_order, sparse: false, mode: 0, permits, cold: true, ending: Ending::OpenFile, reader }
    }

    /// Returns this file, read with other options.
    pub(crate) fn with_options(mut self, options: &Options) -> File {
        self.permits = Permits::new(options.threads);
        self.reader.options = options.clone();
        self
    }

    /// A format for this file, whose mode counts in some ([`Spec::for_mode`]).
    pub fn format(&self, spec: &Spec) -> Spec {
        spec.for_mode(self.mode)
    }

    /// The input that was opened.
    pub fn input(&self) -> &Input {
        &self.reader.input
    }

    /// The length when it was opened, in bytes: of the file, or of the part of it that is read.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.reader.len
    }

    /// The options it is read with.
    pub fn options(&self) -> &Options {
        &self.reader.options
    }

    /// Whether it is best read from the beginning to the end: reads far apart cost a seek each, or its bytes come in order alone.
    pub(crate) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// Whether the bytes lie in a store, where reads in order find them fetched ahead.
    pub(crate) fn is_object(&self) -> bool {
        self.reader.medium.disk().is_none()
    }

    pub(crate) fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// The file's mtime and inode, which show later that it is probably unchanged; of an object, a number for its version in the
    /// inode's place. `None` for a device, whose times say nothing about its content.
    pub fn identity(&self) -> Option<Identity> {
        if let Medium::Object(object) = &self.reader.medium {
            return object.identity().filter(|_| object.len() == self.len());
        }
        let stamp = self.stamp.as_ref().filter(|stamp| stamp.len == self.len())?;
        let ([(seconds, nanoseconds), _], (_, inode)) = (stamp.times, stamp.id);
        Some(Identity { seconds, nanoseconds: nanoseconds as u32, inode })
    }

    /// Returns the best division of a tree over this file for the threads of its options.
    pub fn plan(&self, spec: &Spec) -> Plan {
        let threads = self.reader.options.threads;
        let (len, shape, lanes) = (self.len(), spec.shape(), spec.hash().lanes() as u64);
        let leaf = shape.leaf();
        // More threads than may hash: the others wait for the device meanwhile.
        let threads = if self.cold { threads.max(Self::WAITING) } else { threads };
        if let Layout::Found(cuts) = spec.layout() {
            return Plan::scanning(cuts, len, threads);
        }
        // No thread is without work while another has two pieces, but none begins for less than `LEAF` bytes.
        let share = len.div_ceil(threads as u64).max(Self::LEAF);
        let (piece, group) = if leaf > Self::LEAF || matches!(shape, Shape::Flat { .. }) {
            let (fill, mine) = (lanes.max(Self::PIECE / leaf), share.div_ceil(leaf));
            // As many rounds as full groups would take, all of the same size.
            (leaf, mine.div_ceil(mine.div_ceil(fill)))
        } else {
            (shape.batch(Self::PIECE.max(leaf * lanes)).min(share).max(leaf), 1)
        };
        let busy = usize::try_from(len.div_ceil(piece.saturating_mul(group))).unwrap_or(usize::MAX);
        Plan { threads: threads.min(busy).max(1), piece, group: group as usize }
    }

    /// Returns a plan with pieces of `unit` bytes: see [`KeptLayout::unit`](mksum::outboard::KeptLayout::unit).
    pub fn plan_of(&self, spec: &Spec, unit: u64) -> Plan {
        let plan = self.plan(spec);
        let group = if unit == plan.piece { plan.group } else { (Self::PIECE / unit).max(1) as usize };
        if !self.in_order {
            return Plan { piece: unit, group, ..plan };
        }
        // Of several leaves that are long, or differ in length, slices are read in turn.
        let is_one_read = matches!(spec.shape(), Shape::Even { leaf, .. } if leaf <= Self::LEAF);
        Plan { threads: 1, piece: unit, group: if is_one_read { group } else { 1 } }
    }

    /// Reads the bytes `start..end` of the file.
    ///
    /// # Errors
    /// If they cannot be read, or are more than fit into memory.
    pub fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        let mut bytes = zeros(range.end.saturating_sub(range.start), self.input())?;
        self.fill(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `out` with the bytes from offset `start` on.
    ///
    /// # Errors
    /// If a read fails or the file ends before.
    pub fn fill(&self, start: u64, out: &mut [u8]) -> Result<(), Error> {
        let mut pieces = out.chunks_mut(Self::PIECE as usize).zip((start..).step_by(Self::PIECE as usize));
        if self.options().mode == Mode::Buffered {
            return pieces.try_for_each(|(piece, offset)| self.reader.read_through(offset, piece));
        }
        with_buffer(|buffer| {
            pieces.try_for_each(|(piece, offset)| {
                let (read, _) = self.reader.read(offset, piece.len(), piece.len(), buffer)?;
                piece.copy_from_slice(&read.bytes()[..piece.len()]);
                Ok(())
            })
        })
    }

    /// Checks that the open file still has the length and mtime that it had when it was opened. A file that was renamed or replaced
    /// passes: the open one is read on.
    ///
    /// # Errors
    /// If it has others: what was read since may be of two versions.
    pub fn check_content(&self) -> Result<(), Error> {
        let (Some(file), Some(stamp)) = (self.reader.medium.disk(), &self.stamp) else { return Ok(()) };
        let path = &self.reader.input;
        let now = file.metadata().map_err(|error| Error::Open { path: path.clone(), error })?;
        match stamp.content_difference(&now) {
            Some(how) => Err(Error::Changed { path: path.clone(), how }),
            None => Ok(()),
        }
    }

    /// Fills `out` with the bytes from offset `start` on, through the page cache.
    ///
    /// # Errors
    /// If a read fails, or the file has another length than when it was opened, or its path leads to another one.
    pub(crate) fn fill_now(&self, start: u64, out: &mut [u8]) -> Result<(), Error> {
        self.reader.read_through(start, out)?;
        self.check(Times::Any)
    }

    /// Has the system begin to read a part that will be wanted soon, if it is a file of this machine. An empty part is none.
    pub(crate) fn begin_to_read(&self, part: Range<u64>) {
        if let Some(file) = self.reader.medium.disk().filter(|_| !part.is_empty()) {
            advise_soon(file, self.reader.base + part.start, part.end - part.start);
        }
    }

    /// Checks that `other` is the same file with the same length, opened later.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn check_same(&self, other: &File) -> Result<(), Error> {
        let key = |file: &File| file.stamp.as_ref().map(|stamp| (stamp.id, stamp.len));
        match key(self) == key(other) {
            true => Ok(()),
            false => {
                let how = "another file has taken its place, or it has another length".into();
                Err(Error::Changed { path: self.input().clone(), how })
            }
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// If the file is not what it was when it was opened: only without an error are its digests true.
    pub fn finish(self) -> Result<(), Error> {
        self.check(Times::Same)
    }

    fn check(&self, times: Times) -> Result<(), Error> {
        // Each response of a store was of the version that the first one had.
        let (Some(file), Some(stamp)) = (self.reader.medium.disk(), &self.stamp) else { return Ok(()) };
        let input = &self.reader.input;
        let fail = |error| Error::Open { path: input.clone(), error };
        let named = input.file().filter(|path| self.ending == Ending::Path && !is_descriptor(path));
        // The file that is there now: if it is this one, one question to the system answers all.
        let there = named.map(fs::metadata);
        let metadata = match &there {
            Some(Ok(there)) if Stamp::of(there).id == stamp.id => there.clone(),
            _ => file.metadata().map_err(fail)?,
        };
        if !metadata.is_file() {
            return Ok(());
        }
        let there =
            there.map_or(Ok(stamp.id), |there| there.map(|there| Stamp::of(&there).id).map_err(|error| reason(&error)));
        let stamp = match times {
            Times::Same => *stamp,
            Times::Any => Stamp { times: Stamp::of(&metadata).times, ..*stamp },
        };
        match stamp.difference(&metadata, there) {
            Some(how) => Err(Error::Changed { path: input.clone(), how }),
            None => Ok(()),
        }
    }

    /// Reads leaves that follow one another, of one length or a byte more, and appends their digests.
    fn leaves(&self, spec: &Spec, nodes: &[Subtree], role: Role, out: &mut Digests) -> Result<(), Error> {
        let shortest = nodes.iter().map(|node| node.len).min().unwrap_or(0);
        let span = shortest.saturating_mul(nodes.len() as u64);
        if (1..=Self::PIECE).contains(&span) && role == Role::Inner && nodes.iter().all(|node| node.len == shortest) {
            return with_buffer(|buffer| {
                let (messages, _) = self.reader.read(nodes[0].start, span as usize, shortest as usize, buffer)?;
                self.permits.with(|| spec.leaf_digests(nodes[0].start, messages, out));
                Ok(())
            });
        }
        let starts: Vec<_> = nodes.iter().map(|node| node.start).collect();
        let mut leaves = spec.leaf_hasher(nodes);
        self.slices(&starts, shortest, (2 * Self::PIECE, 4 << 10), |slices| leaves.update(slices))?;
        let end = |node: &Subtree| self.bytes(node.start + shortest..node.start + node.len);
        let ends = nodes.iter().map(end).collect::<Result<Vec<_>, Error>>()?;
        let ends: Vec<_> = ends.iter().map(Vec::as_slice).collect();
        leaves.finish(&ends, role, out);
        Ok(())
    }

    /// Reads `len` bytes from each of `starts` on side by side, and hands them to `hash` slice by slice: about `room` bytes of all at a time,
    /// but for the last a multiple of `unit` bytes of each.
    pub(crate) fn slices(
        &self,
        starts: &[u64],
        len: u64,
        (room, unit): (u64, u64),
        mut hash: impl FnMut(Messages<'_>),
    ) -> Result<(), Error> {
        let most = (room / starts.len() as u64).min(Self::PIECE).max(unit) / unit * unit;
        let mut done = 0;
        with_buffer(|buffer| {
            with_buffer(|spare| {
                while done < len {
                    let slice = most.min(len - done) as usize;
                    let offsets = starts.iter().map(|start| start + done);
                    let slices = self.reader.gather(offsets, slice, buffer, spare)?;
                    self.permits.with(|| hash(slices));
                    done += slice as u64;
                }
                Ok(())
            })
        })
    }
}

impl Subtrees for File {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        let spec = &self.format(spec);
        let shape = spec.shape();
        if node.level == 0 && !(1..=Self::LEAF).contains(&node.len) {
            let mut digest = Digests::new(spec.hash().size());
            self.leaves(spec, &[node], role, &mut digest)?;
            return Ok(digest.get(0));
        }
        if node.level > 0 && (node.len > shape.batch(Self::LARGEST) || !matches!(shape, Shape::Even { .. })) {
            return Ok(None);
        }
        with_buffer(|buffer| {
            let leaf = if node.level == 0 { node.len } else { shape.leaf() } as usize;
            let (leaves, tail) = self.reader.read(node.start, node.len as usize, leaf, buffer)?;
            Ok(Some(self.permits.with(|| match node.level {
                0 => spec.leaf_digest(node.start, leaves.get(0), role),
                _ => spec.subtree_digest(node, role, leaves, tail),
            })))
        })
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), mksum::Error> {
        // Halving makes leaves of two lengths a byte apart; a last leaf may be much shorter.
        let most = |level| if level == 0 { 1 } else { 0 };
        let alike = |a: &Subtree, b: &Subtree| a.level == b.level && a.len.abs_diff(b.len) <= most(a.level);
        for run in nodes.chunk_by(alike) {
            match run {
                [node, ..] if node.level == 0 => self.leaves(spec, run, Role::Inner, out)?,
                [node, _, ..] if self.is_read_together(spec.shape(), *node, run.len()) => {
                    self.subtrees(spec, run, out)?;
                }
                nodes => {
                    for &node in nodes {
                        out.push(spec.join(self, node, Role::Inner)?);
                    }
                }
            }
        }
        Ok(())
    }

    fn scan(&self, spec: &Spec, part: Part) -> Result<Option<Found>, mksum::Error> {
        let Layout::Found(cuts) = spec.layout() else { return Ok(None) };
        let mut scan = PartScan::new(cuts, part);
        with_buffer(|buffer| {
            let mut at = part.start;
            while at < part.end && !scan.is_done() {
                let len = Self::PIECE.min(part.end - at) as usize;
                let (bytes, _) = self.reader.read(at, len, len, buffer)?;
                self.permits.with(|| scan.update(bytes.get(0)));
                at += len as u64;
            }
            if part.wanted == Wanted::First {
                // Other scans read these bytes too.
                self.options().meter.take_back(at - part.start);
            }
            Ok(Some(self.permits.with(|| scan.finish())))
        })
    }
}

impl File {
    /// Whether `count` subtrees like `node` are full, and few enough bytes for one read.
    fn is_read_together(&self, shape: Shape, node: Subtree, count: usize) -> bool {
        let bytes = node.len.saturating_mul(count as u64);
        matches!(shape, Shape::Even { .. }) && bytes <= Self::LARGEST && shape.is_perfect(node)
    }

    /// Reads equal subtrees that follow one another at once, and appends their digests.
    fn subtrees(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        let (first, leaf) = (nodes[0], spec.shape().leaf());
        with_buffer(|buffer| {
            let len = first.len as usize * nodes.len();
            let (leaves, _) = self.reader.read(first.start, len, leaf as usize, buffer)?;
            self.permits.with(|| spec.subtree_digests(first.start, first.level, leaves, out));
            Ok(())
        })
    }
}

/// `len` zero bytes, for a file at `path`.
///
/// # Errors
/// If memory has no room for them.
pub(crate) fn zeros(len: u64, input: &Input) -> Result<Vec<u8>, Error> {
    let refuse = || Error::refused(input, Refusal::Memory(len));
    let len = usize::try_from(len).map_err(|_| refuse())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| refuse())?;
    bytes.resize(len, 0);
    Ok(bytes)
}
