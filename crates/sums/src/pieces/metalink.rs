//! Metalinks: XML with the sums and mirrors of files (RFC 5854).

use super::manifest::{Manifest, PiecedFile, Pieces, flat, push, web};
use super::xml::{Tag, attribute, walk};
use crate::expected::Expected;
use crate::name::printable;
use crate::url::Url;
use mksum::{MAX_LEN, Root, Spec};
use quick_xml::escape::escape;
use quick_xml::events::BytesStart;
use std::path::PathBuf;

/// The outermost element, and its namespace (RFC 5854, 1.3).
pub(super) const ROOT: (&str, &str) = ("metalink", "urn:ietf:params:xml:ns:metalink");
/// The hashes of files, the strongest first, by their names in the registry of IANA and here (RFC 5854, 4.2.4).
const HASHES: [(&str, &str); 6] = [
    ("sha-512", "sha512"),
    ("sha-384", "sha384"),
    ("sha-256", "sha256"),
    ("sha-224", "sha224"),
    ("sha-1", "sha1"),
    ("md5", "md5"),
];

/// What is known of a file while its element is read.
#[derive(Default)]
struct File {
    name: String,
    len: Option<u64>,
    /// The index in [`HASHES`], and the sum.
    sum: Option<(usize, String)>,
    /// The hash, the length of a piece, and the sums.
    pieces: Option<(usize, u64, Vec<u8>)>,
    /// The priority, smaller numbers first, and the address (RFC 5854, 4.2.16.1).
    mirrors: Vec<(u32, Url)>,
    skipped: Vec<String>,
}

/// Writes a metalink of one file: its sum, the sums of its pieces, and its mirrors, of which the first is asked first.
///
/// # Errors
/// If metalinks have no name for a hash: as words.
pub fn write_metalink(name: &str, sum: &Root, pieces: Option<&Pieces>, mirrors: &[Url]) -> Result<String, String> {
    let kind = |hash: &str| {
        let found = HASHES.iter().find(|(_, own)| *own == hash).map(|(iana, _)| *iana);
        found.ok_or_else(|| format!("metalinks have no sums of {hash}"))
    };
    let (name, len, whole) = (escape(name), sum.len(), kind(&sum.spec().to_string())?);
    let (_, namespace) = ROOT;
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metalink xmlns=\"{namespace}\">\n  <file name=\"{name}\">\n    \
         <size>{len}</size>\n    <hash type=\"{whole}\">{sum}</hash>\n"
    );
    if let Some(pieces) = pieces {
        let hash = kind(pieces.spec().hash().name())?;
        text += &format!("    <pieces length=\"{}\" type=\"{hash}\">\n", pieces.piece());
        for digest in (0..).map_while(|index| pieces.get(index)) {
            text += &format!("      <hash>{digest}</hash>\n");
        }
        text += "    </pieces>\n";
    }
    for (priority, url) in (1..).zip(mirrors) {
        text += &format!("    <url priority=\"{priority}\">{}</url>\n", escape(url.as_str()));
    }
    Ok(text + "  </file>\n</metalink>\n")
}

