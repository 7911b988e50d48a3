"""Trees in parts on many machines: what `mksum.spark`, `mksum.dask` and `mksum.ray` share.

Inputs are planned in parts, and parts are packed into tasks of about the same cost. A worker hashes a task and writes its digests
to the ledger before it reports. The join reads the ledger alone: after a failure, whatever is in it is not read again. A ledger
is a folder of rows as `spec/plan.md` has them, so `mksum join --plan` reads it too, and it may hold what `mksum map` wrote:

    LEDGER/rows=digests/   rows of parts that were hashed, in any number of files, with `run` and `read_at`
    LEDGER/rows=verified/  the same of parts that a verification has read
    LEDGER/rows=errors/    parts that could not be hashed: the same rows, with `status` and `error` too
    LEDGER/rows=runs/      verifications that have ended: `run` and `ended_at`

An object that is replaced or deleted has a result with an error, never a wrong root: digests count only for the version that was
planned. A verification takes only digests of its own run as evidence, so whatever a ledger holds, its bytes are read.
"""

# pyarrow has no types.
# pyright: basic, reportMissingImports=false

import datetime
import functools
import itertools
import json
import os
import posixpath
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NotRequired, TypeAlias, TypedDict, cast

import mksum
from mksum._filesystems import adapter_of
from mksum._mksum import is_intact
from mksum._places import STORES, USED, located
from mksum.errors import ChangedError, MksumError, NotFoundError
from mksum.types import AnyPath, Format, HashedPart, Input, Part

PART = 64 << 20
"""The length of a part if none is given, in bytes."""
TASK = 1 << 30
"""The cost of a task if none is given, in bytes."""
REQUEST = 4 << 20
"""What an input costs beside its bytes: a request takes about as long as these."""
KINDS = ("digests", "verified", "errors", "runs")
"""The kinds of rows in a ledger."""
NOTHING = "nothing to hash: the source has no files or objects"
NO_ROOTS = "nothing to verify: no kept result has a root"
"""Why a job is refused whose empty result would look like success."""
Source: TypeAlias = AnyPath | Iterable[Input]
"""A URL, a path, a folder; or the inputs themselves."""
Links: TypeAlias = str
"""What becomes of symbolic links in a folder: `skip`, a result with the status `skipped`; `follow`, what they lead to."""
Bounds: TypeAlias = tuple[int, int, int]
"""A part of an input: its offset and length in bytes, its levels above the leaves."""


class Listed(Input):
    """An input of a source, or with `status` and `error` why it cannot be hashed."""

    status: NotRequired[str | None]
    error: NotRequired[str | None]


class Span(TypedDict):
    """Parts of one input."""

    path: str
    version: str
    size: int
    parts: list[Bounds]


class Result(TypedDict):
    """The root of an object, or why it has none."""

    object: str
    """The path of the file or the URL of the object."""
    etag: str
    """Its version when it was planned."""
    size: int
    """Its length in bytes."""
    format: str
    """The canonical text of the root's format."""
    root: str | None
    """The root as `mksum` prints it; None after an error."""
    status: str
    """`ok`; `changed`: it has another version now; `gone`: it is not there any more; `damaged`: it has another root than was
    kept; `not comparable`: its root was kept in another format; `skipped`: a symbolic link; `unfinished`: parts of it were not
    hashed; `failed`."""
    error: str | None
    """What happened, and where."""
    run: str
    """The run that this result is of."""
    verified_at: str | None
    """When the first of its bytes were read for this root: UTC, as `2026-03-01T12:00:00Z`. None if it has no root, or the ledger
    does not say, as of rows of `mksum map`."""


