//! `digests` of messages in memory against the reference crates: every hash on every instruction set of this machine.

mod reference;

use mksum_lanes::{
    Hash, Messages, blake3, cpu::Cpu, digest, digests_on, keccak_f1600, sha256_pairs_on, sha256tree_parents_on,
};
use reference::{bytes, reference};

/// Compares all digests; on failure says which message of which case.
fn check(cpu: Cpu, hash: Hash, prefix: &[u8], messages: Messages<'_>, expected: &[Vec<u8>]) {
    let mut out = vec![0xee; messages.count() * hash.size()];
    digests_on(cpu, hash, prefix, messages, &mut out);
    for (index, digest) in out.chunks_exact(hash.size()).enumerate() {
        assert!(
            digest == expected[index],
            "{cpu:?} {} message {index} of {} × {} bytes, stride {}, prefix {}",
            hash.name(),
            messages.count(),
            messages.len(),
            messages.stride(),
            prefix.len()
        );
    }
}

/// One case on all instruction sets.
fn check_all(hash: Hash, prefix: &[u8], messages: Messages<'_>) {
    let expected: Vec<_> = messages.iter().map(|message| reference(hash, &[prefix, message])).collect();
    for cpu in Cpu::available() {
        check(cpu, hash, prefix, messages, &expected);
    }
}

/// More than the lanes of two groups of any kernel.
fn most_lanes(hash: Hash) -> usize {
    Cpu::available().map(|cpu| 2 * hash.lanes_on(cpu) + 1).max().unwrap()
}

#[test]
fn every_length() {
    let memory = bytes(128 * 512);
    for &hash in Hash::ALL {
        let borders = (1..=3).flat_map(|blocks| {
            let at = blocks * hash.block_size();
            at.saturating_sub(20)..at + 4
        });
        for len in (0..=300).chain(borders) {
            check_all(hash, &[], Messages::strided(&memory, len, len + 7, most_lanes(hash)));
        }
    }
}

#[test]
fn every_count() {
    let memory = bytes(128 * 1024);
    for &hash in Hash::ALL {
        for count in 0..=most_lanes(hash) {
            for len in [1, 64, 65, 2 * hash.block_size()] {
                check_all(hash, &[], Messages::strided(&memory, len, len, count));
                check_all(hash, &[0], Messages::strided(&memory, len, len + 64, count));
            }
        }
    }
}

/// So many that what is the same in all last blocks is computed once: padding alone, and all but the first word or byte.
#[test]
fn many_with_nearly_the_same_last_block() {
    let memory = bytes(150 * 200);
    for &hash in Hash::ALL {
        for len in [63, 64, 65, 66, 67, 68, 127, 128, 129, 132, 135, 136] {
            for prefix in [&[][..], &[1]] {
                check_all(hash, prefix, Messages::strided(&memory, len, len + 3, 141));
            }
        }
    }
}

#[test]
fn every_alignment() {
    let memory = bytes(64 * 300);
    for &hash in Hash::ALL {
        for at in 0..64 {
            check_all(hash, &[1], Messages::strided(&memory[at..], 200, 200 + at % 5, 35));
        }
    }
}

#[test]
fn every_prefix() {
    let (memory, prefix) = (bytes(64 * 1200), bytes(1100));
    for &hash in Hash::ALL {
        for shared in (0..=300).chain([512, 1023, 1024, 1025]) {
            let len = [0, 1, 31, 64, 127, 128, 200, 1024][shared % 8];
            check_all(hash, &prefix[..shared], Messages::strided(&memory, len, len, 34));
        }
        for shared in [1, 32] {
            for len in 0..=3 * hash.block_size() {
                check_all(hash, &prefix[..shared], Messages::strided(&memory, len, len + 1, 17));
            }
        }
    }
}

#[test]
fn strides_in_the_same_cache_sets() {
    let memory = bytes(40 * 8192);
    for &hash in Hash::ALL {
        for len in [2048, 4095, 8191, 8192] {
            for count in [1, 16, 33, 40] {
                check_all(hash, &[7], Messages::strided(&memory, len, len.next_power_of_two(), count));
            }
        }
    }
}

#[test]
fn long_messages() {
    let memory = bytes(70_000);
    for &hash in Hash::ALL {
        for len in [1023, 1024, 1025, 2048, 2049, 3072, 5000, 31 * 1024, 32 * 1024 + 1, 65536] {
            for count in 1..=70_000 / len {
                if count < 6 {
                    check_all(hash, &[], Messages::strided(&memory, len, len, count));
                }
            }
        }
    }
}

