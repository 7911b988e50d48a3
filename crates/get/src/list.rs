//! Lists of sums, and directories: the files that they have, as downloads into a folder.

use crate::request::{Request, Target};
use mksum_io::outboard::EXTENSION;
use mksum_io::{Input, Opening};
use mksum_sums::choice::Choice;
use mksum_sums::expected::Expected;
use mksum_sums::name::{self, Shown};
use mksum_sums::pieces::{Manifest, Pieces};
use mksum_sums::sumfile::{Entry, Lines, Malformed};
use mksum_sums::url::Url;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead};
use std::path::{Component, Path, PathBuf};

/// The files of a list, each once, in the order of their names.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct List {
    /// The files that can be fetched.
    pub files: Vec<Listed>,
    /// The folders and symbolic links of a directory, in the order of their paths. A sum file has none.
    pub others: Vec<Other>,
    /// Whether it is all of a directory, so that nothing else has the path of an entry: no link that of a file.
    pub is_directory: bool,
    /// The names that cannot be, and why.
    pub refused: Vec<(PathBuf, String)>,
    /// The lines that could not be read: their numbers, and why.
    pub malformed: Vec<(u64, Malformed)>,
    /// Folders on web servers that have the files, if the list names some.
    pub mirrors: Vec<Input>,
}

/// A file of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listed {
    name: PathBuf,
    expected: Expected,
    /// The file's length in bytes, if the list has it.
    pub len: Option<u64>,
    /// Places of its outboard, if the list has them: else it may lie beside the file.
    pub outboards: Option<Vec<Input>>,
    /// The sums of its pieces, if the list has them.
    pub pieces: Option<Pieces>,
    /// Places of the file on web servers, if the list has them.
    pub mirrors: Vec<Input>,
    /// The file's attributes, as far as they are verified.
    pub attributes: Attributes,
}

/// An entry of a directory that is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The entry's path below the folder.
    pub name: PathBuf,
    /// What it is.
    pub kind: OtherKind,
    /// The entry's attributes, as far as they are verified.
    pub attributes: Attributes,
}

/// The kind of an entry that is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherKind {
    /// A folder.
    Folder,
    /// A symbolic link with this text.
    Link(PathBuf),
}

/// The attributes of an entry that its directory's root covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The lower 12 bits of the mode.
    pub mode: Option<u32>,
    /// The time of the last change, in seconds since 1970 and nanoseconds.
    pub modified: Option<(i64, u32)>,
}

impl List {
    /// All of a directory, of which no entry is known yet.
    pub fn of_directory() -> List {
        List { is_directory: true, ..List::default() }
    }

