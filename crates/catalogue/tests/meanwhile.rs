//! Files that are changed while they are repaired: what their user saves is never overwritten, neither through a link.
#![cfg(unix)]

use mksum::outboard::Identity;
use mksum_catalogue::{Catalogue, Finding, State, place, update};
use mksum_io::outboard::{Keeping, Repaired, beside, keep, open, repair};
use mksum_io::{
    Ahead, Error, File, HeldDirectory, HeldFile, Input, Listing, Object, Objects, Options, StoredSums, Url,
    open_replica,
};
use std::fs::{self, OpenOptions};
use std::io::{IoSliceMut, Read, Write};
use std::ops::Range;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// The bytes of a short file, which has no outboard in a catalogue, and of a long one.
const LENGTHS: [usize; 2] = [300_000, (8 << 20) + 5];

/// A store whose one object is a copy; when its bytes are asked for, something happens first.
struct Copy {
    bytes: Vec<u8>,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Copy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Copy")
    }
}

#[derive(Debug)]
struct Opened(Arc<Copy>);

impl Object for Opened {
    fn len(&self) -> u64 {
        self.0.bytes.len() as u64
    }
    fn version(&self) -> &str {
        ""
    }
    fn identity(&self) -> Option<Identity> {
        None
    }
    fn read(&self, offset: u64, slices: &mut [IoSliceMut<'_>]) -> Result<(), Error> {
        if let Some(meanwhile) = self.0.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        let mut at = offset as usize;
        for slice in slices {
            let len = slice.len();
            slice.copy_from_slice(&self.0.bytes[at..at + len]);
            at += len;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Store(Arc<Copy>);

impl Objects for Store {
    fn open(&self, _: &Url, _: Range<u64>, _: Ahead) -> Result<Arc<dyn Object>, Error> {
        Ok(Arc::new(Opened(self.0.clone())))
    }
    fn expect(&self, _: &Url) {}
    fn fetched(&self, _: &Url, _: Duration) -> bool {
        false
    }
    fn list(&self, _: &Url) -> Result<Listing, Error> {
        unimplemented!("not of a replica")
    }
    fn stored(&self, _: &Url) -> Result<StoredSums, Error> {
        unimplemented!("not of a replica")
    }
    fn put(&self, _: &Url, _: &mut dyn Read, _: u64) -> Result<(), Error> {
        unimplemented!("not of a replica")
    }
    fn traffic(&self) -> (u64, u64) {
        (0, 0)
    }
}

const URL: &str = "http://copy/file";

/// A damaged file in a folder of a directory, and another one outside.
struct Files {
    _all: tempfile::TempDir,
    directory: PathBuf,
    file: PathBuf,
    outside: PathBuf,
    good: Vec<u8>,
}

impl Files {
    fn new(len: usize) -> Files {
        let all = tempfile::tempdir().unwrap();
        let (directory, outside) = (all.path().join("directory"), all.path().join("outside"));
        fs::create_dir_all(directory.join("folder")).unwrap();
        fs::create_dir(&outside).unwrap();
        let good: Vec<u8> = (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        let file = directory.join("folder/file");
        fs::write(&file, &good).unwrap();
        let outside = outside.join("file");
        fs::write(&outside, [&damaged(&good)[..], b"outside"].concat()).unwrap();
        Files { _all: all, directory, file, outside, good }
    }

    /// Changes bytes of the file, and nothing else that shows.
    fn damage(&self) {
        let time = fs::metadata(&self.file).unwrap().modified().unwrap();
        let file = OpenOptions::new().write(true).open(&self.file).unwrap();
        (&file).write_all(&damaged(&self.good)).unwrap();
        file.set_modified(time).unwrap();
    }

    fn options(&self, meanwhile: impl FnOnce() + Send + 'static) -> Options {
        let meanwhile: Box<dyn FnOnce() + Send> = Box::new(meanwhile);
        let copy = Copy { bytes: self.good.clone(), meanwhile: Mutex::new(Some(meanwhile)) };
        Options { threads: 1, objects: Some(Arc::new(Store(Arc::new(copy)))), ..Options::new() }
    }
}

fn damaged(good: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for at in [100, 200_000] {
        bytes[at] ^= 1;
    }
    bytes
}

/// What happens while the copy is fetched, by the path of the file and that of one outside; what the path of the file has then.
type Meanwhile = fn(&Path, &Path);

const CASES: [(&str, Meanwhile); 7] = [
    ("replaced", |file, _| {
        fs::write(file.with_extension("new"), "a new version").unwrap();
        fs::rename(file.with_extension("new"), file).unwrap();
    }),
    ("replaced by one of the same size", |file, _| {
        fs::write(file.with_extension("new"), vec![7; fs::metadata(file).unwrap().len() as usize]).unwrap();
        fs::rename(file.with_extension("new"), file).unwrap();
    }),
    ("grown in place", |file, _| {
        OpenOptions::new().append(true).open(file).unwrap().write_all(b"more").unwrap();
    }),
    ("written in place", |file, _| {
        let open = OpenOptions::new().write(true).open(file).unwrap();
        (&open).write_all(&vec![7; fs::metadata(file).unwrap().len() as usize]).unwrap();
        // On any clock, another time than before.
        open.set_modified(SystemTime::now() + Duration::from_secs(3)).unwrap();
    }),
    ("a link", |file, outside| {
        fs::remove_file(file).unwrap();
        symlink(outside, file).unwrap();
    }),
    ("in a folder that is a link", |file, outside| {
        let folder = file.parent().unwrap();
        fs::rename(folder, folder.with_extension("away")).unwrap();
        symlink(outside.parent().unwrap(), folder).unwrap();
    }),
    ("gone", |file, _| fs::remove_file(file).unwrap()),
];

/// All files, by their paths: what may not change any more.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && entry.file_name() != ".mksum" => found.extend(content(&entry.path())),
            kind if kind.is_file() && entry.path().extension().is_none_or(|end| end != "repair") => {
                found.push((entry.path(), fs::read(entry.path()).unwrap()));
            }
            _ => {}
        }
    }
    found.sort();
    found
}

/// Runs a repair during which something happens: the content before and after it, and what came of it.
fn during<T>(files: &Files, case: Meanwhile, repair: impl FnOnce(&Options) -> T) -> T {
    let (file, outside, all) = (files.file.clone(), files.outside.clone(), files._all.path().to_path_buf());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let saved = seen.clone();
    let options = files.options(move || {
        case(&file, &outside);
        *saved.lock().unwrap() = content(&all);
    });
    let result = repair(&options);
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty(), "the copy was not asked for");
    assert!(content(files._all.path()) == *seen, "something was written");
    result
}

fn repair_file(files: &Files, options: &Options) -> Result<Repaired, Error> {
    let place = beside(&files.file);
    let (outboard, mut replica) = (open(&place)?, open_replica(&Input::place(URL), options)?);
    repair(&mut HeldFile::open(&files.file)?, (&outboard, &place), &mut *replica, options, &mut |_| {})
}

fn kept(len: usize) -> Files {
    let files = Files::new(len);
    let spec = "rfc6962:sha256:4KiB".parse().unwrap();
    let place = beside(&files.file);
    keep(File::open(&files.file, &Options::new()).unwrap(), &spec, &Keeping::new(4096, &place)).unwrap();
    files.damage();
    files
}

#[test]
fn a_file_that_changes_is_left_alone() {
    for (name, case) in CASES {
        let files = kept(LENGTHS[0]);
        let error = during(&files, case, |options| repair_file(&files, options)).expect_err(name);
        assert!(error.to_string().starts_with("changed while it was being repaired: "), "{name}: {error}");
        // Below a directory that was named, no link is followed.
        let files = kept(LENGTHS[0]);
        let held = HeldDirectory::open(&files.directory).unwrap();
        let error = during(&files, case, |options| {
            let place = beside(&files.file);
            let (outboard, mut replica) = (open(&place)?, open_replica(&Input::place(URL), options)?);
            let mut file = HeldFile::open_below(&held, "folder/file".as_ref())?;
            repair(&mut file, (&outboard, &place), &mut *replica, options, &mut |_| {})
        });
        let error = error.expect_err(name);
        assert!(error.to_string().starts_with("changed while it was being repaired: "), "{name}: {error}");
    }
}

/// Repairs the directory: what was done with its file.
fn repair_directory(files: &Files, options: &Options) -> Finding {
    let mut catalogue = Catalogue::open(&place(&files.directory), mksum_catalogue::Access::Write, &mut || {}).unwrap();
    let mut done = Vec::new();
    let copy_of = |_: &[u8]| vec![Input::place(URL)];
    mksum_catalogue::repair(&mut catalogue, &files.directory, options, &copy_of, &mut |found| {
        if found.path == b"folder/file" {
            done.push(found);
        }
    })
    .unwrap();
    assert_eq!(done.len(), 1, "{done:?}");
    done.remove(0)
}

fn catalogued(len: usize) -> Files {
    let files = Files::new(len);
    let place = place(&files.directory);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let mut catalogue = Catalogue::create(&place, &mut || {}).unwrap();
    catalogue.add_formats(&["blake3".parse().unwrap()]).unwrap();
    update(&mut catalogue, &files.directory, &Options { threads: 1, ..Options::new() }, &mut |_| {}).unwrap();
    files.damage();
    files
}

#[test]
fn a_file_of_a_directory_that_changes_is_left_alone() {
    for (name, case) in CASES {
        for len in LENGTHS {
            let files = catalogued(len);
            let mended = during(&files, case, |options| repair_directory(&files, options));
            assert_eq!(mended.state, State::NotRepaired, "{name}");
            let why = mended.error.expect("a reason").to_string();
            assert!(why.starts_with("changed while it was being repaired: "), "{name}: {why}");
            // Nor does the next run take it for a file whose repair was interrupted.
            let before = content(files._all.path());
            let options = files.options(|| panic!("a file that was changed is not repaired"));
            let mended = repair_directory(&files, &options);
            assert!(matches!(mended.state, State::Changed | State::Gone), "{name}: {mended:?}");
            assert!(content(files._all.path()) == before, "{name}");
        }
    }
}

#[test]
fn a_file_that_does_not_change_is_repaired() {
    for len in LENGTHS {
        let files = kept(len);
        assert!(repair_file(&files, &files.options(|| {})).unwrap().whole);
        assert!(fs::read(&files.file).unwrap() == files.good);
        let files = catalogued(len);
        let time = fs::metadata(&files.file).unwrap().modified().unwrap();
        let mended = repair_directory(&files, &files.options(|| {}));
        assert!(mended.state == State::Repaired && mended.ranges.len() == 2, "{mended:?}");
        assert!(fs::read(&files.file).unwrap() == files.good);
        assert_eq!(fs::metadata(&files.file).unwrap().modified().unwrap(), time);
        let again = repair_directory(&files, &files.options(|| panic!("nothing is damaged")));
        assert_eq!(again.state, State::Intact);
    }
}