#[test]
fn one_bit_changes_one_lane() {
    let memory = bytes(70 * 130);
    for &hash in Hash::ALL {
        for cpu in Cpu::available() {
            let (count, size) = (2 * hash.lanes_on(cpu) + 1, hash.size());
            let digests = |memory: &[u8]| {
                let mut out = vec![0; count * size];
                digests_on(cpu, hash, &[1], Messages::strided(memory, 64, 65, count), &mut out);
                out
            };
            let (before, mut memory) = (digests(&memory), memory.clone());
            for index in 0..count {
                memory[index * 65 + index % 64] ^= 1 << (index % 8);
                let after = digests(&memory);
                for (other, (a, b)) in before.chunks(size).zip(after.chunks(size)).enumerate() {
                    assert_eq!(a != b, other == index, "{cpu:?} {} lane {other}", hash.name());
                }
                memory[index * 65 + index % 64] ^= 1 << (index % 8);
            }
        }
    }
}

#[test]
fn every_kernel_has_its_count() {
    for &hash in Hash::ALL {
        for cpu in Cpu::available() {
            let lanes: Vec<_> = cpu.kernels(hash).map(|kernel| kernel.lanes).collect();
            assert!(lanes.contains(&hash.lanes_on(cpu)), "{cpu:?} {}: {lanes:?}", hash.name());
            assert!(lanes.contains(&1), "{cpu:?} {}", hash.name());
        }
    }
}

#[test]
fn blake3_chunks_and_parents() {
    let memory = bytes(40 * 1024);
    for count in 0..=40 {
        for len in [1, 63, 64, 65, 1000, 1024] {
            let counter = u32::MAX as u64 - 20;
            let mut out = vec![[0; 32]; count];
            blake3::chunks(counter, Messages::strided(&memory, len, len, count), &mut out);
            for (index, value) in out.iter().enumerate() {
                use ::blake3::hazmat::HasherExt;
                let mut hasher = ::blake3::Hasher::new();
                hasher.set_input_offset((counter + index as u64) * 1024);
                let expected = hasher.update(&memory[index * len..][..len]).finalize_non_root();
                assert_eq!(*value, expected, "chunk {index} of {count} × {len} bytes");
            }
        }
        let (values, _) = memory[..64 * count].as_chunks::<32>();
        let mut out = vec![[0; 32]; count];
        blake3::parents(values, &mut out);
        for (index, value) in out.iter().enumerate() {
            use ::blake3::hazmat::{Mode, merge_subtrees_non_root, merge_subtrees_root};
            let [left, right] = [values[2 * index], values[2 * index + 1]];
            assert_eq!(*value, merge_subtrees_non_root(&left, &right, Mode::Hash), "parent {index} of {count}");
            assert_eq!(blake3::root_parent(&left, &right), *merge_subtrees_root(&left, &right, Mode::Hash).as_bytes());
        }
    }
    for len in 0..=1024 {
        assert_eq!(blake3::root_chunk(&memory[..len]), *::blake3::hash(&memory[..len]).as_bytes(), "{len} bytes");
    }
}

/// The examples of GB/T 32905, annex A.
#[test]
fn sm3_examples() {
    for (message, expected) in [
        ("abc".to_owned(), "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"),
        ("abcd".repeat(16), "debe9ff92275b8a138604889c18e5a4d6fdb70e5387e5765293dcba39c0c5732"),
    ] {
        let digest: String =
            digest(Hash::Sm3, &[message.as_bytes()])[..32].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, expected);
    }
}

/// `sha256_pairs` apart from the messages, in their place, and at every whole digest before them.
#[test]
fn sha256_pairs() {
    let most = 2 * most_lanes(Hash::Sha256) + 3;
    let pairs = bytes(64 * most);
    let expected: Vec<_> = pairs.chunks(64).flat_map(|pair| reference(Hash::Sha256, &[pair])).collect();
    for cpu in Cpu::available() {
        for count in 0..=most {
            let expected = &expected[..32 * count];
            let mut out = vec![0xee; 32 * count + 1];
            // SAFETY: `out` has room for the digests of so many pairs, apart from them.
            unsafe { sha256_pairs_on(cpu, pairs.as_ptr(), count, out.as_mut_ptr()) };
            assert!(out[..32 * count] == *expected && out[32 * count] == 0xee, "{cpu:?}, {count} pairs");
            for before in [0, 32, 64, 96, 32 * count] {
                let mut memory = vec![0xee; before];
                memory.extend_from_slice(&pairs[..64 * count]);
                let start = memory.as_mut_ptr();
                // SAFETY: the pairs lie `before` bytes after `start`, where the digests go.
                unsafe { sha256_pairs_on(cpu, start.wrapping_add(before), count, start) };
                assert_eq!(
                    &memory[..32 * count],
                    expected,
                    "{cpu:?}, {count} pairs, digests {before} bytes before them"
                );
            }
        }
    }
}

