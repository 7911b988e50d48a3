//! Outboards of any bytes, and of any digests under a valid header: no panic, and no wrong verdict on a file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum::outboard::{HEADER, Header, Identity, KeptLayout, Outboard, PartialOutboard, ReadAt, SEALS, keep};
use mksum::{Digest, Spec};

const FORMATS: [&str; 8] = [
    "rfc6962:sha256:7",
    "plain:md5:100",
    "mtsum:sha1:9",
    "s3:md5:50",
    "blake3",
    "btv2",
    "fsverity:sha512:1KiB",
    "dmverity:sha1:512",
];

fuzz_target!(|input: (u8, u16, u8, Option<(i64, u32, u64)>, [u8; 32], bool, &[u8])| {
    let (format, len, unit, identity, root, right, bytes) = input;
    let _ = Outboard::open(bytes).map(|outboard| try_out(&outboard));
    let _ = PartialOutboard::open(&bytes);
    let spec: Spec = FORMATS[format as usize % FORMATS.len()].parse().expect("a format");
    let file = vec![format; len as usize];
    let unit = KeptLayout::unit_within(spec.shape(), spec.leaf() << (unit % 10));
    let identity = identity.map(|(seconds, nanoseconds, inode)| Identity { seconds, nanoseconds, inode });
    let header = Header { spec: spec.clone(), len: len.into(), unit, identity };
    let Ok(mut outboard) = header.encode() else { return };
    // Either the digests of the file, some of them changed, or the fuzzer's bytes.
    let true_root = spec.root(&file).map(|root| root.digest());
    match true_root {
        Ok(root) if right => {
            let kept = keep(&spec, unit, &file).expect("it has a root");
            outboard.extend(&kept[HEADER as usize..]);
            for change in bytes.chunks_exact(3).take(20) {
                let at = HEADER as usize + usize::from(u16::from_le_bytes([change[0], change[1]]));
                if let Some(byte) = outboard.get_mut(at) {
                    *byte ^= change[2];
                }
            }
            seal(&mut outboard, &header, root);
            let outboard = Outboard::open(&outboard).expect("its header is valid");
            // The file is right, and nothing in the outboard may say otherwise.
            if let Ok(found) = outboard.damaged_in(&file) {
                assert!(found.is_empty(), "{found:?}");
            }
        }
        _ => {
            let size = spec.hash().size();
            let count = header.layout().map_or(0, KeptLayout::count) as usize;
            outboard.extend(bytes.iter().cycle().take(if bytes.is_empty() { 0 } else { count * size }));
            let root: Vec<_> = root.into_iter().cycle().take(size).collect();
            seal(&mut outboard, &header, Digest::new(&root));
            let _ = Outboard::open(&outboard).map(|outboard| {
                try_out(&outboard);
                if let Ok(found) = outboard.damaged_in(&file) {
                    assert!(!found.is_empty() || spec.root(&file).is_ok_and(|root| root == outboard.root()));
                }
            });
            let _ = PartialOutboard::open(&outboard);
        }
    }
});

fn seal(outboard: &mut [u8], header: &Header, root: Digest) {
    let seal = header.finished(root).expect("its header is valid");
    for place in SEALS.map(|place| place as usize) {
        outboard[place..place + seal.len()].copy_from_slice(&seal);
    }
}

fn try_out(outboard: &Outboard<impl ReadAt>) {
    let _ = outboard.diff(outboard, &mut |range| panic!("it differs from itself at {range:?}"));
    if outboard.len() < 1 << 16 {
        let _ = outboard.damaged_in(&vec![1; outboard.len() as usize]);
    }
}
