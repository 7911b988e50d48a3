//! Digests on a device of many messages of equal length at a constant stride: the contract of the lanes.

use crate::Error;
use crate::call::{Arg, Batch, Buffer, Kernel};
use crate::framing::Framing;
use mksum::Hash;
use mksum_lanes::blake3::{CHUNK, flags::ROOT};

/// The bytes before the first message and after the last that a kernel may read and then mask out.
pub(crate) const GUARD: usize = 1024;

/// The longest prefix, in bytes.
pub(crate) const PREFIX: usize = GUARD / 2;

/// Messages in a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceMessages<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// The offset of the first message, in bytes.
    pub first: usize,
    /// The distance between the starts of consecutive messages, in bytes.
    pub stride: usize,
    /// The number of messages.
    pub count: usize,
}

/// The part of a BLAKE3 input that a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole input. Other hashes have only this part.
    Whole,
    /// The chunk with this number; the next message is the next chunk.
    Chunk(u64),
}

/// Returns the number of chunks of a BLAKE3 message.
pub(crate) fn chunks(framing: &Framing) -> usize {
    (framing.blocks as usize).div_ceil(CHUNK / Hash::Blake3.block_size())
}

/// The kernels and buffers that hash messages of one length and prefix on one queue.
#[derive(Debug)]
pub(crate) struct Hashing {
    pub hash: Hash,
    pub kernel: Kernel,
    /// The kernel for BLAKE3's parents; `None` for other hashes.
    pub parents: Option<Kernel>,
    pub framing: Framing,
    pub edges: Buffer,
    pub prefix: usize,
    /// The messages per work-item.
    pub lanes: usize,
    /// The work-items per group.
    pub group: usize,
}

impl Hashing {
    /// Rounds `count` up to the number of messages that are hashed. Buffers have room for the extra ones and their digests.
    pub fn padded(&self, count: usize) -> usize {
        count.next_multiple_of(self.lanes * self.group)
    }

    /// Returns the number of BLAKE3 chunks of a message; 1 for other hashes.
    pub fn chunks(&self) -> usize {
        match self.hash {
            Hash::Blake3 => chunks(&self.framing),
            _ => 1,
        }
    }

    /// Returns the length of a buffer for `count` messages that start at byte [`GUARD`].
    pub fn room(&self, count: usize, stride: usize) -> usize {
        let blocks = self.framing.blocks as usize * self.hash.block_size();
        GUARD + self.padded(count) * stride + blocks.saturating_sub(stride) + GUARD
    }

    /// Returns the length of a buffer for the digests of `count` messages and their chunks that start at byte [`GUARD`].
    pub fn digests_room(&self, count: usize) -> usize {
        2 * GUARD + self.padded(count) * self.chunks() * self.hash.size()
    }

    /// Hashes the messages into one of two buffers of equal length, starting at byte [`GUARD`]. Returns the buffers, the one
    /// with the digests first.
    pub fn run<'a>(
        &'a self,
        batch: &Batch<'a>,
        messages: DeviceMessages<'a>,
        part: Part,
        [out, spare]: [&'a Buffer; 2],
    ) -> Result<[&'a Buffer; 2], Error> {
        let chunks = self.chunks();
        let (number, step, flags) = match part {
            Part::Whole => (0, 0, if chunks == 1 { ROOT } else { 0 }),
            Part::Chunk(number) => (number, 1, 0),
        };
        let DeviceMessages { buffer, first, stride, count } = messages;
        let count = self.padded(count);
        assert!(first >= GUARD && self.room(count, stride) - 2 * GUARD <= buffer.len() - first - GUARD);
        assert!(self.digests_room(count) <= out.len() && (chunks == 1 || self.digests_room(count) <= spare.len()));
        let (global, local) = ([count / self.lanes, chunks], [self.group, 1]);
        let args = [
            Arg::Buffer(buffer),
            Arg::U64((first - self.prefix) as u64),
            Arg::U64(stride as u64),
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
        batch.run(&self.kernel, &args, global, local)?;
        let (mut nodes, mut buffers) = (chunks, [out, spare]);
        while let (Some(kernel), 2..) = (&self.parents, nodes) {
            let [below, above] = buffers;
            let at = Arg::U64(GUARD as u64);
            let args = [Arg::Buffer(below), Arg::Buffer(above), at, Arg::U32(nodes as u32)];
            nodes = nodes.div_ceil(2);
            batch.run(kernel, &args, [count / self.lanes, nodes], local)?;
            buffers = [above, below];
        }
        Ok(buffers)
    }
}
