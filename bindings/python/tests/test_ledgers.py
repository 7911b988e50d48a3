"""Ledgers in folders, hashing with a map of this process, and whole objects."""

import json
import os
import pathlib
import sys

import mksum
import pytest
from mksum import _places, cluster

KINDS = ("digests", "errors")


def test_a_ledger_is_read_again_and_continued(tmp_path: pathlib.Path, big: pathlib.Path) -> None:
    folder = tmp_path / "a ledger of 100 %"
    hashed: list[int] = []
    plans: list[tuple[int, int]] = []
    options = {"part": 1 << 20, "task": 2 << 20, "on_plan": lambda *plan: plans.append(plan), "on_progress": hashed.append}
    [result] = cluster.hash(big, str(folder), "blake3", **options)
    assert (result["root"], result["status"]) == (mksum.file_root(big, "blake3").text, "ok")
    assert plans == [(sum(hashed), 1)] == [(big.stat().st_size, 1)]
    files = sorted((folder / "rows=digests").iterdir())
    assert len(files) == len(hashed) > 1
    # What writers leave that were killed, and no ledger at all.
    lines = files[0].read_bytes()
    files[0].write_bytes(lines[:-20])
    (folder / "rows=digests" / ".part-0.json").write_bytes(lines)
    (folder / "rows=digests" / "_SUCCESS").write_bytes(lines)
    hashed.clear()
    # As a URL, percent signs stand for bytes.
    [again] = cluster.hash(big, folder.as_uri(), "blake3", **options)
    assert {**again, "run": "", "verified_at": ""} == {**result, "run": "", "verified_at": ""}
    assert hashed == [json.loads(lines)["length"]]
    assert plans[1:] == [(sum(hashed), 1)]


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
        [again] = cluster.hash(big, str(tmp_path / "ledger"), "blake3", **options)
        assert (again["root"], again["status"]) == (result["root"], "ok")
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


