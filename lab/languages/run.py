#!/usr/bin/env python3
"""Measures every language's program beside the plain way, and renders the table and the plot of languages/README.md.

    run.py [--runs N] [NAME…]    measure all that is built (or these), write results/languages-*.json, render
    run.py --render              render the newest results again

Every program has to print the same root as all others before it is timed. A time is the median of N runs (3), by the user and
system time of the process; the programs take turns, so that whatever else the machine does falls on all of them. The
peak of resident memory comes from GNU time, since a process that Python starts inherits Python's.
"""
import argparse, csv, datetime, json, os, pathlib, platform, re, statistics, subprocess, sys, tempfile, time, venv

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = HERE.parents[1] / "languages"
RESULTS = HERE / "results"
VENV = HERE / ".venv"
MATPLOTLIB = "matplotlib==3.10.8"  # pinned: a figure looks the same next year

NAMES = {"rust": "Rust", "go": "Go", "zig": "Zig", "c": "C", "d": "D", "haskell": "Haskell", "perl": "Perl"}
PLAIN = "plain way (Go)"
SEGMENTS = [16, 64, 256, 1024, 4096, 1 << 23]
HEADS = ["16", "64", "256", "1024", "4096", "2^23"]
ZEROS = "zeros", (1 << 22) + 32
RANDOM = "random", 256 << 20
ZEROS_64 = "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120"
HASHES = 2_000_000


def measure(command, scratch):
    """What a command prints, its user and system time and its wall time in seconds, its peak memory in bytes."""
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


def programs(wanted, scratch):
    """The command of each program, by the name that the table shows: a function from segment size and file."""
    plain = scratch / "plain"
    subprocess.run(["go", "build", "-o", plain, "."], cwd=HERE / "plain", check=True)
    commands = {PLAIN: lambda segment, file: [plain, str(segment), file]}
    for name, shown in NAMES.items():
        program = LANGUAGES / name / "bin" / "merkle"
        if wanted and name not in wanted:
            continue
        if not program.exists():
            print(f"run.py: no {program}: make -C languages {name}", file=sys.stderr)
            continue
        commands[shown] = lambda segment, file, program=program: [program, "--segment", str(segment), file]
    return commands


def cells(commands, runs, scratch):
    """A row for each program, file and segment size."""
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
                    root, *figures = measure(command(segment, file), scratch)
                    taken[shown].append(figures)
                    roots[shown] = root
                    if run == 0 and len(set(roots.values())) > 1:
                        sys.exit(f"run.py: {name} with {segment}-byte segments: other roots: {roots}")
            if name == "zeros" and segment == 64 and set(roots.values()) != {ZEROS_64}:
                sys.exit(f"run.py: the root of the zeros is {roots}, expected {ZEROS_64}")
            for shown, figures in taken.items():
                cpu, wall, peak = (list(column) for column in zip(*figures))
                rows.append({"program": shown, "file": name, "bytes": size, "segment": segment,
                             "root": roots[shown], "cpu_s": cpu, "wall_s": wall, "peak_bytes": max(peak)})
                print(f"{name:7} {segment:8} {shown:16} {size / statistics.median(cpu) / 1e6:8.1f} MB/s", file=sys.stderr)
    return rows


def hash_rates(commands, runs, scratch):
    """Millions of hashes of `test.dat` a second, by program."""
    rates = {}
    for shown, command in commands.items():
        if shown != PLAIN:
            lines = [measure([command(64, "")[0], "--hash-rate", str(HASHES)], scratch)[0] for _ in range(runs)]
            rates[shown] = [float(re.fullmatch(r"[0-9.]+ s,? ([0-9.]+) MH/s", line)[1]) for line in lines]
    return rates


