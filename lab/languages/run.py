#!/usr/bin/env python3
"""Measures each language's program beside the usual way of its ecosystem, and renders the page languages/README.md.

    run.py [--runs N] [NAME…]    measure all built programs (or these), write lab/results/languages-*.json, render
    run.py --render              render again from the results

Every program must print the same root as all others before it is timed. A time is the median of N runs (3), or of one run that
takes more than ten seconds, in user and system time of the process. The programs take turns, so that other load on the machine
affects all of them. Peak resident memory comes from GNU time, because a process that Python starts inherits Python's.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results as files

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = files.ROOT / "languages"
NAMES = {"rust": "Rust", "go": "Go", "zig": "Zig", "c": "C", "d": "D", "haskell": "Haskell", "perl": "Perl"}
PLAIN = "Go, `crypto/sha256`"
# The simple programs, which hash one digest at a time with each ecosystem's library.
USUAL = {
    PLAIN: "go",
    "C, OpenSSL": "c",
    "Zig, `std.crypto`": "zig",
    "D, `std.digest`": "d",
    "Haskell, cryptohash": "haskell",
    "Rust, `sha2`": "rust",
}
LIBMKSUM = HERE.parents[1] / "target" / "release" / "libmksum.so"
SEGMENTS = [16, 64, 256, 1024, 4096, 1 << 23]
HEADS = ["16", "64", "256", "1024", "4096", "2^23"]
ZEROS = "zeros", (1 << 22) + 32
RANDOM = "random", 256 << 20
ZEROS_64 = "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120"
HASHES = 2_000_000
LONG = 10  # seconds: a program that takes longer is run once


def measure(command, scratch):
    """Returns a command's output, its user and system time and its wall time in seconds, and its peak memory in bytes."""
    report = scratch / "time"
    begin = time.perf_counter()
    process = subprocess.Popen(["/usr/bin/time", "-f", "%M", "-o", report, *command], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"run.py: {' '.join(map(str, command))}: exit status {process.returncode}")
    return printed, usage.ru_utime + usage.ru_stime, wall, 1024 * int(report.read_text().split()[-1])


def programs(wanted):
    """Returns the command of each program by its name in the table, as a function from segment size and file."""
    commands = {}
    for shown, name in USUAL.items():
        program = LANGUAGES / name / "bin" / "simple"
        if not program.exists():
            sys.exit(f"run.py: {program} is not built: make -C languages {name}")
        commands[shown] = lambda segment, file, program=program: [program, str(segment), file]
    for name, shown in NAMES.items():
        program = LANGUAGES / name / "bin" / "merkle"
        if wanted and name not in wanted:
            continue
        if not program.exists():
            print(f"run.py: {program} is not built: make -C languages {name}", file=sys.stderr)
            continue
        if name == "perl":
            # The same program on Digest::SHA and on libmksum.
            for variant, library in ("Perl, Digest::SHA", "none"), ("Perl, libmksum", LIBMKSUM):
                if library == "none" or library.exists():
                    commands[variant] = lambda segment, file, program=program, library=library: [
                        "env", f"DIGEST_MERKLE_LIBMKSUM={library}", program, "--segment", str(segment), file]
            continue
        commands[shown] = lambda segment, file, program=program: [program, "--segment", str(segment), file]
    return commands


def cells(commands, runs, scratch):
    """Returns a row for each program, file and segment size."""
    rows = []
    for name, size in ZEROS, RANDOM:
        file = scratch / name
        with open(file, "wb") as out:
            for _ in range(0, size, 1 << 20):
                left = size - out.tell()
                out.write((bytes if name == "zeros" else os.urandom)(min(left, 1 << 20)))
        for segment in SEGMENTS:
            taken = {shown: [] for shown in commands}
            roots = {}
            for run in range(runs):
                for shown, command in commands.items():
                    if taken[shown] and taken[shown][0][1] > LONG:
                        continue
                    root, *figures = measure(command(segment, file), scratch)
                    taken[shown].append(figures)
                    roots[shown] = root
                    if run == 0 and len(set(roots.values())) > 1:
                        sys.exit(f"run.py: {name} with {segment}-byte segments: the roots differ: {roots}")
            if name == "zeros" and segment == 64 and set(roots.values()) != {ZEROS_64}:
                sys.exit(f"run.py: the root of the zeros: expected {ZEROS_64}, found {roots}")
            for shown, figures in taken.items():
                cpu, wall, peak = (list(column) for column in zip(*figures, strict=True))
                rows.append({"case": name, "subject": shown, "x": segment, **spread(cpu), "wall_seconds": statistics.median(wall),
                             "peak_bytes": max(peak), "bytes": size, "root": roots[shown]})
                print(f"{name:7} {segment:8} {shown:16} {size / statistics.median(cpu) / 1e6:8.1f} MB/s", file=sys.stderr)
    return rows


def spread(figures):
    return {"median": statistics.median(figures), "least": min(figures), "most": max(figures), "trials": len(figures)}


