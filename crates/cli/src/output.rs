//! Standard output.

use crate::exit::Exit;
use crate::streams::{Stream, is_open};
use mksum_io::reason;
use std::io::{self, ErrorKind, Write};

/// Prints text to standard output.
pub fn print_text(text: &[u8]) -> Exit {
    match write_output(text) {
        Ok(()) => Exit::Good,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Unread,
        Err(error) => {
            // Nothing can be done if this fails too.
            let _ = writeln!(io::stderr(), "mksum: write error: {}", reason(&error));
            Exit::Failed
        }
    }
}

/// Writes bytes to standard output, all of them.
///
/// # Errors
/// If it is closed, or the system cannot write.
pub fn write_output(bytes: &[u8]) -> io::Result<()> {
    if !is_open(Stream::Output) {
        return Err(io::Error::other("standard output is closed"));
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}
