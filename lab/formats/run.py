#!/usr/bin/env python3
"""Times the formats of stores, tools and networks beside the program of each, in one run, after their outputs were compared.

    run.py MKSUM [--size BYTES] [--rounds N] [--write] [CASE …]

Cases: git, swhid, nar, tree, xxhash, quickxor, sha256tree, torrent, xet. Of one file of --size bytes in the page cache; tree is a
directory of files of 16 KiB, an eighth as long in all. Debian packages are installed if their programs are missing, those of
Python in target/lab/formats.
--write writes lab/results/formats-*.json and the table of lab/README.md.
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "vectors/check"))
import install
import results
from results import LAB
from timing import measure, output

PACKAGES = ["swh.model==8.4.1", "torf==4.3.1", "quickxorhash==1.0.5", "hf_xet==1.8.0"]
PROGRAMS = {"git": "git", "nix": "nix-bin", "xxhsum": "xxhash", "rclone": "rclone", "mktorrent": "mktorrent"}
PIECE = 20  # the binary logarithm of a torrent's piece
SWH_MODEL = """
import sys
from swh.model.from_disk import Content, Directory
read = Content.from_file if sys.argv[1] == "content" else Directory.from_disk
print(read(path=sys.argv[2].encode(), max_content_length=None).swhid())
"""
QUICKXOR = """
import base64, quickxorhash, sys
sum, file = quickxorhash.quickxorhash(), open(sys.argv[1], "rb")
while bytes := file.read(1 << 20):
    sum.update(bytes)
