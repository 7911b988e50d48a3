//! The state of a message.

use crate::algorithm::{Algorithm, Message};
use alloc::vec::Vec;

/// The length of the check at the end of a saved state.
const CHECK: usize = 8;

/// The state of a message, with or without a key.
#[derive(Clone)]
pub struct State {
    message: Message,
    /// The outer hash of HMAC after its padded key.
    outer: Option<Message>,
}

impl State {
    /// Begins a message without a key.
    pub fn plain(algorithm: Algorithm) -> Self {
        State { message: algorithm.begin(&[]), outer: None }
    }

    /// Begins an HMAC message with a key of any length (RFC 2104, 2).
    pub fn keyed(algorithm: Algorithm, key: &[u8]) -> Self {
        let block = algorithm.block_size();
        let mut padded = [0; 144];
        match key.len() <= block {
            true => padded[..key.len()].copy_from_slice(key),
            false => algorithm.digest(key, &mut padded),
        }
        let keyed = |mask: u8| {
            let key = padded.map(|byte| byte ^ mask);
            algorithm.begin(&key[..block])
        };
        State { message: keyed(0x36), outer: Some(keyed(0x5c)) }
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        self.message.append(bytes);
    }

    /// Writes the digest to the first bytes of `out`, and returns its size.
    pub fn finish(self, out: &mut [u8]) -> usize {
        let size = self.message.finish(out);
        if let Some(mut outer) = self.outer {
            outer.append(&out[..size]);
            outer.finish(out);
        }
        size
    }

    /// Returns the state as bytes: `header`, the state, and a check of both.
    ///
    /// The check is the beginning of their digest. With a key it is that of the outer hash, so that only a state with the same key, which
    /// the bytes do not have, takes them.
    pub fn save(&mut self, header: &[u8]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        self.message.save(&mut bytes);
        let check = self.check(&bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    /// Continues the message that [`save`](State::save) saved with a header of so many bytes. `None`, and this state stays, if the bytes
    /// are not what it returned, or if it had another key.
    pub fn load(&mut self, header: usize, bytes: &[u8]) -> Option<()> {
        let (saved, check) = bytes.split_last_chunk()?;
        if self.check(saved) != *check {
            return None;
        }
        let mut message = self.message.algorithm().begin(&[]);
        message.load(saved.get(header..)?).then(|| self.message = message)
    }

    fn check(&self, bytes: &[u8]) -> [u8; CHECK] {
        let mut digest = [0; 64];
        let mut message = self.outer.clone().unwrap_or_else(|| self.message.algorithm().begin(&[]));
        message.append(bytes);
        message.finish(&mut digest);
        *digest.first_chunk().expect("a digest is longer")
    }
}
