//! Globs of what is left out of directories.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::array;
use std::path::Path;
use std::sync::Arc;

/// Globs of what is left out of a directory: those without a slash match names at any depth, others the path below the directory; those
/// that end with a slash match only directories. What is in a directory that is left out is left out, too.
///
/// ```
/// use mksum_io::Exclude;
///
/// let exclude = Exclude::new(["*.tmp".into(), "/cache/".into()]).unwrap();
/// assert!(exclude.covers("a/b.tmp".as_ref(), false) && exclude.covers("cache".as_ref(), true));
/// assert!(!exclude.covers("a/cache".as_ref(), true) && exclude.covers_within("cache/a".as_ref(), false));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Exclude {
    globs: Vec<String>,
    sets: Arc<Sets>,
}

#[derive(Debug, Default)]
struct Sets {
    names: GlobSet,
    paths: GlobSet,
    directory_names: GlobSet,
    directory_paths: GlobSet,
}

impl Exclude {
    /// The globs.
    ///
    /// # Errors
    /// If one is not valid: which, and why.
    pub fn new(globs: impl IntoIterator<Item = String>) -> Result<Exclude, String> {
        let globs: Vec<String> = globs.into_iter().collect();
        let mut sets: [GlobSetBuilder; 4] = array::from_fn(|_| GlobSetBuilder::new());
        for text in &globs {
            let (pattern, directories) = match text.strip_suffix('/') {
                Some(pattern) => (pattern, 2),
                None => (text.as_str(), 0),
            };
            let path = usize::from(pattern.contains('/'));
            let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
            let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
            sets[directories + path].add(glob.map_err(|error| format!("'{text}': {}", error.kind()))?);
        }
        let [names, paths, directory_names, directory_paths] =
            sets.map(|set| set.build().map_err(|error| error.to_string()));
        let (directory_names, directory_paths) = (directory_names?, directory_paths?);
        let sets = Sets { names: names?, paths: paths?, directory_names, directory_paths };
        Ok(Exclude { globs, sets: sets.into() })
    }

    /// The globs, as they were given.
    pub fn globs(&self) -> &[String] {
        &self.globs
    }

    /// Whether an entry matches by itself, from its path below the directory.
    pub fn covers(&self, below: &Path, is_directory: bool) -> bool {
        let name = below.file_name().map(Path::new).unwrap_or(Path::new(""));
        let any = self.sets.names.is_match(name) || self.sets.paths.is_match(below);
        any || (is_directory && (self.sets.directory_names.is_match(name) || self.sets.directory_paths.is_match(below)))
    }

    /// Whether an entry or a directory that it is in matches.
    pub fn covers_within(&self, below: &Path, is_directory: bool) -> bool {
        let mut above = below.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        self.covers(below, is_directory) || above.any(|above| self.covers(above, true))
    }
}
