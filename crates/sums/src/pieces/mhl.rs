//! ASC MHL: the manifests of film sets (`spec/mhl.md`).

use super::manifest::{Manifest, PiecedFile, push};
use super::xml::{Tag, attribute, walk};
use crate::expected::Expected;
use crate::name::printable;
use mksum::{MAX_LEN, Root, Spec};
use quick_xml::events::BytesText;
use quick_xml::writer::Writer;
use std::path::PathBuf;

/// The outermost element, and its namespace.
pub(super) const ROOT: (&str, &str) = ("hashlist", "urn:ASC:MHL:v2.0");
/// The sums of files, the strongest first: each is an element with this name, and the format of the same name. Other elements are skipped.
pub const SUMS: [&str; 6] = ["c4", "sha1", "md5", "xxh128", "xxh3", "xxh64"];

/// Reads a manifest.
///
/// # Errors
/// If it is not valid, or has no files: the offset in bytes and the reason, as words.
pub fn mhl(bytes: &[u8]) -> Result<Manifest, String> {
    let mut manifest = Manifest { is_mhl: true, ..Manifest::default() };
    let (mut path, mut len, mut sum): (String, Option<u64>, Option<(usize, String)>) = (String::new(), None, None);
    walk(bytes, ROOT, &mut |opened, tag| {
        match (opened, tag) {
            (["hashlist", "hashes", "hash"], Tag::Start(_)) => (path, len, sum) = (String::new(), None, None),
            (["hashlist", "hashes", "hash", "path"], Tag::Start(start)) => {
                if let Some(text) = attribute(start, "size") {
                    let size = text.parse::<u64>().ok().filter(|&len| len <= MAX_LEN);
                    len = Some(size.ok_or("a size that is no number of bytes")?);
                }
            }
            (["hashlist", "hashes", "hash", "path"], Tag::End(text)) => path = text.into(),
            (["hashlist", "hashes", "hash", name], Tag::End(text)) => {
                let kind = SUMS.iter().position(|known| known == name);
                if let Some(kind) = kind.filter(|kind| sum.as_ref().is_none_or(|(other, _)| kind < other)) {
                    sum = Some((kind, text.into()));
                }
            }
            (["hashlist", "hashes", "hash"], Tag::End(_)) => add(&mut manifest, &path, len, sum.take())?,
            _ => {}
        }
        Ok(())
    })?;
    match manifest.files.is_empty() && manifest.refused.is_empty() {
        true => Err("an ASC MHL manifest without files".into()),
        false => manifest.refuse_twins(),
    }
}

/// Adds a file whose element was read.
fn add(manifest: &mut Manifest, name: &str, len: Option<u64>, sum: Option<(usize, String)>) -> Result<(), String> {
    let mut path = PathBuf::new();
    for part in name.split('/') {
        if let Err(why) = push(&mut path, part.as_bytes()) {
            manifest.refused.push((printable(name).into(), why));
            return Ok(());
        }
    }
    let Some((kind, text)) = sum else {
        let why = format!("the manifest has no sum of it that this program knows: {}", SUMS.join(", "));
        manifest.refused.push((path, why));
        return Ok(());
    };
    let spec: Spec = SUMS[kind].parse().map_err(|error| format!("{error}"))?;
    let expected =
        Expected::parse(&text, Some(&spec.clone().into())).map_err(|why| format!("{}: {why}", path.display()))?;
    manifest.files.push(PiecedFile { path, len, sum: Some((spec, expected)), pieces: None, mirrors: Vec::new() });
    Ok(())
}

/// The beginning of a manifest up to the first [`entry`]: the program that writes it, and the time in the form of RFC 3339.
pub fn begin((tool, version): (&str, &str), host: &str, time: &str) -> Vec<u8> {
    let mut out = Vec::from(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let (root, namespace) = ROOT;
    out.extend_from_slice(format!("<{root} version=\"2.0\" xmlns=\"{namespace}\">\n  <creatorinfo>\n").as_bytes());
    for (name, attributes, text) in
        [("creationdate", &[][..], time), ("hostname", &[], host), ("tool", &[("version", version)], tool)]
    {
        element(&mut out, 4, (name, attributes), text);
    }
    out.extend_from_slice(
        b"  </creatorinfo>\n  <processinfo>\n    <process>in-place</process>\n  </processinfo>\n  <hashes>\n",
    );
    out
}

/// The element of a file with a path in UTF-8: its length in bytes, and its roots in formats of [`SUMS`].
pub fn entry(path: &str, len: Option<u64>, roots: &[Root]) -> Vec<u8> {
    let mut out = Vec::from(b"    <hash>\n");
    let size = len.map(|len| len.to_string());
    let size = size.as_ref().map(|size| ("size", &**size));
    element(&mut out, 6, ("path", size.as_slice()), path);
    for root in roots {
        element(&mut out, 6, (root.spec().family().name, &[("action", "original")]), &root.to_string());
    }
    out.extend_from_slice(b"    </hash>\n");
    out
}

/// The end of a manifest.
pub const END: &[u8] = b"  </hashes>\n</hashlist>\n";

/// Appends an element with text, in a line.
fn element(out: &mut Vec<u8>, indent: usize, (name, attributes): (&str, &[(&str, &str)]), text: &str) {
    out.resize(out.len() + indent, b' ');
    let mut writer = Writer::new(&mut *out);
    let started = writer.create_element(name).with_attributes(attributes.iter().copied());
    started.write_text_content(BytesText::new(text)).expect("memory takes every byte");
    out.push(b'\n');
}
