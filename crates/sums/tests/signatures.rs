//! Signatures that minisign 0.11, signify 31 and OpenSSH 9.2 made of `signed/SUMS`, whole and changed.

use mksum_sums::signature::{Keys, LONGEST, Signed, Unsigned, embedded, verify};
use std::fs;

fn file(name: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/signed/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn keys(name: &str) -> Keys {
    Keys::parse(&file(name)).unwrap()
}

fn verified(signature: &[u8], key: &str) -> Result<Signed, Unsigned> {
    verify(&file("SUMS"), signature, &keys(key))
}

/// Signatures with their keys.
const ALL: [(&str, &str); 7] = [
    ("legacy.minisig", "minisign.pub"),
    ("hashed.minisig", "minisign.pub"),
    ("signify.sig", "signify.pub"),
    ("ed25519.sshsig", "ed25519.pub"),
    ("p256.sshsig", "p256.pub"),
    ("p384.sshsig", "p384.pub"),
    ("rsa.sshsig", "rsa.pub"),
];

#[test]
fn signatures_of_the_programs_are_valid() {
    for (signature, key) in ALL {
        let signed = verified(&file(signature), key).unwrap();
        assert_eq!(signed.comment.as_deref(), signature.ends_with("minisig").then_some("mksum test"), "{signature}");
    }
    let shown = verified(&file("hashed.minisig"), "minisign.pub").unwrap().to_string();
    assert_eq!(shown, "good signature of minisign, key 69C63C8BC437B905: mksum test");
    let shown = verified(&file("p256.sshsig"), "p256.pub").unwrap().to_string();
    assert!(shown.starts_with("good signature of ssh-keygen, key SHA256:"), "{shown}");
}

#[test]
fn other_bytes_are_not_signed() {
    let list = file("SUMS");
    for (signature, key) in ALL {
        let refused = |list: &[u8]| assert_eq!(verify(list, &file(signature), &keys(key)), Err(Unsigned::OtherBytes));
        refused(b"");
        refused(&list[..list.len() - 1]);
        refused(&[&list[..], b"\n"].concat());
        for at in 0..list.len() {
            let mut changed = list.clone();
            changed[at] ^= 1;
            refused(&changed);
        }
    }
}

/// Whatever byte of a signature is changed or cut off, either it is refused or only what is not signed has changed.
#[test]
fn changed_signatures_are_refused() {
    for (name, key) in ALL {
        let (signature, good) = (file(name), verified(&file(name), key).unwrap());
        // The untrusted comment.
        let begin = match signature.starts_with(b"untrusted") {
            true => signature.iter().position(|&byte| byte == b'\n').unwrap(),
            false => 0,
        };
        for at in begin..signature.len() {
            for flip in [1, 4, 0x20, 0x80] {
                let mut changed = signature.clone();
                changed[at] ^= flip;
                let is_space = changed[at].is_ascii_whitespace() || signature[at].is_ascii_whitespace();
                match verified(&changed, key) {
                    Err(_) => {}
                    Ok(signed) => assert!(is_space && signed == good, "{name}: byte {at} ^ {flip}"),
                }
            }
        }
        let end = signature.trim_ascii_end().len();
        for len in 0..end {
            assert!(verified(&signature[..len], key).is_err(), "{name}: {len} bytes");
        }
        let long = [&signature[..], &vec![b'\n'; LONGEST]].concat();
        assert!(matches!(verified(&long, key), Err(Unsigned::NoSignature(_))));
    }
    let mut comment = file("hashed.minisig");
    let at = comment.windows(10).position(|word| word == b"mksum test").unwrap();
    comment[at] = b'M';
    assert_eq!(verified(&comment, "minisign.pub"), Err(Unsigned::OtherComment));
    assert!(verified(&[0xff; 100], "minisign.pub").is_err());
    assert_eq!(verified(b"-----BEGIN PGP SIGNATURE-----\n", "minisign.pub"), Err(Unsigned::Pgp));
}

#[test]
fn other_keys_are_refused() {
    for (name, key) in ALL {
        for (_, other) in ALL.iter().filter(|(_, other)| *other != key) {
            let error = verified(&file(name), other).unwrap_err();
            assert!(
                matches!(error, Unsigned::OtherKey { .. } | Unsigned::OtherProgram { .. }),
                "{name} {other}: {error}"
            );
        }
    }
    // The same ID, another key.
    let text = String::from_utf8(file("minisign.pub")).unwrap().replace("cM1g", "cM1h");
    let keys = Keys::parse(text.as_bytes()).unwrap();
    assert_eq!(verify(&file("SUMS"), &file("hashed.minisig"), &keys), Err(Unsigned::OtherBytes));
}

#[test]
fn signatures_of_ssh_are_for_files_and_by_allowed_signers() {
    let namespace = verified(&file("git.sshsig"), "ed25519.pub");
    assert_eq!(namespace, Err(Unsigned::Namespace("git".into())));
    let key = String::from_utf8(file("ed25519.pub")).unwrap();
    let by = |line: &str| {
        let line = line.replace("KEY", key.trim());
        verify(&file("SUMS"), &file("ed25519.sshsig"), &Keys::parse(line.as_bytes())?)
    };
    for line in ["a@b KEY", "# x\n\na@b namespaces=\"git,file\" KEY", "a@b NAMESPACES=\"*\" KEY", "\"a@b\" KEY"] {
        assert_eq!(by(line).unwrap().signer.as_deref(), Some("a@b"), "{line}");
    }
    for line in [
        "a@b namespaces=\"git\" KEY",
        "a@b cert-authority KEY",
        "a@b valid-before=\"20200101\" KEY",
        "a namespaces=\"!file,*\" KEY",
    ] {
        assert!(matches!(by(line), Err(Unsigned::Unsupported(_))), "{line}");
    }
    // One line that allows it is enough.
    assert!(by("a@b namespaces=\"git\" KEY\nc@d KEY").is_ok());
    let other = String::from_utf8(file("rsa.pub")).unwrap();
    assert!(matches!(by(&other), Err(Unsigned::OtherKey { .. })));
    assert!(by(&format!("{other}KEY")).is_ok());
    for line in ["", "a@b", "a@b ssh-ed25519", "ssh-ed25519 AAAA", "ssh-rsa AAAAC3NzaC1lZDI1NTE5", "KEY\nnonsense"] {
        assert!(matches!(by(line), Err(Unsigned::NoKey(_))), "{line}");
    }
}

#[test]
fn a_list_can_hold_its_signature() {
    let file = file("embedded.sig");
    let (signature, list) = embedded(&file).unwrap();
    assert_eq!(verify(list, signature, &keys("signify.pub")).unwrap().program, "signify");
    assert!(list.starts_with(b"SHA256 (a) = "));
    for other in [&b""[..], b"untrusted comment: x\n", b"untrusted comment: x\nAAAA\nx", list] {
        assert_eq!(embedded(other), None);
    }
}
