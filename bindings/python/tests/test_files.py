"""Roots of files: paths, file objects, many files, errors."""

import errno
import functools
import gc
import gzip
import hashlib
import io
import os
import pathlib
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import mksum
import pytest
from conftest import noise

FORMATS = ["rfc6962", "blake3", "sha256", "s3:md5:1MiB"]


def test_paths_of_all_kinds(big: pathlib.Path) -> None:
    data = big.read_bytes()
    expected = mksum.root(data, "blake3")
    for path in [big, str(big), os.fsencode(big)]:
        assert mksum.file_root(path, "blake3") == expected
    assert mksum.file_root(big, FORMATS) == mksum.root(data, FORMATS)
    assert mksum.file_root(big, FORMATS, threads=1) == mksum.root(data, FORMATS)
    assert mksum.file_root(big) == mksum.root(data)
    odd = big.with_name(os.fsdecode(b"\xff odd"))
    odd.write_bytes(b"odd")
    assert mksum.file_root(odd) == mksum.root(b"odd")
    assert [str(path) for path, _ in mksum.hash_files([odd])] == [str(odd)]
    with pytest.raises(TypeError):
        mksum.file_root(5)
    with pytest.raises((ValueError, OverflowError)):
        mksum.file_root(big, threads=0)


class Slow(io.RawIOBase):
    """A file object that has few bytes at a time, as sockets do."""

    def __init__(self, data: bytes, most: int) -> None:
        self.data, self.most, self.at = data, most, 0

    def read(self, size: int = -1) -> bytearray:
        piece = bytearray(self.data[self.at : self.at + min(size, self.most)])
        self.at += len(piece)
        return piece


def test_file_objects_are_read_from_their_position_to_their_end(big: pathlib.Path) -> None:
    data = big.read_bytes()
    packed = big.with_name("packed")
    packed.write_bytes(gzip.compress(data))
    opened = {
        "buffered": functools.partial(open, big, "rb"),
        "unbuffered": functools.partial(open, big, "rb", buffering=0),
        "both": functools.partial(open, big, "r+b"),
        "memory": lambda: io.BytesIO(data),
        "gzip": functools.partial(gzip.open, packed),
        "slow": lambda: Slow(data, 65_536),
    }
    for name, make in opened.items():
        for skipped in [0, 1, 65_000]:
            with make() as file:
                assert file.read(skipped) == data[:skipped]
                assert mksum.file_root(file, FORMATS) == mksum.root(data[skipped:], FORMATS), name
                assert not file.read(1)
    with open(big, "r+b") as file:
        # What is written but not flushed is hashed, too.
        file.write(b"new")
        file.seek(0)
        file.write(b"NEW")
        assert mksum.file_root(file) == mksum.root(data[3:])
        file.seek(0)
        assert mksum.file_root(file) == mksum.root(b"NEW" + data[3:])
        file.seek(10_000_000)
        assert mksum.file_root(file) == mksum.root(b"")
    left, right = socket.socketpair()
    with left, right, right.makefile("rb") as file:
        thread = threading.Thread(target=lambda: (left.sendall(data), left.close()))
        thread.start()
        assert mksum.file_root(file, "blake3") == mksum.root(data, "blake3")
        thread.join()


def test_file_objects_that_fail() -> None:
    class Failing:
        def __init__(self, count: int, what: object) -> None:
            self.count, self.what = count, what

        def read(self, size: int) -> object:
            self.count -= 1
            if self.count >= 0:
                return bytes(size)
            if isinstance(self.what, BaseException):
                raise self.what
            return self.what

    for count in [0, 1, 20]:
        for what, raised in [(ZeroDivisionError("mine"), ZeroDivisionError), (None, BlockingIOError), ("text", TypeError)]:
            with pytest.raises(raised):
                mksum.file_root(Failing(count, what), "blake3")
    assert mksum.file_root(Failing(0, b"")) == mksum.root(b"")
    with open(__file__) as file, pytest.raises(TypeError, match="binary"):
        mksum.file_root(file)
    with pytest.raises(mksum.LengthError):
        mksum.file_root(io.BytesIO(bytes(10_000_000)), "mtsum")


def test_pipes(tmp_path: pathlib.Path) -> None:
    path, data = tmp_path / "pipe", noise(3_000_000)
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=(data,))
    thread.start()
    assert mksum.file_root(path, "blake3") == mksum.root(data, "blake3")
    thread.join()


