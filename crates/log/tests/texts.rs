//! Notes, checkpoints, proofs and policies: published vectors, and every byte changed.

use mksum_log::{
    Checkpoint, ConsistencyProof, Folder, KeyKind, Log, Note, Policy, Proof, Published, SignerKey, VerifierKey,
};
use std::sync::LazyLock;

/// A folder in memory where the system has one: the tests wait for the disk thousands of times.
fn scratch() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap()
}

/// C2SP signed-note, "Example".
const C2SP_KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const C2SP_NOTE: &str = "This is an example message.\n\n\u{2014} example.com/foo \
    Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

/// The example of golang.org/x/mod/sumdb/note (BSD licence).
const GO_SECRET: &str = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const GO_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const GO_TEXT: &str =
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const GO_LINE: &str = "\u{2014} PeterNeumann \
    x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

fn key(text: &str) -> VerifierKey {
    text.parse().unwrap()
}

#[test]
fn the_published_notes_are_read_and_written() {
    let note = Note::parse(C2SP_NOTE.as_bytes()).unwrap();
    assert_eq!(note.text(), "This is an example message.\n");
    assert!(note.verify(&key(C2SP_KEY)).unwrap().is_some());
    assert!(note.verify(&key(GO_KEY)).unwrap().is_none(), "the key of another");
    let secret: SignerKey = GO_SECRET.parse().unwrap();
    assert_eq!(secret.verifier().to_string(), GO_KEY);
    assert_eq!(secret.to_secret_text(), GO_SECRET);
    assert_eq!(Note::sign(GO_TEXT, &secret, 0).unwrap().to_string(), format!("{GO_TEXT}\n{GO_LINE}"));
    assert!(!format!("{secret:?}").contains("PRIVATE"));
}

#[test]
fn every_changed_byte_of_a_note_is_noticed() {
    let mut accepted = 0;
    for at in 0..C2SP_NOTE.len() {
        for bit in 0..8 {
            let mut bytes = C2SP_NOTE.as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            accepted += u32::from(
                Note::parse(&bytes).is_ok_and(|note| note.verify(&key(C2SP_KEY)).is_ok_and(|found| found.is_some())),
            );
        }
        assert!(Note::parse(&C2SP_NOTE.as_bytes()[..at]).is_err(), "the first {at} bytes");
    }
    assert_eq!(accepted, 0);
}

#[test]
fn what_is_no_note_is_refused() {
    let line = GO_LINE;
    for (text, why) in [
        (String::new(), "empty"),
        ("text\n".into(), "no signature"),
        ("text\n\n".into(), "no signature line"),
        (format!("text\n{line}"), "no empty line"),
        (format!("text\t\n\n{line}"), "a tab"),
        (format!("text\n\n{line}more\n"), "a line that is no signature"),
        (format!("text\n\n{}", line.trim_end()), "no newline at the end"),
        (format!("text\n\n{}", line.replace('\u{2014}', "-")), "a hyphen"),
        (format!("text\n\n{}", line.replace("PeterNeumann", "Peter+Neumann")), "a plus in the name"),
        (format!("text\n\n{}", line.replace("PeterNeumann ", " ")), "no name"),
        ("text\n\n\u{2014} name AAAA\n".into(), "too short"),
        (format!("text\n\n{}", line.repeat(257)), "too many"),
        (format!("{}\n{line}", "text\n".repeat(300_000)), "too long"),
    ] {
        assert!(Note::parse(text.as_bytes()).is_err(), "{why}");
    }
    assert!(Note::parse(format!("text\n\nmore\n\n{line}").as_bytes()).is_ok(), "a text has empty lines");
    assert!(Note::parse(format!("text\n\n{}", line.repeat(16)).as_bytes()).is_ok());
    let secret: SignerKey = GO_SECRET.parse().unwrap();
    for text in ["", "no newline", "tab\t\n"] {
        assert!(Note::sign(text, &secret, 0).is_err(), "{text:?}");
    }
}

#[test]
fn keys_have_one_text_and_every_change_is_refused() {
    for text in [C2SP_KEY, GO_KEY] {
        assert_eq!(key(text).to_string(), text);
        for at in 0..text.len() {
            for bit in 0..7 {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] ^= 1 << bit;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                assert!(changed.parse::<VerifierKey>().is_err(), "{changed}");
            }
        }
    }
    for at in 0..GO_SECRET.len() {
        let mut bytes = GO_SECRET.as_bytes().to_vec();
        bytes[at] ^= 1;
        assert!(String::from_utf8(bytes).unwrap().parse::<SignerKey>().is_err());
    }
    assert!(GO_SECRET.parse::<VerifierKey>().unwrap_err().to_string().contains("private"));
    assert!(GO_KEY.parse::<SignerKey>().is_err());
}

