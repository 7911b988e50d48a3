//! `Streams` against the reference crates: messages that come in slices of any length.

mod reference;

use mksum_lanes::{Hash, Messages, Streams, cpu::Cpu};
use proptest::prelude::*;
use reference::{bytes, reference};

#[test]
fn whole_slices_and_empty_ones() {
    let memory = bytes(40 * 3000);
    for &hash in Hash::ALL {
        for cpu in Cpu::available() {
            for count in [0, 1, 2, 3, hash.lanes_on(cpu), hash.lanes_on(cpu) + 3] {
                let mut streams = Streams::on(cpu, hash, b"salt", count);
                for len in [0, 1, hash.block_size(), 0, 1024, 2 * hash.block_size() - 1, 700] {
                    streams.update(Messages::strided(&memory, len, len + 3, count));
                }
                streams.append(b"end");
                let mut out = vec![0; count * hash.size()];
                streams.finish(&mut out);
                for (index, digest) in out.chunks(hash.size()).enumerate() {
                    let mut parts = vec![&b"salt"[..]];
                    for len in [0, 1, hash.block_size(), 0, 1024, 2 * hash.block_size() - 1, 700] {
                        parts.push(&memory[index * (len + 3)..][..len]);
                    }
                    parts.push(b"end");
                    assert!(digest == reference(hash, &parts), "{cpu:?} {} {index} of {count}", hash.name());
                }
            }
        }
    }
}

/// BLAKE3's trees, as far as their values wait for each other: few long messages, and many short ones.
#[test]
fn long_streams() {
    let memory = bytes(2 << 20);
    for (count, slice, slices) in [(1, 1 << 16, 17), (1, 1024, 520), (2, 100_000, 9), (3, 1 << 17, 4), (1500, 1024, 7)]
    {
        for cpu in [Cpu::detected(), Cpu::from_name("portable").unwrap()] {
            for (skip, end) in [(0, 0), (1, 0), (0, 1)] {
                let stride = memory.len() / count / 64 * 64;
                let mut streams = Streams::on(cpu, Hash::Blake3, &memory[..skip], count);
                let mut expected = vec![::blake3::Hasher::new(); count];
                for hasher in &mut expected {
                    hasher.update(&memory[..skip]);
                }
                for at in (0..slices).map(|index| index * slice % (stride - slice).max(1)) {
                    let slices = Messages::strided(&memory[at..], slice, stride.max(slice), count);
                    streams.update(slices);
                    for (hasher, slice) in expected.iter_mut().zip(slices.iter()) {
                        hasher.update(slice);
                    }
                }
                streams.append(&memory[..end]);
                let mut out = vec![0; count * 32];
                let alone = streams.clone().split().last().unwrap();
                streams.finish(&mut out);
                for (index, digest) in out.chunks(32).enumerate() {
                    let expected = expected[index].update(&memory[..end]).finalize();
                    assert_eq!(digest, expected.as_bytes(), "{cpu:?} message {index} of {count} by {slice}");
                }
                let mut last = [0; 32];
                alone.finish(&mut last);
                assert_eq!(last, out[out.len() - 32..]);
            }
        }
    }
}

/// The message whose state was saved.
fn loaded(cpu: Cpu, hash: Hash, saved: &[u8]) -> Option<Streams> {
    let mut streams = Streams::on(cpu, hash, b"other bytes", 1);
    streams.load(saved).then_some(streams)
}

