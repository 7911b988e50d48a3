#!/usr/bin/env python3
"""Compares the tool with independent programs on inputs of random lengths and on content that is adversarial to xet.

    peers.py MKSUM [SEED]

The formats and their programs are AT_RANDOM of check/programs.py. Each input is hashed in all of them as one of many files, alone
on several threads, and from a pipe. Run it where the programs are installed (check.py does so in target/vector-tools).
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "check"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import programs
import reference
from reference import KiB, MiB

SHORTEST, LONGEST = 8 * KiB, 128 * KiB


def without_ends(rng, length):
    """Returns bytes in which no leaf but the longest ends: one byte is repeated."""
    return bytes([rng.randrange(256)]) * length


def with_ends_everywhere():
    """Returns 64 bytes and more after which, repeated, the gear hash is low as often as a search finds a period for it."""
    for step in range(1, 4000):
        period = bytes((index * index * step + index) % 256 for index in range(64))
        state = 0
        for byte in period * 2:
            state = (state * 2 + reference.GEAR[byte]) % 2**64
            if state < 2**48:
                return period
    return bytes(64)


def inputs(rng):
    """Yields inputs: of random lengths, at the lengths of leaves, and of content that is hard to scan in parts."""
    for _ in range(300):
        yield rng.randbytes(int(2 ** rng.uniform(0, 22)))
    for length in (SHORTEST, LONGEST, 2 * LONGEST, 9 * LONGEST, 10 * LONGEST, MiB):
        for step in (-1, 0, 1):
            yield bytes(length + step)
            yield without_ends(rng, length + step)
            yield rng.randbytes(length + step)
    period = with_ends_everywhere()
    for length in (100_000, 1_000_003, 5 * MiB + 1):
        yield (period * (length // 64 + 1))[:length]
    # Leaves that end one byte before, at and after the borders of parts and reads.
    head = rng.randbytes(3 * MiB)
    leaf = reference.xet_leaves(head)[-2]
    for border in (MiB, 2 * MiB, 4 * MiB):
        for step in (-1, 0, 1):
            yield bytes(border + step - len(leaf)) + leaf + head
    # Long stretches without ends, between others: scans of different parts agree late or never.
    for _ in range(60):
        parts = [rng.choice((without_ends, lambda rng, length: rng.randbytes(length)))(rng, rng.randrange(MiB)) for _ in range(8)]
        yield b"".join(parts)
    for length in range(0, 40, 3):
        yield rng.randbytes(length)


def roots(command, formats, **options):
    """Returns the roots that a command prints for each input, a row of formats each."""
    command = [*command[:1], *(word for format in formats for word in ("-f", format)), *command[1:]]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout.decode()
    found, width = [line.rsplit(" = ", 1)[1] for line in printed.splitlines()], len(formats)
    return [dict(zip(formats, found[at : at + width], strict=True)) for at in range(0, len(found), width)]


def expected(paths):
    """Returns the roots that the independent programs print for each input."""

    def columns():
        for format, kind in programs.AT_RANDOM.items():
            rows = [types.SimpleNamespace(format=format, path=pathlib.Path(path)) for path in paths]
            yield list(kind(None, lambda row: row.path).roots(rows))

    return [dict(zip(programs.AT_RANDOM, row, strict=True)) for row in zip(*columns(), strict=True)]


def main():
    tool, formats = str(pathlib.Path(sys.argv[1]).resolve()), list(programs.AT_RANDOM)
    listed = map(json.loads, subprocess.check_output([tool, "formats", "--json"]).splitlines())
    streams = {row["name"]: row["streams"] for row in listed}
    of_pipes = [format for format in formats if streams[format.split(":")[0]]]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, data in enumerate(inputs(random.Random(seed))):
            paths.append(f"{folder}/{number:04}")
            pathlib.Path(paths[-1]).write_bytes(data)
        right = expected(paths)
        ways = {"many files": roots([tool, *paths], formats)}
        ways["three threads"] = [row for path in paths for row in roots([tool, "--threads", "3", path], formats)]
        ways["a pipe"] = []
        for path in paths:
            with open(path, "rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as pipe:
                ways["a pipe"] += roots([tool], of_pipes, stdin=pipe.stdout)
        for way, printed in ways.items():
            for path, known, found in zip(paths, right, printed, strict=True):
                for format, other in found.items():
                    if known[format] != other:
                        source = programs.AT_RANDOM[format].source
                        wrong.append(f"{way}: {path}: {format}: {source} printed {known[format]}, mksum {other}")
    agreed = f"{', '.join(programs.AT_RANDOM)}: {len(right)} inputs agree with other programs in {len(ways)} ways (seed {seed})"
    print("\n".join(wrong[:20]) or agreed)
    sys.exit(1 if wrong or len(right) < 300 else 0)


if __name__ == "__main__":
    main()
