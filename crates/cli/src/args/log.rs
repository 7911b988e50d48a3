//! The commands for logs.

use super::paths::{input, path, place};
use super::{Common, Help};
use clap::{Subcommand, ValueHint};
use mksum_cli::time::duration;
use mksum_io::Input;
use mksum_log::Framing;
use std::path::PathBuf;
use std::time::Duration;

/// `mksum log`.
#[derive(Debug, clap::Args)]
pub struct Log {
    /// What is done with the log.
    #[command(subcommand)]
    pub action: LogAction,
    #[command(flatten)]
    help: Help,
}

/// A command for logs.
#[derive(Debug, Subcommand)]
pub enum LogAction {
    /// Make an empty log in a new folder, and print its public key
    Init {
        /// The folder, new or empty
        #[arg(value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
        directory: PathBuf,
        /// Name of the log and its key: mostly the URL where it will be served, without https://
        #[arg(long, value_name = "NAME", required_unless_present = "secret")]
        origin: Option<String>,
        /// Sign with the secret key in FILE, PRIVATE+KEY+..., which has signed no other log [default: a new key]
        #[arg(long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
        secret: Option<PathBuf>,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Append the entries on standard input, sign and publish a checkpoint, and print the indices
    Append {
        /// The log
        #[arg(value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
        directory: PathBuf,
        #[command(flatten)]
        framing: Frames,
        /// Append no entry that the log has already: print the index that it has
        #[arg(long)]
        unique: bool,
        /// Append the root of an entry of more than 65,535 bytes, as 'mksum' prints it of standard input, and not refuse it
        #[arg(long)]
        roots: bool,
        /// Sign checkpoints as entries come, not one at their end, each after it waited this long for more: 5ms
        ///
        /// An index is printed as soon as its entry is in the log for good. The log is held until the input ends.
        #[arg(long, value_name = "TIME", value_parser = duration)]
        linger: Option<Duration>,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Print the newest checkpoint, or add a witness's signature to it
    Checkpoint {
        /// The log
        #[arg(value_name = "DIR", value_parser = place(), value_hint = ValueHint::AnyPath)]
        log: Input,
        /// Add the signature line in this file, once it is verified by --key; '-' is standard input
        #[arg(long, value_name = "FILE", value_parser = input(), value_hint = ValueHint::FilePath, requires = "trusted")]
        add: Option<Input>,
        /// Ask the witness at URL to cosign the checkpoint, and add its signature, once it is verified by --key (C2SP tlog-witness)
        #[arg(long, value_name = "URL", value_parser = place(), value_hint = ValueHint::Url, requires = "key", conflicts_with = "add")]
        witness: Option<Input>,
        #[command(flatten)]
        trust: Trust,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Prove that an entry is in the log, or that the log has only grown
    Prove {
        /// The log: a folder, or a URL
        #[arg(value_name = "DIR", value_parser = place(), value_hint = ValueHint::AnyPath)]
        log: Input,
        /// Index of the entry, from 0
        #[arg(value_name = "INDEX", required_unless_present = "from")]
        index: Option<u64>,
        /// Prove that the log has only grown since it had SIZE entries
        #[arg(long, value_name = "SIZE", conflicts_with = "index")]
        from: Option<u64>,
        #[command(flatten)]
        trust: Trust,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Check a proof offline: by the key of the log, or by a policy with witnesses
    Check {
        /// The proof: a .tlog-proof file, or what 'prove --from' printed
        #[arg(value_name = "PROOF", value_parser = input(), value_hint = ValueHint::FilePath)]
        proof: Input,
        #[command(flatten)]
        trust: Trust,
        /// The entry [default: standard input]
        ///
        /// A newline at the end of the file may be missing in the entry. Of a file of more than 65,535 bytes, its root is the entry.
        #[arg(long, value_name = "FILE", value_parser = input(), value_hint = ValueHint::FilePath, conflicts_with = "old")]
        entry: Option<Input>,
        /// The older checkpoint that the log has grown from, for a proof of 'prove --from'
        #[arg(long, value_name = "FILE", value_parser = input(), value_hint = ValueHint::FilePath)]
        old: Option<Input>,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Mirror a log, and verify that it only grows: a fork or a rollback is caught, with evidence
    Follow {
        /// The log: a URL, or a folder
        #[arg(value_name = "SOURCE", value_parser = place(), value_hint = ValueHint::AnyPath)]
        log: Input,
        /// The mirror, which is made if it is not there
        #[arg(value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
        directory: PathBuf,
        #[command(flatten)]
        trust: Trust,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Check every entry and every tile of a log
    Fsck {
        /// The log: a folder, or a URL
        #[arg(value_name = "DIR", value_parser = place(), value_hint = ValueHint::AnyPath)]
        log: Input,
        #[command(flatten)]
        trust: Trust,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Append the lines of a file, such as JSON Lines, and check their hash chain if they have one
    Import {
        /// The log
        #[arg(value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
        directory: PathBuf,
        /// The file; '-' is standard input
        #[arg(value_name = "FILE", value_parser = input(), value_hint = ValueHint::FilePath)]
        file: Input,
        /// Append nothing unless each line is a JSON object whose FIELD has the SHA-256 of the line before it, in hex
        #[arg(long, value_name = "FIELD")]
        chain: Option<String>,
        #[command(flatten)]
        common: LogCommon,
    },
    /// Print the entries of a log, each verified
    Export {
        /// The log: a folder, or a URL
        #[arg(value_name = "DIR", value_parser = place(), value_hint = ValueHint::AnyPath)]
        log: Input,
        #[command(flatten)]
        framing: Frames,
        #[command(flatten)]
        trust: Trust,
        #[command(flatten)]
        common: LogCommon,
    },
}

impl LogAction {
    /// The options of all commands.
    pub fn common(&self) -> &Common {
        &self.log_common().common
    }

    /// The options of all commands for logs.
    pub fn log_common(&self) -> &LogCommon {
        match self {
            LogAction::Init { common, .. }
            | LogAction::Append { common, .. }
            | LogAction::Checkpoint { common, .. }
            | LogAction::Prove { common, .. }
            | LogAction::Check { common, .. }
            | LogAction::Follow { common, .. }
            | LogAction::Fsck { common, .. }
            | LogAction::Import { common, .. }
            | LogAction::Export { common, .. } => common,
        }
    }
}

/// The options of all commands for logs.
#[derive(Debug, clap::Args)]
pub struct LogCommon {
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub common: Common,
}

/// Whom a checkpoint must be signed by.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "trusted", multiple = false)]
pub struct Trust {
    /// Public key that must have signed, NAME+ID+KEY as 'init' printed it, or a file that holds it
    #[arg(long, value_name = "VKEY", help_heading = "Trust")]
    pub key: Option<String>,
    /// Policy of logs and witnesses that must have signed (C2SP tlog-policy)
    #[arg(long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath, help_heading = "Trust")]
    pub policy: Option<PathBuf>,
}

/// How entries follow one another.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Frames {
    /// Entries end with NUL, not newline
    #[arg(short = 'z', long)]
    pub null: bool,
    /// Each entry has its length before it: two bytes, the higher first
    #[arg(long, conflicts_with = "null")]
    pub framed: bool,
}

impl Frames {
    /// The framing.
    pub fn framing(self) -> Framing {
        match self {
            Frames { framed: true, .. } => Framing::Framed,
            Frames { null: true, .. } => Framing::Null,
            _ => Framing::Lines,
        }
    }
}
