"""Stores and file systems of other packages as inputs and as places of trees and ledgers."""

import contextlib
import hashlib
import http.server
import itertools
import os
import pathlib
import pickle
import random
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import fsspec
import mksum
import mksum.cluster
import obstore
import pytest
from conftest import noise
from mksum._filesystems import adapter_of
from obstore.store import LocalStore, MemoryStore, S3Store

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
COUNTS = itertools.count()
# Moto has a header `Server` of its own beside Werkzeug's: aiohttp refuses two in Python's development mode.
MOTO = """
from moto.server import main
from werkzeug.serving import WSGIRequestHandler
WSGIRequestHandler.send_response = WSGIRequestHandler.send_response_only
main()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of an S3 store on this machine."""
    # Below the ports that systems lend to clients: those may be taken until the server starts.
    port = random.randrange(15_000, 32_768)
    url, environment = f"http://127.0.0.1:{port}", {**os.environ, **KEYS}
    command = [sys.executable, "-c", MOTO, "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"{url}/moto-api/", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, "moto has ended"
                assert time.monotonic() < deadline, "moto does not answer"
                time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait(10)


def made(server: str, bucket: str) -> str:
    urllib.request.urlopen(urllib.request.Request(f"{server}/{bucket}", method="PUT"), timeout=10).close()
    return bucket


def s3(server: str, bucket: str) -> S3Store:
    options: Any = {"client_options": {"allow_http": True}}
    return S3Store(
        made(server, bucket),
        endpoint=server,
        access_key_id="key",
        secret_access_key="secret",
        region="us-east-1",
        virtual_hosted_style_request=False,
        **options,
    )


def fsspec_s3(server: str, bucket: str) -> Any:
    made(server, bucket)
    return fsspec.filesystem("s3", key="key", secret="secret", endpoint_url=server, client_kwargs={"region_name": "us-east-1"})


def arrow_s3(server: str, bucket: str) -> Any:
    from pyarrow.fs import S3FileSystem

    options = {"access_key": "key", "secret_key": "secret", "endpoint_override": server.removeprefix("http://"), "scheme": "http"}
    made(server, bucket)
    return S3FileSystem(**options, region="us-east-1")


def arrow_local() -> Any:
    from pyarrow.fs import LocalFileSystem

    return LocalFileSystem()


def arrow_of_fsspec() -> Any:
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    return PyFileSystem(FSSpecHandler(fsspec.filesystem("file")))


# Each with the folder that tests have in it.
STORES: dict[str, Callable[[str, pathlib.Path, str], tuple[Any, str]]] = {
    "obstore memory": lambda server, path, name: (MemoryStore(), "folder"),
    "obstore local": lambda server, path, name: (LocalStore(str(path)), "folder"),
    "obstore s3": lambda server, path, name: (s3(server, name), "folder"),
    "fsspec memory": lambda server, path, name: (fsspec.filesystem("memory"), f"/{name}"),
    "fsspec local": lambda server, path, name: (fsspec.filesystem("file"), str(path)),
    "fsspec s3": lambda server, path, name: (fsspec_s3(server, name), f"{name}/folder"),
    "pyarrow local": lambda server, path, name: (arrow_local(), str(path)),
    "pyarrow s3": lambda server, path, name: (arrow_s3(server, name), f"{name}/folder"),
    "pyarrow over fsspec": lambda server, path, name: (arrow_of_fsspec(), str(path)),
}


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, server: str, tmp_path: pathlib.Path) -> tuple[Any, str]:
    return STORES[request.param](server, tmp_path, f"bucket{next(COUNTS)}")


