"""Results and ledgers as Parquet, and inventories of buckets as inputs: `pip install mksum[tables]`.

    FOLDER/run=RUN/part-….parquet               results: a row for each object, with the columns of `RESULTS`
    FOLDER/run=RUN/rows=KIND/part-….parquet     rows of a ledger (`mksum.cluster`), with the columns of `ROWS`

`run` and `rows` are in the names of the folders, as every engine reads them. A row that does not fit into the columns stays a
row, with an error. Folders are paths, or URLs in stores that mksum writes to.
"""

# pyarrow has no types.
# pyright: basic, reportMissingImports=false

import csv
import gzip
import hashlib
import importlib
import io
import itertools
import json
import os
import pathlib
import posixpath
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, cast
from urllib.parse import quote, unquote, unquote_plus

import pyarrow as pa
import pyarrow.parquet as pq

import mksum
from mksum._places import located
from mksum.cluster import KINDS, Ledger, Listed, Result, listed, unlisted
from mksum.types import AnyPath

RESULTS = pa.schema(
    [(name, pa.int64() if name == "size" else pa.string()) for name in Result.__annotations__ if name != "run"],
)
"""The columns of results, beside `run`."""
ROWS = pa.schema(
    [
        ("kind", pa.string()),
        ("schema", pa.int32()),
        ("path", pa.string()),
        ("path_base64", pa.string()),
        ("version", pa.string()),
        ("size", pa.int64()),
        ("format", pa.string()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("level", pa.int32()),
        ("digest", pa.string()),
        ("crc32", pa.string()),
        ("unit", pa.int64()),
        ("units", pa.string()),
        ("read_at", pa.string()),
        ("ended_at", pa.string()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("line", pa.string()),
    ]
)
"""The columns of rows of a ledger, beside `run` and `rows`. `line` is the row as JSON where it does not fit into the others."""
GROUP = 100_000
"""The rows that are in memory at a time, and in a row group."""


def write_results(results: Iterable[Result], folder: AnyPath) -> list[str]:
    """Writes results as Parquet files, at least one for each run.

    A field that is no text or number of its column becomes null; the row has the status `failed` and an error then.

    Args:
        results: Results of `hash` and `verify` of the cluster modules.
        folder: A new folder, or one with results of other runs.

    Returns:
        The paths or URLs of the files. Each is there whole or not at all.

    Raises:
        FileError: A file cannot be written.
    """
    written: list[str] = []
    left = iter(results)
    while several := list(itertools.islice(left, GROUP)):
        by_run: dict[str, list[dict[str, Any]]] = {}
        for result in several:
            row = _fitting(cast("dict[str, Any]", result))
            by_run.setdefault(row.pop("run"), []).append(row)
        for run, rows in by_run.items():
            written.append(_write(os.fsdecode(folder), _partition("run", run), rows, RESULTS))
    return written


def read_results(folder: AnyPath, *, run: str | None = None) -> Iterator[Result]:
    """Yields the results in a folder.

    Args:
        folder: The folder of `write_results`.
        run: The only run that is read; all, if it is None.

    Raises:
        FileError: A file cannot be read; a damaged file is an error, and none of its rows are left out.
    """
    for parts, row in _read(os.fsdecode(folder)):
        if run is None or parts.get("run", "") == run:
            yield cast("Result", {**{name: row.get(name) for name in RESULTS.names}, "run": parts.get("run", "")})


def write_ledger(ledger: str, folder: AnyPath) -> int:
    """Writes the rows of a ledger as Parquet files, by run and kind. The ledger stays as it is.

    Returns:
        The number of rows.
    """
    count, place = 0, Ledger(ledger)
    for kind in KINDS:
        left = place.rows(kind)
        while several := list(itertools.islice(left, GROUP)):
            by_run: dict[str, list[dict[str, Any]]] = {}
            for row in several:
                run = row.get("run")
                by_run.setdefault(run if isinstance(run, str) else "", []).append(_columns(row))
            for run, rows in by_run.items():
                _write(os.fsdecode(folder), f"{_partition('run', run)}/rows={kind}", rows, ROWS)
            count += len(several)
    return count


def read_ledger(folder: AnyPath, ledger: str) -> int:
    """Writes the rows of `write_ledger` into a ledger, with which jobs go on then.

    Returns:
        The number of rows.
    """
    place, count = Ledger(ledger), 0
    for (run, kind), several in itertools.groupby(
        _read(os.fsdecode(folder)), key=lambda found: (found[0].get("run", ""), found[0].get("rows", ""))
    ):
        if kind not in KINDS:
            raise mksum.RefusedError(f"{os.fsdecode(folder)}: it has files that are not rows of a ledger, but 'rows={kind}'")
        rows = (_row_of(row, run) for _, row in several)
        while group := list(itertools.islice(rows, GROUP)):
            place.write(group, kind)
            count += len(group)
    return count


def _fitting(result: dict[str, Any]) -> dict[str, Any]:
    """A result as the columns take it."""
    row: dict[str, Any] = {}
    wrong: list[str] = []
    for name in [*RESULTS.names, "run"]:
        value = result.get(name)
        if isinstance(value, str) and name != "size":
            # A name that is not UTF-8 is shown.
            row[name] = value.encode(errors="surrogateescape").decode(errors="backslashreplace")
        elif value is None or (name == "size" and _is_number(value, 63)):
            row[name] = value
        else:
            row[name] = None
            wrong.append(f"{name} {value!r}")
    if wrong:
        error = f"{row['object']}: a row whose fields have other types than results have: {', '.join(wrong)}"
        row |= {"root": None, "status": "failed", "error": f"{row['error']}; {error}" if row["error"] else error}
    return {**row, "run": row["run"] or ""}


def _is_number(value: Any, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << bits


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a ledger in the columns, or as a line if it does not fit."""
    numbers = {"schema": 31, "level": 31, "size": 63, "offset": 63, "length": 63, "unit": 63}
    fits = all(
        value is None or (_is_number(value, numbers[name]) if name in numbers else isinstance(value, str) and value.isprintable())
        for name, value in row.items()
        if name in ROWS.names
    )
    if fits and set(row) <= {*ROWS.names, "run"} - {"line"}:
        return {name: row.get(name) for name in ROWS.names}
    shown = row.get("path")
    return {"path": shown if isinstance(shown, str) and shown.isprintable() else None, "line": json.dumps(row)}


def _row_of(row: dict[str, Any], run: str) -> dict[str, Any]:
    """The row of a ledger that is in these columns."""
    if row["line"] is not None:
        return cast("dict[str, Any]", json.loads(row["line"]))
    found = {name: value for name, value in row.items() if value is not None}
    return {**found, "run": run} if run else found


def _partition(name: str, value: str) -> str:
    """The folder of a value, as Hive has it."""
    return f"{name}={quote(value, safe=' ') or '__HIVE_DEFAULT_PARTITION__'}"


def _value(folder: str) -> tuple[str, str]:
    name, _, value = folder.partition("=")
    return name, "" if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value)


def _write(folder: str, below: str, rows: list[dict[str, Any]], schema: Any) -> str:
    """Writes a file, which is there whole or not at all; returns its path."""
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), buffer, compression="zstd")
    place = Ledger(posixpath.join(folder, below))
    return place.put(f"part-{uuid.uuid4().hex}.parquet", buffer.getvalue().to_pybytes())


def _read(folder: str) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Yields the rows of all Parquet files below a folder, with what the names of their folders say."""
    place = Ledger(folder)
    paths = [path for path in place.files() if path.endswith(".parquet")]
    contents = mksum.get_objects(paths) if place.is_url else (pathlib.Path(path).read_bytes() for path in paths)
    for path, content in zip(paths, contents, strict=True):
        folders = path[len(place.folder) + 1 :].replace(os.sep, "/").split("/")[:-1]
        parts = dict(_value(name) for name in folders if "=" in name)
        try:
            for batch in pq.ParquetFile(pa.BufferReader(content)).iter_batches():
                yield from ((parts, row) for row in batch.to_pylist())
        except pa.ArrowException as error:
            raise mksum.FileError(f"{path}: not a whole Parquet file: {error}") from None


def inventory(manifest: AnyPath, *, bucket: str | None = None) -> Iterator[Listed]:
    """Yields the objects of an S3 Inventory, for `hash` of `mksum.cluster`, `mksum.dask` and `mksum.ray`: nothing is listed.

    The inventory must have the fields Size and ETag. Of buckets with versions, the current ones are taken. Each of its files is
    compared with the MD5 that the manifest has. A row without a size or an ETag, and a file that is not there or damaged, is an
    input with an error: it has a result.

    Args:
        manifest: The path or URL of `manifest.json`. The files of a copy of an inventory lie beside it as in the bucket.
        bucket: The URL of the bucket with the objects: `s3://` and the name that the inventory has, if None.

    Raises:
        RefusedError: It is not a manifest, or its files are not CSV, Parquet or ORC, or lack a field that is needed.
        FileError: It cannot be read.
    """
    name = located(os.fsdecode(manifest))
    content = _content(name)
    try:
        found = json.loads(content)
        kind, schema, files = found["fileFormat"].upper(), found["fileSchema"], found["files"]
        keys = [(file["key"], file["MD5checksum"]) for file in files]
        source = found["sourceBucket"]
        if not all(isinstance(text, str) for text in [schema, source, *itertools.chain(*keys)]):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise mksum.RefusedError(f"{name}: not the manifest of an S3 Inventory") from None
    if kind not in INVENTORIES:
        raise mksum.RefusedError(f"{name}: an inventory as {kind}: expected CSV, Parquet or ORC")
    fields = [field.strip().lower() for field in schema.split(",")] if kind == "CSV" else []
    if fields and (lacking := [field for field in ("key", "size", "etag") if field not in fields]):
        raise mksum.RefusedError(f"{name}: the inventory has no field {lacking[0]}: add it to its configuration")
    return _inventory(name, kind, fields, keys, bucket or f"s3://{source}")


def _inventory(name: str, kind: str, fields: list[str], keys: list[tuple[str, str]], bucket: str) -> Iterator[Listed]:
    for key, checksum in keys:
        place = _beside(name, key)
        try:
            content = _content(place)
            if (md5 := hashlib.md5(content, usedforsecurity=False).hexdigest()) != checksum.lower():
                yield unlisted(place, "failed", f"{place}: a file of the inventory: expected the MD5 {checksum}, found {md5}")
                continue
            for row in INVENTORIES[kind](content, fields):
                if _is_true(row, "is_latest", "islatest", default=True) and not _is_true(
                    row, "is_delete_marker", "isdeletemarker"
                ):
                    yield _of_inventory(row, bucket)
        except mksum.NotFoundError as error:
            yield unlisted(place, "gone", str(error))
        except (mksum.MksumError, pa.ArrowException, OSError, ValueError, csv.Error, EOFError) as error:
            yield unlisted(place, "failed", f"{place}: a file of the inventory: {error}")


def _of_csv(content: bytes, fields: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of a file in CSV, whose keys are encoded as in a query."""
    with gzip.open(io.BytesIO(content), "rt", encoding="utf-8", newline="") as lines:
        for number, values in enumerate(csv.reader(lines), 1):
            if len(values) != len(fields):
                yield {"key": None, "why": f"line {number} has {len(values)} fields, not {len(fields)}"}
                continue
            row: dict[str, Any] = dict(zip(fields, values, strict=True))
            size = row["size"]
            row |= {"key": unquote_plus(row["key"], errors="surrogateescape"), "size": int(size) if size.isdecimal() else None}
            yield row


def _of_parquet(content: bytes, _: list[str]) -> Iterator[dict[str, Any]]:
    file = pq.ParquetFile(pa.BufferReader(content))
    for batch in file.iter_batches(columns=_wanted(file.schema_arrow.names)):
        yield from batch.to_pylist()


def _of_orc(content: bytes, _: list[str]) -> Iterator[dict[str, Any]]:
    # Some builds of pyarrow do not have it.
    orc: Any = importlib.import_module("pyarrow.orc")
    file = orc.ORCFile(pa.BufferReader(content))
    wanted = _wanted(file.schema.names)
    for stripe in range(file.nstripes):
        yield from file.read_stripe(stripe, columns=wanted).to_pylist()


def _wanted(names: list[str]) -> list[str]:
    """The columns that are read of an inventory with these."""
    if not {"key", "size", "e_tag"} <= set(names):
        raise mksum.RefusedError("it has no columns key, size and e_tag: add them to the inventory's configuration")
    return [name for name in ("key", "size", "e_tag", "is_latest", "is_delete_marker") if name in names]


INVENTORIES = {"CSV": _of_csv, "PARQUET": _of_parquet, "ORC": _of_orc}
"""The rows of an inventory's file, by its format: of its content and the fields that the manifest names."""


def _of_inventory(row: dict[str, Any], bucket: str) -> Listed:
    key, etag = row["key"], row.get("etag", row.get("e_tag"))
    if not isinstance(key, str) or not key:
        return unlisted("", "failed", f"{bucket}: a row of the inventory has no key: {row.get('why', 'it is empty')}")
    url = f"{bucket.rstrip('/')}/{key}"
    # The end of a key is no version.
    if any(mark in url for mark in ("?versionId=", "?versionid=", "?generation=")):
        url += "?versionId="
    return listed(url, row["size"], etag or None)


def _is_true(row: dict[str, Any], *names: str, default: bool = False) -> bool:
    value = next((row[name] for name in names if row.get(name) not in (None, "")), default)
    return value if isinstance(value, bool) else str(value).lower() == "true"


def _content(name: str) -> bytes:
    if "://" in name:
        [content] = mksum.get_objects([name])
        return content
    try:
        return pathlib.Path(name).read_bytes()
    except FileNotFoundError as error:
        raise mksum.NotFoundError(2, "No such file or directory", name) from error
    except OSError as error:
        raise mksum.FileError(f"{name}: {error.strerror}") from error


def _beside(manifest: str, key: str) -> str:
    """The place of a file of an inventory: in the manifest's bucket, or below a folder that the manifest is below."""
    if "://" in manifest:
        scheme, _, rest = manifest.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}/{key}"
    below = pathlib.PurePosixPath(key).parts
    if ".." in below or key.startswith("/"):
        raise mksum.RefusedError(f"{manifest}: the file '{key}' leads out of the folder of the inventory")
    # The folder of a manifest is beside that of the files.
    parents = list(pathlib.Path(os.path.abspath(manifest)).parents)
    shorter = [pathlib.Path(*below[start:]) for start in range(len(below))]
    places = [parent / path for parent in parents[:8] for path in shorter]
    return str(next((place for place in places if place.is_file()), parents[0] / below[-1]))


__all__ = ["RESULTS", "ROWS", "inventory", "read_ledger", "read_results", "write_ledger", "write_results"]