    /// Reads a list to its end. `given` is the format of the lines that name none.
    ///
    /// Names stay below the folder: absolute ones, and those with `..`, are refused, and so are roots of directories and of parts of
    /// files. Of several sums of one file the longest counts.
    ///
    /// # Errors
    /// If the reading fails.
    pub fn read<R: BufRead>(lines: &mut Lines<R>, given: Option<&Choice>) -> io::Result<List> {
        let (mut list, mut files) = (List::default(), BTreeMap::<PathBuf, (usize, Expected)>::new());
        while let Some(entry) = lines.next_entry()? {
            let entry = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    list.malformed.push((lines.number(), why));
                    continue;
                }
            };
            let len = entry.choice.spec().hash().size();
            match named(&entry).and_then(|name| Ok((name, Expected::of_entry(&entry, given)?))) {
                Ok((name, expected)) => match files.get(&name) {
                    Some((other, _)) if *other >= len => {}
                    _ => drop(files.insert(name, (len, expected))),
                },
                Err(why) => {
                    let name = name::path(&entry.path).unwrap_or_default();
                    list.refused.push((name, why));
                }
            }
        }
        list.files = files.into_iter().map(|(name, (_, expected))| Listed::new(name, expected)).collect();
        list.refuse_clashes();
        Ok(list)
    }

    /// The files of a torrent or metalink.
    ///
    /// Those of a v1 torrent whose pieces span files are refused: without the files beside it, no byte at its ends could be verified.
    pub fn of_manifest(manifest: Manifest) -> List {
        let joint = manifest.joint.is_some();
        let places = |urls: Vec<Url>| urls.into_iter().map(Input::from).collect();
        let mut list = List { refused: manifest.refused, mirrors: places(manifest.mirrors), ..List::default() };
        for file in manifest.files {
            let expected = match (file.sum, &file.pieces) {
                (Some((_, expected)), _) => Ok(expected),
                (None, Some(pieces)) => {
                    pieces.root().map(|root| Expected::from(&root)).map_err(|error| error.to_string())
                }
                (None, None) if joint => Err(
                    "the pieces of this v1 torrent span files: only 'mksum -c' verifies them; a v2 or hybrid torrent can be fetched"
                        .into(),
                ),
                (None, None) => Err("the list has no sum of it".into()),
            };
            match expected {
                Ok(expected) => {
                    let (len, pieces, mirrors) = (file.len, file.pieces, places(file.mirrors));
                    list.files.push(Listed { len, pieces, mirrors, ..Listed::new(file.path, expected) });
                }
                Err(why) => list.refused.push((file.path, why)),
            }
        }
        list.refuse_clashes();
        list
    }

    /// Refuses the files that have the name of another one while that is not whole.
    pub fn refuse_clashes(&mut self) {
        let parts: HashSet<_> = self.files.iter().map(|file| mksum_io::Partial::name_of(&file.name)).collect();
        for file in self.files.extract_if(.., |file| parts.contains(&file.name)) {
            let why = "the list has a file of this name without '.part', too: fetch them one by one";
            self.refused.push((file.name, why.into()));
        }
    }

    /// The files with these names: the paths as they are listed, or their last parts where those are unique.
    ///
    /// # Errors
    /// If the list has no such file, or several: as words.
    pub fn select(mut self, names: &[PathBuf]) -> Result<List, String> {
        let (mut chosen, mut of_chosen) = (Vec::new(), Vec::new());
        for wanted in names {
            let wanted = normal(wanted).unwrap_or_else(|| wanted.clone());
            let all = || self.files.iter().filter(|file| file.name.ends_with(&wanted));
            let exact = all().find(|file| file.name == wanted);
            match exact.or_else(|| all().next().filter(|_| all().count() == 1)) {
                Some(file) => chosen.push(file.name.clone()),
                None if all().next().is_some() => {
                    let found: Vec<_> = all().take(3).map(|file| Shown(&file.name).to_string()).collect();
                    return Err(format!("several files of the list end in {}: {}", Shown(&wanted), found.join(", ")));
                }
                None => match self.refused.iter().find(|(name, _)| *name == wanted) {
                    Some(refused) => of_chosen.push(refused.clone()),
                    None => return Err(format!("the list has no file {}", Shown(&wanted))),
                },
            }
        }
        self.files.retain(|file| chosen.contains(&file.name));
        self.refused = of_chosen;
        self.others.clear();
        self.is_directory = false;
        Ok(self)
    }
}

impl Listed {
    /// A file of which nothing else is known.
    ///
    /// `name` must be a path below the folder, without `..`.
    pub fn new(name: PathBuf, expected: Expected) -> Listed {
        let (len, outboards, pieces, attributes) = (None, None, None, Attributes::default());
        Listed { name, expected, len, outboards, pieces, mirrors: Vec::new(), attributes }
    }

    /// The entry's path below the folder.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The download of the file from mirrors of the folder, to its name below `folder`.
    pub fn request(&self, mirrors: &[Input], folder: &Path) -> Request {
        let below = mirrors.iter().map(|mirror| mirror.join(&self.name));
        let mirrors = below.chain(self.mirrors.iter().cloned()).collect();
        let request = Request::new(mirrors, self.expected.clone(), Target::File(folder.join(&self.name)));
        let outboards = self.outboards.clone().unwrap_or(request.outboards);
        Request { len: self.len, outboards, pieces: self.pieces.clone(), ..request }
    }

