//! A catalogue's file: opened, read in pages, and written in transactions.

use crate::config::Config;
use crate::digest::{Change, Own, STATE, Table};
use crate::error::Error;
use crate::folder::{Access, Folder, Kind};
use crate::paths::{Paths, after};
use crate::row;
use crate::row::{Columns, Kept, Row, is_outboard, letter, root, time};
use mksum::Spec;
use mksum_io::outboard::with_extension;
use mksum_io::{Exclude, Input, KEPT_FOLDER, Scratch};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, ToSql, params};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read};
use std::mem::replace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which another process that writes is waited for.
const WAIT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// "mksc", in SQLite's header: a catalogue of this program.
const APPLICATION: i32 = 0x6d6b_7363;
/// The version of the schema that is written.
const VERSION: i32 = 3;
/// The one before it, which has no digest of itself.
const OLD: i32 = 2;

/// The tables, as SQLite keeps their text: a file with others is no catalogue.
const SCHEMA: [&str; 6] = [
    "CREATE TABLE format (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    "CREATE TABLE entry (path BLOB NOT NULL PRIMARY KEY, type TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, \
     inode INTEGER NOT NULL, device INTEGER NOT NULL, mode INTEGER NOT NULL, link BLOB, roots INTEGER NOT NULL, \
     repair INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE root (path BLOB NOT NULL, format INTEGER NOT NULL, root BLOB NOT NULL, verified INTEGER NOT NULL, \
     \"by\" TEXT NOT NULL, outboard TEXT, progress INTEGER NOT NULL, PRIMARY KEY (path, format)) STRICT, WITHOUT ROWID",
    "CREATE INDEX outboards ON root (outboard) WHERE outboard IS NOT NULL",
    "CREATE TABLE span (level INTEGER NOT NULL, start BLOB NOT NULL, \"end\" BLOB, entries INTEGER NOT NULL, \
     digest BLOB NOT NULL, PRIMARY KEY (level, start)) STRICT, WITHOUT ROWID",
    STATE,
];

/// The usual place of a directory's catalogue.
pub fn place(directory: &Path) -> PathBuf {
    directory.join(KEPT_FOLDER).join("catalogue")
}

/// Whether the file at a path begins as a catalogue does.
pub fn is_catalogue(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && head::<72>(path).is_some_and(|head| head[68..] == APPLICATION.to_be_bytes())
}

/// Whether a file may be a catalogue whose making was interrupted: it has no entries yet.
fn is_unfinished(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| match metadata.len() {
        len if !metadata.is_file() || len > 1 << 16 => false,
        0 => true,
        _ => head::<16>(path).is_some(),
    })
}

/// The first `N` bytes of a database; `None` of another file.
fn head<const N: usize>(path: &Path) -> Option<[u8; N]> {
    let mut head = [0; N];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).ok()?;
    Some(head).filter(|head| head.starts_with(b"SQLite format 3\0"))
}

/// The ends of the names of files beside a catalogue: its lock, its folder of outboards, a catalogue that is being made.
const LOCK: &str = "lock";
pub(crate) const TREES: &str = "trees";
const NEW: &str = "new";
const CONFIG: &str = "config";
/// The ends of the names of files that SQLite keeps beside a database.
const SQLITE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The files that become part of the database when it is opened, and their first bytes.
const LOGS: [(&str, &[u8]); 2] = [("-wal", &[0x37, 0x7f, 0x06]), ("-journal", &[0xd9, 0xd5, 0x05, 0xf9])];

/// Whether a path is that of a catalogue, or of what this crate and SQLite keep beside it.
pub(crate) fn belongs_to(path: &[u8], catalogue: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(catalogue) else { return false };
    let beside = |end: &str| rest.strip_prefix(b".").and_then(|rest| rest.strip_prefix(end.as_bytes()));
    let database = beside(NEW).unwrap_or(rest);
    beside(LOCK).is_some_and(<[u8]>::is_empty)
        || beside(CONFIG).is_some_and(<[u8]>::is_empty)
        || beside(TREES).is_some_and(<[u8]>::is_empty)
        || database.is_empty()
        || SQLITE.iter().any(|end| end.as_bytes() == database)
}

/// Whether a directory is one in which a catalogue is kept, by its name and what is in it.
pub fn is_kept_folder(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == KEPT_FOLDER) && is_catalogue(&path.join("catalogue"))
}

