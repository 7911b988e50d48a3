"""Times commands beside each other."""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

NOTHING = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Options(argparse.ArgumentParser):
    """The options of a bench with cases, whose files lie in a folder in memory."""

    def __init__(self, description, cases, rounds):
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.known = cases
        self.add_argument("mksum", type=os.path.abspath)
        self.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(cases))
        self.add_argument("--size", default=4 << 30, type=int, help="in bytes [4 GiB]")
        self.add_argument("--rounds", default=rounds, type=int, help=f"after one that warms up [{rounds}]")
        self.add_argument("--folder", default="/dev/shm", help="a folder in memory [/dev/shm]")

    def chosen(self, tools, packages, copies):
        """Returns the options, with all cases if none is chosen. Ends if a tool is missing, or room for so many copies."""
        # Cases may stand behind other options.
        chosen = self.parse_intermixed_args()
        if unknown := set(chosen.cases) - set(self.known):
            self.error(f"unknown cases: {', '.join(sorted(unknown))}")
        if missing := [tool for tool in tools if not shutil.which(tool)]:
            sys.exit(f"not installed: {', '.join(missing)}: apt-get install {packages}")
        needed = copies * chosen.size + (256 << 20)
        if shutil.disk_usage(chosen.folder).free < needed:
            sys.exit(f"{chosen.folder}: needs {needed:,} bytes: choose a smaller --size or another --folder")
        chosen.cases = chosen.cases or self.known
        return chosen


def timed(command, **more):
    """Returns the wall and processor seconds of one run, including its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(command, check=False, shell=isinstance(command, str), **{**NOTHING, **more})
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command}: exit {done.returncode}")
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(case, commands, amount, unit, rounds, before=lambda: None):
    """Returns the rows of one case. Each round runs every command once."""
    walls, cpus = {name: [] for name in commands}, {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            before()
            wall, cpu = timed(command)
            if turn:  # The first round is a warm-up.
                walls[name].append(wall)
                cpus[name].append(cpu)
    first = next(iter(commands))
    rows = []
    for name in commands:
        ratios = [theirs / ours for theirs, ours in zip(walls[first], walls[name], strict=True)]
        middle = statistics.median(walls[name])
        row = {
            "case": case,
            "subject": name,
            "median": middle,
            "least": min(walls[name]),
            "most": max(walls[name]),
            "trials": rounds,
            "cpu_seconds": statistics.median(cpus[name]),
            "amount": amount,
            "amount_unit": unit,
            "rate": amount / middle,
            "ratio_to_first": statistics.median(ratios),
        }
        rows.append(row)
        times = f"{middle:8.3f} s ({row['least']:.3f}–{row['most']:.3f})  cpu {row['cpu_seconds']:8.3f} s"
        print(f"{case:<7} {name:<34} {times}  {row['rate']:12.4g} {unit}/s  {row['ratio_to_first']:6.2f}×", flush=True)
    return rows


def output(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def judged(words, figure, limit, unit, at_least):
    """Prints whether a figure meets its bar, and returns the line."""
    is_met = figure >= limit if at_least else figure <= limit
    word = "at least" if at_least else "at most"
    line = f"{'met' if is_met else 'MISSED':<7} {words}: {figure:.3f} {unit}, {word} {limit:.3f}"
    print(line, flush=True)
    return line
