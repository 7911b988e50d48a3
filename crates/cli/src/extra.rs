//! `--report-extra`: the files in a folder that no sum file lists.

use crate::args::Directories;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_io::{EntryKind, Input};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// The files that sum files list, and the folders that are searched for others.
#[derive(Debug, Default)]
pub struct Listed {
    /// The places of directory entries.
    files: HashSet<PathBuf>,
    /// By their places, as they were given.
    folders: BTreeMap<PathBuf, PathBuf>,
}

impl Listed {
    /// Adds a file: one that a sum file lists, or a sum file itself.
    pub fn add(&mut self, path: &Path) {
        self.files.extend(entry_at(path));
    }

    /// Adds a folder in which all files must be listed; the current one if it is empty.
    pub fn search(&mut self, folder: &Path) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // One that is missing has no files.
        if let Ok(place) = folder.canonicalize() {
            self.folders.entry(place).or_insert_with(|| folder.into());
        }
    }

    /// Hands each file that is not listed to `found`, and returns how many there are; the exit if a glob of `rules` is not valid.
    pub fn find(&self, tool: &Tool, rules: &Directories, found: &mut dyn FnMut(&Path)) -> Result<u64, Exit> {
        // A directory without files has none that is not listed.
        let rules = tool.rules(&Directories { recursive: true, ..rules.clone() })?.with_others();
        let mut count = 0;
        for (place, folder) in &self.folders {
            // A folder within another is searched with that.
            if place.ancestors().skip(1).any(|above| self.folders.contains_key(above)) {
                continue;
            }
            let mut walk = rules.walk(&[folder.into()]);
            while let Some(file) = walk.next() {
                let path = match file {
                    Ok(_) if walk.kind() != EntryKind::File => continue,
                    Ok(Input::File(path)) => path,
                    Ok(Input::Stdin | Input::Url(_)) => continue,
                    Err((path, reason)) => {
                        tool.console.error(&path, &reason);
                        continue;
                    }
                };
                if entry_at(&path).is_some_and(|entry| self.files.contains(&entry)) {
                    continue;
                }
                count += 1;
                found(path.strip_prefix(".").unwrap_or(&path));
            }
        }
        Ok(count)
    }
}

/// The place of the directory entry at `path`: its folder is without symbolic links, and it may be one itself.
fn entry_at(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}