def hash_rates(commands, runs, scratch):
    """Returns a row for each program: millions of hashes of `test.dat` per second."""
    rows = []
    for shown, command in commands.items():
        if shown not in USUAL and shown != "Perl, libmksum":
            words = command(64, "")[: -3]
            lines = [measure([*words, "--hash-rate", str(HASHES)], scratch)[0] for _ in range(runs)]
            rates = [float(re.fullmatch(r"[0-9.]+ s ([0-9.]+) MH/s", line)[1]) for line in lines]
            rows.append({"case": "hashes", "subject": shown, **spread(rates)})
    return rows


# ---- Rendering -------------------------------------------------------------------------------------------------------


def throughput(row):
    return row["bytes"] / row["median"] / 1e6


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def table(results, file, figure, heads=HEADS):
    """Returns a Markdown table with a line for each program and a column for each segment size."""
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for program in dict.fromkeys(row["subject"] for row in results["rows"] if row["case"] == file):
        found = {row["x"]: row for row in results["rows"] if row["subject"] == program and row["case"] == file}
        lines.append(f"| {program} | " + " | ".join(figure(found[segment]) for segment in SEGMENTS) + " |")
    return "\n".join(lines)


def markdown(results, figure):
    """Returns the tables of one machine, with a figure or without."""
    m, sections = results["machine"], []
    plain = {(row["case"], row["x"]): throughput(row) for row in results["rows"] if row["subject"] == PLAIN}
    chip = f"{m['cpu']} ({', '.join(m['has'])}), {m['cores']} cores, {m['system']}, load {m['load_1min']:.1f}"
    sections.append(
        f"Measured on {results['date']}: {chip}. Median of {results['rows'][0]['trials']} runs, "
        f"or of one that takes more than {LONG} seconds; one thread. "
        "The names with a library, but Perl's, are the usual way of an ecosystem, the simple program of its folder: "
        "a loop that hashes one leaf or node at a time." + figure
    )
    sections.append("256 MiB of random bytes, MB/s by user and system time:\n\n" +
                    table(results, "random", lambda row: number(throughput(row))))
    sections.append("The same as a multiple of Go's usual way:\n\n" +
                    table(results, "random", lambda row: f"{throughput(row) / plain['random', row['x']]:.2f}"))
    sections.append("4,194,336 zero bytes, MB/s by user and system time, with the start of the process:\n\n" +
                    table(results, "zeros", lambda row: number(throughput(row))))
    sections.append("Peak resident memory over the 256 MiB file, MiB:\n\n" +
                    table(results, "random", lambda row: f"{row['peak_bytes'] / (1 << 20):.1f}"))
    rates = {row["subject"]: row["median"] for row in results["rows"] if row["case"] == "hashes"}
    sections.append("SHA-256 of the 8 bytes `test.dat`, one after the other, millions a second:\n\n| " +
                    " | ".join(rates) + " |\n|" + "---:|" * len(rates) + "\n| " +
                    " | ".join(f"{rate:.2f}" for rate in rates.values()) + " |")
    return "\n\n".join(sections)


def draw(results, path):
    """Draws throughput by segment size on one machine."""
    import plot  # Imported here, because only this function needs its library.

    series = {}
    for row in results["rows"]:
        if row["case"] == "random" and row["subject"] in (PLAIN, *NAMES.values(), "Perl, Digest::SHA", "Perl, libmksum"):
            series.setdefault(row["subject"].replace("`", ""), []).append((row["x"], throughput(row)))
    chart = plot.lines(
        series,
        x="segment size, bytes",
        y="MB/s by user and system time, one thread",
        title=f"The root of 256 MiB of random bytes, {files.title(results['machine'])}",
        ticks=SEGMENTS,
        width=640,
        height=420,
    )
    plot.save(chart, path)


def render(found):
    """Writes the tables of each machine, one machine after the other, and the plot of the newest results."""
    draw(found[0], LANGUAGES / "throughput.svg")
    readme = LANGUAGES / "README.md"
    begin, end = "<!-- table: written by lab/languages/run.py -->\n", "<!-- /table -->"
    text = readme.read_text()
    if begin not in text or end not in text:
        sys.exit(f"run.py: {readme}: expected {begin.strip()} and {end}")
    before, rest = text.split(begin)
    figures = ["\n\n![Throughput by segment size](throughput.svg)", *[""] * (len(found) - 1)]
    tables = "\n\n".join(markdown(*pair) for pair in zip(found, figures, strict=True))
    readme.write_text(before + begin + "\n" + tables + "\n\n" + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--render", action="store_true")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []])
    asked = parser.parse_args()
    if asked.render:
        render(files.of("languages"))
        return
    if not os.path.exists("/usr/bin/time"):
        subprocess.run(["apt-get", "install", "-y", "-qq", "time"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        commands = programs(asked.names)
        rows = cells(commands, asked.runs, scratch) + hash_rates(commands, asked.runs, scratch)
    sized = {"x": "bytes", "unit": "s"}
    files.write("languages", {"zeros": sized, "random": sized, "hashes": {"unit": "M/s"}}, rows)
    render(files.of("languages"))


if __name__ == "__main__":
    main()