def inputs(source: Source, files: Any = None, symlinks: Links = "skip") -> Iterator[Listed]:
    """Yields the inputs of a source. What cannot be listed is one with an error.

    Args:
        source: The URL of an object, a bucket or a prefix; the path of a file or folder; or an iterable of inputs. ETags may
            be in quotes. Other names of the same places are read as mksum's: `s3a://`, `s3n://`, `gcs://`, `abfs://`, `file:/`,
            and `dbfs:/` as the folders `/dbfs` and `/Volumes`.
        files: A store of obstore, or a file system of fsspec or pyarrow.fs, that has them.
        symlinks: What becomes of the symbolic links in a folder.

    Raises:
        RefusedError: The scheme of the URL is unknown.
        FileError: The source is not there, or cannot be opened.
    """
    if not isinstance(source, str | bytes | os.PathLike):
        for item in source:
            # What could not be listed stays an input, with its error.
            is_wrong = item.get("error") is not None
            yield cast("Listed", item) if is_wrong else listed(item["path"], item["size"], item["version"], files)
        return
    if symlinks not in ("skip", "follow"):
        raise mksum.RefusedError(f"symlinks is {symlinks!r}: expected 'skip' or 'follow'")
    path = os.fsdecode(source)
    if files is not None:
        yield from _listed_by(files, path)
        return
    path = located(path)
    if "://" in path and not path.startswith(("http://", "https://")):
        found = (listed(row["path"], row["size"], row["version"]) for row in mksum.list_objects(path))
        first = next(found, None)
        yield from [_opened(path)] if first is None else itertools.chain([first], found)
    elif os.path.isdir(path):
        yield from _walked(path, symlinks)
    else:
        yield _opened(path)


def listed(path: Any, size: Any, version: Any, files: Any = None) -> Listed:
    """Returns an input of a list that others made, such as S3 Inventory; with an error if it is none."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        return unlisted("", "failed", f"a row of the listing has no path, but {path!r}")
    try:
        name = _text(name if files is not None else located(name))
        if not isinstance(version, str) or not hasattr(size, "__index__"):
            raise mksum.RefusedError(f"{name}: it is listed without a size or an ETag")
        if not 0 <= int(size) < 1 << 63:
            raise mksum.RefusedError(f"{name}: it is listed with a size of {size} bytes: expected 0 to 2^63-1")
    except MksumError as error:
        return unlisted(name, "failed", str(error))
    return {"path": name, "size": int(size), "version": version.strip('"')}


def asked(path: Any, size: Any = None, files: Any = None) -> Listed:
    """Returns an input of a list without versions, such as the metadata of a table, in the version that it has now.

    With an error if it is not there, or has another size than the list says, if it says one.
    """
    item = listed(path, 0 if size is None else size, "", files)
    if item.get("error") is not None:
        return item
    name = item["path"]
    try:
        if files is None:
            item = _opened(name)
        else:
            now, version = adapter_of(files).facts(name)
            item = listed(name, now, version, files)
    except FileNotFoundError:
        return unlisted(name, "gone", f"{name}: it is not there, although it is listed")
    except Exception as error:
        # Each package has exceptions of its own: the row says which.
        words = str(error) if isinstance(error, MksumError) else f"{name}: {type(error).__name__}: {error}"
        return unlisted(name, "failed", words)
    if size is not None and item["size"] != int(size):
        return unlisted(name, "failed", f"{name}: it is listed with {int(size)} bytes, and has {item['size']}")
    return item


def one_of(first: Listed, other: Listed) -> Listed:
    """Returns the one input of a path that is listed twice."""
    if (first["version"], first["size"]) == (other["version"], other["size"]):
        return first
    versions = " and ".join(f"{item['size']} bytes of version {item['version']!r}" for item in (first, other))
    return unlisted(first["path"], "failed", f"{first['path']}: it is listed twice, with {versions}")


def unlisted(path: str, status: str, error: str) -> Listed:
    """Returns an input that cannot be hashed, and why."""
    # A row is text, whatever bytes the name has.
    shown = os.fsencode(path).decode(errors="backslashreplace")
    error = error.replace(path, shown) if path else error
    return {"path": shown, "size": 0, "version": "", "status": status, "error": error}


def _walked(folder: str, symlinks: Links) -> Iterator[Listed]:
    """Yields the regular files below a folder, and why others are not read."""
    follow, errors, seen = symlinks == "follow", list[OSError](), set[str]()
    for place, folders, names in os.walk(folder, onerror=errors.append, followlinks=follow):
        if follow:
            # A link to a folder above it would never end.
            real = os.path.realpath(place)
            if real in seen:
                folders.clear()
                continue
            seen.add(real)
        folders.sort()
        links = [] if follow else [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in sorted([*names, *links]):
            yield from _found(os.path.join(place, name), follow)
    for error in errors:
        yield unlisted(error.filename, "failed", f"{error.filename}: the folder cannot be listed: {error.strerror}")


def _found(path: str, follow: bool) -> Iterator[Listed]:
    """Yields the file at a path, if it is one."""
    try:
        facts = os.stat(_text(path), follow_symlinks=follow)
    except mksum.RefusedError as error:
        yield unlisted(path, "failed", str(error))
        return
    except OSError as error:
        yield unlisted(path, "gone" if isinstance(error, FileNotFoundError) else "failed", f"{path}: {error.strerror}")
        return
    if stat.S_ISLNK(facts.st_mode):
        yield unlisted(path, "skipped", f"{path}: a symbolic link: symlinks='follow' hashes what it leads to")
    elif stat.S_ISREG(facts.st_mode):
        yield {"path": path, "size": facts.st_size, "version": _mtime(facts.st_mtime_ns)}


def _opened(path: str) -> Listed:
    """Returns the facts of one input, which is opened for them."""
    row = mksum.plan(path, "sha256")[0]
    return {"path": _text(path), "size": row["size"], "version": row["version"]}


def _text(path: str) -> str:
    """Refuses a path that no column of text can hold."""
    try:
        path.encode()
    except UnicodeEncodeError:
        words = f"{os.fsencode(path)!r}: the name is not UTF-8: use 'mksum plan', whose rows have its bytes"
        raise mksum.RefusedError(words) from None
    return path


def _mtime(nanoseconds: int) -> str:
    """The version of a file, as `spec/plan.md` has it."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"mtime:{seconds}.{rest:09}"


