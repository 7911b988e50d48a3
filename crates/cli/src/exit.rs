//! Exit codes.

use mksum_cli::name::printable;
use mksum_cli::url::masked;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Every file was hashed, and matches where it was checked.
    Good,
    /// Some file failed or does not match.
    Failed,
    /// Wrong usage.
    Usage,
    /// The signature of a sum file is not valid.
    Unauthenticated,
    /// The reader of the output closed it, as shells number it: 128 + SIGPIPE.
    Unread,
    /// A signal, as shells number it: 128 + its number.
    Signal(u8),
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Unauthenticated => 3,
            Exit::Unread => 141,
            Exit::Signal(number) => 128 + number,
        }
    }

    /// Ends the process here and now.
    pub fn now(self) -> ! {
        std::process::exit(self.code().into())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The command of this process, if it has one that has a help of its own.
static COMMAND: OnceLock<String> = OnceLock::new();

/// Has refusals name the help of this command.
pub fn set_command(command: &str) {
    // A process has one command line.
    let _ = COMMAND.set(command.into());
}

/// How a run ends; an early end, such as a refused command line, is an error, so that `?` ends the run.
pub type Ended = Result<Exit, Exit>;

/// Ends a run with a refused command line.
pub fn refuse<T>(reason: &dyn Display) -> Result<T, Exit> {
    Err(usage(reason))
}

/// Refuses a command line.
pub fn usage(reason: &dyn Display) -> Exit {
    // What was typed may hold what harms a terminal, or a password.
    let reason = reason.to_string();
    let reason: Vec<_> = masked(&reason).lines().map(printable).collect();
    let command = COMMAND.get().map(|command| format!("{command} ")).unwrap_or_default();
    // Nothing can be done if this fails too.
    let _ = writeln!(io::stderr(), "mksum: {}\nTry 'mksum {command}--help' for examples.", reason.join("\n"));
    Exit::Usage
}