/// A catalogue: the entries of a directory, and their roots.
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) db: Connection,
    path: PathBuf,
    /// The name in errors: the URL that this is a copy of, or the path.
    named: Input,
    /// The formats, in the order in which they were added.
    pub(crate) formats: Vec<(i64, Spec)>,
    /// The paths in which this transaction has written and removed the spans.
    pub(crate) unspanned: RefCell<Option<Paths>>,
    pub(crate) own: Own,
    /// Whether the catalogue has version 2.
    pub(crate) is_old: bool,
    folder: Folder,
    /// The catalogue's name in the folder.
    name: OsString,
    /// Held by the process that writes.
    lock: Option<File>,
    config: Config,
    /// The entries that the last walk left out.
    pub(crate) excluded: Arc<AtomicU64>,
    /// The rows that the last update removed since they are left out now.
    pub(crate) dropped: AtomicU64,
    /// Whether all that the directory has now is right.
    pub(crate) accepted: AtomicBool,
    /// The temporary folder that a copy lies in. It is the last field: the database is closed before its folder is removed.
    _scratch: Option<Scratch>,
}

impl Catalogue {
    /// Opens the catalogue at `path`. If another process writes to it, `waiting` is called, and it is waited for 10 s.
    ///
    /// # Errors
    /// If it is none, is damaged, or cannot be opened; or if the other process has not ended then.
    pub fn open(path: &Path, access: Access, waiting: &mut dyn FnMut()) -> Result<Catalogue, Error> {
        let failed = |error| Error::Io(mksum_io::Error::Open { path: path.into(), error });
        let (folder, name) = Folder::of(path, access)?;
        let real = folder.path.join(&name);
        match folder.kind(&name).map_err(failed)? {
            Kind::Nothing => return Err(failed(fs::metadata(&real).err().unwrap_or(ErrorKind::NotFound.into()))),
            Kind::Link => drop(folder.expect(&name, Kind::File)?),
            // SQLite would say only that it cannot open it.
            Kind::File => drop(File::open(&real).map_err(failed)?),
            Kind::Folder | Kind::Special => {}
        }
        if !is_catalogue(&real) {
            return Err(Error::refused(path, "this file is not a catalogue of mksum"));
        }
        for end in SQLITE {
            folder.expect(&beside(&name, end), Kind::File)?;
        }
        folder.expect(&extended(&name, TREES), Kind::Folder)?;
        let config = Config::read(&folder, &name)?;
        let lock = if access == Access::Write { Some(lock(&folder, (path, &name), waiting)?) } else { None };
        let db = connect(&folder, &name, access).map_err(|error| fail(path, error))?;
        if access == Access::Write && db.is_readonly("main").is_ok_and(|is_readonly| is_readonly) {
            let error = ErrorKind::PermissionDenied.into();
            return Err(mksum_io::Error::Write { path: path.into(), error }.into());
        }
        let mut catalogue = Catalogue {
            db,
            path: path.into(),
            named: path.into(),
            formats: Vec::new(),
            unspanned: RefCell::default(),
            own: Own::new(),
            is_old: false,
            folder,
            name,
            lock,
            config,
            excluded: Arc::default(),
            dropped: AtomicU64::new(0),
            accepted: AtomicBool::new(false),
            _scratch: None,
        };
        catalogue.is_old = catalogue.check_schema()? == OLD;
        catalogue.read_formats()?;
        if catalogue.is_old && access == Access::Write {
            catalogue.upgrade()?;
        }
        Ok(catalogue)
    }

    /// Opens the catalogue at `path` to be written, and makes one there if there is none.
    ///
    /// # Errors
    /// As [`Catalogue::open`]; if it cannot be made.
    pub fn create(path: &Path, waiting: &mut dyn FnMut()) -> Result<Catalogue, Error> {
        let failed = |error| Error::Io(mksum_io::Error::Write { path: path.into(), error });
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
            && let Err(error) = fs::create_dir(folder)
            && error.kind() != ErrorKind::AlreadyExists
        {
            return Err(failed(error));
        }
        let (folder, name) = Folder::of(path, Access::Write)?;
        let is_there = || Ok::<_, Error>(folder.kind(&name).map_err(failed)? != Kind::Nothing);
        if !is_there()? {
            let lock = lock(&folder, (path, &name), waiting)?;
            // Another process may have made it meanwhile.
            if !is_there()? {
                make(&folder, (path, &name))?;
            }
            drop(lock);
        }
        Catalogue::open(path, Access::Write, waiting)
    }

