//! Signatures of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig), and lists of allowed signers (ssh-keygen(1), ALLOWED SIGNERS).

use super::error::Unsigned;
use super::signed::Signed;
use base64ct::{Base64, Base64Unpadded, Encoding};
use ring::digest::{SHA256, SHA512, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA512,
    RsaPublicKeyComponents, UnparsedPublicKey,
};

pub(super) const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";
/// The namespace of signatures of files.
const NAMESPACE: &[u8] = b"file";

/// A public key that may sign.
#[derive(Clone, Debug)]
pub(super) struct Allowed {
    /// The names of its owner; none in a file `id_….pub`.
    signer: Option<String>,
    /// The key as OpenSSH encodes it.
    key: Vec<u8>,
    /// Whether it may sign files, or which of its options is not supported.
    may: Result<bool, String>,
}

/// The keys of a file of public keys or of allowed signers.
pub(super) fn allowed(text: &[u8]) -> Result<Vec<Allowed>, Unsigned> {
    let text = str::from_utf8(text).map_err(|_| Unsigned::NoKey("it is not text".into()))?;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let entries = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    entries.map(|(number, line)| one(line).ok_or_else(|| Unsigned::NoKey(format!("line {number} has none")))).collect()
}

fn is_type(word: &str) -> bool {
    ["ssh-", "ecdsa-sha2-", "sk-"].iter().any(|begin| word.starts_with(begin))
}

/// The key of a line: `TYPE KEY`, `NAMES TYPE KEY` or `NAMES OPTIONS TYPE KEY`, and a comment.
fn one(line: &str) -> Option<Allowed> {
    let (first, rest) = word(line)?;
    let (signer, options, kind, rest) = if is_type(first) {
        (None, "", first, rest)
    } else {
        let (second, rest) = word(rest)?;
        let (options, kind, rest) = if is_type(second) {
            ("", second, rest)
        } else {
            let (third, rest) = word(rest).filter(|(third, _)| is_type(third))?;
            (second, third, rest)
        };
        (Some(first.trim_matches('"').to_string()), options, kind, rest)
    };
    let key = Base64::decode_vec(word(rest)?.0).ok()?;
    (Blob(&key).text()? == kind.as_bytes()).then(|| Allowed { signer, key, may: may(options) })
}

/// The first word, in which spaces between quotes count as letters, and the rest.
fn word(text: &str) -> Option<(&str, &str)> {
    let (text, mut quoted) = (text.trim_start(), false);
    let end = text.find(|letter: char| {
        quoted ^= letter == '"';
        letter.is_ascii_whitespace() && !quoted
    });
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (!word.is_empty()).then_some((word, rest))
}

/// Whether a key with these options may sign files.
fn may(options: &str) -> Result<bool, String> {
    let mut quoted = false;
    let each = options.split(|letter: char| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    });
    let mut may = true;
    for option in each.filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        match name.to_ascii_lowercase().as_str() {
            "namespaces" if !value.contains(['!', '?']) => {
                may &= value.split(',').any(|name| name == "*" || name.as_bytes() == NAMESPACE);
            }
            // The key signs others, not files.
            "cert-authority" => may = false,
            _ => return Err(option.into()),
        }
    }
    Ok(may)
}

/// Verifies a signature of a file.
pub(super) fn verify(message: &[u8], armored: &[u8], keys: &[Allowed]) -> Result<Signed, Unsigned> {
    let broken = Unsigned::NoSignature("its body is not as in OpenSSH's PROTOCOL.sshsig");
    let text = str::from_utf8(armored).map_err(|_| broken.clone())?.trim();
    let body = text.strip_prefix(BEGIN).and_then(|text| text.strip_suffix(END));
    let body = body.ok_or(Unsigned::NoSignature("its last line is missing"))?;
    let body: String = body.split_ascii_whitespace().collect();
    let bytes = Base64::decode_vec(&body).map_err(|_| broken.clone())?;
    let Signature { key, namespace, reserved, hash, signature } = Signature::read(&bytes).ok_or(broken.clone())?;
    if namespace != NAMESPACE {
        return Err(Unsigned::Namespace(String::from_utf8_lossy(namespace).into_owned()));
    }
    let of_key: Vec<_> = keys.iter().filter(|allowed| allowed.key == key).collect();
    if of_key.is_empty() {
        let expected = match keys {
            [only] => fingerprint(&only.key),
            _ => format!("one of {} keys", keys.len()),
        };
        return Err(Unsigned::OtherKey { found: fingerprint(key), expected });
    }
    let digest = match hash {
        b"sha256" => digest(&SHA256, message),
        b"sha512" => digest(&SHA512, message),
        _ => return Err(broken),
    };
    let mut signed = MAGIC.to_vec();
    for part in [namespace, reserved, hash, digest.as_ref()] {
        signed.extend_from_slice(&(part.len() as u32).to_be_bytes());
        signed.extend_from_slice(part);
    }
    if !is_valid(key, signature, &signed)? {
        return Err(Unsigned::OtherBytes);
    }
    match of_key.iter().find(|allowed| allowed.may == Ok(true)) {
        Some(allowed) => {
            let (key, signer) = (fingerprint(key), allowed.signer.clone());
            Ok(Signed { program: "ssh-keygen", key, signer, comment: None })
        }
        None => Err(Unsigned::Unsupported(match of_key.iter().find_map(|allowed| allowed.may.as_ref().err()) {
            Some(option) => {
                format!("the key has the option {option}, which mksum does not check: use ssh-keygen -Y verify")
            }
            None => "the options of the key do not allow it to sign files".into(),
        })),
    }
}

