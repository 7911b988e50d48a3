//! Leaves that end where the content says: the root does not depend on how the input is cut or who scans it.

use mksum::{Memory, Plan, Spec};
use proptest::prelude::*;

fn xet() -> Spec {
    "xet".parse().unwrap()
}

/// Bytes of which some stretches repeat a few bytes, as real files have them, so that leaves of every length appear.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let noise = (any::<u64>(), 1usize..600_000).prop_map(|(seed, len)| {
        let mut word = seed | 1;
        let mut next = || {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (word >> 56) as u8
        };
        (0..len).map(|_| next()).collect::<Vec<u8>>()
    });
    let same = (prop::collection::vec(any::<u8>(), 1..70), 1usize..600_000)
        .prop_map(|(period, len)| period.iter().copied().cycle().take(len).collect::<Vec<u8>>());
    prop::collection::vec(prop_oneof![2 => noise, 1 => same], 0..8).prop_map(|stretches| stretches.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn threads_and_slices_find_the_leaves_of_one_scan(
        bytes in content(),
        pieces in prop::collection::vec(1u64..700_000, 3),
        slices in prop::collection::vec(1usize..300_000, 1..5),
    ) {
        let spec = xet();
        let root = spec.root(&bytes).unwrap();
        for (threads, piece) in (1..).zip(pieces) {
            let plan = Plan { threads, piece, group: 1 };
            let parallel = spec.root_parallel(&Memory::new(&bytes), bytes.len() as u64, &plan).unwrap();
            prop_assert_eq!(&parallel, &root, "{:?}", plan);
        }
        let mut frontier = spec.frontier().unwrap();
        let (mut rest, mut lengths) = (&bytes[..], slices.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
            frontier.update(now).unwrap();
            rest = later;
        }
        prop_assert_eq!(frontier.root().unwrap(), root);
    }
}

/// Nothing but leaves of the longest length, whose ends two scans never share if they begin at other places.
#[test]
fn scans_that_never_agree_still_find_the_leaves() {
    let spec = xet();
    for byte in [0u8, 1, 255] {
        let bytes = vec![byte; 3_000_000];
        let root = spec.root(&bytes).unwrap();
        for piece in [1000, 131_071, 131_072, 131_073, 1_000_000] {
            let plan = Plan { threads: 2, piece, group: 1 };
            let parallel = spec.root_parallel(&Memory::new(&bytes), bytes.len() as u64, &plan).unwrap();
            assert_eq!(parallel, root, "{byte} {piece}");
        }
    }
}
