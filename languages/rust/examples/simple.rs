//! Prints the Merkle root of a file: `cargo run --release --example simple SEGMENT FILE`
//!
//! The whole idea of this folder in one file, with the SHA-256 of the crate `sha2`. A leaf is the hash of one segment, a node the
//! hash of its two children's digests, and neither has a prefix (the format `plain`).

use sha2::{Digest, Sha256};
use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::num::NonZeroU64;
use std::{env, process::ExitCode};

type Hash = [u8; 32];

/// The roots of perfect subtrees, at most one of each height: the binary digits of the number of leaves.
#[derive(Default)]
struct Tree {
    /// `[k]` is the root of 2^k leaves, or `None`.
    subtrees: Vec<Option<Hash>>,
}

impl Tree {
    /// Appends a leaf as one is added to a binary number: each carry joins two subtrees of equal height.
    fn push(&mut self, mut digest: Hash) {
        for subtree in &mut self.subtrees {
            match subtree.take() {
                Some(left) => digest = node(left, digest),
                None => {
                    *subtree = Some(digest);
                    return;
                }
            }
        }
        self.subtrees.push(Some(digest));
    }

    /// Joins the subtrees along the right edge, the smallest first. A tree without leaves has the hash of no bytes.
    fn root(&self) -> Hash {
        let present = self.subtrees.iter().flatten().copied();
        present.reduce(|right, left| node(left, right)).unwrap_or_else(|| Sha256::digest([]).into())
    }
}

fn node(left: Hash, right: Hash) -> Hash {
    Sha256::new().chain_update(left).chain_update(right).finalize().into()
}

/// Reads to the end, one segment at a time. Only the last one may be shorter.
fn root_of(input: impl Read, segment: u64) -> io::Result<Hash> {
    let mut input = BufReader::with_capacity(1 << 17, input);
    let (mut tree, mut leaf) = (Tree::default(), Vec::new());
    while input.by_ref().take(segment).read_to_end(&mut leaf)? > 0 {
        tree.push(Sha256::digest(&leaf).into());
        leaf.clear();
    }
    Ok(tree.root())
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let [segment, name] = arguments.as_slice() else { return Err("usage: simple SEGMENT FILE".into()) };
    let segment: NonZeroU64 = segment.to_str().unwrap_or_default().parse()?;
    let root = File::open(name).and_then(|file| root_of(file, segment.get()));
    let root = root.map_err(|error| format!("{}: {error}", name.display()))?;
    writeln!(io::stdout(), "{}", root.map(|byte| format!("{byte:02x}")).concat())?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simple: {error}");
            ExitCode::FAILURE
        }
    }
}
