//! Replicas: other copies of a file, from which some ranges are fetched.

mod contract;
mod file;
mod object;

pub use contract::Replica;

use crate::objects::no_objects;
use crate::{Error, Options, is_url};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Opens the replica at a path, or at the URL of an object if the options have [`objects`](Options::objects).
///
/// # Errors
/// If it cannot be opened, or the options have no client for it. A server gets its first request when bytes are read.
pub fn open_replica(place: &Path, options: &Options) -> Result<Box<dyn Replica>, Error> {
    if !is_url(place) {
        return Ok(Box::new(file::Local::open(place)?));
    }
    let objects = options.objects.clone().ok_or_else(|| no_objects(place))?;
    Ok(Box::new(object::Remote::new(place.into(), objects)))
}

/// The place of the copy of a file: its path `below` a directory, below a copy of that directory or the URL of one.
///
/// ```
/// use mksum_io::replica_below;
/// use std::path::Path;
///
/// assert_eq!(replica_below(Path::new("/copy"), Path::new("a/b c")), Path::new("/copy/a/b c"));
/// assert_eq!(replica_below(Path::new("https://host/x/"), Path::new("a/b c")), Path::new("https://host/x/a/b%20c"));
/// ```
pub fn replica_below(base: &Path, below: &Path) -> PathBuf {
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
        let of =
            |base: &str, below: &str| replica_below(Path::new(base), Path::new(below)).to_str().unwrap().to_string();
        assert_eq!(of("/copy", "a/b c"), Path::new("/copy").join("a/b c").to_str().unwrap());
        assert_eq!(of("https://host/x/", "a/b c?é"), "https://host/x/a/b%20c%3F%C3%A9");
        assert_eq!(of("s3://bucket/pre", "a/b c"), "s3://bucket/pre/a/b c");
    }
}
