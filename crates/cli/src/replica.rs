//! The places of copies of files in directories.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The replica of the file at `path`, which was found in `argument` or is it: below `base`, a directory or a URL.
pub fn replica_of(base: &Path, argument: &Path, path: &Path) -> PathBuf {
    let below = match path.strip_prefix(argument) {
        Ok(below) if below.as_os_str().is_empty() => path.file_name().map_or(path, Path::new),
        Ok(below) => below,
        Err(_) => path,
    };
    let Some((scheme, _)) = base.to_str().and_then(|text| text.split_once("://")) else { return base.join(below) };
    let mut url = base.to_string_lossy().trim_end_matches('/').to_string();
    for part in below.components() {
        if let Component::Normal(name) = part {
            url.push('/');
            url += &if scheme == "s3" { name.to_string_lossy().into_owned() } else { percent_encoded(name) };
        }
    }
    url.into()
}

/// A name as a segment of a URL's path (RFC 3986, 2.1).
fn percent_encoded(name: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let bytes = name.as_encoded_bytes().iter();
    bytes.map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_lie_below_a_directory_or_a_url() {
        let of = |base: &str, argument: &str, path: &str| {
            replica_of(Path::new(base), Path::new(argument), Path::new(path)).to_str().unwrap().to_string()
        };
        assert_eq!(of("/copy", "dir", "dir/a/b c"), Path::new("/copy").join("a/b c").to_str().unwrap());
        assert_eq!(of("/copy", "dir/file", "dir/file"), Path::new("/copy").join("file").to_str().unwrap());
        assert_eq!(of("https://host/x/", "dir", "dir/a/b c?é"), "https://host/x/a/b%20c%3F%C3%A9");
        assert_eq!(of("s3://bucket/pre", ".", "./a/b c"), "s3://bucket/pre/a/b c");
    }
}
