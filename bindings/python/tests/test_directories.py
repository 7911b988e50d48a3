"""Roots of directories, and catalogues."""

import asyncio
import contextlib
import errno
import hashlib
import http.server
import importlib.util
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Iterable, Iterator

import mksum
import pytest
from conftest import REPOSITORY, noise
from mksum import aio
from mksum.types import EntryState


def vectors() -> types.ModuleType:
    """The independent implementation, which makes the directories of the rows."""
    found = importlib.util.spec_from_file_location("directories", REPOSITORY / "vectors" / "directories.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


ROWS = [line.split("\t") for line in (REPOSITORY / "vectors" / "directories.tsv").read_text().splitlines()[1:]]


def test_directories_of_git_software_heritage_and_nix(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(b"hi")
    os.symlink("a", tmp_path / "b")
    tree, blob = "1ea3a03cc49523c394633321308be18bdda9ced7", "32f95c0d1244a78b2be1bab8de17906fabb2c4a8"
    archive = "sha256-hZ3RHqRsV5wsYJyxf9qqpLONpViJJP4c/sR4QanjJsc="
    formats = ["dir:git:sha1", "dir:swhid", "dir:git:sha256", "dir:nar"]
    roots = mksum.directory_root(tmp_path, formats)
    assert [root.format for root in roots] == formats
    assert [root.text for root in roots[:2]] == [tree, f"swh:1:dir:{tree}"] and len(roots[2].bytes) == 32
    assert roots[3].text == archive and mksum.DirectoryRoot("dir:nar", roots[3].bytes.hex()) == roots[3]
    assert mksum.DirectoryRoot("dir:swhid", f"swh:1:dir:{tree}") == roots[1]
    assert mksum.file_root(tmp_path / "a", "swhid").text == f"swh:1:cnt:{blob}"
    (tmp_path / "c").mkdir()
    changed = mksum.directory_root(tmp_path, formats)
    assert [root == other for root, other in zip(roots, changed, strict=True)] == [True, False, True, False]
    with pytest.raises(mksum.FormatError, match="omit \\+mode"):
        mksum.directory_root(tmp_path, "dir+mode:git")
    with pytest.raises(mksum.LengthError, match="length first"):
        mksum.new("git:sha1")


@pytest.mark.parametrize("name", sorted({row[0] for row in ROWS}))
def test_roots_are_those_of_the_vectors(name: str, tmp_path: pathlib.Path) -> None:
    top = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    vectors().make(name, top)
    rows = [row for row in ROWS if row[0] == name]
    assert len(rows) == 5
    roots = mksum.directory_root(top, [fmt for _, fmt, _ in rows])
    assert [(root.format, root.text) for root in roots] == [(fmt, text) for _, fmt, text in rows]
    for root, (_, fmt, text) in zip(roots, rows, strict=True):
        claimed = mksum.DirectoryRoot(fmt, text.upper())
        assert root == claimed and hash(root) == hash(claimed) and root.bytes == bytes.fromhex(text)
        assert (claimed.entries, root.entries) == (None, len(list(vectors().entries(top))))
        again = pickle.loads(pickle.dumps(root))
        assert again == root and again.entries == root.entries
        assert eval(repr(root), {"DirectoryRoot": mksum.DirectoryRoot}) == root
    assert mksum.directory_root(os.fsdecode(top), "dir") == roots[1]
    assert mksum.directory_root(pathlib.Path(os.fsdecode(top))) == roots[1]
    assert len(set(roots)) == 5 and roots[0] != roots[0].text


def test_errors_of_directory_roots(tmp_path: pathlib.Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "file").write_bytes(b"content")
    with pytest.raises(mksum.FormatError, match=r"mksum\.directory_root"):
        mksum.file_root(tmp_path, "dir:sha256")
    with pytest.raises(mksum.FormatError, match="'dir:sha256'"):
        mksum.directory_root(tmp_path, "sha256")
    for text in ["dir:md6", "dir+", "directory", "dir:sha3-256"]:
        with pytest.raises(mksum.FormatError) as caught:
            mksum.directory_root(tmp_path, text)
        assert caught.value.found == text
    with pytest.raises(TypeError):
        mksum.directory_root(tmp_path, 1)  # type: ignore[call-overload]
    with pytest.raises(mksum.FormatError):
        mksum.DirectoryRoot("dir:sha256", "00")
    with pytest.raises(mksum.NotFoundError) as missing:
        mksum.directory_root(tmp_path / "missing")
    assert missing.value.path == str(tmp_path / "missing")
    with pytest.raises(mksum.FileError) as file:
        mksum.directory_root(tmp_path / "d" / "file")
    assert file.value.errno == errno.ENOTDIR
    with pytest.raises(mksum.RefusedError):
        mksum.directory_root("s3://bucket/prefix/")
    # All reasons are told, the first as the error.
    for number in range(3):
        os.mkfifo(tmp_path / "d" / f"pipe{number}")
    with pytest.raises(mksum.RefusedError) as refused:
        mksum.directory_root(tmp_path)
    assert refused.value.path == str(tmp_path / "d" / "pipe0")
    assert [note.split(":")[0] for note in refused.value.__notes__] == [str(tmp_path / "d" / f"pipe{n}") for n in (1, 2)]


def test_proofs_of_entries(tmp_path: pathlib.Path) -> None:
    top = tmp_path / "top"
    (top / "sub" / "empty").mkdir(parents=True)
    (top / "sub" / "file").write_bytes(noise(200_000))
    (top / "link").symlink_to("sub/file")
    odd = os.path.join(os.fsencode(top), b"\xff\n")
    with open(odd, "wb"):
        pass
    os.chmod(top / "sub" / "file", 0o640)
    for fmt in ["dir", "dir+mode+mtime:sha256"]:
        root = mksum.directory_root(top, fmt)
        file_format = root.format.partition(":")[2]
        shown = {}
        for path in ["sub", "sub/", "sub/empty", b"sub/file", pathlib.Path("sub/file"), "link", b"\xff\n"]:
            proof = mksum.prove_entry(top, path, fmt)
            entry = mksum.check_entry(proof, mksum.DirectoryRoot(fmt, str(root)))
            assert entry["entries"] == root.entries == 5
            shown[entry["path"]] = entry
            with pytest.raises(mksum.ProofError):
                mksum.check_entry(proof[:-1], root)
            changed = bytearray(proof)
            changed[30] ^= 1
            with pytest.raises(mksum.ProofError):
                mksum.check_entry(changed, root)
        assert sorted(shown, key=os.fsencode) == ["link", "sub", "sub/empty", "sub/file", "\udcff\n"]
        assert [shown[path]["index"] for path in ["link", "sub", "sub/empty", "sub/file", "\udcff\n"]] == [0, 1, 2, 3, 4]
        file = shown["sub/file"]
        assert (file["type"], file["length"]) == ("file", 200_000)
        assert file["file_root"] == mksum.file_root(top / "sub" / "file", file_format).text
        assert (shown["link"]["type"], shown["link"]["link"]) == ("link", "sub/file")
        assert shown["sub/empty"]["type"] == "directory" and "length" not in shown["sub/empty"]
        if fmt == "dir":
            assert "mode" not in file and "mtime_ns" not in file
        else:
            assert (file["mode"], file["mtime_ns"]) == (0o640, (top / "sub" / "file").stat().st_mtime_ns)
        other = mksum.directory_root(top / "sub", fmt)
        with pytest.raises(mksum.ProofError) as caught:
            mksum.check_entry(mksum.prove_entry(top, "link", fmt), other)
        assert caught.value.expected == other.text
    with pytest.raises(mksum.ProofError, match="no entry"):
        mksum.prove_entry(top, "missing")
    with pytest.raises(mksum.ProofError, match="mksument"):
        mksum.check_entry(b"", mksum.directory_root(top))


@pytest.fixture
def many(tmp_path: pathlib.Path) -> pathlib.Path:
    """A directory with a sparse file that takes seconds to hash, and small ones."""
    top = tmp_path / "many"
    top.mkdir()
    for number in range(20):
        (top / f"{number}").write_bytes(noise(1000, number))
    with open(top / "zeros", "wb") as file:
        file.truncate(16 << 30)
    return top


def interrupt(seconds: float) -> threading.Timer:
    """Sends this process an interrupt in a while."""
    # A shell lets its background jobs ignore interrupts, and Python leaves that as it is.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_directory_roots_are_interrupted_and_stopped(many: pathlib.Path) -> None:
    told: list[int] = []
    timer = interrupt(0.3)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        mksum.directory_root(many, "dir:sha256", on_progress=told.append)
    # The whole takes longer than that, also on a machine that does much else.
    assert time.monotonic() - begin < 5
    timer.join()
    assert sum(told) > 0
    stop = mksum.Stop()
    stop.stop()
    with pytest.raises(mksum.StoppedError):
        mksum.directory_root(many, "dir:sha256", stop=stop)

    async def cancelled() -> None:
        task = asyncio.create_task(aio.directory_root(many, "dir:sha256"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        os.truncate(many / "zeros", 0)
        assert await aio.directory_root(many, "dir") == mksum.directory_root(many)

    asyncio.run(cancelled())


def write(top: pathlib.Path, files: dict[str, bytes]) -> pathlib.Path:
    """Makes a directory with these files."""
    for path, data in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(data)
    return top


def damage(path: pathlib.Path, offset: int = 0) -> None:
    """Changes a byte and leaves the mtime as it was, as a failing disk does."""
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(offset)
        found = file.read(1)
        file.seek(offset)
        file.write(bytes([found[0] ^ 1]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def states(found: Iterable[EntryState]) -> dict[str, str]:
    """The states of entries by their paths."""
    return {entry["path"]: entry["state"] for entry in found}


BIG = 9 << 20


@pytest.fixture
def photos(tmp_path: pathlib.Path) -> pathlib.Path:
    """A directory with short files, one that is long enough for a kept tree, a link and an empty directory."""
    top = write(tmp_path / "photos", {"1": b"one", "sub/2": b"two", "sub/3": b"three", "big": noise(BIG), "empty file": b""})
    (top / "empty").mkdir()
    (top / "link").symlink_to("sub/2")
    return top


def test_a_catalogue_is_kept_and_read(photos: pathlib.Path) -> None:
    told: list[int] = []
    begin = int(time.time())
    catalogue = mksum.Catalogue.keep(photos, ["rfc6962:sha256:64KiB", "md5"], on_progress=told.append)
    assert sum(told) >= BIG
    assert (catalogue.directory, catalogue.path) == (str(photos), str(photos / ".mksum" / "catalogue"))
    assert catalogue.formats == ["rfc6962:sha256:64KiB", "md5"]
    rows = list(catalogue)
    assert [row["path"] for row in rows] == ["1", "big", "empty", "empty file", "link", "sub", "sub/2", "sub/3"]
    assert pickle.loads(pickle.dumps(rows)) == rows == json.loads(json.dumps(rows)) == list(catalogue.rows())
    for row in rows:
        path = photos / row["path"]
        assert row["mtime_ns"] == path.lstat().st_mtime_ns and row["kind"] == "entry"
        if row["type"] == "file":
            roots = mksum.file_root(path, ["rfc6962:sha256:64KiB", "md5"])
            assert row["roots"] == {root.format: root.text for root in roots}
            assert row["length"] == path.stat().st_size and row["verified"] is not None and row["verified"] >= begin
        else:
            assert "roots" not in row and "length" not in row and "verified" not in row
    assert {row["path"]: row["type"] for row in rows if row["type"] != "file"} == {
        "empty": "directory",
        "link": "link",
        "sub": "directory",
    }
    assert [row.get("link") for row in rows if row["type"] == "link"] == ["sub/2"]
    for place in [photos, os.fsencode(photos), photos / ".mksum" / "catalogue"]:
        again = mksum.Catalogue.open(place)
        assert (again.directory, again.formats) == (str(photos), catalogue.formats)
        assert list(again.status()) == []
    # What is not changed is not read again, unless a format is added.
    told.clear()
    mksum.Catalogue.keep(photos, on_progress=told.append)
    assert sum(told) == 0 and catalogue.update() == []
    (photos / "sub" / "2").touch()
    assert states(catalogue.update()) == {"sub/2": "touched"}
    assert mksum.Catalogue.keep(photos, "sha256").formats == ["rfc6962:sha256:64KiB", "md5", "sha256"]
    assert [len(row["roots"]) for row in catalogue if row["type"] == "file"] == [3] * 5
    assert catalogue.verify() == {"intact": 5, "verified": BIG + 11, "found": []}


def test_status_and_update(photos: pathlib.Path) -> None:
    catalogue = mksum.Catalogue.keep(photos)
    (photos / "4").write_bytes(b"four")
    (photos / "sub" / "3").rename(photos / "three")
    (photos / "sub" / "2").write_bytes(b"two and more")
    (photos / "1").unlink()
    expected = [
        {"path": "1", "kind": "entry", "state": "gone"},
        {"path": "4", "kind": "entry", "state": "new"},
        {"path": "sub/2", "kind": "entry", "state": "changed"},
        {"path": "three", "kind": "entry", "state": "moved", "from": "sub/3"},
    ]
    before = list(catalogue)
    assert list(catalogue.status()) == expected
    assert pickle.loads(pickle.dumps(list(catalogue.status()))) == expected
    assert list(catalogue) == before
    assert sorted(catalogue.update(), key=lambda entry: entry["path"]) == expected
    assert list(catalogue.status()) == [] and catalogue.update() == []
    rows = {row["path"]: row for row in catalogue}
    assert "1" not in rows and rows["sub/2"]["length"] == 12
    assert rows["three"]["roots"] == {"rfc6962:sha256:64KiB": mksum.root(b"three").text}


def test_silent_damage_is_found_never_accepted_and_repaired(photos: pathlib.Path) -> None:
    copy = photos.with_name("copy")
    shutil.copytree(photos, copy, symlinks=True)
    catalogue = mksum.Catalogue.keep(photos)
    damage(photos / "big", 5_000_000)
    damage(photos / "1")
    assert list(catalogue.status()) == [] and catalogue.update() == []
    found = catalogue.verify()
    leaf = 5_000_000 // 65536 * 65536
    assert (found["intact"], found["verified"]) == (3, 8)
    by_path = {entry["path"]: entry for entry in found["found"]}
    assert states(found["found"]) == {"1": "damaged", "big": "damaged"}
    assert (by_path["1"]["ranges"], by_path["1"]["length"]) == ([], 3)
    assert (by_path["big"]["ranges"], by_path["big"]["length"]) == ([(leaf, leaf + 65536)], BIG)
    # A format that is added reads all: then the damage is an error, and the old roots stay.
    with pytest.raises(mksum.DamagedError) as caught:
        mksum.Catalogue.keep(photos, "md5")
    assert caught.value.path == str(photos / "1") and str(photos / "big") in caught.value.__notes__[0]
    assert [len(row["roots"]) for row in catalogue if row["path"] in ("1", "big", "sub/2")] == [1, 1, 2]
    # The copy of a file is damaged, too: nothing is written from it.
    damage(copy / "1", 1)
    damaged = (photos / "1").read_bytes()
    repaired = {entry["path"]: entry for entry in catalogue.repair(copy)}
    assert states(repaired.values()) == {"1": "failed", "big": "repaired"}
    assert (repaired["big"]["ranges"], repaired["big"]["fetched"]) == ([(leaf, leaf + 65536)], 65536)
    assert "another root" in repaired["1"]["error"] and (photos / "1").read_bytes() == damaged
    damage(copy / "1", 1)
    assert states(catalogue.repair(os.fsencode(copy))) == {"1": "repaired"}
    assert (photos / "1").read_bytes() == b"one" and (photos / "big").read_bytes() == (copy / "big").read_bytes()
    assert catalogue.verify()["found"] == [] and catalogue.repair(copy) == []
    (photos / "1").write_bytes(b"other")
    (photos / "sub" / "2").unlink()
    (photos / "new").touch()
    assert states(catalogue.verify()["found"]) == {"1": "changed", "new": "new", "sub/2": "gone"}
    assert states(catalogue.repair(copy)) == {"1": "changed", "sub/2": "gone"}


def test_a_part_is_verified_each_time(tmp_path: pathlib.Path) -> None:
    top = write(tmp_path / "top", {f"{number}": noise(1000, number) for number in range(10)})
    catalogue = mksum.Catalogue.keep(top, "sha256")
    seen = 0
    for _ in range(10):
        found = catalogue.verify(sample=0.1)
        assert 1 <= found["intact"] < 10
        seen += found["verified"]
    assert seen >= 10_000
    assert catalogue.verify(budget=0)["intact"] >= 1
    assert catalogue.verify(budget=60.0)["intact"] == 10
    for options in [{"budget": -1.0}, {"sample": 1.5}, {"sample": float("nan")}, {"budget": 1.0, "sample": 0.5}]:
        with pytest.raises(ValueError):
            catalogue.verify(**options)


def test_catalogues_are_compared(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "one", {"1": b"one", "2": b"two", "3": b"three", "same": b"same"})
    two = write(tmp_path / "two", {"uno": b"one", "2": b"zwei", "4": b"four", "same": b"same"})
    left = mksum.Catalogue.keep(one, "sha256")
    place = tmp_path / "elsewhere"
    right = mksum.Catalogue.keep(two, "sha256", catalogue=place)
    assert not (two / ".mksum").exists()
    expected = [
        {"path": "2", "kind": "entry", "state": "changed"},
        {"path": "4", "kind": "entry", "state": "added"},
        {"path": "uno", "kind": "entry", "state": "moved", "from": "1"},
        {"path": "3", "kind": "entry", "state": "removed"},
    ]
    for other in [right, place, str(place)]:
        assert list(left.diff(other)) == expected
    assert list(left.diff(one)) == []
    three = mksum.Catalogue.keep(write(tmp_path / "three", {"same": b"same"}), "md5")
    assert states(three.diff(left))["same"] == "incomparable"
    with pytest.raises(mksum.NotFoundError):
        list(left.diff(two))
    # A catalogue alone has rows, but no directory.
    alone = mksum.Catalogue.open(place)
    assert alone.directory is None and len(list(alone)) == 4
    for call in [alone.status, alone.update, alone.verify]:
        with pytest.raises(mksum.RefusedError):
            call()
    assert list(mksum.Catalogue.open(two, catalogue=place).status()) == []


@contextlib.contextmanager
def served(content: bytes) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that has these bytes everywhere, and the ranges that it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"])
            assert wanted is not None
            asked.append(self.headers["Range"])
            first, last = int(wanted[1]), min(int(wanted[2]), len(content) - 1)
            self.send_response(206)
            self.send_header("ETag", '"one"')
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
            self.send_header("Content-Length", str(last + 1 - first))
            self.end_headers()
            self.wfile.write(content[first : last + 1])

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


def test_catalogues_at_urls_are_compared(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "one", {"1": b"one", "2": b"two"})
    left = mksum.Catalogue.keep(one, "sha256")
    place = tmp_path / "elsewhere"
    mksum.Catalogue.keep(write(tmp_path / "two", {"1": b"one", "2": b"zwei"}), "sha256", catalogue=place)
    with served(place.read_bytes()) as (address, asked):
        assert states(left.diff(f"{address}/catalogue")) == {"2": "changed"}
        assert asked
    with served(b"no catalogue") as (address, _), pytest.raises(mksum.CatalogueError) as caught:
        list(left.diff(f"{address}/nonsense"))
    assert "nonsense" in str(caught.value)


def tool_lines(top: pathlib.Path, names: list[str], fmt: str) -> bytes:
    """The lines that the tool writes of these files."""
    tag = {"sha256": "SHA256", "md5": "MD5"}.get(fmt, fmt)
    roots = {name: mksum.file_root(top / name, fmt).text for name in names}
    return "".join(f"{tag} ({name}) = {root}\n" for name, root in roots.items()).encode()


def test_lists_are_compared_with_catalogues(tmp_path: pathlib.Path) -> None:
    top = write(tmp_path / "top", {"1": b"one", "2": b"two", "3": b"three", "sub/4": b"four"})
    catalogue = mksum.Catalogue.keep(top, "sha256")

    def digest(content: bytes) -> str:
        return hashlib.sha256(content).hexdigest()

    sums = tmp_path / "SHA256SUMS"
    sums.write_text(f"{digest(b'one')}  ./1\n{digest(b'zwei')} *2\n{digest(b'three')}  drei\n{digest(b'5')}  5\n")
    expected = [
        {"path": "2", "kind": "entry", "state": "changed"},
        {"path": "5", "kind": "entry", "state": "added"},
        {"path": "drei", "kind": "entry", "state": "moved", "from": "3"},
        {"path": "sub/4", "kind": "entry", "state": "removed"},
    ]
    # Directories and links are no difference from a list, which has files only.
    for path in [sums, str(sums), os.fsencode(sums)]:
        assert list(catalogue.diff(path)) == expected
    # In another hash nothing can be compared. The name of the list says which hash it is.
    blake = tmp_path / "B3SUMS"
    blake.write_text(f"{mksum.blake3(b'one').hexdigest()}  1\n")
    assert states(catalogue.diff(blake))["1"] == "incomparable"
    # Lines of JSON, as the tool prints them.
    rows = tmp_path / "rows.json"
    rows.write_text("".join(json.dumps(row) + "\n" for row in catalogue))
    assert list(catalogue.diff(rows)) == []
    # Lines that are not used are an error, after the differences.
    sums.write_text(f"{digest(b'one')}  1\nnonsense\nsha256@0..1 (2) = {digest(b't')}\n")
    found = []
    with pytest.raises(mksum.CatalogueError, match="2 lines are malformed") as caught:
        for entry in catalogue.diff(sums):
            found.append(entry["path"])
    assert found == ["2", "3", "sub/4"] and caught.value.path == str(sums)
    for other, error in [(tmp_path / "missing", mksum.NotFoundError), (top / "1", mksum.CatalogueError)]:
        with pytest.raises(error) as refused:
            list(catalogue.diff(other))
        assert refused.value.path == str(other)
    (tmp_path / "noise").write_bytes(noise(3 << 20))
    with pytest.raises(mksum.CatalogueError, match="neither a catalogue nor a list"):
        list(catalogue.diff(tmp_path / "noise"))


def test_a_list_is_imported_and_verified_later(tmp_path: pathlib.Path) -> None:
    top = write(tmp_path / "top", {"1": b"one", "2": b"two", "3": b"three", "4": b"four"})
    sums = tmp_path / "SUMS"
    sums.write_bytes(
        b"".join(
            hashlib.sha256(text).hexdigest().encode() + name
            for text, name in [
                (b"one", b"  1\n"),
                (b"damaged since", b"  2\n"),
                (b"three", b"  3\n"),
                (b"", b"  gone\n"),
                (b"", b"  ../SUMS\n"),
            ]
        )
        + b"nonsense\n"
    )
    catalogue = mksum.Catalogue.create(top)
    assert list(catalogue) == [] and catalogue.formats == [] and catalogue.directory == str(top)
    result = catalogue.import_list(sums)
    assert pickle.loads(pickle.dumps(result)) == result
    assert (result["imported"], result["known"], result["unused"]) == (3, 0, 1)
    assert states(result["found"]) == {"../SUMS": "gone", "gone": "gone"}
    assert all("no such file" in entry["error"] for entry in result["found"])
    assert catalogue.formats == ["sha256"]
    assert {row["path"]: row["verified"] for row in catalogue if row["type"] == "file"} == {"1": 0, "2": 0, "3": 0}
    # Nothing was read: the content is compared by verify.
    checked = catalogue.verify()
    assert checked["intact"] == 2 and states(checked["found"]) == {"2": "damaged", "4": "new"}
    # Again: known. What contradicts the catalogue is refused, with both roots.
    sums.write_text(f"{hashlib.sha256(b'one').hexdigest()}  1\n{hashlib.sha256(b'x').hexdigest()}  3\n")
    result = mksum.Catalogue.create(top).import_list(str(sums))
    assert (result["imported"], result["known"], states(result["found"])) == (0, 1, {"3": "refused"})
    error = result["found"][0]["error"]
    assert hashlib.sha256(b"x").hexdigest() in error and hashlib.sha256(b"three").hexdigest() in error
    # Another length than the list has: JSON has lengths.
    (tmp_path / "rows").write_text(
        json.dumps({"path": "4", "kind": "root", "format": "md5", "root": "0" * 32, "length": 5}) + "\n"
    )
    assert states(catalogue.import_list(tmp_path / "rows")["found"]) == {"4": "refused"}
    # A format for lines that name none: sums of 64 digits are SHA-256 otherwise.
    sums.write_text(f"{mksum.blake3(b'four').hexdigest()}  4\n")
    assert catalogue.import_list(sums, "blake3")["imported"] == 1
    assert {row["path"]: sorted(row["roots"]) for row in catalogue if row["type"] == "file"}["4"] == ["blake3"]
    # The catalogue of a copy is a list, too.
    copy = write(tmp_path / "copy", {"1": b"one", "2": b"two", "3": b"three", "4": b"four"})
    assert mksum.Catalogue.create(copy).import_list(top)["imported"] == 4
    for path, kind in [(tmp_path / "missing", mksum.NotFoundError), (top / "1", mksum.CatalogueError)]:
        with pytest.raises(kind) as caught:
            catalogue.import_list(path)
        assert caught.value.path == str(path)
    for path in [tmp_path / "missing", sums]:
        with pytest.raises(mksum.FileError):
            mksum.Catalogue.create(path)
        assert not (path / ".mksum").exists()
    with pytest.raises(mksum.FormatError):
        catalogue.import_list(sums, "md6")
    alone = mksum.Catalogue.open(catalogue.path, catalogue=None)
    assert alone.import_list(sums, "blake3")["known"] == 1


def test_a_catalogue_is_exported(tmp_path: pathlib.Path) -> None:
    top = write(tmp_path / "bag", {"data/1": b"one", "data/sub/a%b": b"percent", "bagit.txt": b"declaration"})
    catalogue = mksum.Catalogue.keep(top, ["sha256", "rfc6962"])
    names = ["bagit.txt", "data/1", "data/sub/a%b"]
    plain = tool_lines(top, names, "sha256")
    assert b"".join(catalogue.export("sums", "sha256")) == plain
    assert plain.splitlines(True)[0].startswith(b"SHA256 (bagit.txt) = ")
    both = list(catalogue.export())
    assert len(both) == 6 and sorted(plain.splitlines(True)) == sorted(line for line in both if line.startswith(b"SHA256"))
    assert b"".join(catalogue.export(fmts=["rfc6962"])) == tool_lines(top, names, "rfc6962:sha256:64KiB")
    digest = hashlib.sha256
    assert list(catalogue.export("bagit")) == [
        f"{digest(b'one').hexdigest()}  data/1\n".encode(),
        f"{digest(b'percent').hexdigest()}  data/sub/a%25b\n".encode(),
    ]
    # Whatever is exported is read again.
    sums = tmp_path / "SUMS"
    with open(sums, "wb") as file:
        file.writelines(catalogue.export())
    assert list(catalogue.diff(sums)) == []
    with pytest.raises(ValueError, match="'sums' or 'bagit'"):
        catalogue.export("json")  # type: ignore[arg-type]
    with pytest.raises(mksum.FormatError) as lacking:
        catalogue.export("sums", "md5")
    assert lacking.value.found == "md5"
    with pytest.raises(mksum.FormatError):
        catalogue.export("bagit", "rfc6962")
    # A list without all files is an error, after its lines.
    (tmp_path / "one").write_text(f"{hashlib.md5(b'one').hexdigest()}  data/1\n")
    assert catalogue.import_list(tmp_path / "one")["imported"] == 1
    lines = catalogue.export("sums", "md5")
    assert next(lines) == f"MD5 (data/1) = {hashlib.md5(b'one').hexdigest()}\n".encode()
    with pytest.raises(mksum.CatalogueError, match=r"no root in md5.*: 2") as partial:
        next(lines)
    assert partial.value.path == str(top / "bagit.txt")
    assert list(lines) == []
    other = mksum.Catalogue.keep(write(tmp_path / "no bag", {"file": b"content"}), "sha256")
    with pytest.raises(mksum.CatalogueError, match="data/"):
        list(other.export("bagit"))


def test_an_export_is_stopped(tmp_path: pathlib.Path) -> None:
    catalogue = mksum.Catalogue.keep(write(tmp_path / "top", {f"{number}": b"" for number in range(3000)}), "md5")
    stop = mksum.Stop()
    lines = catalogue.export(stop=stop)
    assert next(lines).startswith(b"MD5 (0) = ")
    stop.stop()
    with pytest.raises(mksum.StoppedError) as caught:
        for count, _ in enumerate(lines):
            assert count < 2500
    assert caught.value.path == catalogue.path


def test_errors_of_catalogues(tmp_path: pathlib.Path) -> None:
    top = write(tmp_path / "top", {"file": b"content"})
    with pytest.raises(mksum.NotFoundError) as missing:
        mksum.Catalogue.open(top)
    assert missing.value.path == str(top / ".mksum" / "catalogue")
    for path in [top / "missing", top / "file"]:
        with pytest.raises(mksum.FileError) as caught:
            mksum.Catalogue.keep(path)
        assert caught.value.path == str(path) and not (path / ".mksum").exists()
    with pytest.raises(mksum.FormatError):
        mksum.Catalogue.keep(top, "md6")
    with pytest.raises(TypeError):
        mksum.Catalogue()  # type: ignore[call-arg]
    for call in [lambda: mksum.Catalogue.open(top / "file"), lambda: mksum.Catalogue.keep(top, catalogue=top / "file")]:
        with pytest.raises(mksum.CatalogueError) as odd:
            call()
        assert odd.value.path == str(top / "file") and str(odd.value).startswith(str(top / "file"))
    assert (top / "file").read_bytes() == b"content"
    catalogue = mksum.Catalogue.keep(top)
    # A row that was lost would be a file that is not verified.
    with contextlib.closing(sqlite3.connect(catalogue.path)) as database:
        database.execute("DELETE FROM root")
        database.commit()
    with pytest.raises(mksum.CatalogueError, match="file"):
        list(catalogue)
    with pytest.raises(mksum.CatalogueError):
        catalogue.verify()
    with open(catalogue.path, "r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)
    for use in [lambda: catalogue.formats, lambda: list(catalogue.status()), catalogue.update]:
        with pytest.raises(mksum.CatalogueError):
            use()


def test_names_that_are_not_unicode(tmp_path: pathlib.Path) -> None:
    top = os.path.join(os.fsencode(tmp_path), b"\xfe")
    os.mkdir(top)
    for name in [b"\xff", b"a\nb", "é".encode()]:
        with open(os.path.join(top, name), "wb") as file:
            file.write(name)
    catalogue = mksum.Catalogue.keep(top, "sha256")
    rows = {os.fsencode(row["path"]): row for row in catalogue}
    assert {name: row["roots"]["sha256"] for name, row in rows.items()} == {
        name: mksum.root(name, "sha256").text for name in [b"\xff", b"a\nb", "é".encode()]
    }
    os.rename(os.path.join(top, b"\xff"), os.path.join(top, b"\xfd"))
    found = list(catalogue.status())
    assert found == [{"path": "\udcfd", "kind": "entry", "state": "moved", "from": "\udcff"}]
    assert pickle.loads(pickle.dumps(found)) == found == json.loads(json.dumps(found))
    assert catalogue.update() == found and catalogue.path == os.fsdecode(top) + "/.mksum/catalogue"


UNREADABLE = """
import mksum, os, sys
top = sys.argv[1]
if os.geteuid() == 0:
    # Root reads everything.
    os.setgid(65534)
    os.setuid(65534)
os.chmod(top + "/locked", 0)
try:
    mksum.Catalogue.keep(top)
    sys.exit("no error")
except mksum.DeniedError as error:
    assert error.path == top + "/locked", error
catalogue = mksum.Catalogue.open(top)
assert [row["path"] for row in catalogue] == ["a", "sub", "sub/z"]
(failed,) = catalogue.update()
assert (failed["path"], failed["state"]) == ("locked", "unreadable") and failed["error"], failed
os.chmod(top + "/sub", 0)
assert [(entry["path"], entry["state"]) for entry in catalogue.status()] == [("locked", "unreadable"), ("sub/", "unreadable")]
os.chmod(top + "/sub", 0o700)
"""


def test_files_that_cannot_be_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = write(pathlib.Path(folder) / "top", {"a": b"a", "locked": b"locked", "sub/z": b"z"})
        if os.geteuid() == 0:
            os.chmod(folder, 0o755)
            for path in [top, *top.rglob("*")]:
                os.chown(path, 65534, 65534)
        subprocess.run([sys.executable, "-c", UNREADABLE, str(top)], check=True)


def test_catalogues_are_interrupted_stopped_and_resumed(many: pathlib.Path) -> None:
    for number in range(20):
        os.utime(many / f"{number}", (0, 0))
    timer = interrupt(0.5)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        mksum.Catalogue.keep(many, "sha256")
    # The whole takes longer than that, also on a machine that does much else.
    assert time.monotonic() - begin < 5
    timer.join()
    stop = mksum.Stop()
    threading.Timer(0.5, stop.stop).start()
    # The work that was interrupted ends soon, and what it read is in the catalogue.
    with pytest.raises(mksum.StoppedError):
        mksum.Catalogue.keep(many, "sha256", stop=stop)
    catalogue = mksum.Catalogue.open(many)
    assert {row["path"] for row in catalogue} == {f"{number}" for number in range(20)}
    stop = mksum.Stop()
    threading.Timer(0.2, stop.stop).start()
    with pytest.raises(mksum.StoppedError):
        catalogue.update(stop=stop)
    os.truncate(many / "zeros", 2 << 30)
    assert states(catalogue.update()) == {"zeros": "new"}
    for call in [catalogue.verify, lambda stop: catalogue.repair(many, stop=stop)]:
        stop = mksum.Stop()
        threading.Timer(0.2, stop.stop).start()
        with pytest.raises(mksum.StoppedError):
            call(stop=stop)
    for call in [
        catalogue.verify,
        catalogue.update,
        lambda stop: list(catalogue.status(stop=stop)),
        lambda stop: list(catalogue.rows(stop=stop)),
        lambda stop: list(catalogue.diff(many, stop=stop)),
    ]:
        # A call may be over before it looks.
        with contextlib.suppress(mksum.StoppedError):
            call(stop=stop)
    # An iterator that is not used up ends its work when it is deleted.
    records = catalogue.rows()
    assert next(records)["path"] == "0"
    del records
    assert catalogue.verify()["intact"] == 21


def test_twins_of_catalogues(photos: pathlib.Path) -> None:
    async def all_of_them() -> None:
        told: list[int] = []
        catalogue = await aio.keep_catalogue(photos, ["sha256"], on_progress=told.append)
        await asyncio.sleep(0)
        assert sum(told) >= BIG
        (photos / "1").write_bytes(b"other")
        assert states(await aio.update_catalogue(catalogue)) == {"1": "changed"}
        assert (await aio.verify_catalogue(catalogue, sample=1.0))["intact"] == 5
        damage(photos / "1")
        assert states((await aio.verify_catalogue(catalogue))["found"]) == {"1": "damaged"}
        copy = write(photos.with_name("copy"), {"1": b"other"})
        assert states(await aio.repair_catalogue(catalogue, copy)) == {"1": "repaired"}

    asyncio.run(all_of_them())


def test_a_catalogue_without_files_is_not_verified(tmp_path: pathlib.Path) -> None:
    catalogue = mksum.Catalogue.keep(tmp_path, "sha256")
    for _ in range(2):
        with pytest.raises(mksum.CatalogueError, match="nothing was verified: it has no files to read"):
            catalogue.verify()
        (tmp_path / "new").write_bytes(b"x")
    catalogue.update()
    assert catalogue.verify()["intact"] == 1
