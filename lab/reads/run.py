#!/usr/bin/env python3
"""Measures verified reads on this machine alone: `mksum.open`, `mksum serve` and `mksum mount`, each beside peers.

    run.py MKSUM [--size BYTES] [--rounds N] [--folder DIR] [--disk DIR] [--format FORMAT] [CASE ...]

Cases, all of them by default; the figures of each are compared with its bar, and the last lines say which bars are met:

open    SIZE bytes in the page cache, in order, by `readinto` of 16 MiB from `mksum.open` (this Python's package mksum), beside
        `mksum FILE`, which hashes them. The start of Python is counted. Bar: at least 0.85 of the rate.
cold    the same from --disk, whose pages are dropped before each run, beside `readinto` of the plain file. Bar: at most 1.10
        times as long.
tensors SIZE bytes in 16 tensors, loaded by safetensors from --disk, whose pages are dropped before each run: from
        `mksum.open`, and from the plain file. Bar: at most 1.15 times as long. And each tensor by `map` of `mksum.open`, without
        safetensors, which copies what it is given.
serve   SIZE bytes as four ranges at once by curl: from `mksum serve`, with and without --verify, beside nginx without sendfile.
        Bars: at least 0.8 of nginx's rate plain, 0.7 verified.
mount   SIZE bytes in order, by dd in blocks of 1 MiB, through `mksum mount`, beside bindfs, a FUSE file system that passes reads
        through (both in user space, with the pages of the mounted file dropped before each run), and beside the plain file.
        Bar: at least 0.85 of bindfs's rate.

DIR is in memory, so that no disk decides. The default of FORMAT is that of mksum, rfc6962:sha256:64KiB.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from timing import Options, judged, measure, output

CONFIGURATION = """
daemon off; master_process off; error_log /dev/null; pid {folder}/pid;
events {{ worker_connections 256; }}
http {{
    access_log off; sendfile off; output_buffers 2 128k;
    client_body_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp;
    uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
    server {{ listen 127.0.0.1:{port}; root {folder}/site; }}
}}
"""
READ = """
import sys
path, root = sys.argv[1:]
if root:
    import mksum
    file = mksum.open(path, root=root)
else:
    file = open(path, "rb", buffering=0)
buffer, count = bytearray(16 << 20), 0
while read := file.readinto(buffer):
    count += read
sys.exit(count != %d)
"""
LOAD = """
import sys
import safetensors.numpy
path, root = sys.argv[1:]
if root:
    import mksum
    file = mksum.open(path, root=root)
else:
    file = open(path, "rb")
sys.exit(len(safetensors.numpy.load(file.read())) != 16)
"""
MAP = """
import json
import sys
import mksum
import numpy
path, root = sys.argv[1:]
with mksum.open(path, root=root) as file:
    start = 8 + int.from_bytes(file.read(8), "little")
    about = json.loads(file.read(start - 8))
    places = {name: one["data_offsets"] for name, one in about.items()}
    tensors = {name: numpy.frombuffer(file.map(start + first, end - first), "u1") for name, (first, end) in places.items()}
sys.exit(len(tensors) != 16)
"""
PORT, VERIFIED_PORT, NGINX_PORT = 8721, 8722, 8723


@contextlib.contextmanager
def running(command, is_ready, what):
    """Runs a server or a file system until the block ends."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 30
            while not is_ready():
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"{what} did not begin: {command}")
                time.sleep(0.02)
            yield
        finally:
            process.terminate()


def answers(port):
    """Returns what tells whether a server answers at a port."""
    probe = ["curl", "-s", "-o", os.devnull, "-r", "0-0", f"http://127.0.0.1:{port}/file"]
    return lambda: subprocess.run(probe, check=False).returncode == 0