#[test]
fn checkpoints_have_one_text() {
    // C2SP tlog-checkpoint's example.
    let text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
    let checkpoint: Checkpoint = text.parse().unwrap();
    assert_eq!((checkpoint.origin(), checkpoint.size()), ("example.com/behind-the-sofa", 20_852_163));
    assert_eq!(checkpoint.to_string(), text);
    let extended = format!("{text}an extension\n");
    assert_eq!(extended.parse::<Checkpoint>().unwrap().to_string(), extended);
    for wrong in [
        "",
        "\n",
        "a\n",
        "a\n1\n",
        &text[..text.len() - 1],
        &text.replace("20852163", "020852163"),
        &text.replace("20852163", "+1"),
        &text.replace("20852163", ""),
        &text.replace("20852163", "9223372036854775809"),
        &text.replace("20852163", "1 "),
        &text.replace("2I=", "2J="),
        &text.replace("2I=\n", "2I\n"),
        &text.replace("example.com/behind-the-sofa", ""),
        &format!("{text}\n"),
    ] {
        assert!(wrong.parse::<Checkpoint>().is_err(), "{wrong:?}");
    }
}

struct Example {
    entry: &'static [u8],
    log: VerifierKey,
    witnesses: Vec<SignerKey>,
    proof: String,
    growth: String,
    old: Checkpoint,
}

/// A log of 300 entries whose checkpoint two witnesses cosigned.
static EXAMPLE: LazyLock<Example> = LazyLock::new(|| {
    let folder = scratch();
    let path = folder.path().join("log");
    let key = SignerKey::from_seed("example.com/ledger", KeyKind::Ed25519, &[1; 32]).unwrap();
    let mut log = Log::create_with(&path, key).unwrap();
    log.append((0..100).map(|number| number.to_string())).unwrap();
    let old = log.checkpoint().unwrap().clone();
    log.append((100..300).map(|number| number.to_string())).unwrap();
    log.checkpoint().unwrap();
    let witness = |name: &str, seed| SignerKey::from_seed(name, KeyKind::Cosignature, &[seed; 32]).unwrap();
    let witnesses = vec![witness("w1.example", 2), witness("w2.example", 3), witness("w3.example", 4)];
    for witness in &witnesses[..2] {
        let mut note = log.note().clone();
        note.add_signature(witness, 1_700_000_000).unwrap();
        let line = note.signatures().last().unwrap().to_string();
        log.add_cosignature(&line, &witness.verifier()).unwrap();
    }
    let public = Published::unverified(Folder::new(&path)).unwrap();
    Example {
        entry: b"123",
        log: log.verifier(),
        witnesses,
        proof: public.inclusion(123).unwrap().to_string(),
        growth: public.consistency(100).unwrap().to_string(),
        old,
    }
});

impl Example {
    /// A policy of the log and all witnesses, with these lines of groups and the quorum.
    fn policy(&self, rest: &str) -> Result<Policy, mksum_log::Error> {
        let witnesses = self.witnesses.iter().zip(1..);
        let lines: String = witnesses.map(|(key, number)| format!("witness w{number} {}\n", key.verifier())).collect();
        Policy::parse(format!("# An example\nlog {}\n{lines}{rest}", self.log).as_bytes())
    }
}

