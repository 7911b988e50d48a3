#!/usr/bin/env python3
"""Watches the speed of each hash and of the main commands, and warns of what became slower; nothing here fails.

    watch.py MKSUM [--write]

A figure is how many times as fast as hashlib's SHA-256 a command is on one thread over the same bytes in memory or in the page
cache, in processor time, so that a busy machine changes little: the median of three runs. Figures are compared with those of
lab/results for this chip; --write writes them.
"""

import argparse
import hashlib
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import results
from timing import timed

SIZE = 64 << 20
# Less than this share of the former figure is a warning: chips of one kind, and compilers, differ by less.
SHARE = 0.7
HASHES = "md5 sha1 sha256 sha512 blake2s blake2b blake3 sha3-256 sm3 ripemd160 crc32 crc32c crc64nvme xxh64 xxh3".split()


def cases(mksum, folder):
    """Returns the command of each case, and what is run before each."""
    file = folder / "file"
    one = [mksum, "--threads=1"]
    found = {name: ([*one, "-f", name, file], None) for name in HASHES}
    for name in ("md5", "sha1", "sha256", "sha512", "blake2b", "sm3"):
        found[f"tree of {name}"] = ([*one, "-f", f"rfc6962:{name}:64KiB", file], None)
    sums = folder / "sums"
    sums.write_bytes(subprocess.run([*one, file], check=True, capture_output=True).stdout)
    tree = folder / "file.mkt"
    found["-c"] = ([*one, "-c", sums], None)
    found["keep"] = ([mksum, "keep", "--threads=1", file], lambda: tree.unlink(missing_ok=True))
    found["verify"] = ([mksum, "verify", "--threads=1", file], None)
    found["merklize"] = ([mksum, "merklize", "--threads=1", "--device=cpu", "-o", folder / "nodes", file], None)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mksum", type=pathlib.Path)
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    where = results.machine()
    path = results.path("watch", where)
    former = {row["case"]: row["median"] for row in results.read(path)["rows"]} if path.exists() else {}
    rows, slower = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        data = bytes(range(256)) * (SIZE // 256)
        (folder / "file").write_bytes(data)
        for case, (command, before) in cases(chosen.mksum.resolve(), folder).items():
            ratios = []
            for _ in range(3):
                if before:
                    before()
                _, own = timed(command)
                begin = time.process_time()
                hashlib.sha256(data).digest()
                ratios.append((time.process_time() - begin) / own)
            ratio = statistics.median(ratios)
            spread = {"median": ratio, "least": min(ratios), "most": max(ratios), "trials": len(ratios)}
            rows.append({"case": case, "subject": "mksum", **spread})
            known = former.get(case)
            print(f"{case:<16} {ratio:6.2f}" + (f"  was {known:6.2f}" if known else ""), flush=True)
            if known and ratio < SHARE * known:
                slower.append(f"{case}: {ratio:.2f} × hashlib's SHA-256, {known:.2f} in {path.name}")
    for line in slower:
        print(f"WARNING: slower than it was: {line}", file=sys.stderr)
    if not former:
        print(f"No figures of this chip, {results.chip(where)}, to compare with: --write makes them.", file=sys.stderr)
    if chosen.write:
        results.write("watch", {row["case"]: {"unit": "ratio"} for row in rows}, rows)


if __name__ == "__main__":
    main()
