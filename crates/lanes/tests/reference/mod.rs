//! Each hash by another implementation: the RustCrypto crates and `blake3`.

use mksum_lanes::Hash;
use sha2::Digest;

/// The digest of the parts, one after another.
pub fn reference(hash: Hash, parts: &[&[u8]]) -> Vec<u8> {
    fn by<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
        let mut hasher = D::new();
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().to_vec()
    }
    match hash {
        Hash::Md5 => by::<md5::Md5>(parts),
        Hash::Sha1 => by::<sha1::Sha1>(parts),
        Hash::Sha224 => by::<sha2::Sha224>(parts),
        Hash::Sha256 => by::<sha2::Sha256>(parts),
        Hash::Sha384 => by::<sha2::Sha384>(parts),
        Hash::Sha512 => by::<sha2::Sha512>(parts),
        Hash::Sha512_224 => by::<sha2::Sha512_224>(parts),
        Hash::Sha512_256 => by::<sha2::Sha512_256>(parts),
        Hash::Blake2s => by::<blake2::Blake2s256>(parts),
        Hash::Blake2b => by::<blake2::Blake2b512>(parts),
        Hash::Blake3 => {
            let mut hasher = blake3::Hasher::new();
            for part in parts {
                hasher.update(part);
            }
            hasher.finalize().as_bytes().to_vec()
        }
        Hash::Sha3_224 => by::<sha3::Sha3_224>(parts),
        Hash::Sha3_256 => by::<sha3::Sha3_256>(parts),
        Hash::Sha3_384 => by::<sha3::Sha3_384>(parts),
        Hash::Sha3_512 => by::<sha3::Sha3_512>(parts),
        Hash::Keccak256 => by::<sha3::Keccak256>(parts),
        Hash::Sm3 => by::<sm3::Sm3>(parts),
        Hash::Ripemd160 => by::<ripemd::Ripemd160>(parts),
        _ => panic!("{} has no reference", hash.name()),
    }
}

/// `len` bytes that do not repeat within a cache line: a fixed sequence by xorshift64.
pub fn bytes(len: usize) -> Vec<u8> {
    let mut x = 88172645463325252u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}
