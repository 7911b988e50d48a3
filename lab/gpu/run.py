#!/usr/bin/env python3
"""Measures node trees on the CPU and on every device: kernels, transfers, total, beside published figures.

    run.py [--hash HASH …] [--device DEVICE …] [--runs N] [--bench PROGRAM] [--write]

Measures 2^20 to 2^25 random leaves in memory that was touched before, by crates/gpu/examples/bench.rs (or PROGRAM, if that is
built), which checks them too. Without --device: the CPU with one thread, the CPU with all threads, and `auto`, which is a GPU if
there is one. --write writes lab/results/merklize-*.json and the table of lab/README.md.
"""

import argparse
import os
import pathlib
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

BUILD = ["cargo", "run", "--release", "--quiet", "--package", "mksum-gpu", "--example", "bench", "--"]


def bench(command, *arguments):
    """Returns the standard output of the example."""
    command = [*command, *map(str, arguments)]
    done = subprocess.run(command, check=False, cwd=results.LAB, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    return done.stdout


def measured(command, hash, device, threads, runs):
    head, _, *lines = bench(command, device, hash, runs, threads).splitlines()
    subject = head.removeprefix(f"{hash}, ").removesuffix(f", {runs} runs")
    for line in lines:
        leaves, kernel, to_device, from_device, median, resident, least, most = (float(cell) for cell in line.split())
        yield {
            "case": hash,
            "subject": subject,
            "x": int(leaves),
            "median": median,
            "least": least,
            "most": most,
            "trials": runs,
            "kernel_ms": kernel,
            "resident_ms": resident,
            "to_device_ms": to_device,
            "from_device_ms": from_device,
            "nodes_per_second": round((leaves - 1) / median * 1000),
        }


def table(rows):
    print("| hash | device | leaves | total ms (least–most) | kernels | resident | to device | from device | nodes/s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        cells = [
            row["case"],
            row["subject"],
            f"2^{row['x'].bit_length() - 1}",
            f"{row['median']:.2f} ({row['least']:.2f}–{row['most']:.2f})",
            *(f"{row[name]:.2f}" for name in ("kernel_ms", "resident_ms", "to_device_ms", "from_device_ms")),
            f"{row['nodes_per_second'] / 1e6:.1f} M",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hash", nargs="+", default=["blake3", "sha256"])
    parser.add_argument("--device", nargs="+")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--bench", metavar="PROGRAM")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    cores = os.cpu_count()
    wanted = [(device, cores) for device in chosen.device or ["cpu", "auto"]]
    if not chosen.device and cores > 1:
        wanted.insert(0, ("cpu", 1))
    rows = []
    for hash in chosen.hash:
        for device, threads in wanted:
            rows += measured([chosen.bench] if chosen.bench else BUILD, hash, device, threads, chosen.runs)
    table(rows)
    published = [one for one in PUBLISHED if one["case"] in chosen.hash]
    for one in published:
        print(f"published: {one['case']}, 2^25 leaves, {one['subject']}: {one['ms']} ms, kernels only ({one['source']})")
    if chosen.write:
        cases = {hash: {"x": "leaves", "unit": "ms"} for hash in chosen.hash}
        print(f"written: {results.write('merklize', cases, rows, published=published)[1]}")
        subprocess.run([sys.executable, results.LAB / "tables.py"], check=True)


if __name__ == "__main__":
    main()
