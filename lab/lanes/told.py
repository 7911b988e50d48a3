#!/usr/bin/env python3
"""Runs the program of lab/lanes, prints its table and writes it as results/lanes-*.json.

    told.py NOTE COMMAND…

Figures are of samples of processor time; `least` and `most` are quartiles: a neighbour's cache still counts.
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results

SAMPLES = 15  # ROUNDS in src/timing.rs
FIGURES = re.compile(r"    (\S.*?)\s+([\d.]+) (GB/s|M/s|ms)\s+([\d.]+)\s+([\d.]+)\s+[\d.]+$")
COMPARED = re.compile(r"(\S.*?)\s+([\d.]+) ns\s+([\d.]+) ns\s+([\d.]+)")


def rows(lines):
    """Rows, and the unit of each case."""
    found, units, case = [], {}, None
    for line in lines:
        if figures := FIGURES.match(line):
            name, unit, *numbers = figures[1], figures[3], *map(float, figures.group(2, 4, 5))
            spread = {"median": numbers[0], "least": min(numbers), "most": max(numbers), "trials": SAMPLES}
            found.append({"case": case, "subject": name, **spread})
            units[case] = unit
        elif compared := COMPARED.match(line):
            # One message of ours and of the crate's: only medians are printed.
            name, length = compared[1].split(" of ")
            for subject, figure in ("mksum", float(compared[2])), ("crate", float(compared[3])):
                row = {"case": name, "subject": subject, "x": int(length)}
                found.append(row | dict.fromkeys(("median", "least", "most"), figure) | {"trials": SAMPLES})
            units[name] = "ns"
        elif line.strip() and not line.startswith((" ", "#")):
            case = line.strip()
    meaning = {case: {"unit": unit} for case, unit in units.items()}
    return found, {case: {"x": "bytes of a message", **own} if own["unit"] == "ns" else own for case, own in meaning.items()}


def main():
    note, *command = sys.argv[1:]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            lines.append(line)
            print(line, end="", flush=True)
    if running.returncode:
        sys.exit(f"told.py: {command[0]}: exit status {running.returncode}; nothing is written")
    found, cases = rows(lines)
    if not found:
        sys.exit(f"told.py: {command[0]} printed no figures")
    print(results.write("lanes", cases, found, spread="quartiles", note=note)[1], file=sys.stderr)


if __name__ == "__main__":
    main()
