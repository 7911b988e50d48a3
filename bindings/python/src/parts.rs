//! A tree in parts: planned once, hashed anywhere, joined once.

use crate::data::Data;
use crate::errors;
use crate::files::input_of;
use crate::growing;
use crate::root::Root;
use crate::rows::{Head, Planned, Row, field, hashed, planned, wrong};
use crate::spec::Format;
use crate::work::{Call, Stop};
use mksum::{Digest, Error, Plan, Role, Spec, Subtree, Subtrees};
use mksum_io::{File, Input, Job, Options, hash};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::num::NonZero;

/// The length of a part if none is given, in bytes.
const PART: u64 = 64 << 20;

/// Returns the parts of a tree: rows for `map_range`, to be hashed anywhere and joined by `join`.
///
/// Args:
///     source: A path or URL; or the length of an input that workers read by themselves, in bytes.
///     fmt: The format. Unlike a stream, parts need no format that streams.
///     part: The longest part, in bytes. A longer leaf is a part all the same.
///     size: The input's length in bytes, if it is known, as of a listing. Then nothing is opened, and `version` is needed.
///     version: The input's version: of an object its ETag without quotes, of a file as `spec/plan.md` says.
///
/// Returns:
///     Dicts of plain values, left to right, as `spec/plan.md` has them: `kind` and `schema`; `path`, `version`, `size` and
///     `format` of the input; `offset` and `length`, the bytes of the part; `level`, the levels above its leaves. If only the
///     length is known, path and version are empty. An empty input has one part of no bytes.
///
/// Raises:
///     FormatError: The format is unknown.
///     LengthError: The format has no root for this length.
///     FileError: The input cannot be opened.
///     TypeError: Of `size` and `version` only one is given.
#[pyfunction]
#[pyo3(signature = (source, fmt = Format(Spec::default()), *, part = PART, size = None, version = None),
       text_signature = "(source, fmt='rfc6962', *, part=67108864, size=None, version=None)")]
pub fn plan<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    fmt: Format,
    part: u64,
    size: Option<u64>,
    version: Option<String>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (path, version, size) = match (source.extract::<u64>(), size, version) {
        (Ok(size), None, None) => (Input::place(""), String::new(), size),
        (Err(_), Some(size), Some(version)) => (input_of(source)?, version, size),
        (Err(_), None, None) => opened(py, input_of(source)?)?,
        _ => return Err(pyo3::exceptions::PyTypeError::new_err("size and version belong together, and to a path")),
    };
    let spec = fmt.0;
    let pieces = spec.plan(size, part.max(1)).map_err(|reason| errors::join(py, &spec, reason.into()))?;
    let empty = (size == 0).then_some(Subtree { start: 0, len: 0, level: 0 });
    let head = Head::new(py, &path, version, size, &spec)?;
    empty.into_iter().chain(pieces).map(|node| head.part(node)).collect()
}

/// The version and length of an input, which is opened for them.
fn opened(py: Python<'_>, path: Input) -> PyResult<(Input, String, u64)> {
    let mut call = Call::new(NonZero::new(1), None, None);
    let work =
        move |options: &Options| File::open_part(&path, 0..1, options).map(|file| (path, file.version(), file.len()));
    call.run(py, work)?.map_err(|error| errors::io(py, error))
}

/// Returns a row of `plan` with its digest.
///
/// Args:
///     row: A row of `plan`.
///     data: The bytes of the part, `length` of them. If None, they are read from the input at `path`.
///     threads: The threads that read and hash: as many as the process may run on, if None.
///     on_progress: Called with the number of bytes since the last call. Not used with `data`.
///     stop: Ends the call from another thread.
///
/// Returns:
///     The row as one of a ledger (`spec/plan.md`): its `kind` is `digest`, and it has `digest` in lower-case hex. If the part is
///     the whole input, this is the digest of its root.
///
/// Raises:
///     RowError: The row is not one of `plan`, or `data` has another length.
///     FileError: The input cannot be opened or read.
///     ChangedError: The input has another length or version than when it was planned, or was changed while it was read.
#[pyfunction]
#[pyo3(signature = (row, data = None, *, threads = None, on_progress = None, stop = None))]
pub fn map_range<'py>(
    row: &Bound<'py, PyDict>,
    data: Option<Data<'py>>,
    threads: Option<NonZero<usize>>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = row.py();
    let part = Row::of(row)?;
    part.check(py)?;
    let digest = match data {
        Some(data) if data.bytes().len() as u64 != part.node.len => {
            return Err(part.wrong(py, &format!("the data has {} bytes", data.bytes().len())));
        }
        Some(data) => data
            .with(py, |bytes| match part.is_whole() {
                true => growing::root(&part.spec, bytes).map(|root| root.digest()),
                false => growing::subtree(&part.spec, part.size, part.node, bytes),
            })
            .map_err(|error| errors::join(py, &part.spec, error))?,
        None => {
            let input = planned(row)?;
            let digest = Call::new(threads, on_progress, stop).run(py, move |options| digest(&part, input, options))?;
            digest.map_err(|error| errors::io(py, error))?
        }
    };
    hashed(row, &digest)
}

