#!/usr/bin/env python3
"""Draws the chart of README.md from the results of run.py: one panel for each machine, side by side."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import plot
import results

BARS = {
    "sha256sum": "sha256sum",
    "openssl dgst -sha256": "openssl -sha256",
    "b3sum": "b3sum",
    "mksum -f rfc6962:sha256:64KiB": "mksum (SHA-256)",
    "mksum -f blake3": "mksum -f blake3",
    "mksum -f s3:md5:8MiB": "mksum -f s3:md5",
    "md5sum": "md5sum",
}


def panel(result):
    rates = {row["subject"]: row["rate"] for row in result["rows"] if row["case"] == "cached"}
    bars = [(label, rates[name]) for name, label in BARS.items() if name in rates]
    return plot.bars(bars, f"GB/s, a file of 4 GiB in the page cache, {results.title(result['machine'])}", "{:.2f}")


def draw():
    measured = [result for result in results.of("files") if any(row["case"] == "cached" for row in result["rows"])]
    panels = [panel(result) for result in measured]
    if panels:
        chart = panels[0] if len(panels) == 1 else plot.grid(panels, columns=len(panels))
        print(f"drawn: {plot.save(chart, results.ROOT / 'docs/speed.svg')}")


if __name__ == "__main__":
    draw()
