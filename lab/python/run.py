#!/usr/bin/env python3
"""Measures the Python package beside hashlib and blake3-py in one process, and what reads files beside the tool.

    run.py MKSUM [--rounds N] [--largest BYTES] [--file BYTES] [--write]

Run it with a Python that has `mksum`, `blake3` and nothing else to do (target/python/venv has both after the stage `python`). All
digests are compared first. In each round the subjects of a case follow one another, so that their ratio is steadier than their
times; a ratio above 1 means that mksum is faster, and `low` and `high` are its quartiles. --write writes
lab/results/python-*.json and the table of lab/README.md.
"""

import argparse
import hashlib
import os
import pathlib
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

import blake3
import mksum

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results

# A trial takes at least about this many seconds, so that the clock does not matter.
TRIAL = 0.002
CASES = {
    "blake3": "one message, ours and blake3-py on one thread, its default, and with max_threads=AUTO",
    "sha256": "one message, ours and hashlib",
    "file_digest": "hashlib.file_digest of an open file with mksum.sha256 and with hashlib.sha256",
    "file_root": "rfc6962:sha256:64KiB of a cached file, ours and the tool, whose start is not counted: it hashes 1 byte as well",
    "hash_files": "sha256 of 20,000 cached files of 4 KiB, ours and the tool, whose start is not counted",
    "import": "a new interpreter that imports mksum, and one that imports nothing",
}
# The files of hash_files.
COUNT, LENGTH = 20_000, 4096


def timed(call, times):
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times


def compared(case, subjects, rounds, length=None):
    """Yields a row for each subject, the first of which is ours, in microseconds; theirs has the ratio to ours."""
    times = max(1, int(TRIAL / max(timed(call, 1) for call in subjects.values())))
    measured = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, call in subjects.items():
            measured[name].append(timed(call, times) * 1e6)
    ours = next(iter(measured.values()))
    for name, found in measured.items():
        low, ratio, high = statistics.quantiles((their / our for their, our in zip(found, ours, strict=True)), n=4)
        row = {"case": case, "subject": name, "median": statistics.median(found), "least": min(found), "most": max(found)}
        row |= {"trials": rounds, "ratio": ratio, "low": low, "high": high}
        yield row | ({} if length is None else {"x": length})


def messages(rounds, largest):
    length = 1
    while length <= largest:
        data = os.urandom(length)
        assert mksum.blake3(data).digest() == blake3.blake3(data).digest()
        assert mksum.sha256(data).digest() == hashlib.sha256(data).digest()
        blake = {
            "mksum": lambda data=data: mksum.blake3(data).digest(),
            "blake3-py": lambda data=data: blake3.blake3(data).digest(),
            "blake3-py, AUTO": lambda data=data: blake3.blake3(data, max_threads=blake3.blake3.AUTO).digest(),
        }
        sha256 = {
            "mksum": lambda data=data: mksum.sha256(data).digest(),
            "hashlib": lambda data=data: hashlib.sha256(data).digest(),
        }
        # Short ones take little time: more rounds make them steadier.
        own = rounds if length > 16 << 20 else 5 * rounds
        yield from compared("blake3", blake, own, length)
        yield from compared("sha256", sha256, own, length)
        length *= 2


def files(tool, rounds, size, folder):
    path, one = pathlib.Path(folder) / "file", pathlib.Path(folder) / "one"
    block = os.urandom(1 << 20)
    with open(path, "wb") as file:
        for index in range(size >> 20):
            file.write(index.to_bytes(8, "big") + block[8:])
    one.write_bytes(b"x")
    spec = "rfc6962:sha256:64KiB"

    def printed(path):
        done = subprocess.run([tool, "-f", spec, "--untagged", path], check=True, capture_output=True, text=True)
        return done.stdout.split()[0]

    def digest(make):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, make).digest()

    assert printed(path) == mksum.file_root(path, spec).text
    assert digest(mksum.sha256) == digest(hashlib.sha256)
    start = statistics.median(timed(lambda: printed(one), 1) for _ in range(5)) * 1e6
    subjects = {"mksum": lambda: mksum.file_root(path, spec), "the tool": lambda: printed(path)}
    yield from without(start, compared("file_root", subjects, rounds, path.stat().st_size))
    both = {"mksum": lambda: digest(mksum.sha256), "hashlib": lambda: digest(hashlib.sha256)}
    yield from compared("file_digest", both, rounds, path.stat().st_size)


def without(start, rows):
    """Yields rows without the time that the tool takes to start, in microseconds."""
    for row in rows:
        if row["subject"] == "the tool":
            for name in ("ratio", "low", "high"):
                row[name] *= 1 - start / row["median"]
            for name in ("median", "least", "most"):
                row[name] -= start
        yield row


def many(tool, rounds, folder):
    top = pathlib.Path(folder) / "many"
    top.mkdir()
    paths = [str(top / f"{number:05}") for number in range(COUNT)]
    for path in paths:
        pathlib.Path(path).write_bytes(os.urandom(LENGTH))
    (top / "00000").write_bytes(bytes(LENGTH))
    listed = "\0".join(paths).encode() + b"\0"

    def printed(names):
        command = [tool, "-f", "sha256", "--untagged", "--files0-from", "-"]
        return subprocess.run(command, check=True, capture_output=True, input=names).stdout

    def ours():
        return [root for _, root in mksum.hash_files(paths, "sha256")]

    texts = [line.split()[0].decode() for line in printed(listed).splitlines()]
    assert texts == [root.text for root in ours()]
    start = statistics.median(timed(lambda: printed(paths[0].encode() + b"\0"), 1) for _ in range(5)) * 1e6
    subjects = {"mksum": ours, "the tool": lambda: printed(listed)}
    yield from without(start, compared("hash_files", subjects, rounds, COUNT * LENGTH))


def imports(rounds):
    def new(code):
        return lambda: subprocess.run([sys.executable, "-I", "-c", code], check=True)

    yield from compared("import", {"mksum": new("import mksum"), "nothing": new("")}, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mksum")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--largest", type=int, default=1 << 30)
    parser.add_argument("--file", type=int, default=4 << 30)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for found in (
            imports(options.rounds),
            messages(options.rounds, options.largest),
            many(options.mksum, options.rounds, folder),
            files(options.mksum, options.rounds, options.file, folder),
        ):
            for row in found:
                rows.append(row)
                place = f"{row.get('x', ''):>12} {row['case']:14} {row['subject']:16}"
                print(f"{place} {row['median']:14.2f} µs  ×{row['ratio']:.2f} ({row['low']:.2f}–{row['high']:.2f})", flush=True)
    if options.write:
        cases = {name: {"unit": "µs"} | ({} if name == "import" else {"x": "bytes"}) for name in CASES}
        python, openssl = f"CPython {sys.version.split()[0]}", ssl.OPENSSL_VERSION
        versions = {"Python": python, "OpenSSL": openssl, "blake3-py": f"blake3 {blake3.__version__}"}
        print(results.write("python", cases, rows, versions=versions)[1])
        subprocess.run([sys.executable, pathlib.Path(__file__).resolve().parent.parent / "tables.py"], check=True)


main()