/// The digest of a part, from its input.
fn digest(part: &Row, input: Planned, options: &Options) -> Result<Digest, mksum_io::Error> {
    if part.is_whole() {
        let mut job = Job::new(input.path, vec![part.spec.clone()]);
        job.version = Some((input.version, input.size));
        return Ok(hash(&job, options)?.remove(0)?.digest());
    }
    let file = File::open_part(&input.path, part.node.start..part.node.end(), options)?;
    file.check_version(&(input.version, input.size))?;
    let digest = subtree(&file, part)?;
    file.finish().map(|()| digest)
}

/// The digest of a part of an open input.
pub fn subtree(file: &File, part: &Row) -> Result<Digest, mksum_io::Error> {
    let whole = file.plan(&part.spec);
    let threads = usize::try_from(part.node.len.div_ceil(whole.piece.max(1))).unwrap_or(usize::MAX);
    let plan = Plan { threads: whole.threads.min(threads).max(1), ..whole };
    let digest = part.spec.join_parallel(file, part.node, Role::Inner, &plan);
    digest.map_err(|error| mksum_io::Error::from_join(error, file.input(), &part.spec))
}

/// Returns the root of an input from the digests of its parts.
///
/// Args:
///     rows: The rows of `map_range`, in any order.
///
/// Raises:
///     RowError: There are no rows; they are not of one input; one is missing, twice there or not a subtree; `offset` is that of
///         the wrong row.
#[pyfunction]
pub fn join(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<Root> {
    let mut known: BTreeMap<u64, (Row, Digest)> = BTreeMap::new();
    let mut input: Option<(Spec, u64, String, String)> = None;
    for row in rows.try_iter()? {
        let row = row?.cast_into::<PyDict>()?;
        let part = Row::of(&row)?;
        let (path, version): (String, String) = (field(&row, "path")?, field(&row, "version")?);
        let text: String = field(&row, "digest")?;
        let digest = decode(&text).filter(|digest| digest.len() == part.spec.hash().size());
        let Some(digest) = digest else {
            return Err(part.wrong(py, &format!("'{text}' is not a digest of {}", part.spec.hash().name())));
        };
        match &input {
            None => input = Some((part.spec.clone(), part.size, path, version)),
            Some((spec, size, ..)) if *spec != part.spec || *size != part.size => {
                let reason = format!("it is of {} bytes in {}, others of {size} bytes in {spec}", part.size, part.spec);
                return Err(part.wrong(py, &reason));
            }
            Some((_, _, other, before)) if *other != path || *before != version => {
                let reason = format!("it is of {path} of version '{version}', others of {other} of '{before}'");
                return Err(part.wrong(py, &reason));
            }
            Some(_) => {}
        }
        if let Some((part, _)) = known.insert(part.node.start, (part, Digest::new(&digest))) {
            return Err(part.wrong(py, "there are two rows of this offset"));
        }
    }
    let Some((spec, size, ..)) = input else { return Err(errors::error(py, "RowError", "there are no rows")) };
    let mut end = 0;
    for (part, _) in known.values() {
        if part.node.start != end {
            let after = part.node.start > end;
            return Err(part
                .wrong(py, if after { "the bytes before it are missing" } else { "it overlaps the part before it" }));
        }
        part.check(py)?;
        end = part.node.end();
    }
    if end != size {
        return Err(wrong(py, end, size, "there is no row of them"));
    }
    let root = match known.first_key_value() {
        Some((_, (part, digest))) if part.is_whole() => spec.root_with_digest(*digest, size),
        _ => {
            let known = Known(known.into_values().map(|(part, digest)| (part.node, digest)).collect());
            spec.root_from(&known, size).map_err(|reason| errors::join(py, &spec, reason))?
        }
    };
    Ok(Root::from(&root))
}

fn decode(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    hex.as_bytes().chunks(2).map(pair).collect()
}

/// Digests that were computed elsewhere.
struct Known(BTreeMap<Subtree, Digest>);

impl Subtrees for Known {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok(self.0.get(&node).copied())
    }
}
