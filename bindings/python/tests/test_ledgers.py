"""Ledgers in folders, hashing with a map of this process, and whole objects."""

import json
import pathlib

import mksum
import pytest
from mksum import cluster

KINDS = ("digests", "errors")


def test_a_ledger_is_read_again_and_continued(tmp_path: pathlib.Path, big: pathlib.Path) -> None:
    folder = tmp_path / "a ledger of 100 %"
    hashed: list[int] = []
    options = {"part": 1 << 20, "task": 2 << 20, "on_progress": hashed.append}
    [result] = cluster.hash(big, str(folder), "blake3", **options)
    assert (result["root"], result["status"]) == (mksum.file_root(big, "blake3").text, "ok")
    files = sorted((folder / "rows=digests").iterdir())
    assert len(files) == len(hashed) > 1
    # What writers leave that were killed, and no ledger at all.
    lines = files[0].read_bytes()
    files[0].write_bytes(lines[:-20])
    (folder / "rows=digests" / ".part-0.json").write_bytes(lines)
    (folder / "rows=digests" / "_SUCCESS").write_bytes(lines)
    hashed.clear()
    # As a URL, percent signs stand for bytes.
    assert cluster.hash(big, folder.as_uri(), "blake3", **options) == [result]
    assert hashed == [json.loads(lines)["length"]]


def test_a_changed_row_is_hashed_again(tmp_path: pathlib.Path, big: pathlib.Path) -> None:
    hashed: list[int] = []
    options = {"part": 1 << 20, "on_progress": hashed.append}
    [result] = cluster.hash(big, str(tmp_path / "ledger"), "blake3", **options)
    [file] = (tmp_path / "ledger" / "rows=digests").iterdir()
    line, *others = file.read_text().splitlines(keepends=True)
    row = json.loads(line)
    assert mksum._mksum.is_intact(row)
    other = {"a": "b", "b": "a"}.get(row["digest"][0], "a")
    old = {name: value for name, value in row.items() if name != "crc32"}
    for changed in (row | {"digest": other + row["digest"][1:]}, row | {"crc32": "00000000"}, old):
        assert not mksum._mksum.is_intact(changed)
        with pytest.raises(mksum.RowError):
            mksum.join([changed, *map(json.loads, others)])
        # Fields of others say nothing.
        file.write_text("".join([json.dumps(changed | {"run": 7}) + "\n", *others]))
        hashed.clear()
        assert cluster.hash(big, str(tmp_path / "ledger"), "blake3", **options) == [result]
        assert sum(hashed) == row["length"]
        for path in (tmp_path / "ledger" / "rows=digests").iterdir():
            if path != file:
                path.unlink()


def test_rows_of_a_ledger_are_whole_lines(tmp_path: pathlib.Path) -> None:
    ledger = cluster.Ledger(str(tmp_path / "ledger"))
    assert [list(ledger.rows(kind)) for kind in KINDS] == [[], []]
    ledger.write([])
    assert not (tmp_path / "ledger").exists()
    row = {**mksum.map_range(mksum.plan("a\u2028b", "md5", size=3, version="v")[0], b"abc")}
    ledger.write([row])
    ledger.write([row], "errors")
    assert [list(ledger.rows(kind)) for kind in KINDS] == [[row], [row]]
    [path] = (tmp_path / "ledger" / "rows=digests").iterdir()
    assert json.loads(path.read_text()) == row


def test_places_that_have_no_ledgers() -> None:
    for url in ("s3a://bucket/ledger", "https://host/ledger", "abfs://container/ledger"):
        with pytest.raises(mksum.RefusedError, match="s3, gs, az, abfss, hdfs"):
            cluster.Ledger(url)


def test_whole_objects_need_urls_of_stores(tmp_path: pathlib.Path) -> None:
    for url in (tmp_path, "s3:/bucket/key"):
        with pytest.raises(mksum.RefusedError):
            mksum.get_objects([url])
        with pytest.raises(mksum.RefusedError):
            mksum.put_object(url, b"abc")
    assert list(mksum.get_objects([])) == []
    for url in ("https://localhost/file", "s3://bucket/key?versionId=1", "s3://bucket/a//b"):
        with pytest.raises(mksum.RefusedError):
            mksum.put_object(url, b"abc")
    with pytest.raises(mksum.RefusedError):
        list(mksum.get_objects(["s3://bucket/a//b"]))
