#!/usr/bin/env python3
"""Tests ASC MHL manifests with ascmhl, which writes and checks them.

    mhl.py MKSUM PYTHON

PYTHON has the package ascmhl.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

from bits import flip

MKSUM, PYTHON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SUMS = ["c4", "sha1", "md5", "xxh128", "xxh3", "xxh64"]
LIMIT = 60  # seconds, for each process
CHAIN = """<?xml version="1.0" encoding="UTF-8"?>
<ascmhldirectory xmlns="urn:ASC:MHL:DIRECTORY:v2.0">
  <hashlist sequencenr="1"><path>{name}</path><c4>{c4}</c4></hashlist>
</ascmhldirectory>
"""
IDS = "import sys; from ascmhl.hasher import C4; print(*map(C4.hash_file, sys.argv[1:]), sep='\\n')"


def run(*command, status=0, **options):
    """Returns what a command prints; fails if it ends with another status."""
    words = list(map(str, command))
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=LIMIT, **options)
    assert done.returncode == status, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + (done.stderr if status else "")


def ascmhl(*words, status=0):
    return run(PYTHON, "-c", "from ascmhl.cli.ascmhl import mhltool_cli; mhltool_cli()", *words, status=status)


def folder(top, rng):
    """Makes a folder of files."""
    for name in ("empty", "A001/clip one.mov", "A001/B&C <1>.mov", "A001/sub/é.wav", "b"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.randbytes(0 if name == "empty" else rng.randrange(1, 300_000)))
    return top


def theirs_is_read(place, rng):
    """Checks manifests of ascmhl, with each of its sums, from anywhere; a flipped bit is noticed."""
    for name in SUMS:
        top = folder(place / f"theirs-{name}", rng)
        ascmhl("create", top, "-h", name)
        (manifest,) = (top / "ascmhl").glob("*.mhl")
        assert run(MKSUM, "-c", manifest, cwd=place).count(": OK") == 5, name
        assert run(MKSUM, "-c", manifest, cwd=top).count(": OK") == 5, name
        flip(top / "A001/clip one.mov", -1, hidden=True)
        assert run(MKSUM, "-c", manifest, status=1).count(": FAILED") == 1, name


def ours_is_read(place, rng):
    """Has ascmhl compare a folder with a history of one manifest that `export` wrote; a flipped bit is noticed."""
    for names in [[name] for name in SUMS] + [SUMS]:
        top = folder(place / f"ours-{'-'.join(names)}", rng)
        run(MKSUM, "keep", "-q", "-r", *(word for name in names for word in ("-f", name)), top)
        text = run(MKSUM, "export", "--to", "mhl", top)
        run("rm", "-r", top / ".mksum")
        (top / "ascmhl").mkdir()
        manifest = top / "ascmhl" / "0001_ours_2026-01-01_000000Z.mhl"
        manifest.write_text(text)
        c4 = run(MKSUM, "-f", "c4", "--untagged", manifest).split()[0]
        (top / "ascmhl/ascmhl_chain.xml").write_text(CHAIN.format(name=manifest.name, c4=c4))
        ascmhl("diff", top)
        ascmhl("create", top, "-h", names[0])
        flip(top / "b", -1, hidden=True)
        assert "hash mismatch for" in ascmhl("create", top, "-h", names[0], status=11)


def ids_agree(place, rng):
    """Compares C4 ids of 320 files of random lengths."""
    paths = []
    for number in range(320):
        paths.append(place / f"{number:03}")
        paths[-1].write_bytes(rng.randbytes(int(2 ** rng.uniform(0, 18)) if number else 0))
    right = run(PYTHON, "-c", IDS, *paths).split()
    found = [line.split()[0] for line in run(MKSUM, "-f", "c4", "--untagged", *paths).splitlines()]
    assert len(right) == 320 and right == found


def main():
    with tempfile.TemporaryDirectory() as place:
        for test in (theirs_is_read, ours_is_read, ids_agree):
            (pathlib.Path(place) / test.__name__).mkdir()
            test(pathlib.Path(place) / test.__name__, random.Random(1))
            print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
