"""Roots of bytes, formats, and what stands for them."""

import copy
import doctest
import hashlib
import json
import pickle
import re
import threading

import mksum
import pytest
from conftest import REPOSITORY, noise, pattern
from hypothesis import given, settings
from hypothesis import strategies as st

ROWS = sorted((REPOSITORY / "vectors" / "rows").glob("*.tsv"))


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def test_docstrings_have_an_example_or_none_that_fails() -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for name in ["__init__", *mksum.__all__]:
        text = mksum.__doc__ if name == "__init__" else getattr(mksum, name).__doc__
        assert text, name
        runner.run(parser.get_doctest(text, dict(vars(mksum)), name, None, None))
    assert (runner.tries >= 8, runner.failures) == (True, 0)


def test_every_format_has_rows() -> None:
    assert {path.stem for path in ROWS} == {row["name"] for row in mksum.formats()}


def joined(data, fmt: str, part: int) -> mksum.Root | None:
    """Returns the root from parts, or None if the format says that it has none."""
    try:
        parts = mksum.plan(len(data), fmt, part=part)
    except mksum.FormatError as refused:
        assert "is not hashed in parts, because" in str(refused)
        return None
    return mksum.join([mksum.map_range(row, data[row["offset"] : row["offset"] + row["length"]]) for row in parts])


def test_formats_without_parts_say_why() -> None:
    for fmt, why in {"xet": "only a scan of the whole input finds its leaves", "nar": "whether a file is executable"}.items():
        with pytest.raises(mksum.FormatError, match=why):
            mksum.plan(1000, fmt)


@pytest.mark.parametrize("path", ROWS, ids=lambda path: path.stem)
def test_rows_of_vectors(path, tmp_path) -> None:
    file = tmp_path / "input"
    for text, name, length, expected, _ in rows(path):
        data = pattern(name, int(length))
        if expected == "-":
            with pytest.raises(mksum.LengthError) as caught:
                mksum.root(data, text)
            assert caught.value.found == int(length)
            assert isinstance(caught.value.expected, str)
            continue
        root = mksum.root(data, text)
        assert (str(root), root.format, root.length) == (expected, text, int(length))
        file.write_bytes(data)
        assert mksum.file_root(file, text) == root
        part = max(1, len(data) // 3)
        assert joined(data, text, part) in (root, None)
        if mksum.Spec(text).streams:
            frontier, hasher = mksum.Frontier(text), mksum.new(text)
            for start in range(0, len(data), 1000):
                frontier.update(data[start : start + 1000])
                hasher.update(data[start : start + 1000])
            assert frontier.root() == root
            assert hasher.digest() == root.bytes


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["rfc6962", "blake3", "s3:md5:300000", "glacier", "fsverity", "mtsum:sha256:1MiB", "dropbox"]),
    st.integers(0, 9_000_000),
)
def test_threads_give_the_same_root(name: str, length: int) -> None:
    data = noise(length)
    # Joined from parts that are too small for threads.
    assert joined(data, name, 400_000) == mksum.root(data, name)
    assert mksum.root(memoryview(bytearray(data)).cast("H" if length % 2 == 0 else "B"), name) == mksum.root(data, name)


def test_several_formats() -> None:
    formats = ["sha256", mksum.Spec("blake3"), "rfc6962"]
    roots = mksum.root(b"abc", formats)
    assert roots == [mksum.root(b"abc", fmt) for fmt in formats]
    assert roots[0].bytes == hashlib.sha256(b"abc").digest()
    assert mksum.root(b"abc", []) == []
    assert mksum.root(b"abc") == roots[2]
    with pytest.raises(TypeError):
        mksum.root(b"abc", 5)
    with pytest.raises(mksum.FormatError):
        mksum.root(b"abc", ["sha256", "sha999"])


def test_roots_are_values() -> None:
    root = mksum.root(b"abc", "s3:md5:5MiB")
    assert repr(root) == f"Root('s3:md5:5MiB', '{root}', 3)"
    assert eval(repr(root), {"Root": mksum.Root}) == root
    assert str(root) == root.text == hashlib.md5(hashlib.md5(b"abc").digest()).hexdigest() + "-1"
    assert bytes(root) == root.bytes == hashlib.md5(hashlib.md5(b"abc").digest()).digest()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(root, protocol)) == root
    assert copy.copy(root) == copy.deepcopy(root) == root
    others = [mksum.root(b"abd", "s3:md5:5MiB"), mksum.root(b"abc", "s3:md5:6MiB"), mksum.Root(root.format, root.text, 4)]
    assert len({root, mksum.root(b"abc", "s3:md5:5MiB"), *others}) == 4
    assert root not in others
    assert (root == root.text, root != root.text) == (False, True)
    for data in [b"", b"x" * 100_000]:
        for row in mksum.formats():
            try:
                root = mksum.root(data, row["default"])
            except mksum.LengthError:
                continue
            assert pickle.loads(pickle.dumps(root)) == root
            # Hex digits may be in either case, alone.
            text = root.text.upper() if re.fullmatch("[0-9a-f]+", root.text) else root.text
            assert mksum.Root(root.format, text, root.length) == root
    with pytest.raises(mksum.FormatError):
        mksum.Root("blake3", "abc", 3)
    with pytest.raises(AttributeError):
        root.text = "other"


