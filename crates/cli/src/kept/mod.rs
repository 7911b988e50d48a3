//! Kept trees: outboards written, files compared with them, outboards compared with each other.

pub mod diff;
pub mod keep;
pub mod repair;
pub mod verify;

pub mod ranges;
mod rounds;

use crate::walk::{Rules, Unreachable, length};
use mksum::outboard::Header;
use mksum_io::outboard::EXTENSION;
use mksum_io::{File, Input};
use std::path::{Path, PathBuf};

/// The path of a file's outboard: the given one, or beside the file.
fn outboard_of(file: &Path, given: Option<&PathBuf>, extension: &str) -> PathBuf {
    given.cloned().unwrap_or_else(|| mksum_io::outboard::with_extension(file, extension))
}

/// Whether the file at `path` is an outboard or belongs to one: unfinished, or the record of a verification or repair.
fn is_ours(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    let mut ends = [".part", ".update", ".checked", ".checked.new", ".repair", ".repair.new", ""].into_iter();
    ends.any(|end| name.ends_with(format!(".{EXTENSION}{end}").as_bytes()))
}

/// The files that arguments name, without those in directories that belong to outboards.
fn files(rules: &Rules, arguments: &[PathBuf]) -> impl Iterator<Item = Result<PathBuf, Unreachable>> + use<> {
    let named = arguments.to_vec();
    rules.walk(arguments).filter_map(move |input| match input {
        Ok(Input::Stdin) => Some(Err(("-".into(), "a stream cannot be kept: write it to a file first".into()))),
        Ok(Input::Path(path)) if is_ours(&path) && !named.contains(&path) => None,
        Ok(Input::Path(path)) => Some(Ok(path)),
        Err(unreachable) => Some(Err(unreachable)),
    })
}

/// The bytes of those files, for progress.
fn lengths(rules: &Rules, arguments: &[PathBuf]) -> impl FnOnce() -> std::vec::IntoIter<Option<u64>> + Send + 'static {
    let (rules, arguments) = (rules.clone(), arguments.to_vec());
    move || {
        let length = |file| match file {
            Ok(path) => length(&Input::Path(path)),
            Err(_) => Some(0),
        };
        files(&rules, &arguments).map(length).collect::<Vec<_>>().into_iter()
    }
}

/// Whether a file has the size, mtime and inode in its outboard.
pub fn is_unchanged(file: &File, header: &Header) -> bool {
    file.len() == header.len && header.identity.is_some() && header.identity == file.identity()
}
