//! Bytes that come in order and only once, as a source of subtrees.

use crate::platform::uninterrupted;
use crate::{Error, Input, Options, Refusal};
use mksum::{Digest, Memory, Messages, Role, Shape, Spec, Subtree, Subtrees};
use std::io::{ErrorKind, Read};
use std::sync::{Mutex, PoisonError};

/// The bytes of an input from some offset on, read once and in order: for a join that asks for nothing before them.
///
/// Holds at most [`Sequence::BATCH`] bytes, however long the leaves are.
#[derive(Debug)]
pub struct Sequence<R> {
    path: Input,
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
    pub fn new(path: Input, start: u64, reader: R, options: &Options) -> Self {
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
        match uninterrupted(|| reader.read(&mut [0])) {
            Ok(0) => Ok(()),
            Ok(_) => Err(Error::refused(&self.path, Refusal::Longer(offset))),
            Err(error) => Err(Error::Read { path: self.path, offset, error }),
        }
    }

    fn fill(&self, state: &mut State<R>, len: u64) -> Result<(), Error> {
        state.buffer.resize(len as usize, 0);
        if let Some(throttle) = &self.options.throttle {
            throttle.wait(len);
        }
        let mut done = 0;
        while done < state.buffer.len() {
            let error = match uninterrupted(|| state.reader.read(&mut state.buffer[done..])) {
                Ok(0) => ErrorKind::UnexpectedEof.into(),
                Ok(more) => {
                    done += more;
                    continue;
                }
                Err(error) => error,
            };
            return Err(Error::Read { path: self.path.clone(), offset: state.position + done as u64, error });
        }
        state.position += len;
        self.options.meter.add(len);
        Ok(())
    }
}

impl<R: Read + Send> Subtrees for Sequence<R> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let even = matches!(spec.shape(), Shape::Even { .. });
        if node.start != state.position || (node.level > 0 && !(even && node.len <= Self::BATCH)) {
            return Ok(None);
        }
        if node.len <= Self::BATCH {
            self.fill(&mut state, node.len)?;
            return spec.join(&Memory::from(node.start, &state.buffer), node, role).map(Some);
        }
        let mut leaf = spec.leaf_hasher(&[node]);
        while state.position < node.end() {
            let len = Self::BATCH.min(node.end() - state.position);
            self.fill(&mut state, len)?;
            leaf.update(Messages::one(&state.buffer));
        }
        Ok(Some(leaf.finish_one(role)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum::Spec;
    use mksum::proof::{Proof, Trusted};

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
            let sequence = Sequence::new(Input::Stdin, start, bytes, &Options::new());
            proof.verify_from(&trusted, &sequence).unwrap_or_else(|error| panic!("{format}: {error}"));
            let short = before.chain(&input[range.start as usize..range.end as usize - 1]);
            let sequence = Sequence::new(Input::Stdin, start, short, &Options::new());
            assert!(proof.verify_from(&trusted, &sequence).is_err(), "{format}");
        }
    }
}
