//! The prototype that crates/lanes came from: its kernels take full groups of lanes.

use crate::timing::Contender;
use mksum_lanes::{Hash, Messages};
use proto::kernels::sets;

pub fn contenders<'a>(hash: Hash, messages: Messages<'a>) -> Vec<Contender<'a>> {
    let mut all: Vec<Contender<'a>> = Vec::new();
    for set in sets() {
        let name = format!("prototype {}", set.name);
        let pairs = messages.len() == 64 && messages.stride() == 64;
        let lanes = if hash == Hash::Sha512 { set.lanes64 } else { set.lanes32 };
        if messages.count() % lanes != 0 {
            continue;
        }
        let nodes = match hash {
            Hash::Sha256 => set.nodes256,
            _ => set.b3nodes,
        };
        let many = match hash {
            Hash::Sha256 => set.sha256,
            Hash::Sha512 => set.sha512,
            Hash::Sha1 => set.sha1,
            _ => set.md5,
        };
        if pairs && matches!(hash, Hash::Sha256 | Hash::Blake3) {
            all.push(Contender::new(name, move |out: &mut [u8]| {
                // SAFETY: the set is one that this machine has; the memory is there.
                unsafe { nodes(messages.bytes().as_ptr(), out.as_mut_ptr(), messages.count()) }
            }));
        } else if !pairs && matches!(hash, Hash::Sha256 | Hash::Sha512 | Hash::Md5 | Hash::Sha1) {
            let mut digests = vec![0; 64 * lanes];
            let size = hash.size();
            let place = if hash == Hash::Sha512 { 64 } else { 32 };
            all.push(Contender::new(name, move |out: &mut [u8]| {
                for group in 0..messages.count() / lanes {
                    let rows: Vec<*const u8> =
                        (0..lanes).map(|lane| messages.get(group * lanes + lane).as_ptr()).collect();
                    // SAFETY: as above.
                    unsafe { many(&rows, messages.len(), digests.as_mut_ptr()) };
                    for lane in 0..lanes {
                        let at = (group * lanes + lane) * size;
                        out[at..at + size].copy_from_slice(&digests[lane * place..][..size]);
                    }
                }
            }));
        }
    }
    all
}