def test_errors_say_what_and_where(tmp_path: pathlib.Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(mksum.NotFoundError) as caught:
        mksum.file_root(missing)
    error = caught.value
    assert isinstance(error, FileNotFoundError) and isinstance(error, mksum.MksumError) and isinstance(error, OSError)
    assert (error.errno, error.filename, error.path, error.offset) == (errno.ENOENT, str(missing), str(missing), None)
    assert str(error) == f"[Errno 2] No such file or directory: '{missing}'"
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), copied.path, copied.errno) == (type(error), str(error), error.path, error.errno)
    with pytest.raises(mksum.DirectoryError) as caught:
        mksum.file_root(tmp_path)
    assert isinstance(caught.value, IsADirectoryError)
    assert (caught.value.errno, caught.value.path) == (errno.EISDIR, str(tmp_path))
    if os.path.exists("/proc/self/mem"):
        with pytest.raises(mksum.FileError) as caught:
            mksum.file_root("/proc/self/mem")
        assert (caught.value.errno, caught.value.offset) == (errno.EIO, 0)
        with pytest.raises(mksum.RefusedError):
            mksum.file_root("/dev/zero")
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(mksum.LengthError) as caught:
        mksum.file_root(empty, ["sha256", "btv2"])
    assert (caught.value.path, caught.value.found, caught.value.expected) == (str(empty), 0, "at least one byte")
    for name in mksum.errors.__all__:
        assert issubclass(getattr(mksum, name), mksum.MksumError)
        assert name == "MksumError" or issubclass(getattr(mksum, name), (ValueError, OSError)) or name == "StoppedError"


def test_a_file_that_changes_has_no_root(big: pathlib.Path) -> None:
    with open(big, "ab") as file:
        for index, kind in enumerate(["progress", "object"]):
            done = []

            def change(count: int, done=done) -> None:
                if not done:
                    done.append(count)
                    file.write(b"more")
                    file.flush()

            big.write_bytes(bytes((200 << 20) + index))
            with pytest.raises(mksum.ChangedError) as caught, open(big, "rb") as opened:
                mksum.file_root(opened if kind == "object" else big, "sha3-512", on_progress=change)
            assert isinstance(caught.value, OSError)
            assert caught.value.path == str(big)
            assert done


def test_progress_adds_up(big: pathlib.Path) -> None:
    size, told = big.stat().st_size, []
    mksum.file_root(big, "blake3", on_progress=told.append)
    assert sum(told) == size
    told.clear()
    mksum.file_root(Slow(big.read_bytes(), 100_000), "blake3", on_progress=told.append)
    assert sum(told) == size
    assert len(told) > 1
    told.clear()
    list(mksum.hash_files([big] * 10, "blake3", on_progress=told.append))
    assert sum(told) == 10 * size

    def refuse(count: int) -> None:
        raise ZeroDivisionError(count)

    for call in [lambda: mksum.file_root(big, on_progress=refuse), lambda: list(mksum.hash_files([big], on_progress=refuse))]:
        with pytest.raises(ZeroDivisionError):
            call()


