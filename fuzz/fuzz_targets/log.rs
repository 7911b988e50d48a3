//! Logs of any bytes: no panic, one way to write each text, no other entry that is proven, and no other tree that is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum_log::{
    Checkpoint, ConsistencyProof, Entries, Error, Framing, KeyKind, Log, Note, Policy, Proof, Published, SignerKey,
    Source, VerifierKey, entry_hash, fsck,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// Within a tile, at its end, and after it.
const SIZES: [u64; 7] = [1, 2, 3, 20, 255, 256, 300];

/// The files of a log by their names.
#[derive(Clone)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Source for Files {
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, Error> {
        let file = self.0.get(name).filter(|file| file.len() <= at_most);
        Ok(file.cloned())
    }
}

/// A log with a witness.
struct Example {
    size: u64,
    files: Files,
    policy: Policy,
}

static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| SIZES.into_iter().map(example).collect());

fn entry(index: u64) -> Vec<u8> {
    format!("entry {index}").repeat(index as usize % 4).into_bytes()
}

fn key(kind: KeyKind, seed: u8) -> SignerKey {
    SignerKey::from_seed("example.com/fuzz", kind, &[seed; 32]).expect("a name")
}

fn example(size: u64) -> Example {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("log");
    let (log_key, witness) = (key(KeyKind::Ed25519, 1), key(KeyKind::Cosignature, 2));
    let mut log = Log::create_with(&path, log_key.clone()).expect("a new log");
    log.append((0..size).map(entry)).expect("entries");
    log.checkpoint().expect("a checkpoint");
    let cosigned = Note::sign(log.note().text(), &witness, 1_700_000_000).expect("a checkpoint is a note");
    log.add_cosignature(&cosigned.signatures()[0].to_string(), &witness.verifier()).expect("it is valid");
    let mut files = BTreeMap::new();
    collect(&path, &path, &mut files);
    let (log_key, witness) = (log_key.verifier(), witness.verifier());
    let policy = format!("log {log_key}\nwitness w {witness}\nquorum w\n").parse().expect("a policy");
    Example { size, files: Files(files), policy }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for path in fs::read_dir(folder).expect("a folder of the log").map(|entry| entry.expect("an entry").path()) {
        let name = path.strip_prefix(root).expect("it lies in the log").display().to_string();
        match path.is_dir() {
            true if name != ".mksum" => collect(root, &path, files),
            true => {}
            false => drop(files.insert(name, fs::read(&path).expect("a file"))),
        }
    }
}

fuzz_target!(|input: (&[u8], u8, (u8, u16), u64, &[u8])| {
    let (bytes, which, (file, index), number, change) = input;
    read(bytes);
    let example = &EXAMPLES[usize::from(which) % EXAMPLES.len()];
    let good = Published::verified(example.files.clone(), &example.policy).expect("its own log");
    // Proofs.
    let index = u64::from(index) % example.size;
    let proof = changed(good.inclusion(index).expect("its own tiles").to_string().as_bytes(), change);
    if let Ok(proof) = Proof::parse(&proof) {
        proven(&proof, index, example);
    }
    let old = number % (example.size + 1);
    let earlier = EXAMPLES.iter().find(|other| other.size == old);
    if let Some(earlier) = earlier {
        let growth = changed(good.consistency(old).expect("its own tiles").to_string().as_bytes(), change);
        let seen = Published::verified(earlier.files.clone(), &earlier.policy).expect("its own log");
        if let Ok(proof) = ConsistencyProof::parse(&growth)
            && let Ok(new) = proof.check(seen.checkpoint(), &example.policy)
        {
            assert_eq!(&new, good.checkpoint());
        }
    }
    // One file is changed, or another one.
    let mut files = example.files.clone();
    let place = usize::from(file) % files.0.len();
    let content = files.0.values_mut().nth(place).expect("so many files");
    *content = if number % 2 == 0 { bytes.into() } else { changed(content, change) };
    if let Ok(log) = Published::verified(files.clone(), &example.policy) {
        assert_eq!(log.checkpoint(), good.checkpoint());
        let report = fsck(&log, &mut |_| {});
        let is_whole = files.0.iter().all(|(name, file)| name == "checkpoint" || example.files.0[name] == *file);
        assert_eq!(report.problems.is_empty(), is_whole);
        // An error is of a whole bundle.
        for (at, found) in (0..).zip(log.entries(0..example.size).map_while(Result::ok)) {
            assert_eq!(found, entry(at));
        }
        if let Ok(proof) = log.inclusion(index) {
            proof.check(&entry(index), &example.policy).expect("what is proven is right");
        }
    }
    // The same files with a checkpoint of any size, which nobody signed.
    if let Ok(checkpoint) = Checkpoint::new("example.com/fuzz", number, good.checkpoint().root())
        && let Ok(note) = Note::sign(&checkpoint.to_string(), &key(KeyKind::Ed25519, 3), 0)
        && number != example.size
    {
        assert!(example.policy.check(&note).is_err());
        let log = Published::at(files, note).expect("a checkpoint");
        assert!(!fsck(&log, &mut |_| {}).problems.is_empty());
        for index in [0, index, number / 2, number.saturating_sub(1)] {
            assert!(log.inclusion(index).is_err() && log.entry(index).is_err());
            assert!(log.consistency(index).is_err() || matches!(index, 0) || index == number);
        }
        assert!(log.entry_hashes().take(2).all(|hash| hash.is_err()));
    }
});

