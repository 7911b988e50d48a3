"""Kept trees, and trees in parts."""

import json
import os
import pathlib
import pickle
import random
import time
from collections.abc import Iterator

import mksum
import pytest
from conftest import noise
from mksum.types import Part

KIB = 1024


def damage(path: pathlib.Path, offset: int, length: int = 1) -> None:
    """Changes bytes and leaves the mtime as it was, as a failing disk does."""
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(offset)
        found = file.read(length)
        file.seek(offset)
        file.write(bytes(byte ^ 1 for byte in found))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_keep_and_open(big: pathlib.Path) -> None:
    told = []
    outboard = mksum.Outboard.keep(big, "rfc6962:sha256:4KiB", unit=4 * KIB, on_progress=told.append)
    assert sum(told) == big.stat().st_size
    again = mksum.Outboard.open(str(big))
    for tree in [outboard, again]:
        assert tree.root == mksum.root(big.read_bytes(), "rfc6962:sha256:4KiB")
        assert (tree.path, tree.outboard) == (str(big), f"{big}.mkt")
        assert (tree.format, tree.length, tree.unit) == ("rfc6962:sha256:4KiB", 5_000_017, 4 * KIB)
        assert tree.is_unchanged()
        assert tree.verify() is None
        assert tree.damaged() == []
    elsewhere = big.with_name("elsewhere")
    assert mksum.Outboard.keep(big, "blake3", outboard=elsewhere).root == mksum.root(big.read_bytes(), "blake3")
    assert mksum.Outboard.open(big, outboard=elsewhere).format == "blake3"
    # Without a unit the tree takes at most a thousandth of the file.
    assert elsewhere.stat().st_size < 4096 + big.stat().st_size / 1000 + 64
    with pytest.raises(mksum.NotFoundError):
        mksum.Outboard.open(elsewhere)
    with pytest.raises(mksum.OutboardError) as caught:
        mksum.Outboard.open(big, outboard=big)
    assert caught.value.path == str(big)
    with pytest.raises(mksum.RefusedError):
        mksum.Outboard.keep(elsewhere, outboard=big)
    with pytest.raises(mksum.DirectoryError):
        mksum.Outboard.keep(big.parent)


