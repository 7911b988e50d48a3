//! What stores and web servers say about the sums of their objects, in the headers of a response.

use base64ct::{Base64, Encoding};
use mksum::{ClaimedRoot, Spec};
use mksum_cli::choice::Choice;
use mksum_io::StoredSums;
use sfv::{Dictionary, ListEntry, Parser};

/// A sum that a store has of an object.
pub struct Claim {
    /// The name of the header.
    pub name: String,
    /// The header's value.
    pub text: String,
    /// What it may mean: several where the store does not say whether it is the sum of the object or of its parts.
    pub claimed: Vec<ClaimedRoot>,
    /// The formats that it may be in: several if the part size is not known.
    pub specs: Vec<Spec>,
}

/// The roots that a sum may mean, and their formats.
type Claimed = (Vec<ClaimedRoot>, Vec<Spec>);

/// The sums of an object that can be compared.
pub fn claims(stored: &StoredSums) -> Vec<Claim> {
    let mut claims = Vec::new();
    let value = |wanted: &str| stored.sums.iter().find(|(name, _)| name == wanted).map(|(_, text)| &text[..]);
    // S3 says whether a sum is that of the object or of its parts. Its kin may not, nor write the number of parts: the ETag has it.
    let kind = value("x-amz-checksum-type");
    let number = value("etag").and_then(|etag| etag.rfind('-').map(|at| &etag[at..])).unwrap_or_default();
    for (name, text) in &stored.sums {
        let mut add = |text: &str, claim: Option<Claimed>| {
            let (name, text) = (name.clone(), text.to_string());
            claims.extend(claim.map(|(claimed, specs)| Claim { name, text, claimed, specs }));
        };
        match &name[..] {
            "etag" => add(text, etag(text, stored.len)),
            "content-md5" => add(text, sum("md5", text)),
            // GCS has several in one header.
            "x-goog-hash" => text.split(',').map(str::trim).for_each(|part| {
                let claim = part.split_once('=').filter(|(name, _)| ["md5", "crc32c"].contains(name));
                add(part, claim.and_then(|(format, text)| sum(format, text)));
            }),
            "repr-digest" | "content-digest" | "digest" => {
                for (algorithm, digest) in members(name, text) {
                    let format = DIGESTS.iter().find(|(known, _)| *known == algorithm);
                    let claim = format.and_then(|(_, format)| sum(format, &digest));
                    // A response to HEAD may have the digest of its own content: of nothing (RFC 9530, appendix B.2).
                    let is_all = |claim: &Claimed| name != "content-digest" || stored.len == 0 || !is_of_nothing(claim);
                    add(&format!("{algorithm}={digest}"), claim.filter(is_all));
                }
            }
            _ => {
                let Some(format) = name.strip_prefix("x-amz-checksum-") else { continue };
                let format = &format.replace("xxhash", "xxh");
                let full = if text.contains('-') { text.clone() } else { format!("{text}{number}") };
                let of_parts =
                    composite(&format!("s3:{format}"), &full, stored.len).filter(|_| kind != Some("FULL_OBJECT"));
                let whole = sum(format, text).filter(|_| kind != Some("COMPOSITE"));
                let (claimed, specs): (Vec<_>, Vec<_>) = whole.into_iter().chain(of_parts).unzip();
                let found: Claimed = (claimed.concat(), specs.concat());
                add(text, Some(found).filter(|(claimed, _)| !claimed.is_empty()));
            }
        }
    }
    claims
}

/// The MD5 of an object, or of its parts; none if it is something else.
fn etag(text: &str, len: u64) -> Option<Claimed> {
    let spec: Spec = "md5".parse().ok()?;
    match spec.claimed_root(text) {
        Ok(claimed) => Some((vec![claimed], vec![spec])),
        Err(_) => composite("s3:md5", text, len),
    }
}

/// A sum in base64.
fn sum(format: &str, text: &str) -> Option<Claimed> {
    let spec: Spec = format.parse().ok()?;
    let claimed = spec.claimed_root(&base16ct::lower::encode_string(&Base64::decode_vec(text).ok()?)).ok()?;
    Some((vec![claimed], vec![spec]))
}

/// The names of hashes in the digests of HTTP (RFC 9530, 5), and their formats.
const DIGESTS: [(&str, &str); 5] =
    [("sha-256", "sha256"), ("sha-512", "sha512"), ("sha", "sha1"), ("md5", "md5"), ("crc32c", "crc32c")];

/// The digests in a header, each with the name of its hash and in base64. What is malformed has none.
fn members(name: &str, text: &str) -> Vec<(String, String)> {
    if name == "digest" {
        // As before RFC 9530 (RFC 3230, 4.3.2).
        let pairs = text.split(',').filter_map(|pair| pair.trim().split_once('='));
        return pairs.map(|(algorithm, digest)| (algorithm.to_ascii_lowercase(), digest.into())).collect();
    }
    let Ok(members) = Parser::new(text).parse::<Dictionary>() else { return Vec::new() };
    let digests = members.into_iter().filter_map(|(key, member)| match member {
        ListEntry::Item(item) => Some((key.to_string(), Base64::encode_string(item.bare_item.as_byte_sequence()?))),
        ListEntry::InnerList(_) => None,
    });
    digests.collect()
}

/// Whether a sum is that of no bytes.
fn is_of_nothing((claimed, specs): &Claimed) -> bool {
    let is_equal = |spec: &Spec| spec.root(b"").is_ok_and(|root| claimed.iter().any(|claimed| root.matches(claimed)));
    specs.iter().any(is_equal)
}

