//! Downloads: files and directories from mirrors that are not trusted, verified against a root that is.

use crate::directory::DirectoryRoot;
use crate::errors;
use crate::places::{input_of, path_of};
use crate::records::pairs;
use crate::root::Root;
use crate::spec::{Foreign, named};
use crate::work::{Call, Stop};
use mksum_catalogue::{list_directory, place_below};
use mksum_get::{Error, Expected, FolderRequest, Got, Outcome, Request, Target, extra, get_list};
use mksum_io::Input;
use mksum_sums::choice::Choice;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Fetches a file from mirrors that are not trusted: every leaf is verified against the root before it is written.
///
/// The file gets its name when it is whole. Until then it is `PATH.part`, which the next call resumes; a file that is there is repaired, and
/// if it is right, nothing is fetched. With an outboard, ranges are fetched from all mirrors at once, and one that is wrong is fetched from
/// another; without, the whole stream is hashed.
///
/// Args:
///     urls: The URL or path of a copy, or several.
///     root: The trusted root: a `Root`; or a text as the tool prints it, as a web page has it (`sha256:…`, hex, base64, an ETag), or the
///         line of a sum file.
///     path: The file to be written.
///     fmt: The format of a text that names none. If None, its length decides.
///     outboards: Places of the file's outboard, which is not trusted; `URL.mkt` of each URL, if None. With an empty list none is used.
///     foreign: The format in which the outboards are trees of another program, if they are: `blake3` (Bao), `fsverity`, `dmverity:…`; or `obao4` (iroh).
///     seeds: Older files, whose leaves are used where they are right.
///     length: The file's length in bytes, if it is known.
///     connections: The number of requests that run at once, over all mirrors.
///     on_progress, stop: As for `file_root`.
///
/// Returns:
///     A dict (`mksum.types.Download`): what was fetched, and from which mirror, in bytes.
///
/// Raises:
///     FetchError: No mirror has the right bytes. What was verified is kept for the next call, and the reasons are notes.
///     FormatError: The root is none, or is that of a directory: see `get_directory`.
///     RefusedError: An outboard is of another file; the path is not one of a regular file; the disk has no room; or another process
///         writes the file.
///     FileError: The file cannot be written.
///     StoppedError: `stop` was used.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
#[pyo3(signature = (urls, root, path, *, fmt = None, outboards = None, foreign = None, seeds = None, length = None, connections = NonZero::new(8).unwrap(),
                    on_progress = None, stop = None),
       text_signature = "(urls, root, path, *, fmt=None, outboards=None, foreign=None, seeds=None, length=None, connections=8, on_progress=None, stop=None)")]
#[allow(clippy::too_many_arguments)] // All but three are by name only.
pub fn get<'py>(
    py: Python<'py>,
    urls: &Bound<'py, PyAny>,
    root: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    fmt: Option<&str>,
    outboards: Option<&Bound<'py, PyAny>>,
    foreign: Option<Foreign>,
    seeds: Option<&Bound<'py, PyAny>>,
    length: Option<u64>,
    connections: NonZero<usize>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (expected, target) = (expected(root, fmt)?, path_of(path)?);
    if expected.directory().is_some() {
        return Err(errors::error(
            py,
            "FormatError",
            "this is the root of a directory: mksum.get_directory fetches one",
        ));
    }
    let mut request = Request::new(mirrors(urls)?, expected, Target::File(target.clone()));
    if let Some(Foreign(format)) = foreign {
        request = request.with_foreign(format);
    }
    if let Some(outboards) = outboards {
        request.outboards = places(outboards)?;
    }
    request.seeds = seeds.map_or(Ok(Vec::new()), paths)?;
    (request.len, request.connections) = (length, connections.get());
    let got = Call::new(None, on_progress, stop).run(py, move |options| mksum_get::get(&request, options))?;
    let got = got.map_err(Failure::from).and_then(|got| whole(&target, got));
    download(py, &target, &got.map_err(|error| failed(py, error))?)
}

