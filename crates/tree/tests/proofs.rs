//! Proofs: made, read, verified; and refused after any change.

use mksum::formats::{Binding, FAMILIES};
use mksum::proof::{Claim, Cut, Proof, ProofError, Trusted};
use mksum::{Digest, Digests, Memory, Role, Root, Spec, Subtree, Subtrees};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// Formats of every kind of shape, with leaves small enough that few bytes make a deep tree.
fn spec() -> impl Strategy<Value = Spec> {
    let leaf = 1_u64..70;
    prop_oneof![
        leaf.clone().prop_map(|leaf| format!("rfc6962:sha256:{leaf}")),
        leaf.clone().prop_map(|leaf| format!("plain:md5:{leaf}")),
        leaf.clone().prop_map(|leaf| format!("mtsum:sha512:{leaf}")),
        leaf.prop_map(|leaf| format!("s3:sha1:{leaf}")),
        Just("blake3".into()),
        Just("blake3-pairs".into()),
        Just("btv2".into()),
        Just("sha256tree".into()),
        Just("fsverity:sha512:1KiB:salt=0102".into()),
        Just("fsverity:sha256:1KiB".into()),
        Just("dmverity:sha256:512".into()),
    ]
    .prop_map(|text: String| text.parse().unwrap())
}

/// As many bytes as the format has a root for, none of the leaves like another.
fn input(spec: &Spec, len: u64) -> Vec<u8> {
    let len = match spec.family().name {
        "blake3-pairs" => 32 << (1 + len % 8),
        "btv2" => len * 20,
        "dmverity" => len.next_multiple_of(spec.leaf()),
        _ => len,
    };
    (0..len).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// A range of `len` bytes.
fn range(len: u64, (one, other): (prop::sample::Index, prop::sample::Index)) -> std::ops::Range<u64> {
    let (one, other) = (one.index(len as usize) as u64, other.index(len as usize) as u64);
    one.min(other)..one.max(other) + 1
}

fn part(bytes: &[u8], range: &std::ops::Range<u64>) -> Vec<u8> {
    bytes[range.start as usize..range.end as usize].to_vec()
}

/// A proof's bytes, and the facts to verify it with.
struct Made {
    bytes: Vec<u8>,
    trusted: Vec<Trusted>,
    held: Vec<u8>,
}

impl Made {
    fn of_range(spec: &Spec, input: &[u8], range: std::ops::Range<u64>) -> Made {
        let proof = Proof::of_range(spec, input, range.clone()).unwrap();
        Made { bytes: proof.to_bytes(), trusted: vec![(&spec.root(input).unwrap()).into()], held: part(input, &range) }
    }

    /// `None` where the format has no such proof.
    fn of_consistency(spec: &Spec, input: &[u8], old: u64) -> Option<Made> {
        let proof = match Proof::of_consistency(spec, input, old) {
            Err(ProofError::Moves | ProofError::Length(_)) => return None,
            proof => proof.unwrap(),
        };
        let trusted = [&input[..old as usize], input].map(|input| Trusted::from(&spec.root(input).unwrap()));
        Some(Made { bytes: proof.to_bytes(), trusted: trusted.into(), held: Vec::new() })
    }

    /// Whether these bytes are accepted in its place.
    fn accepts(&self, bytes: &[u8]) -> Result<(), ProofError> {
        let proof = Proof::parse(bytes)?;
        assert_eq!(proof.to_bytes(), bytes, "read as it is written");
        let encoded_len = Proof::encoded_len(proof.spec(), proof.len(), proof.claim()).unwrap();
        assert_eq!(encoded_len, bytes.len() as u64, "as long as it was said to be");
        match &self.trusted[..] {
            [root] => proof.verify_range(root, &self.held),
            [old, new] => proof.verify_consistency(old, new),
            _ => unreachable!(),
        }
    }
}

proptest! {
    #![proptest_config(Config::with_cases(512))]

    #[test]
    fn what_is_proven_holds(spec in spec(), len in 1_u64..5000, ends: (prop::sample::Index, prop::sample::Index)) {
        let input = input(&spec, len);
        let range = range(input.len() as u64, ends);
        let made = Made::of_range(&spec, &input, range.clone());
        prop_assert!(made.accepts(&made.bytes).is_ok(), "{spec} {range:?} of {}", input.len());
        let old = range.end;
        if let Some(made) = Made::of_consistency(&spec, &input, old) {
            prop_assert!(made.accepts(&made.bytes).is_ok(), "{spec} {old} of {}: {:?}", input.len(), made.accepts(&made.bytes));
        }
    }

    #[test]
    fn other_bytes_are_refused(
        spec in spec(), len in 1_u64..3000, ends: (prop::sample::Index, prop::sample::Index), at: prop::sample::Index, bit in 0..8_u32,
    ) {
        let input = input(&spec, len);
        let range = range(input.len() as u64, ends);
        let mut made = Made::of_range(&spec, &input, range);
        let at = at.index(made.held.len());
        made.held[at] ^= 1_u8 << bit;
        let refused = made.accepts(&made.bytes);
        let expected = matches!(refused, Err(ProofError::Root { .. }));
        prop_assert!(expected, "{:?}", refused);
        made.held.push(0);
        let refused = made.accepts(&made.bytes);
        let expected = matches!(refused, Err(ProofError::Bytes { .. }));
        prop_assert!(expected, "{:?}", refused);
    }

    #[test]
    fn a_digest_too_few_too_many_or_out_of_place_is_refused(
        spec in spec(), len in 1_u64..5000, ends: (prop::sample::Index, prop::sample::Index), pick: (prop::sample::Index, prop::sample::Index),
    ) {
        let input = input(&spec, len);
        let range = range(input.len() as u64, ends);
        for made in [Some(Made::of_range(&spec, &input, range.clone())), Made::of_consistency(&spec, &input, range.end)] {
            let Some(made) = made else { continue };
            let proof = Proof::parse(&made.bytes).unwrap();
            let (size, count, edges) = (spec.hash().size(), proof.digests().len(), proof.edges());
            let from = made.bytes.len() - edges.0.len() - edges.1.len() - count * size;
            prop_assert!(made.accepts(&made.bytes[..made.bytes.len() - 1]).is_err());
            prop_assert!(made.accepts(&[&made.bytes[..], &[0]].concat()).is_err());
            prop_assert!(made.accepts(&[&made.bytes[..], &[0; 64][..size]].concat()).is_err());
            if count == 0 {
                continue;
            }
            let (one, other) = (from + size * pick.0.index(count), from + size * pick.1.index(count));
            let mut short = made.bytes.clone();
            short.drain(one..one + size);
            prop_assert!(made.accepts(&short).is_err());
            let mut long = made.bytes.clone();
            long.splice(one..one, made.bytes[other..other + size].iter().copied());
            prop_assert!(made.accepts(&long).is_err());
            let mut swapped = made.bytes.clone();
            for i in 0..size {
                swapped.swap(one + i, other + i);
            }
            prop_assert!(swapped == made.bytes || made.accepts(&swapped).is_err());
        }
    }

    #[test]
    fn a_length_that_is_not_the_trusted_one_is_refused(
        spec in spec(), len in 1_u64..3000, lie in 1_u64..3000, ends: (prop::sample::Index, prop::sample::Index),
    ) {
        let input = input(&spec, len);
        let range = range(input.len() as u64, ends);
        let mut made = Made::of_range(&spec, &input, range);
        made.trusted[0].len = Some(input.len() as u64 + lie);
        let refused = made.accepts(&made.bytes);
        let expected = matches!(refused, Err(ProofError::TrustedLength { .. }));
        prop_assert!(expected, "{:?}", refused);
        made.trusted[0].len = None;
        let alone = made.accepts(&made.bytes);
        match spec.family().binding() {
            Binding::Nothing => prop_assert!(matches!(alone, Err(ProofError::NeedsLength(_)))),
            _ => prop_assert!(alone.is_ok()),
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        tail in prop::collection::vec(any::<u8>(), 0..300), family in 0..FAMILIES.len(), kind in 0..2_u8, numbers: [u64; 3], small: bool,
    ) {
        let name = Spec::new(&FAMILIES[family]).to_string();
        let mut bytes = [&Proof::MAGIC[..], &[1, kind, name.len() as u8, 0], name.as_bytes()].concat();
        for number in numbers {
            bytes.extend((if small { number % 5000 } else { number }).to_le_bytes());
        }
        bytes.extend(&tail);
        if let Ok(proof) = Proof::parse(&bytes) {
            prop_assert_eq!(proof.to_bytes(), bytes);
        }
        let _ = Proof::parse(&tail);
    }
}

proptest! {
    // Each case is as many proofs as one has bytes.
    #![proptest_config(Config::with_cases(64))]

    #[test]
    fn any_byte_of_a_proof_that_changes_is_noticed(
        spec in spec(), len in 1_u64..400, ends: (prop::sample::Index, prop::sample::Index), bit in 0..8_u32,
    ) {
        let input = input(&spec, len);
        let range = range(input.len() as u64, ends);
        for made in [Some(Made::of_range(&spec, &input, range.clone())), Made::of_consistency(&spec, &input, range.end)] {
            let Some(made) = made else { continue };
            for at in 0..made.bytes.len() {
                let mut changed = made.bytes.clone();
                changed[at] ^= 1 << bit;
                prop_assert!(made.accepts(&changed).is_err(), "{spec} byte {at} of {}", made.bytes.len());
            }
            // Without a trusted length another length may be accepted, but nothing panics, and no digest stays unused.
            let mut free = made;
            free.trusted.iter_mut().for_each(|trusted| trusted.len = None);
            for at in 0..free.bytes.len() {
                let mut changed = free.bytes.clone();
                changed[at] ^= 1 << bit;
                let accepted = free.accepts(&changed).is_ok();
                let claim = |bytes: &[u8]| Proof::parse(bytes).map(|proof| proof.claim().clone()).ok();
                let allowed = match spec.family().binding() {
                    Binding::Nothing | Binding::Length => false,
                    Binding::Offsets => free.held.is_empty() || claim(&changed) == claim(&free.bytes),
                    Binding::Leaves => true,
                };
                prop_assert!(!accepted || allowed, "{spec} byte {at}");
            }
        }
    }
}

/// The audit path and the consistency proof, as RFC 9162 defines them (2.1.3.1, 2.1.4.1), over the leaves' digests.
mod rfc9162 {
    use mksum::Digest;

    fn split(n: usize) -> usize {
        n.next_power_of_two() / 2
    }

    pub fn root(leaves: &[Digest]) -> Digest {
        if let [leaf] = leaves {
            return *leaf;
        }
        let (left, right) = leaves.split_at(split(leaves.len()));
        let (left, right) = (root(left), root(right));
        sha256(&[&[1], left.as_bytes(), right.as_bytes()].concat())
    }

    pub fn path(m: usize, leaves: &[Digest]) -> Vec<Digest> {
        if leaves.len() == 1 {
            return Vec::new();
        }
        let k = split(leaves.len());
        let (left, right) = leaves.split_at(k);
        let (mut path, last) = if m < k { (path(m, left), root(right)) } else { (path(m - k, right), root(left)) };
        path.push(last);
        path
    }

    pub fn subproof(m: usize, leaves: &[Digest], whole: bool) -> Vec<Digest> {
        if m == leaves.len() {
            return if whole { Vec::new() } else { vec![root(leaves)] };
        }
        let k = split(leaves.len());
        let (left, right) = leaves.split_at(k);
        let (mut proof, last) = match m <= k {
            true => (subproof(m, left, whole), root(right)),
            false => (subproof(m - k, right, false), root(left)),
        };
        proof.push(last);
        proof
    }

    /// SHA-256 alone: the one leaf of `plain`.
    fn sha256(bytes: &[u8]) -> Digest {
        let plain: mksum::Spec = "plain:sha256:1KiB".parse().unwrap();
        plain.root(bytes).unwrap().digest()
    }
}

#[test]
fn the_order_is_that_of_rfc_9162() {
    let spec: Spec = "rfc6962:sha256:1".parse().unwrap();
    for len in 1..=40_usize {
        let input: Vec<u8> = (0..len as u8).collect();
        let leaves: Vec<Digest> = input.iter().map(|byte| spec.root(&[*byte]).unwrap().digest()).collect();
        assert_eq!(spec.root(&input).unwrap().digest(), rfc9162::root(&leaves));
        for at in 0..len {
            let proof = Proof::of_range(&spec, &input, at as u64..at as u64 + 1).unwrap();
            assert!(proof.digests().iter().eq(rfc9162::path(at, &leaves)), "leaf {at} of {len}");
            let proof = Proof::of_consistency(&spec, &input, at as u64 + 1).unwrap();
            assert!(proof.digests().iter().eq(rfc9162::subproof(at + 1, &leaves, true)), "{} of {len}", at + 1);
        }
    }
}

/// A leaf of one byte is known by its digest alone.
struct Leaf(u64, Digest);

impl Subtrees for Leaf {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, mksum::Error> {
        Ok((node.level == 0 && node.start == self.0).then_some(self.1))
    }
}

/// Each case that transparency-dev/merkle publishes has the verdict that it says.
#[test]
fn the_cases_of_transparency_dev() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/proofs/transparency-dev.tsv");
    let text = std::fs::read_to_string(path).unwrap();
    let spec: Spec = "rfc6962:sha256:1".parse().unwrap();
    let (mut counts, mut empty) = ([0; 2], 0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<_> = line.split('\t').collect();
        let [name, index, start, end, size, digest, root, proof, verdict] = columns[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{name}: {text}"));
        let digests = || -> Option<_> {
            let hex = |text: &str| -> Option<Digest> {
                // Some cases have a few words in the place of a digest: with zeros behind them they are one. Nothing is none.
                let mut digest = base16ct::lower::decode_vec(text.trim_start_matches('-')).expect("hex");
                digest.resize(if digest.is_empty() { 0 } else { digest.len().max(32) }, 0);
                (digest.len() == 32).then(|| Digest::new(&digest))
            };
            let mut sent = Digests::new(32);
            for digest in proof.split(',').filter(|&digest| digest != "none") {
                sent.push(hex(digest)?);
            }
            Some((hex(digest)?, hex(root)?, sent))
        };
        let verified = || -> Option<bool> {
            // Longer than a digest: none.
            let (digest, root, proof) = digests()?;
            let (start, end) = (number(start), number(end));
            let tree = |start: u64, end: u64| {
                let len = end.checked_sub(start)?;
                Some(Subtree { start, ..spec.shape().root(len) })
            };
            match name.split('/').next().unwrap() {
                "inclusion" | "subtreeinclusion" => {
                    let index = number(index);
                    let cut = Cut::range(&spec, tree(start, end)?, index..index.checked_add(1)?).ok()?;
                    Some(spec.verify_range(&Leaf(index, digest), &proof, cut).ok()?.digest() == root)
                }
                "consistency" | "subtreeconsistency" => {
                    let cut = Cut::consistency(&spec, tree(start, end)?, number(size)).ok()?;
                    let nobody = Memory::new(&[]);
                    let (old, new) = spec.verify_consistency(&nobody, &proof, cut, digest).ok()?;
                    Some(old.digest() == digest && new.digest() == root)
                }
                other => panic!("unknown claim {other}"),
            }
        };
        let accepted = verified() == Some(true);
        if start == end && verdict == "accept" {
            // That a tree without leaves is in every other one is not for us to prove.
            assert!(!accepted, "{name}");
            empty += 1;
            continue;
        }
        assert_eq!(accepted, verdict == "accept", "{name}");
        counts[usize::from(accepted)] += 1;
    }
    assert_eq!((counts, empty), ([482, 30], 6));
}

/// The bytes in `spec/proofs.md` are those that are written.
#[test]
fn the_worked_examples() {
    let page = include_str!("../../../spec/proofs.md");
    let blocks = page.split("```proof\n").skip(1).map(|block| {
        let hex: String = block.split("```").next().unwrap().split_whitespace().collect();
        base16ct::lower::decode_vec(hex).unwrap()
    });
    let spec: Spec = "rfc6962:sha256:4".parse().unwrap();
    let input = b"abcdefghijklmnopqr";
    let made = [Proof::of_range(&spec, input, 5..11).unwrap(), Proof::of_consistency(&spec, input, 12).unwrap()];
    assert_eq!(blocks.collect::<Vec<_>>(), made.map(|proof| proof.to_bytes()));
}

#[test]
fn what_cannot_be_proven_is_said() {
    let text = |result: Result<Proof, ProofError>| result.unwrap_err().to_string();
    let spec = |text: &str| text.parse::<Spec>().unwrap();
    let input = [7; 1000];
    assert_eq!(
        text(Proof::of_range(&spec("rfc6962"), &input, 3..1001)),
        "the range 3..1001 is empty or not within the input's 1000 bytes"
    );
    assert_eq!(
        text(Proof::of_consistency(&spec("mtsum"), &input, 10)),
        "this format has no consistency proofs: all its nodes change as the input grows"
    );
    assert_eq!(
        text(Proof::of_consistency(&spec("dmverity:sha256:512"), &input[..512], 10)),
        "this format has no root for 10 bytes: it needs a multiple of 512 bytes"
    );
    let root: Root = spec("rfc6962").root(&input).unwrap();
    let proof = Proof::of_range(&spec("rfc6962:sha256:16"), &input, 0..5).unwrap();
    assert_eq!(
        proof.verify_range(&(&root).into(), &input[..5]).unwrap_err().to_string(),
        "the proof is in the format rfc6962:sha256:16, but the trusted root is in rfc6962:sha256:64KiB"
    );
    assert_eq!(
        proof.verify_consistency(&(&root).into(), &(&root).into()).unwrap_err().to_string(),
        "this is not a proof of consistency"
    );
    assert_eq!(proof.claim(), &Claim::Range(0..5));
}

#[test]
fn the_reader_says_what_is_wrong_and_where() {
    let spec: Spec = "rfc6962:sha256:16".parse().unwrap();
    let good = Proof::of_range(&spec, &[7; 100], 3..20).unwrap().to_bytes();
    let text = |bytes: &[u8]| Proof::parse(bytes).unwrap_err().to_string();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        text(&bytes)
    };
    let refused = "not a valid proof: at byte";
    assert_eq!(text(b""), format!("{refused} 0, expected the eight bytes 'mksumprf', found the end, 0 bytes on"));
    assert_eq!(text(&good[..9]), format!("{refused} 9, expected a kind of proof, found the end, 0 bytes on"));
    assert_eq!(with(0, b'X'), format!("{refused} 0, expected the eight bytes 'mksumprf', found Xksumprf"));
    assert_eq!(with(8, 2), format!("{refused} 8, expected version 1, found version 2"));
    assert_eq!(with(9, 2), format!("{refused} 9, expected 0 (a range) or 1 (consistency), found 2"));
    assert_eq!(
        with(12, b'R'),
        format!("{refused} 12, expected a format's name in its canonical form, found Rfc6962:sha256:16")
    );
    assert_eq!(with(29, 0), "the range 3..20 is empty or not within the input's 0 bytes");
    assert_eq!(
        text(&[&good[..], &[0]].concat()),
        format!("{refused} {}, expected 15 bytes after 2 digests of 32, found 16 bytes", good.len() - 15)
    );
    assert_eq!(text(&good[..good.len() - 50]), "the proof must have more than its 0 digests");
}
