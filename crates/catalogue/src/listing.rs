//! Lists of entries as lines of JSON: what `mksum export --to json` and `mksum --json` print (`spec/json.md`).

use crate::diff::Known;
use base64ct::{Base64, Encoding};
use mksum::Spec;
use mksum_io::EntryKind;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The fields of an object that say which entry has which roots.
#[derive(Deserialize)]
struct Object {
    path: String,
    path_base64: Option<String>,
    kind: String,
    r#type: Option<String>,
    length: Option<u64>,
    start: Option<u64>,
    #[serde(default)]
    roots: BTreeMap<String, String>,
    format: Option<String>,
    root: Option<String>,
}

/// Whether a file with this first line is such a list.
pub fn is_one(line: &[u8]) -> bool {
    serde_json::from_slice::<Object>(line).is_ok()
}

/// The entry that a line is about; `None` if it is about a part of a file, or has no roots.
pub fn entry(line: &[u8]) -> Option<Known> {
    let object: Object = serde_json::from_slice(line).ok()?;
    let (mut roots, mut kind) = (object.roots, EntryKind::File);
    match (&*object.kind, object.r#type.as_deref()) {
        ("entry", Some("file")) => {}
        ("entry", Some("directory")) => kind = EntryKind::Directory,
        ("entry", Some("link")) => kind = EntryKind::Link,
        ("root", None) if object.start.is_none() => roots.extend([(object.format?, object.root?)]),
        _ => return None,
    }
    let path = match object.path_base64 {
        Some(text) => Base64::decode_vec(&text).ok()?,
        None => object.path.into_bytes(),
    };
    let roots = roots.into_iter().map(|(format, root)| {
        let spec: Spec = format.parse().ok()?;
        let digest = spec.claimed_root(&root).ok()?.digest();
        Some((spec, digest))
    });
    let roots = roots.collect::<Option<Vec<_>>>()?;
    Some(Known { path, kind, size: object.length, link: None, roots })
}