def _listed_by(files: Any, path: str) -> Iterator[Listed]:
    """Yields the files at or below a path of a store or file system of another package."""
    adapter = adapter_of(files)
    found = sorted(adapter.list(path))
    if not found:
        try:
            found = [(path, *adapter.facts(path))]
        except FileNotFoundError:
            raise NotFoundError(2, "No such file or directory", path) from None
    for key, size, version in found:
        yield {"path": adapter.path(key), "size": size, "version": version.strip('"')}


def planned(item: Input, fmt: Format, part: int) -> list[Bounds]:
    """Returns the parts of an input, from left to right."""
    rows = mksum.plan(item["path"], fmt, part=part, size=item["size"], version=item["version"])
    return [(row["offset"], row["length"], row["level"]) for row in rows]


def packed(wanted: Iterable[tuple[Input, Iterable[Bounds]]], cost: int = TASK) -> Iterator[list[Span]]:
    """Packs parts into tasks that cost about the same, as they come: neighbours stay together and in order.

    A part costs its bytes, and `REQUEST` more where an input or a task begins.
    """
    task: list[Span] = []
    spent = 0
    for item, parts in wanted:
        span: Span | None = None
        for bounds in parts:
            if span is None:
                span = {"path": item["path"], "version": item["version"], "size": item["size"], "parts": []}
                task.append(span)
                spent += REQUEST
            span["parts"].append(bounds)
            spent += bounds[1]
            if spent >= cost:
                yield task
                task, span, spent = [], None, 0
    if task:
        yield task


def rows_of(task: Iterable[Span], fmt: str) -> Iterator[Part]:
    """Yields the rows of a plan for the parts of a task."""
    for span in task:
        for offset, length, level in span["parts"]:
            yield {
                "kind": "range",
                "schema": 1,
                "path": span["path"],
                "version": span["version"],
                "size": span["size"],
                "format": fmt,
                "offset": offset,
                "length": length,
                "level": level,
            }


