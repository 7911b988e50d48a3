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

/// A count, a prefix, and the lengths of slices; then whether messages part after some of them.
fn cases() -> impl Strategy<Value = (usize, usize, Vec<usize>, Option<usize>)> {
    let slice = prop_oneof![0..150usize, 0..2000usize, Just(64), Just(128), Just(1024), Just(4096)];
    (0..50usize, 0..260usize, prop::collection::vec(slice, 0..8), prop::option::of(0..8usize))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

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
