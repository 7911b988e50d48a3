//! The state of a message.

use crate::algorithm::{Algorithm, Message};

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
}