def test_stop(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "long"
    with open(path, "wb") as file:
        file.truncate(40 << 30)
        # Not a hole: those are skipped.
        file.write(b"x")
    full = tmp_path / "full"
    full.write_bytes(noise(1 << 20) * 400)
    with open(path, "rb", buffering=0) as opened:
        for call in [
            lambda stop: mksum.file_root(path, "sha3-512", stop=stop),
            lambda stop: list(mksum.hash_files([path] * 3, "sha3-512", stop=stop)),
            lambda stop: mksum.file_root(opened, "sha3-512", stop=stop),
            lambda stop: mksum.Outboard.keep(full, "rfc6962:sha512:1KiB", threads=1, stop=stop),
        ]:
            stop = mksum.Stop()
            threading.Timer(0.05, stop.stop).start()
            begin = time.monotonic()
            with pytest.raises(mksum.StoppedError):
                call(stop)
            # The whole would take a minute. How soon it stops depends on what else the machine does.
            assert time.monotonic() - begin < 5
            assert stop.stopped


def test_many_files_in_order(tmp_path: pathlib.Path) -> None:
    paths = []
    for index in range(3000):
        path = tmp_path / str(index)
        path.write_bytes(noise(index * 7 % 5000 + (2_000_000 if index % 500 == 499 else 0), index))
        paths.append(path)
    paths[1000].unlink()
    for formats in ["blake3", ["sha256", "rfc6962"]]:
        seen = 0
        for path, (given, result) in zip(paths, mksum.hash_files(iter(paths), formats), strict=True):
            assert given is path
            seen += 1
            if path is paths[1000]:
                assert isinstance(result, mksum.NotFoundError)
                assert result.path == str(path)
            else:
                assert result == mksum.root(path.read_bytes(), formats)
        assert seen == 3000
    assert list(mksum.hash_files([])) == []
    results = [result for _, result in mksum.hash_files([tmp_path, paths[0], 5, paths[1]], "sha256", threads=2)]
    assert [type(result) for result in results] == [mksum.DirectoryError, mksum.Root, TypeError, mksum.Root]
    ended = mksum.hash_files([paths[0]])
    assert len(list(ended)) == 1
    assert list(ended) == []
    # A format without a root for a file is that file's error.
    (tmp_path / "empty").touch()
    assert isinstance(next(mksum.hash_files([tmp_path / "empty"], ["sha256", "btv2"]))[1], mksum.LengthError)
    with pytest.raises(TypeError):
        mksum.hash_files(5)
    with pytest.raises(mksum.FormatError):
        mksum.hash_files([], "sha999")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_file_before_many_short_ones_does_not_stop_the_work(tmp_path: pathlib.Path, threads: int) -> None:
    """The thread in whose lane it is asks for more files than were taken ahead, before it has any result."""
    paths = [tmp_path / "long", *(tmp_path / f"{number}" for number in range(6000))]
    with open(paths[0], "wb") as file:
        file.truncate(64 << 20)
    for path in paths[1:]:
        path.write_text(path.name)
    stop = mksum.Stop()
    late = threading.Timer(60, stop.stop)
    late.start()
    try:
        found = list(mksum.hash_files(paths, "sha256", threads=threads, stop=stop))
    finally:
        late.cancel()
    assert [path for path, _ in found] == paths
    for path, root in found[1:]:
        assert str(root) == hashlib.sha256(path.name.encode()).hexdigest()


def test_paths_that_raise_do_so_after_the_results_before(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")

    def paths():
        yield path
        yield path
        raise ZeroDivisionError

    files = mksum.hash_files(paths())
    assert [next(files)[1], next(files)[1]] == [mksum.root(b"abc")] * 2
    with pytest.raises(ZeroDivisionError):
        next(files)
    assert list(files) == []


def test_an_iterator_that_is_dropped_ends_its_threads(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1000))

    def threads() -> int:
        return len(os.listdir("/proc/self/task"))

    before = threads()
    for _ in range(20):
        files = mksum.hash_files([path] * 2000, threads=4)
        next(files)
        del files
    gc.collect()
    end = time.monotonic() + 5
    while threads() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threads() <= before


def python(script: str, *args: str, **options) -> subprocess.CompletedProcess:
    """Runs a script in an interpreter of its own, with faulthandler."""
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(script), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.mark.parametrize(
    "call",
    [
        "mksum.file_root(path, 'sha3-512')",
        "mksum.file_root(open(path, 'rb'), 'sha3-512')",
        "mksum.file_root(Endless(), 'sha3-512')",
        "mksum.file_root(fifo, 'blake3')",
        "list(mksum.hash_files([path] * 5, 'sha3-512'))",
        "mksum.Outboard.keep(path, 'rfc6962:sha512:1KiB', outboard=path + '.kept')",
        "mksum.map_range(mksum.plan(path, 'sha3-512')[0])",
        "mksum.root(memory, 'sha3-512')",
        "mksum.root(memory, 'rfc6962:sha512:1KiB')",
        "mksum.root(memory, 'xet')",
        "mksum.root(memory, 's3:md5:1GiB')",
        "mksum.root(memory, 'rfc6962:sha512:64MiB')",
        "hasher.update(memory)",
        "mksum.Frontier('rfc6962:sha512:1KiB').update(memory)",
        "mksum.Frontier('rfc6962:sha512:1GiB').update(memory)",
        "mksum.map_range(mksum.plan(len(memory), 'sha3-512')[0], memory)",
    ],
)
def test_an_interrupt_ends_the_work_within_100_ms(tmp_path: pathlib.Path, call: str) -> None:
    path, fifo = tmp_path / "long", tmp_path / "fifo"
    with open(path, "wb") as file:
        file.truncate(40 << 30)
    os.mkfifo(fifo)
    script = f"""
        import mmap, os, signal, sys, threading, time, mksum
        memory = mmap.mmap(-1, 40 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
        hasher = mksum.sha3_512(b"abc")
        # A shell that starts jobs in the background has them ignore interrupts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        path, fifo = sys.argv[1:]
        class Endless:
            def read(self, size):
                return bytes(size)
        def interrupt():
            global sent
            time.sleep(0.3)
            sent = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            {call}
            print("not interrupted")
        except KeyboardInterrupt:
            print(time.monotonic() - sent)
        assert hasher.digest() == mksum.sha3_512(b"abc").digest()
    """
    # On a machine that does much else, not every time; the whole would take a minute.
    for _ in range(10):
        done = python(script, str(path), str(fifo))
        assert done.returncode == 0, done.stderr
        if float(done.stdout) < 0.1:
            return
    pytest.fail(f"ten times more than 100 ms, the last time {done.stdout.strip()} s")


@pytest.mark.parametrize("fmt", ["s3:md5:5MiB", "s3:sha256:24MiB", "rfc6962:sha512:16MiB", "plain:sha1:8MiB", "dropbox"])
def test_long_leaves_in_memory_are_those_of_files(tmp_path: pathlib.Path, fmt: str) -> None:
    path = tmp_path / "long"
    for size in [(24 << 20) - 1, 24 << 20, (48 << 20) + 12_345]:
        data = noise(size)
        path.write_bytes(data)
        expected = mksum.file_root(path, fmt)
        assert mksum.root(data, fmt) == expected
        frontier = mksum.Frontier(fmt)
        frontier.update(data[:1])
        frontier.update(data[1:])
        assert frontier.root() == expected


def test_a_process_that_ends_while_threads_work(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "long"
    with open(path, "wb") as file:
        file.truncate(40 << 30)
    for call in [
        "mksum.file_root(path, 'sha3-512')",
        "list(mksum.hash_files([path] * 5, 'sha3-512'))",
        "mksum.file_root(Endless(), 'sha3-512')",
        "[mksum.root(data, 'rfc6962') for _ in range(10**6)]",
    ]:
        script = f"""
            import sys, threading, time, mksum
            path, data = sys.argv[1], bytes(50 << 20)
            class Endless:
                def read(self, size):
                    return bytes(size)
            for _ in range(3):
                threading.Thread(target=lambda: {call}, daemon=True).start()
            time.sleep(0.2)
            print("ended")
        """
        done = python(script, str(path))
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "ended", ""), call


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_after_use(big: pathlib.Path) -> None:
    expected = mksum.file_root(big, FORMATS)
    assert len(list(mksum.hash_files([big] * 3, "blake3"))) == 3
    hasher = mksum.blake3(big.read_bytes())
    for _ in range(5):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            right = mksum.file_root(big, FORMATS) == expected and mksum.root(big.read_bytes(), FORMATS) == expected
            right &= hasher.digest() == expected[1].bytes
            right &= [result for _, result in mksum.hash_files([big] * 3, "blake3")] == [expected[1]] * 3
            os._exit(0 if right else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_multiprocessing(big: pathlib.Path) -> None:
    script = """
        import multiprocessing, sys, mksum
        def part(row):
            return mksum.map_range(row)
        if __name__ == "__main__":
            path = sys.argv[1]
            expected = mksum.file_root(path, "blake3")
            for method in ["fork", "spawn", "forkserver"]:
                with multiprocessing.get_context(method).Pool(2) as pool:
                    rows = mksum.plan(path, "blake3", part=500_000)
                    call = part if method == "fork" else mksum.map_range
                    print(len(rows) > 5 and mksum.join(pool.imap_unordered(call, rows)) == expected)
    """
    done = python(script, str(big))
    assert done.stdout.split() == ["True"] * 3, done.stderr


def test_digests_are_hashlibs(big: pathlib.Path) -> None:
    assert mksum.file_root(big, "sha512").bytes == hashlib.sha512(big.read_bytes()).digest()


def test_figures_of_a_job(big: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    length = big.stat().st_size
    with caplog.at_level("INFO", "mksum"), mksum.measured("a job") as figures:
        mksum.file_root(big, ["blake3", "sha256"])
        assert [type(root) for _, root in mksum.hash_files([big, big], "sha256")] == [mksum.Root] * 2
        # It is not a file, and not counted.
        mksum.root(big.read_bytes(), "sha256")
    assert {**figures, "seconds": 0} == {
        "hashed_bytes": 3 * length,
        "skipped_bytes": 0,
        "requests": 0,
        "received_bytes": 0,
        "seconds": 0,
    }
    assert figures["seconds"] > 0
    [record] = caplog.records
    assert record.getMessage().startswith(f"a job: {3 * length} bytes hashed, 0 skipped, 0 requests, 0 bytes received, ")
    assert record.__dict__["mksum"] == {"name": "a job", **figures}
    with pytest.raises(mksum.NotFoundError), mksum.measured() as figures:
        mksum.file_root(big, "sha256")
        mksum.file_root(big.with_name("none"), "sha256")
    assert figures["hashed_bytes"] == length
    mksum.Catalogue.keep(big.parent, "sha256")
    catalogue = mksum.Catalogue.open(big.parent)
    with mksum.measured() as figures:
        catalogue.update()
    assert figures["hashed_bytes"] == 0
    before = mksum.metrics()
    assert before["hashed_bytes"] >= 5 * length
