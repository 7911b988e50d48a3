"""Files whose bytes are verified when they are read."""

import array
import ctypes
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import shutil
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mksum
import pytest
from conftest import noise

KIB = 1024


@pytest.fixture
def kept(big: pathlib.Path) -> mksum.Outboard:
    return mksum.Outboard.keep(big, "rfc6962:sha256:64KiB", unit=64 * KIB)


def write(path: pathlib.Path, offset: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def test_it_is_a_binary_file(big: pathlib.Path, kept: mksum.Outboard) -> None:
    data = big.read_bytes()
    with mksum.open(big, root=kept.root) as file:
        assert isinstance(file, io.BufferedIOBase)
        assert (len(file), file.size, file.unit, file.root, file.name, file.mode) == (
            len(data),
            len(data),
            64 * KIB,
            kept.root,
            str(big),
            "rb",
        )
        assert file.readable() and file.seekable() and not file.writable() and not file.isatty()
        assert (file.read(10), file.tell()) == (data[:10], 10)
        assert file.peek(3)[:3] == data[10:13]
        assert (file.seek(-5, io.SEEK_END), file.read()) == (len(data) - 5, data[-5:])
        assert file.read() == file.read(10) == file.read1() == file.peek() == b""
        assert (file.seek(65_530), file.seek(4, io.SEEK_CUR), file.read(10)) == (65_530, 65_534, data[65_534:65_544])
        assert file.seek(10**12) == 10**12
        assert file.read(1) == b""
        for wrong in [(-1, 0), (-(10**12) - 1, 1), (-len(data) - 1, 2), (0, 3), (2**70, 0)]:
            with pytest.raises(ValueError):
                file.seek(*wrong)
        assert file.seek(0) == 0
        assert file.read(None) == data
        file.seek(0)
        assert file.read1() == data[: 64 * KIB]
        for item in "BHd":
            buffer = array.array(item, bytes(80_000))
            file.seek(1000)
            assert file.readinto(buffer) == 80_000
            assert buffer.tobytes() == data[1000:81_000]
        with pytest.raises(TypeError):
            file.readinto(b"read only")  # type: ignore[arg-type]
        assert file.read_at(70_000, 5) == data[70_000:70_005]
        assert file.read_at(len(data) - 1, 5) == data[-1:]
        with pytest.raises(OSError):
            file.fileno()
        with pytest.raises(OSError):
            file.write(b"")
    assert file.closed
    file.close()
    for use in [file.read, file.tell, lambda: file.seek(0), lambda: file.size]:
        with pytest.raises(ValueError, match="closed"):
            use()


def test_lines(tmp_path: pathlib.Path) -> None:
    path, text = tmp_path / "text", "".join(f"line {number} é\n" for number in range(20_000))
    path.write_text(text, encoding="utf-8")
    root = mksum.Outboard.keep(path, "blake3").root
    with mksum.open(path, root=f"blake3:{root.text}") as file:
        assert file.readline() == b"line 0 \xc3\xa9\n"
        assert io.TextIOWrapper(file, encoding="utf-8").read() == text[len("line 0 é\n") :]


def test_a_damaged_unit_is_an_error(big: pathlib.Path, kept: mksum.Outboard) -> None:
    data = big.read_bytes()
    write(big, 200_000, bytes([data[200_000] ^ 1]))
    with mksum.open(big, root=kept.root) as file:
        assert file.read(196_608) == data[:196_608]
        for read in [lambda: file.read(1), file.read, lambda: file.read_at(262_143, 1), file.peek]:
            with pytest.raises(mksum.DamagedError) as caught:
                read()
            error = caught.value
            assert (error.path, error.offset, error.ranges) == (str(big), 196_608, [(196_608, 262_144)])
            assert error.expected == mksum.root(data[196_608:262_144], "rfc6962:sha256:64KiB").text
            assert error.found == mksum.root(big.read_bytes()[196_608:262_144], "rfc6962:sha256:64KiB").text
            assert "196608..262144 are damaged: expected" in str(error)
            assert file.tell() == 196_608
        buffer = bytearray(b"x" * 100_000)
        with pytest.raises(mksum.DamagedError):
            file.readinto(buffer)
        assert buffer == b"x" * 100_000
        file.seek(262_144)
        assert file.read() == data[262_144:]


def test_replicas_and_repair(big: pathlib.Path, kept: mksum.Outboard) -> None:
    data = big.read_bytes()
    good, liar = big.with_name("good"), big.with_name("liar")
    good.write_bytes(data)
    liar.write_bytes(noise(len(data), seed=1))
    write(big, 1_000_000, b"damage")
    damaged = big.read_bytes()
    with mksum.open(big, root=kept.root, replicas=[liar]) as file, pytest.raises(mksum.DamagedError, match="liar"):
        file.read()
    with mksum.open(big, root=kept.root, replicas=[big.with_name("gone"), liar, good]) as file:
        assert file.read() == data
        assert file.replaced == 64 * KIB
    assert big.read_bytes() == damaged
    with mksum.open(big, root=kept.root, replicas=iter([good]), repair=True) as file:
        assert file.read_at(1_000_003, 1) == data[1_000_003:1_000_004]
    assert big.read_bytes() == data
    kept.verify()


def test_maps(big: pathlib.Path, kept: mksum.Outboard) -> None:
    data = big.read_bytes()
    with mksum.open(big, root=kept.root) as file:
        file.seek(7)
        whole, part = file.map(), file.map(70_001, 200_000)
        assert isinstance(whole, memoryview)
        assert (whole.readonly, whole.format, whole.shape, file.tell()) == (True, "B", (len(data),), 7)
        assert (whole == data, part == data[70_001:270_001]) == (True, True)
        assert (file.map(len(data) - 1), file.map(len(data)), file.map(0, 0)) == (data[-1:], b"", b"")
        with pytest.raises(TypeError):
            whole[0] = 1
        with pytest.raises(TypeError):
            ctypes.c_char.from_buffer(part)
        for offset, length in [(len(data) + 1, None), (0, len(data) + 1), (len(data), 1), (2**64 - 1, 2**64 - 1)]:
            with pytest.raises(ValueError, match=f"expected a range within the {len(data)} bytes of the file"):
                file.map(offset, length)
        for wrong in [(-1, None), (0, -1), (2**64, None)]:
            with pytest.raises(OverflowError):
                file.map(*wrong)
        with ThreadPoolExecutor(8) as pool:
            offsets = [number * 7919 % (len(data) - 4096) for number in range(200)]
            for offset, found in zip(offsets, pool.map(lambda offset: file.map(offset, 4096), offsets), strict=True):
                assert found == data[offset : offset + 4096]
    with pytest.raises(ValueError, match="closed"):
        file.map()
    # What was mapped is neither the file nor bound to it.
    big.write_bytes(b"other")
    assert (whole == data, part == data[70_001:270_001]) == (True, True)


def test_maps_of_several_pieces(tmp_path: pathlib.Path) -> None:
    path, marks = tmp_path / "long", {at: noise(50, seed=at) for at in (0, (16 << 20) - 20, (32 << 20) + 70, (37 << 20) - 50)}
    path.touch()
    os.truncate(path, 37 << 20)
    for at, mark in marks.items():
        write(path, at, mark)
    with mksum.open(path, root=mksum.Outboard.keep(path, "blake3").root) as file:
        assert (file.map() == path.read_bytes(), file.map(77) == path.read_bytes()[77:]) == (True, True)
        write(path, 33 << 20, b"?")
        with pytest.raises(mksum.DamagedError) as caught:
            file.map()
        assert caught.value.offset is not None
        assert caught.value.offset <= 33 << 20 < caught.value.offset + file.unit


def test_maps_of_damaged_files_are_errors(big: pathlib.Path, kept: mksum.Outboard) -> None:
    data, good = big.read_bytes(), big.with_name("good")
    good.write_bytes(data)
    write(big, 200_000, bytes([data[200_000] ^ 1]))
    with mksum.open(big, root=kept.root) as file:
        for offset, length in [(0, None), (262_143, 1), (100_000, 100_000)]:
            with pytest.raises(mksum.DamagedError) as caught:
                file.map(offset, length)
            error = caught.value
            assert (error.path, error.offset, error.ranges) == (str(big), 196_608, [(196_608, 262_144)])
            assert error.expected == mksum.root(data[196_608:262_144], "rfc6962:sha256:64KiB").text
            assert error.found == mksum.root(big.read_bytes()[196_608:262_144], "rfc6962:sha256:64KiB").text
        assert (file.map(262_144) == data[262_144:], file.map(0, 196_608) == data[:196_608]) == (True, True)
        os.truncate(big, 1_000_000)
        with pytest.raises(mksum.ChangedError):
            file.map()
    write(big, 0, data)
    write(big, 200_000, b"damage")
    with mksum.open(big, root=kept.root, replicas=good) as file:
        assert (file.map() == data, file.replaced) == (True, 64 * KIB)


def test_other_files_are_errors(big: pathlib.Path, kept: mksum.Outboard) -> None:
    data = big.read_bytes()
    with mksum.open(big, root=None) as file:
        assert (file.root, file.read(3)) == (kept.root, data[:3])
    for root in [mksum.Root("rfc6962:sha256:64KiB", "00" * 32, len(data)), "ab" * 32, f"blake3:{kept.root.text}"]:
        with pytest.raises(mksum.RefusedError, match="is trusted"):
            mksum.open(big, root=root)
    with pytest.raises(mksum.RefusedError, match="bytes, not of"):
        mksum.open(big, root=mksum.Root(kept.format, kept.root.text, len(data) + 1))
    with pytest.raises(mksum.FormatError):
        mksum.open(big, root="no root")
    with pytest.raises(TypeError):
        mksum.open(big)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        mksum.open(big, root=7)  # type: ignore[arg-type]
    with pytest.raises(mksum.NotFoundError):
        mksum.open(big, root=kept.root, outboard=big.with_name("gone"))
    with mksum.open(big, root=kept.root) as file:
        os.truncate(big, 1_000_000)
        with pytest.raises(mksum.ChangedError):
            file.read(1)
        with pytest.raises(mksum.RefusedError) as caught:
            mksum.open(big, root=kept.root)
        assert (caught.value.expected, caught.value.found) == (len(data), 1_000_000)
        os.replace(shutil.copy(f"{big}.mkt", big.with_name("other")), big)
        with pytest.raises(mksum.ChangedError):
            file.read(1)


def test_a_root_that_does_not_bind_the_length_needs_it(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(noise(64))
    root = mksum.Outboard.keep(tmp_path / "file", "glacier").root
    with pytest.raises(mksum.RefusedError, match="give length"):
        mksum.open(tmp_path / "file", root=f"glacier:{root.text}")
    for file in [
        mksum.open(tmp_path / "file", root=root),
        mksum.open(tmp_path / "file", root=root.text, fmt="glacier", length=64),
    ]:
        assert file.read() == noise(64)


def test_many_threads(big: pathlib.Path, kept: mksum.Outboard) -> None:
    data = big.read_bytes()
    with mksum.open(big, root=kept.root) as file, ThreadPoolExecutor(8) as pool:
        offsets = [number * 7919 % len(data) for number in range(2000)]
        for offset, found in zip(offsets, pool.map(lambda offset: file.read_at(offset, 4096), offsets), strict=True):
            assert found == data[offset : offset + 4096]


def test_archives(tmp_path: pathlib.Path) -> None:
    members = {f"member {number}": noise(100_000 + number, seed=number) for number in range(5)}
    archives = {"zip": tmp_path / "a.zip", "tar": tmp_path / "a.tar", "tgz": tmp_path / "a.tgz"}
    with zipfile.ZipFile(archives["zip"], "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    for kind, mode in [("tar", "w"), ("tgz", "w:gz")]:
        with tarfile.open(archives[kind], mode) as tar:  # type: ignore[call-overload]
            for name, data in members.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    roots = {kind: mksum.Outboard.keep(path, "rfc6962:sha256:4KiB").root for kind, path in archives.items()}
    with mksum.open(archives["zip"], root=roots["zip"]) as file, zipfile.ZipFile(file) as opened:
        assert {name: opened.read(name) for name in opened.namelist()} == members
    for kind in ["tar", "tgz"]:
        with mksum.open(archives[kind], root=roots[kind]) as file, tarfile.open(fileobj=file) as tar:
            assert {entry.name: tar.extractfile(entry).read() for entry in tar} == members  # type: ignore[union-attr]
    with mksum.open(archives["tgz"], root=roots["tgz"]) as file, gzip.open(file) as plain:
        assert plain.read(5) == b"membe"
    # A member that is damaged is an error of its own, and the others can be read.
    write(archives["zip"], 250_000, b"damage")
    with mksum.open(archives["zip"], root=roots["zip"]) as file, zipfile.ZipFile(file) as opened:
        assert opened.read("member 0") == members["member 0"]
        with pytest.raises(mksum.DamagedError):
            opened.read("member 2")


def test_arrays(tmp_path: pathlib.Path) -> None:
    numpy = pytest.importorskip("numpy")
    path, numbers = tmp_path / "a.npy", numpy.arange(300_000, dtype="<f8").reshape(3, -1)
    numpy.save(path, numbers)
    root = mksum.Outboard.keep(path, "blake3").root
    with mksum.open(path, root=root) as file:
        assert (numpy.load(file) == numbers).all()
        offset = len(file) - numbers.nbytes
        assert (numpy.frombuffer(file.read_at(offset, 800), dtype="<f8") == numbers[0, :100]).all()
        read = numpy.empty_like(numbers)
        file.seek(offset)
        assert file.readinto(read) == numbers.nbytes
        assert (read == numbers).all()
    # As numpy.memmap: an array over the verified memory itself, aligned as in a mapped file, which cannot be written to.
    with mksum.open(path, root=root) as file:
        version = numpy.lib.format.read_magic(file)
        assert version == (1, 0)
        shape, fortran, dtype = numpy.lib.format.read_array_header_1_0(file)
        mapped = numpy.frombuffer(file.map(file.tell()), dtype).reshape(shape, order="F" if fortran else "C")
        part = numpy.frombuffer(file.map(offset + 80, 800), dtype="<f8")
    assert ((mapped == numbers).all(), (part == numbers[0, 10:110]).all()) == (True, True)
    assert not mapped.flags.writeable and not mapped.flags.owndata
    assert [found.ctypes.data % 4096 for found in (mapped, part)] == [offset, offset + 80]
    with pytest.raises(ValueError, match="read-only"):
        mapped[0, 0] = 1
    with pytest.raises(ValueError):
        mapped.flags.writeable = True


def test_tables(tmp_path: pathlib.Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, table = tmp_path / "a.parquet", arrow.table({"a": range(100_000), "b": [str(n) for n in range(100_000)]})
    parquet.write_table(table, path, row_group_size=10_000)
    root = mksum.Outboard.keep(path, "rfc6962:sha256:4KiB").root
    with mksum.open(path, root=root) as file:
        assert parquet.read_table(file) == table
    with mksum.open(path, root=root) as file:
        assert parquet.ParquetFile(file).read_row_group(3, columns=["a"])["a"].to_pylist() == [*range(30_000, 40_000)]
    # As pyarrow.memory_map: columns over the verified memory itself.
    path = tmp_path / "a.arrow"
    with arrow.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with mksum.open(path, root=mksum.Outboard.keep(path).root) as file:
        memory = arrow.py_buffer(file.map())
    before = arrow.total_allocated_bytes()
    mapped = arrow.ipc.open_file(memory).read_all()
    assert mapped == table
    assert arrow.total_allocated_bytes() - before < table.nbytes / 10


def test_stores_of_arrays(tmp_path: pathlib.Path) -> None:
    numpy, zarr = pytest.importorskip("numpy"), pytest.importorskip("zarr")
    pytest.importorskip("fsspec")
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper  # type: ignore[import-untyped]
    from fsspec.implementations.zip import ZipFileSystem  # type: ignore[import-untyped]

    path, numbers = tmp_path / "a.zip", numpy.arange(300_000, dtype="<f8").reshape(300, -1)
    with zarr.storage.ZipStore(path, mode="w") as made:
        zarr.create_array(made, shape=numbers.shape, chunks=(100, 1000), dtype="<f8", compressors=None)[:] = numbers
    root = mksum.Outboard.keep(path).root
    with mksum.open(path, root=root) as file:
        files = AsyncFileSystemWrapper(ZipFileSystem(fo=file), asynchronous=True)
        array = zarr.open_array(zarr.storage.FsspecStore(files, read_only=True, path=""), mode="r")
        assert (array[:] == numbers).all()
        # The second of three chunks: the first is right.
        write(path, 1_200_000, b"damage")
    with mksum.open(path, root=root) as file:
        files = AsyncFileSystemWrapper(ZipFileSystem(fo=file), asynchronous=True)
        array = zarr.open_array(zarr.storage.FsspecStore(files, read_only=True, path=""), mode="r")
        assert (array[:100] == numbers[:100]).all()
        with pytest.raises(mksum.DamagedError):
            array[100:200]


def test_tensors(tmp_path: pathlib.Path) -> None:
    numpy = pytest.importorskip("numpy")
    tensors = pytest.importorskip("safetensors.numpy")
    path, weights = tmp_path / "a.safetensors", {"w": numpy.arange(100_000, dtype="<f4")}
    tensors.save_file(weights, path)
    with mksum.open(path, root=mksum.Outboard.keep(path).root) as file:
        assert (tensors.load(file.read())["w"] == weights["w"]).all()
        # One tensor, without the others: a length of 8 bytes, a header in JSON, the tensors.
        start = 8 + int.from_bytes(file.read_at(0, 8), "little")
        about = json.loads(file.read_at(8, start - 8))["w"]
        first, end = about["data_offsets"]
        mapped = numpy.frombuffer(file.map(start + first, end - first), "<f4").reshape(about["shape"])
    assert (mapped == weights["w"]).all()


@pytest.mark.parametrize("is_zip", [True, False])
def test_checkpoints(tmp_path: pathlib.Path, is_zip: bool) -> None:
    torch = pytest.importorskip("torch")
    path, weights = tmp_path / "a.pt", {name: torch.arange(100_000) + at for at, name in enumerate("abc")}
    torch.save(weights, path, _use_new_zipfile_serialization=is_zip)
    root = mksum.Outboard.keep(path).root
    with mksum.open(path, root=root) as file:
        loaded = torch.load(file)
    assert loaded.keys() == weights.keys() and all(torch.equal(loaded[name], weights[name]) for name in weights)
    write(path, path.stat().st_size // 2, b"damage")
    with mksum.open(path, root=root) as file, pytest.raises((mksum.DamagedError, SystemError)) as raised:
        torch.load(file)
    # The reader of the older format puts an error of Python above it.
    assert mksum.DamagedError in map(type, [raised.value, raised.value.__cause__])


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, bytes]], str]]:
    """Serves bytes by their names, with range requests and ETags."""
    contents: dict[str, bytes] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            data = contents.get(self.path[1:])
            if data is None:
                self.send_error(404)
                return
            ranges = self.headers.get("Range")
            first, last = 0, len(data) - 1
            if ranges:
                start, _, end = ranges.removeprefix("bytes=").partition("-")
                first, last = int(start), min(last, int(end) if end else last)
            self.send_response(206 if ranges else 200)
            if ranges:
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            self.send_header("ETag", f'"{hash(data)}"')
            self.send_header("Content-Length", str(last + 1 - first))
            self.end_headers()
            self.wfile.write(data[first : last + 1])

        do_HEAD = do_GET

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def begin(files: dict[str, bytes]) -> str:
            contents.update(files)
            return f"http://127.0.0.1:{server.server_port}"

        yield begin
        server.shutdown()


def test_urls(big: pathlib.Path, kept: mksum.Outboard, serve: Callable[[dict[str, bytes]], str]) -> None:
    data, tree = big.read_bytes(), pathlib.Path(f"{big}.mkt").read_bytes()
    wrong = data[:2_000_000] + bytes([data[2_000_000] ^ 1]) + data[2_000_001:]
    url = serve({"f": data, "f.mkt": tree, "wrong": wrong})
    with mksum.open(f"{url}/f", root=kept.root, outboard=f"{url}/f.mkt") as file:
        assert file.read_at(3_000_000, 100) == data[3_000_000:3_000_100]
        assert file.read() == data
        assert (file.map(4_000_000, 100_000) == data[4_000_000:4_100_000], file.map() == data) == (True, True)
        file.seek(10)
        assert [file.read(1000) for _ in range(100)] == [data[at : at + 1000] for at in range(10, 100_010, 1000)]
        # Each response is bound to the version that was opened.
        serve({"f": data[::-1]})
        with pytest.raises(mksum.MksumError):
            mksum.open(f"{url}/f", root=kept.root, outboard=f"{url}/f.mkt").read(1)
    with mksum.open(f"{url}/wrong", root=kept.root, outboard=big.with_name("big.mkt")) as file:
        assert file.read_at(0, 1_000_000) == data[:1_000_000]
        with pytest.raises(mksum.DamagedError) as caught:
            file.read()
        assert (caught.value.path, caught.value.offset) == (f"{url}/wrong", 1_966_080)
    with mksum.open(f"{url}/wrong", root=kept.root, outboard=big.with_name("big.mkt"), replicas=[big]) as file:
        assert file.read() == data
    with pytest.raises(mksum.RefusedError, match="only files are repaired"):
        mksum.open(f"{url}/wrong", root=kept.root, outboard=big.with_name("big.mkt"), replicas=[big], repair=True)
    # A file of this machine, mended from a server.
    write(big, 9, b"?")
    with mksum.open(big, root=kept.root, replicas=[f"{url}/wrong"], repair=True) as file:
        assert file.read(20) == data[:20]
    assert big.read_bytes() == data


def test_trees_of_other_programs(tmp_path: pathlib.Path) -> None:
    # fs-verity's tree of two blocks (Documentation/filesystems/fsverity.rst): one block with their digests.
    data, path = noise(8192), tmp_path / "file"
    path.write_bytes(data)
    digests = b"".join(hashlib.sha256(data[at : at + 4096]).digest() for at in (0, 4096))
    tree = digests.ljust(4096, b"\0")
    (tmp_path / "file.fsverity").write_bytes(tree)
    root = mksum.file_root(path, "fsverity")
    with mksum.open(path, root=root, foreign="fsverity") as file:
        assert (file.unit, file.root, file.read_at(5000, 10), file.read()) == (4096, root, data[5000:5010], data)
    write(path, 5000, bytes([data[5000] ^ 1]))
    with mksum.open(path, root=root, foreign="fsverity") as file:
        assert file.read(4096) == data[:4096]
        with pytest.raises(mksum.DamagedError, match=r"4096\.\.8192"):
            file.read(1)
    (tmp_path / "other").write_bytes(tree[::-1])
    with pytest.raises(mksum.RefusedError, match="its root is"):
        mksum.open(path, root=root, outboard=tmp_path / "other", foreign="fsverity")
    with pytest.raises(mksum.OutboardError, match="no other program keeps trees of sha256"):
        mksum.open(path, root=root, foreign="sha256")
