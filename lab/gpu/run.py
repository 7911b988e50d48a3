#!/usr/bin/env python3
"""Node trees on the CPU and on every OpenCL device: kernels, transfers, the whole, beside what the originals publish.

    run.py MKSUM [--hash HASH …] [--device DEVICE …] [--runs N] [--write]

2^20 to 2^25 random leaves in memory that was touched before; every node is checked once, the root of every run. Without
--device: the CPU with one thread, the CPU with all, and each device that `mksum devices` numbers. --write puts the figures
into lab/results/merklize-*.json.
"""
import argparse, json, os, pathlib, re, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import results  # noqa: E402

# Milliseconds for 2^25 leaves, as their authors give them: kernels alone, leaves and nodes on the device.
PUBLISHED = [
    {"case": "blake3", "subject": "merklize-blake3, NVIDIA Tesla V100", "ms": 100.6, "source": "github.com/itzmeanjan/merklize-blake3, README"},
    {"case": "blake3", "subject": "merklize-blake3, Xeon Platinum 8358, 128 threads", "ms": 175.9, "source": "github.com/itzmeanjan/merklize-blake3, README"},
    {"case": "blake3", "subject": "merklize-blake3, Core i9-10920X, 24 threads", "ms": 270.3, "source": "github.com/itzmeanjan/merklize-blake3, README"},
    {"case": "sha256", "subject": "merklize-sha, NVIDIA Tesla V100", "ms": 52, "source": "github.com/itzmeanjan/merklize-sha, README, its average corrected"},
]


def devices(mksum):
    """What --device takes: the CPU once with one thread and once with all, and each device's number."""
    listed = subprocess.run([mksum, "devices"], capture_output=True, text=True, check=True).stdout
    numbers = re.findall(r"^(\d+) ", listed, re.MULTILINE)
    cpus = [("cpu", 1)] + [("cpu", os.cpu_count())] * (os.cpu_count() > 1)
    return cpus + [(number, os.cpu_count()) for number in numbers]


def measured(mksum, hash, device, threads, runs):
    command = [mksum, "merklize", f"--bench={runs}", "--json", "--hash", hash, "--device", device, "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    for line in done.stdout.splitlines():
        told = json.loads(line)
        parts = {name: told[f"{name}_ms"] for name in ("kernel", "to_device", "from_device")}
        shares = {name: told[name] for name in ("copy_percent", "hash_percent", "nodes_per_second")}
        yield {"case": hash, "subject": told["device"], "x": told["leaves"], "median": told["wall_ms"], "least": told["wall_least_ms"],
               "most": told["wall_most_ms"], "trials": told["runs"], **{f"{name}_ms": ms for name, ms in parts.items()}, **shares}


def table(rows):
    print("| hash | device | leaves | whole ms (least–most) | kernels | to the device | from it | nodes/s | of copying | of hashing |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['case']} | {row['subject']} | 2^{row['x'].bit_length() - 1} | {row['median']:.2f} ({row['least']:.2f}–{row['most']:.2f}) | "
              f"{row['kernel_ms']:.2f} | {row['to_device_ms']:.2f} | {row['from_device_ms']:.2f} | {row['nodes_per_second'] / 1e6:.1f} M | "
              f"{row['copy_percent']:.0f} % | {row['hash_percent']:.0f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mksum", type=pathlib.Path)
    parser.add_argument("--hash", nargs="+", default=["blake3", "sha256"])
    parser.add_argument("--device", nargs="+")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    mksum = chosen.mksum.resolve()
    wanted = [(device, os.cpu_count()) for device in chosen.device or []] or devices(mksum)
    rows = []
    for hash in chosen.hash:
        for device, threads in wanted:
            rows += measured(mksum, hash, device, threads, chosen.runs)
    table(rows)
    for told in PUBLISHED:
        if told["case"] in chosen.hash:
            print(f"published: {told['case']}, 2^25 leaves, {told['subject']}: {told['ms']} ms, kernels alone ({told['source']})")
    if chosen.write:
        cases = {hash: {"x": "leaves", "unit": "ms"} for hash in chosen.hash}
        listed = subprocess.run([mksum, "devices"], capture_output=True, text=True).stdout
        published = [told for told in PUBLISHED if told["case"] in chosen.hash]
        print(f"written to {results.write('merklize', cases, rows, devices=listed, published=published)[1]}")


if __name__ == "__main__":
    main()