/// A state that was saved in the middle continues on every instruction set, and depends on no slices.
#[test]
fn saved_states() {
    let memory = bytes(40_000);
    for &hash in Hash::ALL {
        let block = hash.block_size();
        let lengths = [0, 1, block - 1, block, block + 1, 2 * block, 1023, 1024, 1025, 2048, 2049, 3072, 7168, 33_000];
        for len in lengths {
            let mut saved: Option<Vec<u8>> = None;
            for from in Cpu::available() {
                for slice in [1, 100, 1024, 4096, len.max(1)] {
                    let mut stream = Streams::on(from, hash, &memory[..len.min(3)], 1);
                    memory[len.min(3)..len].chunks(slice).for_each(|slice| stream.append(slice));
                    let mut own = Vec::new();
                    stream.save(&mut own);
                    assert!(own.len() < 3000, "{} bytes", own.len());
                    // The saved one goes on.
                    stream.append(&memory[len..]);
                    let mut out = vec![0; hash.size()];
                    stream.finish(&mut out);
                    assert!(out == reference(hash, &[&memory]), "{} {len}", hash.name());
                    let first = saved.get_or_insert_with(|| own.clone());
                    assert!(*first == own, "{} {len}: one state, however it came to be", hash.name());
                }
            }
            let saved = saved.unwrap();
            for to in Cpu::available() {
                for slice in [77, 1024, 40_000] {
                    let mut stream = loaded(to, hash, &saved).unwrap();
                    let mut again = Vec::new();
                    stream.save(&mut again);
                    assert!(again == saved, "{} {len}", hash.name());
                    memory[len..].chunks(slice).for_each(|slice| stream.append(slice));
                    let mut out = vec![0; hash.size()];
                    stream.finish(&mut out);
                    assert!(out == reference(hash, &[&memory]), "{to:?} {} {len} by {slice}", hash.name());
                }
                let nothing = loaded(to, hash, &saved).unwrap();
                let mut out = vec![0; hash.size()];
                nothing.finish(&mut out);
                assert!(out == reference(hash, &[&memory[..len]]), "{to:?} {} {len}", hash.name());
            }
            // Truncated and longer ones.
            assert!(
                (0..saved.len()).all(|cut| loaded(Cpu::detected(), hash, &saved[..cut]).is_none()),
                "{} {len}",
                hash.name()
            );
            assert!(loaded(Cpu::detected(), hash, &[&saved[..], &[0]].concat()).is_none(), "{} {len}", hash.name());
        }
    }
}

/// A count, a prefix, and the lengths of slices; then whether messages part after some of them.
fn cases() -> impl Strategy<Value = (usize, usize, Vec<usize>, Option<usize>)> {
    let slice = prop_oneof![0..150usize, 0..2000usize, Just(64), Just(128), Just(1024), Just(4096)];
    (0..50usize, 0..260usize, prop::collection::vec(slice, 0..8), prop::option::of(0..8usize))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes that nobody saved are refused or harmless, even where their number fits the length that they state.
    #[test]
    fn any_bytes_as_a_state(len in any::<u64>(), bits in 0..64u32, rest in prop::collection::vec(any::<u8>(), 0..3000)) {
        let len = len >> bits;
        for &hash in Hash::ALL {
            for size in [rest.len(), 0, 200, 32 + (len % 1024) as usize, 64 + (len % 128) as usize, 200 + (len % 136) as usize] {
                let state = [&len.to_le_bytes(), &rest[..size.min(rest.len())]].concat();
                let Some(mut stream) = loaded(Cpu::detected(), hash, &state) else { continue };
                prop_assert!(len < 1 << 63);
                stream.append(&rest);
                let mut again = Vec::new();
                stream.save(&mut again);
                stream.finish(&mut vec![0; hash.size()]);
            }
        }
    }

    #[test]
    fn any_slices((count, shared, slices, split) in cases(), skew in 0..70usize) {
        let memory = bytes(count.max(1) * (4096 + skew));
        let prefix = &bytes(300)[..shared];
        for &hash in Hash::ALL {
            let expected: Vec<_> = (0..count)
                .map(|index| {
                    let mut parts = vec![prefix];
                    for (at, len) in slices.iter().enumerate() {
                        // After they have parted, each message has a length of its own.
                        let len = if split.is_some_and(|split| at >= split) { len.saturating_sub(index) } else { *len };
                        parts.push(&memory[index * (4096 + skew)..][..len]);
                    }
                    reference(hash, &parts)
                })
                .collect();
            for cpu in Cpu::available() {
                let mut together = Some(Streams::on(cpu, hash, prefix, count));
                let mut alone = Vec::new();
                for (at, &len) in slices.iter().enumerate() {
                    if split == Some(at) {
                        alone = together.take().unwrap().split().collect();
                    }
                    if let Some(streams) = &mut together {
                        streams.update(Messages::strided(&memory, len, 4096 + skew, count));
                    }
                    for (index, stream) in alone.iter_mut().enumerate() {
                        stream.append(&memory[index * (4096 + skew)..][..len.saturating_sub(index)]);
                    }
                }
                let mut out = vec![0; count * hash.size()];
                match together {
                    // A clone goes on as its original does.
                    Some(streams) => streams.clone().finish(&mut out),
                    None => {
                        for (stream, out) in alone.into_iter().zip(out.chunks_mut(hash.size())) {
                            stream.finish(out);
                        }
                    }
                }
                for (index, digest) in out.chunks(hash.size()).enumerate() {
                    prop_assert!(digest == expected[index], "{:?} {} message {} of {}", cpu, hash.name(), index, count);
                }
            }
        }
    }
}
