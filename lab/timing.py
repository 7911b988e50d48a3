"""Times commands beside each other."""

import resource
import statistics
import subprocess
import sys
import time

NOTHING = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


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