def hashed(task: Iterable[Span], fmt: str, *, threads: int | None = 1, files: Any = None) -> Iterator[dict[str, Any]]:
    """Hashes a task. Yields a row of the ledger for each part; or, with `status` and `error`, of `rows=errors`."""
    rows = rows_of(task, fmt)
    pairs = mksum.map_ranges(rows, threads=threads) if files is None else _hashed_from(rows, files)
    for row, result in pairs:
        if isinstance(result, MksumError):
            yield {**row, "status": _status(result, row["path"], files), "error": str(result)}
        else:
            yield cast("dict[str, Any]", result)


def _hashed_from(rows: Iterable[Part], files: Any) -> Iterator[tuple[Part, HashedPart | MksumError]]:
    """Hashes parts of files in a store or file system of another package, all of the version that was planned."""
    adapter = adapter_of(files)
    for row in rows:
        path, start, planned = row["path"], row["offset"], (row["size"], row["version"])
        try:
            size, version = adapter.facts(path)
            data: Any = b""
            if row["length"] and (size, version.strip('"')) == planned:
                size, version, data = adapter.read(path, start, start + row["length"], version)
            if (size, version.strip('"')) != planned:
                before = f"it had {planned[0]} bytes of version {planned[1]} when it was planned"
                raise ChangedError(f"{path}: {before}, and has {size} of version {version}")
            yield row, mksum.map_range(row, data)
        except MksumError as error:
            yield row, error
        except FileNotFoundError:
            yield row, NotFoundError(2, "No such file or directory", path)
        except Exception as error:
            # Each package has exceptions of its own: the row says which.
            yield row, mksum.FileError(f"{path}: {type(error).__name__}: {error}")


def _status(error: MksumError, path: str, files: Any) -> str:
    if isinstance(error, ChangedError):
        # An object that is deleted while it is read has changed, as the engine sees it. Whether it is still there is asked now.
        try:
            _opened(path) if files is None else adapter_of(files).facts(path)
        except FileNotFoundError:
            return "gone"
        except Exception:
            # It was there, and cannot be asked now.
            pass
        return "changed"
    return "gone" if isinstance(error, NotFoundError) else "failed"


def missing(item: Listed, fmt: str, part: int, rows: Iterable[dict[str, Any]]) -> list[Bounds]:
    """Returns the parts of an input that are not among the rows of a ledger; none of one that cannot be hashed."""
    if item.get("error") is not None:
        return []
    known = {bounds(row) for row in rows if is_of(row, item, fmt)}
    try:
        return [part for part in planned(item, fmt, part) if part not in known]
    except mksum.LengthError:
        # It has no root in this format: the join says so.
        return []


def bounds(row: dict[str, Any]) -> Bounds:
    """Returns the part that a row is about."""
    return row["offset"], row["length"], row["level"]


def is_of(row: dict[str, Any], item: Input, fmt: str) -> bool:
    """Whether a row of a ledger is of this version of an input, in this format, and as it was written."""
    return (row["version"], row["size"], row["format"]) == (item["version"], item["size"], fmt) and is_intact(row)


