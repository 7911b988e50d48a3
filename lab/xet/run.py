#!/usr/bin/env python3
"""Times `mksum -f xet` beside hf_xet's hash_files on one cached file, and compares their roots first.

    run.py MKSUM [--python PYTHON] [--size BYTES] [--rounds N]

PYTHON is an interpreter that has hf_xet (vectors/check.py installs one in target/vector-tools/venv). Its start is a part of its
time: a long file makes it small. Processor time is of all threads: a busy machine changes it less than time on the clock.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from timing import measure, output

PROGRAM = "import hf_xet, sys; print(*(info.hash for info in hf_xet.hash_files(sys.argv[1:])))"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mksum")
    options.add_argument("--python", default="target/vector-tools/venv/bin/python")
    options.add_argument("--size", default=1 << 30, type=int)
    options.add_argument("--rounds", default=7, type=int)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/input"
        subprocess.run(f"head -c {chosen.size} /dev/urandom > {path}", shell=True, check=True)
        own = [chosen.mksum, "-f", "xet", path]
        ours = {f"mksum, {count} threads": [*own, f"--threads={count}"] for count in (os.cpu_count(), 1)}
        commands = {**ours, "hf_xet": [chosen.python, "-c", PROGRAM, path]}
        roots = {output(command).split()[-1] for command in commands.values()}
        if len(roots) > 1:
            sys.exit(f"the roots differ: {roots}")
        measure("xet", commands, chosen.size, "B", chosen.rounds)


if __name__ == "__main__":
    main()
