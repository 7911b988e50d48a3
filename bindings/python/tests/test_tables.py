"""Results and ledgers as Parquet, inventories of buckets, and ledgers in fewer files."""

import csv
import gzip
import hashlib
import io
import json
import os
import pathlib
from typing import Any

import mksum
import pyarrow as pa
import pyarrow.dataset
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from conftest import noise
from mksum import cluster, tables
from obstore.store import MemoryStore

MIB = 1 << 20


@pytest.fixture
def hashed(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path, list[cluster.Result]]:
    """Files, their ledger with an error in it, and their results, one of which has no root."""
    files, ledger = tmp_path / "files", tmp_path / "ledger"
    files.mkdir()
    for name, size in {"a": 3 * MIB + 5, "b": 70_000, "c": 0}.items():
        (files / name).write_bytes(noise(size))
    source: list[Any] = list(cluster.inputs(files))
    source.append({"path": str(files / "none"), "size": 5, "version": "mtime:1.0"})
    return files, ledger, cluster.hash(source, str(ledger), "blake3", part=MIB, task=MIB)


def rows_of(ledger: str | pathlib.Path, kind: str = "digests") -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in cluster.Ledger(str(ledger)).rows(kind))


def test_results_are_read_as_they_were_written(hashed: Any, tmp_path: pathlib.Path) -> None:
    _, ledger, results = hashed
    assert [row["status"] for row in results] == ["ok", "ok", "ok", "gone"]
    verified = cluster.verify(results, str(ledger), run="a run: 100 %/ü", part=MIB)
    folder = tmp_path / "results"
    written = tables.write_results([*results, *verified], folder)
    assert len(written) == 2
    assert sorted(tables.read_results(folder), key=str) == sorted([*results, *verified], key=str)
    assert list(tables.read_results(folder, run="a run: 100 %/ü")) == verified
    # As other engines read it.
    table = pyarrow.dataset.dataset(folder, partitioning="hive").to_table()
    assert set(table.column_names) == set(results[0])
    assert set(table["run"].to_pylist()) == {results[0]["run"], "a run: 100 %/ü"}
    assert sorted(filter(None, table["root"].to_pylist())) == sorted(row["root"] for row in [*results, *verified] if row["root"])
    [first, *_] = written
    pathlib.Path(first).write_bytes(pathlib.Path(first).read_bytes()[:-9])
    with pytest.raises(mksum.FileError, match="not a whole Parquet file"):
        list(tables.read_results(folder))


def test_an_odd_row_stays_a_row(hashed: Any, tmp_path: pathlib.Path) -> None:
    _, _, results = hashed
    odd: list[Any] = [
        {**results[0], "size": "many"},
        {**results[0], "object": os.fsdecode(b"\xff")},
        {**results[0], "root": 7, "error": "before"},
        {**results[3], "size": 1 << 63, "run": None},
        {"object": None},
    ]
    tables.write_results([*results, *odd], tmp_path / "results")
    found = list(tables.read_results(tmp_path / "results"))
    assert len(found) == len(results) + len(odd)
    by_error = {row["error"]: row for row in found if row["error"] is not None}
    for words in ["size 'many'", "root 7", "size 9223372036854775808"]:
        [row] = [row for error, row in by_error.items() if words in error]
        assert (row["root"], row["status"]) == (None, "failed")
    assert any(error.startswith("before; ") for error in by_error)
    assert any(row["object"] == "\\xff" and row["status"] == "ok" for row in found)


def test_a_ledger_goes_through_parquet_and_back(hashed: Any, tmp_path: pathlib.Path) -> None:
    files, ledger, results = hashed
    # What the tool writes has no run, and fields that nobody knows yet stay.
    mapped = {**json.loads(rows_of(ledger)[0]), "more": {"a": [1]}}
    mapped.pop("run")
    cluster.Ledger(str(ledger)).write([mapped, {**mapped, "size": "x"}])
    kept = cluster.verify(results, str(ledger), part=MIB)
    assert {row["status"] for row in kept} == {"ok"}
    expected = {kind: rows_of(ledger, kind) for kind in cluster.KINDS}
    assert all(expected.values())
    count = tables.write_ledger(str(ledger), tmp_path / "parquet")
    assert count == sum(map(len, expected.values()))
    for folder in [str(tmp_path), None]:
        with mksum.use_store(MemoryStore()) as url:
            place = f"{folder or url}/again"
            assert tables.read_ledger(tmp_path / "parquet", place) == count
            for kind in cluster.KINDS:
                assert rows_of(place, kind) == expected[kind]
            # A job goes on with it, and reads nothing again.
            done: list[int] = []
            again = cluster.hash(files, place, "blake3", part=MIB, on_progress=done.append)
            assert [row["root"] for row in again] == [row["root"] for row in results[:3]]
            assert not done
    table = pyarrow.dataset.dataset(tmp_path / "parquet", partitioning="hive").to_table()
    assert set(table["rows"].to_pylist()) == set(cluster.KINDS)
    assert table.num_rows == count


