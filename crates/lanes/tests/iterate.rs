//! HMAC of its own output, against HMAC written out.

use mksum_lanes::{Hash, Keyed, digest, iterate, iterates};

/// RFC 2104, 2, for keys of at most a block.
fn hmac(hash: Hash, key: &[u8], message: &[u8]) -> Vec<u8> {
    let padded = |mask: u8| -> Vec<u8> {
        let mut block = vec![mask; hash.block_size()];
        block.iter_mut().zip(key).for_each(|(padded, byte)| *padded ^= byte);
        block
    };
    let inner = digest(hash, &[&padded(0x36), message]);
    digest(hash, &[&padded(0x5c), &inner[..hash.size()]])[..hash.size()].to_vec()
}

#[test]
fn as_hmac_written_out() {
    for hash in Hash::ALL.iter().copied().filter(|&hash| iterates(hash)) {
        let size = hash.size();
        for count in 0..=9 {
            for times in [0, 1, 2, 5] {
                let keys: Vec<Vec<u8>> = (0..count).map(|n| vec![n as u8 + 1; n * 7]).collect();
                let first: Vec<u8> = (0..count * size).map(|n| (n * 37) as u8).collect();
                let (mut last, mut sums) = (first.clone(), first.clone());
                let states: Vec<_> = keys.iter().map(|key| Keyed::new(hash, key)).collect();
                iterate(&states, &mut last, &mut sums, times);
                for (n, key) in keys.iter().enumerate() {
                    let own = n * size..(n + 1) * size;
                    let (mut value, mut sum) = (first[own.clone()].to_vec(), first[own.clone()].to_vec());
                    for _ in 0..times {
                        value = hmac(hash, key, &value);
                        sum.iter_mut().zip(&value).for_each(|(sum, byte)| *sum ^= byte);
                    }
                    assert_eq!((&last[own.clone()], &sums[own]), (&value[..], &sum[..]), "{} key {n}", hash.name());
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "a key of 65 bytes")]
fn a_longer_key_is_hashed_first() {
    Keyed::new(Hash::Sha256, &[0; 65]);
}

#[test]
#[should_panic(expected = "a digest a key")]
fn a_digest_for_each_key() {
    iterate(&[Keyed::new(Hash::Sha1, b"key")], &mut [0; 21], &mut [0; 20], 1);
}
