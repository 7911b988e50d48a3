"""Trees in parts on many machines: what `mksum.spark`, `mksum.dask` and `mksum.ray` share.

Inputs are planned in parts, and parts are packed into tasks of about the same cost. A worker hashes a task and writes its digests
to the ledger before it reports. The join reads the ledger alone: after a failure, whatever is in it is not read again. A ledger
is a folder of rows as `spec/plan.md` has them, so `mksum join --plan` reads it too, and it may hold what `mksum map` wrote:

    LEDGER/rows=digests/   rows of parts that were hashed, in any number of files
    LEDGER/rows=errors/    parts that could not be hashed: the same rows, with `run`, `status` and `error`

An object that is replaced or deleted has a result with an error, never a wrong root: digests count only for the version that was
planned.
"""

# pyarrow has no types.
# pyright: basic, reportMissingImports=false

import functools
import itertools
import json
import os
import posixpath
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypedDict, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

import mksum
from mksum._mksum import is_intact
from mksum.errors import ChangedError, MksumError, NotFoundError
from mksum.types import AnyPath, Format, HashedPart, Input, Part

PART = 64 << 20
"""The length of a part if none is given, in bytes."""
TASK = 1 << 30
"""The cost of a task if none is given, in bytes."""
REQUEST = 4 << 20
"""What an input costs beside its bytes: a request takes about as long as these."""
STORES = ("s3", "gs", "az", "abfss", "hdfs")
"""The schemes of the stores that can have a ledger, written and read with the credentials of the environment."""

Source: TypeAlias = AnyPath | Iterable[Input]
"""A URL, a path, a folder; or the inputs themselves."""
Bounds: TypeAlias = tuple[int, int, int]
"""A part of an input: its offset and length in bytes, its levels above the leaves."""


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
    root: str | None
    """The root as `mksum` prints it; None after an error."""
    status: str
    """`ok`; `changed`: it has another version now; `gone`: it is not there any more; `damaged`: it has another root than was
    kept; `unfinished`: parts of it were not hashed; `failed`."""
    error: str | None
    """What happened, and where."""


def inputs(source: Source, files: Any = None) -> Iterator[Input]:
    """Yields the inputs of a source.

    Args:
        source: The URL of an object, a bucket or a prefix; the path of a file or folder; or an iterable of inputs. ETags may
            be in quotes.
        files: A `pyarrow.fs.FileSystem` that has them; of fsspec, `PyFileSystem(FSSpecHandler(…))`.
    """
    if not isinstance(source, str | bytes | os.PathLike):
        for item in source:
            yield {"path": item["path"], "size": item["size"], "version": item["version"].strip('"')}
        return
    path = os.fsdecode(source)
    if files is not None:
        yield from _listed_by(files, path)
    elif "://" in path and not path.startswith(("http://", "https://", "file://")):
        listed = iter(mksum.list_objects(path))
        first = next(listed, None)
        yield from [_opened(path)] if first is None else itertools.chain([first], listed)
    elif os.path.isdir(path):
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                found = os.path.join(folder, name)
                facts = os.lstat(found)
                if stat.S_ISREG(facts.st_mode):
                    yield {"path": _text(found), "size": facts.st_size, "version": _mtime(facts.st_mtime_ns)}
    else:
        yield _opened(path)


def _opened(path: str) -> Input:
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


def _listed_by(files: Any, path: str) -> Iterator[Input]:
    """Yields the files at or below a path of a `pyarrow.fs.FileSystem`."""
    from pyarrow.fs import FileSelector, FileType

    found = files.get_file_info(path)
    if found.type == FileType.NotFound:
        raise NotFoundError(2, "No such file or directory", path)
    several = [found] if found.type == FileType.File else files.get_file_info(FileSelector(path, recursive=True))
    for info in sorted(several, key=lambda info: cast("str", info.path)):
        if info.type == FileType.File:
            yield {"path": info.path, "size": info.size, "version": _mtime(info.mtime_ns)}


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
            yield {**row, "status": _status(result, row["path"]), "error": str(result)}
        else:
            yield cast("dict[str, Any]", result)


def _hashed_from(rows: Iterable[Part], files: Any) -> Iterator[tuple[Part, HashedPart | MksumError]]:
    """Hashes parts of files of a `pyarrow.fs.FileSystem`, each of which is compared with itself before and after it is read."""
    for row in rows:
        try:
            _compare(row, files)
            with files.open_input_file(row["path"]) as file:
                data = file.read_at(row["length"], row["offset"])
            _compare(row, files)
            yield row, mksum.map_range(row, data)
        except MksumError as error:
            yield row, error
        except OSError as error:
            yield row, mksum.FileError(f"{row['path']}: {error}")


