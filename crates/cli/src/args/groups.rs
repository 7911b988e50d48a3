//! Flags that several commands share.

use super::hints::format;
use super::numbers::number;
use super::options::Options;
use super::paths::path;
use clap::{ArgAction, ValueEnum, ValueHint};
use mksum::formats::FAMILIES;
use mksum::{Algorithm, nearest, parse_size};
use mksum_cli::choice::Choice;
use std::path::PathBuf;

/// The formats, and the flags that change each of them.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Choices {
    /// Format NAME[:HASH][:LEAF][:salt=HEX]; may be repeated: all are computed in one read
    ///
    /// The default is rfc6962:sha256:64KiB. 'mksum formats' lists all formats.
    #[arg(short, long = "format", value_name = "FORMAT", value_parser = format, help_heading = "Formats")]
    pub formats: Vec<Choice>,
    /// Hash of the formats: sha256, blake3, ...
    #[arg(short = 'a', long, value_name = "HASH", value_parser = hash, help_heading = "Formats")]
    pub algorithm: Option<Algorithm>,
    /// Leaf size of the formats: 64KiB, 1MB, 4096
    ///
    /// For s3 the part size; for mtsum the longest leaf.
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size, help_heading = "Formats")]
    pub leaf: Option<u64>,
    #[command(flatten)]
    pub options: Options,
}

impl Choices {
    /// Whether any was given.
    pub fn any(&self) -> bool {
        !self.formats.is_empty() || self.algorithm.is_some() || self.leaf.is_some() || !self.options.0.is_empty()
    }
}

/// The signature of a list of sums.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Signature {
    /// Verify this signature of the sum file before its lines count
    ///
    /// Of minisign, signify or 'ssh-keygen -Y sign -n file'; without --sig, the one that signify -e put into the sum file. One that is
    /// beside the sum file is never used by itself.
    #[arg(long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath, help_heading = "Checking")]
    pub sig: Option<PathBuf>,
    /// Public key of the signature, or its file; for ssh-keygen also a file of allowed signers
    #[arg(long, value_name = "KEY", value_parser = path(), value_hint = ValueHint::FilePath, help_heading = "Checking")]
    pub key: Option<PathBuf>,
}

impl Signature {
    /// The reason why the flags cannot be used, if so.
    pub fn conflict(&self) -> Option<String> {
        let lacks_key = self.sig.is_some() && self.key.is_none();
        lacks_key.then(|| "--sig needs --key: the public key, or its file".into())
    }
}

/// The choice of files in directories.
#[derive(Clone, Debug, clap::Args)]
pub struct Directories {
    /// Process all files in directories, in the order of their names
    ///
    /// Pipes, sockets and devices in directories are skipped, and so are mksum's own files (outboards and what belongs to
    /// them).
    #[arg(short, long, help_heading = "Directories")]
    pub recursive: bool,
    /// How to treat symbolic links in directories
    #[arg(long, value_name = "POLICY", default_value = "skip", help_heading = "Directories")]
    pub symlinks: Symlinks,
    /// Skip files and directories that match GLOB; may be repeated
    ///
    /// '*.tmp' matches names at any depth, 'cache/*' paths below the directory, 'build/' only directories. 'keep -r' remembers it in
    /// DIR/.mksum/config, for 'status', 'update' and 'verify -r'.
    #[arg(long, value_name = "GLOB", help_heading = "Directories")]
    pub exclude: Vec<String>,
}

/// Options for reading files.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Reading {
    /// Number of threads, also as -p N [default: the cores this process may use]
    ///
    /// Where the system refuses so many, the work is done by those it allows, or by one.
    #[arg(
        short = 'j',
        short_alias = 'p',
        long,
        value_name = "N",
        value_parser = number::<u16>(1..=4096),
        help_heading = "Reading"
    )]
    pub threads: Option<u16>,
    /// Read through the page cache or around it
    #[cfg_attr(not(target_os = "linux"), doc = "\n\nOn this system, files are always read through its cache.")]
    #[arg(long, value_name = "MODE", default_value = "auto", help_heading = "Reading")]
    pub io: Io,
    /// Read at most this many bytes per second, for example 100MB
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Reading")]
    pub throttle: Option<u64>,
    /// Read only while no other process does (idle I/O class)
    #[cfg_attr(not(target_os = "linux"), doc = "\n\nThis system has no such class: only Linux has.")]
    #[arg(long, help_heading = "Reading")]
    pub io_nice: bool,
}

/// Options of all commands that work with files; they may stand before the command, too.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Print no OK for what matches, and show no progress
    #[arg(short, long, help_heading = "Everywhere")]
    pub quiet: bool,
    /// Print more: the size, tree, time and speed of each file, and the requests to stores; on a terminal, also each OK
    #[arg(short, long, help_heading = "Everywhere")]
    pub verbose: bool,
    /// Colour FAILED: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true, help_heading = "Everywhere")]
    pub color: Color,
    /// Show no progress (it is only shown on a terminal)
    #[arg(long, help_heading = "Everywhere")]
    pub no_progress: bool,
    /// Change to DIR first; of several, each is relative to the one before
    #[arg(short = 'C', id = "change-to", value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath, help_heading = "Everywhere")]
    pub change_to: Vec<PathBuf>,
    #[command(flatten)]
    help: Help,
}

/// Where a verdict is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// A command's own help.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Help {
    /// Print help: -h for a summary, --help for details and exit codes
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
}

/// How symbolic links in directories are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Symlinks {
    /// Skip them
    Skip,
    /// Process the files that they point to; loops are errors
    Follow,
}

/// How files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Io {
    #[default]
    /// Cached pages from the page cache, the rest of large files around it
    Auto,
    /// Through the page cache
    Buffered,
    /// Around the page cache, where the file system supports that
    Direct,
}

impl Io {
    /// The name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Io::Auto => "auto",
            Io::Buffered => "buffered",
            Io::Direct => "direct",
        }
    }
}

fn hash(text: &str) -> Result<Algorithm, String> {
    let known = |hash: &Algorithm| FAMILIES.iter().any(|family| family.hashes.contains(hash));
    Algorithm::from_name(&text.to_ascii_lowercase()).filter(known).ok_or_else(|| {
        let names: Vec<_> = Algorithm::all().filter(known).map(Algorithm::name).collect();
        match nearest(&text.to_ascii_lowercase(), names.iter().copied()) {
            Some(similar) => format!("unknown hash: did you mean {similar}?"),
            None => format!("unknown hash: expected one of {}", names.join(", ")),
        }
    })
}

pub fn rate(text: &str) -> Result<u64, String> {
    match parse_size(text.strip_suffix("/s").unwrap_or(text)) {
        Ok(0) => Err("expected at least 1 byte per second".into()),
        rate => rate.map_err(|error| error.to_string()),
    }
}
