//! A plan or ledger with any bit flipped gives the right roots, or says what is wrong.

use mksum::Spec;
use mksum_io::{Input, Options};
use mksum_plan::*;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;

/// The roots of inputs by their paths.
type Roots = BTreeMap<Input, String>;

/// A plan of three files in a folder, its ledger, and their roots.
fn planned(folder: &std::path::Path, outboards: bool) -> (Vec<u8>, Vec<u8>, Roots) {
    let (spec, options): (Spec, _) = ("rfc6962:sha256:1KiB".parse().unwrap(), Options::new());
    let mut planner = Planner::new(&spec, 2048, 2).unwrap();
    if outboards {
        planner = planner.with_outboards(Some(1024)).unwrap();
    }
    let (mut plan, mut ledger, mut roots) = (Vec::new(), Vec::new(), Roots::new());
    for (name, len) in [("big", 5000), ("empty", 0), ("small", 3)] {
        let (path, bytes) = (folder.join(name), vec![7; len]);
        fs::write(&path, &bytes).unwrap();
        let input = Input::from(&path);
        let (size, version) = facts(&input, &options).unwrap();
        planner
            .add(&input, (size, &version), &mut |row| {
                plan.extend(row.line());
                let part = Part::new(row).unwrap();
                let mut each = |hashed: Result<Hashed, _>| {
                    let (digest, units) = hashed.unwrap();
                    ledger.extend(row.hashed(&digest, &units).line());
                    ControlFlow::Continue(())
                };
                match part.is_input() {
                    true => hash_inputs([part].into_iter(), &options, &mut each),
                    false => drop(hash_parts(&[part], &options, &mut each)),
                }
            })
            .unwrap();
        roots.insert(input, spec.root(&bytes).unwrap().to_string());
    }
    plan.extend(planner.end().line());
    (plan, ledger, roots)
}

/// The roots that are joined, and whether nothing is wrong.
fn joined(plan: &[u8], rows: &[u8], wanted: Wanted) -> (Roots, bool) {
    let mut ledger = Ledger::new(if wanted == Wanted::Roots { Units::Ignored } else { Units::Held });
    let (mut roots, mut good) = (Roots::new(), true);
    if ledger.read(Lines::new(rows), 1).is_err() {
        return (roots, false);
    }
    let end = join(Lines::new(plan), &ledger, (wanted, 1), &mut |outcome| match outcome {
        Outcome::Joined(joined) => drop(roots.insert(joined.path, joined.root.to_string())),
        _ => good = false,
    });
    (roots, good && end.is_ok())
}

#[test]
fn a_flipped_bit_never_gives_a_wrong_root() {
    let folder = tempfile::tempdir().unwrap();
    for wanted in [Wanted::Roots, Wanted::Outboards] {
        let (mut plan, mut ledger, roots) = planned(folder.path(), wanted == Wanted::Outboards);
        assert_eq!(joined(&plan, &ledger, wanted), (roots.clone(), true));
        for of_ledger in [true, false] {
            for at in 0..if of_ledger { ledger.len() } else { plan.len() } {
                for bit in 0..8 {
                    let flip = |text: &mut Vec<u8>| text[at] ^= 1 << bit;
                    flip(if of_ledger { &mut ledger } else { &mut plan });
                    let (found, good) = joined(&plan, &ledger, wanted);
                    let what = format!("bit {bit} of byte {at}, of the ledger: {of_ledger}");
                    assert!(found.iter().all(|(path, root)| roots.get(path) == Some(root)), "{what}: {found:?}");
                    assert!(!good || found == roots, "{what}: {found:?}");
                    flip(if of_ledger { &mut ledger } else { &mut plan });
                }
            }
        }
    }
}

#[test]
fn every_changed_row_of_a_ledger_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, ledger, _) = planned(folder.path(), true);
    let line = ledger.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let read = |line: &[u8]| match Lines::new(line).read().unwrap() {
        Some(Line::Row(_)) => "read".to_string(),
        Some(Line::Wrong(why)) => why.to_string(),
        _ => "nothing".to_string(),
    };
    assert_eq!(read(line), "read");
    for at in 0..line.len() - 1 {
        for bit in 0..8 {
            let changed = [&line[..at], &[line[at] ^ 1 << bit], &line[at + 1..]].concat();
            assert_ne!(read(&changed), "read", "bit {bit} of byte {at}");
        }
    }
    let text = str::from_utf8(line).unwrap();
    let (before, check) = text.rsplit_once(",\"crc32\":\"").unwrap();
    // Fields that rows do not have are ignored, and the order of fields does not matter.
    assert_eq!(read(format!("{before},\"run\":7,\"crc32\":\"{check}").as_bytes()), "read");
    let without = "the row of bytes 0..2048 has no crc32, as those of earlier versions: hash them again";
    assert_eq!(read(format!("{before}}}").as_bytes()), without);
    let expected = &check[..8];
    assert_eq!(
        read(format!("{before},\"crc32\":\"00000000\"}}").as_bytes()),
        format!("the row of bytes 0..2048 is damaged: its crc32 is 00000000, that of its fields {expected}")
    );
}
