"""Downloads: from mirrors that are damaged, gone or slow, of files and of directories."""

import asyncio
import hashlib
import http.server
import os
import pathlib
import threading
from collections.abc import Iterator

import mksum
import mksum.aio
import pytest
from conftest import noise

LEAF = 64 << 10
# The digests of both chunks of noise(2048, 3), as bao encode --outboard writes them.
BAO_PAIR = (
    "a5233a49ca215fcfd854ac57d59a13788af34526def7e3a7f137e6daa4a98ab8",
    "168687995985365e5946d5795da43ffd9e59b7cfce7b630243e42b38014b9662",
)


class Server:
    """A web server over a folder, without ranges, which can keep its bytes back."""

    def __init__(self, folder: pathlib.Path, hold: threading.Event | None = None) -> None:
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def copyfile(self, source: object, outputfile: object) -> None:
                if hold:
                    hold.wait(60)
                super().copyfile(source, outputfile)  # type: ignore[arg-type]

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # connections are closed early

        self.server = Quiet(("127.0.0.1", 0), lambda *args: Handler(*args, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def mirror(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a file, and its outboard."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "file").write_bytes(noise(20 * LEAF + 17))
    mksum.Outboard.keep(folder / "file")
    return folder


@pytest.fixture
def server(mirror: pathlib.Path) -> Iterator[Server]:
    """Serves the mirror."""
    server = Server(mirror)
    yield server
    server.close()


def test_ranges_from_several_mirrors(mirror: pathlib.Path, tmp_path: pathlib.Path) -> None:
    content = (mirror / "file").read_bytes()
    bad = tmp_path / "bad"
    bad.write_bytes(content[: 3 * LEAF] + bytes(LEAF) + content[4 * LEAF :])
    root = mksum.file_root(mirror / "file")
    target, told = tmp_path / "out", [0]
    done = mksum.get([bad, mirror / "file"], root, target, on_progress=told.append)
    assert target.read_bytes() == content
    assert (done["state"], done["root"], done["length"]) == ("fetched", root.text, len(content))
    assert done["mirrors"][0]["bad"] in ([], [(3 * LEAF, 4 * LEAF)])
    assert sum(told) >= len(content)
    assert mksum.get(mirror / "file", root, target)["state"] == "present"
    # The good leaves of what is there are used.
    target.write_bytes(content[: 5 * LEAF] + bytes(7) + content[5 * LEAF + 7 :])
    done = mksum.get(mirror / "file", root, target)
    assert (done["fetched"], done["seeded"]) == (LEAF, len(content) - LEAF)
    # An older file has leaves, too.
    done = mksum.get(mirror / "file", root, tmp_path / "new", seeds=[target])
    assert (done["fetched"], done["seeded"]) == (0, len(content))
    assert sorted(os.listdir(tmp_path)) == ["bad", "mirror", "new", "out"]


def test_roots_in_all_forms(server: Server, mirror: pathlib.Path, tmp_path: pathlib.Path) -> None:
    content = (mirror / "file").read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    line = f"{sha256}  file\n"
    for number, (root, fmt) in enumerate([(sha256, "sha256"), (f"sha256:{sha256}", None), (line, None), (sha256, None)]):
        done = mksum.get(f"{server.url}/file", root, tmp_path / str(number), fmt=fmt, outboards=[])
        assert ((tmp_path / str(number)).read_bytes(), done["format"]) == (content, "sha256")
        assert "outboard" not in done
    kept = mksum.Outboard.open(mirror / "file").root
    done = mksum.get(f"{server.url}/file", f"{kept.format}:{kept.text}", tmp_path / "kept")
    assert done["outboard"] == f"{server.url}/file.mkt"


def test_trees_of_other_programs(mirror: pathlib.Path, tmp_path: pathlib.Path) -> None:
    # Bao's outboard of two leaves: the length, and the pair of their digests.
    content = noise(2048, 3)
    (mirror / "two").write_bytes(content)
    left, right = (bytes.fromhex(part) for part in BAO_PAIR)
    (mirror / "two.obao").write_bytes((2048).to_bytes(8, "little") + left + right)
    root = mksum.file_root(mirror / "two", "blake3")
    done = mksum.get(mirror / "two", root, tmp_path / "two", foreign="blake3")
    assert (done["outboard"], (tmp_path / "two").read_bytes()) == (str(mirror / "two.obao"), content)
    (mirror / "two").write_bytes(content[:1500] + b"x" + content[1501:])
    with pytest.raises(mksum.FetchError, match=r"no mirror has the right 1,024 bytes"):
        mksum.get(mirror / "two", root, tmp_path / "three", foreign="blake3")
    with pytest.raises(mksum.OutboardError, match=r"no other program keeps trees of sha256"):
        mksum.get(mirror / "two", root, tmp_path / "three", foreign="sha256")


def test_what_is_wrong_never_gets_the_name(server: Server, mirror: pathlib.Path, tmp_path: pathlib.Path) -> None:
    root, target = mksum.file_root(mirror / "file"), tmp_path / "out"
    content = bytearray((mirror / "file").read_bytes())
    content[LEAF] ^= 1
    (mirror / "file").write_bytes(content)
    with pytest.raises(mksum.FetchError, match=r"no mirror has the right 65,536 bytes") as raised:
        mksum.get(f"{server.url}/file", root, target)
    assert (raised.value.path, target.exists()) == (str(target), False)
    assert f"{server.url}/file: bytes {LEAF}..{2 * LEAF} were wrong" in str(raised.value)
    with pytest.raises(mksum.FetchError, match=r"no mirror has a file with this root"):
        mksum.get(f"{server.url}/file", root, tmp_path / "other", outboards=[])
    with pytest.raises(mksum.RefusedError, match=r"of another file"):
        mksum.get(f"{server.url}/file", mksum.Root(root.format, "00" * 32, root.length), target)
    with pytest.raises(mksum.FetchError):
        mksum.get(f"{server.url}/gone", root, tmp_path / "gone")
    assert not target.exists()
    for wrong in ["", "zz", "dir:sha256:" + "00" * 32]:
        with pytest.raises(mksum.FormatError):
            mksum.get(mirror / "file", wrong, target)
    with pytest.raises(ValueError, match=r"urls is empty"):
        mksum.get([], root, target)
    with pytest.raises(mksum.FormatError, match=r"begins with 'dir'"):
        mksum.get_directory(mirror, root.text, target)


def test_a_stop_ends_a_download(mirror: pathlib.Path, tmp_path: pathlib.Path) -> None:
    hold = threading.Event()
    server = Server(mirror, hold)
    root, stop = mksum.file_root(mirror / "file"), mksum.Stop()
    threading.Timer(0.2, stop.stop).start()
    with pytest.raises(mksum.StoppedError):
        mksum.get(f"{server.url}/file", root, tmp_path / "out", outboards=[mirror / "file.mkt"], stop=stop)
    # What was begun is not held any longer: another call can go on.
    hold.set()
    done = mksum.get(f"{server.url}/file", root, tmp_path / "out", outboards=[mirror / "file.mkt"])
    assert (done["state"], (tmp_path / "out").exists()) == ("fetched", True)
    server.close()


def entries(folder: pathlib.Path) -> dict[str, object]:
    """What is below a folder."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.is_dir() or path.read_bytes()
        for path in folder.rglob("*")
        if ".mksum" not in path.parts
    }


def test_directories(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "source"
    (source / "empty").mkdir(parents=True)
    (source / "d").mkdir()
    (source / "d" / "big").write_bytes(noise(9 << 20))
    (source / "small").write_bytes(b"small")
    (source / "link").symlink_to("d/big")
    mksum.Catalogue.keep(source)
    root = mksum.directory_root(source, "dir+mode")
    server = Server(source)
    done = mksum.get_directory(server.url, root, tmp_path / "out")
    assert entries(tmp_path / "out") == entries(source)
    assert (done["entries"], done["root"], done["extra"]) == (5, root.text, [])
    assert [(row["path"], row["state"]) for row in done["files"]] == [
        (str(tmp_path / "out" / name), "fetched") for name in ["d/big", "small"]
    ]
    assert "outboard" in done["files"][0]
    assert mksum.directory_root(tmp_path / "out", "dir+mode") == root
    # One that is damaged is repaired, and what is more is named.
    (tmp_path / "out" / "small").write_bytes(b"smaLl")
    (tmp_path / "out" / "more").write_bytes(b"")
    done = mksum.get_directory([server.url], f"{root.format}:{root.text}", tmp_path / "out")
    assert ([row["state"] for row in done["files"]], done["extra"]) == (["present", "fetched"], ["more"])
    assert (tmp_path / "out" / "small").read_bytes() == b"small"
    # A file that no mirror has is an error, and the others are there.
    (source / "small").write_bytes(b"other")
    with pytest.raises(mksum.FetchError, match=r"small: .*no mirror has a file with this root"):
        mksum.get_directory(source, root, tmp_path / "two")
    assert set(entries(tmp_path / "two")) == {"d", "d/big", "empty", "link"}
    with pytest.raises(mksum.CatalogueError, match=r"of another directory"):
        mksum.get_directory(source, mksum.DirectoryRoot("dir", "00" * 32), tmp_path / "three")
    with pytest.raises(mksum.NotFoundError):
        mksum.get_directory(tmp_path / "out", root, tmp_path / "three")
    assert not (tmp_path / "three").exists()
    server.close()


def test_asyncio(mirror: pathlib.Path, tmp_path: pathlib.Path) -> None:
    root = mksum.file_root(mirror / "file")
    done = asyncio.run(mksum.aio.get(mirror / "file", root, tmp_path / "out"))
    assert (done["state"], (tmp_path / "out").read_bytes()) == ("fetched", (mirror / "file").read_bytes())
    hold = threading.Event()
    server = Server(mirror, hold)

    async def cancelled() -> None:
        task = asyncio.create_task(mksum.aio.get(f"{server.url}/file", root, tmp_path / "two", outboards=[]))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    threading.Timer(0.5, hold.set).start()
    asyncio.run(cancelled())
    assert not (tmp_path / "two").exists()
    server.close()
