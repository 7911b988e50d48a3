//! The commands for proofs.

use super::paths::{input, path, place};
use super::{Choices, Common, Reading};
use clap::ValueHint;
use mksum::parse_size;
use mksum_cli::range::ByteRange;
use mksum_io::Input;
use std::path::PathBuf;

/// `mksum prove`.
#[derive(Debug, clap::Args)]
pub struct Prove {
    /// The file, or with --path the directory
    #[arg(value_name = "FILE", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub file: Input,
    /// Prove that the file contains these bytes: A..B, A.. or ..B
    #[arg(long, value_name = "A..B", conflicts_with = "consistency")]
    pub range: Option<ByteRange>,
    /// Prove that the directory contains the entry at PATH, relative to it, with its root (spec/directory.md)
    ///
    /// In the format dir unless -f names another format of directories. All files in the directory are read.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["range", "consistency", "outboard", "json"])]
    pub path: Option<PathBuf>,
    /// Prove that the file has only grown since it had this length
    #[arg(long, value_name = "OLDLEN", value_parser = parse_size)]
    pub consistency: Option<u64>,
    /// Path of the outboard [default: FILE.mkt, if it exists and fits]
    #[arg(long, value_name = "PATH", value_parser = place(), value_hint = ValueHint::FilePath)]
    pub outboard: Option<Input>,
    /// Print the proof as one JSON object, with the root (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum check-proof`.
#[derive(Debug, clap::Args)]
pub struct CheckProof {
    /// The trusted root, as mksum printed it: FORMAT:ROOT, the line, or ROOT in the format given with --format
    #[arg(value_name = "ROOT")]
    pub root: String,
    /// The proof
    #[arg(value_name = "PROOF", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub proof: PathBuf,
    /// The bytes of the range [default: standard input]; for a directory, the file to be compared with its entry
    #[arg(value_name = "BYTES", value_parser = input(), value_hint = ValueHint::FilePath, conflicts_with = "old_root")]
    pub bytes: Option<Input>,
    /// Length of the whole input, from the source of the trusted root
    ///
    /// Formats that hash leaves and nodes alike (plain, glacier, btv2, ...) prove nothing without it.
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub length: Option<u64>,
    /// Check that the input has only grown since it had this root (a consistency proof)
    #[arg(long, value_name = "ROOT")]
    pub old_root: Option<String>,
    /// Length of the input with the old root
    #[arg(long, value_name = "N", value_parser = parse_size, requires = "old_root")]
    pub old_length: Option<u64>,
    /// Print one JSON object: what the proof shows (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum join`.
#[derive(Debug, clap::Args)]
pub struct Join {
    /// JSON lines, each with the "offset", "length" and "digest" (hex) of a subtree; none or '-' is standard input
    ///
    /// With --plan, ledgers. With -f dir, PLACE=CATALOGUE for each part of a directory: the path of a folder below the directory, and
    /// its catalogue, a URL of that, or a directory that has one. The directory has these folders, those above them, and nothing else;
    /// no file is read.
    #[arg(value_name = "FILE", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub files: Vec<Input>,
    /// Print the root of each input of this plan, from the digests of its parts in ledgers (spec/plan.md)
    #[arg(long, value_name = "PLAN", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub plan: Option<PathBuf>,
    /// Write an outboard of each input too: beside it as NAME.mkt, or below DIR, a directory or the URL of a prefix
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, requires = "plan", value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub outboards: Option<Option<Input>>,
    /// Replace outboards of another root too
    #[arg(long, requires = "outboards")]
    pub accept_changes: bool,
    /// Print one JSON object: format, length, root, subtrees (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub common: Common,
}