def _compare(row: Part, files: Any) -> None:
    """Refuses a file that is not as it was planned."""
    from pyarrow.fs import FileType

    found = files.get_file_info(row["path"])
    if found.type != FileType.File:
        raise NotFoundError(2, "No such file or directory", row["path"])
    if (found.size, _mtime(found.mtime_ns)) != (row["size"], row["version"]):
        before = f"it had {row['size']} bytes of version {row['version']} when it was planned"
        raise ChangedError(f"{row['path']}: {before}, and has {found.size} of version {_mtime(found.mtime_ns)}")


def _status(error: MksumError, path: str) -> str:
    if isinstance(error, ChangedError):
        # An object that is deleted while it is read has changed, as the engine sees it. Whether it is still there is asked now.
        try:
            _opened(path)
        except NotFoundError:
            return "gone"
        except MksumError:
            pass
        return "changed"
    return "gone" if isinstance(error, NotFoundError) else "failed"


def missing(item: Input, fmt: str, part: int, rows: Iterable[dict[str, Any]]) -> list[Bounds]:
    """Returns the parts of an input that are not among the rows of a ledger."""
    known = {bounds(row) for row in rows if is_of(row, item, fmt)}
    return [part for part in planned(item, fmt, part) if part not in known]


def bounds(row: dict[str, Any]) -> Bounds:
    """Returns the part that a row is about."""
    return row["offset"], row["length"], row["level"]


def is_of(row: dict[str, Any], item: Input, fmt: str) -> bool:
    """Whether a row of a ledger is of this version of an input, in this format, and as it was written: otherwise it is missing."""
    return (row["version"], row["size"], row["format"]) == (item["version"], item["size"], fmt) and is_intact(row)


def joined(
    item: Input, fmt: str, part: int, rows: Iterable[dict[str, Any]], errors: Iterable[dict[str, Any]] = ()
) -> Result:
    """Returns the root of an input from its rows in a ledger, or why it has none.

    Args:
        item: The input as it was planned.
        fmt: The canonical text of the format.
        part: The longest part, in bytes.
        rows: Rows of the ledger, in any order, also of other versions and formats, and twice.
        errors: Rows of `rows=errors` from the same run.
    """
    result: Result = {
        "object": item["path"],
        "etag": item["version"],
        "size": item["size"],
        "root": None,
        "status": "failed",
        "error": None,
    }
    known: dict[Bounds, dict[str, Any]] = {}
    for row in rows:
        if is_of(row, item, fmt) and known.setdefault(bounds(row), row)["digest"] != row["digest"]:
            place = f"bytes {row['offset']}..{row['offset'] + row['length']}"
            result["error"] = f"{item['path']}: {place} have two digests in the ledger: hash them again with a new one"
            return result
    try:
        wanted = planned(item, fmt, part)
        lacking = [part for part in wanted if part not in known]
        if lacking:
            failure = min(errors, key=lambda row: cast("int", row["offset"]), default=None)
            start, length, _ = lacking[0]
            words = f"{item['path']}: the ledger lacks bytes {start}..{start + length} and {len(lacking) - 1} parts more"
            result["status"] = failure["status"] if failure else "unfinished"
            result["error"] = failure["error"] if failure else words
            return result
        parts = cast("list[HashedPart]", [known[part] for part in wanted])
        result["root"], result["status"] = mksum.join(parts).text, "ok"
    except MksumError as error:
        result["error"] = str(error)
    return result


def compared(result: Result, kept: str | None) -> Result:
    """Returns a result after its root was compared with one that was kept."""
    if result["status"] == "ok" and kept is not None and result["root"] != kept:
        words = f"{result['object']}: its root was {kept} and is {result['root']}, with the same ETag and size"
        return {**result, "root": None, "status": "damaged", "error": words}
    return result