    /// A copy of the catalogue at `path`, or a new one if there is none, to see what a change would do. It lies in a temporary folder, which
    /// is removed when the catalogue is closed.
    ///
    /// # Errors
    /// If there is a catalogue that cannot be read, or the temporary folder cannot be written.
    pub fn trial(path: &Path) -> Result<Catalogue, Error> {
        let (folder, copy) = scratch()?;
        if path.symlink_metadata().is_ok() {
            let original = Catalogue::open(path, Access::Read, &mut || {})?;
            // A reader is in a transaction, and may not write anything; the copy is another file.
            let copied = original
                .db
                .execute_batch("ROLLBACK; PRAGMA query_only = OFF")
                .and_then(|()| original.db.execute("VACUUM INTO ?1", [copy.to_string_lossy()]));
            copied.map_err(|error| fail(path, error))?;
        }
        let mut catalogue = Catalogue::create(&copy, &mut || {})?;
        if let Ok((beside, name)) = Folder::of(path, Access::Read) {
            catalogue.config = Config::read(&beside, &name)?;
        }
        Ok(catalogue.of_original(&path.into(), folder))
    }

    /// Returns this copy, which lies in a temporary folder, with its original's name in errors.
    pub(crate) fn of_original(self, original: &Input, folder: Scratch) -> Self {
        Catalogue { named: original.clone(), _scratch: Some(folder), ..self }
    }

    /// What is left out of the directory: with all rows of it, by the next update.
    pub fn exclude(&self) -> &Exclude {
        &self.config.exclude
    }

    /// The formats of a new catalogue that stand beside it.
    pub fn default_formats(&self) -> &[Spec] {
        &self.config.formats
    }

    /// The time that a verification takes by its file `config`, unless it is asked for more or less.
    pub fn budget(&self) -> Option<Duration> {
        self.config.budget
    }

    /// Remembers more globs of what is left out.
    ///
    /// # Errors
    /// If one is not valid, or they cannot be written.
    pub fn add_exclude(&mut self, globs: &[String]) -> Result<(), Error> {
        if !globs.is_empty() {
            self.config = Config::add(&self.folder, &self.name, globs)?;
        }
        Ok(())
    }

    /// The number of files and directories that the last command left out.
    pub fn excluded(&self) -> u64 {
        self.excluded.load(Ordering::Relaxed)
    }

    /// The number of rows that the last update removed since they are left out now.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// The path of its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The input that users see: the URL that this is a copy of, or the path.
    pub fn input(&self) -> &Input {
        &self.named
    }

    /// The formats of its roots, in the order in which they were added.
    pub fn formats(&self) -> impl ExactSizeIterator<Item = &Spec> {
        self.formats.iter().map(|(_, spec)| spec)
    }

    /// The folder of the outboards of long files.
    pub fn outboards(&self) -> PathBuf {
        with_extension(&self.path, TREES)
    }

    /// Opens the folder of the outboards of long files, and creates it if there is none.
    pub(crate) fn open_outboards(&self) -> Result<Folder, Error> {
        self.folder.inner(&extended(&self.name, TREES))
    }

    /// Whether the catalogue was opened to be written.
    pub fn is_writable(&self) -> bool {
        self.lock.is_some()
    }

    /// Adds formats: entries get roots in them by the next update.
    ///
    /// # Errors
    /// If they cannot be written, or the roots of one cover whether a file is executable, of which no change is noticed.
    pub fn add_formats(&mut self, formats: &[Spec]) -> Result<(), Error> {
        if let Some(spec) = formats.iter().find(|spec| spec.counts_mode()) {
            let why = format!("no catalogue keeps roots of {spec}, because changes of modes alone are not noticed");
            return Err(Error::refused(self.input(), format!("{why}: choose a format of the content alone")));
        }
        for spec in formats {
            if !self.formats().any(|own| own == spec) {
                self.begin()?;
                let text = "INSERT INTO format (name) VALUES (?1) RETURNING *";
                let added = self.change(Table::Format, Change::Added, text, params![spec.to_string()]);
                let written = self.commit();
                added.and(written)?;
                self.read_formats()?;
            }
        }
        Ok(())
    }

