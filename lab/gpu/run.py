#!/usr/bin/env python3
"""Measures node trees on the CPU and on every device: kernels, transfers, total, beside published figures.

    run.py MKSUM [--hash HASH …] [--device DEVICE …] [--runs N] [--write]

Measures 2^20 to 2^25 random leaves in memory that was touched before. All nodes are checked once, and the root of every run.
Without --device: the CPU with one thread, the CPU with all threads, and each device with a number in `mksum devices`. --write
writes lab/results/merklize-*.json and the table of lab/README.md.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results

# Milliseconds for 2^25 leaves as published by the authors: kernels only, with leaves and nodes on the device.
BLAKE3, SHA = "github.com/itzmeanjan/merklize-blake3, README", "github.com/itzmeanjan/merklize-sha, README, its average corrected"
PUBLISHED = [
    {"case": "blake3", "subject": "merklize-blake3, NVIDIA Tesla V100", "ms": 100.6, "source": BLAKE3},
    {"case": "blake3", "subject": "merklize-blake3, Xeon Platinum 8358, 128 threads", "ms": 175.9, "source": BLAKE3},
    {"case": "blake3", "subject": "merklize-blake3, Core i9-10920X, 24 threads", "ms": 270.3, "source": BLAKE3},
    {"case": "sha256", "subject": "merklize-sha, NVIDIA Tesla V100", "ms": 52, "source": SHA},
]


def devices(mksum):
    """Returns the values for --device and --threads: the CPU with one thread and with all, and each device's number."""
    listed = subprocess.run([mksum, "devices"], capture_output=True, text=True, check=True).stdout
    numbers = re.findall(r"^(\d+) ", listed, re.MULTILINE)
    cpus = [("cpu", 1)] + [("cpu", os.cpu_count())] * (os.cpu_count() > 1)
    return cpus + [(number, os.cpu_count()) for number in numbers]


def measured(mksum, hash, device, threads, runs):
    command = [mksum, "merklize", f"--bench={runs}", "--json", "--hash", hash, "--device", device, "--threads", str(threads)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    for line in done.stdout.splitlines():
        run = json.loads(line)
        names = ("kernel_ms", "to_device_ms", "from_device_ms", "copy_percent", "hash_percent", "nodes_per_second")
        yield {
            "case": hash,
            "subject": run["device"],
            "x": run["leaves"],
            "median": run["wall_ms"],
            "least": run["wall_least_ms"],
            "most": run["wall_most_ms"],
            "trials": run["runs"],
            **{name: run[name] for name in names},
        }


def table(rows):
    print("| hash | device | leaves | total ms (least–most) | kernels | to device | from device | nodes/s | % copy | % hash |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        cells = [
            row["case"],
            row["subject"],
            f"2^{row['x'].bit_length() - 1}",
            f"{row['median']:.2f} ({row['least']:.2f}–{row['most']:.2f})",
            *(f"{row[name]:.2f}" for name in ("kernel_ms", "to_device_ms", "from_device_ms")),
            f"{row['nodes_per_second'] / 1e6:.1f} M",
            f"{row['copy_percent']:.0f} %",
            f"{row['hash_percent']:.0f} %",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mksum", type=pathlib.Path)
    parser.add_argument("--hash", nargs="+", default=["blake3", "sha256"])
    parser.add_argument("--device", nargs="+")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    mksum = chosen.mksum.resolve()
    wanted = [(device, os.cpu_count()) for device in chosen.device or []] or devices(mksum)
    rows = []
    for hash in chosen.hash:
        for device, threads in wanted:
            rows += measured(mksum, hash, device, threads, chosen.runs)
    table(rows)
    published = [one for one in PUBLISHED if one["case"] in chosen.hash]
    for one in published:
        print(f"published: {one['case']}, 2^25 leaves, {one['subject']}: {one['ms']} ms, kernels only ({one['source']})")
    if chosen.write:
        cases = {hash: {"x": "leaves", "unit": "ms"} for hash in chosen.hash}
        listed = subprocess.run([mksum, "devices"], check=True, capture_output=True, text=True).stdout
        print(f"written: {results.write('merklize', cases, rows, devices=listed, published=published)[1]}")
        subprocess.run([sys.executable, results.LAB / "tables.py"], check=True)


if __name__ == "__main__":
    main()
