//! The commands for kept trees.

use super::paths::{input, path, place};
use super::{Choices, Common, Directories, Reading};
use clap::ValueHint;
use mksum::outboard::{ForeignFormat, OutboardError};
use mksum::{Error, parse_size};
use mksum_cli::range::ByteRange;
use mksum_cli::time::duration;
use mksum_io::Input;
use std::path::PathBuf;
use std::time::Duration;

/// `mksum keep`.
#[derive(Debug, clap::Args)]
pub struct Keep {
    /// Files whose trees are kept; with --recursive, directories whose catalogues are
    #[arg(value_name = "FILE", required = true, value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub files: Vec<Input>,
    /// Path of the outboard [default: FILE.mkt], or with --recursive of the catalogue [default: DIR/.mksum/catalogue]
    ///
    /// Required for a device. A file that is there is replaced only if it is an outboard. The URL of an object in S3, Google Cloud
    /// Storage or Azure is written when the tree is finished.
    #[arg(short, long, value_name = "PATH", value_parser = place(), value_hint = ValueHint::FilePath)]
    pub output: Option<Input>,
    /// With --recursive: keep an outboard beside each file, and no catalogue
    #[arg(long, requires = "recursive")]
    pub beside: bool,
    /// Keep the roots alone, in an extended attribute of each file, which moves with it (spec/attribute.md)
    ///
    /// In all formats that are given, and in those that it has already for its size and mtime. They count as long as these stay. A
    /// file whose content differs although these show no change is reported as damaged.
    #[arg(long, conflicts_with_all = ["output", "beside", "keep_leaf", "update", "range", "all", "foreign", "checkpoint"])]
    pub xattr: bool,
    /// Keep digests of subtrees of at most SIZE bytes: damage is reported in ranges of this size
    ///
    /// The default is the shortest size with which the outboard takes at most a thousandth of the file.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub keep_leaf: Option<u64>,
    /// Update the outboard, and print what changed
    ///
    /// Of a file that grew, only the new bytes are read; of one with the same size, mtime and inode, none; of any other
    /// file all, unless --range names the ranges that changed.
    #[arg(long)]
    pub update: bool,
    /// With --update: only these bytes changed; may be repeated
    #[arg(long, value_name = "A..B", requires = "update")]
    pub range: Vec<ByteRange>,
    /// With --update: read the whole file, even if it only grew or seems unchanged
    #[arg(long, requires = "update", conflicts_with = "range")]
    pub all: bool,
    /// Replace the outboard even if the file seems damaged
    ///
    /// Without this flag, a file that has the size, mtime and inode that it had when its outboard was written, but another
    /// content, counts as damaged: it is reported, and the outboard is kept as evidence. An outboard that is damaged itself
    /// is not replaced either.
    #[arg(long)]
    pub accept_changes: bool,
    /// Skip files whose size, mtime and inode match the outboard, or size and mtime the attribute
    #[arg(long, conflicts_with = "update")]
    pub quick: bool,
    /// Interval between checkpoints, from which a later run resumes after a crash
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    pub checkpoint: Duration,
    /// Write the tree as another program does: bao, fsverity, veritysetup, or with --foreign=obao4 iroh
    ///
    /// To FILE.obao, FILE.fsverity or FILE.verity, for the formats blake3, fsverity and dmverity; to FILE.obao4, for blake3.
    #[arg(
        long,
        value_name = "TREE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = foreign_or_usual,
        conflicts_with_all = ["update", "quick", "keep_leaf"]
    )]
    pub foreign: Option<Usual>,
    /// Write into DIR what a mirror needs beside each file, and print the 'mksum get' line for it
    ///
    /// FILE.mkt (the outboard), FILE.sum (the root, for 'mksum -c' and 'mksum get -c'), FILE.meta4 (a metalink with the SHA-256 of pieces)
    /// and FILE.torrent (for versions 1 and 2, with web seeds). Each file is read once for each of five kinds of sums.
    #[arg(
        long,
        value_name = "DIR",
        requires = "from",
        value_parser = path(),
        value_hint = ValueHint::DirPath,
        conflicts_with_all = ["recursive", "output", "xattr", "update", "quick", "foreign"]
    )]
    pub publish: Option<PathBuf>,
    /// With --publish: URL at which DIR will be served; may be repeated
    #[arg(long, value_name = "URL", value_parser = place(), requires = "publish", value_hint = ValueHint::Url)]
    pub from: Vec<Input>,
    /// With --foreign and dmverity: UUID of the hash device [default: all zeros]
    #[arg(long, requires = "foreign", value_parser = uuid)]
    pub uuid: Option<Uuid>,
    /// With --recursive: append the root of each directory to the log in FOLDER, once all are kept ('mksum log init' makes one)
    #[arg(long, value_name = "FOLDER", requires = "recursive", conflicts_with = "beside", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub log: Option<PathBuf>,
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub directories: Directories,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum verify`.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// Files that have an outboard; with --recursive, directories that have a catalogue [default: .]
    #[arg(value_name = "FILE", required_unless_present = "recursive", default_value_if("recursive", "true", "."), value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub files: Vec<Input>,
    /// Path of the outboard [default: FILE.mkt]
    #[arg(short = 'o', long, value_name = "PATH", value_parser = place(), value_hint = ValueHint::FilePath)]
    pub outboard: Option<Input>,
    /// With --recursive: path of the directory's catalogue [default: DIR/.mksum/catalogue, if it exists]
    #[arg(short, long, value_name = "PATH", requires = "recursive", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub catalogue: Option<PathBuf>,
    /// Read the tree of another program, in this format: blake3, fsverity, dmverity:...; or obao4, iroh's for blake3
    ///
    /// By default from FILE.obao, FILE.fsverity, FILE.verity or FILE.obao4.
    #[arg(long, value_name = "FORMAT", value_parser = foreign, conflicts_with_all = ["sample", "budget", "quick"])]
    pub foreign: Option<ForeignFormat>,
    /// Compare each file with the roots in its extended attribute (mksum keep --xattr)
    #[arg(long, conflicts_with_all = ["outboard", "catalogue", "foreign", "root", "range", "sample", "budget"])]
    pub xattr: bool,
    /// Compare with this root instead of trusting the outboard's
    #[arg(long, value_name = "ROOT")]
    pub root: Option<String>,
    /// Verify only these bytes; may be repeated
    #[arg(long, value_name = "A..B")]
    pub range: Vec<ByteRange>,
    /// Verify this share of each file, least recently verified data first: 5%
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "range")]
    pub sample: Option<f64>,
    /// Verify for this long in all, least recently verified data of all files first: 30m, 90s, 2h
    ///
    /// The time at which each part of a file was verified is kept in FILE.mkt.checked.
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with_all = ["range", "sample"])]
    pub budget: Option<Duration>,
    /// Skip files whose size, mtime and inode match the outboard, or size and mtime the attribute
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub directories: Directories,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum diff`.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// A file, or its outboard; or a directory, a catalogue (also its URL) or a sum file
    #[arg(value_name = "A", value_parser = place(), value_hint = ValueHint::FilePath)]
    pub left: Input,
    /// Another one
    #[arg(value_name = "B", value_parser = place(), value_hint = ValueHint::FilePath)]
    pub right: Input,
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