    /// Whether there is no entry.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn is_empty(&self) -> Result<bool, Error> {
        let found = self.db.query_row("SELECT 1 FROM entry LIMIT 1", [], |_| Ok(()));
        Ok(found.optional().map_err(|error| self.fail(error))?.is_none())
    }

    /// Checks every page of the file, the order of its rows, and that they are those that were written.
    ///
    /// # Errors
    /// If something is wrong.
    pub fn check(&self) -> Result<(), Error> {
        self.check_pages()?;
        self.check_rows().map(drop)
    }

    pub(crate) fn check_pages(&self) -> Result<(), Error> {
        let found = self.db.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        match found.map_err(|error| self.fail(error))? {
            text if text == "ok" => Ok(()),
            text => Err(self.damaged(&text)),
        }
    }

    /// All rows, in the order of their paths.
    pub fn rows(&self) -> Rows<'_> {
        self.rows_of(Paths::all())
    }

    /// The rows of some paths, in their order.
    pub(crate) fn rows_of(&self, paths: Paths) -> Rows<'_> {
        Rows { catalogue: self, page: Vec::new().into_iter(), left: paths, ended: false }
    }

    /// The first rows of some paths; none if there are none.
    pub(crate) fn page(&self, paths: &Paths) -> Result<Vec<Row>, Error> {
        const PAGE: usize = 1024;
        let fail = |error| self.fail(error);
        let text = "SELECT path, type, size, mtime, inode, device, mode, roots, repair FROM entry";
        let text = format!("{text} WHERE {} ORDER BY path LIMIT {PAGE}", paths.condition("path"));
        let mut statement = self.db.prepare_cached(&text).map_err(fail)?;
        let found = statement.query_map(paths.parameters(), columns).map_err(fail)?;
        let mut page: Vec<Row> = Vec::new();
        for columns in found {
            let row = self.checked(columns.map_err(fail)?)?;
            // A damaged file can have them in any order, and again and again.
            if row.path < paths.start || page.last().is_some_and(|last| last.path >= row.path) {
                let (path, why) = (self.named.clone(), "it is out of order".into());
                return Err(Error::Row { path, row: row.path, why });
            }
            page.push(row);
        }
        Ok(page)
    }

    /// Hands the path, format and digest of each root of some paths to `each`, by path; an unknown format is `None`.
    pub(crate) fn each_root(&self, paths: &Paths, each: EachRoot<'_>) -> Result<(), Error> {
        let fail = |error| self.fail(error);
        let odd = |error: rusqlite::types::FromSqlError| fail(error.into());
        let text =
            format!("SELECT path, format, root FROM root WHERE {} ORDER BY path, format", paths.condition("path"));
        let mut statement = self.db.prepare_cached(&text).map_err(fail)?;
        let mut found = statement.query(paths.parameters()).map_err(fail)?;
        while let Some(row) = found.next().map_err(fail)? {
            let path = row.get_ref(0).map_err(fail)?.as_blob().map_err(odd)?;
            let format = row.get_ref(1).map_err(fail)?.as_i64().map_err(odd)?;
            let digest = row.get_ref(2).map_err(fail)?.as_blob().map_err(odd)?;
            let spec = self.formats.iter().find(|(id, _)| *id == format).map(|(_, spec)| spec);
            each(path, spec, digest);
        }
        Ok(())
    }

    /// The row of a path.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn row(&self, path: &[u8]) -> Result<Option<Row>, Error> {
        let text = "SELECT path, type, size, mtime, inode, device, mode, roots, repair FROM entry WHERE path = ?1";
        let mut found = self.db.prepare_cached(text).map_err(|error| self.fail(error))?;
        let columns = found.query_row(params![path], columns).optional().map_err(|error| self.fail(error))?;
        columns.map(|columns| self.checked(columns)).transpose()
    }

    fn checked(&self, columns: Columns) -> Result<Row, Error> {
        columns.row().map_err(|(row, why)| Error::Row { path: self.named.clone(), row, why })
    }

    /// The text of a link, as it was.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn link(&self, path: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let found = self.db.query_row("SELECT link FROM entry WHERE path = ?1", params![path], |row| row.get(0));
        Ok(found.optional().map_err(|error| self.fail(error))?.flatten())
    }

    /// The roots of a row, in the order of the formats.
    ///
    /// # Errors
    /// If one is damaged.
    pub fn roots(&self, row: &Row) -> Result<Vec<Kept>, Error> {
        let mut roots = Vec::with_capacity(1);
        self.add_roots([row].into_iter(), &mut roots)?;
        Ok(roots.remove(0))
    }

    /// Appends the roots of each of some rows, which ascend, with no other row of a file between them.
    pub(crate) fn add_roots<'r>(
        &self,
        mut rows: impl DoubleEndedIterator<Item = &'r Row> + Clone,
        roots: &mut Vec<Vec<Kept>>,
    ) -> Result<(), Error> {
        let fail = |error| self.fail(error);
        let refuse = |row: &Row, why: String| Error::Row { path: self.named.clone(), row: row.path.clone(), why };
        let Some(last) = rows.clone().next_back() else { return Ok(()) };
        let mut row = rows.next().expect("there is a last one");
        let text = "SELECT path, format, root, verified, \"by\", outboard, progress FROM root WHERE path BETWEEN ?1 AND ?2 \
                    ORDER BY path, format";
        let mut statement = self.db.prepare_cached(text).map_err(fail)?;
        let mut found = statement.query(params![row.path, last.path]).map_err(fail)?;
        let mut kept = Vec::with_capacity(self.formats.len());
        let mut end = |row: &Row, kept: &mut Vec<Kept>| {
            if kept.len() as u64 != row.roots {
                return Err(refuse(row, format!("it has {} roots: expected {}", kept.len(), row.roots)));
            }
            roots.push(replace(kept, Vec::with_capacity(self.formats.len())));
            Ok(())
        };
        while let Some(columns) = found.next().map_err(fail)? {
            let path = columns.get_ref(0).map_err(fail)?.as_blob().map_err(|error| fail(error.into()))?;
            while &row.path[..] < path {
                end(row, &mut kept)?;
                row = rows.next().ok_or_else(|| refuse(last, "a root after it is of no entry".into()))?;
            }
            if row.path != path {
                return Err(refuse(row, "a root before it is of no entry".into()));
            }
            kept.push(self.kept(row, columns)?);
        }
        end(row, &mut kept)?;
        rows.try_for_each(|row| end(row, &mut kept))
    }

    /// The root of a row in these columns.
    fn kept(&self, row: &Row, columns: &rusqlite::Row<'_>) -> Result<Kept, Error> {
        let fail = |error| self.fail(error);
        let refuse = |why: String| Error::Row { path: self.named.clone(), row: row.path.clone(), why };
        let format: i64 = columns.get(1).map_err(fail)?;
        let digest = columns.get_ref(2).map_err(fail)?.as_blob().map_err(|error| fail(error.into()))?;
        let Some((_, spec)) = self.formats.iter().find(|(id, _)| *id == format) else {
            return Err(refuse(format!("it has a root in format {format}, which is not in the catalogue")));
        };
        let outboard: Option<String> = columns.get(5).map_err(fail)?;
        if let Some(name) = outboard.as_deref().filter(|name| !is_outboard(name)) {
            return Err(refuse(format!("'{name}' is not the name of an outboard")));
        }
        let progress = u64::try_from(columns.get::<_, i64>(6).map_err(fail)?).unwrap_or(u64::MAX);
        if progress > 0 && progress >= row.facts.size {
            return Err(refuse("a verification that did not end has not found all of it intact".into()));
        }
        Ok(Kept {
            root: root(spec, row.facts.size, digest).map_err(refuse)?,
            verified: columns.get(3).map_err(fail)?,
            by: columns.get(4).map_err(fail)?,
            outboard,
            progress,
        })
    }

    /// Writes an entry and its roots in the place of what was there.
    pub(crate) fn put(
        &self,
        (path, facts): (&[u8], &mksum_io::Facts),
        link: Option<&[u8]>,
        roots: &[Kept],
    ) -> Result<(), Error> {
        self.remove(path)?;
        let entry = "INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0) RETURNING *";
        let (inode, device) = (facts.inode as i64, facts.device as i64);
        let (kind, modified, count) = (letter(facts.kind), time(facts.modified), roots.len() as i64);
        let size = i64::try_from(facts.size).unwrap_or(i64::MAX);
        let values = params![path, kind, size, modified, inode, device, facts.mode, link, count];
        self.change(Table::Entry, Change::Added, entry, values)?;
        for kept in roots {
            let (format, _) =
                self.formats.iter().find(|(_, spec)| spec == kept.root.spec()).expect("a format of the catalogue");
            let digest = kept.root.digest();
            let text = "INSERT INTO root VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING *";
            let (digest, progress) = (digest.as_bytes(), kept.progress as i64);
            let values = params![path, format, digest, kept.verified, kept.by, kept.outboard, progress];
            self.change(Table::Root, Change::Added, text, values)?;
        }
        Ok(())
    }

    /// Removes an entry.
    pub(crate) fn remove(&self, path: &[u8]) -> Result<(), Error> {
        self.lose_spans(path)?;
        let (entry, root) =
            ("DELETE FROM entry WHERE path = ?1 RETURNING *", "DELETE FROM root WHERE path = ?1 RETURNING *");
        self.change(Table::Root, Change::Removed, root, params![path])?;
        self.change(Table::Entry, Change::Removed, entry, params![path])
    }

    /// Remembers that a file is being repaired: until that is finished, its time says nothing.
    pub(crate) fn begin_repair(&self, path: &[u8]) -> Result<(), Error> {
        self.set_repair(path, true)
    }

    /// Forgets that a file is being repaired.
    pub(crate) fn end_repair(&self, path: &[u8]) -> Result<(), Error> {
        self.set_repair(path, false)
    }

    fn set_repair(&self, path: &[u8], repair: bool) -> Result<(), Error> {
        self.begin()?;
        let old = "SELECT * FROM entry WHERE path = ?1";
        let done = self.change(Table::Entry, Change::Removed, old, params![path]).and_then(|()| {
            let text = "UPDATE entry SET repair = ?2 WHERE path = ?1 RETURNING *";
            self.change(Table::Entry, Change::Added, text, params![path, repair])
        });
        let written = self.commit();
        done.and(written)
    }

    /// Forgets the outboard of a file.
    pub(crate) fn lose_outboard(&self, path: &[u8]) -> Result<(), Error> {
        self.change_roots("outboard = NULL", (path, path), &[])
    }

    /// Remembers how far the verification of all files from one path to another is: `progress` bytes, or all if that is `None`, at the
    /// time `now`.
    pub(crate) fn verified(&self, paths: (&[u8], &[u8]), progress: Option<u64>, now: i64) -> Result<(), Error> {
        match progress {
            Some(bytes) => self.change_roots("progress = ?3", paths, &[&(bytes as i64)]),
            None => self.change_roots("verified = ?3, \"by\" = 'verify', progress = 0", paths, &[&now]),
        }
    }

    /// Updates the roots from one path to another.
    fn change_roots(&self, text: &str, (first, last): (&[u8], &[u8]), values: &[&dyn ToSql]) -> Result<(), Error> {
        let these = "WHERE path BETWEEN ?1 AND ?2";
        let paths: [&dyn ToSql; 2] = [&first, &last];
        self.change(Table::Root, Change::Removed, &format!("SELECT * FROM root {these}"), &paths[..])?;
        let all = [&paths[..], values].concat();
        self.change(Table::Root, Change::Added, &format!("UPDATE root SET {text} {these} RETURNING *"), &all[..])
    }

    /// Hands `work` a source of the paths of all files with roots: those whose roots were verified least recently first. Times in the
    /// future, which a clock that was set back leaves, count as never.
    ///
    /// It is as of the beginning, whatever is written meanwhile.
    pub(crate) fn each_due(
        &self,
        now: i64,
        work: &mut dyn FnMut(NextPath<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let text =
            "SELECT min(CASE WHEN verified > ?1 THEN 0 ELSE verified END), path FROM root GROUP BY path ORDER BY 1, 2";
        let fail = |error| self.fail(error);
        let mut statement = self.db.prepare(text).map_err(fail)?;
        let mut rows = statement.query(params![now]).map_err(fail)?;
        work(&mut || rows.next().and_then(|row| row.map(|row| row.get(1)).transpose()).map_err(fail))
    }

    /// Whether a root has the outboard with this name.
    pub(crate) fn has_outboard(&self, name: &str) -> Result<bool, Error> {
        let found = self.db.query_row("SELECT 1 FROM root WHERE outboard = ?1", params![name], |_| Ok(()));
        Ok(found.optional().map_err(|error| self.fail(error))?.is_some())
    }

    /// The version, if the tables are exactly those of a catalogue.
    fn check_schema(&self) -> Result<i32, Error> {
        let fail = |error| self.fail(error);
        let version: i32 = self.db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(fail)?;
        if version != VERSION && version != OLD {
            let how = "move it away and run 'mksum keep -r' again, or use the mksum that wrote it";
            let why = format!(
                "the catalogue has version {version}, and this program reads versions {OLD} and {VERSION}: {how}"
            );
            return Err(Error::refused(&self.named, why));
        }
        let mut expected = schema(&empty().map_err(fail)?).map_err(fail)?;
        expected.retain(|(_, name, ..)| version != OLD || name != "state");
        match schema(&self.db).map_err(fail)? == expected {
            true => Ok(version),
            false => Err(Error::refused(&self.named, "its tables are not those of a catalogue")),
        }
    }

    fn read_formats(&mut self) -> Result<(), Error> {
        let fail = |error| self.fail(error);
        let mut statement = self.db.prepare("SELECT id, name FROM format ORDER BY id").map_err(fail)?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fail)?;
        let mut formats = Vec::new();
        for format in found {
            let (id, name): (i64, String) = format.map_err(fail)?;
            match name.parse::<Spec>() {
                Ok(spec) if spec.to_string() == name => formats.push((id, spec)),
                _ => {
                    let why = format!("'{}' is not the canonical name of a format", name.escape_default());
                    return Err(Error::refused(&self.named, why));
                }
            }
        }
        drop(statement);
        self.formats = formats;
        Ok(())
    }

    pub(crate) fn fail(&self, error: rusqlite::Error) -> Error {
        fail(&self.named, error)
    }
}

