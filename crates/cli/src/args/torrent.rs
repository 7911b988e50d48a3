//! The flags of `mksum torrent`.

use super::paths::path;
use super::{Common, Reading};
use clap::ValueHint;
use mksum::parse_size;
use std::path::PathBuf;

/// `mksum torrent`.
#[derive(Debug, clap::Args)]
pub struct Torrent {
    /// File, or directory, whose files are in the torrent
    ///
    /// Of a directory, all files but mksum's own outboards and catalogue. Symbolic links are left out.
    #[arg(value_name = "FILE", value_parser = path(), value_hint = ValueHint::AnyPath)]
    pub input: PathBuf,
    /// File to be written
    #[arg(short, long, value_name = "TORRENT", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Add pieces of version 1, for programs that do not know version 2
    #[arg(long)]
    pub hybrid: bool,
    /// Length of a piece: a power of two from 16 KiB on [default: for at most 2048 pieces, 32 KiB to 16 MiB]
    ///
    /// A tree that was kept with 'mksum keep -f btv2 --keep-leaf SIZE' is used if its units are not longer.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub piece: Option<u64>,
    /// Address of the file on a web server, or of the folder that has the directory; may be repeated
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub web_seed: Vec<String>,
    /// Take peers from the tracker alone
    #[arg(long)]
    pub private: bool,
    /// Address of the tracker
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub announce: Option<String>,
    /// Print a JSON object (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}
