//! Lines of `--json`: spec/json.md describes every object.

use base64ct::{Base64, Encoding};
use mksum_cli::name::{self, Named};
use serde::Serialize;
use std::fmt::Display;
use std::ops::Range;

/// An object about the input `path` with these fields, and a newline.
pub fn line<T: Named + ?Sized>(path: &T, fields: impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Object<'a, T> {
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        path_base64: Option<String>,
        #[serde(flatten)]
        fields: T,
    }
    object(Object { path: &name::lossy(path), path_base64: base64(path), fields })
}

/// The exact bytes of a path, if they are not UTF-8.
pub fn base64<T: Named + ?Sized>(path: &T) -> Option<String> {
    let bytes = path.shown();
    str::from_utf8(&bytes).is_err().then(|| Base64::encode_string(&bytes))
}

/// An object, and a newline.
pub fn object(fields: impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(&fields).expect("strings and numbers");
    line.push(b'\n');
    line
}

/// The root of a file.
#[derive(Debug, Serialize)]
pub struct Root<'a> {
    /// `root`.
    pub kind: &'static str,
    /// From `keep`: the path of the outboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outboard: Option<&'a str>,
    /// The format.
    pub format: String,
    /// The number of bytes that were hashed.
    pub length: u64,
    /// The root, as text.
    pub root: String,
    /// The first byte of a part, if it is not the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// From `keep`: the bytes that an earlier run had hashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<u64>,
    /// From `join`: the number of digests that were joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtrees: Option<u64>,
    /// The time it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl Root<'_> {
    /// Without the fields that only some commands have.
    pub fn new(root: &mksum::Root) -> Self {
        let (format, length, root) = (root.spec().to_string(), root.len(), root.to_string());
        let (outboard, start, resumed, subtrees, seconds) = (None, None, None, None, None);
        Root { kind: "root", outboard, format, length, root, start, resumed, subtrees, seconds }
    }
}

/// A file that could not be processed.
#[derive(Debug, Serialize)]
pub struct Error {
    kind: &'static str,
    error: String,
}

impl Error {
    /// With this reason.
    pub fn new(reason: &dyn Display) -> Self {
        Error { kind: "error", error: mksum_cli::url::masked(&reason.to_string()).into_owned() }
    }
}

/// Bytes of a file that the disk cannot read.
#[derive(Debug, Serialize)]
pub struct Unreadable {
    kind: &'static str,
    start: u64,
    end: u64,
    bytes: u64,
    error: String,
}

impl Unreadable {
    /// For these bytes.
    pub fn new(part: &mksum_io::Unreadable) -> Self {
        let Range { start, end } = part.range;
        Unreadable { kind: "unreadable", start, end, bytes: end - start, error: mksum_io::reason(&part.error()) }
    }
}

/// A state of a file that is given by its kind alone: `new`, `gone`, `unchanged`.
#[derive(Debug, Serialize)]
pub struct State {
    /// The state.
    pub kind: &'static str,
}
