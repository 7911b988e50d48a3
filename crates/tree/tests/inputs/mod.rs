//! Formats and inputs of a property test's choice.

use mksum::Spec;
use proptest::prelude::*;
use std::ops::Range;

/// Formats of every kind of shape, with leaves small enough that few bytes make a deep tree.
pub fn spec() -> impl Strategy<Value = Spec> {
    let leaf = 1_u64..70;
    prop_oneof![
        leaf.clone().prop_map(|leaf| format!("rfc6962:sha256:{leaf}")),
        leaf.clone().prop_map(|leaf| format!("plain:md5:{leaf}")),
        leaf.clone().prop_map(|leaf| format!("mtsum:sha512:{leaf}")),
        leaf.prop_map(|leaf| format!("s3:sha1:{leaf}")),
        Just("blake3".into()),
        Just("btv2".into()),
        Just("fsverity:sha512:1KiB:salt=0102".into()),
        Just("dropbox".into()),
        Just("sha256tree".into()),
        Just("xet".into()),
    ]
    .prop_map(|text| text.parse().unwrap())
}

/// Bytes of a number within `len`, without a period.
pub fn bytes(len: Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    (len, any::<u64>()).prop_map(|(len, seed)| {
        (0..len as u64).map(|i| ((i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    })
}
