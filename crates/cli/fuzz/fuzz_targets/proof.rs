//! Proofs of any bytes: no panic, one way to write each, and none that a changed byte leaves in force.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum::{Claim, Proof, Spec, Trusted};

/// Small leaves and every kind of shape.
const FORMATS: [&str; 8] =
    ["rfc6962:sha256:5", "plain:md5:3", "mtsum:sha1:7", "s3:sha1:9", "blake3", "btv2", "fsverity:sha256:1KiB", "dropbox"];

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
    let Ok(growth) = Proof::of_growth(&spec, &input, end) else { return };
    let old = Trusted::from(&spec.root(&input[..end as usize]).expect("a root of this length"));
    changed(&growth.to_bytes(), change, |proof| proof.verify_growth(&old, &root).is_ok());
});

/// A proof that nobody made.
fn read(bytes: &[u8]) {
    let Ok(proof) = Proof::parse(bytes) else { return };
    assert_eq!(proof.to_bytes(), bytes);
    let zero = proof.spec().sealed(proof.len(), vec![0; proof.spec().hash().size()]);
    let root = Trusted::from(&zero);
    assert!(proof.verify_growth(&root, &root).is_err() || *proof.claim() == Claim::Growth(proof.len()));
    if let Claim::Range(range) = proof.claim() {
        // More bytes than this nobody holds here.
        let held = vec![0; (range.end - range.start).min(1 << 16) as usize];
        assert!(proof.verify_range(&root, &held).is_err());
    }
}

/// A proof holds as it is made, and no more after `change`: places, and what is put there.
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
