#!/usr/bin/env python3
"""Times mksum on files beside other tools in one run, and writes lab/results/files-*.json, the tables and the chart.

    run.py --mksum PATH [--file PATH] [--rounds N] [CASE …]

Cases: cached, leaf (the default format by leaf length), cold (needs root, to empty the page cache), pipe, small, start. Each
round runs every command of a case once, so that other load on the machine affects all of them. A figure is the median of the
rounds, with the minimum and the maximum. Every output is compared with another program's before it is timed.
"""

import argparse
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import results
from results import LAB
from timing import measure, output

GIB = 1 << 30


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mksum", required=True)
    options.add_argument("--file", default=LAB.parent / "target/lab/random.bin", type=pathlib.Path)
    options.add_argument("--size", default=4 * GIB, type=int, help="of the file, if it does not exist")
    options.add_argument("--rounds", default=5, type=int)
    options.add_argument("cases", nargs="*", default=["cached", "leaf", "cold", "pipe", "small", "start"])
    chosen = options.parse_args()
    mksum, path, rows = os.path.abspath(chosen.mksum), chosen.file, []
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            for _ in range(chosen.size >> 20):
                file.write(os.urandom(1 << 20))
    big, size = str(path), path.stat().st_size / 1e9

    # Check the output before timing.
    assert output([mksum, "-f", "blake3", "--untagged", big]) == output(["b3sum", big])
    assert output([mksum, "-f", "sha256", "--untagged", big]) == output(["sha256sum", big])

    formats = (
        "rfc6962:sha256:64KiB rfc6962:sha256:16KiB blake3 glacier btv2 fsverity:sha256:4KiB mtsum:sha256 s3:md5:8MiB "
        "rfc6962:sha512:64KiB"
    ).split()
    ours = {f"mksum -f {name}": [mksum, "-f", name, big] for name in formats}
    peers = {
        "sha256sum": ["sha256sum", big],
        "openssl dgst -sha256": ["openssl", "dgst", "-sha256", big],
        "b3sum": ["b3sum", big],
        "b3sum --no-mmap": ["b3sum", "--no-mmap", big],
        "md5sum": ["md5sum", big],
        "dd bs=1M (only reading, one thread)": ["dd", f"if={big}", "of=/dev/null", "bs=1M"],
    }
    for case in chosen.cases:
        if case == "cached":
            rows += measure(case, {**peers, **ours, "mksum -p 1": [mksum, "-p", "1", big]}, size, "GB", chosen.rounds)
        elif case == "leaf":
            leaves = "64KiB 4KiB 16KiB 32KiB 128KiB 256KiB 1MiB 4MiB".split()
            tools = {f"mksum -l {leaf}": [mksum, "-l", leaf, big] for leaf in leaves}
            rows += measure(case, tools, size, "GB", chosen.rounds)
        elif case == "cold":
            def drop():
                subprocess.run(["sync"], check=True)
                pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
            few = {name: peers[name] for name in ("sha256sum", "openssl dgst -sha256", "b3sum")}
            few["dd bs=4M iflag=direct (only reading)"] = ["dd", f"if={big}", "of=/dev/null", "bs=4M", "iflag=direct"]
            few |= {f"mksum --io {mode}": [mksum, "--io", mode, big] for mode in ("auto", "direct", "buffered")}
            rows += measure(case, few, size, "GB", max(3, chosen.rounds // 2), drop)
        elif case == "pipe":
            tools = {name: name for name in ("b3sum", "sha256sum")}
            tools |= {"mksum -f blake3": f"{mksum} -f blake3", "mksum": mksum, "cat": "cat"}
            rows += measure(case, {name: f"cat {big} | {tool}" for name, tool in tools.items()}, size, "GB", chosen.rounds)
        elif case == "small":
            folder = LAB.parent / "target/lab/small"
            if not folder.exists():
                folder.mkdir(parents=True)
                for number in range(10_000):
                    (folder / f"{number:05}").write_bytes(os.urandom(4096))
            names = [str(folder / f"{number:05}") for number in range(10_000)]
            assert output([mksum, "-f", "blake3", "--untagged", *names]) == output(["b3sum", *names])
            tools = {"sha256sum": ["sha256sum"], "b3sum": ["b3sum"], "mksum": [mksum], "mksum -f blake3": [mksum, "-f", "blake3"],
                     "mksum -f sha256": [mksum, "-f", "sha256"]}
            rows += measure(case, {name: tool + names for name, tool in tools.items()}, len(names), "file", chosen.rounds)
        elif case == "start":
            small = LAB.parent / "target/lab/thousand"
            small.write_bytes(bytes(1000))
            loop = "for i in $(seq 200); do {} {} ; done"
            tools = {"sha256sum": "sha256sum", "b3sum": "b3sum", "mksum": mksum, "true (the shell's own cost)": "/bin/true"}
            rows += measure(case, {name: loop.format(tool, small) for name, tool in tools.items()}, 200, "run", chosen.rounds)
        else:
            sys.exit(f"unknown case {case}")

    versions = {name: output([name, "--version"]).splitlines()[0] for name in ("sha256sum", "b3sum")}
    versions["openssl"] = output(["openssl", "version"]).strip()
    # Cases that were measured earlier today on this machine stay.
    old = [result for result in results.of("files") if result["file"] == results.path("files", results.machine()).name]
    today = [row for result in old if result["date"] == results.today() for row in result["rows"]]
    rows = [row for row in today if row["case"] not in chosen.cases] + rows
    written = results.write("files", {row["case"]: {"unit": "s"} for row in rows}, rows, versions=versions)[1]
    print(f"\nwritten: {written}")
    subprocess.run([sys.executable, LAB / "tables.py"], check=True)
    import chart

    chart.draw()


if __name__ == "__main__":
    main()