/// Fetches a directory from mirrors that are not trusted, by its root.
///
/// The root is compared with that of the entries in the directory's catalogue, which a publisher keeps with `mksum keep -r DIR`; then each
/// file is fetched as `get` does, by its root in the catalogue, and folders and symbolic links are made. Modes and times are set if the root
/// covers them (`dir+mode+mtime`). Nothing is written outside of the directory. Entries that are only here are left alone.
///
/// Args:
///     urls: The URL or path of a copy, or several.
///     root: The trusted root: a `DirectoryRoot`, or a text that begins with the name of its format (`dir:…`).
///     path: The directory to be written.
///     catalogues: Places of the catalogue, which is not trusted; `URL/.mksum/catalogue` of each URL, if None.
///     connections, on_progress, stop: As for `get`.
///
/// Returns:
///     A dict (`mksum.types.DirectoryDownload`), with a dict as `get` returns it for each file.
///
/// Raises:
///     FetchError: Some files were not fetched: the first, and others are its notes. The next call fetches the rest.
///     CatalogueError: No catalogue is of this directory.
///     FormatError, FileError, RefusedError, StoppedError, KeyboardInterrupt: As for `get`.
#[pyfunction]
#[pyo3(signature = (urls, root, path, *, catalogues = None, connections = NonZero::new(8).unwrap(), on_progress = None, stop = None),
       text_signature = "(urls, root, path, *, catalogues=None, connections=8, on_progress=None, stop=None)")]
