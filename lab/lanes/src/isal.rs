//! isa-l_crypto's multi-buffer hashing.

use crate::timing::Contender;
use mksum_lanes::{Hash, Messages};

type Peer = unsafe extern "C" fn(*const u8, u32, usize, usize, *mut u8) -> i32;

unsafe extern "C" {
    fn peer_md5(base: *const u8, len: u32, stride: usize, count: usize, out: *mut u8) -> i32;
    fn peer_sha1(base: *const u8, len: u32, stride: usize, count: usize, out: *mut u8) -> i32;
    fn peer_sha256(base: *const u8, len: u32, stride: usize, count: usize, out: *mut u8) -> i32;
    fn peer_sha512(base: *const u8, len: u32, stride: usize, count: usize, out: *mut u8) -> i32;
}

pub fn contender<'a>(hash: Hash, messages: Messages<'a>) -> Option<Contender<'a>> {
    let peer: Peer = match hash {
        Hash::Md5 => peer_md5,
        Hash::Sha1 => peer_sha1,
        Hash::Sha256 => peer_sha256,
        Hash::Sha512 => peer_sha512,
        _ => return None,
    };
    Some(Contender::new("isa-l_crypto", move |out: &mut [u8]| {
        let (base, len) = (messages.bytes().as_ptr(), messages.len() as u32);
        // SAFETY: `Messages` lie in their memory, and `out` has a digest for each.
        let failed = unsafe { peer(base, len, messages.stride(), messages.count(), out.as_mut_ptr()) };
        assert_eq!(failed, 0);
    }))
}