def joined(
    item: Listed, fmt: str, part: int, run: str, rows: Iterable[dict[str, Any]], errors: Iterable[dict[str, Any]] = ()
) -> Result:
    """Returns the root of an input from its rows in a ledger, or why it has none.

    Args:
        item: The input as it was planned.
        fmt: The canonical text of the format.
        part: The longest part, in bytes.
        run: The run that the result is of.
        rows: Rows of the ledger, in any order, also of other versions and formats, and twice.
        errors: Rows of `rows=errors` from the same run.
    """
    result: Result = {
        "object": item["path"],
        "etag": item["version"],
        "size": item["size"],
        "format": fmt,
        "root": None,
        "status": item.get("status") or "failed",
        "error": item.get("error"),
        "run": run,
        "verified_at": None,
    }
    if result["error"] is not None:
        return result
    intact: dict[Bounds, dict[str, Any]] = {}
    known = [row for row in rows if is_of(row, item, fmt)]
    for row in known:
        if intact.setdefault(bounds(row), row)["digest"] != row["digest"]:
            place = f"bytes {row['offset']}..{row['offset'] + row['length']}"
            result["error"] = f"{item['path']}: {place} have two digests in the ledger: hash them again with a new one"
            return result
    try:
        wanted = planned(item, fmt, part)
        lacking = [part for part in wanted if part not in intact]
        if lacking:
            failure = min(errors, key=lambda row: cast("int", row["offset"]), default=None)
            start, length, _ = lacking[0]
            words = f"{item['path']}: the ledger lacks bytes {start}..{start + length} and {len(lacking) - 1} parts more"
            result["status"] = failure["status"] if failure else "unfinished"
            result["error"] = failure["error"] if failure else words
            return result
        parts = cast("list[HashedPart]", [intact[part] for part in wanted])
        result["root"], result["status"] = mksum.join(parts).text, "ok"
        times = [row.get("read_at") for row in known]
        result["verified_at"] = min(cast("list[str]", times)) if all(times) else None
    except MksumError as error:
        result["error"] = str(error)
    return result


def to_compare(kept: Result, wanted: str | None, run: str, files: Any = None) -> Result:
    """Returns a kept result as a verification takes it; with `status` and `error` if its root cannot be compared.

    Args:
        kept: The result, which may be of an earlier version and lack fields.
        wanted: The canonical text of the only format to be compared; None is that of each root.
        run: The run of the verification.
        files: The store or file system that has the inputs.
    """
    item, spec = listed(kept["object"], kept["size"], kept["etag"], files), kept.get("format") or wanted
    status, error = item.get("status") or "ok", item.get("error")
    if error is None and spec is None:
        status, error = "failed", f"{item['path']}: the kept result does not say the format of its root: pass fmt"
    elif error is None and wanted not in (None, spec):
        status, error = "not comparable", f"{item['path']}: its root was kept in {spec}, and {wanted} was asked for"
    return {
        "object": item["path"],
        "etag": item["version"],
        "size": item["size"],
        "format": spec or "",
        "root": kept["root"] if error is None else None,
        "status": status,
        "error": error,
        "run": run,
        "verified_at": None,
    }


def compared(result: Result, kept: str) -> Result:
    """Returns a result after its root was compared with one that was kept."""
    if result["status"] == "ok" and result["root"] != kept:
        words = f"{result['object']}: its root was {kept} and is {result['root']}, with the same ETag and size"
        return {**result, "root": None, "status": "damaged", "error": words}
    return result


