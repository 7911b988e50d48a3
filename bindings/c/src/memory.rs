//! Roots of bytes in memory on all cores, with progress and cancel.

use crate::failure::{Status, status};
use crate::inputs;
use crate::options::{Call, CallOptions};
use crate::roots::{no_root, spec, write};
use mksum::{Digest, Digests, Error, Memory, Plan, Role, Root, Spec, Subtree, Subtrees};
use mksum_io::Options;
use std::ffi::c_char;

/// `mksum_root_of_memory`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_memory(
    format: *const c_char,
    bytes: *const u8,
    len: usize,
    options: *const CallOptions,
    text: *mut c_char,
    room: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, bytes) = unsafe { (spec(format)?, inputs::bytes(bytes, len, "bytes")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (mut call, text) = unsafe { (Call::new(options)?, inputs::room(text.cast(), room, bytes, "text")?) };
        call.expect(len as u64);
        let root = call.run(|options| Watched { memory: Memory::new(bytes), options }.root(&spec, bytes))?;
        write(&root.map_err(|error| no_root(&spec, &error))?, text)
    })
}

/// Bytes in memory, with the call's meter, which counts them, and its stop, which ends the work.
struct Watched<'a> {
    memory: Memory<'a>,
    options: &'a Options,
}

impl Watched<'_> {
    /// The bytes of a single leaf that are hashed before the meter tells of them.
    const STEP: usize = 1 << 20;

    fn root(&self, spec: &Spec, bytes: &[u8]) -> Result<Root, Error> {
        let len = bytes.len() as u64;
        match spec.frontier() {
            // One leaf, such as a plain sum, has no parts that threads could share.
            Ok(mut frontier) if len <= spec.leaf() => {
                for piece in bytes.chunks(Self::STEP) {
                    self.check()?;
                    frontier.update(piece)?;
                    self.options.meter.add(piece.len() as u64);
                }
                frontier.root()
            }
            _ => spec.root_parallel(self, len, &Plan::in_memory(spec, len, self.options.threads)),
        }
    }

    fn check(&self) -> Result<(), Error> {
        if self.options.stop.is_stopped() { Err(Error::source("stopped")) } else { Ok(()) }
    }
}

impl Subtrees for Watched<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        self.check()?;
        let digest = self.memory.digest(spec, node, role)?;
        self.options.meter.add(digest.map_or(0, |_| node.len));
        Ok(digest)
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        self.check()?;
        self.memory.digests(spec, nodes, out)?;
        self.options.meter.add(nodes.iter().map(|node| node.len).sum());
        Ok(())
    }
}