def test_tables_in_stores(hashed: Any) -> None:
    _, ledger, results = hashed
    with mksum.use_store(MemoryStore()) as url:
        tables.write_results(results, f"{url}/results")
        assert list(tables.read_results(f"{url}/results")) == results
        assert list(tables.read_results(f"{url}/none")) == []
        count = tables.write_ledger(str(ledger), f"{url}/parquet")
        assert tables.read_ledger(f"{url}/parquet", f"{url}/again") == count
        with pytest.raises(mksum.RefusedError, match=r"name a new ledger \(into"):
            cluster.compact(f"{url}/again")
        assert cluster.compact(f"{url}/again", f"{url}/small")[1] == 2
        assert rows_of(f"{url}/small") == rows_of(ledger)
        assert rows_of(f"{url}/small", "errors") == rows_of(ledger, "errors")


def test_a_ledger_is_compacted(hashed: Any, tmp_path: pathlib.Path) -> None:
    files, ledger, results = hashed
    kept = cluster.verify(results, str(ledger), run="first", part=MIB, task=MIB)
    place = cluster.Ledger(str(ledger))
    before = {kind: rows_of(ledger, kind) for kind in cluster.KINDS}
    # Files have names by chance; an empty part has one digest alone.
    row = next(row for row in place.rows() if row["length"])
    # The same digest later and of another run; another digest; a line that was cut, in a file of its own.
    place.write([{**row, "read_at": "2999-01-01T00:00:00Z", "run": "later"}])
    part: Any = {**{name: row[name] for name in mksum.plan(files / "a", "blake3")[0]}, "kind": "range"}
    other = {**mksum.map_range(part, noise(row["length"], 9)), "run": row["run"], "read_at": row["read_at"]}
    place.write([other])
    (ledger / "rows=digests" / "part-cut.json").write_bytes(json.dumps(row).encode() + b'\n{"kind":"dig')
    (ledger / "rows=digests" / ".part-hidden.json").write_bytes(b"{}")
    count = sum(len(place.files(f"rows={kind}")) for kind in cluster.KINDS)
    assert cluster.compact(str(ledger)) == (count, 5)
    assert len(place.files("rows=digests")) == 2
    assert (ledger / "rows=digests" / ".part-hidden.json").exists()
    found = rows_of(ledger)
    # The file with the line that was cut is there as well.
    assert sorted(found) == sorted([*before["digests"], json.dumps(other, sort_keys=True), json.dumps(row, sort_keys=True)])
    for kind in ("verified", "errors", "runs"):
        assert rows_of(ledger, kind) == before[kind]
    with pytest.raises(mksum.RefusedError, match="'first' has ended"):
        cluster.verify(results, str(ledger), run="first")
    # Two digests of one part are an error still.
    [first, *others] = cluster.hash(files, str(ledger), "blake3", part=MIB)
    wrong = [result for result in [first, *others] if result["error"]]
    assert [("two digests" in result["error"], result["object"]) for result in wrong] == [(True, row["path"])]
    assert cluster.compact(str(ledger), str(tmp_path / "new"))[1] == 4
    assert {row["status"] for row in kept} == {"ok"}
    assert cluster.compact(str(tmp_path / "nothing")) == (0, 0)


def inventory_of(folder: pathlib.Path, kind: str, rows: list[dict[str, Any]], fields: list[str]) -> pathlib.Path:
    """An inventory as S3 writes it: the user guide of S3, "Locating your inventory list"."""
    config = folder / "source" / "config"
    (config / "data").mkdir(parents=True)
    (config / "2026-11-26T01-00Z").mkdir()
    files = []
    for number, several in enumerate([rows[:2], rows[2:]]):
        name = f"data/{number}.{'csv.gz' if kind == 'CSV' else kind.lower()}"
        if kind == "CSV":
            text = io.StringIO(newline="")
            writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerows([row[field] for field in fields] for row in several)
            (config / name).write_bytes(gzip.compress(text.getvalue().encode()))
        else:
            write = pq.write_table if kind == "Parquet" else orc.write_table
            write(pa.Table.from_pylist(several, schema=COLUMNS), config / name)
        content = (config / name).read_bytes()
        md5 = hashlib.md5(content).hexdigest()
        files.append({"key": f"inventories/source/config/{name}", "size": len(content), "MD5checksum": md5})
    manifest = {
        "sourceBucket": "source",
        "destinationBucket": "arn:aws:s3:::destination",
        "version": "2016-11-30",
        "creationTimestamp": "1795719161000",
        "fileFormat": kind,
        "fileSchema": ", ".join(fields) if kind == "CSV" else "message s3.inventory { required binary bucket (STRING); }",
        "files": files,
    }
    path = config / "2026-11-26T01-00Z" / "manifest.json"
    path.write_text(json.dumps(manifest))
    return path


