#!/usr/bin/env python3
"""Times catalogues of directories beside other tools in one run, and writes lab/results/directories-*.json and the tables.

    run.py --mksum PATH [--rounds N] [--files N] [CASE …]

Cases: small (a catalogue of 1,000 files of 1 KiB), first (of 20,000 files of 4 KiB), status (of --files files, nothing changed),
update (100 of them changed), diff (two catalogues of them). All files are in the page cache. Each round runs every command of a
case once. A figure is the median of the rounds, with the minimum and the maximum.
"""

import argparse
import itertools
import os
import pathlib
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results
from results import LAB
from timing import measure, output

FILES = LAB.parent / "target/lab/directories"


def tree(name, count, size):
    """Returns a directory of files, which is written once."""
    place = FILES / name
    if not place.exists():
        unfinished = place.with_suffix(".part")
        for number in range(count):
            folder = unfinished / f"{number // 10_000:03}" / f"{number // 1000 % 10}"
            if number % 1000 == 0:
                folder.mkdir(parents=True, exist_ok=True)
            (folder / f"file-{number:07}").write_bytes((b"%d\n" % number * size)[:size])
        unfinished.rename(place)
    return place


def git(place):
    """Returns git's command for a directory, whose files it keeps elsewhere, once."""
    store = place.with_suffix(".git")
    command = ["git", f"--git-dir={store}", f"--work-tree={place}"]
    if not store.exists():
        subprocess.run([*command, "init", "-q"], check=True)
        (store / "info/exclude").write_text(".mksum\n")
        subprocess.run([*command, "add", "-A", "."], check=True, cwd=place)
    return command


def first(mksum, case, rounds):
    """Times first catalogues of some files, and tools that hash them."""
    files, size = (1000, 1024) if case == "small" else (20_000, 4096)
    place = tree(case, files, size)
    tools = {
        "find -exec sha256sum": f"find {place} -type f -not -path '*/.mksum/*' -exec sha256sum {{}} +",
        "hashdeep -r": ["hashdeep", "-j2", "-r", "-c", "sha256", str(place)],
        "rhash -r": ["rhash", "--sha256", "-r", str(place)],
        "mksum -r -f sha256": [mksum, "-r", "-f", "sha256", str(place)],
        "mksum keep -r -f sha256": [mksum, "keep", "-r", "-f", "sha256", str(place)],
    }
    return measure(case, tools, files, "file", rounds, lambda: shutil.rmtree(place / ".mksum", ignore_errors=True))


def status(mksum, place, count, rounds):
    """Times commands that look at all files and read none."""
    keeps = git(place)
    subprocess.run([mksum, "update", place], check=True, stdout=subprocess.DEVNULL)
    tools = {
        "find -printf": f"find {place} -printf '%s %T@ %i %p\\n'",
        "git status": [*keeps, "status", "--porcelain"],
        "mksum status": [mksum, "status", str(place)],
    }
    return measure("status", tools, count, "file", rounds)


def update(mksum, place, count, rounds):
    """Times an update of 100 changed files, after a status without changes."""
    turn = itertools.count()

    def change():
        for number in range(100):
            (place / "000/0" / f"file-{number * 7:07}").write_text(f"changed {next(turn)}")

    subprocess.run([mksum, "update", place], check=True, stdout=subprocess.DEVNULL)
    rows = measure("unchanged", {"mksum status": [mksum, "status", str(place)]}, count, "file", rounds)
    return rows + measure("update", {"mksum update": [mksum, "update", str(place)]}, count, "file", rounds, change)


def diff(mksum, place, count, rounds):
    """Times the comparison of two catalogues."""
    other = FILES / "catalogue"
    shutil.copy(place / ".mksum/catalogue", other)
    return measure("diff", {"mksum diff": [mksum, "diff", str(place), str(other)]}, count, "file", rounds)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mksum", required=True)
    options.add_argument("--rounds", default=5, type=int)
    options.add_argument("--files", default=100_000, type=int)
    options.add_argument("cases", nargs="*", default=["small", "first", "status", "update", "diff"])
    chosen = options.parse_args()
    mksum, rows, count = os.path.abspath(chosen.mksum), [], chosen.files
    for case in chosen.cases:
        if case in ("small", "first"):
            rows += first(mksum, case, chosen.rounds)
            continue
        place = tree("many", count, 8)
        if not (place / ".mksum").exists():
            subprocess.run([mksum, "keep", "-r", place], check=True, stdout=subprocess.DEVNULL)
        rows += {"status": status, "update": update, "diff": diff}[case](mksum, place, count, chosen.rounds)
    print(f"most memory of a child: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10} MiB")
    versions = {tool: output([tool, "--version"]).splitlines()[0] for tool in ("sha256sum", "rhash", "git")}
    versions["hashdeep"] = "hashdeep " + output(["hashdeep", "-V"]).strip()
    cases = {row["case"]: {"unit": "s"} for row in rows}
    print(f"\nwritten: {results.write('directories', cases, rows, versions=versions)[1]}")
    subprocess.run([sys.executable, LAB / "tables.py"], check=True)


if __name__ == "__main__":
    main()
