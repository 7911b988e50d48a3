//! The standard streams that the process was started without.
//!
//! The standard library opens `/dev/null` in their places before `main`, where it is too late to ask.

/// A standard stream whose absence would lose data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The standard input.
    Input,
    /// The standard output.
    Output,
}

/// Whether the process was started with this stream.
pub fn is_open(stream: Stream) -> bool {
    system::is_open(stream)
}

#[cfg(unix)]
mod system {
    use super::Stream;
    use rustix::io::fcntl_getfd;
    use rustix::stdio::{stdin, stdout};
    use std::sync::atomic::{AtomicU8, Ordering};

    /// A bit for each closed stream, by its descriptor.
    static CLOSED: AtomicU8 = AtomicU8::new(0);

    // It calls the system and stores a number: nothing that needs the standard library's own start.
    #[ctor::ctor(unsafe)]
    fn look() {
        let closed = [fcntl_getfd(stdin()), fcntl_getfd(stdout())].map(|flags| flags.is_err());
        let bits = closed.iter().zip(0..).fold(0, |bits, (&closed, at)| bits | u8::from(closed) << at);
        CLOSED.store(bits, Ordering::Relaxed);
    }

    pub fn is_open(stream: Stream) -> bool {
        CLOSED.load(Ordering::Relaxed) & 1 << stream as u8 == 0
    }
}

#[cfg(windows)]
mod system {
    use super::Stream;
    use std::io;
    use std::os::windows::io::AsRawHandle;

    /// Windows keeps the place of a missing stream empty.
    pub fn is_open(stream: Stream) -> bool {
        let handle = match stream {
            Stream::Input => io::stdin().as_raw_handle(),
            Stream::Output => io::stdout().as_raw_handle(),
        };
        !handle.is_null()
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    /// There is nothing to ask.
    pub fn is_open(_: super::Stream) -> bool {
        true
    }
}
