//! Whatever is written as a line of a sum file is read back as it was.

use mksum::formats::FAMILIES;
use mksum::{Digest, Spec};
use mksum_cli::choice::Choice;
use mksum_cli::sum::{End, Style, line};
use mksum_cli::sumfile::{Lines, parse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Names of any bytes, with those that matter to the lines more often than chance has it.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte =
        prop_oneof![1..=255_u8, select(b"\\\n\r() =*-#:\xef\xbb\xbf".to_vec()), select(b"abcdef0123456789".to_vec())];
    vec(byte, 1..60)
}

/// A root of some bytes in some format.
fn root() -> impl Strategy<Value = mksum::Root> {
    let family = select(FAMILIES.iter().collect::<Vec<_>>());
    (family, any::<prop::sample::Index>(), vec(any::<u8>(), 32)).prop_map(|(family, hash, bytes)| {
        let spec = Spec::new(family).with_hash(family.hashes[hash.index(family.hashes.len())]).unwrap();
        let size = spec.hash().size();
        let digest: Vec<u8> = bytes.into_iter().cycle().take(size).collect();
        spec.seal(Digest::new(&digest), 1 << 20)
    })
}

proptest! {
    #[test]
    fn lines_are_read_as_they_were_written(
        files in vec((name(), root()), 1..8),
        end in select(vec![End::Newline, End::Zero]),
    ) {
        let mut text = Vec::new();
        for (name, root) in &files {
            text.extend(line(Style::Tagged, end, &root.spec().to_string(), name, &root.to_string()));
        }
        let mut lines = Lines::new(&text[..], end);
        for (name, root) in &files {
            let entry = lines.next_entry(None).unwrap().expect("as many lines").expect("a line of its form");
            prop_assert_eq!(&entry.path, name);
            prop_assert_eq!(entry.choice.spec(), root.spec());
            prop_assert!(root.matches(&entry.claimed));
        }
        prop_assert!(lines.next_entry(None).unwrap().is_none());
    }

    #[test]
    fn untagged_lines_too(name in name(), root in root(), end in select(vec![End::Newline, End::Zero])) {
        let text = line(Style::Untagged, end, "", &name, &root.to_string());
        let told: Choice = root.spec().to_string().parse().unwrap();
        let entry = Lines::new(&text[..], end).next_entry(Some(&told)).unwrap().unwrap().unwrap();
        prop_assert_eq!(&entry.path, &name);
        prop_assert!(root.matches(&entry.claimed));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in vec(any::<u8>(), 0..300), told in any::<bool>()) {
        let choice = Choice::default();
        for end in [End::Newline, End::Zero] {
            // Whether it is one or not: there is an answer.
            let _ = parse(&bytes, end, told.then_some(&choice));
        }
    }
}
