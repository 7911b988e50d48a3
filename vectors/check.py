#!/usr/bin/env python3
"""Runs the independent programs on the rows that name them as their source, and compares every root.

    check.py [--tools DIR] [--only TEXT]

Installs missing programs: Debian packages with apt-get, the rest under DIR (target/vector-tools in the repository).
Prints one line a program and `N passed, M failed`. If a program cannot be installed, all its rows fail.
--only runs just the programs whose name contains TEXT.
"""
import argparse
import collections
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "check"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
import generate
import install
import reference

HERE = pathlib.Path(__file__).resolve().parent
Row = collections.namedtuple("Row", "format input length root source")


def read_rows():
    for path in sorted(generate.ROWS.glob("*.tsv")):
        for line in path.read_text().splitlines():
            if not line.startswith("#"):
                yield Row(*line.split("\t"))


def input_files(folder):
    """Returns a function from a row to the file with its input; each file is written once."""

    def file_of(row):
        path = folder / f"{row.input}-{row.length}"
        if not path.exists():
            path.write_bytes(reference.input_bytes(row.input, int(row.length)))
        return path

    return file_of


def confirm(program, rows):
    """Prints one line and returns the numbers of rows that agree and that differ."""
    try:
        version, printed = program.version(), list(program.roots(rows))
    except Exception as error:
        print(f"{program.source}: FAILURE, {len(rows)} rows not confirmed: {type(error).__name__}: {error}")
        return 0, len(rows)
    printed += [None] * (len(rows) - len(printed))
    differing = [(row, root) for row, root in zip(rows, printed, strict=True) if row.root != root]
    for row, root in differing[:10]:
        print(f"  {row.format} {row.input} {row.length}: expected {row.root}, {program.source} printed {root}")
    line = f"{program.source}: {len(rows) - len(differing)} rows confirmed"
    if re.search(r"[\d.]+", version)[0] not in program.source:
        line += f" by version {version}"
    if differing:
        line += f", {len(differing)} DIFFER"
    print(line, flush=True)
    return len(rows) - len(differing), len(differing)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tools", type=pathlib.Path, default=HERE.parent / "target/vector-tools", metavar="DIR")
    arguments.add_argument("--only", default="", metavar="TEXT")
    chosen = arguments.parse_args()
    tools = chosen.tools.resolve()
    tools.mkdir(parents=True, exist_ok=True)

    try:
        python = install.python(tools)
    except RuntimeError as error:
        sys.exit(f"FAILURE, no program was run: the Python packages cannot be installed: {error}")
    if pathlib.Path(sys.executable) != python:  # continue where botocore, libtorrent, boto3 and moto are installed
        os.execv(python, [python, __file__, *sys.argv[1:]])
    import programs

    rows = list(read_rows())
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file_of = input_files(pathlib.Path(folder))
        for kind in programs.PROGRAMS:
            own = [row for row in rows if row.source in (kind.source, *kind.also)]
            if chosen.only in kind.source:
                counts = confirm(kind(tools, file_of), own)
                passed, failed = passed + counts[0], failed + counts[1]
    run_here = {kind.source for kind in programs.PROGRAMS}
    others = collections.Counter(row.source for row in rows if row.source not in run_here)
    for recorded in (generate.MTSUM, generate.REMOTE_APIS):
        print(f"{recorded}: {others.pop(recorded, 0)} recorded rows, not run: no package contains it")
    print(f"{generate.DEFINITION}: {others.pop(generate.DEFINITION, 0)} rows that no other program computes")
    for source, count in others.items():
        print(f"{source}: FAILURE, {count} rows not confirmed: this script cannot run the program")
        failed += count
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