    /// The file below `folder` for verified reads, with the same file below each copy of the folder as its replicas.
    pub fn opening(&self, folder: &Input, copies: &[Input]) -> Opening {
        let file = folder.join(&self.name);
        let outboard = match &self.outboards {
            None => Some(file.with_extension(EXTENSION)),
            Some(places) => places.first().cloned(),
        };
        let replicas = copies.iter().map(|copy| copy.join(&self.name)).collect();
        let opening = Opening::new(file.clone(), file);
        Opening { outboard, expected: Some(self.expected.clone()), len: self.len, replicas, ..opening }
    }
}

/// The name of an entry, if it is one below a folder.
fn named(entry: &Entry) -> Result<PathBuf, String> {
    if entry.range.is_some() {
        return Err("the list has the root of a part of it".into());
    }
    let path = name::path(&entry.path).ok_or("no file has this name here")?;
    normal(&path).ok_or_else(|| "it would be outside of the folder".into())
}

/// A relative path without `.`; `None` if it is absolute, empty, or has `..`.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut below = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => below.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!below.as_os_str().is_empty()).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum_sums::sum::End;
    use mksum_sums::sumfile::Source;

    const A: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn read(text: &str) -> List {
        let source = Source::new(End::Newline, None).at("SHA256SUMS".as_ref());
        List::read(&mut Lines::new(text.as_bytes(), source), None).unwrap()
    }

    fn names(list: &List) -> Vec<&str> {
        list.files.iter().map(|file| file.name().to_str().unwrap()).collect()
    }

    #[test]
    fn names_stay_below_the_folder() {
        let list = read(&format!("{A}  ./b/c\n{A} *a\n# no\nx\n{A}  /etc/x\n{A}  b/../../x\n{A}  ..\n{A}  ./\n"));
        assert_eq!(names(&list), ["a", "b/c"]);
        let refused: Vec<_> = list.refused.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!((refused, list.malformed.len()), (vec!["/etc/x", "b/../../x", "..", "./"], 1));
        let request = list.files[1].request(&[Input::place("https://host/x/"), Input::place("/copy")], "to".as_ref());
        assert_eq!(request.mirrors, [Input::place("https://host/x/b/c"), Input::place("/copy/b/c")]);
        assert_eq!(request.outboards[0], Input::place("https://host/x/b/c.mkt"));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let dir = format!("dir (d) = {A}\nrfc6962:sha256:64KiB@0..7 (p) = {A}\n{A}  a\n{A}  a.part\n");
        let list = read(&dir);
        assert_eq!((names(&list), list.refused.len()), (vec!["a"], 3));
    }

    #[test]
    fn the_longest_sum_of_a_file_counts() {
        let md5 = &A[..32];
        for text in [format!("MD5 (a) = {md5}\nSHA256 (a) = {A}\n"), format!("SHA256 (a) = {A}\nMD5 (a) = {md5}\n")] {
            let list = read(&text);
            assert_eq!((names(&list), list.files[0].expected.text()), (vec!["a"], A.to_string()));
        }
    }

    #[test]
    fn files_are_selected_by_path_or_unique_name() {
        let list = || read(&format!("{A}  x/a\n{A}  y/a\n{A}  y/b\n{A}  ../c\n"));
        let of = |names: &[&str]| list().select(&names.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(names(&of(&["b", "./x/a"]).unwrap()), ["x/a", "y/b"]);
        assert!(of(&["a"]).unwrap_err().contains("x/a, y/a") && of(&["d"]).is_err());
        assert_eq!(of(&["../c"]).unwrap().refused.len(), 1);
    }
}
