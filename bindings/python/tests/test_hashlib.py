"""Hash objects have the shape of hashlib's, and give its digests."""

import array
import copy
import functools
import gc
import hashlib
import hmac
import io
import mmap
import threading

import blake3
import mksum
import numpy
import pytest
from conftest import noise
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = [
    "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512_256", "sha3_224", "sha3_256", "sha3_384", "sha3_512",
    "blake2b", "blake2s", "sm3",
]  # fmt: skip
TREES = ["rfc6962", "plain:sha256:4KiB", "glacier", "blake3", "btv2", "fsverity", "s3:md5:5", "dropbox", "xet", "sha256tree",
         "crc32", "xxh32", "xxh64", "xxh3", "xxh128", "rfc6962:blake2b:100"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_hashlibs(name: str) -> None:
    theirs, ours = hashlib.new(name), getattr(mksum, name)()
    assert (ours.name, ours.digest_size, ours.block_size) == (name, theirs.digest_size, theirs.block_size)
    assert mksum.new(name).name == mksum.new(ours.name).name == mksum.new(name.replace("_", "-")).name == name
    assert mksum.new(name, b"abc", usedforsecurity=False).digest() == hashlib.new(name, b"abc").digest()
    assert getattr(mksum, name)(data=b"abc", usedforsecurity=False).hexdigest() == hashlib.new(name, b"abc").hexdigest()


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([*NAMES, "blake3"]),
    st.lists(st.integers(0, 40_000), max_size=6),
    st.sampled_from([bytes, bytearray, memoryview, lambda data: numpy.frombuffer(data, numpy.uint8)]),
    st.integers(0, 6),
)
def test_any_slices_of_any_type_give_hashlibs_digest(name, lengths, kind, copied) -> None:
    theirs = blake3.blake3() if name == "blake3" else hashlib.new(name)
    ours = mksum.new(name)
    for index, length in enumerate(lengths):
        data = noise(length, index)
        theirs.update(data)
        if index == copied:
            # The digest of a moment, and a copy that goes on alone.
            assert ours.copy().digest() == ours.digest()
            ours = copy.copy(ours)
        ours.update(kind(data))
    assert ours.digest() == theirs.digest()
    assert ours.hexdigest() == theirs.hexdigest() == ours.digest().hex()


@pytest.mark.parametrize("name", [*NAMES, *TREES])
def test_slices_do_not_matter(name: str) -> None:
    data = noise(3_000_001)
    for lengths in [
        [3_000_001],
        [1, 3_000_000],
        [1 << 18, 1 << 20, 1 << 18],
        [1 << 20, 1 << 20],
        [999_983, 2_000_000, 7],
        [5] * 50,
    ]:
        hasher, frontier, start = mksum.new(name), mksum.Frontier(name), 0
        for length in lengths:
            hasher.update(data[start : start + length])
            frontier.update(memoryview(data)[start : start + length])
            start += length
        expected = mksum.root(data[:start], name)
        assert hasher.digest() == expected.bytes
        assert frontier.root() == expected
        assert (frontier.position, frontier.format) == (min(start, len(data)), str(mksum.Spec(name)))


def test_blake3_has_keys() -> None:
    key, context = bytes(range(32)), "mksum 2026-11-27 a test"
    for length in [0, 1, 1024, 1025, 2048, 100_001, 5_000_000]:
        data = noise(length)
        for ours, theirs in (
            (mksum.blake3(data, key=key), blake3.blake3(data, key=key)),
            (mksum.blake3(data, derive_key_context=context), blake3.blake3(data, derive_key_context=context)),
            (mksum.blake3(data, key=bytearray(key)), blake3.blake3(data, key=key)),
        ):
            assert ours.digest() == theirs.digest()
            for piece in (b"", b"x", data):
                copy = ours.copy()
                ours.update(piece)
                theirs.update(piece)
                assert ours.hexdigest() == theirs.hexdigest() and len(copy.digest()) == ours.digest_size == 32
    assert mksum.blake3(b"x", key=key).digest() != mksum.blake3(b"x").digest() == mksum.blake3(b"x", key=None).digest()
    for short in (b"", b"x" * 31, b"x" * 33):
        with pytest.raises(ValueError, match=f"key has {len(short)} bytes: expected 32"):
            mksum.blake3(b"", key=short)
    with pytest.raises(ValueError, match="key and derive_key_context cannot be used together"):
        mksum.blake3(b"", key=key, derive_key_context=context)
    with pytest.raises(TypeError, match="encode it first"):
        mksum.blake3(b"", key="k" * 32)  # type: ignore[arg-type]