def kept_files(folder: pathlib.Path) -> pathlib.Path:
    """Returns a folder with files, each of several parts."""
    for name in ("a", "sub/b", "sub/c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode() * 1_000_000)
    return folder


def damage(path: pathlib.Path) -> None:
    """Changes a byte of a file, and neither its size nor its times."""
    before = path.stat()
    with open(path, "r+b") as file:
        file.seek(before.st_size - 1)
        file.write(b"!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def statuses(results: list[cluster.Result]) -> dict[str, str]:
    return {pathlib.Path(result["object"]).name: result["status"] for result in results}


@pytest.mark.parametrize("fmt", ["blake3", "sha256"])
def test_a_verification_reads_whatever_ledgers_there_are(tmp_path: pathlib.Path, fmt: str) -> None:
    files, ledger = kept_files(tmp_path / "files"), str(tmp_path / "ledger")
    kept = cluster.hash(files, ledger, fmt, part=1 << 20)
    assert [(result["status"], result["format"]) for result in kept] == [("ok", fmt)] * 3
    read: list[int] = []
    plans: list[tuple[int, int]] = []
    first = cluster.verify(kept, ledger, part=1 << 20, on_plan=lambda *plan: plans.append(plan), on_progress=read.append)
    assert statuses(first) == dict.fromkeys("abc", "ok")
    assert sum(read) == sum(result["size"] for result in kept)
    assert plans == [(sum(read), len(kept))]
    assert {result["run"] for result in first} & {result["run"] for result in kept} == set()
    assert all(result["verified_at"] for result in first)
    damage(files / "sub" / "b")
    again = cluster.verify(kept, ledger, part=1 << 20)
    assert statuses(again) == {"a": "ok", "b": "damaged", "c": "ok"}
    # What verifications read is no evidence of `hash` either.
    assert [row["root"] for row in cluster.hash(files, ledger, fmt, part=1 << 20)] == [row["root"] for row in kept]


def test_an_interrupted_verification_goes_on_and_an_ended_one_does_not(tmp_path: pathlib.Path) -> None:
    files, ledger = kept_files(tmp_path / "files"), str(tmp_path / "ledger")
    kept = cluster.hash(files, ledger, "blake3", part=1 << 20)
    read: list[int] = []

    def stop(count: int) -> None:
        read.append(count)
        if len(read) == 2:
            raise KeyboardInterrupt

    options = {"part": 1 << 20, "task": 1 << 20, "run": "2026-03-01"}
    with pytest.raises(KeyboardInterrupt):
        cluster.verify(kept, ledger, on_progress=stop, **options)
    results = cluster.verify(kept, ledger, on_progress=read.append, **options)
    assert statuses(results) == dict.fromkeys("abc", "ok")
    assert sum(read) == sum(result["size"] for result in kept)
    assert {result["run"] for result in results} == {"2026-03-01"}
    with pytest.raises(mksum.RefusedError, match="'2026-03-01' has ended"):
        cluster.verify(kept, ledger, **options)


def test_roots_in_other_formats_are_not_comparable(tmp_path: pathlib.Path) -> None:
    files, ledger = kept_files(tmp_path / "files"), str(tmp_path / "ledger")
    kept = [*cluster.hash(files / "sub", ledger, "sha256"), *cluster.hash(files / "a", ledger, "md5")]
    assert statuses(cluster.verify(kept, ledger)) == dict.fromkeys("abc", "ok")
    results = {pathlib.Path(result["object"]).name: result for result in cluster.verify(kept, ledger, "sha256")}
    assert {name: result["status"] for name, result in results.items()} == {"a": "not comparable", "b": "ok", "c": "ok"}
    assert results["a"]["error"] == f"{files / 'a'}: its root was kept in md5, and sha256 was asked for"
    # Results of earlier versions do not say their format.
    old = [{name: value for name, value in row.items() if name != "format"} for row in kept[:2]]
    assert statuses(cluster.verify(old, ledger, "sha256")) == {"b": "ok", "c": "ok"}  # type: ignore[arg-type]
    [first, _] = cluster.verify(old, ledger)  # type: ignore[arg-type]
    assert (first["status"], first["root"]) == ("failed", None)
    assert first["error"] is not None
    assert first["error"].endswith("pass fmt")


def test_what_cannot_be_listed_has_a_result(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = kept_files(tmp_path / "files")
    (files / "locked").mkdir()
    (files / "link").symlink_to(files / "a")
    (files / "up").symlink_to(files)
    (files / "dangling").symlink_to(files / "nothing")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    results = {pathlib.Path(result["object"]).name: result for result in cluster.hash(files, str(tmp_path / "one"), "sha256")}
    expected = {"a": "ok", "b": "ok", "c": "ok", "link": "skipped", "up": "skipped", "dangling": "skipped", "locked": "failed"}
    assert {name: result["status"] for name, result in results.items()} == expected
    assert results["locked"]["error"] == f"{files / 'locked'}: the folder cannot be listed: Permission denied"
    assert results["link"]["error"] == f"{files / 'link'}: a symbolic link: symlinks='follow' hashes what it leads to"
    followed = cluster.hash(files, str(tmp_path / "two"), "sha256", symlinks="follow")
    expected = {"a": "ok", "b": "ok", "c": "ok", "link": "ok", "dangling": "gone", "locked": "failed"}
    assert statuses(followed) == expected
    roots = {pathlib.Path(result["object"]).name: result["root"] for result in followed}
    assert roots["link"] == roots["a"]


def test_listings_of_others_are_judged_object_by_object(tmp_path: pathlib.Path) -> None:
    file = kept_files(tmp_path / "files") / "a"
    [own] = cluster.inputs(file)
    rows = [
        own,
        {**own, "path": file.as_uri()},
        {**own, "path": "wasbs://container@host/key"},
        {**own, "path": "s3a://bucket/key", "version": None},
        {**own, "path": "twice"},
        {**own, "path": "twice", "version": "other"},
    ]
    results = cluster.hash(rows, str(tmp_path / "ledger"), "sha256")  # type: ignore[arg-type]
    found = {result["object"]: (result["status"], result["error"]) for result in results}
    assert found.pop(str(file)) == ("ok", None)
    expected = {
        "wasbs://container@host/key": "mksum does not read 'wasbs': it reads s3, ",
        "s3://bucket/key": "it is listed without a size or an ETag",
        "twice": "it is listed twice, with 1000000 bytes of version ",
    }
    assert set(found) == set(expected)
    for path, words in expected.items():
        assert found[path][0] == "failed"
        assert words in str(found[path][1])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/b", "/a/b"),
        ("a:/b", "a:/b"),
        ("a/b:/c", "a/b:/c"),
        ("s3a://bucket/a:b", "s3://bucket/a:b"),
        ("s3n://bucket/key", "s3://bucket/key"),
        ("abfs://c@host/key", "abfss://c@host/key"),
        ("file:/a%20b", "/a b"),
        ("file:///a%20b", "/a b"),
        ("dbfs:/a/b", "/dbfs/a/b"),
        ("dbfs:///a/b", "/dbfs/a/b"),
        ("dbfs:/Volumes/a/b", "/Volumes/a/b"),
        ("file:/a?b#c", "/a?b#c"),
        ("file://localhost/a", "/a"),
        ("gcs://bucket/key", "gs://bucket/key"),
        ("S3A://bucket/Key", "s3://bucket/Key"),
        ("https://host/a", "https://host/a"),
    ],
)
def test_names_of_hadoop_and_spark(path: str, expected: str) -> None:
    assert _places.located(path) == expected


def test_names_that_are_refused_say_what_to_do(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = {
        "wasbs://c@a.blob.core.windows.net/key": "the same object is abfss://CONTAINER@ACCOUNT",
        "hf://models/a/b": "does not read 'hf': it reads s3, .*pass a file system of fsspec",
        "file://host/a": "a file of 'host'",
        "s3:/bucket/key": "a URL with one slash, as pathlib writes it: pass the str 's3://bucket/key'",
    }
    for path, words in refused.items():
        for name in (path, pathlib.PurePosixPath(path)) if path.startswith("s3") else (path,):
            with pytest.raises(mksum.RefusedError, match=words):
                mksum.file_root(name)
            [(_, error)] = mksum.hash_files([name])
            assert isinstance(error, mksum.RefusedError)
        with pytest.raises(mksum.RefusedError, match=words):
            cluster.hash(path, str(tmp_path / "ledger"))
    # A file that has such a name.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:" / "bucket").mkdir(parents=True)
    (tmp_path / "s3:" / "bucket" / "key").write_bytes(b"abc")
    assert mksum.file_root("s3:/bucket/key", "sha256") == mksum.root(b"abc", "sha256")


def test_urls_of_files_are_paths_everywhere(tmp_path: pathlib.Path) -> None:
    folder = kept_files(tmp_path / "a folder of 100 %")
    file, url = folder / "a", (folder / "a").as_uri()
    root = mksum.file_root(file, "sha256")
    assert mksum.file_root(url, "sha256") == root
    assert [result for _, result in mksum.hash_files([url, file], "sha256")] == [root, root]
    assert mksum.join([mksum.map_range(mksum.plan(url, "sha256")[0])]) == root
    assert mksum.directory_root(folder.as_uri()) == mksum.directory_root(folder)
    proof = mksum.prove_entry(folder.as_uri(), "sub/b")
    assert mksum.check_entry(proof, mksum.directory_root(folder))["path"] == "sub/b"
    tree = mksum.Outboard.keep(url, outboard=(tmp_path / "tree").as_uri())
    assert (tree.path, tree.outboard) == (str(file), str(tmp_path / "tree"))
    assert mksum.Outboard.open(url, outboard=tmp_path / "tree").root == tree.root
    assert mksum.Catalogue.keep(folder.as_uri(), "sha256").directory == str(folder)
    # What must be on this machine says so.
    for call in (mksum.directory_root, mksum.Catalogue.keep, mksum.Catalogue.create, mksum.Catalogue.open):
        with pytest.raises(mksum.RefusedError, match="s3://bucket/prefix/: a URL, where a path of this machine is needed"):
            call("s3://bucket/prefix/")


def test_listings_with_holes_cost_their_own_rows(tmp_path: pathlib.Path) -> None:
    [own] = cluster.inputs(kept_files(tmp_path / "files") / "a")
    nan = float("nan")
    rows = [own, *({**own, "path": f"/none/{size}", "size": size} for size in (None, nan, -1, 1 << 63, "5"))]
    rows += [{**own, "path": "/none/version", "version": nan}, {**own, "path": None}, {**own, "path": nan}]
    results = cluster.hash(rows, str(tmp_path / "ledger"), "sha256")  # type: ignore[arg-type]
    assert [result["status"] for result in results] == ["ok"] + ["failed"] * 7
    assert [str(result["error"]).partition(": ")[2] for result in results[3:5]] == [
        f"it is listed with a size of {size} bytes: expected 0 to 2^63-1" for size in (-1, 1 << 63)
    ]
    assert results[-1]["error"] == "a row of the listing has no path, but None"


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="names are text there")
def test_a_name_that_is_no_text_costs_its_own_row(tmp_path: pathlib.Path) -> None:
    files = kept_files(tmp_path / "files")
    for name in (b"\xff", b"\xfe"):
        with open(os.path.join(os.fsencode(files), name), "wb") as file:
            file.write(b"abc")
    results = {result["object"]: result for result in cluster.hash(files, str(tmp_path / "ledger"), "sha256")}
    assert [results[f"{files}/\\x{name}"]["status"] for name in ("ff", "fe")] == ["failed", "failed"]
    assert "the name is not UTF-8" in str(results[f"{files}/\\xff"]["error"])
    assert sorted(result["status"] for result in results.values()) == ["failed"] * 2 + ["ok"] * 3


def test_nothing_to_read_is_no_success(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty" / "folder").mkdir(parents=True)
    for source in (tmp_path / "empty", []):
        with pytest.raises(mksum.RefusedError, match="nothing to hash"):
            cluster.hash(source, str(tmp_path / "ledger"))
    results = cluster.hash([{"path": "/none", "size": 1, "version": "a"}], str(tmp_path / "ledger"))
    assert results[0]["status"] == "gone"
    for kept in (results, []):
        with pytest.raises(mksum.RefusedError, match="nothing to verify"):
            cluster.verify(kept, str(tmp_path / "ledger"), run="first")
    assert not (tmp_path / "ledger" / "rows=runs").exists()


def test_files_of_lists_without_versions_are_asked_for(tmp_path: pathlib.Path) -> None:
    from pyarrow.fs import LocalFileSystem

    path = tmp_path / "a b"
    path.write_bytes(b"abc")
    [expected] = cluster.inputs(path)
    for size in (None, 3):
        assert cluster.asked(str(path), size) == expected
        assert cluster.asked(path.as_uri(), size) == expected
    assert cluster.asked(str(path), None, LocalFileSystem())["size"] == 3
    wrong = [
        (path, 4, None, "failed", "listed with 4 bytes, and has 3"),
        (path, 4, LocalFileSystem(), "failed", "listed with 4 bytes, and has 3"),
        (path, -1, None, "failed", "a size of -1"),
        (tmp_path / "none", 3, None, "gone", "it is not there"),
        (tmp_path / "none", 3, LocalFileSystem(), "gone", "it is not there"),
        (tmp_path, None, None, "failed", "is a directory"),
        ("wasbs://c@h/k", 3, None, "failed", "'wasbs'"),
        (None, 3, None, "failed", "no path"),
    ]
    for place, size, files, status, words in wrong:
        found = cluster.asked(place if place is None else str(place), size, files)
        assert (found.get("status"), words in str(found.get("error"))) == (status, True), found