@pytest.mark.parametrize("fmt", ["rfc6962:sha256:4KiB", "blake3", "glacier", "mtsum:sha256:64KiB"])
def test_damage_is_found_repaired_and_never_overwritten(big: pathlib.Path, fmt: str) -> None:
    copy = big.with_name("copy")
    copy.write_bytes(big.read_bytes())
    tree = mksum.Outboard.keep(big, fmt, unit=64 * KIB)
    unit = tree.unit
    damage(big, 1_000_000, 10)
    damage(big, 3_000_000)
    expected = [(at // unit * unit, min(tree.length, at // unit * unit + unit)) for at in (1_000_000, 3_000_000)]
    found = tree.damaged()
    if fmt.startswith("mtsum"):
        # Its units have other lengths.
        expected = [(place["start"], place["end"]) for place in found]
        assert all(start <= at < end for at, (start, end) in zip((1_000_000, 3_000_000), expected, strict=True))
    assert found == [{"kind": "damaged", "start": start, "end": end} for start, end in expected]
    assert json.loads(json.dumps(found)) == found
    with pytest.raises(mksum.DamagedError) as caught:
        tree.verify()
    assert (caught.value.ranges, caught.value.offset, caught.value.path) == (expected, expected[0][0], str(big))
    assert pickle.loads(pickle.dumps(caught.value)).ranges == expected
    # A range reads only its units.
    told = []
    assert tree.verify(4_000_000, 4_000_001, on_progress=told.append) is None
    assert sum(told) <= 2 * unit
    with pytest.raises(mksum.DamagedError):
        tree.verify(3_000_000, 3_000_001)
    with pytest.raises(mksum.DamagedError):
        mksum.Outboard.keep(big, fmt, unit=64 * KIB)
    # A copy that is damaged itself repairs only the rest.
    damage(copy, 3_000_000)
    half = tree.repair(copy)
    assert (half["whole"], half["repaired"], half["failed"]) == (False, expected[:1], expected[1:])
    damage(copy, 3_000_000)
    whole = tree.repair(str(copy))
    assert (whole["whole"], whole["repaired"], whole["failed"], whole["resumed"]) == (True, expected[1:], [], True)
    assert whole["written"] == whole["fetched"] == expected[1][1] - expected[1][0]
    assert big.read_bytes() == copy.read_bytes()
    tree.verify()


def test_other_differences(big: pathlib.Path) -> None:
    tree = mksum.Outboard.keep(big, "rfc6962:sha256:4KiB", unit=4 * KIB)
    with open(big, "ab") as file:
        file.write(b"more")
    assert tree.damaged() == [{"kind": "grown", "start": 5_000_017, "end": 5_000_021}]
    assert not tree.is_unchanged()
    os.truncate(big, 4_999_000)
    start = 4_999_000 // (4 * KIB) * 4 * KIB
    assert tree.damaged() == [
        {"kind": "damaged", "start": start, "end": 4_999_000},
        {"kind": "missing", "start": 4_999_000, "end": 5_000_017},
    ]
    with pytest.raises(mksum.DamagedError) as caught:
        tree.verify()
    assert caught.value.ranges == [(start, 5_000_017)]
    with pytest.raises(mksum.ChangedError):
        tree.prove(0, 10)


def test_a_damaged_tree_is_told_from_a_damaged_file(big: pathlib.Path) -> None:
    tree = mksum.Outboard.keep(big, "rfc6962:sha256:4KiB", unit=4 * KIB)
    damage(pathlib.Path(tree.outboard), 4096 + 100 * 32)
    found = tree.damaged()
    assert [place["kind"] for place in found] == ["outboard"]
    with pytest.raises(mksum.OutboardError):
        tree.verify()
    with open(tree.outboard, "r+b") as file:
        file.write(b"not a tree")
    with pytest.raises(mksum.OutboardError):
        mksum.Outboard.open(big)


def test_proofs_from_a_tree(big: pathlib.Path) -> None:
    data = big.read_bytes()
    for fmt in ["rfc6962:sha256:4KiB", "blake3"]:
        tree = mksum.Outboard.keep(big, fmt, outboard=f"{big}.{fmt[:3]}")
        for start, end in [(0, 1), (5_000_016, 5_000_017), (123_456, 2_345_678), (0, len(data))]:
            proof = tree.prove(start, end)
            assert proof == mksum.prove(data, start, end, fmt)
            assert mksum.check_proof(proof, tree.root, data[start:end]) == (start, end)
        mksum.check_consistency(tree.prove_consistency(1_000_000), mksum.root(data[:1_000_000], fmt), tree.root)
        with pytest.raises(mksum.ProofError):
            tree.prove(10, 10)
        with pytest.raises(mksum.ProofError):
            tree.prove(0, 5_000_018)
    damage(big, 200_000)
    with pytest.raises(mksum.ProofError):
        tree.prove(200_000, 200_001)


def test_diff(big: pathlib.Path) -> None:
    tree = mksum.Outboard.keep(big, "blake3", unit=16 * KIB)
    other = big.with_name("other")
    other.write_bytes(big.read_bytes() + b"more")
    damage(other, 1_000_000)
    theirs = mksum.Outboard.keep(other, "blake3", unit=16 * KIB)
    start = 1_000_000 // (16 * KIB) * 16 * KIB
    last = 5_000_017 // (16 * KIB) * 16 * KIB
    assert tree.diff(theirs) == theirs.diff(tree) == [(start, start + 16 * KIB), (last, 5_000_021)]
    assert tree.diff(tree) == []
    with pytest.raises(mksum.OutboardError):
        tree.diff(mksum.Outboard.keep(other, "rfc6962", outboard=f"{other}.rfc"))


@pytest.mark.parametrize("fmt", ["rfc6962:sha256:4KiB", "blake3", "mtsum:sha256:64KiB", "s3:md5:1MiB", "fsverity", "sha256"])
def test_parts_are_planned_hashed_anywhere_and_joined(big: pathlib.Path, fmt: str) -> None:
    data = big.read_bytes()
    rows = mksum.plan(big, fmt, part=300_000)
    seconds, rest = divmod(big.stat().st_mtime_ns, 10**9)
    version = f"mtime:{seconds}.{rest:09}"
    assert rows == [row | {"path": str(big), "version": version} for row in mksum.plan(len(data), fmt, part=300_000)]
    assert rows == mksum.plan(big, fmt, part=300_000, size=len(data), version=version)
    assert [row["offset"] for row in rows] == sorted(row["offset"] for row in rows)
    assert sum(row["length"] for row in rows) == len(data)
    sent = json.loads(json.dumps(pickle.loads(pickle.dumps(rows))))
    random.Random(1).shuffle(sent)
    hashed = [mksum.map_range(row) for row in sent]
    assert mksum.join(hashed) == mksum.join(iter(hashed)) == mksum.root(data, fmt)
    for row in rows:
        part = data[row["offset"] : row["offset"] + row["length"]]
        assert mksum.map_range(row, part) in hashed
    assert [result for _, result in mksum.map_ranges(iter(rows))] == [mksum.map_range(row) for row in rows]
    whole = mksum.plan(big, fmt, part=1 << 40)
    assert mksum.join([mksum.map_range(row) for row in whole]) == mksum.root(data, fmt)


def test_rows_that_are_not_one_tree(big: pathlib.Path) -> None:
    rows = mksum.plan(big, "blake3", part=300_000)
    hashed = [mksum.map_range(row) for row in rows]

    def refused(wrong: list, offset: int | None = None) -> None:
        with pytest.raises(mksum.RowError) as caught:
            mksum.join(wrong)
        if offset is not None:
            assert caught.value.offset == offset

    refused([])
    refused(hashed[1:], hashed[1]["offset"])
    refused(hashed[:-1], hashed[-1]["offset"])
    refused([*hashed[:2], *hashed[3:]], hashed[3]["offset"])
    refused([*hashed, hashed[0]], 0)
    for key, value in [
        ("digest", "00"),
        ("digest", "zz" * 32),
        ("offset", -1),
        ("length", 0),
        ("length", 1),
        ("size", 7),
        ("format", "sha256"),
        ("level", 0),
        ("level", 999),
        ("digest", None),
        ("schema", 2),
        ("path", "other"),
        ("version", "other"),
    ]:
        refused([hashed[0] | {key: value}, *hashed[1:]])
        refused([*hashed[:-1], hashed[-1] | {key: value}])
    for key in {*hashed[0]} - {"kind"}:
        refused([{name: value for name, value in hashed[0].items() if name != key}, *hashed[1:]])
    with pytest.raises(mksum.RowError):
        mksum.map_range(rows[0], b"short")
    with pytest.raises(mksum.RowError):
        mksum.map_range(rows[0] | {"length": 5}, b"short")
    with pytest.raises(mksum.LengthError):
        mksum.plan(1000, "dmverity")
    assert [(row["offset"], row["length"]) for row in mksum.plan(0)] == [(0, 0)]
    with pytest.raises(mksum.RowError, match="no path"):
        mksum.map_range(mksum.plan(5)[0])
    with pytest.raises(TypeError):
        mksum.plan(big, size=5)
    big.write_bytes(big.read_bytes() + b"x")
    with pytest.raises(mksum.ChangedError):
        mksum.map_range(rows[0])
    big.write_bytes(noise(5_000_017, 1))
    os.utime(big, ns=(time.time_ns(), time.time_ns() + 10**9))
    with pytest.raises(mksum.ChangedError):
        mksum.map_range(rows[0])
    big.unlink()
    with pytest.raises(mksum.NotFoundError):
        mksum.map_range(rows[0])
    with pytest.raises(mksum.NotFoundError):
        mksum.plan(big)


def test_many_rows_are_hashed_in_order(big: pathlib.Path, tmp_path: pathlib.Path) -> None:
    files = [tmp_path / f"{number}" for number in range(30)]
    for number, path in enumerate(files):
        path.write_bytes(noise(number * 1000, number))
    rows = [row for path in [*files[:20], big, *files[20:], big] for row in mksum.plan(path, "blake3", part=300_000)]
    assert [(row, mksum.map_range(row)) for row in rows] == list(mksum.map_ranges(rows))
    count = 0

    def told(more: int) -> None:
        nonlocal count
        count += more

    assert len(list(mksum.map_ranges(iter(rows), threads=1, on_progress=told))) == len(rows)
    assert count == sum(row["length"] for row in rows)
    # A file that fails ends its own rows alone, and what is no row only itself.
    files[5].write_bytes(b"other")
    files[6].unlink()
    big.write_bytes(noise(5_000_017, 1))
    wrong = [*rows[:3], rows[0] | {"schema": 2}, 7, *rows[3:]]
    results = [result for _, result in mksum.map_ranges(wrong)]  # type: ignore[arg-type]
    kinds = [type(result).__name__ for result in results]
    assert kinds[3:5] == ["RowError", "TypeError"]
    for row, result in zip(rows, results[:3] + results[5:], strict=True):
        path = pathlib.Path(row["path"])
        if path == files[6]:
            assert isinstance(result, mksum.NotFoundError)
        elif path in (files[5], big):
            assert isinstance(result, mksum.ChangedError)
            assert result.expected == (row["version"], row["size"])
        else:
            assert result == mksum.map_range(row)
    # Nobody waits for the rest.
    for _ in mksum.map_ranges(rows * 100):
        break

    def failing() -> Iterator[Part]:
        yield rows[0]
        raise ZeroDivisionError

    ranges = mksum.map_ranges(failing())
    assert next(ranges)[1] == mksum.map_range(rows[0])
    with pytest.raises(ZeroDivisionError):
        next(ranges)


def test_a_row_has_the_bytes_of_a_name_that_is_not_utf8(tmp_path: pathlib.Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"a\xff")
    try:
        with open(path, "wb") as file:
            file.write(b"abc")
    except OSError:
        pytest.skip("this file system has no such names")
    [row] = mksum.plan(path, "blake3")
    assert json.loads(json.dumps(row)) == row
    assert mksum.join([mksum.map_range(row)]) == mksum.root(b"abc", "blake3")


def test_what_cannot_be_listed(tmp_path: pathlib.Path) -> None:
    for url in (tmp_path, "https://localhost/folder/", "s3:/bucket"):
        with pytest.raises(mksum.RefusedError):
            list(mksum.list_objects(url))