COLUMNS = pa.schema(
    [
        ("bucket", pa.string()),
        ("key", pa.string()),
        ("version_id", pa.string()),
        ("is_latest", pa.bool_()),
        ("is_delete_marker", pa.bool_()),
        ("size", pa.int64()),
        ("e_tag", pa.string()),
    ]
)
CSV = ["Bucket", "Key", "VersionId", "IsLatest", "IsDeleteMarker", "Size", "ETag"]
AS_CSV = [
    ["source", "a+b%20%C3%BC", "v2", "true", "false", "3", "900150983cd24fb0d6963f7d28e17f72"],
    ["source", "a+b%20%C3%BC", "v1", "false", "false", "9", "aaaa"],
    ["source", "gone", "v3", "true", "true", "", ""],
    ["source", "q%3FversionId%3D1", "v4", "true", "false", "0", "d41d8cd98f00b204e9800998ecf8427e"],
    ["source", "bare", "v5", "true", "false", "5", ""],
    ["source", "odd", "v6", "true", "false", "x", "bbbb"],
    ["source", "", "v7", "true", "false", "1", "bbbb"],
]
FOUND = [
    ("s3://source/a b ü", 3, "900150983cd24fb0d6963f7d28e17f72"),
    ("s3://source/q?versionId=1?versionId=", 0, "d41d8cd98f00b204e9800998ecf8427e"),
    ("s3://source/bare", 0, "without a size or an ETag"),
    ("s3://source/odd", 0, "without a size or an ETag"),
    ("", 0, "has no key"),
]


def shown(rows: Any) -> list[tuple[str, int, bool]]:
    return [(row["path"], row["size"], row.get("error") or row["version"]) for row in rows]


@pytest.mark.parametrize("kind", ["CSV", "Parquet", "ORC"])
def test_inventories(tmp_path: pathlib.Path, kind: str) -> None:
    from urllib.parse import unquote_plus

    if kind == "CSV":
        rows = [dict(zip(CSV, row, strict=True)) for row in AS_CSV]
    else:
        rows = [
            {
                "bucket": "source",
                "key": unquote_plus(row[1]),
                "version_id": row[2],
                "is_latest": row[3] == "true",
                "is_delete_marker": row[4] == "true",
                "size": int(row[5]) if row[5].isdecimal() else None,
                "e_tag": row[6] or None,
            }
            for row in AS_CSV
        ]
    manifest = inventory_of(tmp_path, kind, rows, CSV)
    found = list(tables.inventory(manifest))
    for (path, size, words), row in zip(FOUND, shown(found), strict=True):
        assert row[:2] == (path, size)
        assert words in str(row[2])
    # From a store, and each row that is wrong has a result.
    store = MemoryStore()
    for file in tmp_path.rglob("*.*"):
        if file.is_file():
            store.put(f"inventories/{file.relative_to(tmp_path)}", file.read_bytes())
    store.put("a b ü", b"abc")
    etag = store.head("a b ü")["e_tag"].strip('"')
    with mksum.use_store(store) as url:
        again = list(tables.inventory(f"{url}/inventories/source/config/2026-11-26T01-00Z/manifest.json", bucket=url))
        assert [row["path"].removeprefix(url) for row in again] == [path.removeprefix("s3://source") for path, *_ in FOUND]
        again[0]["version"] = etag
        results = cluster.hash(again, str(tmp_path / "ledger"), "sha256")
        assert [row["status"] for row in results] == ["ok", "gone", "failed", "failed", "failed"]
        assert results[0]["root"] == mksum.sha256(b"abc").hexdigest()
    # A file of it is damaged, and one is not there: each stays a row.
    for wrong in ("1", "0"):
        [data] = tmp_path.rglob(f"{wrong}.*")
        if wrong == "1":
            data.write_bytes(data.read_bytes()[:-1] + b"x")
        else:
            data.unlink()
    damaged = list(tables.inventory(manifest))
    assert [row["status"] for row in damaged] == ["gone", "failed"]  # type: ignore[typeddict-item]
    assert "expected the MD5" in str(damaged[1].get("error"))
    results = cluster.hash(damaged, str(tmp_path / "ledger"), "sha256")
    assert [row["status"] for row in results] == ["gone", "failed"]


def test_what_is_no_inventory_is_refused(tmp_path: pathlib.Path) -> None:
    manifest = inventory_of(tmp_path, "CSV", [dict(zip(CSV, row, strict=True)) for row in AS_CSV], CSV)
    whole = json.loads(manifest.read_text())
    for changed, words in [
        ({"fileFormat": "JSON"}, "as JSON: expected CSV, Parquet or ORC"),
        ({"fileSchema": "Bucket, Key, Size"}, "has no field etag"),
        ({"files": 7}, "not the manifest"),
        ({"files": [{"key": "../../x.csv.gz", "MD5checksum": "a"}]}, "leads out of the folder"),
    ]:
        manifest.write_text(json.dumps(whole | changed))
        with pytest.raises(mksum.RefusedError) as error:
            found = list(tables.inventory(manifest))
            raise mksum.RefusedError(str(found[0].get("error")))
        assert words in str(error.value)
    manifest.write_text("[]")
    with pytest.raises(mksum.RefusedError, match="not the manifest"):
        tables.inventory(manifest)
    with pytest.raises(mksum.NotFoundError):
        tables.inventory(tmp_path / "none")
