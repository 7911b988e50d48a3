//! The files of a list, fetched into a folder.

use crate::entries::{make_folder, no_link, symlink};
use crate::error::{Error, write};
use crate::get::get;
use crate::list::{Attributes, List, Listed, Other, OtherKind};
use crate::request::{Got, Request};
use mksum::Spec;
use mksum::ordered::ordered;
#[cfg(unix)]
use mksum_io::set_modified;
use mksum_io::{Below, Entries, Input, KEPT_FOLDER, Options, path_from_bytes};
use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The files that are fetched at a time: small ones wait for answers most of their time.
const FILES: usize = 4;

/// The bits of a mode that give others the rights of whoever has the file.
#[cfg(unix)]
const SET_ID: u32 = 0o6000;

/// The folder that a list is fetched into, and from where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FolderRequest {
    /// Copies of the folder, as paths or URLs: one or more. They are not trusted.
    pub mirrors: Vec<Input>,
    /// The folder that is written to, which is made if it is not there.
    pub folder: PathBuf,
    /// The requests that run at once, over all mirrors and files: 1 or more.
    pub connections: usize,
    /// Whether outboards of the files are used: else each is fetched as a stream.
    pub use_outboards: bool,
    /// The formats of other sums of each file.
    pub also: Vec<Spec>,
}

impl FolderRequest {
    /// A request with outboards.
    pub fn new(mirrors: Vec<Input>, folder: PathBuf) -> FolderRequest {
        FolderRequest { mirrors, folder, connections: Request::CONNECTIONS, use_outboards: true, also: Vec::new() }
    }
}

/// Fetches the files of a list into a folder, each as [`get`] does, and then makes its folders and links, and sets the attributes that it
/// has. `each` receives what became of each file by its path, in their order, and the errors of other entries.
///
/// Nothing is written outside of the folder, also not through symbolic links.
///
/// # Errors
/// If the folder cannot be made. What is about one entry goes to `each`.
pub fn get_list(
    list: &List,
    request: &FolderRequest,
    options: &Options,
    each: &mut dyn FnMut(&Path, Result<Got, Error>),
) -> Result<(), Error> {
    let folder = &request.folder;
    let made = fs::create_dir_all(folder).and_then(|()| Below::new(folder));
    let below = made.map_err(|error| write(folder, error))?;
    let at_once = FILES.min(request.connections).min(list.files.len().max(1));
    let fetch = |listed: &Listed| {
        let mut one = listed.request(&request.mirrors, folder);
        (one.connections, one.also) = (request.connections / at_once, request.also.clone());
        if !request.use_outboards {
            one.outboards = Vec::new();
        }
        let path = folder.join(listed.name());
        let made = if list.is_directory { no_link(&path) } else { Ok(()) };
        let made = made.and_then(|()| inside(&below, &path, || make_folder(path.parent())));
        made.and_then(|()| get(&one, options))
    };
    // What gets its attributes when all is there: whatever is made in a folder changes its time.
    let (mut files, mut others) = (Vec::new(), Vec::new());
    ordered(
        at_once,
        4 * at_once,
        list.files.iter(),
        || (),
        |(), listed| (listed, fetch(listed)),
        |results| {
            for (listed, got) in results {
                if got.as_ref().is_ok_and(Got::is_whole) {
                    files.push((listed.name(), listed.attributes));
                }
                each(&folder.join(listed.name()), got);
            }
        },
    );
    let mut failed = |path: &Path, done: Result<(), Error>| {
        if let Err(error) = done {
            each(path, Err(error));
        }
    };
    for Other { name, kind, attributes } in &list.others {
        let path = folder.join(name);
        let made = match kind {
            OtherKind::Folder => no_link(&path).and_then(|()| inside(&below, &path, || make_folder(Some(&path)))),
            OtherKind::Link(text) => link(&below, folder, (name, text)),
        };
        if made.is_ok() {
            others.push((&**name, *attributes));
        }
        failed(&path, made);
    }
    for (name, attributes) in files.into_iter().chain(others.into_iter().rev()) {
        let path = folder.join(name);
        failed(&path, set(&path, attributes));
    }
    Ok(())
}

