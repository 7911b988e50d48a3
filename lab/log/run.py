#!/usr/bin/env python3
"""Times `mksum log` beside tessera's storage in POSIX files.

    run.py MKSUM [--go GO] [--entries N] [--singles N] [--proven N] [--rounds N] [--folder DIR]

Cases: `batches` appends entries of 100 bytes in batches of 1,000, each on the disk and in a signed checkpoint before the
next; `singles` one by one. mksum is a process a batch, whose start is a part of its time, and one for all; tessera is one
process whose entries count once they are in the tree; its checkpoint, at most one in 100 ms, comes at the end. `proof`
proves one entry of many, in a new process. DIR must be on the disk that is meant: in memory, nothing is durable.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from timing import measure, output

HERE = pathlib.Path(__file__).resolve().parent
ENTRY = 100
BATCH = 1000


def fsync_seconds(folder, trials=50):
    """The median time of a write of one block and its fsync."""
    times = []
    with open(folder / "probe", "wb") as file:
        for _ in range(trials):
            begin = time.monotonic()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            times.append(time.monotonic() - begin)
    (folder / "probe").unlink()
    return sorted(times)[trials // 2]


def tessera(go, folder):
    """Builds the program in this folder; None if that is not possible."""
    program = folder / "tessera"
    command = [go, "build", "-buildvcs=false", "-o", program, "."]
    done = subprocess.run(command, check=False, cwd=HERE, capture_output=True, text=True)
    if done.returncode:
        print(f"tessera does not build, so mksum is alone: {done.stderr.strip()}", file=sys.stderr)
        return None
    return program


def entries(path, count):
    with open(path, "wb") as file:
        for index in range(count):
            file.write(b"%0*d\n" % (ENTRY, index))
    return path


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mksum", type=os.path.abspath)
    options.add_argument("--go", default="go")
    options.add_argument("--entries", default=100_000, type=int, help="of the case `batches`")
    options.add_argument("--singles", default=1000, type=int)
    options.add_argument("--proven", default=1_000_000, type=int)
    options.add_argument("--rounds", default=5, type=int)
    options.add_argument("--folder", default=".")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place:
        folder = pathlib.Path(place).resolve()
        log, other = folder / "log", folder / "other"
        program = tessera(chosen.go, folder)
        print(f"one fsync: {fsync_seconds(folder) * 1e3:.3f} ms", flush=True)

        def before():
            for made in (log, other):
                with contextlib.suppress(FileNotFoundError):
                    shutil.rmtree(made)
            output([chosen.mksum, "log", "init", str(log), "--origin", "example.com/lab"])

        def case(name, count, batch):
            input = entries(folder / name, count)
            parts = folder / f"{name}-parts"
            parts.mkdir()
            subprocess.run(["split", "-l", str(batch), "-a", "6", str(input), f"{parts}/"], check=True)
            append = f"{chosen.mksum} log append -q {log}"
            commands = {
                "mksum, one process a batch": f"for part in {parts}/*; do {append} < $part || exit; done",
                "mksum, all in one batch": f"{append} < {input}",
            }
            if program:
                commands["tessera POSIX"] = [str(program), str(other), str(count), str(batch)]
            measure(name, commands, count, "entries", chosen.rounds, before)

        case("batches", chosen.entries, BATCH)
        case("singles", chosen.singles, 1)
        before()
        with open(entries(folder / "proven", chosen.proven), "rb") as input:
            subprocess.run([chosen.mksum, "log", "append", "-q", log], check=True, stdin=input)
        commands = {"mksum": [chosen.mksum, "log", "prove", str(log), str(chosen.proven // 3)]}
        measure("proof", commands, 1, "proofs", chosen.rounds)


if __name__ == "__main__":
    main()
