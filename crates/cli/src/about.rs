//! What the tool tells about itself.

use crate::args::{Command, grammar};
use crate::exit::{Exit, usage};
use crate::{devices, formats, manual};
use mksum_io::reason;
use std::io::{self, ErrorKind, Write};

/// Tells it.
pub fn run(command: &Command) -> Exit {
    let text = match command {
        Command::Formats { json: false } => formats::table().into_bytes(),
        Command::Formats { json: true } => formats::json().into_bytes(),
        Command::Man => manual::page(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut grammar(), "mksum", &mut script);
            script
        }
        Command::Devices => match devices::list() {
            Ok(list) => list.into_bytes(),
            Err(reason) => return usage(&reason),
        },
        Command::Keep(_)
        | Command::Verify(_)
        | Command::Diff(_)
        | Command::Repair(_)
        | Command::Prove(_)
        | Command::CheckProof(_)
        | Command::Join(_)
        | Command::Merklize(_) => unreachable!("they work with files"),
    };
    let mut out = io::stdout().lock();
    match out.write_all(&text).and_then(|()| out.flush()) {
        Ok(()) => Exit::Good,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Unread,
        Err(error) => {
            // Nobody is left to tell if this fails.
            let _ = writeln!(io::stderr(), "mksum: write error: {}", reason(&error));
            Exit::Failed
        }
    }
}
