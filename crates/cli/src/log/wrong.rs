//! Failures of commands for logs, and the reading of their small inputs.

use crate::bounded::bounded;
use crate::exit::{Exit, usage};
use crate::failure::Failure;
use crate::tool::Tool;
use mksum_io::{Input, Options, open_bytes};

/// Why a command for logs failed.
pub enum Wrong {
    /// The command line makes no sense.
    Usage(String),
    /// Something is wrong with a file, or could not be read or written.
    Failed(Input, String),
    /// A checkpoint is not signed as it was asked for, or contradicts another one.
    Untrusted(Input, String),
}

impl Wrong {
    /// The failure of a log at a place.
    pub fn of(place: &Input) -> impl Fn(mksum_log::Error) -> Wrong + '_ {
        move |error| match error {
            mksum_log::Error::Untrusted(_) => Wrong::Untrusted(place.clone(), error.to_string()),
            error if error.is_contradiction() => Wrong::Untrusted(place.clone(), error.to_string()),
            mksum_log::Error::Io { path, error } => Wrong::Failed(path.into(), mksum_io::reason(&error)),
            error => {
                // The place stands before it already.
                let why = error.to_string();
                let why = why.strip_prefix(&format!("{place}: ")).unwrap_or(&why);
                Wrong::Failed(place.clone(), why.into())
            }
        }
    }

    /// Reports the failure, and returns how the run ends.
    pub fn report(self, tool: &Tool) -> Exit {
        match self {
            Wrong::Usage(why) => usage(&why),
            Wrong::Failed(place, why) => {
                tool.console.error(&place, &why);
                tool.console.exit()
            }
            Wrong::Untrusted(place, why) => {
                tool.console.error(&place, &why);
                Exit::Unauthenticated
            }
        }
    }
}

/// The bytes of a small input: a proof, a key, an entry.
pub fn bytes(input: &Input, at_most: usize, options: &Options) -> Result<Vec<u8>, Wrong> {
    let failed = |why: String| Wrong::Failed(input.clone(), why);
    let reader = open_bytes(input, options).map_err(|error| failed(Failure::from(error).to_string()))?;
    bounded(reader, at_most).map_err(|error| failed(mksum_io::reason(&error)))
}