#[allow(clippy::too_many_arguments)] // All but three are by name only.
pub fn get_directory<'py>(
    py: Python<'py>,
    urls: &Bound<'py, PyAny>,
    root: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    catalogues: Option<&Bound<'py, PyAny>>,
    connections: NonZero<usize>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyDict>> {
    /// The most notes of an error.
    const NOTED: usize = 20;
    let (expected, mirrors) = (expected(root, None)?, mirrors(urls)?);
    let Some(spec) = expected.directory().cloned() else {
        return Err(errors::error(py, "FormatError", "this is not the root of a directory, which begins with 'dir'"));
    };
    let catalogues = catalogues.map(places).transpose()?;
    let catalogues = catalogues.unwrap_or_else(|| mirrors.iter().map(place_below).collect());
    let mut request = FolderRequest::new(mirrors, path_of(path)?);
    request.connections = connections.get();
    let folder = request.folder.clone();
    let mut call = Call::new(None, on_progress, stop);
    let found = call.run(py, move |options| {
        let mut notes = Vec::new();
        let found = list_directory(&catalogues, &expected, options, &mut |error| notes.push(error));
        (found, notes)
    })?;
    let directory = match found {
        (Ok(directory), _) => directory,
        (Err(error), notes) => {
            let all = [error].into_iter().chain(notes.into_iter().take(NOTED));
            return Err(errors::several(py, all.map(|error| errors::catalogue(py, error))));
        }
    };
    let (root, mut list) = (directory.root, directory.list);
    list.refuse_clashes();
    let refused =
        list.refused.iter().map(|(name, why)| Failure::from(Error::Refused(folder.join(name).into(), why.clone())));
    let (mut files, mut problems) = (Vec::new(), Vec::from_iter(refused));
    let (made, extra) = call.run(py, move |options| {
        let made = get_list(&list, &request, options, &mut |path, got| match got
            .map_err(Failure::from)
            .and_then(|got| whole(path, got))
        {
            Ok(got) => files.push((path.to_path_buf(), got)),
            Err(error) => problems.push(error),
        });
        let extra = made.and_then(|()| extra(&list, &request.folder, usize::MAX));
        ((files, problems), extra)
    })?;
    let (files, problems) = made;
    if !problems.is_empty() {
        let shown = problems.into_iter().take(NOTED).map(|error| failed(py, error));
        return Err(errors::several(py, shown));
    }
    let (extra, _) = extra.map_err(|error| failed(py, error.into()))?;
    let dict = PyDict::new(py);
    dict.set_item("path", folder.as_os_str())?;
    dict.set_item("format", spec.to_string())?;
    dict.set_item("root", root.to_string())?;
    dict.set_item("entries", root.len())?;
    dict.set_item("files", files.iter().map(|(path, got)| download(py, path, got)).collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("extra", extra.into_iter().map(PathBuf::into_os_string).collect::<Vec<_>>())?;
    Ok(dict)
}

/// The trusted root of a file or directory.
pub fn expected(root: &Bound<'_, PyAny>, fmt: Option<&str>) -> PyResult<Expected> {
    let py = root.py();
    let given = fmt.map(|fmt| fmt.parse::<Choice>().or_else(|_| named(py, fmt).map(Choice::from))).transpose()?;
    let (text, given) = if let Ok(root) = root.cast::<Root>() {
        let root = root.get();
        (root.claimed.text(&root.spec), Some(Choice::exact(root.spec.clone())))
    } else if let Ok(root) = root.cast::<DirectoryRoot>() {
        let (spec, text) = root.get().parts();
        (text, Some(Choice::from(spec)))
    } else {
        (root.cast::<PyString>()?.to_str()?.into(), given)
    };
    Expected::parse(&text, given.as_ref()).map_err(|why| errors::format(py, &text, &why))
}

/// One place or several.
pub fn places(object: &Bound<'_, PyAny>) -> PyResult<Vec<Input>> {
    let is_one =
        object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() || object.hasattr("__fspath__")?;
    match is_one {
        true => Ok(vec![input_of(object)?]),
        false => object.try_iter()?.map(|place| input_of(&place?)).collect(),
    }
}

fn mirrors(urls: &Bound<'_, PyAny>) -> PyResult<Vec<Input>> {
    let places = places(urls)?;
    match places.is_empty() {
        true => Err(PyValueError::new_err("urls is empty: give one or more")),
        false => Ok(places),
    }
}

fn paths(object: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    object.try_iter()?.map(|place| path_of(&place?)).collect()
}

/// Why something is not there.
enum Failure {
    Get(Error),
    /// No mirror has all of the file: the reasons, as words.
    Incomplete(PathBuf, String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Get(error)
    }
}

/// A download that is whole, or the reason why not.
fn whole(path: &Path, got: Got) -> Result<Got, Failure> {
    match got.incomplete() {
        Some(why) => {
            let mirrors = got.mirrors.iter().flat_map(|mirror| {
                let bad = mksum::ranges::union(mirror.bad.clone()).into_iter();
                let bad = bad.map(|range| format!("bytes {}..{} were wrong", range.start, range.end));
                bad.chain(mirror.error.clone()).map(|why| format!("\n{}: {why}", mirror.place))
            });
            Err(Failure::Incomplete(path.into(), [why].into_iter().chain(mirrors).collect()))
        }
        None => Ok(got),
    }
}

/// The exception for a download that failed.
fn failed(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Get(Error::Io(error)) => errors::io(py, error),
        Failure::Get(Error::Refused(place, why)) => {
            let place = place.shown_path();
            errors::at(py, "RefusedError", format!("{}: {why}", place.display()), &place)
        }
        Failure::Incomplete(path, why) => errors::at(py, "FetchError", format!("{}: {why}", path.display()), &path),
    }
}

/// A download as a dict.
fn download<'py>(py: Python<'py>, path: &Path, got: &Got) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("path", path.as_os_str())?;
    dict.set_item("state", if got.outcome == Outcome::Present { "present" } else { "fetched" })?;
    if let Some(root) = &got.root {
        dict.set_item("format", root.spec().to_string())?;
        dict.set_item("length", root.len())?;
        dict.set_item("root", root.to_string())?;
    }
    if let Some(outboard) = &got.outboard {
        dict.set_item("outboard", outboard.to_string())?;
    }
    dict.set_item("fetched", got.fetched)?;
    dict.set_item("resumed", got.resumed)?;
    dict.set_item("seeded", got.seeded)?;
    let mirrors = got.mirrors.iter().map(|mirror| {
        let row = PyDict::new(py);
        row.set_item("mirror", mirror.place.to_string())?;
        row.set_item("bytes", mirror.bytes)?;
        row.set_item("bad", pairs(&mksum::ranges::union(mirror.bad.clone())))?;
        if let Some(error) = &mirror.error {
            row.set_item("error", error)?;
        }
        Ok(row)
    });
    dict.set_item("mirrors", mirrors.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}
