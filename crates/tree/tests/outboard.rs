//! Kept trees: what must hold for any format, any length and any damage.

mod inputs;

use inputs::bytes;
use mksum::outboard::{Checked, Damage, HEADER, Header, KeptLayout, Outboard, PartialOutboard, ReadAt, SEALS, keep};
use mksum::{ByOffset, Digest, Memory, Plan, Role, Shape, Spec, Subtree, Subtrees};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn spec() -> impl Strategy<Value = Spec> {
    inputs::spec().prop_filter("no tree of it is kept", |spec| spec.supports(ByOffset::Outboard).is_ok())
}

/// The kept nodes in post-order, found by the definition.
fn walked(shape: Shape, len: u64, unit: u64) -> Vec<Subtree> {
    fn walk(shape: Shape, node: Subtree, unit: u64, out: &mut Vec<Subtree>) {
        if node.level > 0 && (node.len > unit || matches!(shape, Shape::Flat { .. })) {
            shape.children(node).for_each(|child| walk(shape, child, unit, out));
        }
        out.push(node);
    }
    let mut out = Vec::new();
    if len > 0 {
        walk(shape, shape.root(len), unit, &mut out);
    }
    out
}

/// Small trees of every shape, and the units that they can have.
fn trees() -> impl Iterator<Item = (Shape, u64, u64)> {
    let texts = ["rfc6962:3", "mtsum:sha256:1", "mtsum:sha256:5", "s3:md5:7", "blake3", "btv2", "fsverity:sha512:1KiB"];
    texts.into_iter().flat_map(|text| {
        let shape = text.parse::<Spec>().unwrap().shape();
        let leaf = shape.leaf();
        let lens: BTreeSet<u64> = if leaf < 10 {
            (0..70).collect()
        } else {
            (0..20)
                .flat_map(|leaves| [leaf * leaves, leaf * leaves + 1])
                .chain([leaf * 255, leaf * 256, leaf * 257 + 3])
                .collect()
        };
        lens.into_iter().flat_map(move |len| {
            let units: BTreeSet<u64> = (0..20).map(|power| KeptLayout::unit_within(shape, leaf << power)).collect();
            units.into_iter().map(move |unit| (shape, len, unit))
        })
    })
}

#[test]
fn arithmetic_on_kept_nodes_is_what_a_walk_finds() {
    for (shape, len, unit) in trees() {
        let kept = KeptLayout::new(shape, len, unit).unwrap();
        let all = walked(shape, len, unit);
        assert_eq!(kept.count(), all.len() as u64, "{kept:?}");
        for (place, node) in all.iter().enumerate() {
            assert_eq!(kept.place(*node), Some(place as u64), "{node:?} of {kept:?}");
        }
        for place in 0..=all.len() {
            assert!(kept.post_order(place as u64).eq(all[place..].iter().copied()), "from {place} of {kept:?}");
            // The frontier covers what is done, and nothing else.
            let done: u64 = kept.frontier(place as u64).iter().map(|&node| kept.under(node)).sum();
            assert_eq!(done, place as u64, "{kept:?}");
        }
        for offset in (0..len).step_by((len as usize / 30).max(1)) {
            let unit = all.iter().find(|node| kept.is_unit(**node) && node.end() > offset).unwrap();
            assert_eq!(kept.unit_over(offset), Some(*unit), "byte {offset} of {kept:?}");
        }
        assert_eq!(kept.unit_over(len), None);
    }
}

