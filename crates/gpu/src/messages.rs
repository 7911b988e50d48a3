//! The lanes contract on a device: the digests of many messages of equal length that lie one after another.

use crate::call::{Arg, Buffer, Kernel, Queue};
use crate::framing::Framing;
use crate::source::{self, Kind};
use crate::{Class, Device, Error};
use mksum::Hash;
use mksum_lanes::blake3::CHUNK;
use std::time::Duration;

/// The bytes before the first message and after the last that a kernel may read, and then masks away.
pub(crate) const GUARD: usize = 1024;

/// The longest prefix.
pub(crate) const PREFIX: usize = GUARD / 2;

/// Messages in a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// Where they lie.
    pub buffer: &'a Buffer,
    /// The first one's first byte.
    pub first: usize,
    /// The distance from one to the next, in bytes.
    pub stride: usize,
    /// How many there are.
    pub count: usize,
}

/// What of BLAKE3's tree a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it; of other hashes the only one.
    Whole,
    /// The chunk of this number; the next message is the next chunk.
    Chunk(u64),
}

/// Messages of one length and prefix, hashed on one queue.
#[derive(Debug)]
pub(crate) struct Hashing {
    hash: Hash,
    kernel: Kernel,
    /// Of BLAKE3.
    rows: Option<Kernel>,
    framing: Framing,
    edges: Buffer,
    prefix: usize,
    /// The messages of a work-item, and the work-items of a group.
    lanes: usize,
    group: usize,
}

/// BLAKE3's mark of a root.
const ROOT: u32 = 8;

impl Hashing {
    /// Prepares to hash messages of `len` bytes after a prefix; `None` if no kernel does.
    pub fn new(device: &Device, queue: &Queue, hash: Hash, prefix: &[u8], len: usize) -> Result<Option<Self>, Error> {
        let framing = Framing::new(hash, prefix, len as u64).filter(|_| source::has(hash) && prefix.len() <= PREFIX);
        let Some(framing) = framing else { return Ok(None) };
        let kernel = device.kernel(hash, Kind::Messages, "messages")?;
        let rows = match hash {
            Hash::Blake3 => Some(device.kernel(hash, Kind::Messages, "rows")?),
            _ => None,
        };
        let edges = Buffer::new(&device.context, framing.edges.len().max(16))?;
        if !framing.edges.is_empty() {
            queue.write(&edges, 0, &framing.edges)?;
        }
        let group = if device.info.class == Class::Cpu { 1 } else { kernel.most_items()?.clamp(1, 64) };
        let lanes = source::side_by_side(hash, device.info.lanes);
        Ok(Some(Hashing { hash, kernel, rows, framing, edges, prefix: prefix.len(), lanes, group }))
    }

    /// The messages that are hashed for `count`: those after them lie in the buffer, and their digests too.
    pub fn padded(&self, count: usize) -> usize {
        count.next_multiple_of(self.lanes * self.group)
    }

    /// BLAKE3's chunks of a message; 1 of other hashes.
    pub fn chunks(&self) -> usize {
        match self.hash {
            Hash::Blake3 => (self.framing.blocks as usize).div_ceil(CHUNK / self.hash.block_size()),
            _ => 1,
        }
    }

    /// The bytes of a buffer for `count` messages from byte [`GUARD`] on.
    pub fn room(&self, count: usize, stride: usize) -> usize {
        let blocks = self.framing.blocks as usize * self.hash.block_size();
        GUARD + self.padded(count) * stride + blocks.saturating_sub(stride) + GUARD
    }

    /// The bytes of a buffer for the digests of `count` messages from byte [`GUARD`] on, and of their chunks.
    pub fn digests_room(&self, count: usize) -> usize {
        2 * GUARD + self.padded(count) * self.chunks() * self.hash.size()
    }

    /// Writes the digests of the messages to `out` from byte [`GUARD`] on; `spare` is as long. Returns which of the two
    /// has them, and how long the kernels ran.
    pub fn run<'a>(
        &mut self,
        queue: &Queue,
        rows: Rows<'_>,
        part: Part,
        [out, spare]: [&'a Buffer; 2],
    ) -> Result<([&'a Buffer; 2], Duration), Error> {
        let chunks = self.chunks();
        let (number, step, flags) = match part {
            Part::Whole => (0, 0, if chunks == 1 { ROOT } else { 0 }),
            Part::Chunk(number) => (number, 1, 0),
        };
        let count = self.padded(rows.count);
        assert!(
            rows.first >= GUARD && self.room(count, rows.stride) - 2 * GUARD <= rows.buffer.len() - rows.first - GUARD
        );
        assert!(self.digests_room(count) <= out.len() && (chunks == 1 || self.digests_room(count) <= spare.len()));
        let (global, local) = ([count / self.lanes, chunks], [self.group, 1]);
        let args = [
            Arg::Buffer(rows.buffer),
            Arg::U64((rows.first - self.prefix) as u64),
            Arg::U64(rows.stride as u64),
            Arg::Buffer(out),
            Arg::U64(GUARD as u64),
            Arg::U32(self.framing.blocks),
            Arg::U32(self.framing.lead),
            Arg::U32(self.framing.trail),
            Arg::Buffer(&self.edges),
            Arg::U32(self.framing.last),
            Arg::U64(number),
            Arg::U32(step),
            Arg::U32(flags),
        ];
        let mut events = vec![queue.run(&mut self.kernel, &args, global, local)?];
        let (mut nodes, mut buffers) = (chunks, [out, spare]);
        while let (Some(kernel), 2..) = (&mut self.rows, nodes) {
            let [below, above] = buffers;
            let at = Arg::U64(GUARD as u64);
            let args = [Arg::Buffer(below), Arg::Buffer(above), at, Arg::U32(nodes as u32)];
            nodes = nodes.div_ceil(2);
            events.push(queue.run(kernel, &args, [count / self.lanes, nodes], local)?);
            buffers = [above, below];
        }
        let mut took = Duration::ZERO;
        for event in events {
            took += event.took()?;
        }
        Ok((buffers, took))
    }
}
