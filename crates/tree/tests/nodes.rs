//! Node trees on the CPU against another implementation of each hash, and against the rows of `vectors/nodes.tsv`.

use base16ct::lower::encode_string;
use mksum::Hash;
use mksum::node_tree::{CpuLanes, Merklize, NodeTree, NodeTreeError};
use mksum_vectors::{Pattern, bytes, node_rows, nodes, reference, same_nodes};
use std::thread;

/// The nodes, written over bytes that are no digests.
fn merklized(threads: usize, hash: Hash, leaves: &[u8]) -> Vec<u8> {
    let mut nodes = vec![0xa5; leaves.len()];
    CpuLanes { threads }.merklize(hash, leaves, &mut nodes).unwrap();
    nodes
}

fn sha256(bytes: &[u8]) -> String {
    encode_string(&reference(Hash::Sha256, &[bytes]))
}

#[test]
fn every_row_of_the_vectors() {
    for row in node_rows() {
        let (size, leaves) = (row.hash.size(), row.input());
        assert_eq!(sha256(&leaves), row.leaves, "{}: the leaves", row.at);
        for threads in [1, 2, 5] {
            let nodes = merklized(threads, row.hash, &leaves);
            assert_eq!(nodes[..size], vec![0; size], "{}: place 0", row.at);
            assert_eq!(encode_string(NodeTree::over(row.hash, leaves.len()).unwrap().root(&nodes)), row.root);
            assert_eq!(sha256(&nodes[size..]), row.nodes, "{}: {threads} threads", row.at);
        }
    }
}

#[test]
fn every_node_of_random_leaves_up_to_2_16() {
    let random = bytes(64 << 16);
    for &hash in NodeTree::HASHES {
        // The slow tree over most leaves holds those over fewer.
        let (size, most) = (hash.size(), 1 << 16);
        let leaves = &random[..most * size];
        let slow = nodes(hash, leaves);
        for levels in 1..=16 {
            let count = 1 << levels;
            for threads in [1, 2, 3] {
                let at = format!("{} over 2^{levels}, {threads} threads", hash.name());
                same_nodes(hash, &merklized(threads, hash, &leaves[..count * size]), &slow, &at);
            }
        }
    }
}

#[test]
fn a_million_leaves_have_the_published_root_and_nodes() {
    let leaves = Pattern::Pat.bytes(32 << 20);
    for threads in [1, 2] {
        let nodes = merklized(threads, Hash::Blake3, &leaves);
        let root = encode_string(&nodes[32..64]);
        assert_eq!(root, "0e8d1913a38ca6f3c038a38682cb325707e89214442d8c1b2e2a2b18fb713ab3");
        assert_eq!(sha256(&nodes), "16cdec18ee0fee63736b50c9c1b74263817c28aec906813ce6590bcfcdf9293e");
    }
}

#[test]
fn large_trees_agree_with_their_halves_and_two_run_at_once() {
    for hash in [Hash::Blake3, Hash::Sha1, Hash::Sha512] {
        let leaves = bytes(hash.size() << 18);
        let slow = nodes(hash, &leaves);
        thread::scope(|scope| {
            for threads in [1, 2] {
                let (leaves, slow) = (&leaves, &slow);
                scope.spawn(move || assert!(merklized(threads, hash, leaves) == *slow, "{}", hash.name()));
            }
        });
    }
}

#[test]
fn wrong_sizes_and_hashes_are_told() {
    let cpu = CpuLanes { threads: 1 };
    let mut out = vec![0xa5; 4096];
    let mut error = |hash, leaves: &[u8], nodes: usize| cpu.merklize(hash, leaves, &mut out[..nodes]).unwrap_err();
    for found in [0, 1, 31, 32, 33, 63, 65, 95, 96, 97, 127, 129, 32 * 6] {
        let error = error(Hash::Blake3, &vec![0; found], found);
        assert!(matches!(error, NodeTreeError::Leaves { hash: Hash::Blake3, found: told } if told == found), "{found}");
    }
    assert_eq!(
        error(Hash::Blake3, &[0; 96], 96).to_string(),
        "96 bytes of leaves: expected 2, 4, 8 … digests of blake3, 32 bytes each; the nearest lengths are 64 and 128 bytes"
    );
    assert_eq!(
        error(Hash::Sha1, &[0; 20], 20).to_string(),
        "20 bytes of leaves: expected 2, 4, 8 … digests of sha1, 20 bytes each, so at least 40 bytes"
    );
    for nodes in [0, 32, 63, 65, 128] {
        let error = error(Hash::Blake3, &[0; 64], nodes);
        assert!(matches!(error, NodeTreeError::Nodes { found, expected: 64 } if found == nodes), "{nodes}");
    }
    for &hash in Hash::ALL {
        let leaves = vec![0; 2 * hash.size()];
        let found = NodeTree::over(hash, leaves.len());
        assert_eq!(found.is_ok(), NodeTree::HASHES.contains(&hash), "{}", hash.name());
        if found.is_err() {
            assert!(matches!(error(hash, &leaves, leaves.len()), NodeTreeError::Hash(told) if told == hash));
        }
    }
    assert!(out.iter().all(|&byte| byte == 0xa5), "an error writes nothing");
}