/// Reads a metalink.
///
/// # Errors
/// If it is not valid, or has no files: the offset in bytes and the reason, as words.
pub fn metalink(bytes: &[u8]) -> Result<Manifest, String> {
    let mut manifest = Manifest::default();
    let mut file: Option<File> = None;
    // The type of the sum that is open, whether the pieces that are open count, and the priority of an address.
    let (mut hash, mut of_pieces, mut priority) = (None, false, 999_999);
    walk(bytes, ROOT, &mut |path, tag| {
        match (path, tag, &mut file) {
            (["metalink", "file"], Tag::Start(start), _) => {
                let name = attribute(start, "name").ok_or("a file without a name")?;
                file = Some(File { name, ..File::default() });
            }
            (["metalink", "file", "hash"], Tag::Start(start), _) => hash = kind(start),
            (["metalink", "file", "pieces"], Tag::Start(start), Some(file)) => {
                let len = attribute(start, "length").and_then(|len| len.parse::<u64>().ok());
                let len = len.filter(|len| (1..=MAX_LEN).contains(len));
                let len = len.ok_or("pieces without a length from 1 to 2^63")?;
                // The strongest counts, as of whole files.
                let hash = kind(start).filter(|hash| file.pieces.as_ref().is_none_or(|(other, ..)| hash < other));
                of_pieces = hash.is_some();
                if let Some(hash) = hash {
                    file.pieces = Some((hash, len, Vec::new()));
                }
            }
            (["metalink", "file", "url"], Tag::Start(start), _) => {
                priority = attribute(start, "priority").and_then(|text| text.parse().ok()).unwrap_or(999_999);
            }
            (["metalink", "file", "size"], Tag::End(text), Some(file)) => {
                let len = text.parse::<u64>().ok().filter(|&len| len <= MAX_LEN);
                file.len = Some(len.ok_or("a size that is no number of bytes")?);
            }
            (["metalink", "file", "hash"], Tag::End(text), Some(file)) => {
                let stronger = |kind: &usize| file.sum.as_ref().is_none_or(|(other, _)| kind < other);
                if let Some(kind) = hash.take().filter(stronger) {
                    file.sum = Some((kind, text.into()));
                }
            }
            (["metalink", "file", "pieces", "hash"], Tag::End(text), Some(File { pieces: Some((_, _, sums)), .. }))
                if of_pieces =>
            {
                sums.extend(base16ct::mixed::decode_vec(text).map_err(|_| "the sum of a piece is not hex")?);
            }
            (["metalink", "file", "url"], Tag::End(text), Some(file)) => match web(text) {
                Some(url) => file.mirrors.push((priority, url)),
                None => file.skipped.push(printable(text)),
            },
            (["metalink", "file"], Tag::End(_), _) => {
                if let Some(file) = file.take() {
                    add(&mut manifest, file)?;
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    match manifest.files.is_empty() && manifest.refused.is_empty() {
        true => Err("a metalink without files".into()),
        false => manifest.refuse_twins(),
    }
}

/// Adds a file whose element was read.
fn add(manifest: &mut Manifest, file: File) -> Result<(), String> {
    let mut path = PathBuf::new();
    // A name may have folders (RFC 5854, 4.1.2.1).
    for part in file.name.split('/') {
        if let Err(why) = push(&mut path, part.as_bytes()) {
            manifest.refused.push((printable(&file.name).into(), why));
            return Ok(());
        }
    }
    let fail = |why: &dyn std::fmt::Display| Err(format!("{}: {why}", path.display()));
    let sum = match file.sum {
        None => None,
        Some((kind, text)) => {
            let spec: Spec = HASHES[kind].1.parse().map_err(|error| format!("{error}"))?;
            match Expected::parse(&text, Some(&spec.clone().into())) {
                Ok(expected) => Some((spec, expected)),
                Err(why) => return fail(&why),
            }
        }
    };
    let pieces = match (file.pieces, file.len) {
        // Of an empty file there is no piece; those of a hash that no flat list has do not count.
        (Some((kind, piece, sums)), Some(len)) if len > 0 => match flat(HASHES[kind].1, piece) {
            Ok(spec) => match Pieces::new(spec, (len, piece), sums) {
                Ok(pieces) => Some(pieces),
                Err(why) => return fail(&why),
            },
            Err(_) => None,
        },
        _ => None,
    };
    let mut mirrors = file.mirrors;
    mirrors.sort_by_key(|(priority, _)| *priority);
    for place in file.skipped {
        manifest.refused.push((place.into(), "an address that is not of a web server: not used".into()));
    }
    if sum.is_none() && pieces.is_none() {
        manifest.refused.push((path, "the metalink has no sum of it that this program knows".into()));
        return Ok(());
    }
    let mirrors = mirrors.into_iter().map(|(_, url)| url).collect();
    manifest.files.push(PiecedFile { path, len: file.len, sum, pieces, mirrors });
    Ok(())
}

/// The hash of an element, as an index in [`HASHES`].
fn kind(start: &BytesStart<'_>) -> Option<usize> {
    let name = attribute(start, "type")?;
    HASHES.iter().position(|(theirs, _)| *theirs == name)
}
