#!/usr/bin/env python3
"""Measures repairs of a large file with ten damaged leaves (bytes fetched, time), and proofs from its outboard.

    repair.py MKSUM [--size MIB] [--rounds N] [--write]

The copies are a file and nginx on this machine and, for a file of an eighth of the size, a local S3 server, which holds objects
in memory. Each repair reads the whole file twice, to find the damage and to verify the result, so `verify` is measured too.
--write writes lab/results/repair-*.json and the table of lab/README.md.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results
from results import ROOT

MIB, LEAF, SPOTS = 1 << 20, 64 << 10, 10


def load(path):
    spec = importlib.util.spec_from_file_location("servers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(*command, **more):
    begin = time.perf_counter()
    done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, **more)
    return time.perf_counter() - begin, done


def damage(path, chance):
    """Flips one bit in each of ten leaves that are not adjacent."""
    leaves = sorted(chance.sample(range(path.stat().st_size // LEAF // 2), SPOTS))
    with open(path, "r+b") as file:
        for leaf in leaves:
            at = 2 * leaf * LEAF + chance.randrange(LEAF)
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << chance.randrange(8)]))


def make(folder, size):
    good, bad = folder / "good", folder / "bad"
    with open(good, "wb") as file:
        for _ in range(size):
            file.write(os.urandom(MIB))
    shutil.copy2(good, bad)
    subprocess.run([chosen.mksum, "keep", bad], check=True, stdout=subprocess.DEVNULL)
    return good, bad


def repairs(kind, bad, good, source, size, **more):
    """Damages and repairs the file in some rounds, and returns a row."""
    seconds, fetched = [], []
    for turn in range(chosen.rounds):
        damage(bad, random.Random(turn))
        took, done = timed(chosen.mksum, "repair", bad, "--from", source, "--json", **more)
        *ranges, last = map(json.loads, done.stdout.splitlines())
        assert done.returncode == 0 and last["ok"] and len(ranges) == SPOTS, done.stderr
        assert last["fetched"] <= SPOTS * LEAF * 1.01, last
        seconds.append(took)
        fetched.append(last["fetched"])
    assert subprocess.run(["cmp", good, bad], check=False).returncode == 0
    return row(f"repair from {kind}", size, seconds, fetched=max(fetched), damaged=SPOTS * LEAF)


def row(name, size, seconds, **more):
    spread = {"median": statistics.median(seconds), "least": min(seconds), "most": max(seconds), "trials": len(seconds)}
    figures = {"case": name, "subject": "mksum", **spread, "mib": size, **more}
    spread = f"{figures['median']:.3f} s ({figures['least']:.3f}–{figures['most']:.3f})"
    print(f"{name}\t{size} MiB\t{spread}\t{more.get('fetched', '')}", flush=True)
    return figures


def measure():
    rows = []
    with tempfile.TemporaryDirectory(dir=os.path.dirname(chosen.mksum)) as place:
        folder = pathlib.Path(place)
        good, bad = make(folder, chosen.size)
        rows.append(row("verify", chosen.size, [timed(chosen.mksum, "verify", bad)[0] for _ in range(chosen.rounds)]))
        rows.append(repairs("a file", bad, good, good, chosen.size))
        with servers.nginx(folder) as (address, sent):
            rows.append(repairs("nginx", bad, good, f"{address}/good", chosen.size))
            assert sent() <= chosen.rounds * SPOTS * LEAF * 1.01, sent()
        proof, middle = folder / "proof", chosen.size // 2 * MIB + 12345
        span = f"{middle}..{middle + MIB}"
        prove = f"{chosen.mksum} prove {bad} --range {span} > {proof}"
        rows.append(row("prove 1 MiB", chosen.size, [timed("sh", "-c", prove)[0] for _ in range(20)], bytes=proof.stat().st_size))
        root = timed(chosen.mksum, "--untagged", bad)[1].stdout.split()[0]
        part = folder / "part"
        with open(bad, "rb") as file:
            file.seek(middle)
            part.write_bytes(file.read(MIB))
        check = [chosen.mksum, "check-proof", root, proof, part, "--length", bad.stat().st_size]
        assert timed(*check)[1].returncode == 0
        rows.append(row("check-proof of 1 MiB", chosen.size, [timed(*check)[0] for _ in range(20)]))
    with tempfile.TemporaryDirectory(dir=os.path.dirname(chosen.mksum)) as place:
        good, bad = make(pathlib.Path(place), chosen.size // 8)
        with servers.bucket(good) as (url, environment):
            rows.append(repairs("S3 (moto)", bad, good, url, chosen.size // 8, env=environment))
    return rows


if __name__ == "__main__":
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("mksum", type=os.path.abspath)
    flags.add_argument("--size", type=int, default=4096, metavar="MIB")
    flags.add_argument("--rounds", type=int, default=3, metavar="N")
    flags.add_argument("--write", action="store_true")
    flags.add_argument("--tools", type=pathlib.Path, default=ROOT / "target/vector-tools", metavar="DIR")
    chosen = flags.parse_args()
    servers = load(ROOT / "scripts/repair.py")
    servers.prepare(chosen)
    rows = measure()
    if chosen.write:
        print(f"written: {results.write('repair', {row['case']: {'unit': 's'} for row in rows}, rows)[1].relative_to(ROOT)}")
        subprocess.run([sys.executable, results.LAB / "tables.py"], check=True)
