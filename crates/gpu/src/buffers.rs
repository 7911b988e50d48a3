//! Buffers of an open device, and node trees from one buffer into another: neither leaves nor nodes cross to the host.

use crate::call::{Buffer, Queue, Recorder};
use crate::source::{Kind, Mode};
use crate::{Device, Error};
use mksum::Hash;
use mksum::node_tree::{CpuLanes, Merklize, NodeTree, NodeTreeError, Timings};
use std::sync::Arc;

/// Memory of an open device, allocated by [`Device::buffer`]. It is released when it is dropped, which may be after its device.
#[derive(Debug)]
pub struct DeviceBuffer {
    /// For its transfers, and for trees whose nodes it takes.
    queue: Arc<Queue>,
    buffer: Buffer,
}

impl DeviceBuffer {
    /// Returns the length, in bytes.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes `bytes` to the buffer from byte `at` on, and returns when they are there.
    ///
    /// # Errors
    /// [`Error::Range`] if the bytes do not fit, and then nothing is written; else if the device fails.
    pub fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), Error> {
        self.queue.submit(|batch| batch.write(&self.buffer, at, bytes)).map(drop)
    }

    /// Fills `bytes` from the buffer, from byte `at` on. Bytes that were never written have any value.
    ///
    /// # Errors
    /// [`Error::Range`] if the buffer has fewer bytes, and then nothing is read; else if the device fails.
    pub fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.queue.submit(|batch| batch.read(&self.buffer, at, bytes)).map(drop)
    }

    fn is_of(&self, device: &Device) -> bool {
        self.queue.is_of(&device.context)
    }
}

impl Device {
    /// Allocates a buffer of `len` bytes on this device. Its bytes have any value until they are written.
    ///
    /// # Errors
    /// [`Error::Memory`] if the device has no buffers of that length; else if the device fails, for instance because other buffers take its
    /// memory.
    pub fn buffer(&self, len: usize) -> Result<DeviceBuffer, Error> {
        let offered = self.info.allocation.min(self.info.memory).min(self.options.memory);
        if len as u64 > offered {
            return Err(Error::Memory { needed: len as u64, offered });
        }
        Ok(DeviceBuffer { queue: self.queue()?, buffer: Buffer::new(&self.context, len)? })
    }

    /// Writes the nodes over all of `leaves` to `nodes`, every byte of it, as [`Merklize::merklize`] does on the host: place 0 is zero, the
    /// root is at 1, and the children of node i are at 2i and 2i + 1 ([`NodeTree`]). Returns when the commands ran.
    ///
    /// Leaves and nodes stay on the device. At most 16 digests cross to the host and back: a device whose work-items hash several
    /// messages at once leaves the highest levels to it.
    ///
    /// # Errors
    /// If the hash has no node trees, the leaves are not 2^k of its digests, k ≥ 1, or `nodes` is not as long as `leaves`;
    /// [`Error::OtherDevice`] if a buffer is not of this device; or if the device fails: then the content of `nodes` is not specified.
    /// [`Options::fallback`](crate::Options::fallback) does not apply.
    pub fn merklize_buffer(
        &self,
        hash: Hash,
        leaves: &DeviceBuffer,
        nodes: &mut DeviceBuffer,
    ) -> Result<Timings, NodeTreeError> {
        let tree = NodeTree::over(hash, leaves.len())?;
        if nodes.len() != leaves.len() {
            return Err(NodeTreeError::Nodes { found: nodes.len(), expected: leaves.len() });
        }
        if !leaves.is_of(self) || !nodes.is_of(self) {
            return Err(Error::OtherDevice.into());
        }
        Ok(self.tree_of_buffers(tree, leaves, nodes)?)
    }

    fn tree_of_buffers(
        &self,
        tree: NodeTree,
        leaves: &DeviceBuffer,
        nodes: &mut DeviceBuffer,
    ) -> Result<Timings, Error> {
        let (hash, size, queue) = (tree.hash(), tree.hash().size(), &nodes.queue);
        let levels = self.levels(queue, hash, Kind::Pairs(Mode::Message))?;
        let (parents, least) = (tree.leaves() / 2, levels.least());
        let mut recorder = Recorder::default();
        let ((), ran) = queue.submit(|batch| levels.run(batch, (&leaves.buffer, 0), &nodes.buffer, parents))?;
        recorder.add(ran)?;
        // The host computes what is above this level: the device's highest, or the leaves if there are too few for the device.
        let (buffer, at, count) = match parents >= least {
            true => (&nodes.buffer, least * size, least),
            false => (&leaves.buffer, 0, tree.leaves()),
        };
        // With place 0, which is zero: all there is above a root.
        let mut above = vec![0; count * size];
        if count > 1 {
            let mut level = vec![0; count * size];
            let ((), ran) = queue.submit(|batch| batch.read(buffer, at, &mut level))?;
            recorder.add(ran)?;
            let done = CpuLanes { threads: 1 }.merklize(hash, &level, &mut above);
            done.expect("2^k digests of a hash with node trees");
        }
        let ((), ran) = queue.submit(|batch| batch.write(&nodes.buffer, 0, &above))?;
        recorder.add(ran)?;
        Ok(recorder.timings())
    }
}
