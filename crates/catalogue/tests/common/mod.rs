//! A directory with a catalogue, for tests.
#![allow(dead_code)]

use mksum_catalogue::{Access, Catalogue, Error, Known, Manifest, State, export, place, update, verify};
use mksum_io::Options;
use rusqlite::Connection;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// A temporary directory with some files, old enough that nothing waits for the clock.
pub struct Tree {
    pub folder: TempDir,
}

impl Tree {
    pub fn new(files: usize) -> Tree {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree { folder };
        fs::create_dir(tree.path().join("sub")).unwrap();
        for number in 0..files {
            let name = if number % 3 == 0 { format!("sub/{number}") } else { number.to_string() };
            tree.write(&name, format!("content {number}"));
        }
        tree
    }

    /// The same, kept.
    pub fn kept(files: usize) -> Tree {
        let tree = Tree::new(files);
        tree.keep().unwrap();
        tree
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn catalogue(&self) -> PathBuf {
        place(self.path())
    }

    /// Writes a file with an old time.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let place = self.path().join(name);
        fs::write(&place, content).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::options().write(true).open(place).unwrap().set_modified(time).unwrap();
    }

    pub fn open(&self, access: Access) -> Result<Catalogue, Error> {
        Catalogue::open(&self.catalogue(), access, &mut || {})
    }

    pub fn keep(&self) -> Result<(), Error> {
        let mut catalogue = Catalogue::create(&self.catalogue(), &mut || {})?;
        catalogue.add_formats(&["sha256".parse().unwrap()])?;
        update(&mut catalogue, self.path(), &Options::new(), &mut |_| {})
    }

    pub fn update(&self) -> Result<(), Error> {
        update(&mut self.open(Access::Write)?, self.path(), &Options::new(), &mut |_| {})
    }

    /// Keeps it, and then has the catalogue as it was after so many files, as if the process had been killed.
    pub fn keep_some(&self, files: usize) {
        let mut catalogue = Catalogue::create(&self.catalogue(), &mut || {}).unwrap();
        catalogue.add_formats(&["sha256".parse().unwrap()]).unwrap();
        let (mut count, place) = (0, self.catalogue());
        let names = ["catalogue", "catalogue-wal"].map(|name| place.with_file_name(name));
        let mut copies = Vec::new();
        update(&mut catalogue, self.path(), &Options::new(), &mut |_| {
            count += 1;
            if count == files {
                copies = names.iter().map(|name| fs::read(name).unwrap()).collect();
            }
        })
        .unwrap();
        drop(catalogue);
        names.iter().zip(copies).for_each(|(name, bytes)| fs::write(name, bytes).unwrap());
    }

    /// The names of files that are found good, and the number of other verdicts.
    pub fn verify(&self, access: Access) -> Result<(Vec<String>, usize), Error> {
        let (mut good, mut others) = (Vec::new(), 0);
        let mut catalogue = self.open(access)?;
        let effort = mksum_catalogue::Effort::All;
        verify(&mut catalogue, self.path(), &Options::new(), effort, &mut |finding| match finding.state {
            State::Intact => good.push(String::from_utf8_lossy(&finding.path).into()),
            _ => others += 1,
        })?;
        good.sort();
        Ok((good, others))
    }

    pub fn repair(&self) -> Result<(), Error> {
        let (mut catalogue, copy) = (self.open(Access::Write)?, self.path().to_path_buf());
        let copy_of = |path: &[u8]| vec![copy.join(String::from_utf8_lossy(path).as_ref()).into()];
        mksum_catalogue::repair(&mut catalogue, self.path(), &Options::new(), &copy_of, &mut |_| {})
    }

    pub fn export(&self) -> Result<Vec<u8>, Error> {
        let catalogue = self.open(Access::Read)?;
        let (mut lines, specs) = (Vec::new(), catalogue.formats().cloned().collect::<Vec<_>>());
        export(catalogue, Manifest::Sums, &specs, &mut |exported| {
            if let mksum_catalogue::Exported::Line(line) = exported {
                lines.extend(line);
            }
            true
        })?;
        Ok(lines)
    }

    /// The root of the directory, from its catalogue.
    pub fn root(&self) -> Result<String, Error> {
        let spec = "dir:sha256".parse().unwrap();
        let leaves = self.open(Access::Read)?.leaves(&[spec], &mut |_| {})?;
        Ok(leaves[0].root().unwrap().to_string())
    }

    pub fn known(&self) -> Result<Vec<Known>, Error> {
        self.open(Access::Read)?.into_known().collect()
    }

    /// Changes the catalogue as another program does.
    pub fn sql(&self, text: &str) {
        Connection::open(self.catalogue()).unwrap().execute_batch(text).unwrap();
    }

    /// What is in the folder of the catalogue.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(".mksum")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
