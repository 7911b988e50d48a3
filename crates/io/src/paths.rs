//! Names of files beside others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder of a path.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// `path` with a dot and `extension` behind its name.
pub fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(extension);
    name.into()
}

/// The path that these bytes of the system's encoding are: one that [`Path::as_os_str`] has them of.
///
/// `None` for bytes that no path of this system has.
pub fn from_bytes(bytes: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        Some(OsString::from_vec(bytes.into()).into())
    }
    #[cfg(not(unix))]
    String::from_utf8(bytes.into()).ok().map(PathBuf::from)
}