/// The tree that `keep --foreign` writes; `None` if it is the usual one of the chosen format.
pub type Usual = Option<ForeignFormat>;

/// Reads the tree of another program: a format, or the extension of its files.
pub fn foreign(text: &str) -> Result<ForeignFormat, String> {
    text.parse().map_err(|error: Error| match error {
        Error::Source(error) => match error.downcast_ref() {
            Some(OutboardError::Spec(error)) => error.to_string(),
            _ => error.to_string(),
        },
        error => error.to_string(),
    })
}

fn foreign_or_usual(text: &str) -> Result<Usual, String> {
    if text.is_empty() { Ok(None) } else { foreign(text).map(Some) }
}

/// A universally unique identifier (RFC 9562).
#[derive(Clone, Copy, Debug, Default)]
pub struct Uuid(pub [u8; 16]);

fn uuid(text: &str) -> Result<Uuid, String> {
    let places = [8, 13, 18, 23];
    let dashes = text.len() == 36 && places.iter().all(|&place| text.as_bytes()[place] == b'-');
    let digits: String = text.chars().filter(|&letter| letter != '-').collect();
    let bytes = base16ct::mixed::decode_vec(digits).ok().filter(|_| dashes);
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes.map(Uuid).ok_or("expected a UUID, as in 12345678-9abc-def0-1234-56789abcdef0".into())
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    number.filter(|percent| *percent > 0.0 && *percent <= 100.0).ok_or("expected more than 0% and at most 100%".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read() {
        assert_eq!(percent("5%"), Ok(5.0));
        assert_eq!(percent("0.5"), Ok(0.5));
        assert!(["", "0", "101", "-1", "NaN", "inf"].iter().all(|text| percent(text).is_err()));
    }
}