def drop(file):
    """Drops the pages of a file from memory, if the disk has them."""
    descriptor = os.open(file, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


class Bench:
    """A file with its outboard, and what was found of the bars."""

    def __init__(self, chosen, folder):
        self.chosen, self.folder, self.bars = chosen, folder, []
        self.site = folder / "site"
        self.file, self.root = self.made(self.site)

    def made(self, folder, head=b""):
        """A file of random bytes after a head, with its outboard, and its root."""
        file = folder / "file"
        with open("/dev/urandom", "rb") as source, open(file, "wb") as target:
            target.write(head)
            left = self.chosen.size
            while left:
                left -= target.write(source.read(min(left, 16 << 20)))
            target.flush()
            os.fsync(target.fileno())
        kept = output([self.chosen.mksum, "keep", "-f", self.chosen.format, file])
        return file, f"{self.chosen.format}:{kept.split()[-1]}"

    def bar(self, words, figure, limit, at_least=True):
        self.bars.append(judged(words, figure, limit, "times", at_least))

    def timed(self, case, commands, before=lambda: None):
        """Returns the median wall seconds of each command by its name."""
        rows = measure(case, commands, self.chosen.size / 1e9, "GB", self.chosen.rounds, before)
        return {row["subject"]: row["median"] for row in rows}

    def reader(self, file, root=""):
        return [sys.executable, "-c", READ % self.chosen.size, str(file), root]

    def open(self):
        commands = {"mksum FILE": [self.chosen.mksum, "-f", self.chosen.format, str(self.file)],
                    "mksum.open": self.reader(self.file, self.root), "open, not verified": self.reader(self.file)}
        wall = self.timed("open", commands)
        self.bar("open: rate of mksum.open, against mksum FILE", wall["mksum FILE"] / wall["mksum.open"], 0.85)

    def cold(self):
        with tempfile.TemporaryDirectory(dir=self.chosen.disk) as place:
            file, root = self.made(pathlib.Path(place))
            commands = {"open, not verified": self.reader(file), "mksum.open": self.reader(file, root)}
            wall = self.timed("cold", commands, lambda: drop(file))
            ratio = wall["mksum.open"] / wall["open, not verified"]
            self.bar("cold: wall of mksum.open, against the plain file", ratio, 1.10, at_least=False)

    def tensors(self):
        length = self.chosen.size // 16
        places = [[number * length, (number + 1) * length] for number in range(16)]
        tensors = {str(at[0]): {"dtype": "U8", "shape": [length], "data_offsets": at} for at in places}
        head = json.dumps(tensors).encode()
        with tempfile.TemporaryDirectory(dir=self.chosen.disk) as place:
            file, root = self.made(pathlib.Path(place), len(head).to_bytes(8, "little") + head)
            load = [sys.executable, "-c", LOAD, str(file)]
            commands = {"safetensors, not verified": [*load, ""], "safetensors, by mksum.open": [*load, root]}
            commands["map of mksum.open"] = [sys.executable, "-c", MAP, str(file), root]
            wall = self.timed("tensors", commands, lambda: drop(file))
            ratio = wall["safetensors, by mksum.open"] / wall["safetensors, not verified"]
            self.bar("tensors: wall of loading verified, against not", ratio, 1.15, at_least=False)

    def serve(self):
        configuration = self.folder / "nginx.conf"
        configuration.write_text(CONFIGURATION.format(folder=self.folder, port=NGINX_PORT))
        nginx = ["nginx", "-e", "/dev/null", "-p", self.folder, "-c", configuration]
        serve = [self.chosen.mksum, "serve", self.site, "-q", "--listen"]
        quarter = self.chosen.size // 4

        def ranges(port):
            words = ["curl", "-s", "-f", "-Z"]
            for number in range(4):
                end = "" if number == 3 else (number + 1) * quarter - 1
                words += ["-r", f"{number * quarter}-{end}", "-o", os.devnull, f"http://127.0.0.1:{port}/file"]
                words += ["--next", "-s", "-f"] if number < 3 else []
            return words

        with contextlib.ExitStack() as stack:
            verified = [*serve, VERIFIED_PORT, "--verify"]
            for command, port in ((nginx, NGINX_PORT), ([*serve, PORT], PORT), (verified, VERIFIED_PORT)):
                stack.enter_context(running(command, answers(port), command[0]))
            names = {"nginx, sendfile off": NGINX_PORT, "mksum serve": PORT, "mksum serve --verify": VERIFIED_PORT}
            wall = self.timed("serve", {name: ranges(port) for name, port in names.items()})
        for name, limit in (("mksum serve", 0.8), ("mksum serve --verify", 0.7)):
            self.bar(f"serve: rate of {name}, against nginx", wall["nginx, sendfile off"] / wall[name], limit)

    def mount(self):
        points = [self.folder / "verified", self.folder / "plain"]
        for point in points:
            point.mkdir()
        mksum = [self.chosen.mksum, "mount", self.file, points[0], "--root", self.root]
        bindfs = ["bindfs", "-f", "-r", "--no-allow-other", self.site, points[1]]
        files = [point / "file" for point in points]
        with contextlib.ExitStack() as stack:
            for command, point, file in zip((mksum, bindfs), points, files, strict=True):
                stack.enter_context(running(command, file.exists, command[0]))
                stack.callback(subprocess.run, ["umount", point], check=False, stderr=subprocess.DEVNULL)
            names = {"bindfs": files[1], "mksum mount": files[0], "the plain file": self.file}
            commands = {name: ["dd", f"if={file}", f"of={os.devnull}", "bs=1M", "status=none"] for name, file in names.items()}
            wall = self.timed("mount", commands, lambda: [drop(file) for file in files])
        self.bar("mount: rate of mksum mount, against bindfs", wall["bindfs"] / wall["mksum mount"], 0.85)


def main():
    options = Options(__doc__, ["open", "cold", "tensors", "serve", "mount"], rounds=5)
    options.add_argument("--disk", default=".", help="a folder on a disk, for the case cold [.]")
    options.add_argument("--format", default="rfc6962:sha256:64KiB")
    chosen = options.chosen(("nginx", "curl", "bindfs"), "nginx-light curl bindfs", copies=1)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place:
        folder = pathlib.Path(place).resolve()
        for name in ("site", "tmp"):
            (folder / name).mkdir()
        bench = Bench(chosen, folder)
        for case in chosen.cases:
            getattr(bench, case)()
    print(f"\nAfter {time.monotonic() - begin:.0f} s:", *bench.bars, sep="\n")


if __name__ == "__main__":
    main()
