//! Metalinks: XML with the sums and mirrors of files (RFC 5854).

use super::manifest::{Manifest, PiecedFile, Pieces, flat, push, web};
use crate::expected::Expected;
use crate::name::printable;
use crate::url::Url;
use mksum::{MAX_LEN, Root, Spec};
use quick_xml::XmlVersion;
use quick_xml::escape::{escape, resolve_predefined_entity};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::NsReader;
use std::path::PathBuf;

/// The namespace (RFC 5854, 1.3).
const NAMESPACE: &str = "urn:ietf:params:xml:ns:metalink";
/// The hashes of files, the strongest first, by their names in the registry of IANA and here (RFC 5854, 4.2.4).
const HASHES: [(&str, &str); 6] = [
    ("sha-512", "sha512"),
    ("sha-384", "sha384"),
    ("sha-256", "sha256"),
    ("sha-224", "sha224"),
    ("sha-1", "sha1"),
    ("md5", "md5"),
];
/// The elements that lie in one another, at most.
const DEEPEST: usize = 16;

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
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metalink xmlns=\"{NAMESPACE}\">\n  <file name=\"{name}\">\n    \
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
    let text = str::from_utf8(bytes).map_err(|error| format!("byte {}: expected UTF-8", error.valid_up_to()))?;
    let mut reader = NsReader::from_str(text);
    let mut manifest = Manifest::default();
    let (mut path, mut file, mut text): (Vec<String>, Option<File>, String) = (Vec::new(), None, String::new());
    // The type and length of the elements that are open.
    let (mut hash, mut piece, mut priority) = (None, None, 999_999);
    loop {
        let at = reader.buffer_position();
        let fail = |why: &dyn std::fmt::Display| Err(format!("byte {at}: {why}"));
        let (namespace, event) = match reader.read_resolved_event() {
            Ok((namespace, event)) => (namespace, event),
            Err(error) => return fail(&printable(&error.to_string())),
        };
        let is_ours =
            matches!(namespace, quick_xml::name::ResolveResult::Bound(name) if name.0 == NAMESPACE.as_bytes());
        match event {
            Event::Start(start) => {
                let name = if is_ours {
                    String::from_utf8_lossy(start.local_name().as_ref()).into_owned()
                } else {
                    String::new()
                };
                if path.is_empty() && name != "metalink" {
                    return fail(&format_args!("expected the element metalink of {NAMESPACE}"));
                }
                path.push(name);
                text.clear();
                if path.len() > DEEPEST {
                    return fail(&"elements are nested more than 16 deep");
                }
                let opened: Vec<_> = path.iter().map(String::as_str).collect();
                match &opened[..] {
                    ["metalink", "file"] => {
                        let Some(name) = attribute(&start, "name") else { return fail(&"a file without a name") };
                        file = Some(File { name, ..File::default() });
                    }
                    ["metalink", "file", "hash"] => hash = kind(&start),
                    ["metalink", "file", "pieces"] => {
                        piece = attribute(&start, "length").and_then(|len| len.parse::<u64>().ok());
                        hash = kind(&start);
                        let (Some(len), Some(file)) = (piece.filter(|len| (1..=MAX_LEN).contains(len)), &mut file)
                        else {
                            return fail(&"pieces without a length from 1 to 2^40");
                        };
                        // The strongest counts, as of whole files.
                        if let Some(hash) =
                            hash.filter(|hash| file.pieces.as_ref().is_none_or(|(other, ..)| hash < other))
                        {
                            file.pieces = Some((hash, len, Vec::new()));
                            piece = Some(len);
                        } else {
                            piece = None;
                        }
                    }
                    ["metalink", "file", "url"] => {
                        priority = attribute(&start, "priority").and_then(|text| text.parse().ok()).unwrap_or(999_999);
                    }
                    _ => {}
                }
            }
            Event::Empty(start) if path.is_empty() => {
                let _ = start;
                return fail(&"a metalink without files");
            }
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::DocType(_) => return fail(&"a document type is not read"),
            Event::Text(part) => match part.xml_content(XmlVersion::Explicit1_0) {
                Ok(part) => text.push_str(&part),
                Err(error) => return fail(&error),
            },
            Event::CData(part) => match part.decode() {
                Ok(part) => text.push_str(&part),
                Err(error) => return fail(&error),
            },
            Event::GeneralRef(name) => match reference(&name) {
                Some(letter) => text.push_str(&letter),
                None => return fail(&"an entity that XML does not define"),
            },
            Event::End(_) => {
                let opened: Vec<_> = path.iter().map(String::as_str).collect();
                let given = text.trim();
                match (&opened[..], &mut file) {
                    (["metalink", "file", "size"], Some(file)) => match given.parse::<u64>() {
                        Ok(len) if len <= MAX_LEN => file.len = Some(len),
                        _ => return fail(&"a size that is no number of bytes"),
                    },
                    (["metalink", "file", "hash"], Some(file)) => {
                        if let Some(kind) =
                            hash.take().filter(|kind| file.sum.as_ref().is_none_or(|(other, _)| kind < other))
                        {
                            file.sum = Some((kind, given.into()));
                        }
                    }
                    (["metalink", "file", "pieces", "hash"], Some(file)) => {
                        if let (Some(_), Some((_, _, sums))) = (piece, &mut file.pieces) {
                            let Ok(sum) = base16ct::mixed::decode_vec(given) else {
                                return fail(&"the sum of a piece is not hex");
                            };
                            sums.extend(sum);
                        }
                    }
                    (["metalink", "file", "pieces"], _) => (piece, hash) = (None, None),
                    (["metalink", "file", "url"], Some(file)) => match web(given) {
                        Some(url) => file.mirrors.push((priority, url)),
                        None => file.skipped.push(printable(given)),
                    },
                    (["metalink", "file"], _) => {
                        if let Some(file) = file.take() {
                            add(&mut manifest, file)?;
                        }
                    }
                    _ => {}
                }
                path.pop();
                text.clear();
            }
            Event::Eof if path.is_empty() => break,
            Event::Eof => return fail(&"the file ends within an element"),
        }
    }
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

fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.try_get_attribute(name).ok()??;
    found.normalized_value(XmlVersion::Explicit1_0).ok().map(Into::into)
}

/// The letter of an entity or of a number.
fn reference(name: &quick_xml::events::BytesRef<'_>) -> Option<String> {
    if let Ok(Some(letter)) = name.resolve_char_ref() {
        return Some(letter.into());
    }
    resolve_predefined_entity(&name.decode().ok()?).map(Into::into)
}