def test_roots_trees_and_ledgers(place: tuple[Any, str]) -> None:
    store, folder = place
    data = {"long": noise(9_000_001), "below/short ü": b"abc", "empty": b""}
    with mksum.use_store(store) as url:
        for name, content in data.items():
            mksum.put_object(f"{url}/{folder}/{name}", content)
        assert list(mksum.get_objects(f"{url}/{folder}/{name}" for name in data)) == list(data.values())
        for name, content in data.items():
            roots = mksum.file_root(f"{url}/{folder}/{name}", ["blake3", "sha256"])
            assert roots == mksum.root(content, ["blake3", "sha256"])
        listed = {row["path"].removeprefix(f"{url}/{folder.strip('/')}/"): row for row in mksum.list_objects(f"{url}/{folder}/")}
        assert {name: row["size"] for name, row in listed.items()} == {name: len(content) for name, content in data.items()}
        # What is listed has the version that is opened.
        assert {row["version"] for row in listed.values()} == {
            mksum.plan(row["path"], "sha256")[0]["version"] for row in listed.values()
        }
        tree = mksum.Outboard.keep(f"{url}/{folder}/long", "rfc6962", outboard=f"{url}/{folder}/trees/long.mkt")
        tree.verify()
        proof = tree.prove(5, 10)
        assert mksum.check_proof(proof, tree.root, data["long"][5:10]) == (5, 10)
        with mksum.open(f"{url}/{folder}/long", root=tree.root, outboard=f"{url}/{folder}/trees/long.mkt") as file:
            assert file.read_at(8_000_000, 100) == data["long"][8_000_000:8_000_100]
        ledger = f"{url}/{folder}/ledger"
        first = mksum.cluster.hash(f"{url}/{folder}/below/", ledger, "blake3", part=1 << 20)
        assert [row["root"] for row in first] == [mksum.root(b"abc", "blake3").text]
        with pytest.raises(mksum.NotFoundError):
            mksum.file_root(f"{url}/{folder}/none")
    with pytest.raises(mksum.RefusedError, match="no store is in use under this URL"):
        mksum.file_root(f"{url}/{folder}/long")


def test_a_cluster_reads_by_them(place: tuple[Any, str], tmp_path: pathlib.Path) -> None:
    store, folder = place
    with mksum.use_store(store) as url:
        for name, content in {"a": noise(3_000_000), "b/c": b"abc", "b/d": b""}.items():
            mksum.put_object(f"{url}/{folder}/{name}", content)
    ledger = tmp_path.with_name(f"{tmp_path.name}-ledger")
    found = mksum.cluster.hash(folder, str(ledger), "blake3", files=store, part=1 << 20)
    assert [(row["object"], row["root"], row["error"]) for row in found] == [
        (f"{folder}/a", mksum.root(noise(3_000_000), "blake3").text, None),
        (f"{folder}/b/c", mksum.root(b"abc", "blake3").text, None),
        (f"{folder}/b/d", mksum.root(b"", "blake3").text, None),
    ]
    # One is replaced after it was listed, and one is not there.
    wrong = [{**row, "path": row["object"], "version": row["etag"]} for row in found]
    wrong[1]["version"], wrong[2]["path"] = "another", f"{folder}/none"
    results = mksum.cluster.hash(wrong, str(ledger), "sha256", files=store)  # type: ignore[arg-type]
    assert [row["status"] for row in results] == ["ok", "changed", "gone"], results


def test_an_object_that_changes_while_it_is_read_has_no_root(place: tuple[Any, str], monkeypatch: pytest.MonkeyPatch) -> None:
    store, folder = place
    adapter = adapter_of(store)
    kind, read, reads = type(adapter), type(adapter).read, itertools.count()

    def changed(self: Any, key: str, start: int, end: int, wanted: str | None) -> Any:
        # From the second range on, there is another object of the same length.
        if next(reads) == 1:
            self.write(key, [noise(30_000_000, 2)])
        return read(self, key, start, end, wanted)

    with mksum.use_store(store) as url:
        mksum.put_object(f"{url}/{folder}/long", noise(30_000_000))
        # Some stores have the time of a change in seconds.
        if "time" in adapter.facts(f"{folder}/long")[1]:
            time.sleep(1.1)
        monkeypatch.setattr(kind, "read", changed)
        with pytest.raises(mksum.ChangedError, match="store has another version"):
            mksum.file_root(f"{url}/{folder}/long")


