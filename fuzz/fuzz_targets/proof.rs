//! Proofs of any bytes: no panic, one way to write each, and none that is valid after a byte has changed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum::proof::{Claim, Proof, Trusted};
use mksum::{Digest, Spec};

/// Small leaves and every kind of shape.
const FORMATS: [&str; 8] = [
    "rfc6962:sha256:5",
    "plain:md5:3",
    "mtsum:sha1:7",
    "s3:sha1:9",
    "blake3",
    "btv2",
    "fsverity:sha256:1KiB",
    "dropbox",
];

fuzz_target!(|input: (&[u8], u8, u16, u16, u16, &[u8])| {
    let (bytes, format, len, one, other, change) = input;
    read(bytes);
    let spec: Spec = FORMATS[usize::from(format) % FORMATS.len()].parse().expect("a format");
    let len = 1 + u64::from(len % 3000);
    let input: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
    let (one, other) = (u64::from(one) % len, u64::from(other) % len);
    let (start, end) = (one.min(other), one.max(other) + 1);
    let root = Trusted::from(&spec.root(&input).expect("a root of this length"));
    let held = &input[start as usize..end as usize];
    let range = Proof::of_range(&spec, &input, start..end).expect("a range");
    changed(&range.to_bytes(), change, |proof| proof.verify_range(&root, held).is_ok());
    let Ok(consistency) = Proof::of_consistency(&spec, &input, end) else { return };
    let old = Trusted::from(&spec.root(&input[..end as usize]).expect("a root of this length"));
    changed(&consistency.to_bytes(), change, |proof| proof.verify_consistency(&old, &root).is_ok());
});

/// A proof of the fuzzer's bytes.
fn read(bytes: &[u8]) {
    let Ok(proof) = Proof::parse(bytes) else { return };
    assert_eq!(proof.to_bytes(), bytes);
    let zero = proof.spec().seal(Digest::new(&[0; 64][..proof.spec().hash().size()]), proof.len());
    let root = Trusted::from(&zero);
    assert!(proof.verify_consistency(&root, &root).is_err() || *proof.claim() == Claim::Consistency(proof.len()));
    if let Claim::Range(range) = proof.claim() {
        // A longer range is not read.
        let held = vec![0; (range.end - range.start).min(1 << 16) as usize];
        assert!(proof.verify_range(&root, &held).is_err());
    }
}

/// A proof is valid as it is made, and not after `change`: places, and the bits to flip there.
fn changed(good: &[u8], change: &[u8], holds: impl Fn(&Proof) -> bool) {
    assert!(holds(&Proof::parse(good).expect("as it is written")));
    let mut bytes = good.to_vec();
    for edit in change.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len();
        bytes[at] ^= edit[2];
    }
    if change.len() % 3 == 1 {
        bytes.truncate(bytes.len() - 1);
    }
    if bytes != good {
        assert!(!Proof::parse(&bytes).is_ok_and(|proof| holds(&proof)));
    }
}