def test_specs_are_values() -> None:
    spec = mksum.Spec("RFC6962:SHA256:65536")
    assert (str(spec), repr(spec)) == ("rfc6962:sha256:64KiB", "Spec('rfc6962:sha256:64KiB')")
    assert (spec.name, spec.hash, spec.leaf, spec.salt, spec.digest_size, spec.block_size) == (
        "rfc6962",
        "sha256",
        65536,
        b"",
        32,
        64,
    )
    assert (spec.streams, mksum.Spec("mtsum").streams) == (True, False)
    assert (mksum.Spec("sha256").leaf, mksum.Spec("sha256").tag) == (None, "SHA256")
    assert mksum.Spec("dmverity:salt=00ff").salt == b"\x00\xff"
    assert spec == mksum.Spec("rfc6962")
    assert hash(spec) == hash(mksum.Spec("rfc6962"))
    assert spec != mksum.Spec("rfc6962:sha256:4KiB")
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    for wrong in ["", "sha999", "rfc6962:4KiB:sha256", "glacier:4KiB", "dmverity:salt=0", "rfc6962:sha256:0", "a" * 10_000]:
        with pytest.raises(mksum.FormatError) as caught:
            mksum.Spec(wrong)
        assert caught.value.found == wrong
        assert isinstance(caught.value, ValueError)


def test_formats_are_those_of_the_tool() -> None:
    table = mksum.formats()
    assert table[0]["name"] == "rfc6962"
    for row in table:
        json.dumps(row)
        spec = mksum.Spec(row["default"])
        assert (spec.name, str(spec), spec.hash) == (row["name"], row["default"], row["hashes"][0])
        assert (spec.leaf or row["leaf"]["default"]) == row["leaf"]["default"]
        for hash_name in row["hashes"]:
            assert mksum.Spec(f"{row['name']}:{hash_name}").hash == hash_name


def test_a_frontier_is_usable_after_its_root_and_after_a_refusal() -> None:
    frontier = mksum.Frontier()
    frontier.update(b"abc")
    assert frontier.root() == mksum.root(b"abc")
    with pytest.raises(TypeError):
        frontier.update("def")
    other = copy.copy(frontier)
    frontier.update(b"def")
    assert frontier.root() == mksum.root(b"abcdef")
    assert other.root() == mksum.root(b"abc")
    with pytest.raises(mksum.LengthError):
        mksum.Frontier("mtsum")
    with pytest.raises(mksum.LengthError):
        mksum.Frontier("btv2").root()


def test_a_frontier_is_shared_by_threads() -> None:
    part, frontier = noise(1_500_000), mksum.Frontier("blake3")

    def work() -> None:
        for _ in range(3):
            frontier.update(part)
            frontier.root()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert frontier.root() == mksum.root(part * 12, "blake3")


def test_proofs() -> None:
    data = noise(100_000)
    for name in ["rfc6962:sha256:4KiB", "blake3", "glacier", "fsverity", "btv2"]:
        root, old = mksum.root(data, name), mksum.root(data[:60_000], name)
        proof = mksum.prove(data, 5_000, 70_000, name)
        assert mksum.check_proof(proof, root, data[5_000:70_000]) == (5_000, 70_000)
        wrong = bytearray(data[5_000:70_000])
        wrong[33_333] ^= 1
        with pytest.raises(mksum.ProofError) as caught:
            mksum.check_proof(proof, root, wrong)
        assert caught.value.expected == root.text
        assert caught.value.found != root.text
        with pytest.raises(mksum.ProofError) as caught:
            mksum.check_proof(proof, root, data[5_000:69_999])
        assert (caught.value.expected, caught.value.found) == (65_000, 64_999)
        with pytest.raises(mksum.ProofError):
            mksum.check_proof(proof, mksum.root(data + b"x", name), data[5_000:70_000])
        for cut in [0, 1, 10, len(proof) // 2, len(proof) - 1]:
            with pytest.raises(mksum.ProofError):
                mksum.check_proof(proof[:cut], root, data[5_000:70_000])
        consistent = mksum.prove_consistency(data, 60_000, name)
        mksum.check_consistency(consistent, old, root)
        with pytest.raises(mksum.ProofError):
            mksum.check_consistency(consistent, mksum.root(b"x" * 60_000, name), root)
    with pytest.raises(mksum.ProofError):
        mksum.prove(data, 5, 5)
    with pytest.raises(mksum.ProofError):
        mksum.prove(data, 5, 100_001)


@pytest.mark.parametrize("name", ["rfc6962", "blake3", "glacier", "fsverity", "s3:md5:300000", "dropbox", "rfc6962:md5:100"])
def test_many_bytes_at_once_give_the_root_of_few_at_a_time(name: str) -> None:
    # Enough for threads.
    data = noise(1 << 20) * 20 + b"x"
    few = mksum.Frontier(name)
    for start in range(0, len(data), 100_000):
        few.update(data[start : start + 100_000])
    assert mksum.root(data, name) == few.root()
    for cut in [0, 1, 1 << 18, 1_000_003, len(data) - 1]:
        frontier, hasher = mksum.Frontier(name), mksum.new(name)
        for part in [data[:cut], data[cut:]]:
            frontier.update(part)
            hasher.update(part)
        assert frontier.root() == few.root()
        assert hasher.digest() == few.root().bytes