#[test]
fn nodes_that_two_lengths_share_lie_at_the_same_places() {
    for (shape, len, unit) in trees() {
        let kept = KeptLayout::new(shape, len, unit).unwrap();
        for more in [1, 2, shape.leaf(), unit + 1, 3 * unit] {
            let longer = KeptLayout::new(shape, len + more, unit).unwrap();
            let shared = kept.shared(len + more);
            assert_eq!(longer.shared(len), shared);
            assert!(shared <= kept.count());
            let nodes: Vec<_> = kept.post_order(0).take(shared as usize).collect();
            assert!(longer.post_order(0).take(shared as usize).eq(nodes.iter().copied()), "{kept:?} and {more} more");
            assert!(nodes.iter().all(|node| shape.is_perfect(*node) && *node != shape.root(len)));
            // At most a unit is read again where the shape lets any node stand.
            let covered = kept.frontier(shared).last().map_or(0, |node| node.end());
            if !matches!(shape, Shape::Halved { .. }) {
                assert!(len - covered <= unit, "{kept:?} and {more} more: {covered}");
            }
        }
    }
}

#[test]
fn units_are_lengths_of_full_subtrees() {
    for text in ["rfc6962", "blake3", "fsverity", "dmverity:sha512", "mtsum", "s3", "btv2", "rfc6962:md5:1"] {
        let spec: Spec = text.parse().unwrap();
        let unit = KeptLayout::default_unit(spec.shape(), spec.hash().size());
        let kept = KeptLayout::new(spec.shape(), 1 << 40, unit).unwrap();
        assert!(kept.count() as f64 * spec.hash().size() as f64 <= 1.01e-3 * (1_u64 << 40) as f64, "{text}: {unit}");
        assert!(KeptLayout::new(spec.shape(), 1 << 40, unit + 1).is_none());
    }
    let unit = |text: &str| {
        let spec: Spec = text.parse().unwrap();
        KeptLayout::default_unit(spec.shape(), spec.hash().size())
    };
    assert_eq!(unit("rfc6962"), 64 << 10);
    assert_eq!(unit("blake3"), 64 << 10);
    assert_eq!(unit("fsverity"), 512 << 10);
    assert_eq!(unit("glacier"), 1 << 20);
    assert_eq!(unit("mtsum"), 128 << 20);
}

fn kept_of(spec: &Spec, at_most: u64, bytes: &[u8]) -> Option<Vec<u8>> {
    // Only formats without a root for this length have none.
    let outboard = keep(spec, at_most, bytes).ok();
    assert_eq!(outboard.is_some(), spec.root(bytes).is_ok());
    outboard
}

/// The damage that an outboard finds: in the file, and in itself.
fn found(
    outboard: &Outboard<impl ReadAt>,
    bytes: &[u8],
    range: std::ops::Range<u64>,
) -> Result<(Vec<Subtree>, Vec<Subtree>), mksum::Error> {
    let (mut file, mut nodes) = (Vec::new(), Vec::new());
    let plan = Plan { threads: 2, piece: 0, group: 3 };
    outboard.damaged(&Memory::new(bytes), range, &plan, &mut |damage| {
        match damage {
            Damage::File(unit) => file.push(unit),
            Damage::Outboard(node) => nodes.push(node),
        }
        Ok(())
    })?;
    Ok((file, nodes))
}

