//! Decompresses the output of another implementation. Damage gives an error or other bytes, and never a panic.

use lzma_rust2::{LzmaOptions, LzmaWriter};
use mksum_unpack::{Damaged, unpack};
use proptest::prelude::*;
use std::io::Write;

/// Compresses bytes to a file with LZMA's header.
fn packed(bytes: &[u8], level: u32) -> Vec<u8> {
    let options = LzmaOptions::with_preset(level);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn unpacked(packed: &[u8], most: usize) -> Result<Vec<u8>, Damaged> {
    let mut out = vec![0; most];
    let len = unpack(packed, &mut out)?;
    out.truncate(len);
    Ok(out)
}

/// Compressible bytes: few values, and repetitions at various distances.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300).prop_map(|own| (own, 0, 0)),
        prop::collection::vec(prop::sample::select(vec![0, 1, 65]), 0..1000).prop_map(|own| (own, 0, 0)),
        (1..5000usize, 1..600usize).prop_map(|(back, len)| (Vec::new(), back, len)),
    ];
    prop::collection::vec(part, 0..30).prop_map(|parts| {
        let mut all: Vec<u8> = Vec::new();
        for (own, back, len) in parts {
            all.extend(own);
            for _ in 0..len {
                all.push(all.len().checked_sub(back).map_or(7, |at| all[at]));
            }
        }
        all
    })
}

proptest! {
    #[test]
    fn compressed_bytes_are_decompressed(bytes in bytes(), level in 0..=9u32) {
        prop_assert_eq!(unpacked(&packed(&bytes, level), bytes.len()), Ok(bytes));
    }

    #[test]
    fn damage_does_not_panic(bytes in bytes(), at in any::<prop::sample::Index>(), mask in 1..=255u8) {
        let mut damaged = packed(&bytes, 6);
        let at = at.index(damaged.len());
        damaged[at] ^= mask;
        let _ = unpacked(&damaged, 1 << 16);
    }
}

#[test]
fn truncated_input_and_short_output_are_errors() {
    let bytes: Vec<u8> = (0..5000u32).map(|at| ((at * at) >> 7) as u8).collect();
    let whole = packed(&bytes, 9);
    // The last bytes are only read ahead.
    for len in 0..whole.len() - 8 {
        assert_eq!(unpacked(&whole[..len], bytes.len()), Err(Damaged), "{len} bytes");
    }
    assert_eq!(unpacked(&whole, bytes.len() - 1), Err(Damaged));
    assert_eq!(unpacked(&whole, bytes.len() + 1), Ok(bytes));
}

#[test]
fn long_distances() {
    let mut bytes: Vec<u8> = Vec::new();
    let mut state = 1u32;
    for at in 0..1_000_000usize {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let back = (16 << (at / 1024 % 16)) + at / 16384;
        let repeated = (state >> 28 < 15).then(|| at.checked_sub(back)).flatten();
        bytes.push(repeated.map_or((state >> 24) as u8, |at| bytes[at]));
    }
    for level in [1, 9] {
        assert_eq!(unpacked(&packed(&bytes, level), bytes.len()).as_ref(), Ok(&bytes));
    }
}
