//! Whatever a calibration says, digests are the same: costs only choose among kernels.

use mksum_lanes::{
    Hash, Messages, Piece, Slots, Streams, blake3,
    calibration::{Calibration, Cost, MOST, set_source},
    cpu::Cpu,
    digests, digests_on,
};
use proptest::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Costs belong to the process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Costs that a seed gives: from 1 to `MOST`, of any ratio.
fn any_costs(hash: Hash, mut seed: u64) -> Calibration {
    let mut next = move || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (seed >> 33) as u32 >> (seed >> 60)
    };
    Calibration::in_use(hash).with(|_| [next(), next()])
}

/// The digests of messages one at a time by portable code, which has one kernel and so no choice.
fn expected(hash: Hash, messages: Messages<'_>) -> Vec<u8> {
    let mut out = vec![0; messages.count() * hash.size()];
    digests_on(Cpu::from_name("portable").unwrap(), hash, &[], messages, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_costs_change_a_digest(
        seed: u64,
        hash in prop::sample::select(Hash::ALL),
        count in 1..200usize,
        len in prop_oneof![Just(64usize), 0..700usize],
        apart in prop_oneof![Just(0usize), Just(2048), 1..100usize],
    ) {
        let _alone = alone();
        let calibration = any_costs(hash, seed);
        calibration.install();
        prop_assert_eq!(Calibration::in_use(hash), calibration);
        // Messages at multiples of 2 KiB conflict in the cache.
        let stride = if apart == 2048 { 2048 } else { len + apart };
        let bytes: Vec<u8> = (0..count * stride + len).map(|at| (at % 251) as u8).collect();
        let messages = Messages::strided(&bytes, len, stride, count);
        let expected = expected(hash, messages);
        let mut out = vec![0; expected.len()];
        digests(hash, &[], messages, &mut out);
        prop_assert_eq!(&out, &expected, "messages that lie in memory");
        let mut streams = Streams::new(hash, &[], count);
        let half = len / 2;
        streams.update(Messages::strided(&bytes, half, stride, count));
        // Other costs meanwhile: messages stay with their kernels.
        any_costs(hash, !seed).install();
        streams.update(Messages::strided(&bytes[half..], len - half, stride, count));
        streams.finish(&mut out);
        prop_assert_eq!(&out, &expected, "messages slice by slice");
        if let Some(mut slots) = Slots::new(hash, count) {
            (0..count).for_each(|slot| slots.begin(slot, &[]));
            let piece = |slot| Piece::last(slot, &bytes[slot * stride..][..len]);
            slots.advance(&mut (0..count).map(piece).collect::<Vec<_>>());
            for (slot, out) in out.chunks_exact_mut(hash.size()).enumerate() {
                slots.finish(slot, out);
            }
            prop_assert_eq!(&out, &expected, "messages in slots");
        }
    }
}

#[test]
fn no_costs_change_nodes() {
    let _alone = alone();
    let bytes: Vec<u8> = (0..100 * 64).map(|at| (at % 251) as u8).collect();
    for kernel in Cpu::detected().kernels(Hash::Blake3) {
        let only = |cost: Cost| if cost.kernel == kernel { [1, 1] } else { [MOST, MOST] };
        Calibration::in_use(Hash::Blake3).with(only).install();
        // A few of any length, and many pairs one after another: both have functions of their own.
        let few = (1..=4).flat_map(|count| (0..=1024).map(move |len| (count, len, len + 1)));
        for (count, len, stride) in few.chain((5..=100).map(|count| (count, 64, 64))) {
            let messages = Messages::strided(&bytes, len, stride, count);
            let mut out = vec![0; 32 * count];
            digests(Hash::Blake3, &[], messages, &mut out);
            assert!(out == expected(Hash::Blake3, messages), "{}: {count} of {len}", kernel.name);
        }
        let children: Vec<blake3::Value> = bytes.as_chunks().0.to_vec();
        let mut each = vec![[0; 32]; 100];
        for (pair, out) in children.chunks(2).zip(each.chunks_mut(1)) {
            blake3::parents(pair, out);
        }
        let mut all = vec![[0; 32]; 100];
        blake3::parents(&children, &mut all);
        assert!(all == each, "{}: parents", kernel.name);
    }
}

#[test]
fn the_least_cost_is_chosen() {
    let _alone = alone();
    let cpu = Cpu::detected();
    for kernel in cpu.kernels(Hash::Sha256) {
        // One kernel costs next to nothing where messages conflict, all others are dear.
        let only = |cost: Cost| if cost.kernel == kernel { [MOST, 1] } else { [1, MOST] };
        Calibration::in_use(Hash::Sha256).with(only).install();
        for count in [1, 16, 48, 1000] {
            let [apart, conflicting] = cpu.chosen(Hash::Sha256, count);
            assert_eq!(conflicting, kernel, "{count} messages");
            assert!(apart != kernel || cpu.kernels(Hash::Sha256).count() == 1, "{count} messages");
        }
    }
}

#[test]
fn text_is_read_as_it_was_written_and_everything_else_refused() {
    let _alone = alone();
    let (one, other) = (any_costs(Hash::Sha256, 1), any_costs(Hash::Blake3, 2));
    let text = format!("# two\n\n{one}{other}");
    assert_eq!(Calibration::parse(&text), Ok(vec![one.clone(), other]));
    // Hashes with the same kernels are calibrated together.
    let alike = one.to_string().replace("sha256\t", "sha224\t");
    assert_eq!(Calibration::parse(&alike), Ok(vec![one.clone()]));
    let line = one.to_string().lines().next().unwrap().to_string();
    for (wrong, reason) in [
        (format!("{one}{line}\n"), "comes again"),
        (text.replacen("sha256", "sha257", 1), "no hash has the name sha257"),
        (format!("{}\n", line.replace('\t', " ")), "expected 4 fields"),
        (format!("{line}\t1\n"), "found 5"),
        (one.to_string().replacen(&line, "sha256\tnone\t1\t1", 1), "no kernel 'none'"),
        (format!("sha256\t{}\t0\t1\n", one.costs()[0].kernel.name), "found 0"),
        (format!("sha256\t{}\t1\t1000000001\n", one.costs()[0].kernel.name), "found 1000000001"),
    ] {
        let error = Calibration::parse(&wrong).unwrap_err();
        assert!(error.reason.contains(reason), "{error}, not {reason}");
    }
    let rest: String = one.to_string().lines().skip(1).map(|line| format!("{line}\n")).collect();
    match one.costs().len() {
        1 => assert_eq!(Calibration::parse(&rest), Ok(vec![])),
        _ => assert!(Calibration::parse(&rest).unwrap_err().reason.contains("is missing")),
    }
}

#[test]
fn a_source_is_asked_once_for_hashes_that_are_used() {
    let _alone = alone();
    static ASKED: Mutex<Vec<Hash>> = Mutex::new(Vec::new());
    assert!(set_source(Box::new(|hash| {
        ASKED.lock().unwrap().push(hash);
        // The source hashes something itself, for which it is not asked now.
        mksum_lanes::digest(Hash::Md5, &[b"key"]);
        Some(Calibration::in_use(hash).with(|_| [7, 8]))
    })));
    assert!(!set_source(Box::new(|_| None)), "a process has one source");
    for _ in 0..3 {
        mksum_lanes::digest(Hash::Sha512, &[b"message"]);
    }
    mksum_lanes::digest(Hash::Sha384, &[b"message"]);
    assert_eq!(*ASKED.lock().unwrap(), [Hash::Sha384], "the first of those with the same kernels");
    assert!(Calibration::in_use(Hash::Sha512).costs().iter().all(|cost| (cost.apart, cost.conflicting) == (7, 8)));
    mksum_lanes::digest(Hash::Md5, &[b"message"]);
    assert_eq!(*ASKED.lock().unwrap(), [Hash::Sha384, Hash::Md5]);
}
