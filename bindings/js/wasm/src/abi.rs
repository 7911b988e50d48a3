//! The exported functions: numbers only, and bytes in the one buffer. The only `unsafe` here is that one thread has them all.

use crate::algorithm::Algorithm;
use crate::derive::{self, RECORD};
use crate::pool::Pool;
use crate::state::State;
use core::cell::{RefCell, UnsafeCell};

/// The bytes that a call may take, at the buffer's begin.
const INPUT: usize = 1 << 16;
/// The bytes that a call may give, behind them.
const OUTPUT: usize = 1 << 10;

/// The memory that both sides of the boundary read and write, each while the other waits.
#[repr(C, align(64))]
struct Buffer {
    input: UnsafeCell<[u8; INPUT]>,
    output: UnsafeCell<[u8; OUTPUT]>,
}

/// What is kept between calls: an instance has one thread, and nothing here starts another.
pub(crate) struct OneThread<T>(pub(crate) T);

// SAFETY: there is one thread: each worker has an instance of its own, with its own memory.
unsafe impl<T> Sync for OneThread<T> {}

static BUFFER: OneThread<Buffer> =
    OneThread(Buffer { input: UnsafeCell::new([0; INPUT]), output: UnsafeCell::new([0; OUTPUT]) });

/// The first `len` bytes of the input, and all of the output.
pub(crate) fn buffer(len: u32) -> (&'static [u8], &'static mut [u8]) {
    // SAFETY: one thread, whose every call takes them once, and the caller writes between calls only.
    unsafe { (&(&*BUFFER.0.input.get())[..len as usize], &mut *BUFFER.0.output.get()) }
}

static POOL: OneThread<RefCell<Pool<State>>> = OneThread(RefCell::new(Pool::new()));

fn pool<T>(act: impl FnOnce(&mut Pool<State>) -> T) -> T {
    act(&mut POOL.0.borrow_mut())
}

/// Exports functions: under their own names only where nothing else has names.
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
            pub extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
}
#[cfg(feature = "trees")]
pub(crate) use exports;

exports! {
    /// Where the buffer is: `INPUT` bytes, then `OUTPUT`.
    fn input() -> *mut u8 {
        BUFFER.0.input.get().cast()
    }

    /// Where the output is.
    fn output() -> *mut u8 {
        BUFFER.0.output.get().cast()
    }

    /// The digest of the input's first `len` bytes.
    fn digest(algorithm: u32, len: u32) {
        let (input, output) = buffer(len);
        Algorithm::numbered(algorithm).digest(input, output);
    }

    /// A new message: its number.
    fn begin(algorithm: u32) -> u32 {
        pool(|pool| pool.keep(State::plain(Algorithm::numbered(algorithm))))
    }

    /// A new message of HMAC whose key is the input's first `len` bytes: its number.
    fn keyed(algorithm: u32, len: u32) -> u32 {
        pool(|pool| pool.keep(State::keyed(Algorithm::numbered(algorithm), buffer(len).0)))
    }

    /// Appends the input's first `len` bytes.
    fn append(number: u32, len: u32) {
        pool(|pool| pool.get(number).append(buffer(len).0));
    }

    /// The digest of what was appended so far: returns its size. The message goes on.
    fn peek(number: u32) -> u32 {
        pool(|pool| pool.get(number).clone().finish(buffer(0).1) as u32)
    }

    /// The digest, and the end of the message: returns its size.
    fn finish(number: u32) -> u32 {
        pool(|pool| pool.take(number).finish(buffer(0).1) as u32)
    }

    /// Another message that begins as this one does: its number.
    fn copy(number: u32) -> u32 {
        pool(|pool| {
            let state = pool.get(number).clone();
            pool.keep(state)
        })
    }

    /// Forgets a message.
    fn forget(number: u32) {
        pool(|pool| drop(pool.take(number)));
    }

    /// Goes on with the first `count` records in the input: see `derive::go_on`.
    fn iterate(algorithm: u32, count: u32, times: u32) {
        // SAFETY: one thread, and no other function has the input meanwhile.
        let input = unsafe { &mut *BUFFER.0.input.get() };
        derive::go_on(Algorithm::numbered(algorithm), &mut input[..count as usize * RECORD], times);
    }

    /// How many messages are kept.
    fn kept() -> u32 {
        pool(|pool| pool.count() as u32)
    }
}
