//! NIST's vectors for the SHA family: short and long messages, and the Monte Carlo chains of 100,000 hashes each.

use mksum_lanes::{Hash, Messages, cpu::Cpu, digest, digests_on};

/// The names and values of a file's lines, in order.
fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(" = "))
}

fn unhex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2));
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Each message on each instruction set, alone and in every lane.
fn messages(hash: Hash, text: &str) {
    let (mut len, mut message, mut seen) = (0, Vec::new(), 0);
    for (name, value) in lines(text) {
        match name {
            "Len" => len = value.parse::<usize>().unwrap() / 8,
            "Msg" => {
                message = unhex(value);
                message.truncate(len);
            }
            "MD" => {
                let expected = unhex(value);
                for cpu in Cpu::available() {
                    for count in [1, hash.lanes_on(cpu)] {
                        let all = message.repeat(count);
                        let mut out = vec![0; count * hash.size()];
                        digests_on(cpu, hash, &[], Messages::strided(&all, len, len, count), &mut out);
                        for digest in out.chunks(hash.size()) {
                            assert_eq!(digest, expected, "{cpu:?} {} of {len} bytes", hash.name());
                        }
                    }
                }
                seen += 1;
            }
            _ => {}
        }
    }
    assert!(seen >= 4, "{seen} messages");
}

/// The Monte Carlo test (The Secure Hash Algorithm Validation System, 6.4): each digest is of the three before.
fn monte(hash: Hash, text: &str) {
    let size = hash.size();
    let (mut seed, mut seen) = (Vec::new(), 0);
    for (name, value) in lines(text) {
        match name {
            "Seed" => seed = unhex(value),
            "MD" => {
                let mut last = [seed.clone(), seed.clone(), seed.clone()];
                for _ in 0..1000 {
                    let next = digest(hash, &[&last[0], &last[1], &last[2]])[..size].to_vec();
                    last = [last[1].clone(), last[2].clone(), next];
                }
                seed = last[2].clone();
                assert_eq!(seed, unhex(value), "{} chain {seen}", hash.name());
                seen += 1;
            }
            _ => {}
        }
    }
    assert_eq!(seen, 100);
}

macro_rules! files {
    ($($test:ident: $check:ident($hash:ident, $file:literal);)*) => {
        $(#[test]
        fn $test() {
            $check(Hash::$hash, include_str!(concat!("cavp/", $file, ".rsp")));
        })*
    };
}

files! {
    sha1_short: messages(Sha1, "SHA1ShortMsg");
    sha1_long: messages(Sha1, "SHA1LongMsg");
    sha1_monte: monte(Sha1, "SHA1Monte");
    sha224_short: messages(Sha224, "SHA224ShortMsg");
    sha224_long: messages(Sha224, "SHA224LongMsg");
    sha224_monte: monte(Sha224, "SHA224Monte");
    sha256_short: messages(Sha256, "SHA256ShortMsg");
    sha256_long: messages(Sha256, "SHA256LongMsg");
    sha256_monte: monte(Sha256, "SHA256Monte");
    sha384_short: messages(Sha384, "SHA384ShortMsg");
    sha384_long: messages(Sha384, "SHA384LongMsg");
    sha384_monte: monte(Sha384, "SHA384Monte");
    sha512_short: messages(Sha512, "SHA512ShortMsg");
    sha512_long: messages(Sha512, "SHA512LongMsg");
    sha512_monte: monte(Sha512, "SHA512Monte");
    sha512_224_short: messages(Sha512_224, "SHA512_224ShortMsg");
    sha512_224_long: messages(Sha512_224, "SHA512_224LongMsg");
    sha512_224_monte: monte(Sha512_224, "SHA512_224Monte");
    sha512_256_short: messages(Sha512_256, "SHA512_256ShortMsg");
    sha512_256_long: messages(Sha512_256, "SHA512_256LongMsg");
    sha512_256_monte: monte(Sha512_256, "SHA512_256Monte");
    sha3_256_short: messages(Sha3_256, "SHA3_256ShortMsg");
    sha3_512_short: messages(Sha3_512, "SHA3_512ShortMsg");
}
