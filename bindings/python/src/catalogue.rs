//! Catalogues of directories: which root each file had, what has changed since, and what is damaged.

use crate::ahead::Results;
use crate::directory::name_of;
use crate::ending;
use crate::errors;
use crate::lists;
use crate::places::{input_of, path_of};
use crate::records::{Record, Records, rows};
use crate::spec::{Format, Wanted};
use crate::work::{Call, Stop};
use mksum_catalogue::{
    Access, Catalogue as Opened, Effort, Error, Finding, Manifest, Side, State, Unlisted, place, repair, status,
    update, verify,
};
use mksum_io::{EntryKind, KEPT_FOLDER, Options, path_from_bytes};
use mksum_sums::choice::Choice;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

/// The records that are made before they are taken.
const AHEAD: usize = 1000;

/// The catalogue of a directory: which root each of its files had, and when (`spec/catalogue.md`).
///
/// With it, what has not changed is not hashed again, a little can be verified every night, and two copies are compared without
/// reading them. The tool's `keep -r`, `status`, `update`, `verify -r`, `repair -r`, `import`, `diff` and `export` have the same catalogues.
/// Made by `Catalogue.keep`, `Catalogue.create` and `Catalogue.open`. The file is opened by each call and closed at its end; one process writes to it
/// at a time, and others wait.
#[pyclass(frozen, module = "mksum")]
pub struct Catalogue {
    directory: Option<PathBuf>,
    path: PathBuf,
}

impl Catalogue {
    /// The directory, unless only its catalogue is known.
    fn directory(&self, py: Python<'_>) -> PyResult<PathBuf> {
        self.directory.clone().ok_or_else(|| {
            let message = format!("{}: opened without its directory: open the directory", self.path.display());
            errors::at(py, "RefusedError", message, &self.path)
        })
    }