def machine():
    """What the figures depend on."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    cpu = re.search(r"model name\s*:\s*(.*)", info)
    release = dict(re.findall(r'^(\w+)="?(.*?)"?$', pathlib.Path("/etc/os-release").read_text(), re.M))
    flags = [flag for flag in ("sha_ni", "avx2", "avx512f") if re.search(rf"\b{flag}\b", info)]
    family = re.search(r"cpu family\s*:\s*(\d+)", info), re.search(r"model\s*:\s*(\d+)", info)
    return {"cpu": cpu[1] if cpu else platform.processor(), "family_model": [int(m[1]) for m in family if m],
            "flags": flags, "cores": os.cpu_count(), "os": release.get("PRETTY_NAME", platform.system()),
            "load_1min": os.getloadavg()[0]}


# ---- Rendering -------------------------------------------------------------------------------------------------------


def throughput(row):
    return row["bytes"] / statistics.median(row["cpu_s"]) / 1e6


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def table(results, file, figure, heads=HEADS):
    """Markdown: a line for each program, a column for each segment size."""
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for program in dict.fromkeys(row["program"] for row in results["cells"]):
        found = {row["segment"]: row for row in results["cells"] if row["program"] == program and row["file"] == file}
        lines.append(f"| {program} | " + " | ".join(figure(found[segment]) for segment in SEGMENTS) + " |")
    return "\n".join(lines)


def markdown(results):
    m, sections = results["machine"], []
    plain = {(r["file"], r["segment"]): throughput(r) for r in results["cells"] if r["program"] == PLAIN}
    sections.append(
        f"Measured on {results['date']}: {m['cpu']} (family {m['family_model'][0]}, model {m['family_model'][1]}; "
        f"{', '.join(m['flags'])}), {m['cores']} cores, {m['os']}, load {m['load_1min']:.1f} at the start. Median of "
        f"{results['runs']} runs. *{PLAIN}* is [a loop over Go's `crypto/sha256`](../lab/languages/plain/main.go), the way "
        "of the fastest programs known before.\n\n![Throughput by segment size](throughput.png)")
    sections.append("256 MiB of random bytes, MB/s by user and system time:\n\n" +
                    table(results, "random", lambda row: number(throughput(row))))
    sections.append("The same as a multiple of the plain way:\n\n" +
                    table(results, "random", lambda row: f"{throughput(row) / plain['random', row['segment']]:.2f}"))
    sections.append("The same, seconds of wall time:\n\n" +
                    table(results, "random", lambda row: f"{statistics.median(row['wall_s']):.2f}"))
    sections.append("4,194,336 zero bytes, MB/s by user and system time, with the start of the process:\n\n" +
                    table(results, "zeros", lambda row: number(throughput(row))))
    sections.append("Peak resident memory over the 256 MiB file, MiB:\n\n" +
                    table(results, "random", lambda row: f"{row['peak_bytes'] / (1 << 20):.1f}"))
    rates = results["hash_rates"]
    sections.append("SHA-256 of the 8 bytes `test.dat`, one after the other, millions a second:\n\n| " +
                    " | ".join(rates) + " |\n|" + "---:|" * len(rates) + "\n| " +
                    " | ".join(f"{statistics.median(rate):.2f}" for rate in rates.values()) + " |")
    return "\n\n".join(sections)


def plot(results, path):
    """Throughput by segment size: log axes, the name at the end of each line, readable in black and white."""
    if not (VENV / "bin" / "python").exists():
        venv.create(VENV, with_pip=True)
    subprocess.run([VENV / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", MATPLOTLIB], check=True)
    rows = {}
    for row in results["cells"]:
        if row["file"] == "random":
            rows.setdefault(row["program"], {})[row["segment"]] = throughput(row)
    data = json.dumps({"segments": SEGMENTS, "heads": HEADS, "rows": [
        [name, [figures[segment] for segment in SEGMENTS]] for name, figures in rows.items()]})
    subprocess.run([VENV / "bin" / "python", HERE / "plot.py", path], input=data, text=True, check=True)


def render(results):
    plot(results, LANGUAGES / "throughput.png")
    readme = LANGUAGES / "README.md"
    begin, end = "<!-- table: written by lab/languages/run.py -->\n", "<!-- /table -->"
    text = readme.read_text()
    if begin not in text or end not in text:
        sys.exit(f"run.py: {readme} has no place for the table")
    before, rest = text.split(begin)
    readme.write_text(before + begin + "\n" + markdown(results) + "\n\n" + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--render", action="store_true")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []])
    asked = parser.parse_args()
    if asked.render:
        return render(json.loads(max(RESULTS.glob("languages-*.json")).read_text()))
    if not os.path.exists("/usr/bin/time"):
        subprocess.run(["apt-get", "install", "-y", "-qq", "time"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        commands = programs(asked.names, scratch)
        results = {"date": datetime.date.today().isoformat(), "machine": machine(), "runs": asked.runs,
                   "cells": cells(commands, asked.runs, scratch),
                   "hash_rates": hash_rates(commands, asked.runs, scratch)}
    RESULTS.mkdir(exist_ok=True)
    name = "languages-" + results["date"]
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    with open(RESULTS / f"{name}.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["program", "file", "segment", "mb_per_cpu_s", "wall_s", "peak_mib"])
        for row in results["cells"]:
            writer.writerow([row["program"], row["file"], row["segment"], f"{throughput(row):.1f}",
                             f"{statistics.median(row['wall_s']):.4f}", f"{row['peak_bytes'] / (1 << 20):.1f}"])
    render(results)


if __name__ == "__main__":
    main()