proptest! {
    #[test]
    fn every_kept_digest_is_the_node_s_and_is_checked(spec in spec(), bytes in bytes(0..20_000), at_most in 0..40_000_u64) {
        let Some(outboard) = kept_of(&spec, at_most, &bytes) else { return Ok(()) };
        let outboard = Outboard::open(outboard).unwrap();
        prop_assert_eq!(outboard.root(), spec.root(&bytes).unwrap());
        let (checked, root) = (Checked::new(&outboard), outboard.layout().root());
        for node in outboard.layout().post_order(0) {
            let role = if Some(node) == root { Role::Root } else { Role::Inner };
            let right = spec.join(&Memory::new(&bytes), node, role).unwrap();
            prop_assert_eq!(checked.trusted(node).unwrap(), Some(right));
            let answered = checked.digest(&spec, node, role).unwrap();
            prop_assert_eq!(answered.is_some(), role == Role::Inner);
        }
    }

    #[test]
    fn exactly_the_units_with_a_flipped_byte_are_found(
        spec in spec(), bytes in bytes(0..20_000), at_most in 0..2000_u64, flips in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let Some(outboard) = kept_of(&spec, at_most, &bytes) else { return Ok(()) };
        let outboard = Outboard::open(outboard).unwrap();
        let kept = outboard.layout();
        let mut damaged = bytes.clone();
        let mut expected = BTreeSet::new();
        for flip in flips.iter().filter(|_| !bytes.is_empty()) {
            let at = flip.index(bytes.len());
            damaged[at] = !bytes[at];
            expected.insert(kept.unit_over(at as u64).unwrap());
        }
        let expected: Vec<_> = expected.into_iter().collect();
        prop_assert_eq!(found(&outboard, &damaged, 0..kept.len()).unwrap(), (expected.clone(), vec![]));
        // In a range: only the units that have a byte of it.
        if !bytes.is_empty() {
            let (a, b) = (cut.0.index(bytes.len()) as u64, cut.1.index(bytes.len()) as u64);
            let range = a.min(b)..a.max(b) + 1;
            let inside: Vec<_> = expected.into_iter().filter(|unit| unit.start < range.end && range.start < unit.end()).collect();
            prop_assert_eq!(found(&outboard, &damaged, range).unwrap(), (inside, vec![]));
        }
    }

    #[test]
    fn a_flipped_byte_of_an_outboard_is_refused_or_told_and_changes_no_verdict_on_the_file(
        spec in spec(), bytes in bytes(0..3000), at_most in 0..1000_u64, at: prop::sample::Index, bit in 0..8_u32, hit in any::<Option<prop::sample::Index>>(),
    ) {
        let Some(mut outboard) = kept_of(&spec, at_most, &bytes) else { return Ok(()) };
        let at = at.index(outboard.len());
        outboard[at] ^= 1_u8 << bit;
        let Ok(outboard) = Outboard::open(outboard) else {
            // Headers are refused; a copy of the root is never.
            prop_assert!((at as u64) < SEALS[0]);
            return Ok(());
        };
        prop_assert_eq!(outboard.root(), spec.root(&bytes).unwrap());
        prop_assert!(at as u64 >= SEALS[0]);
        let mut file = bytes.clone();
        let mut expected = Vec::new();
        if let Some(hit) = hit.filter(|_| !bytes.is_empty()) {
            let hit = hit.index(bytes.len());
            file[hit] = !file[hit];
            expected.push(outboard.layout().unit_over(hit as u64).unwrap());
        }
        let (units, nodes) = found(&outboard, &file, 0..bytes.len() as u64).unwrap();
        // The node with the wrong digest is reported, and the file is judged rightly, unless both are wrong in one place.
        if at as u64 >= HEADER {
            let place = (at as u64 - HEADER) / spec.hash().size() as u64;
            let wrong = outboard.layout().post_order(place).next().unwrap();
            let both = expected.iter().any(|unit| outboard.layout().is_unit(wrong) && *unit == wrong);
            if both {
                prop_assert!(units.contains(&wrong), "{:?}", units);
            } else {
                prop_assert_eq!(&units, &expected);
                prop_assert!(nodes.contains(&wrong), "{:?}: {:?}", wrong, nodes);
            }
        } else {
            prop_assert_eq!((units, nodes), (expected, vec![]));
        }
    }

    #[test]
    fn an_outboard_of_any_bytes_is_refused_or_sound(mut bytes in bytes(0..3000), header in any::<bool>(), len in 0..5000_u64, unit in 0..5000_u64) {
        if header {
            let spec: Spec = "rfc6962:sha256:10".parse().unwrap();
            let header = Header { spec, len, unit, identity: None };
            if let Ok(header) = header.encode() {
                let seals = bytes.split_off(bytes.len().min(256));
                let mut whole = header;
                let there = bytes.len();
                whole[768..768 + there].copy_from_slice(&bytes);
                whole.extend(seals);
                bytes = whole;
            }
        }
        if let Ok(outboard) = Outboard::open(&bytes) {
            let _ = found(&outboard, &vec![7; outboard.len() as usize], 0..outboard.len());
        }
        let _ = PartialOutboard::open(&bytes);
    }

    #[test]
    fn an_outboard_that_was_cut_off_anywhere_goes_on_from_its_checkpoint(
        spec in spec(), bytes in bytes(0..5000), at_most in 0..1000_u64, stop: prop::sample::Index, garbage in any::<bool>(), turn in 0..2_usize,
    ) {
        let Some(whole) = kept_of(&spec, at_most, &bytes) else { return Ok(()) };
        let finished = Outboard::open(&whole).unwrap();
        let (kept, size) = (finished.layout(), spec.hash().size());
        // The last digest comes with the end, not with a checkpoint.
        let done = stop.index(kept.count().max(1) as usize) as u64;
        let header = finished.header();
        let digest = |node: Subtree| Digest::new(&whole[HEADER as usize + kept.place(node).unwrap() as usize * size..][..size]);
        let mut begun = header.encode().unwrap();
        begun.extend(&whole[HEADER as usize..][..done as usize * size]);
        let frontier = kept.frontier(done);
        let seal = header.checkpoint(done, frontier.iter().map(|&node| digest(node))).unwrap();
        begun[SEALS[turn] as usize..][..seal.len()].copy_from_slice(&seal);
        if garbage {
            // The bytes after the checkpoint may be anything.
            begun.extend([0xaa; 77]);
        }
        prop_assert!(bytes.is_empty() || Outboard::open(&begun).is_err());
        let opened = PartialOutboard::open(&begun).unwrap();
        prop_assert_eq!(opened.header(), header);
        {
            prop_assert_eq!(opened.done(), done);
            // The next checkpoint leaves alone what this one is.
            prop_assert!(done == 0 || opened.next_seal() == 1 - turn);
            let expected: Vec<_> = frontier.iter().map(|&node| (node, digest(node))).collect();
            prop_assert_eq!(opened.into_frontier(), expected);
        }
        // A digest that is not what it was leaves nothing to go on from.
        if done > 0 {
            let at = HEADER as usize + stop.index(done as usize * size);
            begun[at] ^= 1;
            prop_assert_eq!(PartialOutboard::open(&begun).unwrap().done(), 0);
        }
    }

    #[test]
    fn two_outboards_differ_where_their_files_do(
        spec in spec(), bytes in bytes(0..5000), at_most in 0..1000_u64, flips in prop::collection::vec(any::<prop::sample::Index>(), 0..6), more in 0..300_usize,
        less in any::<bool>(),
    ) {
        let mut other = bytes.clone();
        for flip in flips.iter().filter(|_| !bytes.is_empty()) {
            let at = flip.index(bytes.len());
            other[at] = !bytes[at];
        }
        if less { other.truncate(other.len() - more.min(other.len())) } else { other.resize(bytes.len() + more, 3) }
        let (Some(a), Some(b)) = (kept_of(&spec, at_most, &bytes), kept_of(&spec, at_most, &other)) else { return Ok(()) };
        let (a, b) = (Outboard::open(a).unwrap(), Outboard::open(b).unwrap());
        let mut told = vec![false; bytes.len().max(other.len())];
        let mut end = 0;
        a.diff(&b, &mut |range| {
            assert!(range.start >= end && !range.is_empty());
            end = range.end;
            told[range.start as usize..range.end as usize].fill(true);
            Ok(())
        }).unwrap();
        let both = bytes.len().min(other.len());
        for at in 0..told.len() {
            let differs = at >= both || bytes[at] != other[at];
            prop_assert!(!differs || told[at], "byte {}", at);
        }
        // And of a unit that lies well within both and is the same, nothing.
        for unit in a.layout().post_order(0).filter(|node| a.layout().is_unit(*node)) {
            let range = unit.start as usize..unit.end() as usize;
            let same = range.end <= both && bytes[range.clone()] == other[range.clone()];
            if same && b.layout().place(unit).is_some() && bytes.len() == other.len() {
                prop_assert!(told[range].iter().all(|told| !told), "{:?}", unit);
            }
        }
    }
}