print(base64.b64encode(sum.digest()).decode())
"""
HF_XET = "import hf_xet, sys; print(hf_xet.hash_files(sys.argv[1:])[0].hash)"
TORF = """
import sys, torf
torrent = torf.Torrent(path=sys.argv[1], piece_size=int(sys.argv[3]))
torrent.generate(threads=int(sys.argv[4]))
torrent.write(sys.argv[2], overwrite=True)
"""
PIECES = "import sys, torf; print(torf.Torrent.read(sys.argv[1], validate=False).metainfo['info']['pieces'].hex())"


class Suite:
    """The inputs of the cases, and the commands of each: ours, and those of other programs that print the same."""

    def __init__(self, mksum, python, folder, size):
        self.mksum, self.python, self.folder, self.size = mksum, python, folder, size
        self.file = self.write("input", size)

    def write(self, name, size):
        with open(self.folder / name, "wb") as file:
            for start in range(0, size, 1 << 20):
                file.write(random.Random(start).randbytes(min(1 << 20, size - start)))
        return str(self.folder / name)

    def own(self, format):
        return {f"mksum -f {format}": [self.mksum, "-f", format, "--untagged", self.file]}

    def script(self, program, *words):
        return [self.python, "-c", program, *words]

    def git(self):
        """Yields one group of commands for each kind of repository."""
        for hash_name in "sha1", "sha256":
            repository = self.folder / hash_name
            subprocess.run(["git", "init", "--quiet", f"--object-format={hash_name}", repository], check=True)
            command = ["git", "-C", str(repository), "hash-object", "--no-filters", self.file]
            yield {f"git hash-object, {hash_name}": command, **self.own(f"git:{hash_name}")}

    def swhid(self):
        yield {"swh.model, a content": self.script(SWH_MODEL, "content", self.file), **self.own("swhid")}

    def nar(self):
        nix = ["nix", "--extra-experimental-features", "nix-command", "hash", "path", self.file]
        yield {"nix hash path": nix, **self.own("nar")}

    def tree(self):
        tree = self.folder / "tree"
        for number in range(max(1, self.size // 8 >> 14)):
            place = tree / f"{number % 16}"
            place.mkdir(parents=True, exist_ok=True)
            self.write(place / f"{number}", 1 << 14)
        own = [self.mksum, "-f", "dir:swhid", "--untagged", str(tree)]
        yield {"swh.model, a directory": self.script(SWH_MODEL, "directory", str(tree)), "mksum -f dir:swhid": own}

    def xxhash(self):
        for number, format in enumerate(("xxh32", "xxh64", "xxh128", "xxh3")):
            yield {f"xxhsum -H{number}": ["xxhsum", f"-H{number}", self.file], **self.own(format)}

    def quickxor(self):
        rclone = ["rclone", "--config=", "hashsum", "quickxor", "--base64", self.file]
        yield {"rclone hashsum quickxor": rclone, "quickxorhash": self.script(QUICKXOR, self.file), **self.own("quickxor")}

    def sha256tree(self):
        # No package contains a program: sha256sum does about as much work, in one chain.
        yield {"sha256sum, another sum": ["sha256sum", self.file], **self.own("sha256tree")}

    def xet(self):
        own = self.own("xet")
        one = {f"{name}, one thread": [*command, "--threads=1"] for name, command in own.items()}
        yield {"hf_xet hash_files": self.script(HF_XET, self.file), **own, **one}

    def torrent(self):
        """Yields one group: makers of version 1, and ours of both versions and of version 2."""
        piece, threads = 1 << PIECE, os.cpu_count()

        def place(name):
            return str(self.folder / f"{name}.torrent")

        own = [self.mksum, "torrent", "--quiet", "--piece", str(piece), self.file, "-o"]
        # mktorrent overwrites no file.
        target = place("mktorrent")
        again = f"rm -f {target}; mktorrent -a http://127.0.0.1/ -t {threads} -l {PIECE} -o {target} {self.file}"
        yield {
            "mktorrent, v1": again,
            "torf, v1": self.script(TORF, self.file, place("torf"), str(piece), str(threads)),
            "mksum torrent --hybrid, v1 and v2": f"rm -f {place('hybrid')}; " + " ".join([*own, place("hybrid"), "--hybrid"]),
            "mksum torrent, v2": f"rm -f {place('v2')}; " + " ".join([*own, place("v2")]),
        }

    def compare(self, case, commands):
        """Exits if the commands do not print the same sum; of torrents, if the pieces of version 1 differ."""
        if case == "torrent":
            for command in commands.values():
                subprocess.run(command, shell=isinstance(command, str), check=True, stdout=subprocess.DEVNULL)
            sums = {output(self.script(PIECES, str(self.folder / f"{name}.torrent"))) for name in ("mktorrent", "torf", "hybrid")}
        else:
            printed = [output(command).split() for name, command in commands.items() if "another" not in name]
            # xxhsum -H3 prints `XXH3 (FILE) = SUM`.
            sums = {words[-1] if "=" in words else words[0] for words in printed}
            # rclone writes base64 with the letters of URLs.
            sums = {text.replace("-", "+").replace("_", "/") for text in sums}
        if len(sums) != 1:
            sys.exit(f"{case}: the outputs differ: {sorted(sums)}")


def interpreter():
    """Returns a Python with the packages, installed once."""
    place = LAB.parent / "target/lab/formats"
    if not (place / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([place / "bin/python", "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return str(place / "bin/python")


def main():
    every = ["git", "swhid", "nar", "tree", "xxhash", "quickxor", "sha256tree", "torrent", "xet"]
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mksum")
    options.add_argument("--size", default=1 << 29, type=int)
    options.add_argument("--rounds", default=3, type=int)
    options.add_argument("--write", action="store_true")
    options.add_argument("cases", nargs="*", default=every)
    chosen = options.parse_intermixed_args()
    if wrong := set(chosen.cases) - set(every):
        options.error(f"no such case: {', '.join(sorted(wrong))}")
    for program, package in PROGRAMS.items():
        install.debian(program, package)
    python, rows = interpreter(), []
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(os.path.abspath(chosen.mksum), python, pathlib.Path(folder), chosen.size)
        for case in chosen.cases:
            for commands in getattr(suite, case)():
                suite.compare(case, commands)
                size = chosen.size if case != "tree" else max(1, chosen.size // 8 >> 14) << 14
                rows += measure(case, commands, size / 1e9, "GB", chosen.rounds)
    if chosen.write:
        versions = {name: output([name, "--version"]).splitlines()[0] for name in ("git", "nix", "rclone")}
        versions |= {package.split("==")[0]: package.replace("==", " ") for package in PACKAGES}
        results.write("formats", {case: {"unit": "s"} for case in chosen.cases}, rows, versions=versions)
        subprocess.run([sys.executable, LAB / "tables.py"], check=True)


if __name__ == "__main__":
    main()
