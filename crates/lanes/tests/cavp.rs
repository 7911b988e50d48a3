//! NIST's vectors for the SHA family: short and long messages, and the Monte Carlo chains of 100,000 hashes each.
//!
//! The rows of `cavp.tsv` are of the Cryptographic Algorithm Validation Program's `shabytetestvectors.zip` (CAVS 11) and
//! `sha-3bytetestvectors.zip` (CAVS 19), as the PyPI package `cryptography-vectors` 50.0.2 has them: works of NIST, in the public domain
//! (17 U.S.C. 105). A row has a hash, `message` or `chain`, the message or the seed, and the digest or a chain's last one. Of the messages,
//! those with lengths around a block are kept, and four longer ones: `whole.rs` compares every length with another implementation.

use mksum_lanes::{Hash, Messages, cpu::Cpu, digest, digests_on};

fn unhex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The inputs and digests of one kind.
fn rows(kind: &str) -> Vec<(Hash, Vec<u8>, Vec<u8>)> {
    let rows = include_str!("cavp.tsv").lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let of_kind = rows.filter(|row| row[1] == kind);
    of_kind.map(|row| (Hash::from_name(row[0]).unwrap(), unhex(row[2]), unhex(row[3]))).collect()
}

/// Each message on each instruction set, alone and in every lane.
#[test]
fn messages() {
    let rows = rows("message");
    assert_eq!(rows.len(), 87);
    for (hash, message, expected) in rows {
        let len = message.len();
        for cpu in Cpu::available() {
            for count in [1, hash.lanes_on(cpu)] {
                let all = message.repeat(count);
                let mut out = vec![0; count * hash.size()];
                digests_on(cpu, hash, &[], Messages::strided(&all, len, len, count), &mut out);
                for digest in out.chunks(hash.size()) {
                    assert_eq!(digest, expected, "{cpu:?} {} of {len} bytes", hash.name());
                }
            }
        }
    }
}

/// The Monte Carlo test (The Secure Hash Algorithm Validation System, 6.4): each digest is of the three before.
#[test]
fn chains() {
    let rows = rows("chain");
    assert_eq!(rows.len(), 7);
    for (hash, mut seed, expected) in rows {
        for _ in 0..100 {
            let mut last = [seed.clone(), seed.clone(), seed];
            for _ in 0..1000 {
                let next = digest(hash, &[&last[0], &last[1], &last[2]])[..hash.size()].to_vec();
                let [_, second, third] = last;
                last = [second, third, next];
            }
            [_, _, seed] = last;
        }
        assert_eq!(seed, expected, "{}", hash.name());
    }
}
