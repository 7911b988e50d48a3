//! The peers: other implementations of the same hashes.

use crate::timing::Contender;
use mksum_lanes::{Hash, Messages};
use sha2::Digest;

/// The name of the crate that [`one`] calls.
pub fn name(hash: Hash) -> &'static str {
    match hash {
        Hash::Md5 => "md-5 crate",
        Hash::Sha1 => "sha1 crate",
        Hash::Blake2s | Hash::Blake2b => "blake2 crate",
        Hash::Blake3 => "blake3 crate",
        Hash::Sha3_224 | Hash::Sha3_256 | Hash::Sha3_384 | Hash::Sha3_512 | Hash::Keccak256 => "sha3 crate",
        Hash::Sm3 => "sm3 crate",
        _ => "sha2 crate",
    }
}

/// One message, by the crate that most use.
#[inline]
pub fn one(hash: Hash, prefix: &[u8], message: &[u8], out: &mut [u8]) {
    fn by<D: Digest>(prefix: &[u8], message: &[u8], out: &mut [u8]) {
        let mut hasher = D::new();
        if !prefix.is_empty() {
            hasher.update(prefix);
        }
        hasher.update(message);
        out.copy_from_slice(&hasher.finalize());
    }
    match hash {
        Hash::Md5 => by::<md5::Md5>(prefix, message, out),
        Hash::Sha1 => by::<sha1::Sha1>(prefix, message, out),
        Hash::Sha224 => by::<sha2::Sha224>(prefix, message, out),
        Hash::Sha256 => by::<sha2::Sha256>(prefix, message, out),
        Hash::Sha384 => by::<sha2::Sha384>(prefix, message, out),
        Hash::Sha512 => by::<sha2::Sha512>(prefix, message, out),
        Hash::Sha512_224 => by::<sha2::Sha512_224>(prefix, message, out),
        Hash::Sha512_256 => by::<sha2::Sha512_256>(prefix, message, out),
        Hash::Blake2s => by::<blake2::Blake2s256>(prefix, message, out),
        Hash::Blake2b => by::<blake2::Blake2b512>(prefix, message, out),
        Hash::Blake3 if prefix.is_empty() => out.copy_from_slice(blake3::hash(message).as_bytes()),
        Hash::Blake3 => {
            let mut hasher = blake3::Hasher::new();
            hasher.update(prefix).update(message);
            out.copy_from_slice(hasher.finalize().as_bytes());
        }
        Hash::Sha3_224 => by::<sha3::Sha3_224>(prefix, message, out),
        Hash::Sha3_256 => by::<sha3::Sha3_256>(prefix, message, out),
        Hash::Sha3_384 => by::<sha3::Sha3_384>(prefix, message, out),
        Hash::Sha3_512 => by::<sha3::Sha3_512>(prefix, message, out),
        Hash::Sm3 => by::<sm3::Sm3>(prefix, message, out),
        _ => by::<sha3::Keccak256>(prefix, message, out),
    }
}

/// Peers that hash many messages in one call.
#[allow(unused_variables, unused_mut)]
pub fn batch<'a>(hash: Hash, prefix: &'a [u8], messages: Messages<'a>) -> Vec<Contender<'a>> {
    let mut all: Vec<Contender<'a>> = Vec::new();
    #[cfg(feature = "hashtree-rs")]
    if hash == Hash::Sha256 && prefix.is_empty() && messages.len() == 64 && messages.stride() == 64 {
        hashtree_rs::init();
        all.push(Contender::new("hashtree-rs", move |out: &mut [u8]| {
            hashtree_rs::hash(out, &messages.bytes()[..64 * messages.count()], messages.count());
        }));
    }
    #[cfg(peer_isal)]
    if prefix.is_empty() {
        all.extend(crate::isal::contender(hash, messages));
    }
    all
}

/// Peers that reduce leaves of 64 bytes to a root.
#[allow(unused_variables, unused_mut)]
pub fn root<'a>(hash: Hash, leaves: &'a [u8]) -> Vec<Contender<'a>> {
    let mut all: Vec<Contender<'a>> = Vec::new();
    #[cfg(feature = "hashtree-rs")]
    if hash == Hash::Sha256 {
        hashtree_rs::init();
        let mut levels = vec![0; leaves.len()];
        all.push(Contender::new("hashtree-rs", move |out: &mut [u8]| {
            let (mut level, mut above) = levels.split_at_mut(leaves.len() / 2);
            let mut len = leaves.len() / 2;
            hashtree_rs::hash(&mut level[..len], leaves, len / 32);
            while len > 32 {
                hashtree_rs::hash(&mut above[..len / 2], &level[..len], len / 64);
                (level, above) = (above, level);
                len /= 2;
            }
            out.copy_from_slice(&level[..32]);
        }));
    }
    all
}
