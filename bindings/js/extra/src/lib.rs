//! The WebAssembly module of the entry `mksum/extra`: the functions that TypeScript calls.
//!
//! JavaScript asks for [`room`], writes its bytes there, and calls a function, which finds them and leaves its answer in the same place.
//! The bytes are erased when they are read: they may be secrets. A number below zero is a refusal, which TypeScript has ruled out before.
#![cfg_attr(target_family = "wasm", no_std)]
#![warn(missing_docs)]

extern crate alloc;

mod shake;
mod state;

use alloc::vec;
use alloc::vec::Vec;
use argon2::{Algorithm, Argon2, AssociatedData, ParamsBuilder, Version};
use core::cell::RefCell;
use core::mem;
use mksum_js_host::{OneThread, Pool, exports};
use state::{Options, State};

static BYTES: OneThread<RefCell<Vec<u8>>> = OneThread(RefCell::new(Vec::new()));
static STATES: OneThread<RefCell<Pool<State>>> = OneThread(RefCell::new(Pool::new()));

/// The longest memory that is kept from call to call, in bytes.
const KEPT: usize = 1 << 16;

/// Takes the first `len` bytes that JavaScript wrote, and gives back the memory of a long input.
fn taken<T>(len: u32, act: impl FnOnce(&[u8]) -> T) -> T {
    let mut bytes = mem::take(&mut *BYTES.0.borrow_mut());
    let len = bytes.len().min(len as usize);
    let result = act(&bytes[..len]);
    bytes[..len].fill(0);
    if bytes.len() <= KEPT {
        *BYTES.0.borrow_mut() = bytes;
    }
    result
}

/// Splits the next `len` bytes off.
fn cut<'a>(bytes: &mut &'a [u8], len: u32) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(len as usize)?;
    *bytes = tail;
    Some(head)
}

/// Leaves an answer; its length.
fn answered(answer: Option<Vec<u8>>) -> i32 {
    let Some(answer) = answer else { return -1 };
    let len = answer.len() as i32;
    *BYTES.0.borrow_mut() = answer;
    len
}

fn states<T>(act: impl FnOnce(&mut Pool<State>) -> T) -> T {
    act(&mut STATES.0.borrow_mut())
}

exports! {
    /// The place for `len` bytes; null if memory has no room for them.
    fn room(len: u32) -> *mut u8 {
        let bytes = &mut *BYTES.0.borrow_mut();
        let len = len as usize;
        if bytes.len() < len {
            *bytes = Vec::new();
            if bytes.try_reserve_exact(len.max(KEPT)).is_err() {
                return core::ptr::null_mut();
            }
            bytes.resize(len.max(KEPT), 0);
        }
        bytes.as_mut_ptr()
    }

    /// Where the last answer is.
    fn answer() -> *const u8 {
        BYTES.0.borrow().as_ptr()
    }

    /// Erases an answer of `len` bytes.
    fn forget_answer(len: u32) {
        taken(len, |_| ());
    }

    /// A new state of the hash with this number (`state.rs`), from a key, a salt and a personal string or context, one after the other.
    fn begin(hash: u32, length: u32, key: u32, salt: u32, personal: u32) -> i32 {
        let total = key.saturating_add(salt).saturating_add(personal);
        let state = taken(total, |mut bytes| {
            let key = cut(&mut bytes, key)?;
            let salt = cut(&mut bytes, salt)?;
            state::begin(hash, &Options { length: length as usize, key, salt, personal: cut(&mut bytes, personal)? })
        });
        state.map_or(-1, |state| states(|states| states.keep(state)) as i32)
    }

    /// Appends `len` bytes to a state.
    fn append(number: u32, len: u32) {
        taken(len, |bytes| states(|states| states.get(number).update(bytes)));
    }

    /// The digest of a state, which goes on: `length` bytes from `offset` on where the hash extends, which is all of it elsewhere.
    fn read(number: u32, offset: u64, length: u32) -> i32 {
        answered(states(|states| states.get(number).read(offset, length as usize)))
    }

    /// An independent copy of a state.
    fn copy(number: u32) -> u32 {
        states(|states| {
            let copied = states.get(number).clone();
            states.keep(copied)
        })
    }

    /// Ends a state.
    fn forget(number: u32) {
        states(|states| states.take(number));
    }

    /// scrypt (RFC 7914) with cost 2^`log_n`, block size `r` and parallelization `p`, of a password and a salt.
    fn scrypt(password: u32, salt: u32, log_n: u32, r: u32, p: u32, length: u32) -> i32 {
        answered(taken(password.saturating_add(salt), |mut bytes| {
            let password = cut(&mut bytes, password)?;
            let parameters = scrypt::Params::new(u8::try_from(log_n).ok()?, r, p).ok()?;
            // Asked for here and given back, so that a lack of memory is an answer and not a trap.
            let blocks = 1_usize.checked_shl(log_n)?.checked_add(p as usize)?.checked_mul(128)?.checked_mul(r as usize)?;
            Vec::<u8>::new().try_reserve_exact(blocks).ok()?;
            let mut key = vec![0; length as usize];
            scrypt::scrypt(password, cut(&mut bytes, salt)?, &parameters, &mut key).ok()?;
            Some(key)
        }))
    }

    /// Argon2 (RFC 9106) of type 0 (d), 1 (i) or 2 (id), with `memory` KiB, of a password, a salt, a secret and associated data.
    fn argon2(
        kind: u32, password: u32, salt: u32, secret: u32, data: u32, memory: u32, passes: u32, lanes: u32, length: u32,
    ) -> i32 {
        let total = [password, salt, secret, data].iter().fold(0_u32, |sum, len| sum.saturating_add(*len));
        answered(taken(total, |mut bytes| {
            let password = cut(&mut bytes, password)?;
            let salt = cut(&mut bytes, salt)?;
            let secret = cut(&mut bytes, secret)?;
            let data = AssociatedData::new(cut(&mut bytes, data)?).ok()?;
            let kind = *[Algorithm::Argon2d, Algorithm::Argon2i, Algorithm::Argon2id].get(kind as usize)?;
            let mut builder = ParamsBuilder::new();
            builder.m_cost(memory).t_cost(passes).p_cost(lanes).output_len(length as usize).data(data);
            let parameters = builder.build().ok()?;
            let mut blocks = Vec::new();
            blocks.try_reserve_exact(parameters.block_count()).ok()?;
            blocks.resize(parameters.block_count(), argon2::Block::default());
            let engine = match secret {
                [] => Argon2::new(kind, Version::V0x13, parameters),
                _ => Argon2::new_with_secret(secret, kind, Version::V0x13, parameters).ok()?,
            };
            let mut key = vec![0; length as usize];
            engine.hash_password_into_with_memory(password, salt, &mut key, &mut blocks).ok()?;
            Some(key)
        }))
    }
}