    /// What `work` finds in the catalogue, which it may write.
    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        mut call: Call,
        work: impl FnOnce(&mut Opened, &Path, &Options) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let (directory, path) = (self.directory(py)?, self.path.clone());
        let result = call.run(py, move |options| {
            let mut opened = Opened::open(&path, Access::Write, &mut || {})?;
            work(&mut opened, &directory, options)
        })?;
        result.map_err(|error| errors::catalogue(py, error))
    }

    /// The records that `work` sends, which reads the catalogue in a thread of its own.
    fn records(
        &self,
        stop: Option<&Bound<'_, Stop>>,
        work: impl FnOnce(Opened, &Options, &SyncSender<Result<Record, Error>>) -> Result<(), Error> + Send + 'static,
    ) -> PyResult<Records> {
        let ((sender, receiver), path) = (mpsc::sync_channel(AHEAD), self.path.clone());
        let results = Results::of(Call::new(None, None, stop), receiver, move |options| {
            let opened = Opened::open(&path, Access::Read, &mut || {});
            if let Err(error) = opened.and_then(|opened| work(opened, options, &sender)) {
                // The iterator may be gone.
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(Records { results: Mutex::new(results) })
    }
}

#[pymethods]
impl Catalogue {
    /// Makes the catalogue of a directory, or brings the one that is there up to date, and returns it.
    ///
    /// Files are hashed side by side. Those of 8 MiB and more also get a kept tree in the catalogue's folder, which locates damage.
    /// What is not changed is not read; a run that was ended is resumed.
    ///
    /// Args:
    ///     directory: The directory. All files below it are kept, but not its `.mksum`.
    ///     fmts: A format, or a list of them, which are added to those of the catalogue. If None, a catalogue that is there keeps
    ///         its formats, and a new one has `rfc6962`.
    ///     catalogue: The path of the catalogue: `.mksum/catalogue` in the directory, if None.
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Raises:
    ///     FileError, ChangedError, DamagedError: Some files cannot be read, are being written, or are damaged: the first one,
    ///         and up to 19 others as notes. All other files are kept then, and `open` opens the catalogue.
    ///     CatalogueError: There is a file that is not a catalogue, or a damaged one.
    ///     FormatError, StoppedError, KeyboardInterrupt: As for `file_root`.
    #[staticmethod]
    #[pyo3(signature = (directory, fmts = None, *, catalogue = None, threads = None, on_progress = None, stop = None))]
    fn keep(
        py: Python<'_>,
        directory: &Bound<'_, PyAny>,
        fmts: Option<Wanted>,
        catalogue: Option<&Bound<'_, PyAny>>,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'_, Stop>>,
    ) -> PyResult<Self> {
        let directory = path_of(directory)?;
        let path = catalogue.map(path_of).transpose()?.unwrap_or_else(|| place(&directory));
        let kept = Catalogue { directory: Some(directory.clone()), path: path.clone() };
        let specs = fmts.map(|fmts| fmts.specs());
        let result = Call::new(threads, on_progress, stop).run(py, move |options| {
            listable(&directory)?;
            let mut opened = Opened::create(&path, &mut || {})?;
            match specs {
                Some(specs) => opened.add_formats(&specs)?,
                None if opened.formats().len() == 0 => opened.add_formats(&[mksum::Spec::default()])?,
                None => {}
            }
            let mut failed = Vec::new();
            update(&mut opened, &directory, options, &mut |finding| {
                let bad = matches!(finding.state, State::Damaged | State::Busy | State::Unreadable);
                if bad && failed.len() < MOST {
                    failed.push(finding);
                }
            })?;
            Ok(failed)
        })?;
        match result.map_err(|error| errors::catalogue(py, error))? {
            failed if failed.is_empty() => Ok(kept),
            failed => {
                let directory = kept.directory(py)?;
                Err(errors::several(py, failed.into_iter().map(|finding| raised(py, &directory, finding))))
            }
        }
    }

    /// Makes an empty catalogue of a directory, or opens the one that is there. No file is read.
    ///
    /// For `import_list`: the roots of a list are then in the catalogue before the files are read. `keep` reads all files instead.
    ///
    /// Args:
    ///     directory: The directory.
    ///     catalogue: The path of the catalogue: `.mksum/catalogue` in the directory, if None.
    ///     stop: Ends the wait for another process that writes to the catalogue.
    ///
    /// Raises:
    ///     NotFoundError, FileError: There is no such directory, or the catalogue cannot be written.
    ///     CatalogueError: There is a file that is not a catalogue, or a damaged one.
    ///     StoppedError, KeyboardInterrupt: As for `file_root`.
    #[staticmethod]
    #[pyo3(signature = (directory, *, catalogue = None, stop = None))]
    fn create(
        py: Python<'_>,
        directory: &Bound<'_, PyAny>,
        catalogue: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, Stop>>,
    ) -> PyResult<Self> {
        let directory = path_of(directory)?;
        let path = catalogue.map(path_of).transpose()?.unwrap_or_else(|| place(&directory));
        let made = Catalogue { directory: Some(directory.clone()), path: path.clone() };
        let result = Call::new(None, None, stop).run(py, move |_| {
            listable(&directory)?;
            Opened::create(&path, &mut || {}).map(drop)
        })?;
        result.map(|()| made).map_err(|error| errors::catalogue(py, error))
    }

    /// Opens the catalogue of a directory.
    ///
    /// Args:
    ///     path: The directory; or the catalogue itself, which has rows and can be compared, also without its directory.
    ///     catalogue: The path of the catalogue: `.mksum/catalogue` in the directory, if None.
    ///
    /// Raises:
    ///     NotFoundError: There is no catalogue.
    ///     CatalogueError: The file is not a catalogue, or is damaged.
    #[staticmethod]
    #[pyo3(signature = (path, *, catalogue = None))]
    fn open(py: Python<'_>, path: &Bound<'_, PyAny>, catalogue: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (given, catalogue) = (path_of(path)?, catalogue.map(path_of).transpose()?);
        let (directory, path) = match catalogue {
            Some(path) => (Some(given), path),
            None if given.is_dir() => (Some(given.clone()), place(&given)),
            None => {
                let folder = given.parent().filter(|folder| folder.file_name().is_some_and(|name| name == KEPT_FOLDER));
                let directory = folder.and_then(Path::parent).map(Path::to_path_buf);
                // The directory of ".mksum/catalogue" is the working directory.
                let here = |path: PathBuf| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path };
                (directory.map(here), given)
            }
        };
        let found = ending::detach(py, || Opened::open(&path, Access::Read, &mut || {}).map(drop));
        found.map_err(|error| errors::catalogue(py, error))?;
        Ok(Catalogue { directory, path })
    }

    /// The path of the directory; None if the catalogue was opened without it.
    #[getter(directory)]
    fn directory_text(&self) -> Option<&OsStr> {
        self.directory.as_deref().map(Path::as_os_str)
    }

    /// The path of the catalogue.
    #[getter]
    fn path(&self) -> &OsStr {
        self.path.as_os_str()
    }

    /// The canonical texts of the formats of its roots, in the order in which they were added. They are read each time.
    #[getter]
    fn formats(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let formats = ending::detach(py, || {
            let opened = Opened::open(&self.path, Access::Read, &mut || {})?;
            Ok(opened.formats().map(mksum::Spec::to_string).collect())
        });
        formats.map_err(|error| errors::catalogue(py, error))
    }

    /// Yields the entries that differ from their rows, by path: no file is read, only size, mtime and inode are compared.
    ///
    /// Args:
    ///     stop: Ends the iteration from another thread.
    ///
    /// Yields:
    ///     Dicts with `path`, below the directory, `kind`, which is `entry`, and `state` as in `spec/json.md`: `new`, `changed`,
    ///     `moved` with its old path as `from`, `gone`, `incomplete`, which lacks a root in some format of the catalogue, and `unreadable` with the reason as `error`.
    ///
    /// Raises:
    ///     RefusedError: The catalogue was opened without its directory.
    ///     CatalogueError: The catalogue is damaged.
    ///     FileError: The directory cannot be listed.
    ///     StoppedError: `stop` was used.
    ///     KeyboardInterrupt: Within 100 ms.
    #[pyo3(signature = (*, stop = None))]
    fn status(&self, py: Python<'_>, stop: Option<&Bound<'_, Stop>>) -> PyResult<Records> {
        let directory = self.directory(py)?;
        self.records(stop, move |opened, options, sender| {
            for finding in status(&opened, &directory, options)?.differ {
                if sender.send(Ok(Record::Entry(finding))).is_err() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Reads what is new or changed, and returns what differed.
    ///
    /// A file that was renamed keeps its row, and is not read.
    ///
    /// Args:
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Returns:
    ///     Dicts as those of `status`, in the order in which they were found. `touched` is a file that has the content that it had.
    ///     The rows of these are left as they were, and `error` has the reason: `damaged`, whose content differs although its size,
    ///     mtime and inode show no change, `busy`, which was changed while it was read, and `unreadable`.
    ///
    /// Raises:
    ///     RefusedError, CatalogueError, FileError, StoppedError, KeyboardInterrupt: As for `status`. What was read until then
    ///         stays in the catalogue.
    #[pyo3(signature = (*, threads = None, on_progress = None, stop = None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'py, Stop>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let found = self.run(py, Call::new(threads, on_progress, stop), |opened, directory, options| {
            let mut found = Vec::new();
            update(opened, directory, options, &mut |finding| {
                found.push(Finding { roots: Vec::new(), ..finding });
            })?;
            Ok(found)
        })?;
        rows(py, &found)
    }

    /// Compares the content of files with their roots, and returns what is not intact. What was not verified for longest is first.
    ///
    /// Args:
    ///     budget: Ends after so many seconds, and after a file or 64 MiB of a long one at least. The next run goes on from there.
    ///     sample: Ends after this share of all bytes, 0.0 to 1.0. The next run goes on from there.
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Returns:
    ///     A dict: `intact`, the number of files that are intact as far as they were verified; `verified`, the number of their bytes
    ///     that were read; `found`, dicts as those of `status` for all others. `damaged` ones have `length` and `ranges`, lists of
    ///     `(start, end)` in bytes, which are empty if it is not known where the damage is. `changed` and `new` ones are not
    ///     verified: `update` reads them.
    ///
    /// Raises:
    ///     ValueError: A budget or a sample is out of its range, or both are given.
    ///     CatalogueError: Also if nothing was verified, since no file but new ones is there.
    ///     RefusedError, FileError, StoppedError, KeyboardInterrupt: As for `status`. What was found intact until then is remembered.
    #[pyo3(signature = (*, budget = None, sample = None, threads = None, on_progress = None, stop = None))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        budget: Option<f64>,
        sample: Option<f64>,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'py, Stop>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let effort = match (budget, sample) {
            (None, None) => Effort::All,
            (Some(seconds), None) => Effort::Time(
                Duration::try_from_secs_f64(seconds)
                    .map_err(|_| PyValueError::new_err(format!("budget is {seconds}: expected seconds, 0 or more")))?,
            ),
            (None, Some(share)) if (0.0..=1.0).contains(&share) => Effort::Share(share),
            (None, Some(share)) => {
                return Err(PyValueError::new_err(format!("sample is {share}: expected a share, 0.0 to 1.0")));
            }
            (Some(_), Some(_)) => return Err(PyValueError::new_err("budget and sample cannot be used together")),
        };
        let (intact, verified, found) =
            self.run(py, Call::new(threads, on_progress, stop), move |opened, directory, options| {
                let (mut intact, mut bytes, mut found) = (0_u64, 0_u64, Vec::new());
                verify(opened, directory, options, effort, &mut |finding| match finding.state {
                    State::Intact => {
                        intact += 1;
                        bytes += finding.bytes.unwrap_or(0);
                    }
                    _ => found.push(finding),
                })?;
                Ok((intact, bytes, found))
            })?;
        let row = PyDict::new(py);
        row.set_item("intact", intact)?;
        row.set_item("verified", verified)?;
        row.set_item("found", rows(py, &found)?)?;
        Ok(row)
    }

    /// Repairs damaged files from copies. Nothing is written that has another root than the catalogue's.
    ///
    /// Of files with a kept tree only the damaged ranges are fetched, of others the file.
    ///
    /// Args:
    ///     source: A directory with copies at the same paths; or the URL of one (`https://…`, `s3://BUCKET/PREFIX`).
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Returns:
    ///     Dicts as those of `status`, of all files that were not intact: `repaired`, with `ranges`, lists of `(start, end)` in bytes,
    ///     and `fetched`, a number of bytes; `failed`, which is still damaged, with the reason as `error`; `changed` and `gone`, which
    ///     are left alone.
    ///
    /// Raises:
    ///     RefusedError, CatalogueError, FileError, StoppedError, KeyboardInterrupt: As for `status`. A repair that was ended is
    ///         completed by the next.
    #[pyo3(signature = (source, *, threads = None, on_progress = None, stop = None))]
    fn repair<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'py, Stop>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let source = input_of(source)?;
        let found = self.run(py, Call::new(threads, on_progress, stop), move |opened, directory, options| {
            let mut found = Vec::new();
            let copies_of = |path: &[u8]| vec![source.join(&path_from_bytes(path).unwrap_or_default())];
            repair(opened, directory, options, &copies_of, &mut |finding| {
                if finding.state != State::Intact {
                    found.push(finding);
                }
            })?;
            Ok(found)
        })?;
        rows(py, &found)
    }

    /// Takes the roots of a list into the catalogue, with the sizes and times that the files have now. No content is read: `verify`
    /// compares it with the roots later.
    ///
    /// Args:
    ///     source: The path of a sum file of any tool (`spec/sumfile.md`) or of lines of JSON as the tool prints them; of a catalogue, or
    ///         of a directory that has one; or the URL of a catalogue. Paths in a list are those below the directory.
    ///     fmt: The format of lines that do not name one. If None, the hash is the usual one for the length of a sum.
    ///     stop: Ends the work from another thread.
    ///
    /// Returns:
    ///     A dict: `imported`, the number of files with new roots; `known`, the number of files of which the catalogue had all roots;
    ///     `unused`, the number of lines that are malformed or not about a whole file; `found`, dicts as those of `status` for all other
    ///     files of the list, of which nothing was taken, with the reason as `error`: `gone`, `unreadable`, and `refused`, where the list
    ///     has another length than the file or another root than the catalogue.
    ///
    /// Raises:
    ///     NotFoundError: There is no such list.
    ///     CatalogueError: The file is neither a catalogue nor a list; or a catalogue is damaged.
    ///     RefusedError, FileError, StoppedError, KeyboardInterrupt: As for `status`. What was taken until then stays.
    #[pyo3(signature = (source, fmt = None, *, stop = None))]
    fn import_list<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        fmt: Option<Format>,
        stop: Option<&Bound<'py, Stop>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (source, format) = (input_of(source)?, fmt.map(|fmt| Choice::from(fmt.0)));
        let taken = self.run(py, Call::new(None, None, stop), move |opened, directory, options| {
            lists::taken(opened, directory, options, (&source, format.as_ref()))
        })?;
        taken.row(py)
    }

    /// Yields the lines of a sum file, or of a BagIt manifest, with the roots of the catalogue's files, by the bytes of their paths.
    ///
    /// `rows` has what `mksum export --to json` prints.
    ///
    /// Args:
    ///     to: `sums`: `FORMAT (PATH) = ROOT`, a line for each file and format, which `mksum -c` reads, and `sha256sum -c` those of its
    ///         format. `bagit`: the payload manifest of a bag, a line for each file below `data/` (RFC 8493, 2.1.3).
    ///     fmts: A format of the catalogue, or a list of them; if None, all; for `bagit` one plain sum, if None the catalogue's first.
    ///     stop: Ends the iteration from another thread.
    ///
    /// Yields:
    ///     Lines as bytes, each with its newline: `file.writelines(catalogue.export())`, where `file` is open in binary mode.
    ///
    /// Raises:
    ///     ValueError: `to` is something else.
    ///     FormatError: The catalogue has no roots in a format, or a bag's manifest cannot have it.
    ///     CatalogueError: After the last line: files have no root in a format, so they are not in the list; or a bag has no files. The
    ///         catalogue is damaged.
    ///     StoppedError, KeyboardInterrupt: As for `status`.
    #[pyo3(signature = (to = "sums", fmts = None, *, stop = None))]
    fn export(
        &self,
        py: Python<'_>,
        to: &str,
        fmts: Option<Wanted>,
        stop: Option<&Bound<'_, Stop>>,
    ) -> PyResult<Records> {
        let manifest = match to {
            "sums" => Manifest::Sums,
            "bagit" => Manifest::Bagit,
            other => return Err(PyValueError::new_err(format!("to is '{other}': expected 'sums' or 'bagit'"))),
        };
        let asked = fmts.map(|fmts| fmts.specs()).unwrap_or_default();
        let specs = ending::detach(py, || {
            let opened = Opened::open(&self.path, Access::Read, &mut || {})?;
            Ok(manifest.formats(&opened, &asked))
        });
        let specs = specs.map_err(|error| errors::catalogue(py, error))?.map_err(|unlisted| match unlisted {
            Unlisted::Lacks(spec) => errors::format(
                py,
                &spec.to_string(),
                &format_args!("the catalogue has no roots in {spec}: keep() adds them"),
            ),
            Unlisted::NoSum => errors::error(
                py,
                "FormatError",
                "a BagIt manifest has plain sums: keep the directory with 'sha512' or 'sha256'",
            ),
        })?;
        let top = self.directory.clone().unwrap_or_default();
        self.records(stop, move |opened, options, sender| {
            lists::send(opened, options, sender, (manifest, &specs, &top))
        })
    }

    /// Yields what differs between this catalogue and another, or a list. Only the catalogues and the list are read.
    ///
    /// Args:
    ///     other: A `Catalogue`; the path of one, or of a directory that has one; the URL of one; or the path of a sum file of any tool
    ///         (`spec/sumfile.md`), or of lines of JSON as the tool prints them. With a list only files are compared.
    ///     stop: Ends the iteration from another thread.
    ///
    /// Yields:
    ///     Dicts as those of `status`: first what is in both, by path, then what is in one. `changed`; `added`, which only the other
    ///     has, and `removed`; `moved` with its path in this one as `from`; `incomparable`, without a root in a common format.
    ///
    /// Raises:
    ///     NotFoundError: There is no such catalogue or list.
    ///     CatalogueError: The file is neither a catalogue nor a list; a catalogue is damaged; or, after the last difference, lines of the
    ///         list are malformed or not about a whole file.
    ///     StoppedError, KeyboardInterrupt: As for `status`.
    #[pyo3(signature = (other, *, stop = None))]
    fn diff(&self, other: &Bound<'_, PyAny>, stop: Option<&Bound<'_, Stop>>) -> PyResult<Records> {
        let other = match other.cast::<Catalogue>() {
            Ok(other) => (&other.get().path).into(),
            Err(_) => input_of(other)?,
        };
        self.records(stop, move |opened, options, sender| {
            let theirs = Side::open(&other, None, options)?;
            let unused = theirs.unused();
            Side::Catalogue(opened.into(), Vec::new()).diff(theirs, &options.stop, &mut |finding| {
                // The iterator may be gone: then the next entry ends this.
                let _ = sender.send(Ok(Record::Entry(finding)));
            })?;
            lists::all_used(&other, unused)
        })
    }

    /// Yields the entries of the catalogue, by the bytes of their paths.
    ///
    /// Args:
    ///     stop: Ends the iteration from another thread.
    ///
    /// Yields:
    ///     Dicts as `mksum export --to json` prints them: `path`, `kind`, which is `entry`, and `type`: `file`, `directory` or `link`.
    ///     Also `mtime_ns`, in nanoseconds since 1970; of a link `link`, its text; of a file `length` in bytes, `roots`, its roots as
    ///     texts by their formats, and `verified`, the time at which its content was last found to have all of them, in seconds since
    ///     1970, or None if there are none yet.
    ///
    /// Raises:
    ///     CatalogueError: The catalogue is damaged.
    ///     StoppedError, KeyboardInterrupt: As for `status`.
    #[pyo3(signature = (*, stop = None))]
    fn rows(&self, stop: Option<&Bound<'_, Stop>>) -> PyResult<Records> {
        self.records(stop, |opened, options, sender| {
            for row in opened.rows() {
                let row = row?;
                let (mut roots, mut verified, mut link) = (Vec::new(), None, None);
                match row.facts.kind {
                    EntryKind::File => {
                        let kept = opened.roots(&row)?;
                        verified = kept.iter().map(|kept| kept.verified).min();
                        roots.extend(kept.iter().map(|kept| (kept.root.spec().to_string(), kept.root.to_string())));
                    }
                    EntryKind::Link => link = opened.link(&row.path)?,
                    EntryKind::Directory | EntryKind::Special => {}
                }
                if options.stop.is_stopped() {
                    return Err(mksum_io::Error::Stopped { path: opened.path().into() }.into());
                }
                if sender.send(Ok(Record::Row { row, roots, verified, link })).is_err() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn __iter__(&self) -> PyResult<Records> {
        self.rows(None)
    }

    fn __repr__(&self) -> String {
        format!("<Catalogue {}>", self.path.display())
    }
}

/// Why a file has no row that is up to date.
fn raised(py: Python<'_>, directory: &Path, finding: Finding) -> PyErr {
    let (reason, path) = (finding.reason(), directory.join(name_of(&finding.path)));
    let damaged =
        || errors::damaged(py, &path, format!("{}: {}", path.display(), reason.unwrap_or_default()), Vec::new());
    finding.error.map_or_else(damaged, |error| errors::catalogue(py, error))
}

/// The failures that are reported.
const MOST: usize = 20;

/// Refuses what is no directory, before a catalogue is made for it.
fn listable(directory: &Path) -> Result<(), Error> {
    let error = match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(mksum_io::Error::Open { path: directory.into(), error }.into())
}