fn fail(path: impl Into<Input>, error: rusqlite::Error) -> Error {
    Error::Database { path: path.into(), error }
}

/// An empty catalogue in memory.
fn empty() -> rusqlite::Result<Connection> {
    let db = Connection::open_in_memory()?;
    let tables = SCHEMA.join("; ");
    db.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {tables}; INSERT INTO state VALUES (0, 0, zeroblob(16))"
    ))?;
    Ok(db)
}

/// The type, name, table and text of all that is in a database, by name.
type Schema = Vec<(String, String, String, Option<String>)>;

fn schema(db: &Connection) -> rusqlite::Result<Schema> {
    let mut statement = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// A temporary folder, and the path of a catalogue in it.
pub(crate) fn scratch() -> Result<(Scratch, PathBuf), Error> {
    let make = || Ok((tempfile::Builder::new().prefix("mksum-").tempdir()?.keep(), ()));
    let made = Scratch::new(make);
    let (folder, ()) = made.map_err(|error| mksum_io::Error::Write { path: std::env::temp_dir().into(), error })?;
    let path = folder.path().join("catalogue");
    Ok((folder, path))
}

/// Writes an empty catalogue, whole or not at all.
fn make(folder: &Folder, (path, name): (&Path, &OsStr)) -> Result<(), Error> {
    let failed = |error| Error::Io(mksum_io::Error::Write { path: path.into(), error });
    let new = extended(name, NEW);
    // What a run leaves that is killed has another name.
    if folder.expect(&new, Kind::File)? && !is_unfinished(&folder.path.join(&new)) {
        return Err(Error::refused(with_extension(path, NEW), "it is in the way of a new catalogue: move it away"));
    }
    folder.remove(&new).map_err(failed)?;
    // The log of a catalogue that is gone would become part of the new one.
    for (end, magic) in LOGS {
        let stale = beside(name, end);
        if folder.expect(&stale, Kind::File)? {
            let bytes = fs::read(folder.path.join(&stale)).map_err(failed)?;
            if !bytes.is_empty() && !bytes.starts_with(magic) {
                let why = "it is in the way of the log of a new catalogue: move it away";
                return Err(Error::refused(path.with_file_name(&stale), why));
            }
            folder.remove(&stale).map_err(failed)?;
        }
    }
    let mut db = empty().map_err(|error| fail(path, error))?;
    let bytes = db.serialize("main").map_err(|error| fail(path, error))?;
    folder.write_whole(name, &new, &bytes).map_err(failed)
}

/// The name of what belongs to a file, by the end of its name.
fn beside(name: &OsStr, end: &str) -> OsString {
    let mut name = name.to_os_string();
    name.push(end);
    name
}

/// Appends a dot and `end` to a name.
fn extended(name: &OsStr, end: &str) -> OsString {
    with_extension(Path::new(name), end).into()
}

/// Waits for the right to write, for some seconds.
fn lock(folder: &Folder, (path, name): (&Path, &OsStr), waiting: &mut dyn FnMut()) -> Result<File, Error> {
    let file = folder.open_file(&extended(name, LOCK))?;
    let begin = Instant::now();
    let mut told = false;
    // Without locks on this file system, SQLite's own are left.
    while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        if begin.elapsed() >= WAIT {
            let lock = with_extension(path, LOCK);
            let how = format!(
                "another process has held this lock for {} s, as it writes to the catalogue: run this again when that has ended \
                 ('fuser {}' shows which one it is)",
                WAIT.as_secs(),
                lock.display()
            );
            return Err(Error::refused(&lock, how));
        }
        if !replace(&mut told, true) {
            waiting();
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(file)
}

/// The name of a file that nobody writes, for SQLite.
fn immutable(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let path: String =
        bytes.map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect();
    format!("file:{path}?immutable=1")
}

/// Opens the database. What is read of one that is opened to be read is of one moment.
fn connect(folder: &Folder, name: &OsStr, access: Access) -> rusqlite::Result<Connection> {
    let path = folder.path.join(name);
    let open = |path: &Path, flags: OpenFlags| {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let db = Connection::open_with_flags(path, flags)?;
        if !folder.is_at_its_path() {
            return Err(rusqlite::Error::InvalidPath(path.into()));
        }
        // What another program may have put into the file is not run.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        db.busy_timeout(WAIT)?;
        db.set_prepared_statement_cache_capacity(32);
        db.execute_batch("PRAGMA cell_size_check = ON; PRAGMA cache_size = -4096")?;
        match access {
            // With a log, the system may lose the last transactions in a crash, and never a part of one: no file waits for the disk.
            Access::Write => db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL")?,
            Access::Read => db.execute_batch("PRAGMA query_only = ON; BEGIN")?,
        }
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(db)
    };
    // Whoever may write removes the log and its index at the end, also after reading.
    open(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).or_else(|error| {
        // Without a log beside it, which this file system does not let be written, the file is all there is.
        let log = fs::symlink_metadata(folder.path.join(beside(name, "-wal"))).map_or(0, |metadata| metadata.len());
        match access == Access::Read && log == 0 {
            true => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                open(Path::new(&immutable(&path)), flags)
            }
            false => Err(error),
        }
    })
}

pub(crate) fn columns(row: &rusqlite::Row<'_>) -> rusqlite::Result<Columns> {
    Ok(Columns {
        path: row.get(0)?,
        kind: row.get(1)?,
        size: row.get(2)?,
        modified: row.get(3)?,
        inode: row.get(4)?,
        device: row.get(5)?,
        mode: row.get(6)?,
        roots: row.get(7)?,
        repair: row.get(8)?,
    })
}

/// Is shown the path, format and digest of a root.
type EachRoot<'a> = &'a mut dyn FnMut(&[u8], Option<&Spec>, &[u8]);

/// Returns the next path, if there is one.
pub(crate) type NextPath<'a> = &'a mut dyn FnMut() -> Result<Option<Vec<u8>>, Error>;

/// The rows of a catalogue, by the bytes of their paths: read in pages, so that it can be written meanwhile.
pub struct Rows<'a> {
    catalogue: &'a Catalogue,
    page: std::vec::IntoIter<Row>,
    left: Paths,
    ended: bool,
}

impl Rows<'_> {
    fn turn(&mut self) -> Result<(), Error> {
        let page = self.catalogue.page(&self.left)?;
        self.ended = page.is_empty();
        if let Some(last) = page.last() {
            self.left.start = after(&last.path);
        }
        self.page = page.into_iter();
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.page.next() {
                return Some(Ok(row));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.turn() {
                self.ended = true;
                return Some(Err(error));
            }
        }
    }
}

impl row::Kept {
    /// A root that was just computed from all bytes of a file.
    pub(crate) fn new(root: mksum::Root, by: &str, outboard: Option<String>) -> Self {
        row::Kept { root, verified: now(), by: by.into(), outboard, progress: 0 }
    }
}

/// The time, in seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}
