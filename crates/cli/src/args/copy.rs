//! The flags of `mksum copy`.

use super::paths::place;
use super::{Choices, Common, Directories, Reading, Symlinks};
use clap::{ValueEnum, ValueHint};
use mksum_io::Input;

/// `mksum copy`.
#[derive(Debug, clap::Args)]
pub struct Copy {
    /// Files, or URLs of objects; with --recursive also directories, and URLs below which all objects are copied
    #[arg(value_name = "SRC", required = true, value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub sources: Vec<Input>,
    /// Path or URL of the copy (s3://BUCKET/KEY, ...). Files, and several SRC, are copied into a directory that is there, under their own names
    ///
    /// A single directory is not: its files are copied to DST itself, so that the same command goes on where it was interrupted. A URL
    /// that ends in '/' is a directory that is there.
    #[arg(value_name = "DST", required = true, value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub target: Input,
    /// How the copy is verified: read (past the page cache, where the system can; an object by fetching it) or none
    #[arg(long, value_name = "HOW", default_value = "read", hide_possible_values = true)]
    pub verify: ReadBack,
    /// Keep the tree of each copy beside it, as DST.mkt
    #[arg(long)]
    pub keep: bool,
    /// Have a new copy share the blocks of its source, where the file system can (Btrfs, XFS): no second copy for a failing disk
    #[arg(long)]
    pub reflink: bool,
    /// Process directories, with all that is in them
    ///
    /// Pipes, sockets and devices are skipped, and so are catalogues (.mksum).
    #[arg(short, long, help_heading = "Directories")]
    pub recursive: bool,
    /// How to treat symbolic links in directories
    #[arg(long, value_name = "POLICY", default_value = "copy", help_heading = "Directories")]
    pub symlinks: Links,
    /// Skip files and directories that match GLOB; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Directories")]
    pub exclude: Vec<String>,
    /// Print one JSON object for each file (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

impl Copy {
    /// The choice of files in directories.
    pub fn directories(&self) -> Directories {
        let symlinks = if self.symlinks == Links::Follow { Symlinks::Follow } else { Symlinks::Skip };
        Directories { recursive: self.recursive, symlinks, exclude: self.exclude.clone() }
    }
}

/// How symbolic links in directories are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Links {
    /// As links with the same text, wherever they lead
    Copy,
    /// Skip them; then the copy is not whole, which is an error
    Skip,
    /// Copy the files that they point to; loops are errors
    Follow,
}

/// How copies are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReadBack {
    Read,
    None,
}