def test_an_upload_that_fails_leaves_the_object_as_it_was(place: tuple[Any, str]) -> None:
    store, folder = place
    adapter = adapter_of(store)
    adapter.write(f"{folder}/file", [b"as it ", b"was"])

    def chunks() -> Iterator[bytes]:
        yield noise(6_000_000)
        raise OSError("the disk is gone")

    with pytest.raises(Exception, match="the disk is gone"):
        adapter.write(f"{folder}/file", chunks())
    assert bytes(memoryview(adapter.read(f"{folder}/file", 0, 1000, None)[2])) == b"as it was"
    assert [key.rpartition("/")[2] for key, *_ in adapter.list(folder)] == ["file"]


def test_errors_of_a_store_are_errors_of_the_object() -> None:
    class Failing(MemoryStore):
        def get(self, *_: Any, **__: Any) -> Any:
            raise ValueError("no luck\nand a trace")

    store = Failing()
    store.put("a", b"abc")
    with mksum.use_store(store) as url, pytest.raises(mksum.FileError, match="ValueError: no luck") as error:
        mksum.file_root(f"{url}/a")
    assert "trace" not in str(error.value)

    class Short(MemoryStore):
        def get(self, *args: Any, **options: Any) -> Any:
            options["options"]["range"] = (0, 2)
            return super().get(*args, **options)

    short = Short()
    short.put("a", b"abc")
    with mksum.use_store(short) as url, pytest.raises(mksum.MksumError, match="2 bytes where 3 were asked for"):
        mksum.file_root(f"{url}/a")


