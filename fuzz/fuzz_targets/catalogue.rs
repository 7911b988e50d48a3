//! A catalogue with changed bytes: whatever is read from it is an error, or what was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum_catalogue::{Access, Catalogue, Error, Known, update};
use mksum_io::Options;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

/// A folder for catalogues, the bytes of one, and its entries.
struct Whole {
    _folder: TempDir,
    place: PathBuf,
    bytes: Vec<u8>,
    known: Vec<Known>,
}

static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let (tree, place) = (folder.path().join("tree"), folder.path().join("catalogue"));
    fs::create_dir_all(tree.join("sub")).unwrap();
    for number in 0..9 {
        fs::write(tree.join(format!("{}{number}", ["", "sub/"][number % 2])), [number as u8; 9]).unwrap();
    }
    let mut catalogue = Catalogue::create(&place, &mut || {}).unwrap();
    catalogue.add_formats(&["sha256".parse().unwrap(), "md5".parse().unwrap()]).unwrap();
    update(&mut catalogue, &tree, &Options::new(), &mut |_| {}).unwrap();
    drop(catalogue);
    let known = open(&place).unwrap().into_known().collect::<Result<_, _>>().unwrap();
    Whole { bytes: fs::read(&place).unwrap(), _folder: folder, place, known }
});

fn open(place: &Path) -> Result<Catalogue, Error> {
    Catalogue::open(place, Access::Read, &mut || {})
}

// Of each five bytes, three are an offset, one is a length and one a value. The first says whether the rest is the whole file.
fuzz_target!(|data: &[u8]| {
    let whole = &*WHOLE;
    let Some((first, rest)) = data.split_first() else { return };
    let mut bytes = whole.bytes.clone();
    if first % 8 == 0 {
        bytes = [b"SQLite format 3\0", rest].concat();
    }
    for change in rest.chunks_exact(5) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % bytes.len();
        let end = (at + 1 + usize::from(change[3]) / 16).min(bytes.len());
        bytes[at..end].fill(change[4]);
    }
    fs::write(&whole.place, &bytes).unwrap();
    let Ok(catalogue) = open(&whole.place) else { return };
    let is_whole = catalogue.check().is_ok() && catalogue.check_whole().is_ok();
    let _ = catalogue.leaves(&["dir:sha256".parse().unwrap()], &mut |_| {});
    let known: Result<Vec<_>, _> = catalogue.into_known().collect();
    assert!(!is_whole || known.is_ok_and(|known| known == whole.known));
});
