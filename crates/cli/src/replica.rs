//! The places of copies of files in directories.

use mksum_cli::name::{Named, Shown};
use mksum_io::Input;
use std::path::Path;

/// The replica of the file at `path`, which was found in `argument` or is it: below `base`, a directory or a URL.
pub fn replica_of(base: &Input, argument: &Path, path: &Path) -> Input {
    let below = match path.strip_prefix(argument) {
        Ok(below) if below.as_os_str().is_empty() => path.file_name().map_or(path, Path::new),
        Ok(below) => below,
        Err(_) => path,
    };
    base.join(below)
}

/// The message that a copy does not help to repair a file, and the next one is asked.
pub fn passed<T: Named + ?Sized>(path: &T, copy: &Input, why: &str) -> String {
    format!("{}: {}: {why}; the next copy is asked", Shown(path), Shown(copy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_of_files_in_a_directory_lie_below_the_base() {
        let of = |base: &str, argument: &str, path: &str| {
            replica_of(&Input::place(base), Path::new(argument), Path::new(path))
                .as_os_str()
                .to_str()
                .unwrap()
                .to_string()
        };
        assert_eq!(of("/copy", "dir", "dir/a/b c"), Path::new("/copy").join("a/b c").to_str().unwrap());
        assert_eq!(of("/copy", "dir/file", "dir/file"), Path::new("/copy").join("file").to_str().unwrap());
        assert_eq!(of("https://host/x/", "dir", "dir/a/b c"), "https://host/x/a/b%20c");
        assert_eq!(of("s3://bucket/pre", ".", "./a/b c"), "s3://bucket/pre/a/b c");
    }
}
