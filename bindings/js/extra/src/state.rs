//! The hashes, as states that take bytes and are read at any time.

use crate::shake::Shake;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What a hash is begun with; what it does not have is empty.
pub struct Options<'a> {
    /// The length of the digest, in bytes, where it is fixed in advance: BLAKE2.
    pub length: usize,
    pub key: &'a [u8],
    pub salt: &'a [u8],
    /// BLAKE2's personal string, or BLAKE3's context.
    pub personal: &'a [u8],
}

/// A hash that takes bytes.
#[derive(Clone)]
pub enum State {
    Blake3(Box<blake3::Hasher>),
    Blake2b(Box<blake2b_simd::State>),
    Blake2s(Box<blake2s_simd::State>),
    Shake(Box<Shake>),
}

/// The hash with a number: BLAKE3 (0), as a key derivation (1), BLAKE2b (2), BLAKE2s (3), SHAKE128 (4), SHAKE256 (5).
///
/// `None` if an option has a length that the hash does not allow.
pub fn begin(hash: u32, options: &Options<'_>) -> Option<State> {
    let Options { length, key, salt, personal } = *options;
    Some(match hash {
        0 if key.is_empty() => State::Blake3(Box::default()),
        0 => State::Blake3(Box::new(blake3::Hasher::new_keyed(key.try_into().ok()?))),
        1 => State::Blake3(Box::new(blake3::Hasher::new_derive_key(core::str::from_utf8(personal).ok()?))),
        2 if fits(options, 64, 16) => {
            let mut parameters = blake2b_simd::Params::new();
            State::Blake2b(Box::new(parameters.hash_length(length).key(key).salt(salt).personal(personal).to_state()))
        }
        3 if fits(options, 32, 8) => {
            let mut parameters = blake2s_simd::Params::new();
            State::Blake2s(Box::new(parameters.hash_length(length).key(key).salt(salt).personal(personal).to_state()))
        }
        4 => State::Shake(Box::new(Shake::new128())),
        5 => State::Shake(Box::new(Shake::new256())),
        _ => return None,
    })
}

/// Whether BLAKE2 takes these options: a digest and a key of at most so many bytes, a salt and a personal string of as many as the second
/// number.
fn fits(Options { length, key, salt, personal }: &Options<'_>, most: usize, short: usize) -> bool {
    (1..=most).contains(length) && key.len() <= most && salt.len() <= short && personal.len() <= short
}

impl State {
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            State::Blake3(state) => {
                state.update(bytes);
            }
            State::Blake2b(state) => {
                state.update(bytes);
            }
            State::Blake2s(state) => {
                state.update(bytes);
            }
            State::Shake(state) => state.update(bytes),
        }
    }

    /// The digest of what was taken so far: `length` bytes from `offset` on, where the hash extends. `None` if memory has no room.
    pub fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        match self {
            State::Blake3(state) => {
                let mut bytes = zeros(length)?;
                let mut reader = state.finalize_xof();
                reader.set_position(offset);
                reader.fill(&mut bytes);
                Some(bytes)
            }
            State::Blake2b(state) => Some(state.finalize().as_bytes().into()),
            State::Blake2s(state) => Some(state.finalize().as_bytes().into()),
            State::Shake(state) => {
                let mut bytes = zeros(length)?;
                Shake::clone(state).read(offset, &mut bytes);
                Some(bytes)
            }
        }
    }
}

fn zeros(len: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    Some(bytes)
}
