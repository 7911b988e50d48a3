//! What the tool tells its caller when it ends.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every file was hashed, and was what it was told to be.
    Good = 0,
    /// Some file failed or differed.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// Ctrl-C, as shells number it: 128 + SIGINT.
    Interrupted = 130,
    /// Whoever read the output went away, as shells number it: 128 + SIGPIPE.
    Unread = 141,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// Ends the process here and now.
    pub fn now(self) -> ! {
        std::process::exit(self as i32)
    }
}

/// Refuses a command line.
pub fn usage(reason: &dyn Display) -> Exit {
    // Nobody is left to tell if this fails.
    let _ = writeln!(io::stderr(), "mksum: {reason}\nTry 'mksum --help' for examples.");
    Exit::Usage
}
