//! Folders and symbolic links of copies.

use crate::error::{Error, write};
use mksum_io::Partial;
use std::fs;
use std::io;
use std::path::Path;

/// Refuses paths at or above which, and below the folder `base`, a symbolic link is: what is written there would be elsewhere.
///
/// # Errors
/// If there is such a link.
pub fn refuse_links(base: &Path, path: &Path) -> Result<(), Error> {
    path.ancestors().take_while(|above| *above != base).try_for_each(no_link)
}

/// Refuses a path at which a symbolic link is.
pub fn no_link(path: &Path) -> Result<(), Error> {
    match path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        true => Err(Error::Refused(
            path.into(),
            "a symbolic link is here, where the directory has none: remove it first".into(),
        )),
        false => Ok(()),
    }
}

/// Makes a folder, and those above it.
pub fn make_folder(path: Option<&Path>) -> Result<(), Error> {
    path.map_or(Ok(()), |path| fs::create_dir_all(path).map_err(|error| write(path, error)))
}

/// Copies a symbolic link with its text and time, whatever it points to, as `cp -a` does. A link or file that is there is replaced. Returns
/// whether anything was to be done.
///
/// # Errors
/// If the link cannot be read or made, or a directory is there.
pub fn copy_link(source: &Path, target: &Path) -> Result<bool, Error> {
    let text = fs::read_link(source).map_err(|error| mksum_io::Error::Open { path: source.into(), error })?;
    let failed = |error| write(target, error);
    let is_there = fs::read_link(target).is_ok_and(|there| there == text);
    if !is_there {
        // Until the new link is there, the path has what it had.
        let new = Partial::name_of(target);
        if new.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            fs::remove_file(&new).map_err(failed)?;
        }
        symlink(&text, &new).map_err(failed)?;
        fs::rename(&new, target).map_err(|error| {
            // The error is that of the renaming.
            let _ = fs::remove_file(&new);
            failed(error)
        })?;
    }
    set_like(source, target)?;
    Ok(!is_there)
}

/// Makes a symbolic link.
#[cfg(unix)]
pub fn symlink(text: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(text, path)
}

/// Makes a symbolic link.
#[cfg(not(unix))]
pub fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "symbolic links are made on Unix only"))
}

/// Gives a folder the permissions of its source, and a folder or link its time. Whatever is made in a folder changes its time: folders come
/// last, the inner ones first.
///
/// # Errors
/// If they cannot be read or set.
pub fn set_like(source: &Path, target: &Path) -> Result<(), Error> {
    let found = source.symlink_metadata().map_err(|error| mksum_io::Error::Open { path: source.into(), error })?;
    if found.is_dir() {
        fs::set_permissions(target, found.permissions()).map_err(|error| write(target, error))?;
    }
    set_time(target, &found).map_err(|error| write(target, error))
}

#[cfg(unix)]
fn set_time(target: &Path, source: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    mksum_io::set_modified(target, (source.mtime(), source.mtime_nsec() as u32))
}

#[cfg(not(unix))]
fn set_time(_: &Path, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_copied_as_they_are_and_never_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("/nowhere/at all".as_ref(), &path("a")).unwrap();
        assert!(copy_link(&path("a"), &path("b")).unwrap());
        assert!(!copy_link(&path("a"), &path("b")).unwrap());
        fs::write(path("c"), "a file").unwrap();
        symlink("other".as_ref(), &path("d")).unwrap();
        fs::create_dir(path("e")).unwrap();
        for (name, is_made) in [("c", true), ("d", true), ("e", false)] {
            assert_eq!(copy_link(&path("a"), &path(name)).is_ok(), is_made, "{name}");
            assert_eq!(fs::read_link(path(name)).is_ok_and(|text| text == Path::new("/nowhere/at all")), is_made);
        }
        assert!(path("e").is_dir() && !path("e.part").is_symlink());
        symlink("..".as_ref(), &path("e/up")).unwrap();
        for (name, is_right) in [("e/f", true), ("e/up", false), ("e/up/x", false)] {
            assert_eq!(refuse_links(&path("e"), &path(name)).is_ok(), is_right, "{name}");
        }
    }
}