class Ledger:
    """A ledger in a folder: a path, or the URL of a prefix in a store (`s3://`, `gs://`, `az://`, `abfss://`, `hdfs://`; or of
    `mksum.use_store`, if the workers are threads)."""

    def __init__(self, folder: str) -> None:
        """Does not touch the folder.

        Raises:
            RefusedError: It is the URL of something else.
        """
        folder = (located(folder) if folder.startswith("file:") else folder).rstrip("/")
        scheme, has_scheme, _ = folder.partition("://")
        if has_scheme and scheme not in (*STORES, USED):
            words = f"{folder}: a ledger is in a folder, or in a store that mksum writes to ({', '.join(STORES)})"
            raise mksum.RefusedError(words)
        self.is_url = bool(has_scheme)
        self.folder = folder if self.is_url else os.path.abspath(folder)

    def write(self, rows: list[dict[str, Any]], kind: str = "digests") -> None:
        """Writes rows as a file of their own, which is there whole or not at all."""
        if not rows:
            return
        text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows).encode()
        # An attempt at a task never writes to the file of another one: who reads that meanwhile reads on.
        self.put(f"rows={kind}/part-{uuid.uuid4().hex}.json", text)

    def put(self, name: str, content: bytes) -> str:
        """Writes a file below the folder, which is there whole or not at all. Returns its path or URL."""
        path = posixpath.join(self.folder, name)
        if self.is_url:
            mksum.put_object(path, content)
            return path
        folder, name = os.path.split(path)
        os.makedirs(folder, exist_ok=True)
        # A name with a dot is not read.
        hidden = os.path.join(folder, f".{name}")
        with open(hidden, "wb") as out:
            out.write(content)
        os.rename(hidden, path)
        return path

    def files(self, below: str = "") -> list[str]:
        """Returns the paths or URLs of all files below a folder of it; of none if it is not there.

        Files and folders whose names begin with a dot or an underscore are not whole yet.
        """
        folder, errors = posixpath.join(self.folder, below).rstrip("/"), list[OSError]()
        try:
            if self.is_url:
                paths = [found["path"] for found in mksum.list_objects(f"{folder}/")]
            else:
                walk = os.walk(folder, onerror=errors.append)
                paths = [os.path.join(place, name) for place, _, names in walk for name in names]
        except NotFoundError:
            return []
        for error in errors:
            if not isinstance(error, FileNotFoundError):
                raise error
        parts = {path: path[len(folder) + 1 :].replace(os.sep, "/").split("/") for path in paths}
        return sorted(path for path in paths if not any(part.startswith((".", "_")) for part in parts[path]))

    def rows(self, kind: str = "digests") -> Iterator[dict[str, Any]]:
        """Yields the rows. A line that cannot be read, as a writer leaves it that was killed, is left out: it is missing."""
        paths = self.files(f"rows={kind}")
        for content in mksum.get_objects(paths) if self.is_url else map(_content, paths):
            for line in content.splitlines():
                row = _read(line)
                if row is not None:
                    yield row


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    is_row = isinstance(row, dict) and row.get("schema") == 1 and row.get("kind") in ("digest", "range", "run")
    return {"digest": None, **row} if is_row else None


def compact(ledger: str, into: str | None = None) -> tuple[int, int]:
    """Rewrites the rows of a ledger as one file of each kind: a job leaves a file for each task. No job may use it meanwhile.

    A row that is there twice is kept once. Errors, and parts with two digests, stay; so does a file with a line that cannot be
    read. The new file is there before an old one is deleted, so a call that ended early loses nothing and is repeated.

    Args:
        ledger: The ledger.
        into: A new ledger for the rows, if this one is to stay as it is; needed for one in a store, where nothing is deleted.

    Returns:
        The numbers of files before and after.

    Raises:
        RefusedError: The ledger is in a store, and there is no `into`.
        FileError: A file cannot be read, written or deleted.
    """
    place = Ledger(ledger)
    target = place if into is None else Ledger(into)
    if place.is_url and into is None:
        raise mksum.RefusedError(f"{ledger}: files in stores are not deleted: name a new ledger (into=…)")
    before = after = 0
    for kind in KINDS:
        paths = place.files(f"rows={kind}")
        contents = mksum.get_objects(paths) if place.is_url else map(_content, paths)
        rows, done = dict[str, dict[str, Any]](), list[str]()
        for path, content in zip(paths, contents, strict=True):
            found = [_read(line) for line in content.splitlines()]
            is_whole = None not in found
            if is_whole:
                done.append(path)
            if is_whole or into is not None:
                for row in found:
                    _keep(rows, row, kind)
        before += len(paths)
        after += len(paths)
        if into is None and len(done) < 2:
            continue
        target.write(list(rows.values()), kind)
        after += bool(rows) - len(done if into is None else paths)
        for path in done if into is None else ():
            os.unlink(path)
    return before, after


