//! Flags that several commands share.

use clap::{ArgAction, ValueEnum};
use mksum::formats::FAMILIES;
use mksum::{Hash, parse_size};
use mksum_cli::choice::Choice;

/// The formats, and the flags that change each of them.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Choices {
    /// Format NAME[:HASH][:LEAF][:salt=HEX]; several are computed in one read
    ///
    /// The default is rfc6962:sha256:64KiB. 'mksum formats' lists them all. With --check: the format of lines that do
    /// not name theirs, such as those of sha256sum and b3sum.
    #[arg(short, long = "format", value_name = "FORMAT", help_heading = "Formats")]
    pub formats: Vec<Choice>,
    /// Hash of the formats: sha256, blake3, ...
    #[arg(short = 'a', long, value_name = "HASH", value_parser = hash, help_heading = "Formats")]
    pub algorithm: Option<Hash>,
    /// Leaf size of the formats: 64KiB, 1MB, 4096
    ///
    /// For s3 the part size; for mtsum the longest leaf.
    #[arg(short, long, value_name = "SIZE", value_parser = parse_size, help_heading = "Formats")]
    pub leaf: Option<u64>,
    /// Salt of the formats, in hex (fsverity, dmverity)
    #[arg(long, value_name = "HEX", value_parser = salt, help_heading = "Formats")]
    pub salt: Option<Salt>,
}

impl Choices {
    /// Whether any was given.
    pub fn any(&self) -> bool {
        !self.formats.is_empty() || self.algorithm.is_some() || self.leaf.is_some() || self.salt.is_some()
    }
}

/// Which files directories stand for.
#[derive(Clone, Debug, clap::Args)]
pub struct Directories {
    /// Hash the files in directories, in the order of their names
    #[arg(short, long, help_heading = "Directories")]
    pub recursive: bool,
    /// What to do with symbolic links in directories
    #[arg(long, value_name = "POLICY", default_value = "skip", help_heading = "Directories")]
    pub symlinks: Symlinks,
    /// Pass over what matches in directories; may be repeated
    ///
    /// '*.tmp' matches names at any depth, 'cache/*' paths below the directory, 'build/' only directories.
    #[arg(long, value_name = "GLOB", help_heading = "Directories")]
    pub exclude: Vec<String>,
}

/// How files are read, and who sees it.
#[derive(Clone, Debug, clap::Args)]
pub struct Reading {
    /// Threads, also as -p N [default: the cores this process may use]
    #[arg(
        short = 'j',
        short_alias = 'p',
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=4096),
        help_heading = "Reading"
    )]
    pub threads: Option<u16>,
    /// Read through the page cache or around it
    #[arg(long, value_name = "MODE", default_value = "auto", help_heading = "Reading")]
    pub io: Io,
    /// Read at most this many bytes a second: 100MB
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Reading")]
    pub throttle: Option<u64>,
    /// Read only when nobody else does (the idle I/O class)
    #[arg(long, help_heading = "Reading")]
    pub io_nice: bool,
    /// Show no progress; it is only ever shown on a terminal
    #[arg(long, help_heading = "Output")]
    pub no_progress: bool,
}

/// A command's own help.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Help {
    /// Print help: -h in short, --help with more about each option
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
}

/// What happens to symbolic links in directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Symlinks {
    /// They are passed over
    Skip,
    /// What they point to is hashed; loops are errors
    Follow,
}

/// How files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Io {
    /// What is in the page cache from there, the rest of large files around it
    Auto,
    /// Through the page cache
    Buffered,
    /// Around it, where the file system can
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

/// Bytes that were given in hex.
#[derive(Clone, Debug)]
pub struct Salt(pub Vec<u8>);

fn hash(text: &str) -> Result<Hash, String> {
    let known = |hash: &Hash| FAMILIES.iter().any(|family| family.hashes.contains(hash));
    Hash::from_name(&text.to_ascii_lowercase()).filter(known).ok_or_else(|| {
        let names: Vec<_> = Hash::ALL.iter().filter(|hash| known(hash)).map(|hash| hash.name()).collect();
        format!("unknown hash: expected one of {}", names.join(", "))
    })
}

fn salt(text: &str) -> Result<Salt, String> {
    let hex = base16ct::mixed::decode_vec(text);
    hex.map(Salt).map_err(|_| "not hex: expected an even number of digits 0-9 and a-f".into())
}

fn rate(text: &str) -> Result<u64, String> {
    match parse_size(text.strip_suffix("/s").unwrap_or(text)) {
        Ok(0) => Err("nothing can be read at 0 bytes a second".into()),
        rate => rate.map_err(|error| error.to_string()),
    }
}
