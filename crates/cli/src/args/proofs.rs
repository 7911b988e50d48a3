//! The commands around proofs.

use super::{Choices, Reading};
use clap::ValueHint;
use mksum::parse_size;
use mksum_cli::range::ByteRange;
use std::path::PathBuf;

/// `mksum prove`.
#[derive(Debug, clap::Args)]
pub struct Prove {
    /// The file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Prove that these bytes lie in the file: A..B, A.. or ..B
    #[arg(long, value_name = "A..B", required_unless_present = "consistency", conflicts_with = "consistency")]
    pub range: Option<ByteRange>,
    /// Prove that the file has only grown since it had this length
    #[arg(long, value_name = "OLDLEN", value_parser = parse_size)]
    pub consistency: Option<u64>,
    /// The file's outboard [default: FILE.mkt, if it is there and fits]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub outboard: Option<PathBuf>,
    /// Print the proof as one JSON object, with the root
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// In which format.
    #[command(flatten)]
    pub choices: Choices,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mksum check-proof`.
#[derive(Debug, clap::Args)]
pub struct CheckProof {
    /// The root that is trusted, in the format that is trusted: see --format
    #[arg(value_name = "ROOT")]
    pub root: String,
    /// The proof
    #[arg(value_name = "PROOF", value_hint = ValueHint::FilePath)]
    pub proof: PathBuf,
    /// The bytes of the range [default: the standard input]
    #[arg(value_name = "BYTES", value_hint = ValueHint::FilePath, conflicts_with = "old_root")]
    pub bytes: Option<PathBuf>,
    /// The length of the whole input, from where the root comes from
    ///
    /// Formats that hash leaves and nodes alike (plain, glacier, btv2, ...) cannot be proven without it.
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub length: Option<u64>,
    /// Check that the input has only grown since it had this root
    #[arg(long, value_name = "ROOT")]
    pub old_root: Option<String>,
    /// The length that it had with the old root
    #[arg(long, value_name = "N", value_parser = parse_size, requires = "old_root")]
    pub old_length: Option<u64>,
    /// Print one JSON object: what was shown
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// In which format.
    #[command(flatten)]
    pub choices: Choices,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mksum join`.
#[derive(Debug, clap::Args)]
pub struct Join {
    /// JSON lines with "offset", "length" and "digest" (hex) of a subtree each; none or '-' is the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Print one JSON object: format, length, root, subtrees
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// In which format.
    #[command(flatten)]
    pub choices: Choices,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
}