/// `sha256tree_parents` beside another implementation of SHA-256's compression function, and a published parent: of 1,025 bytes of `mod251`.
#[test]
fn parents_of_sha256tree() {
    const START: [u32; 8] =
        [0xcbbb9d5d, 0x629a292a, 0x9159015a, 0x152fecd8, 0x67332667, 0x8eb44a87, 0xdb0c2e0d, 0x47b5481d];
    let most = 2 * most_lanes(Hash::Sha256) + 3;
    let pairs = bytes(64 * most);
    let expected: Vec<_> = pairs
        .as_chunks()
        .0
        .iter()
        .flat_map(|pair: &[u8; 64]| {
            let mut state = START;
            sha2::block_api::compress256(&mut state, &[*pair]);
            state
                .into_iter()
                .zip(START)
                .flat_map(|(word, start)| word.wrapping_sub(start).to_be_bytes())
                .collect::<Vec<_>>()
        })
        .collect();
    let leaves: Vec<_> = (0..1025).map(|index| (index % 251) as u8).collect();
    let published = leaves.chunks(1024).flat_map(|leaf| reference(Hash::Sha256, &[leaf])).collect::<Vec<_>>();
    for cpu in Cpu::available() {
        for count in 0..=most {
            let mut out = vec![0xee; 32 * count];
            sha256tree_parents_on(cpu, &pairs[..64 * count], &mut out);
            assert!(out == expected[..32 * count], "{cpu:?}, {count} pairs");
        }
        let mut parent = [0; 32];
        sha256tree_parents_on(cpu, &published, &mut parent);
        assert_eq!(parent[..8], [0x36, 0xc0, 0x99, 0x8b, 0x21, 0x83, 0x9e, 0xf7], "{cpu:?}");
    }
}

/// A sponge over `keccak_f1600` (FIPS 202, 4) makes SHA3-256.
#[test]
fn keccak_in_a_sponge() {
    let message = bytes(500);
    let mut padded = [&message[..], &[6]].concat();
    padded.resize(padded.len().next_multiple_of(136), 0);
    *padded.last_mut().unwrap() |= 0x80;
    let mut state = [0; 25];
    for block in padded.chunks_exact(136) {
        for (own, word) in state.iter_mut().zip(block.as_chunks().0) {
            *own ^= u64::from_le_bytes(*word);
        }
        keccak_f1600(&mut state);
    }
    let digest: Vec<u8> = state[..4].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(digest, reference(Hash::Sha3_256, &[&message]));
}

#[test]
fn keyed_blake3_of_every_size() {
    let (memory, key) = (bytes(131_072), *b"whats the Elvish word for friend");
    let borders = (1..=16).flat_map(|chunks| [1024 * chunks - 1, 1024 * chunks, 1024 * chunks + 1]);
    for len in (0..=200).chain(borders).chain([33_000, 65_536, 100_001, 131_072]) {
        let expected = *::blake3::keyed_hash(&key, &memory[..len]).as_bytes();
        for cpu in Cpu::available() {
            assert_eq!(blake3::keyed_digest_on(cpu, &key, &memory[..len]), expected, "{cpu:?} {len} bytes");
        }
    }
}

#[test]
fn keyed_blake3_of_slices_and_derived_keys() {
    let (memory, key, context) = (bytes(131_072), *b"whats the Elvish word for friend", "mksum 2026-11-27 a test");
    for len in [0, 1, 63, 64, 65, 1023, 1024, 1025, 2048, 2049, 3073, 65_536, 100_001, 131_072] {
        let expected =
            [::blake3::keyed_hash(&key, &memory[..len]).into(), ::blake3::derive_key(context, &memory[..len])];
        for piece in [1, 64, 1000, 1024, 4097, 200_000] {
            let mut hashes = [blake3::Keyed::new(&key), blake3::Keyed::derive(context)];
            for slice in memory[..len].chunks(piece) {
                hashes.iter_mut().for_each(|hash| hash.update(slice));
            }
            assert_eq!(hashes.map(blake3::Keyed::finish), expected, "{len} bytes in pieces of {piece}");
        }
    }
    // A context of more than a chunk.
    let context = "c".repeat(3000);
    assert_eq!(blake3::Keyed::derive(&context).finish(), ::blake3::derive_key(&context, b""));
}
