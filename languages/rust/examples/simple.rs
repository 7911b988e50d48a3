//! Prints the Merkle root of a file: `cargo run --release --example simple SEGMENT FILE`
//!
//! The whole idea of this folder in one file, with the SHA-256 of the crate `sha2`. A leaf is the hash of one segment, a node the
//! hash of its two children's digests, and neither has a prefix (the format `plain`).

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::{env, process};

type Hash = [u8; 32];

/// The roots of perfect subtrees, at most one of each height: the binary digits of the number of leaves.
#[derive(Default)]
struct Tree {
    /// `[k]` is the root of 2^k leaves.
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

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (segment, name) = match arguments.as_slice() {
        [size, name] => (size.parse().unwrap_or(0), name),
        _ => (0, &String::new()),
    };
    if segment == 0 {
        eprintln!("usage: simple SEGMENT FILE");
        process::exit(1);
    }
    match File::open(name).and_then(|file| root_of(file, segment)) {
        Ok(root) => println!("{}", root.map(|byte| format!("{byte:02x}")).concat()),
        Err(error) => {
            eprintln!("{name}: {error}");
            process::exit(1);
        }
    }
}
