//! The commands for trees in parts.

use super::numbers::number;
use super::paths::{input, path};
use super::{Choices, Common, Directories, Reading};
use clap::ValueHint;
use mksum::parse_size;
use mksum_io::Input;
use std::path::PathBuf;

/// `mksum plan`.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Files, or URLs of objects; with --recursive directories, or URLs of prefixes
    #[arg(value_name = "FILE", required = true, value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub files: Vec<Input>,
    /// Maximum length of a part. A leaf that is longer is one part
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = part)]
    pub range: u64,
    /// Divide the rows into N tasks of similar cost, for 'mksum map --task'
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::<u64>(1..=1_000_000))]
    pub tasks: u64,
    /// Have the maps collect what 'mksum join --outboards' needs to write an outboard of each input
    #[arg(long)]
    pub outboards: bool,
    /// Keep digests of subtrees of at most this length; by default outboards have a thousandth of the bytes
    #[arg(long, value_name = "SIZE", requires = "outboards", value_parser = part)]
    pub keep_leaf: Option<u64>,
    #[command(flatten)]
    pub directories: Directories,
    #[command(flatten)]
    pub choices: Choices,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum map`.
#[derive(Debug, clap::Args)]
pub struct Map {
    /// A plan, or some of its rows; none or '-' is standard input
    #[arg(value_name = "PLAN", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub plan: Option<PathBuf>,
    /// Hash only the rows of this task, numbered from 0
    #[arg(long, value_name = "N", value_parser = number::<u64>(0..=999_999))]
    pub task: Option<u64>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

/// `mksum missing`.
#[derive(Debug, clap::Args)]
pub struct Missing {
    /// The plan
    #[arg(value_name = "PLAN", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// The ledgers
    #[arg(value_name = "LEDGER", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub ledgers: Vec<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

fn part(text: &str) -> Result<u64, String> {
    match parse_size(text) {
        Ok(0) => Err("expected at least 1 byte".into()),
        size => size.map_err(|error| error.to_string()),
    }
}
