//! The example of spec/log.md, computed again.

use mksum_log::{Folder, KeyKind, Log, Published, SignerKey};
use std::fs;

const PAGE: &str = include_str!("../../../spec/log.md");

#[test]
fn the_page_has_the_files_of_its_example() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let key = SignerKey::from_seed("example.com/ledger", KeyKind::Ed25519, &[1; 32]).unwrap();
    let keys = format!("{}\n{}\n", key.to_secret_text(), key.verifier());
    let mut log = Log::create_with(&path, key).unwrap();
    log.append(["one", "two"]).unwrap();
    log.checkpoint().unwrap();
    log.append([""]).unwrap();
    log.checkpoint().unwrap();
    let hex = |name: &str| -> String {
        fs::read(path.join(name)).unwrap().iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let tile = hex("tile/0/000.p/3");
    let lines: Vec<_> = (0..3).map(|at| &tile[64 * at..64 * (at + 1)]).collect();
    let files = format!("{}\n\n{}\n", hex("tile/entries/000.p/3"), lines.join("\n"));
    let public = Published::unverified(Folder::new(&path)).unwrap();
    let witness = SignerKey::from_seed("w.example", KeyKind::Cosignature, &[2; 32]).unwrap();
    let mut note = log.note().clone();
    note.add_signature(&witness, 1_700_000_000).unwrap();
    let cosigned = format!("{}\n{}\n", witness.verifier(), note.signatures()[1]);
    let texts = [
        keys,
        files,
        log.note().to_string(),
        public.inclusion(1).unwrap().to_string(),
        public.consistency(2).unwrap().to_string(),
        cosigned,
    ];
    let missing: Vec<_> = texts.iter().filter(|text| !PAGE.contains(&format!("```\n{text}```\n"))).cloned().collect();
    assert!(missing.is_empty(), "spec/log.md has not:\n{}", missing.join("@@\n"));
}
