#!/usr/bin/env python3
"""Times `mksum log` beside tessera's storage in POSIX files.

    run.py MKSUM [--cargo CARGO] [--go GO] [--rounds N] [--folder DIR] [--entries N] [--singles N] [--concurrent N]
           [--proven N] [--hashed N]

Entries have 100 bytes, and count once they are on the disk and in a signed checkpoint. Cases: `batches` appends them in
batches of 1,000, each after the one before is in a checkpoint; `singles` one by one; `threads` one by one from 256 threads at
once, which share checkpoints. mksum is a process a batch, whose start is a part of its time, and the crate in one process (its
example `appenders`); tessera is one process whose entries count once they are in the tree; its checkpoint, at most one in 100
ms, comes at the end. `proof` proves one entry of many in a new process, and `append` adds one to them; `hash` computes leaf
hashes, without a disk. Last comes the most memory that commands take, or Python if that takes more, as Linux counts both.
DIR must be on the disk that is meant: in memory, nothing is durable.
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
THREADS = 256
# The entries of a batch of the large log, which is not timed.
LARGE_BATCH = 100_000


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


def built(name, command, program):
    """Builds a program; None if that is not possible."""
    try:
        done = subprocess.run(command, check=False, cwd=HERE, capture_output=True, text=True, timeout=600)
        failed = done.stderr.strip() if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        failed = str(error)
    if failed:
        print(f"{name} does not build, so it is left out: {failed}", file=sys.stderr)
        return None
    return program


def tessera(go, folder):
    program = folder / "tessera"
    return built("tessera", [go, "build", "-buildvcs=false", "-o", program, "."], program)


def appenders(cargo, mksum):
    """Builds the example beside mksum, whose crates are compiled already, if that lies in a target folder."""
    target = pathlib.Path(mksum).parent.parent
    if not (target / "CACHEDIR.TAG").exists():
        target = HERE.parent.parent / "target"
    command = [cargo, "build", "--release", "-p", "mksum-log", "--example", "appenders", "--target-dir", target]
    return built("appenders", command, target / "release" / "examples" / "appenders")


def memory(command, input=None):
    """Returns the most memory that a command takes, in MiB."""
    with contextlib.ExitStack() as stack:
        stdin = stack.enter_context(open(input, "rb")) if input else subprocess.DEVNULL
        process = subprocess.Popen(list(map(str, command)), stdin=stdin, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command}: exit {process.returncode}")
    return usage.ru_maxrss / 1024


def entries(path, count):
    with open(path, "wb") as file:
        for index in range(count):
            file.write(b"%0*d\n" % (ENTRY, index))
    return path


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mksum", type=os.path.abspath)
    options.add_argument("--cargo", default="cargo")
    options.add_argument("--go", default="go")
    options.add_argument("--entries", default=100_000, type=int, help="of the case `batches`")
    options.add_argument("--singles", default=200, type=int)
    options.add_argument("--concurrent", default=20_000, type=int, help="of the case `threads`")
    options.add_argument("--proven", default=5_000_000, type=int, help="entries of the log of the case `proof`")
    options.add_argument("--hashed", default=10_000_000, type=int)
    options.add_argument("--rounds", default=3, type=int)
    options.add_argument("--folder", default=".")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place:
        folder = pathlib.Path(place).resolve()
        log, other, group = folder / "log", folder / "other", folder / "group"
        program, example = tessera(chosen.go, folder), appenders(chosen.cargo, chosen.mksum)
        print(f"one fsync: {fsync_seconds(folder) * 1e3:.3f} ms", flush=True)

        def before():
            for made in (log, other, group):
                with contextlib.suppress(FileNotFoundError):
                    shutil.rmtree(made)
            output([chosen.mksum, "log", "init", str(log), "--origin", "example.com/lab"])

        def crate(count, threads, batch, linger=0):
            return [str(part) for part in (example, group, count, threads, batch, ENTRY, linger)]

        def others(count, batch, threads=1, linger=0):
            """Commands of programs that are one process."""
            commands = {"mksum-log, one process": crate(count, threads, batch, linger)} if example else {}
            if program:
                commands["tessera POSIX"] = [str(program), str(other), str(count), str(max(batch, threads))]
            return commands

        def case(name, count, batch):
            input = entries(folder / name, count)
            parts = folder / f"{name}-parts"
            parts.mkdir()
            subprocess.run(["split", "-l", str(batch), "-a", "6", str(input), f"{parts}/"], check=True)
            append = f"{chosen.mksum} log append -q {log}"
            commands = {
                "mksum, one process a batch": f"for part in {parts}/*; do {append} < $part || exit; done",
                "mksum, all in one batch": f"{append} < {input}",
                **others(count, batch),
            }
            measure(name, commands, count, "entries", chosen.rounds, before)

        case("batches", chosen.entries, BATCH)
        case("singles", chosen.singles, 1)
        threads = others(chosen.concurrent, 1, THREADS)
        if example:
            threads["mksum-log, one process, linger 5 ms"] = crate(chosen.concurrent, THREADS, 1, 5)
        if threads:
            measure("threads", threads, chosen.concurrent, "entries", chosen.rounds, before)
        before()
        large = chosen.proven
        if example:
            subprocess.run(crate(large, 1, LARGE_BATCH), check=True, stdout=subprocess.DEVNULL)
            log = group
        else:
            with open(entries(folder / "proven", large), "rb") as input:
                subprocess.run([chosen.mksum, "log", "append", "-q", log], check=True, stdin=input)
        prove = [chosen.mksum, "log", "prove", str(log), str(large // 3)]
        measure("proof", {f"mksum, of {large}": prove}, 1, "proofs", chosen.rounds)
        append = f"echo one more | {chosen.mksum} log append -q {log}"
        measure("append", {f"mksum, to {large}": append}, 1, "entries", chosen.rounds)
        if example:
            hashing = {"mksum-log, one thread": [str(example), "hash", str(chosen.hashed), str(ENTRY)]}
            measure("hash", hashing, chosen.hashed, "entries", chosen.rounds)
        peaks = {"prove": memory(prove)}
        peaks["append"] = memory([chosen.mksum, "log", "append", "-q", log], folder / "batches")
        print("most memory: " + ", ".join(f"{name} {peak:.1f} MiB" for name, peak in peaks.items()), flush=True)


if __name__ == "__main__":
    main()
