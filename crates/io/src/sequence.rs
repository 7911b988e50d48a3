//! Bytes that come in order and only once, as a source of subtrees.

use crate::file::source;
use crate::{Error, Options};
use mksum::{Format, Memory, Messages, NodeHash, Role, Shape, Source, Subtree, Subtrees};
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The bytes of an input from some offset on, read once and in order: for a join that asks for nothing before them.
///
/// Holds at most [`Sequence::BATCH`] bytes, however long the leaves are.
#[derive(Debug)]
pub struct Sequence<R> {
    path: PathBuf,
    options: Options,
    state: Mutex<State<R>>,
}

#[derive(Debug)]
struct State<R> {
    reader: R,
    /// The offset in the input of the next byte.
    position: u64,
    buffer: Vec<u8>,
}

impl<R: Read + Send> Sequence<R> {
    /// The bytes that are read at once, at the most.
    pub const BATCH: u64 = 1 << 20;

    /// The bytes of an input from offset `start` on; `path` names them in errors.
    pub fn new(path: PathBuf, start: u64, reader: R, options: &Options) -> Self {
        let state = State { reader, position: start, buffer: Vec::new() };
        Sequence { path, options: options.clone(), state: Mutex::new(state) }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// If there are more bytes than were asked for, or reading on fails.
    pub fn finish(self) -> Result<(), Error> {
        let State { mut reader, position: offset, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let error = loop {
            match reader.read(&mut [0]) {
                Ok(0) => return Ok(()),
                Ok(_) => break io::Error::other("there are more bytes than expected"),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break error,
            }
        };
        Err(Error::Read { path: self.path, offset, error })
    }

    fn fill(&self, state: &mut State<R>, len: u64) -> Result<(), mksum::Error> {
        state.buffer.resize(len as usize, 0);
        if let Some(throttle) = &self.options.throttle {
            throttle.wait(len);
        }
        let mut done = 0;
        while done < state.buffer.len() {
            let offset = state.position + done as u64;
            let error = match state.reader.read(&mut state.buffer[done..]) {
                Ok(0) => io::Error::new(ErrorKind::UnexpectedEof, "the bytes end here"),
                Ok(more) => {
                    done += more;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            return Err(source(Error::Read { path: self.path.clone(), offset, error }));
        }
        state.position += len;
        self.options.meter.add(len);
        Ok(())
    }
}

impl<N: NodeHash, R: Read + Send> Subtrees<N> for Sequence<R> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, mksum::Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let even = matches!(format.shape, Shape::Even { .. });
        if node.start != state.position || (node.level > 0 && !(even && node.len <= Self::BATCH)) {
            return Ok(None);
        }
        if node.len <= Self::BATCH {
            self.fill(&mut state, node.len)?;
            return format.join(&Memory::from(node.start, &state.buffer), node, role).map(Some);
        }
        let mut leaf = format.nodes.open_leaves(&[node.start]);
        while state.position < node.end() {
            let len = Self::BATCH.min(node.end() - state.position);
            self.fill(&mut state, len)?;
            format.nodes.slices(&mut leaf, Messages::one(&state.buffer));
        }
        let mut digest = Vec::new();
        format.nodes.close_leaves(leaf, &[&[]], role, &mut digest);
        Ok(digest.pop())
    }
}

impl<R: Read + Send> Source for Sequence<R> {
    fn subtrees<N: NodeHash>(&self) -> &(impl Subtrees<N> + Sync) {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum::{Proof, Spec, Trusted};

    #[test]
    fn it_proves_what_memory_does() {
        let input: Vec<u8> = (0..5_000_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        for format in ["rfc6962:sha256:3MiB", "rfc6962:sha256:64KiB", "blake3", "btv2", "s3:md5:1MiB", "mtsum"] {
            let spec: Spec = format.parse().unwrap();
            let trusted = Trusted::from(&spec.root(&input).unwrap());
            let range = 100_000..4_100_001;
            let proof = Proof::of_range(&spec, &input, range.clone()).unwrap();
            let (before, after) = proof.edges();
            let start = range.start - before.len() as u64;
            let bytes = before.chain(&input[range.start as usize..range.end as usize]).chain(after);
            let sequence = Sequence::new("-".into(), start, bytes, &Options::new());
            proof.verify_from(&trusted, &sequence).unwrap_or_else(|error| panic!("{format}: {error}"));
            let short = before.chain(&input[range.start as usize..range.end as usize - 1]);
            let sequence = Sequence::new("-".into(), start, short, &Options::new());
            assert!(proof.verify_from(&trusted, &sequence).is_err(), "{format}");
        }
    }
}
