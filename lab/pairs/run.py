#!/usr/bin/env python3
"""Times hashtree_hash of libmksum beside hashtree in one process, and with --write writes lab/results/pairs-*.json and the table.

    run.py PAIRS [--rounds N] [--commit HASHTREE] [--write]

PAIRS is the program of pairs.c, which compares all digests first. A figure is the median of the rounds, with the minimum and the
maximum, in nanoseconds of processor time: a busy machine changes it less than time on the clock. A ratio is the median of those
within a round.
"""

import argparse
import collections
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results


def rows(printed, rounds):
    """Yields a row for each case, number of chunks and subject."""
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in printed.splitlines():
        case, chunks, subject, nanoseconds = line.split("\t")
        times[case, int(chunks)][subject].append(float(nanoseconds))
    for (case, chunks), subjects in times.items():
        for subject, own in subjects.items():
            ratios = [theirs / ours for theirs, ours in zip(own, subjects["mksum"], strict=True)]
            yield {
                "case": case,
                "subject": subject,
                "x": chunks,
                "median": statistics.median(own),
                "least": min(own),
                "most": max(own),
                "trials": rounds,
                "ratio": statistics.median(ratios),
                "ratio_least": min(ratios),
                "ratio_most": max(ratios),
            }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("pairs")
    options.add_argument("--rounds", default=11, type=int)
    options.add_argument("--commit", default="", help="the commit of hashtree")
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    done = subprocess.run([chosen.pairs, str(chosen.rounds)], check=True, stdout=subprocess.PIPE, text=True)
    found = list(rows(done.stdout, chosen.rounds))
    for row in found:
        spread = f"{row['median']:12.1f} ns ({row['least']:.1f}–{row['most']:.1f})"
        ratio = f"{row['ratio']:.2f}× ({row['ratio_least']:.2f}–{row['ratio_most']:.2f})" if row["subject"] != "mksum" else ""
        print(f"{row['case']:<6} {row['x']:>6} {row['subject']:<9} {spread:<44} {ratio}")
    if chosen.write:
        meaning = {"x": "chunks of 64 bytes", "unit": "ns"}
        versions = {"hashtree": f"hashtree {chosen.commit[:7]}"}
        _, to = results.write("pairs", {"batch": meaning, "path": meaning}, found, versions=versions)
        print(to)
        subprocess.run([sys.executable, results.LAB / "tables.py"], check=True)


if __name__ == "__main__":
    main()