/// The sum that decides whether a file is right: one of all its bytes, in the strongest format; in `given`, if that is known.
pub fn strongest(claims: Vec<Claim>, given: Option<&Spec>) -> Option<Claim> {
    const FORMATS: [&str; 8] = ["sha256", "sha512", "sha1", "md5", "xxh128", "crc64nvme", "crc32c", "crc32"];
    let rank = |claim: &Claim| match &claim.specs[..] {
        [spec] if given.is_none_or(|given| given == spec) => {
            let text = spec.to_string();
            FORMATS.iter().position(|format| *format == text)
        }
        _ => None,
    };
    claims
        .into_iter()
        .filter_map(|claim| Some((rank(&claim)?, claim)))
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, claim)| claim)
}

/// A sum of the sums of parts.
fn composite(format: &str, text: &str, len: u64) -> Option<Claimed> {
    let choice: Choice = format.parse().ok()?;
    let claimed = choice.spec().claimed_root(text).ok()?;
    let specs = choice.candidates(len, &claimed);
    Some((vec![claimed], specs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_sum_of_all_bytes_decides() {
        let claim = |format: &str| {
            let spec: Spec = format.parse().unwrap();
            let claimed = vec![(&spec.root(b"a").unwrap()).into()];
            Claim { name: "a".into(), text: format.into(), claimed, specs: vec![spec] }
        };
        let chosen = |count: usize, given: Option<&str>| {
            let claims = ["crc32c", "md5", "sha512", "sha256", "blake3"].into_iter().take(count).map(claim).collect();
            let given: Option<Spec> = given.map(|given| given.parse().unwrap());
            strongest(claims, given.as_ref()).map(|claim| claim.text)
        };
        assert_eq!(
            [0, 1, 2, 3, 5].map(|count| chosen(count, None)),
            [None, Some("crc32c".into()), Some("md5".into()), Some("sha512".into()), Some("sha256".into())]
        );
        assert_eq!((chosen(5, Some("md5")), chosen(5, Some("sha1"))), (Some("md5".into()), None));
    }

    #[test]
    fn sums_of_stores_are_read_as_each_writes_them() {
        let read = |name: &str, value: &str| {
            let sums = vec![(name.to_string(), value.to_string())];
            let claims = claims(&StoredSums { len: 20 << 20, version: String::new(), sums, links: Vec::new() });
            claims.iter().map(|claim| claim.specs[0].to_string()).collect::<Vec<_>>()
        };
        let (hex, base64) = ("8474cb1b0e5ab0edb8589142647eb461", "hHTLGw5asO24WJFCZH60YQ==");
        assert_eq!(read("etag", hex), ["md5"]);
        assert_eq!(read("etag", &format!("{hex}-3")), ["s3:md5:8MiB"]);
        assert_eq!(read("content-md5", base64), ["md5"]);
        assert_eq!(read("x-goog-hash", &format!("crc32c=AAAAAA==,md5={base64}")), ["crc32c", "md5"]);
        assert_eq!(read("x-amz-checksum-md5", base64), ["md5"]);
        for crc in ["crc32", "crc32c"] {
            assert_eq!(read(&format!("x-amz-checksum-{crc}"), "AAAAAA=="), [crc]);
            assert_eq!(read(&format!("x-amz-checksum-{crc}"), "AAAAAA==-3"), [format!("s3:{crc}:8MiB")]);
        }
        assert_eq!(read("x-amz-checksum-crc64nvme", "AAAAAAAAAAA="), ["crc64nvme"]);
        assert_eq!(read("x-amz-checksum-xxhash64", "NjsCpCQIofY="), ["xxh64"]);
        assert_eq!(read("x-amz-checksum-xxhash3", "kR+rpzIf4aA="), ["xxh3"]);
        assert_eq!(read("x-amz-checksum-xxhash128", base64), ["xxh128"]);
        assert_eq!(read("x-amz-checksum-xxhash64", "NjsCpCQIofY=-3"), ["s3:xxh64:8MiB"]);
        let sha256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(read("x-amz-checksum-sha256", sha256), ["sha256"]);
        assert_eq!(read("x-amz-checksum-sha256", &format!("{sha256}-3")), ["s3:sha256:8MiB"]);
        let parts = [
            ("etag", format!("{hex}-3")),
            ("x-amz-checksum-type", "COMPOSITE".into()),
            ("x-amz-checksum-crc32", "AAAAAA==".into()),
        ];
        let sums = parts.map(|(name, value)| (name.to_string(), value)).to_vec();
        let found = claims(&StoredSums { len: 20 << 20, version: String::new(), sums, links: Vec::new() });
        assert_eq!(found[1].specs[0].to_string(), "s3:crc32:8MiB");
        let empty = format!("sha-256=:{sha256}:");
        assert_eq!(read("repr-digest", &empty), ["sha256"]);
        assert!(read("content-digest", &empty).is_empty());
        let both =
            format!("md5=:{base64}:, unixsum=:AAA=:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFQ=:;x=1");
        assert_eq!(read("content-digest", &both), ["md5", "sha256"]);
        assert_eq!(read("digest", &format!("MD5={base64}, SHA-256={sha256}")), ["md5", "sha256"]);
        for wrong in [
            "",
            "sha-256",
            "sha-256=:x",
            "sha-256=:AAAA:",
            "sha-256=?1",
            "sha-256=(:AAAA:)",
            "id-md5=:AAAA:",
            "a=\u{e9}",
        ] {
            assert!(read("repr-digest", wrong).is_empty() && read("digest", wrong).is_empty(), "{wrong}");
        }
        for (name, value) in
            [("etag", "0x8D4BCC2E4835CD0"), ("etag", ""), ("x-amz-checksum-type", "FULL_OBJECT"), ("content-md5", "x")]
        {
            assert!(read(name, value).is_empty(), "{name}: {value}");
        }
    }
}