/// A signature's fields.
struct Signature<'a> {
    key: &'a [u8],
    namespace: &'a [u8],
    reserved: &'a [u8],
    hash: &'a [u8],
    signature: &'a [u8],
}

impl<'a> Signature<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut blob = Blob(bytes.strip_prefix(MAGIC)?.strip_prefix(&1_u32.to_be_bytes())?);
        let mut next = || blob.text();
        let (key, namespace, reserved, hash, signature) = (next()?, next()?, next()?, next()?, next()?);
        blob.0.is_empty().then_some(Signature { key, namespace, reserved, hash, signature })
    }
}

/// Whether a signature of `signed` is valid, in the encoding of OpenSSH.
fn is_valid(key: &[u8], signature: &[u8], signed: &[u8]) -> Result<bool, Unsigned> {
    let (mut key, mut signature) = (Blob(key), Blob(signature));
    let (Some(kind), Some(how), Some(bytes)) = (key.text(), signature.text(), signature.text()) else {
        return Ok(false);
    };
    if !signature.0.is_empty() && !kind.starts_with(b"sk-") {
        return Ok(false);
    }
    Ok(match (kind, how) {
        (b"ssh-ed25519", b"ssh-ed25519") => {
            key.text().is_some_and(|key| UnparsedPublicKey::new(&ED25519, key).verify(signed, bytes).is_ok())
        }
        (b"ssh-rsa", b"rsa-sha2-256" | b"rsa-sha2-512") => {
            let algorithm =
                if how.ends_with(b"256") { &RSA_PKCS1_2048_8192_SHA256 } else { &RSA_PKCS1_2048_8192_SHA512 };
            let (e, n) = (key.number(), key.number());
            e.zip(n).is_some_and(|(e, n)| RsaPublicKeyComponents { n, e }.verify(algorithm, signed, bytes).is_ok())
        }
        (b"ecdsa-sha2-nistp256", b"ecdsa-sha2-nistp256") => {
            let point = key.text().and_then(|_| key.text());
            point.zip(fixed::<32>(bytes)).is_some_and(|(point, fixed)| {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, &fixed).is_ok()
            })
        }
        (b"ecdsa-sha2-nistp384", b"ecdsa-sha2-nistp384") => {
            let point = key.text().and_then(|_| key.text());
            point.zip(fixed::<48>(bytes)).is_some_and(|(point, fixed)| {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(signed, &fixed).is_ok()
            })
        }
        _ => {
            let kind = String::from_utf8_lossy(kind);
            return Err(Unsigned::Unsupported(format!(
                "keys of the type {kind} are not supported: use ssh-keygen -Y verify"
            )));
        }
    })
}

/// The two numbers of an ECDSA signature, of `N` bytes each.
fn fixed<const N: usize>(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut blob = Blob(bytes);
    let mut fixed = Vec::with_capacity(2 * N);
    for number in [blob.number()?, blob.number()?] {
        fixed.resize(fixed.len() + N.checked_sub(number.len())?, 0);
        fixed.extend_from_slice(number);
    }
    blob.0.is_empty().then_some(fixed)
}

/// A sequence of fields that begin with their lengths (RFC 4251, 5).
struct Blob<'a>(&'a [u8]);

impl<'a> Blob<'a> {
    fn text(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        self.0 = rest;
        Some(text)
    }

    /// A number that is not negative, without leading zeros.
    fn number(&mut self) -> Option<&'a [u8]> {
        let bytes = self.text()?;
        bytes.iter().position(|&byte| byte != 0).map(|first| &bytes[first..])
    }
}

fn fingerprint(key: &[u8]) -> String {
    format!("SHA256:{}", Base64Unpadded::encode_string(digest(&SHA256, key).as_ref()))
}
