//! One table: every hash on every instruction set of this machine, beside its peers, in one run.
//!
//! `lab-lanes [WORD…]` measures the cases whose name contains a word. Each contender's answer is compared before it is
//! timed; contenders take turns, so that a noisy moment hits all of them; printed are the median and the quartiles.

#[cfg(peer_isal)]
mod isal;
mod peers;
mod timing;

use mksum_lanes::{Hash, Messages, Streams, cpu::Cpu, digests_on};
use peers::one;
use timing::{Contender, Unit, compare, race};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |case: &str| words.is_empty() || words.iter().any(|word| case.contains(word.as_str()));
    let memory = memory(64 << 20);
    println!("{:<52} {:>9}        {:>9} {:>9}  {:>6}", "case, contender", "median", "quartile", "quartile", "ratio");
    for &hash in Hash::ALL {
        let name = hash.name();
        if wanted(&format!("{name} messages")) {
            // A stride a little above the power of two, as the tool's readers lay leaves.
            messages(&format!("{name} messages of 8 KiB"), hash, &[], Messages::strided(&memory, 8192, 8256, 96));
        }
        if wanted(&format!("{name} pairs")) {
            pairs(&format!("{name} pairs of 64 bytes"), hash, &[], Messages::new(&memory[..64 * 3072], 64));
        }
        if wanted(&format!("{name} nodes")) {
            pairs(&format!("{name} nodes of 65 bytes"), hash, &[1], Messages::new(&memory[..64 * 3072], 64));
        }
    }
    for hash in [Hash::Sha256, Hash::Sha512, Hash::Md5, Hash::Sha1, Hash::Blake3, Hash::Blake2b] {
        let name = hash.name();
        if wanted(&format!("{name} leaves")) {
            messages(
                &format!("{name} leaves of 64 KiB, prefix"),
                hash,
                &[0],
                Messages::new(&memory[..96 << 16], 1 << 16),
            );
            messages(
                &format!("{name} leaves skewed, prefix"),
                hash,
                &[0],
                Messages::strided(&memory, 65536, 65600, 96),
            );
        }
        if wanted(&format!("{name} streams")) {
            streams(&format!("{name} streams of 1 MiB by 64 KiB"), hash, &memory);
        }
    }
    for &hash in Hash::ALL {
        if wanted(&format!("{} few", hash.name())) {
            few(hash, &memory);
        }
    }
    if wanted("root") {
        // A short tree: a file of 4 KiB.
        root(&memory, 6, Unit::Hashes(64));
        root(&memory, 20, Unit::Whole);
    }
}

/// Bytes that do not repeat.
fn memory(len: usize) -> Vec<u8> {
    let mut x = 88172645463325252u64;
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes.extend_from_slice(&x.to_le_bytes());
    }
    bytes
}

/// Ours on each instruction set.
fn ours<'a>(hash: Hash, prefix: &'a [u8], messages: Messages<'a>) -> Vec<Contender<'a>> {
    let mut all: Vec<Contender<'_>> = Vec::new();
    for cpu in Cpu::available().collect::<Vec<_>>().into_iter().rev() {
        all.push(Contender::new(format!("mksum {}", cpu.name()), move |out: &mut [u8]| {
            digests_on(cpu, hash, prefix, messages, out);
        }));
    }
    all
}

fn with_peers<'a>(hash: Hash, prefix: &'a [u8], messages: Messages<'a>) -> Vec<Contender<'a>> {
    let mut all = ours(hash, prefix, messages);
    all.push(Contender::new(peers::name(hash), move |out: &mut [u8]| {
        for (message, out) in messages.iter().zip(out.chunks_exact_mut(hash.size())) {
            one(hash, prefix, message, out);
        }
    }));
    all.extend(peers::batch(hash, prefix, messages));
    all
}

fn messages(case: &str, hash: Hash, prefix: &[u8], messages: Messages<'_>) {
    let bytes = messages.len() * messages.count();
    race(case, Unit::Bytes(bytes), hash.size() * messages.count(), with_peers(hash, prefix, messages));
}

fn pairs(case: &str, hash: Hash, prefix: &[u8], messages: Messages<'_>) {
    race(case, Unit::Hashes(messages.count()), hash.size() * messages.count(), with_peers(hash, prefix, messages));
}