@pytest.mark.parametrize("exponent", range(0, 24, 3))
def test_blake3_is_blake3(exponent: int) -> None:
    for length in {(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1}:
        data = noise(length)
        assert mksum.blake3(data).digest() == blake3.blake3(data).digest() == mksum.root(data, "blake3").bytes


def test_file_digest_and_hmac() -> None:
    data = noise(1_000_000)
    for name in ["sha256", "blake2b", "md5"]:
        assert hashlib.file_digest(io.BytesIO(data), getattr(mksum, name)).digest() == hashlib.new(name, data).digest()
        for key in [b"", b"key", noise(200)]:
            assert hmac.new(key, data, getattr(mksum, name)).digest() == hmac.digest(key, data, name)
    with open(__file__, "rb") as file:
        content = file.read()
        file.seek(0)
        assert hashlib.file_digest(file, mksum.blake3).digest() == blake3.blake3(content).digest()
        file.seek(0)
        assert (
            hashlib.file_digest(file, lambda: mksum.new("rfc6962:sha256:1KiB")).digest()
            == mksum.root(content, "rfc6962:sha256:1KiB").bytes
        )


def test_everything_with_a_buffer_is_bytes(tmp_path) -> None:
    data = noise(32_768)
    path = tmp_path / "mapped"
    path.write_bytes(data)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        buffers = [
            data, bytearray(data), memoryview(data), mapped, array.array("d", data), io.BytesIO(data).getbuffer(),
            numpy.frombuffer(data, numpy.float64), numpy.frombuffer(data, numpy.int32).reshape(64, 128),
            memoryview(bytearray(data)).cast("H"),
        ]  # fmt: skip
        for buffer in buffers:
            assert mksum.sha256(buffer).digest() == hashlib.sha256(data).digest(), type(buffer)
            assert mksum.root(buffer, "sha256").bytes == hashlib.sha256(data).digest()
        del buffers, buffer
        gc.collect()
    for empty in [b"", bytearray(), memoryview(b""), numpy.zeros(0)]:
        assert mksum.sha256(empty).digest() == hashlib.sha256().digest()


def test_what_has_no_bytes_is_refused() -> None:
    for wrong in ["text", 5, None, [1, 2], object()]:
        for call in (mksum.sha256().update, mksum.sha256, mksum.blake3, functools.partial(mksum.new, "sha256")):
            with pytest.raises(TypeError):
                call(wrong)
        with pytest.raises(TypeError):
            mksum.root(wrong)
    with pytest.raises(BufferError):
        mksum.sha256(numpy.zeros((8, 8))[:, ::2])
    with pytest.raises(BufferError):
        mksum.sha256(memoryview(b"abcdef")[::2])
    # The object was not changed by what it refused.
    hasher = mksum.sha256(b"abc")
    with pytest.raises(TypeError):
        hasher.update("def")
    assert hasher.digest() == hashlib.sha256(b"abc").digest()
    with pytest.raises(mksum.LengthError):
        mksum.new("mtsum")
    with pytest.raises(mksum.LengthError):
        mksum.btv2().digest()


@pytest.mark.parametrize("size", [100, 100_000, 3_000_000])
def test_a_digest_can_be_asked_for_many_times(size: int) -> None:
    for name in ["sha256", "blake3", "rfc6962", "dropbox"]:
        data, hasher = noise(size), mksum.new(name)
        for part in range(3):
            hasher.update(data)
            for _ in range(2):
                assert hasher.digest() == mksum.root(data * (part + 1), name).bytes


def test_threads_share_an_object() -> None:
    # Equal parts, so that their order does not matter.
    for name in ["sha256", "blake3", "rfc6962"]:
        for size in [100, 50_000, 2_000_000]:
            part, hasher = noise(size), mksum.new(name)

            def work(hasher=hasher, part=part) -> None:
                for _ in range(4):
                    hasher.update(part)
                    hasher.copy().digest()

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert hasher.digest() == mksum.root(part * 16, name).bytes


def test_a_buffer_that_is_written_meanwhile_gives_some_digest() -> None:
    buffer, end = bytearray(4 << 20), threading.Event()

    def write() -> None:
        value = 0
        while not end.is_set():
            value = (value + 1) % 256
            buffer[:] = bytes([value]) * len(buffer)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for name in ["sha256", "blake3", "rfc6962", "s3:md5:1MiB"]:
            for _ in range(5):
                assert len(mksum.new(name, buffer).digest()) == mksum.new(name).digest_size
                assert len(mksum.root(buffer, name).bytes) == mksum.new(name).digest_size
    finally:
        end.set()
        writer.join()


def test_the_gil_is_released() -> None:
    data, counted = bytes(64 << 20), 0

    def work() -> None:
        mksum.sha3_512(data).digest()

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        counted += 1
    thread.join()
    # With the GIL held for 100 ms, this thread would not have counted at all.
    assert counted > 1000


def test_small_objects_do_not_accumulate() -> None:
    import resource

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def many(count: int) -> None:
        for index in range(count):
            hasher = mksum.blake3(b"x" * (index % 100))
            hasher.update(b"more")
            hasher.copy().digest()
            mksum.sha256(bytearray(b"held")).digest()
            mksum.root(b"some", "rfc6962").text  # noqa: B018

    many(100_000)
    before = peak()
    many(1_000_000)
    # In KiB: a leak of one byte an object would be a MiB.
    assert peak() - before < 1024
