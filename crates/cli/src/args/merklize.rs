//! The flags of `mksum merklize`.

use super::numbers::number;
use super::paths::path;
use super::{Common, Reading};
use clap::ValueHint;
use mksum::Hash;
use mksum::node_tree::NodeTree;
use std::path::PathBuf;

/// `mksum merklize`.
#[derive(Debug, clap::Args)]
pub struct Merklize {
    /// The leaves: 2, 4, 8 ... digests, one after another; none or '-' is standard input
    #[arg(value_name = "LEAVES", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Write the nodes to this file: the root at index 1, the children of i at 2i and 2i + 1; index 0 is zero
    ///
    /// There are as many entries as leaves; the leaves are not repeated. The file is written whole or not at all.
    #[arg(short, long, value_name = "NODES", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Hash of the nodes: blake3, sha256, keccak256, ...
    #[arg(short = 'a', long, visible_alias = "algorithm", value_name = "HASH", default_value = "blake3", value_parser = hash)]
    pub hash: Hash,
    /// Take N random digests as leaves: 1024, 2^25
    #[arg(long, value_name = "N", value_parser = leaves, conflicts_with = "file")]
    pub random: Option<u64>,
    /// Seed of the random digests (SplitMix64)
    #[arg(long, value_name = "S", value_parser = number::<u64>(0..=u64::MAX), default_value = "1")]
    pub seed: u64,
    /// Hash on this device: cpu, auto (a GPU if there is one), or a number or name listed by 'mksum devices'
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: String,
    /// Print one JSON object per line (spec/json.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub common: Common,
}

fn hash(text: &str) -> Result<Hash, String> {
    let known = |hash: &Hash| NodeTree::HASHES.contains(hash);
    Hash::from_name(&text.to_ascii_lowercase()).filter(known).ok_or_else(|| {
        let names: Vec<_> = NodeTree::HASHES.iter().map(|hash| hash.name()).collect();
        format!("no node trees are made with it: expected one of {}", names.join(", "))
    })
}

/// A power of two from 2 on: as a number, or as `2^` and the exponent.
fn leaves(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("2^") {
        Some(exponent) => exponent.parse().ok().and_then(|exponent| 1_u64.checked_shl(exponent)),
        None => text.parse().ok(),
    };
    // With the longest digest still below the length that any file can have.
    number
        .filter(|number| number.is_power_of_two() && (2..=1 << 56).contains(number))
        .ok_or_else(|| "expected a power of two from 2 to 2^56, as in 1024 or 2^25".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_leaves() {
        for (text, expected) in [("2", 2), ("2^1", 2), ("1024", 1024), ("2^25", 1 << 25), ("2^56", 1 << 56)] {
            assert_eq!(leaves(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "1", "2^0", "3", "2^57", "2^64", "2^99999999999", "-2", "2^-1", "4^2", "2^", "1e3"] {
            assert!(leaves(text).is_err(), "{text}");
        }
    }
}
