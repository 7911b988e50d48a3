"""Roots of directories, and catalogues."""

import asyncio
import errno
import importlib.util
import os
import pathlib
import pickle
import signal
import threading
import time
import types

import mksum
import pytest
from conftest import REPOSITORY, noise
from mksum import aio


def vectors() -> types.ModuleType:
    """The independent implementation, which makes the directories of the rows."""
    found = importlib.util.spec_from_file_location("directories", REPOSITORY / "vectors" / "directories.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


ROWS = [line.split("\t") for line in (REPOSITORY / "vectors" / "directories.tsv").read_text().splitlines()[1:]]


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
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_directory_roots_are_interrupted_and_stopped(many: pathlib.Path) -> None:
    told: list[int] = []
    timer = interrupt(0.3)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        mksum.directory_root(many, "dir:sha256", on_progress=told.append)
    assert time.monotonic() - begin < 1.0
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