#[test]
fn every_changed_byte_of_a_proof_is_noticed() {
    let policy = EXAMPLE.policy("group all all w1 w2\nquorum all\n").unwrap();
    let whole = EXAMPLE.proof.as_bytes();
    let checks = |bytes: &[u8]| Proof::parse(bytes).and_then(|proof| proof.check(EXAMPLE.entry, &policy));
    assert_eq!(checks(whole).unwrap().size(), 300);
    let mut tried = 0;
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 1 << bit;
            assert!(checks(&bytes).is_err(), "byte {at}: {}", String::from_utf8_lossy(&bytes));
            tried += 1;
        }
        assert!(checks(&whole[..at]).is_err(), "the first {at} bytes");
        let longer = [&whole[..at], b"A", &whole[at..]].concat();
        assert!(checks(&longer).is_err(), "one byte more at {at}");
    }
    assert!(tried > 5000, "{tried}");
    // The same without the first line, as `spicy` wrote it, and with data that nothing vouches for.
    let (_, without) = EXAMPLE.proof.split_once('\n').unwrap();
    checks(without.as_bytes()).unwrap();
    let with = EXAMPLE.proof.replacen('\n', "\nextra aGVsbG8=\n", 1);
    let proof = Proof::parse(with.as_bytes()).unwrap();
    assert_eq!((proof.extra(), proof.to_string()), (Some(&b"hello"[..]), with));
    let policy = Policy::from(EXAMPLE.log.clone());
    for entry in [&b""[..], b"12", b"1234", b"124"] {
        assert!(proof.check(entry, &policy).is_err());
    }
}

#[test]
fn every_changed_byte_of_a_consistency_proof_is_noticed() {
    let policy = EXAMPLE.policy("group all all w1 w2\nquorum all\n").unwrap();
    let whole = EXAMPLE.growth.as_bytes();
    let checks = |bytes: &[u8]| ConsistencyProof::parse(bytes).and_then(|proof| proof.check(&EXAMPLE.old, &policy));
    assert_eq!(checks(whole).unwrap().size(), 300);
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 1 << bit;
            assert!(checks(&bytes).is_err(), "byte {at}");
        }
        assert!(checks(&whole[..at]).is_err(), "the first {at} bytes");
    }
}

#[test]
fn a_quorum_counts_each_witness_once() {
    let note = Proof::parse(EXAMPLE.proof.as_bytes()).unwrap().note().clone();
    let holds = |rest: &str| EXAMPLE.policy(rest).unwrap().check(&note).is_ok();
    for good in [
        "quorum none\n",
        "quorum w1\n",
        "group g any w1 w3\nquorum g\n",
        "group g 2 w1 w2 w3\nquorum g\n",
        "group a any w1 w3\ngroup b all a w2\nquorum b\n",
        "\t group  g\tany w3 w2 \nquorum g\n",
    ] {
        assert!(holds(good), "{good}");
    }
    for bad in [
        "quorum w3\n",
        "group g all w1 w2 w3\nquorum g\n",
        "group g 3 w1 w2 w3\nquorum g\n",
        "group a any w3\ngroup b all a w2\nquorum b\n",
    ] {
        assert!(!holds(bad), "{bad}");
    }
}

#[test]
fn what_is_no_policy_is_refused() {
    let twice = format!("witness w9 {}\nquorum none\n", EXAMPLE.witnesses[0].verifier());
    let renamed = SignerKey::from_seed("other.example", KeyKind::Cosignature, &[2; 32]).unwrap().verifier();
    for wrong in [
        "",
        "quorum\n",
        "quorum w4\n",
        "quorum w1",
        "quorum none\nquorum none\n",
        "group g any\nquorum none\n",
        "group g 0 w1\nquorum none\n",
        "group g 2 w1\nquorum none\n",
        "group g 01 w1\nquorum none\n",
        "group g any w1 w1\nquorum none\n",
        "group g any w1\ngroup h any w1\nquorum none\n",
        "group g any g\nquorum none\n",
        "group w1 any w2\nquorum none\n",
        "group none any w2\nquorum none\n",
        "group g any none\nquorum none\n",
        "quorum g\ngroup g any w1\n",
        "what is this\nquorum none\n",
        "log key\nquorum none\n",
        "quorum none\r\n",
        &twice,
        &format!("witness w9 {renamed}\nquorum none\n"),
        &format!("log {renamed}\nquorum none\n"),
        &format!("witness w9 {}\nquorum none\n", EXAMPLE.log),
    ] {
        assert!(EXAMPLE.policy(wrong).is_err(), "{wrong:?}");
    }
    let whole = "# c\nquorum none\n";
    assert!(Policy::parse(whole.as_bytes()).unwrap().logs().is_empty());
    let note = Proof::parse(EXAMPLE.proof.as_bytes()).unwrap().note().clone();
    assert!(Policy::parse(whole.as_bytes()).unwrap().check(&note).is_err(), "no log is trusted");
}

