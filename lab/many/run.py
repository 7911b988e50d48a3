#!/usr/bin/env python3
"""Times plain sums of many files beside other tools in one run, and writes lab/results/many-*.json and the tables.

    run.py --mksum PATH [--rounds N] [CASE …]

Cases: equal (16 files of 64 MiB), lognormal (1,500 files of about 200 KiB, 1 GB), tiny (10,000 files of 4 KiB), check
(`-c` of 20,000 files of 4 KiB). Each round runs every command of a case once, so that other load on the machine affects all of
them. A figure is the median of the rounds, with the minimum and the maximum. Every sum is compared with coreutils' first.
"""

import argparse
import math
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results
from results import LAB
from timing import measure, output

FILES = LAB.parent / "target/lab/many"
HASHES = ("md5", "sha1", "sha256", "sha512")
MIB = 1 << 20


def folder(case):
    """Returns the files of a case, which are written once, from a fixed seed."""
    place, numbers = FILES / case, random.Random(14)
    lengths = {
        "equal": [64 * MIB] * 16,
        "lognormal": [min(64 * MIB, int(numbers.lognormvariate(math.log(200 << 10), 1.6))) for _ in range(1500)],
        "tiny": [4096] * 10_000,
        "check": [4096] * 20_000,
    }[case]
    names = [place / f"{number:05}" for number in range(len(lengths))]
    if not place.exists():
        unfinished = place.with_suffix(".part")
        unfinished.mkdir(parents=True, exist_ok=True)
        for name, length in zip(names, lengths, strict=True):
            (unfinished / name.name).write_bytes(os.urandom(length))
        unfinished.rename(place)
    return [str(name) for name in names], sum(lengths)


def quoted(names):
    """Returns a file with the names, for xargs."""
    place = FILES / "names"
    place.write_text("\n".join(names))
    return place


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mksum", required=True)
    options.add_argument("--rounds", default=7, type=int)
    options.add_argument("cases", nargs="*", default=["equal", "lognormal", "tiny", "check"])
    chosen = options.parse_args()
    mksum, rows = os.path.abspath(chosen.mksum), []
    for case in chosen.cases:
        names, size = folder(case)
        if case == "check":
            sums = FILES / "SHA256SUMS"
            sums.write_text(output(["sha256sum", *names]))
            tools = {
                "sha256sum -c": ["sha256sum", "-c", "--quiet", str(sums)],
                "shasum -a 256 -c": ["shasum", "-a", "256", "-c", "--quiet", str(sums)],
                "mksum -p 1 -c": [mksum, "-p", "1", "-c", "--quiet", "-f", "sha256", str(sums)],
                "mksum -c": [mksum, "-c", "--quiet", "-f", "sha256", str(sums)],
            }
            rows += measure("check sha256", tools, len(names), "file", chosen.rounds)
            continue
        for name in HASHES:
            coreutils = output([f"{name}sum", *names])
            assert output([mksum, "--untagged", "-f", name, *names]) == coreutils, f"{name}: other sums than coreutils"
            listed = quoted(names)
            # As many files for each process as keep two of them busy.
            each = max(1, min(500, len(names) // 4))
            parallel = f"xargs -a {listed} -P 2 -n {each}"
            tools = {
                f"{name}sum": [f"{name}sum", *names],
                "openssl dgst": ["openssl", "dgst", f"-{name}", *names],
                "rhash": ["rhash", f"--{name}", *names],
                f"xargs -P2 {name}sum": f"{parallel} {name}sum",
                "xargs -P2 openssl dgst": f"{parallel} openssl dgst -{name}",
                "mksum -p 1": [mksum, "-p", "1", "-f", name, *names],
                "mksum": [mksum, "-p", "2", "-f", name, *names],
            }
            if name in ("md5", "sha1", "sha256"):
                tools["hashdeep -j2"] = ["hashdeep", "-j2", "-c", name, *names]
            if name == "sha256":
                tools["b3sum, of another hash"] = ["b3sum", *names]
                tools["mksum, the default format"] = [mksum, *names]
            unit, amount = ("file", len(names)) if case == "tiny" else ("GB", size / 1e9)
            rows += measure(f"{case} {name}", tools, amount, unit, chosen.rounds)
    versions = {tool: output([tool, "--version"]).splitlines()[0] for tool in ("sha256sum", "b3sum", "rhash")}
    versions["openssl"] = output(["openssl", "version"]).strip()
    versions["hashdeep"] = "hashdeep " + output(["hashdeep", "-V"]).strip()
    # Cases that were measured earlier today on this machine stay.
    old = [result for result in results.of("many") if result["file"] == results.path("many", results.machine()).name]
    today = [row for result in old if result["date"] == results.today() for row in result["rows"]]
    own = {row["case"] for row in rows}
    rows = [row for row in today if row["case"] not in own] + rows
    print(f"\nwritten: {results.write('many', {row['case']: {'unit': 's'} for row in rows}, rows, versions=versions)[1]}")
    subprocess.run([sys.executable, LAB / "tables.py"], check=True)


if __name__ == "__main__":
    main()
