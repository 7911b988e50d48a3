//! Folders that paths must not lead out of.

use crate::reason;
use mksum_sums::name::Shown;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A folder: files outside of it are neither read nor written.
#[derive(Clone, Debug)]
pub struct Below {
    /// As it was given.
    pub folder: PathBuf,
    /// Absolute, without symbolic links.
    place: PathBuf,
}

impl Below {
    /// The folder at this path; the current one if it is empty.
    ///
    /// # Errors
    /// If it is not there, or is no folder.
    pub fn new(folder: &Path) -> io::Result<Below> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let place = folder.canonicalize()?;
        match fs::metadata(&place)?.is_dir() {
            true => Ok(Below { folder: folder.into(), place }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// The reason why nothing is done with the file at `path`, if it leads out of the folder: by `..`, as an absolute path or through
    /// symbolic links. `so` says what is not done.
    pub fn refuses(&self, path: &Path, so: &str) -> Option<String> {
        let shown = Shown(&self.folder);
        match place_of(path) {
            Ok(place) if place.starts_with(&self.place) => None,
            Ok(place) => Some(format!("leads out of {shown}, to {}: {so}", Shown(&place))),
            Err(error) => Some(format!("it is not known whether it leads out of {shown}: {}", reason(&error))),
        }
    }
}

/// The place that a path leads to, without symbolic links. Of a file that is missing, the folders that are there are followed.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut there = path;
    loop {
        let folder = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        match folder.canonicalize() {
            Ok(place) => {
                let mut place = place;
                for part in missing.into_iter().rev() {
                    match part {
                        // What is not there has no links.
                        Component::ParentDir => drop(place.pop()),
                        part => place.push(part),
                    }
                }
                return Ok(place);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                let (Some(last), Some(parent)) = (there.components().next_back(), there.parent()) else {
                    return Err(error);
                };
                missing.push(last);
                there = parent;
            }
            Err(error) => return Err(error),
        }
    }
}