def test_an_open_file_is_read_by_ranges(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(noise(3_000_000))
    with fsspec.filesystem("file").open(str(path), "rb") as file, mksum.use_store(file) as url:
        assert mksum.file_root(url, "blake3") == mksum.file_root(path, "blake3")
    memory = fsspec.filesystem("memory")
    memory.pipe("/open/file", b"abc")
    with memory.open("/open/file") as file:
        # The position of an open file does not matter.
        file.read()
        file.fs, file.path = memory, "/open/file"
        with mksum.use_store(file) as url:
            assert mksum.file_root(url, "sha256").text == mksum.sha256(b"abc").hexdigest()
    for wrong in [b"abc", None, object()]:
        with pytest.raises(TypeError, match="expected a store of obstore"), mksum.use_store(wrong):
            pass


def test_a_store_without_versions_is_refused() -> None:
    class Bare(fsspec.AbstractFileSystem):  # type: ignore[misc]
        root_marker = ""

        def info(self, path: str, **_: Any) -> Any:
            return {"name": path, "type": "file", "size": 20_000_000}

        def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
            return bytes((end or 0) - (start or 0))

    with mksum.use_store(Bare()) as url, pytest.raises(mksum.FetchError, match="neither ETag nor Last-Modified"):
        mksum.file_root(f"{url}/a")


def test_stores_are_used_by_several_threads_at_once_and_nested() -> None:
    stores = [MemoryStore() for _ in range(3)]
    with contextlib.ExitStack() as stack:
        urls = [stack.enter_context(mksum.use_store(store)) for store in stores]
        assert len(set(urls)) == 3
        for number, (url, store) in enumerate(zip(urls, stores, strict=True)):
            for key in range(50):
                obstore.put(store, f"{key}", noise(1000, number * 100 + key))
            pairs = mksum.hash_files((f"{url}/{key}" for key in range(50)), "sha256")
            assert [result.text for _, result in pairs if isinstance(result, mksum.Root)] == [
                mksum.sha256(noise(1000, number * 100 + key)).hexdigest() for key in range(50)
            ]


def test_requests_are_counted() -> None:
    store = MemoryStore()
    store.put("a", noise(100_000))
    with mksum.use_store(store) as url:
        # The environment may name another store for the next call, whose figures go on.
        mksum.file_root(f"{url}/a")
        with mksum.measured() as figures, pytest.MonkeyPatch.context() as patch:
            mksum.file_root(f"{url}/a")
            patch.setenv("MKSUM_TEST", "1")
            mksum.file_root(f"{url}/a")
    assert (figures["requests"], figures["received_bytes"], figures["hashed_bytes"]) == (2, 200_000, 200_000)


@pytest.mark.parametrize("pause", [0, 0.2])
def test_each_object_of_a_loop_is_one_request(pause: float) -> None:
    """Also of a slow server, of which more than the calling thread waits for the answer."""
    contents = {f"/{length}": noise(length, length) for length in (1, 4096, 262_144, 262_145, 3_000_000)}
    asked: list[tuple[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append((self.command, self.path))
            time.sleep(pause)
            content = contents[self.path]
            self.send_response(206)
            self.send_header("ETag", '"one"')
            self.send_header("Content-Range", f"bytes 0-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with mksum.measured() as figures:
            for path, content in contents.items():
                root = mksum.file_root(f"http://127.0.0.1:{server.server_port}{path}", "sha256")
                assert root.bytes == hashlib.sha256(content).digest()
        server.shutdown()
    assert asked == [("GET", path) for path in contents]
    assert figures["requests"] == len(contents)
    assert figures["received_bytes"] == sum(map(len, contents.values()))


def test_adapters_travel_to_workers() -> None:
    for files in (fsspec.filesystem("file"), arrow_local(), LocalStore("/")):
        copy = adapter_of(pickle.loads(pickle.dumps(files)))
        assert copy.facts(__file__)[0] == os.path.getsize(__file__)


def test_times_are_versions_as_the_engine_has_them(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    os.utime(path, ns=(0, 1_700_000_000_123_456_789))
    assert adapter_of(arrow_local()).facts(str(path)) == (3, "mtime:1700000000.123456789")
    assert mksum.plan(path, "sha256")[0]["version"] == "mtime:1700000000.123456789"
    memory = fsspec.filesystem("memory")
    memory.pipe("/times/file", b"abc")
    assert adapter_of(memory).facts("times/file")[1].startswith(f"mtime:{int(time.time()) // 1000}")


def test_a_server_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    for read in [mksum.file_root, lambda url: list(mksum.list_objects(url))]:
        with pytest.raises(mksum.FileError) as error:
            read("s3://bucket/key")
        assert str(error.value) == "s3://bucket/key: cannot connect to http://127.0.0.1:1: Connection refused"
    # The URL of a file on a web server says it already.
    with pytest.raises(mksum.FileError, match=r"^http://127\.0\.0\.1:1/key: Connection refused$"):
        mksum.file_root("http://127.0.0.1:1/key")


def test_a_url_with_the_options_of_pandas(server: str, tmp_path: pathlib.Path) -> None:
    bucket, data = made(server, f"bucket{next(COUNTS)}"), noise(70_000)
    options = {"key": "key", "secret": "secret", "endpoint_url": server, "client_kwargs": {"region_name": "us-east-1"}}
    (tmp_path / "a b").mkdir()
    for folder, given in ((f"s3://{bucket}/folder", options), (str(tmp_path / "a b"), None), (f"memory://{bucket}", None)):
        with mksum.use_store(folder, given) as url:
            mksum.put_object(f"{url}/file", data)
            assert [row["path"] for row in mksum.list_objects(url)] == [f"{url}/file"]
            assert mksum.file_root(f"{url}/file", "blake3") == mksum.root(data, "blake3")
        with mksum.use_store(f"{folder}/file", given) as url:
            assert mksum.Outboard.keep(url, outboard=f"{url}.mkt").root == mksum.root(data)
    with pytest.raises(TypeError, match="for a URL"), mksum.use_store(MemoryStore(), {}):
        pass
