//! Any messages, whole and slice by slice, on every instruction set, against the reference crates.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum_lanes::{Hash, Messages, Streams, cpu::Cpu, digests_on};
use mksum_vectors::reference;

fuzz_target!(|input: &[u8]| {
    let [hash, cpu, shared, count, gap, low, high, cut, memory @ ..] = input else { return };
    let hash = Hash::ALL[*hash as usize % Hash::ALL.len()];
    let sets: Vec<_> = Cpu::available().collect();
    let cpu = sets[*cpu as usize % sets.len()];
    let (prefix, memory) = memory.split_at(memory.len().min(*shared as usize));
    let (count, gap) = (*count as usize % 70, *gap as usize);
    let most = (memory.len() + gap).checked_div(count).unwrap_or(0).saturating_sub(gap);
    let len = if most == 0 { 0 } else { u16::from_le_bytes([*low, *high]) as usize % (most + 1) };
    let messages = match most {
        0 => Messages::strided(memory, 0, 0, count),
        _ => Messages::strided(memory, len, len + gap, count),
    };
    let mut whole = vec![0; count * hash.size()];
    digests_on(cpu, hash, prefix, messages, &mut whole);
    for (message, digest) in messages.iter().zip(whole.chunks(hash.size())) {
        assert!(digest == reference(hash, &[prefix, message]), "{cpu:?} {}", hash.name());
    }
    // The same messages in slices.
    let mut streams = Streams::on(cpu, hash, prefix, count);
    let (mut at, step) = (0, 1 + *cut as usize * 7);
    while at < len {
        let slice = step.min(len - at);
        streams.update(Messages::strided(&memory[at..], slice, messages.stride(), count));
        at += slice;
    }
    let mut sliced = vec![0; count * hash.size()];
    streams.finish(&mut sliced);
    assert!(whole == sliced, "{cpu:?} {} in slices of {step}", hash.name());
});