class Ledger:
    """A ledger in a folder: a path, or the URL of a prefix in a store (`s3://`, `gs://`, `az://`, `abfss://`, `hdfs://`)."""

    def __init__(self, folder: str) -> None:
        """Does not touch the folder.

        Raises:
            RefusedError: It is the URL of something else.
        """
        folder = url2pathname(urlsplit(folder).path) if folder.startswith("file:") else folder.rstrip("/")
        scheme, has_scheme, _ = folder.partition("://")
        if has_scheme and scheme not in STORES:
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
        folder, name = posixpath.join(self.folder, f"rows={kind}"), f"part-{uuid.uuid4().hex}.json"
        if self.is_url:
            mksum.put_object(posixpath.join(folder, name), text)
            return
        os.makedirs(folder, exist_ok=True)
        # A name with a dot is not read.
        hidden = os.path.join(folder, f".{name}")
        with open(hidden, "wb") as out:
            out.write(text)
        os.rename(hidden, os.path.join(folder, name))

    def rows(self, kind: str = "digests") -> Iterator[dict[str, Any]]:
        """Yields the rows. A line that cannot be read, as a writer leaves it that was killed, is left out: it is missing."""
        paths = self._paths(posixpath.join(self.folder, f"rows={kind}"))
        for content in mksum.get_objects(paths) if self.is_url else map(_content, paths):
            for line in content.splitlines():
                row = _read(line)
                if row is not None:
                    yield row

    def _paths(self, folder: str) -> list[str]:
        """The files of a folder that are read; of none if it is not there."""
        try:
            if self.is_url:
                paths = [found["path"] for found in mksum.list_objects(f"{folder}/")]
            else:
                paths = [found.path for found in os.scandir(folder) if found.is_file()]
        except (NotFoundError, FileNotFoundError):
            return []
        return sorted(path for path in paths if not path[len(folder) + 1 :].startswith((".", "_")))


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    is_row = isinstance(row, dict) and row.get("schema") == 1 and row.get("kind") in ("digest", "range")
    return {"digest": None, **row} if is_row else None


def work(task: list[Span], ledger: Ledger, run: str, fmt: str, threads: int | None = 1, files: Any = None) -> int:
    """Hashes a task and writes its rows to the ledger: what a worker does. Returns the number of bytes hashed."""
    rows = list(hashed(task, fmt, threads=threads, files=files))
    ledger.write([row for row in rows if "error" not in row])
    ledger.write([{**row, "run": run} for row in rows if "error" in row], "errors")
    return sum(row["length"] for row in rows if "error" not in row)


Each: TypeAlias = Callable[[Callable[[list[Span]], int], Iterable[list[Span]]], Iterable[int]]
"""Calls a function with each task on some worker, and yields the results as they come: `map` does it here."""


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
    on_progress: Callable[[int], object] | None = None,
) -> list[Result]:
    """Returns the roots of all inputs of a source, hashed by workers; what is in the ledger is not read again.

    The inputs and the digests are in this process's memory; `mksum.spark` is for more than it holds.

    Args:
        source: A URL, a path, a folder; or inputs.
        ledger: A folder that all workers can write to: a path, or the URL of a prefix in a store.
        fmt: The format.
        each: Who calls a function with each task: `map`, or `concurrent.futures.Executor.map`.
        part: The longest part, in bytes.
        task: The cost of a task, in bytes: its bytes, and 4 MiB for each input. A worker that dies loses the tasks in its hands.
        threads: The threads of a task; None is as many as the machine has cores.
        files: A `pyarrow.fs.FileSystem` that has the inputs.
        on_progress: Called with the bytes of each task when it is done.

    Returns:
        A result for each input, in their order.
    """
    spec, place, run = str(mksum.Spec(fmt) if isinstance(fmt, str) else fmt), Ledger(ledger), uuid.uuid4().hex
    items = list({item["path"]: item for item in inputs(source, files)}.values())
    known = _by_path(place.rows())
    wanted = ((item, missing(item, spec, part, known.get(item["path"], ()))) for item in items)
    call = functools.partial(work, ledger=place, run=run, fmt=spec, threads=threads, files=files)
    for count in each(call, packed(wanted, task)):
        if on_progress is not None:
            on_progress(count)
    known = _by_path(place.rows())
    errors = _by_path(row for row in place.rows("errors") if row.get("run") == run)
    return [joined(item, spec, part, known.get(item["path"], ()), errors.get(item["path"], ())) for item in items]


def _by_path(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["path"], []).append(row)
    return found


def verify(kept: Iterable[Result], ledger: str, fmt: Format = "rfc6962", **options: Any) -> list[Result]:
    """Reads objects again and compares their roots with those that were kept, with a new ledger.

    Args:
        kept: Results of an earlier `hash`; those without a root are left out. A random sample of them finds decay
            at a part of the cost.
        ledger: An empty folder; after a failure the same again.
        fmt: The format of the roots.
        options: Those of `hash`.

    Returns:
        A result for each: `damaged` if its bytes have another root now, `changed` if it was replaced, `gone` if it was deleted.
    """
    rows = [row for row in kept if row["root"] is not None]
    source: list[Input] = [{"path": row["object"], "size": row["size"], "version": row["etag"]} for row in rows]
    roots = {row["object"]: row["root"] for row in rows}
    return [compared(result, roots[result["object"]]) for result in hash(source, ledger, fmt, **options)]


__all__ = ["Ledger", "Result", "hash", "inputs", "verify"]
