#!/usr/bin/env python3
"""Times the page beside pages with other libraries in Chromium, and writes lab/results and the table of lab/README.md."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

import results  # noqa: E402

LIBRARIES = ("hash-wasm", "@noble/hashes", "js-sha256")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bytes", default=1 << 30, type=int, help="other lengths are printed, and not written")
    options.add_argument("--rounds", default=3, type=int)
    chosen = options.parse_args()
    command = ["node", HERE / "run.js", str(chosen.bytes), str(chosen.rounds)]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    rows = []
    for subject, rounds in found["rows"].items():
        rates = [one["rate"] for one in rounds]
        rows.append({
            "case": "page", "subject": subject, "median": statistics.median(rates), "least": min(rates), "most": max(rates),
            "trials": len(rates), "memory": max(one["memory"] for one in rounds),
        })
        print(f"{subject}: {rows[-1]['median']:.0f} MB/s ({min(rates):.0f}–{max(rates):.0f}), {rows[-1]['memory']:.0f} MB")
    if chosen.bytes != 1 << 30:
        return
    packages = json.loads((HERE.parent / "package.json").read_text())["dependencies"]
    versions = {"chromium": f"Chromium {found['chromium']}"} | {name: f"{name} {packages[name]}" for name in LIBRARIES}
    print(f"written: {results.write('site', {'page': {'unit': 'MB/s'}}, rows, versions=versions)[1]}")
    subprocess.run([sys.executable, HERE.parent.parent / "tables.py"], check=True)


if __name__ == "__main__":
    main()
