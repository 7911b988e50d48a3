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
