#!/usr/bin/env python3
"""Times kept trees: the cost of keeping them, and the time they save.

    run.py --mksum PATH [--folder DIR] [--rounds N] [CASE …]

Cases: keep (4 GiB, cached, compared with hashing only in the same round), range (1 MiB of 64 GiB, sparse), diff (the outboards
of two files of 1 TiB with ten differences), update (1 MiB appended to 16 GiB, sparse), resume (the work lost to kill -9). All
results are checked. Writes lab/results/kept-*.json and the table of lab/README.md.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results

KIB, MIB, GIB, TIB = (1 << power for power in (10, 20, 30, 40))


def run(*arguments):
    done = subprocess.run([MKSUM, *map(str, arguments)], check=False, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done


def seconds(*arguments):
    begin = time.monotonic()
    done = run(*arguments)
    return time.monotonic() - begin, done


def sparse(path, length):
    with open(path, "wb") as file:
        file.truncate(length)


def write(path, offset, bytes):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(bytes)


def rows(case, figures, unit="s", **more):
    figures = list(figures)
    spread = {"median": statistics.median(figures), "least": min(figures), "most": max(figures), "trials": len(figures)}
    text = f"{spread['median']:9.4f} {unit} ({spread['least']:.4f}–{spread['most']:.4f})"
    print(f"{case:<44} {text}, goal: {more.get('goal')}", flush=True)
    return {"case": case, "subject": "mksum", "unit": unit, **spread, **more}


def keep(folder, rounds):
    file = folder / "file"
    with open(file, "wb") as out:
        for _ in range(4096):
            out.write(os.urandom(MIB))
    formats, found = ["rfc6962:sha256:64KiB", "blake3", "fsverity:sha256:4KiB"], []
    for format in formats:
        ratios, plain = [], []
        run("-f", format, file)
        for _ in range(rounds):
            (folder / "file.mkt").unlink(missing_ok=True)
            # Alternating, so that other load on the machine affects both.
            alone = min(seconds("-f", format, "--io", "buffered", file)[0] for _ in range(2))
            times = []
            for _ in range(2):
                took, kept = seconds("keep", "-f", format, "--io", "buffered", file)
                times.append(took)
            assert kept.stdout == run("-f", format, "--io", "buffered", file).stdout
            ratios.append(100 * (min(times) / alone - 1))
            plain.append(alone)
        alone = statistics.median(plain)
        found.append(rows(f"keep {format}, beyond hashing only", ratios, "%", goal="at most 3 %", alone_seconds=alone))
    file.unlink()
    return found


def verify_range(folder, rounds):
    file = folder / "big"
    sparse(file, 64 * GIB)
    for at in range(0, 64 * GIB, 8 * GIB):
        write(file, at + 12345, b"data")
    run("keep", file)
    assert run("verify", "--range", f"{33 * GIB}..{33 * GIB + MIB}", file).returncode == 0
    write(file, 33 * GIB + 5, b"damage")
    assert f'"start":{33 * GIB}' in run("verify", "--json", "--range", f"{33 * GIB}..{33 * GIB + MIB}", file).stdout
    places = random.sample(range(0, 63 * GIB, MIB), rounds * 5)
    times = [seconds("verify", "--range", f"{at}..{at + MIB}", file)[0] for at in places]
    file.unlink()
    return [rows("verify --range, 1 MiB of 64 GiB", times, goal="under 20 ms")]


def diff(folder, rounds):
    one, two = folder / "one", folder / "two"
    sparse(one, TIB)
    run("keep", one)
    spots = sorted(random.sample(range(0, TIB, 64 * KIB), 10))
    shutil.copyfile(folder / "one.mkt", folder / "two.mkt")
    sparse(two, TIB)
    for at in spots:
        write(two, at + 100, b"another")
    ranges = [word for at in spots for word in ("--range", f"{at}..{at + 200}")]
    run("keep", "--update", *ranges, two)
    times = []
    for _ in range(rounds * 5):
        took, done = seconds("diff", "--json", folder / "one.mkt", folder / "two.mkt")
        assert [json.loads(line)["start"] for line in done.stdout.splitlines()] == spots
        times.append(took)
    return [rows("diff, 1 TiB, ten differences", times, goal="under 50 ms")]


def update(folder, rounds):
    file = folder / "log"
    sparse(file, 16 * GIB)
    run("keep", file)
    times = []
    for _ in range(rounds * 3):
        with open(file, "ab") as out:
            out.write(os.urandom(MIB))
        took, done = seconds("keep", "--update", file)
        times.append(took)
    assert done.stdout.splitlines()[-1] == run(file).stdout.strip()
    return [rows("keep --update, 1 MiB appended to 16 GiB", times, goal="under 50 ms")]


def resume(folder, rounds):
    file, lost = folder / "file", []
    with open(file, "wb") as out:
        for _ in range(1024):
            out.write(os.urandom(MIB))
    for _ in range(rounds):
        (folder / "file.mkt").unlink(missing_ok=True)
        (folder / "file.mkt.part").unlink(missing_ok=True)
        rate, killed = 100_000_000, random.uniform(3, 7)
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([MKSUM, "keep", "--throttle", str(rate), str(file)], **nowhere)
        time.sleep(killed)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = run("keep", file)
        resumed = re.search(r"resumed at byte (\d+)", done.stderr)
        assert resumed, done.stderr
        lost.append(killed - int(resumed.group(1)) / rate)
    return [rows("work lost to kill -9", lost, goal="under 5 s")]


CASES = {"keep": keep, "range": verify_range, "diff": diff, "update": update, "resume": resume}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mksum", required=True)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    MKSUM = os.path.abspath(arguments.mksum)
    found = []
    for case in arguments.cases:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            found += CASES[case](pathlib.Path(folder), arguments.rounds)
    print(f"written: {results.write('kept', {row['case']: {'unit': row.pop('unit')} for row in found}, found)[1]}")
    subprocess.run([sys.executable, results.LAB / "tables.py"], check=True)