/// The paths of what is in the folder and not in the list, below the folder, in their order: up to `most` of them, and their number.
///
/// # Errors
/// If the folder cannot be listed.
pub fn extra(list: &List, folder: &Path, most: usize) -> Result<(Vec<PathBuf>, u64), Error> {
    let names: HashSet<&Path> =
        list.files.iter().map(Listed::name).chain(list.others.iter().map(|other| &*other.name)).collect();
    let (mut found, mut count) = (Vec::new(), 0);
    let skip = Box::new(|path: &[u8], _: &dyn Fn() -> PathBuf, _: &_| path == KEPT_FOLDER.as_bytes());
    for entry in Entries::of(folder, skip)? {
        let path = entry.map_err(|unlisted| unlisted.error)?.path;
        let path = path_from_bytes(&path).unwrap_or_default();
        if !names.contains(&*path) {
            count += 1;
            if found.len() < most {
                found.push(path);
            }
        }
    }
    Ok((found, count))
}

/// Does something at a path, unless that leads out of the folder.
fn inside(below: &Below, path: &Path, act: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    match below.refuses(path, "not written") {
        Some(why) => Err(Error::Refused(path.into(), why)),
        None => act(),
    }
}

/// Makes a symbolic link, which must not lead out of the folder.
fn link(below: &Below, folder: &Path, (name, text): (&Path, &Path)) -> Result<(), Error> {
    let path = folder.join(name);
    let refuse = |why: String| Err(Error::Refused((&path).into(), why));
    // What is at its own path may be a link.
    if let Some(why) = below.refuses(path.parent().unwrap_or(folder), "not made") {
        return refuse(why);
    }
    if !stays_below(name, text) {
        return refuse(format!("a link that leads out of the folder, to '{}': not made", text.display()));
    }
    make_folder(path.parent())?;
    match fs::read_link(&path) {
        Ok(there) if there == text => return Ok(()),
        Ok(there) => {
            return refuse(format!("a link to '{}' is here: expected one to '{}'", there.display(), text.display()));
        }
        Err(_) if path.symlink_metadata().is_ok() => {
            return refuse("no link, which it must be: remove it first".into());
        }
        Err(_) => {}
    }
    symlink(text, &path).map_err(|error| write(&path, error))
}

/// Whether a link with the path `name` stays below its folder, whatever other links are on its way: with `..` only before all names.
fn stays_below(name: &Path, text: &Path) -> bool {
    let depth = name.components().count() - 1;
    let mut rest = text.components().skip_while(|part| *part == Component::CurDir).peekable();
    let mut up = 0;
    while rest.next_if_eq(&Component::ParentDir).is_some() {
        up += 1;
    }
    up <= depth && rest.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Sets the attributes of an entry that differ.
#[cfg(unix)]
fn set(path: &Path, attributes: Attributes) -> Result<(), Error> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let fail = |error| write(path, error);
    if attributes == Attributes::default() {
        return Ok(());
    }
    let found = path.symlink_metadata().map_err(fail)?;
    if let Some(time) = attributes.modified
        && (found.mtime(), found.mtime_nsec()) != (time.0, i64::from(time.1))
    {
        set_modified(path, time).map_err(fail)?;
    }
    match attributes.mode {
        Some(mode) if mode & SET_ID & !found.mode() != 0 => {
            let how = format!("has the rights of its owner for whoever runs it: if you trust it, 'chmod {mode:o}'");
            Err(Error::Refused(path.into(), how))
        }
        Some(mode) if mode != found.mode() & 0o7777 => {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(fail)
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn set(path: &Path, attributes: Attributes) -> Result<(), Error> {
    match attributes == Attributes::default() {
        true => Ok(()),
        false => Err(Error::Refused(path.into(), "modes and times of directories are set on Unix only".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_below_the_folder() {
        for (name, text, stays) in [
            ("a", "b", true),
            ("a", "./b/c", true),
            ("a", "..", false),
            ("d/a", "../b", true),
            ("d/a", "../../b", false),
            ("d/e/a", "./../../b", true),
            ("d/a", "x/../b", false),
            ("a", "/b", false),
            ("a", "", true),
        ] {
            assert_eq!(stays_below(name.as_ref(), text.as_ref()), stays, "{name} {text}");
        }
    }
}
