//! The exported functions. They take and return numbers, and pass bytes through one buffer. `unsafe` relies only on there
//! being one thread.

use crate::algorithm::Algorithm;
#[cfg(feature = "hashers")]
use crate::derive::{self, RECORD};
use crate::state::State;
use core::cell::{RefCell, UnsafeCell};
use mksum_js_host::{OneThread, Pool, exports};

/// The length of the input area, at the start of the buffer. The stage follows: `SHORT` bytes, where TypeScript collects a message.
const INPUT: usize = 1 << 16;
/// The longest input that [`with_input`] erases. TypeScript erases a longer one, once for all its slices.
const SHORT: usize = 1 << 10;
/// The length of the output area, after the stage: as much as a saved state takes.
const OUTPUT: usize = 1 << 12;

/// The memory that JavaScript and the engine share. Each accesses it only while the other waits.
#[repr(C, align(64))]
struct Buffer {
    input: UnsafeCell<[u8; INPUT + SHORT]>,
    output: UnsafeCell<[u8; OUTPUT]>,
}

static BUFFER: OneThread<Buffer> =
    OneThread(Buffer { input: UnsafeCell::new([0; INPUT + SHORT]), output: UnsafeCell::new([0; OUTPUT]) });

/// Returns the first `len` bytes of the input, and the whole output.
pub(crate) fn buffer(len: u32) -> (&'static [u8], &'static mut [u8]) {
    // SAFETY: there is one thread, no call uses the output twice at a time, and JavaScript writes only between calls.
    unsafe { (&(&*BUFFER.0.input.get())[..len as usize], &mut *BUFFER.0.output.get()) }
}

/// Passes on `len` bytes of the input from `at` on, with the output, and erases them if they are few: they may be a secret.
fn with_input<T>(at: u32, len: u32, act: impl FnOnce(&[u8], &mut [u8]) -> T) -> T {
    let (input, output) = buffer(at + len);
    let result = act(&input[at as usize..], output);
    if len as usize <= SHORT {
        // SAFETY: there is one thread, and `act` has returned, so that no other reference to the input exists.
        unsafe { (&mut *BUFFER.0.input.get())[at as usize..][..len as usize].fill(0) }
    }
    result
}

static POOL: OneThread<RefCell<Pool<State>>> = OneThread(RefCell::new(Pool::new()));

fn pool<T>(act: impl FnOnce(&mut Pool<State>) -> T) -> T {
    act(&mut POOL.0.borrow_mut())
}

exports! {
    /// Returns the address of the input: `INPUT` bytes, then the stage.
    fn input() -> *mut u8 {
        BUFFER.0.input.get().cast()
    }

    /// Returns the address of the output.
    fn output() -> *mut u8 {
        BUFFER.0.output.get().cast()
    }

    /// Writes the digest of `len` bytes of the input from `at` on to the output, and erases a short input.
    fn digest(algorithm: u32, at: u32, len: u32) {
        with_input(at, len, |input, output| Algorithm::numbered(algorithm).digest(input, output));
    }

    /// Begins a message. Returns its number.
    fn begin(algorithm: u32) -> u32 {
        pool(|pool| pool.keep(State::plain(Algorithm::numbered(algorithm))))
    }

    /// Begins an HMAC message whose key is the input's first `len` bytes. Returns its number.
    #[cfg(feature = "hashers")]
    fn keyed(algorithm: u32, len: u32) -> u32 {
        pool(|pool| pool.keep(State::keyed(Algorithm::numbered(algorithm), buffer(len).0)))
    }

    /// Appends `len` bytes of the input from `at` on to a message, and erases a short input.
    fn append(number: u32, at: u32, len: u32) {
        with_input(at, len, |input, _| pool(|pool| pool.get(number).append(input)));
    }

    /// Writes a message's state to the output, behind the header in the input's first bytes. Returns its length.
    #[cfg(feature = "hashers")]
    fn save(number: u32, header: u32) -> usize {
        let (header, output) = buffer(header);
        let saved = pool(|pool| pool.get(number).save(header));
        output[..saved.len()].copy_from_slice(&saved);
        saved.len()
    }

    /// Continues the message that is saved, with a header of so many bytes, in the input's first `len` bytes. Returns 1, or 0 if they
    /// are not the state of such a message, which then stays.
    #[cfg(feature = "hashers")]
    fn load(number: u32, header: u32, len: u32) -> u32 {
        pool(|pool| pool.get(number).load(header as usize, buffer(len).0).is_some() as u32)
    }

    /// Writes the digest to the output and ends the message. Returns the digest's size.
    fn finish(number: u32) -> u32 {
        pool(|pool| pool.take(number).finish(buffer(0).1) as u32)
    }

    /// Copies a message. Returns the number of the copy.
    #[cfg(feature = "hashers")]
    fn copy(number: u32) -> u32 {
        pool(|pool| {
            let state = pool.get(number).clone();
            pool.keep(state)
        })
    }

    /// Frees a message.
    fn forget(number: u32) {
        pool(|pool| drop(pool.take(number)));
    }

    /// Iterates the first `count` records in the input: see `derive::iterate_records`.
    #[cfg(feature = "hashers")]
    fn iterate(algorithm: u32, count: u32, times: u32) {
        // SAFETY: there is one thread, and no other reference to the input exists during this call.
        let input = unsafe { &mut *BUFFER.0.input.get() };
        derive::iterate_records(Algorithm::numbered(algorithm), &mut input[..count as usize * RECORD], times);
    }

    /// Returns the number of open messages.
    #[cfg(feature = "hashers")]
    fn kept() -> u32 {
        pool(|pool| pool.count() as u32)
    }
}
