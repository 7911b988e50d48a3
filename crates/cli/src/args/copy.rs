//! The flags of `mksum copy`.

use super::paths::place;
use super::{Choices, Common, Directories, Reading};
use clap::{ValueEnum, ValueHint};
use mksum_io::Input;

/// `mksum copy`.
#[derive(Debug, clap::Args)]
pub struct Copy {
    /// Files, or URLs of objects; with --recursive also directories, and URLs below which all objects are copied
    #[arg(value_name = "SRC", required = true, value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub sources: Vec<Input>,
    /// Path of the copy. Files, and several SRC, are copied into a directory that is there, under their own names
    ///
    /// A single directory is not: its files are copied to DST itself, so that the same command goes on where it was interrupted.
    #[arg(value_name = "DST", required = true, value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub target: Input,
    /// How the copy is verified: read (past the page cache, where the system can) or none
    #[arg(long, value_name = "HOW", default_value = "read", hide_possible_values = true)]
    pub verify: ReadBack,
    /// Keep the tree of each copy beside it, as DST.mkt
    #[arg(long)]
    pub keep: bool,
    /// Print one JSON object for each file (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// The format of the root.
    #[command(flatten)]
    pub choices: Choices,
    /// The files in directories.
    #[command(flatten)]
    pub directories: Directories,
    /// Options for reading.
    #[command(flatten)]
    pub reading: Reading,
    /// The options of all commands.
    #[command(flatten)]
    pub common: Common,
}

/// How copies are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReadBack {
    Read,
    None,
}
