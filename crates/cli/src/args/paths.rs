//! Paths on the command line, and in lists of names.

use clap::builder::{PathBufValueParser, TypedValueParser};
use mksum_cli::name;
use mksum_io::Input;
use std::path::{Path, PathBuf};

/// Reads a path of this machine, also as a `file://` URL.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|given| match read_place(given)? {
        Input::File(path) => Ok(path),
        Input::Url(_) | Input::Stdin => Err(NOT_HERE.to_string()),
    })
}

/// Reads a path of this machine, also as a `file://` URL, or the URL of an object.
pub fn place() -> impl TypedValueParser<Value = Input> {
    PathBufValueParser::new().try_map(read_place)
}

/// Reads the same, or `-`, the standard input.
pub fn input() -> impl TypedValueParser<Value = Input> {
    PathBufValueParser::new().try_map(read_input)
}

/// What is said of the URL of an object where only files are read or written.
pub const NOT_HERE: &str = "the URL of an object is not taken here: download it first, and give the path of the file";

/// What a path, a URL or `-` names: see [`read_place`].
///
/// # Errors
/// As that.
pub fn read_input(given: PathBuf) -> Result<Input, String> {
    if given.as_os_str() == "-" { Ok(Input::Stdin) } else { read_place(given) }
}

/// What a path or URL names: of a `file://` URL its path (RFC 8089).
///
/// # Errors
/// If it is a URL that names no file of this machine and no object in a store: as words.
pub fn read_place(given: PathBuf) -> Result<Input, String> {
    let Some((scheme, rest)) = given.to_str().and_then(|text| text.split_once("://")) else { return Ok(given.into()) };
    if scheme.eq_ignore_ascii_case("file") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        let path = rest.starts_with('/').then(|| decoded(rest)).flatten();
        return path.map(Input::File).ok_or_else(|| "not a file of this machine: expected file:///PATH".into());
    }
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let place = Input::place(&given);
    if !is_scheme || place.url().is_some() || exists(&given) {
        return Ok(place);
    }
    let known = "expected s3://, gs://, az://, abfss://, hdfs://, http://, https:// or file://";
    Err(format!("there is no client for URLs of {scheme}://: {known}"))
}

/// Whether something is there, or the folder in which it would be.
fn exists(path: &Path) -> bool {
    path.exists() || path.parent().is_some_and(Path::exists)
}

/// The path of a `file://` URL whose part after the host this is.
fn decoded(text: &str) -> Option<PathBuf> {
    // A drive of Windows follows a slash.
    let text = if cfg!(windows) { &text[1..] } else { text };
    let (mut bytes, mut left) = (Vec::new(), text.as_bytes());
    while let [byte, after @ ..] = left {
        let decoded = match (byte, after) {
            (b'%', [high, low, ..]) => base16ct::mixed::decode_vec([*high, *low]).ok(),
            _ => None,
        };
        left = &after[if decoded.is_some() { 2 } else { 0 }..];
        bytes.push(decoded.map_or(*byte, |decoded| decoded[0]));
    }
    name::path(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_files_are_paths() {
        let of = |text: &str| read_input(text.into());
        let root = if cfg!(windows) { "" } else { "/" };
        for (url, path) in [("file:///a/b", "a/b"), ("file://localhost/a%20b%2", "a b%2"), ("FILE:///%41", "A")] {
            assert_eq!(of(url), Ok(Input::File(format!("{root}{path}").into())), "{url}");
        }
        for path in ["-", "a", "a/b://c", "file:a", "s3://bucket/key", "https://host/x", "://", "1://x"] {
            assert_eq!(of(path), Ok(Input::parse(path)));
        }
        for wrong in ["file://", "file://host/a", "file://a", "file:///%00", "ftp://host/a", "S3://bucket/key"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