def _keep(rows: dict[str, dict[str, Any]], row: dict[str, Any] | None, kind: str) -> None:
    """Adds a row, unless it is there: of two, the one without a time, or with the earlier one, which the result has then."""
    if row is None:
        return
    if row["digest"] is None:
        del row["digest"]
    # Digests of verifications are evidence of their own run alone.
    apart = {"read_at", "run"} if kind == "digests" else {"read_at"}
    key = json.dumps({name: value for name, value in row.items() if name not in apart}, sort_keys=True)
    known = rows.setdefault(key, row)
    if str(row.get("read_at") or "") < str(known.get("read_at") or ""):
        rows[key] = row


def work(task: list[Span], ledger: Ledger, run: str, kind: str, fmt: str, threads: int | None = 1, files: Any = None) -> int:
    """Hashes a task and writes its rows to the ledger: what a worker does. Returns the number of bytes hashed."""
    rows = list(read_in(run, hashed(task, fmt, threads=threads, files=files)))
    ledger.write([row for row in rows if "error" not in row], kind)
    ledger.write([row for row in rows if "error" in row], "errors")
    return sum(row["length"] for row in rows if "error" not in row)


def read_in(run: str, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields rows that are hashed now, with their run, and for each a time before its bytes were read."""
    time = now()
    for row in rows:
        yield {**row, "run": run, "read_at": time}
        time = now()


def now() -> str:
    """Returns the time in UTC, as `2026-03-01T12:00:00Z`."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run() -> str:
    """Returns the name of a run that nobody named."""
    return uuid.uuid4().hex


Each: TypeAlias = Callable[[Callable[[list[Span]], int], Iterable[list[Span]]], Iterable[int]]
"""Calls a function with each task on some worker, and yields the results as they come: `map` does it here."""
OnPlan: TypeAlias = Callable[[int, int], object]
"""Called with the bytes that a job will read, and the number of inputs that have them."""


def hash(
    source: Source,
    ledger: str,
    fmt: Format = "rfc6962",
    *,
    each: Each = map,
    part: int = PART,
    task: int = TASK,
    threads: int | None = 1,
    files: Any = None,
    symlinks: Links = "skip",
    on_plan: OnPlan | None = None,
    on_progress: Callable[[int], object] | None = None,
) -> list[Result]:
    """Returns the roots of all inputs of a source, hashed by workers; what is in the ledger is not read again.

    The inputs and the digests are in this process's memory; `mksum.spark` is for more than it holds.

    Args:
        source: A URL, a path, a folder; or inputs.
        ledger: A folder that all workers can write to: a path, or the URL of a prefix in a store.
        fmt: The format.
        each: Who calls a function with each task: `map`, or `concurrent.futures.Executor.map`.
        part: The longest part, in bytes. Parts in the ledger that have other bounds are read again.
        task: The cost of a task, in bytes: its bytes, and 4 MiB for each input. A worker that dies loses the tasks in its hands.
        threads: The threads of a task; None is as many as the machine has cores.
        files: A store of obstore, or a file system of fsspec or pyarrow.fs, that has the inputs.
        symlinks: What becomes of the symbolic links in a folder.
        on_plan: Called before the first task with the bytes that the ledger lacks and the number of inputs that have them; by
            `verify`, once for each format of its roots. `on_progress` comes to the sum of these bytes if nothing fails.
        on_progress: Called with the bytes of each task when it is done.

    Returns:
        A result for each input, in their order.

    Raises:
        RefusedError: There are no inputs: an empty list would look like success.
    """
    options: Any = {"each": each, "part": part, "task": task, "threads": threads, "files": files}
    found = inputs(source, files, symlinks)
    options |= {"on_plan": on_plan, "on_progress": on_progress}
    return _hashed_in(new_run(), "digests", found, Ledger(ledger), fmt, **options)


def _hashed_in(
    run: str,
    kind: str,
    source: Iterable[Listed],
    place: Ledger,
    fmt: Format,
    *,
    each: Each = map,
    part: int = PART,
    task: int = TASK,
    threads: int | None = 1,
    files: Any = None,
    on_plan: OnPlan | None = None,
    on_progress: Callable[[int], object] | None = None,
) -> list[Result]:
    """Returns the roots of inputs from a ledger's rows of a kind, after a run has hashed what these lack.

    Rows of verifications are taken from their own run alone.
    """

    def known() -> dict[str, list[dict[str, Any]]]:
        return _by_path(row for row in place.rows(kind) if kind != "verified" or row.get("run") == run)

    spec, items = canonical(fmt), dict[str, Listed]()
    for item in source:
        items[item["path"]] = one_of(items.get(item["path"], item), item)
    if not items:
        raise mksum.RefusedError(NOTHING)
    rows = known()
    wanted: Iterable[tuple[Listed, list[Bounds]]]
    wanted = ((item, missing(item, spec, part, rows.get(path, ()))) for path, item in items.items())
    if on_plan is not None:
        wanted = list(wanted)
        lengths = [sum(length for _, length, _ in parts) for _, parts in wanted if parts]
        on_plan(sum(lengths), len(lengths))
    call = functools.partial(work, ledger=place, run=run, kind=kind, fmt=spec, threads=threads, files=files)
    for count in each(call, packed(wanted, task)):
        if on_progress is not None:
            on_progress(count)
    rows = known()
    errors = _by_path(row for row in place.rows("errors") if row.get("run") == run)
    return [joined(item, spec, part, run, rows.get(path, ()), errors.get(path, ())) for path, item in items.items()]


def _by_path(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["path"], []).append(row)
    return found


def verify(
    kept: Iterable[Result], ledger: str, fmt: Format | None = None, *, run: str | None = None, **options: Any
) -> list[Result]:
    """Reads objects again and compares their roots with those that were kept.

    Digests of other runs are no evidence: whatever the ledger holds, every byte is read.

    Args:
        kept: Results of an earlier `hash`; those without a root are left out. A random sample of them finds decay
            at a part of the cost.
        ledger: A folder that all workers can write to; that of `hash` or an earlier `verify` will do.
        fmt: The format of the roots, if they do not have it; roots in another one are `not comparable`.
        run: A name for this verification. With the same name, one that was interrupted goes on and reads what is missing.
        options: Those of `hash`.

    Returns:
        A result for each: `damaged` if its bytes have another root now, `changed` if it was replaced, `gone` if it was deleted.

    Raises:
        RefusedError: The run has ended, or no kept result has a root, so it would read nothing.
    """
    place = Ledger(ledger)
    if any(row["run"] == run for row in place.rows("runs")):
        raise mksum.RefusedError(ended(ledger, run))
    run, wanted, files = run or new_run(), None if fmt is None else canonical(fmt), options.get("files")
    rows = [to_compare(row, wanted, run, files) for row in kept if row["root"] is not None]
    if not rows:
        raise mksum.RefusedError(NO_ROOTS)
    results = [row for row in rows if row["status"] != "ok"]
    for spec in sorted({row["format"] for row in rows if row["status"] == "ok"}):
        roots = {row["object"]: row for row in rows if (row["status"], row["format"]) == ("ok", spec)}
        source = (listed(row["object"], row["size"], row["etag"], files) for row in roots.values())
        found = _hashed_in(run, "verified", source, place, spec, **options)
        results += [compared(result, cast("str", roots[result["object"]]["root"])) for result in found]
    if not any(result["status"] in ("failed", "unfinished") for result in results):
        place.write([{"kind": "run", "schema": 1, "run": run, "ended_at": now()}], "runs")
    return results


def canonical(fmt: Format) -> str:
    """Returns the canonical text of a format."""
    return str(mksum.Spec(fmt) if isinstance(fmt, str) else fmt)


def ended(ledger: str, run: str | None) -> str:
    """Why a verification is refused whose run has ended."""
    return f"{ledger}: the verification '{run}' has ended, so it would read nothing: give this one another run, or none"


__all__ = ["Ledger", "Result", "compact", "hash", "inputs", "listed", "unlisted", "verify"]