#[test]
fn a_changed_policy_is_refused_or_trusts_no_other_key() {
    let text = format!("log {}\nwitness w1 {}\nquorum w1\n", EXAMPLE.log, EXAMPLE.witnesses[0].verifier());
    let keys = |policy: &Policy| (policy.logs().to_vec(), policy.witnesses().to_vec());
    let before = keys(&Policy::parse(text.as_bytes()).unwrap());
    let mut tried = 0;
    for at in 0..text.len() {
        for bit in 0..8 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            tried += 1;
            if let Ok(policy) = Policy::parse(&bytes) {
                let after = keys(&policy);
                assert!(after == before || after.0.is_empty() || after.1.is_empty(), "byte {at}");
            }
        }
    }
    assert!(tried > 1000);
}

#[test]
fn a_cosignature_is_of_one_checkpoint_and_one_witness() {
    let folder = scratch();
    let path = folder.path().join("log");
    let mut log = Log::create(&path, "example.com/ledger").unwrap();
    let [one, two, _] = &EXAMPLE.witnesses[..] else { unreachable!() };
    let cosign = |log: &Log, by: &SignerKey| {
        let mut note = log.note().clone();
        note.add_signature(by, 5).unwrap();
        note.signatures().last().unwrap().to_string()
    };
    let old = cosign(&log, one);
    log.append(["entry"]).unwrap();
    log.checkpoint().unwrap();
    assert!(log.add_cosignature(&old, &one.verifier()).is_err(), "of the checkpoint before");
    assert!(log.add_cosignature(&cosign(&log, two), &one.verifier()).is_err(), "of another witness");
    let own = log.note().signatures()[0].to_string();
    assert!(log.add_cosignature(&own, &one.verifier()).is_err(), "of the log itself");
    for _ in 0..2 {
        log.add_cosignature(&cosign(&log, one), &one.verifier()).unwrap();
        assert_eq!(log.note().signatures().len(), 2, "one of each key");
    }
    drop(log);
    let log = Log::open(&path).unwrap();
    let time = log.note().verify(&one.verifier()).unwrap().unwrap().time;
    assert_eq!(time, 5, "it is kept");
    assert!(log.note().verify(&log.verifier()).unwrap().is_some());
}

/// The SHA-256 of the key's text and of the signature are those of `vectors/log/mldsa.go`, whose ML-DSA is that of filippo.io/mldsa.
#[test]
fn keys_and_cosignatures_of_ml_dsa_are_those_of_another_program() {
    let key = SignerKey::from_seed("mldsa.example", KeyKind::MlDsa44, &[3; 32]).unwrap();
    let sum = |bytes: &[u8]| "sha256".parse::<mksum::Spec>().unwrap().root_digest(bytes).unwrap().to_string();
    let text = key.verifier().to_string();
    assert_eq!(sum(text.as_bytes()), "b91839c948f2c41018e8301bcf2da8dd80770ca7747cbe591acace9fa022629c");
    assert_eq!(text.parse::<VerifierKey>().unwrap(), key.verifier());
    assert_eq!(key.to_secret_text().parse::<SignerKey>().unwrap().verifier(), key.verifier());
    let checkpoint = "example.com/ledger\n300\nRrGl7VR4T2yCbFCvsEjPyXpfDhkfFUbu7sp3D3rmlGI=\n";
    let note = Note::sign(checkpoint, &key, 1_700_000_000).unwrap();
    assert_eq!(sum(&note.signatures()[0].bytes), "ad26d4a582d455e23f7f6fe622710eac27cf7283fe3785989ca18ad2463bf8c1");
    assert_eq!(note.verify(&key.verifier()).unwrap().unwrap().time, 1_700_000_000);
    let whole = note.to_string();
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone().into_bytes();
        bytes[at] ^= 1 << (at % 8);
        let verified = Note::parse(&bytes).and_then(|note| note.verify(&key.verifier()));
        assert!(!matches!(verified, Ok(Some(_))), "byte {at}");
    }
    // It signs nothing else, and not with a name that its message has no room for.
    assert!(Note::sign("no checkpoint\n", &key, 0).is_err());
    let long = SignerKey::from_seed(&"n".repeat(256), KeyKind::MlDsa44, &[3; 32]).unwrap();
    assert!(Note::sign(checkpoint, &long, 0).is_err());
    // A key of another length.
    let parts: Vec<&str> = text.splitn(3, '+').collect();
    assert!(format!("{}+{}+{}", parts[0], parts[1], &parts[2][..parts[2].len() - 4]).parse::<VerifierKey>().is_err());
}