/// Few messages, and short ones: nowhere slower than one after another.
fn few(hash: Hash, memory: &[u8]) {
    for len in [0, 32, 64, 65, 200, 1024, 4096, 8192, 65536] {
        for count in [1, 2, 3, 4, 6, 8, 11, 15, 16, 20, 31] {
            let messages = Messages::strided(memory, len, len + 64, count);
            let ours = Contender::new("mksum", move |out: &mut [u8]| {
                mksum_lanes::digests(hash, &[], messages, out);
            });
            let theirs = Contender::new(peers::name(hash), move |out: &mut [u8]| {
                for (message, out) in messages.iter().zip(out.chunks_exact_mut(hash.size())) {
                    one(hash, &[], message, out);
                }
            });
            let case = format!("{} few: {count} of {len}", hash.name());
            compare(&case, count, hash.size() * count, [ours, theirs]);
        }
    }
}

/// 32 messages of 1 MiB: whole, and slice by slice as a reader hands them out.
fn streams(case: &str, hash: Hash, memory: &[u8]) {
    let (len, slice, count) = (1 << 20, 1 << 16, 32);
    let whole = Messages::strided(memory, len, len + 64, count);
    let mut all = vec![Contender::new("mksum whole", move |out: &mut [u8]| {
        mksum_lanes::digests(hash, &[0], whole, out);
    })];
    all.push(Contender::new("mksum streams", move |out: &mut [u8]| {
        let mut streams = Streams::new(hash, &[0], count);
        for at in (0..len).step_by(slice) {
            streams.update(Messages::strided(&memory[at..], slice, len + 64, count));
        }
        streams.finish(out);
    }));
    let (len, count) = (32 << 20, 1);
    race(case, Unit::Bytes(32 << 20), hash.size() * 32, all);
    let one_long = Messages::strided(memory, len, len, count);
    let mut all = vec![Contender::new("mksum whole", move |out: &mut [u8]| {
        mksum_lanes::digests(hash, &[], one_long, out);
    })];
    all.push(Contender::new("mksum stream", move |out: &mut [u8]| {
        let mut streams = Streams::new(hash, &[], 1);
        for at in (0..len).step_by(slice) {
            streams.update(Messages::strided(&memory[at..], slice, slice, 1));
        }
        streams.finish(out);
    }));
    all.push(Contender::new(peers::name(hash), move |out: &mut [u8]| one(hash, &[], one_long.get(0), out)));
    race(&format!("{hash:?} one stream of 32 MiB"), Unit::Bytes(len), hash.size(), all);
}

/// `2^power` leaves of 64 bytes to their root, level by level, on one thread.
fn root(memory: &[u8], power: u32, unit: Unit) {
    let leaves = &memory[..64 << power];
    for (hash, name) in [(Hash::Sha256, "sha256"), (Hash::Blake3, "blake3")] {
        let mut all = Vec::new();
        for cpu in Cpu::available().collect::<Vec<_>>().into_iter().rev() {
            let mut levels = vec![0; 64 << power];
            all.push(Contender::new(format!("mksum {}", cpu.name()), move |out: &mut [u8]| {
                let (mut level, mut above) = levels.split_at_mut(32 << power);
                let mut len = leaves.len() / 2;
                digests_on(cpu, hash, &[], Messages::new(leaves, 64), &mut level[..len]);
                while len > 32 {
                    digests_on(cpu, hash, &[], Messages::new(&level[..len], 64), &mut above[..len / 2]);
                    (level, above) = (above, level);
                    len /= 2;
                }
                out.copy_from_slice(&level[..32]);
            }));
        }
        let mut levels = vec![0; 32 << power];
        all.push(Contender::new(format!("loop over {}", peers::name(hash)), move |out: &mut [u8]| {
            for (leaf, to) in leaves.chunks_exact(64).zip(levels.chunks_exact_mut(32)) {
                one(hash, &[], leaf, to);
            }
            let mut len = leaves.len() / 2;
            while len > 32 {
                for at in 0..len / 64 {
                    let pair: [u8; 64] = levels[64 * at..64 * at + 64].try_into().unwrap();
                    one(hash, &[], &pair, &mut levels[32 * at..32 * at + 32]);
                }
                len /= 2;
            }
            out.copy_from_slice(&levels[..32]);
        }));
        all.extend(peers::root(hash, leaves));
        race(&format!("{name} root of 2^{power} leaves of 64 bytes"), unit, 32, all);
    }
}
