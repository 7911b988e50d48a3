//! Signatures in two lines, as signify writes them, and in four, as minisign does.

use super::error::Unsigned;
use super::signed::Signed;
use base64ct::{Base64, Encoding};
use mksum::Spec;
use ring::signature::{ED25519, UnparsedPublicKey};

pub(super) const COMMENT: &[u8] = b"untrusted comment:";
const TRUSTED: &[u8] = b"trusted comment: ";

/// A public key: an ID, which names it, and an Ed25519 key.
#[derive(Clone, Debug)]
pub(super) struct Ed25519 {
    id: [u8; 8],
    key: [u8; 32],
}

impl Ed25519 {
    /// The key in a text of one line, or of two of which the first is a comment.
    pub fn parse(text: &[u8]) -> Option<Ed25519> {
        let mut lines = text.trim_ascii().split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.next()?;
        let line = if first.starts_with(COMMENT) { lines.next()? } else { first };
        let bytes: [u8; 42] = decoded(line)?;
        let is_key = bytes.starts_with(b"Ed") && lines.next().is_none();
        is_key.then(|| Ed25519 { id: part(&bytes, 2), key: part(&bytes, 10) })
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.key).verify(message, signature).is_ok()
    }
}

/// Verifies a signature of signify or minisign.
pub(super) fn verify(message: &[u8], text: &[u8], key: &Ed25519) -> Result<Signed, Unsigned> {
    let mut lines =
        text.trim_ascii_end().split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let comment = lines.next().unwrap_or_default();
    let signature = lines.next().and_then(decoded::<74>);
    let signature = signature.ok_or(Unsigned::NoSignature("its second line is not 74 bytes in base64"))?;
    let (id, own): ([u8; 8], [u8; 64]) = (part(&signature, 2), part(&signature, 10));
    let (trusted, global) = (lines.next(), lines.next());
    if lines.next().is_some() {
        return Err(Unsigned::NoSignature("it has more than four lines"));
    }
    let hashed = match &signature[..2] {
        b"Ed" => false,
        b"ED" => true,
        _ => return Err(Unsigned::NoSignature("its algorithm is not Ed25519")),
    };
    // The four lines of minisign without two have the form of signify's.
    let is_cut = trusted.is_none() && (hashed || comment.windows(8).any(|word| word == b"minisign"));
    if is_cut || trusted.is_some() != global.is_some() {
        return Err(Unsigned::NoSignature("its last lines are missing"));
    }
    if id != key.id {
        return Err(Unsigned::OtherKey { found: shown(id), expected: shown(key.id) });
    }
    let is_valid = match hashed {
        true => {
            let spec: Spec = "blake2b".parse().expect("a format");
            let digest = spec.root(message).map_err(|_| Unsigned::NoSignature("the list is too long"))?.digest();
            key.verify(digest.as_bytes(), &own)
        }
        false => key.verify(message, &own),
    };
    if !is_valid {
        return Err(Unsigned::OtherBytes);
    }
    let signed = |program, comment| Signed { program, key: shown(id), signer: None, comment };
    let (Some(trusted), Some(global)) = (trusted, global) else { return Ok(signed("signify", None)) };
    let comment = trusted.strip_prefix(TRUSTED).ok_or(Unsigned::NoSignature("its third line is no trusted comment"))?;
    let global: [u8; 64] = decoded(global).ok_or(Unsigned::NoSignature("its last line is not 64 bytes in base64"))?;
    if !key.verify(&[&own, comment].concat(), &global) {
        return Err(Unsigned::OtherComment);
    }
    Ok(signed("minisign", Some(String::from_utf8_lossy(comment).into_owned())))
}

/// The signature and the message of a file that has both, as `signify -S -e` writes it; `None` for others.
pub fn embedded(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = file.iter().position(|&byte| byte == b'\n')? + 1;
    let end = first + file[first..].iter().position(|&byte| byte == b'\n')? + 1;
    let (signature, message) = file.split_at(end);
    let is_signature = decoded::<74>(signature[first..].trim_ascii()).is_some();
    (file.starts_with(COMMENT) && is_signature).then_some((signature, message))
}

/// The bytes of a word in base64, if it has so many.
fn decoded<const N: usize>(word: &[u8]) -> Option<[u8; N]> {
    Base64::decode_vec(str::from_utf8(word).ok()?).ok()?.try_into().ok()
}

/// The bytes from `start` on.
fn part<const N: usize>(bytes: &[u8], start: usize) -> [u8; N] {
    bytes[start..start + N].try_into().expect("so many bytes")
}

/// An ID as minisign shows it.
fn shown(id: [u8; 8]) -> String {
    format!("{:016X}", u64::from_le_bytes(id))
}