/// Texts: what is read is written as it was.
fn read(bytes: &[u8]) {
    if let Ok(note) = Note::parse(bytes) {
        assert_eq!(note.to_string().as_bytes(), bytes);
        for example in EXAMPLES.iter() {
            assert!(
                example.policy.check(&note).is_err()
                    || example.files.0["checkpoint"].starts_with(note.text().as_bytes())
            );
        }
    }
    if let Ok(proof) = Proof::parse(bytes) {
        let text = proof.to_string();
        let older = text.strip_prefix("c2sp.org/tlog-proof@v1\n").expect("its first line");
        assert!(text.as_bytes() == bytes || older.as_bytes() == bytes);
        assert_eq!(Proof::parse(text.as_bytes()).expect("as it is written"), proof);
    }
    if let Ok(proof) = ConsistencyProof::parse(bytes) {
        assert_eq!(proof.to_string().as_bytes(), bytes);
    }
    let _ = Policy::parse(bytes);
    if let Ok(text) = str::from_utf8(bytes) {
        if let Ok(checkpoint) = text.parse::<Checkpoint>() {
            assert_eq!(checkpoint.to_string(), text);
        }
        if let Ok(key) = text.parse::<VerifierKey>() {
            assert_eq!(key.to_string(), text);
        }
        if let Ok(key) = text.parse::<SignerKey>() {
            assert_eq!(key.to_secret_text(), text);
        }
    }
    for framing in [Framing::Lines, Framing::Null, Framing::Framed] {
        let Ok(entries) = Entries::new(bytes, framing).collect::<Result<Vec<_>, _>>() else { continue };
        let mut written = Vec::new();
        entries.iter().try_for_each(|entry| framing.write(entry, &mut written)).expect("as it was read");
        // Only the last separator may be missing.
        assert!(written.starts_with(bytes) && written.len() <= bytes.len() + 1);
    }
}

/// A proof, changed or not, that is for the entry at `index` alone.
fn proven(proof: &Proof, index: u64, example: &Example) {
    for at in 0..example.size {
        let is_proven = proof.check_hash(entry_hash(&entry(at)), &example.policy).is_ok();
        assert!(!is_proven || (proof.index() == index && entry(at) == entry(index)));
    }
    assert!(proof.check(b"an entry of no log", &example.policy).is_err());
}

/// The bytes after `change`: places, and the bits to flip there.
fn changed(good: &[u8], change: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for edit in change.chunks_exact(3).take(if bytes.is_empty() { 0 } else { 8 }) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len();
        bytes[at] ^= edit[2];
    }
    if change.len() % 3 == 1 {
        bytes.pop();
    }
    bytes
}
