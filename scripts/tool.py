#!/usr/bin/env python3
"""Tests the built tool under real conditions: memory, block devices, full disks, and graphs in other programs.

    tool.py MKSUM

Needs root for a block device and a small file system. If these are not available, their tests fail.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MKSUM = os.path.abspath(sys.argv.pop(1))
MIB = 1 << 20
FORMATS = (
    "rfc6962:sha256:64KiB rfc6962:sha256:1 plain:sha512:1000 glacier mtsum:sha256 blake3 btv2 "
    "fsverity:sha256:4KiB dmverity:sha256:4KiB s3:md5:8MiB dropbox"
).split()


def run(*arguments, **more):
    return subprocess.run([MKSUM, *map(str, arguments)], check=False, capture_output=True, text=True, **more)


def peak_memory(arguments, stdin=None):
    """Returns the peak memory of a run, in bytes, and its output."""
    # Measured in a process with a single child, because RUSAGE_CHILDREN covers the largest child.
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stdin=sys.stdin)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, done.returncode, done.stdout.decode(), end='')\n"
    )
    command = [sys.executable, "-c", code, MKSUM, *arguments]
    peak, status, output = subprocess.run(command, check=False, stdin=stdin, capture_output=True, text=True).stdout.split(" ", 2)
    assert status == "0", output
    return int(peak), output


class Tool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Next to the build, which is on a disk: a file system in memory cannot bypass the page cache.
        cls.folder = tempfile.TemporaryDirectory(dir=os.path.dirname(MKSUM))
        cls.big = pathlib.Path(cls.folder.name, "big")
        with open(cls.big, "wb") as file:
            block = os.urandom(MIB)
            for _ in range(256):
                file.write(block)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_memory_is_bounded_for_every_format(self):
        for format in FORMATS:
            for threads in (1, 2, 16) if format != "rfc6962:sha256:1" else (2,):
                peak, _ = peak_memory(["-f", format, "-p", str(threads), self.big])
                self.assertLess(peak, (64 + 4 * threads) * MIB, f"{format} with {threads} threads")

    def test_memory_is_bounded_for_pipes_and_many_formats(self):
        for format in FORMATS:
            if format.startswith("mtsum") or format == "rfc6962:sha256:1":
                continue
            cat = subprocess.Popen(["cat", self.big], stdout=subprocess.PIPE)
            peak, piped = peak_memory(["-f", format, "-p", "2"], stdin=cat.stdout)
            cat.stdout.close()
            cat.wait()
            self.assertLess(peak, 72 * MIB, f"a pipe in {format}")
            self.assertEqual(piped.strip().replace("(-)", f"({self.big})"), run("-f", format, self.big).stdout.strip())
        options = [word for format in FORMATS if format != "rfc6962:sha256:1" for word in ("-f", format)]
        peak, _ = peak_memory([*options, self.big])
        self.assertLess(peak, (72 + 16 * len(FORMATS)) * MIB, "all formats in one read")

    def test_a_small_file_costs_megabytes(self):
        small = pathlib.Path(self.folder.name, "small")
        small.write_bytes(bytes(1000))
        peak, _ = peak_memory([small])
        self.assertLess(peak, 16 * MIB)

    def test_a_block_device_is_hashed_at_its_size(self):
        image = pathlib.Path(self.folder.name, "image")
        image.write_bytes(self.big.read_bytes()[: 10 * MIB])
        device = subprocess.run(["losetup", "--find", "--show", image], check=True, capture_output=True, text=True).stdout.strip()
        try:
            for mode in ("buffered", "direct", "auto"):
                found = run("--io", mode, device)
                self.assertEqual(found.stdout.replace(device, str(image)), run(image).stdout, found.stderr)
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)

    def test_a_block_device_is_kept_verified_and_repaired(self):
        image, outboard = pathlib.Path(self.folder.name, "device-image"), pathlib.Path(self.folder.name, "device.mkt")
        good = self.big.read_bytes()[: 10 * MIB]
        image.write_bytes(good)
        copy = pathlib.Path(self.folder.name, "device-copy")
        copy.write_bytes(good)
        device = subprocess.run(["losetup", "--find", "--show", image], check=True, capture_output=True, text=True).stdout.strip()
        try:
            # Its outboard does not go to /dev.
            refused = run("keep", device)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn("--output", refused.stderr)
            self.assertFalse(os.path.lexists(f"{device}.mkt"))
            self.assertEqual(run("keep", "-o", outboard, device).returncode, 0)
            self.assertEqual(run("verify", "-o", outboard, device).returncode, 0)
            # The first bytes are those of a file that has no more.
            copy.write_bytes(good[: 4 * MIB])
            part = run("-f", "blake3", "--range", "..4MiB", device).stdout
            self.assertEqual(part.split()[-1], run("-f", "blake3", copy).stdout.split()[-1])
            copy.write_bytes(good)
            with open(device, "r+b") as file:
                file.seek(5 * MIB)
                file.write(b"damage")
            self.assertEqual(run("verify", "-o", outboard, device).returncode, 1)
            repaired = run("repair", "-o", outboard, device, "--from", copy)
            self.assertEqual((repaired.returncode, repaired.stderr), (0, ""))
            with open(device, "rb") as file:
                self.assertEqual(file.read(), good)
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)

    def test_reading_a_cold_file_bypasses_the_page_cache(self):
        def cached():
            done = subprocess.run(["fincore", "--bytes", "--noheadings", self.big], check=True, capture_output=True, text=True)
            return int(done.stdout.split()[0])

        def drop():
            subprocess.run(["sync", self.big], check=True)
            with open(self.big) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

        warm = run(self.big).stdout
        for format in ("rfc6962", "glacier", "mtsum", "blake3"):
            expected = run("--io", "buffered", "-f", format, self.big).stdout
            drop()
            self.assertEqual(run("-f", format, self.big).stdout, expected)
            self.assertLess(cached(), 8 * MIB, f"{format} left pages in the cache")
        # With half of the file cached: the same root, and no more pages cached than before.
        with open(self.big, "rb", buffering=0) as file:
            # Else the system still reads ahead while its pages are counted.
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            file.read(128 * MIB)
        before = cached()
        self.assertEqual(run(self.big).stdout, warm)
        self.assertLess(cached(), before + 8 * MIB)

    def test_nodes_take_bounded_memory_and_leave_nothing_on_a_full_disk(self):
        # 256 MiB of leaves, of which 64 MiB are held at once, with 64 MiB of nodes.
        nodes = pathlib.Path(self.folder.name, "nodes")
        peak, printed = peak_memory(["merklize", self.big, "-o", nodes])
        self.assertLess(peak, (128 + 16) * MIB)
        self.assertEqual(nodes.stat().st_size, self.big.stat().st_size)
        with open(nodes, "rb") as file:
            self.assertEqual(file.read(32), bytes(32))
            self.assertEqual(file.read(32).hex(), printed.strip()[-64:])
        self.assertEqual(run("-f", "blake3-pairs", self.big).stdout, printed)
        nodes.unlink()
        folder = pathlib.Path(self.folder.name, "small-disk")
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
        try:
            (folder / "nodes").write_text("old")
            full = run("merklize", self.big, "-o", folder / "nodes")
            self.assertEqual((full.returncode, full.stdout), (1, ""))
            self.assertEqual(full.stderr, f"mksum: {folder}/nodes: write failed: No space left on device\n")
            self.assertEqual([path.name for path in folder.iterdir()], ["nodes"])
            self.assertEqual((folder / "nodes").read_text(), "old")
        finally:
            subprocess.run(["umount", folder], check=True)

    def test_what_is_unfinished_goes_with_its_process_where_it_needs_a_name(self):
        folder, leaves = pathlib.Path(self.folder.name, "named"), pathlib.Path(self.folder.name, "leaves")
        folder.mkdir()
        leaves.write_bytes(self.big.read_bytes()[: 32 * MIB])
        merklize = [MKSUM, "merklize", "-o", folder / "nodes", leaves]
        # As of a file system on which no file can be without a name.
        inject = ["-P", folder, "-e", "trace=openat", "-e", "inject=openat:error=EOPNOTSUPP"]
        traced = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", *inject, *merklize, "--throttle", "1MB"]

        def names():
            return sorted(path.name for path in folder.iterdir())

        for ending, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGKILL, -9)):
            process = subprocess.Popen(traced, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not names() and process.poll() is None:
                time.sleep(0.001)
            self.assertRegex(" ".join(names()), r"^nodes\.mksum-\d+-0$")
            process.send_signal(ending)
            self.assertEqual(process.wait(), code)
            # Killed, it cleans nothing up; the next run does.
            self.assertEqual(len(names()), ending == signal.SIGKILL)
        subprocess.run(merklize, check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(names(), ["nodes"])

    def test_a_full_disk_is_an_error(self):
        folder = pathlib.Path(self.folder.name, "full")
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=True)
        try:
            with open(folder / "sums", "w") as sums:
                many = subprocess.run([MKSUM, "-r", "/etc"], check=False, stdout=sums, stderr=subprocess.PIPE, text=True)
            self.assertEqual(many.returncode, 1)
            self.assertIn("mksum: write error: No space left on device", many.stderr)
        finally:
            subprocess.run(["umount", folder], check=True)

    def test_graphviz_and_librsvg_render_the_graphs(self):
        for format in ("rfc6962:sha256:32MiB", "fsverity", "mtsum", "dropbox", "rfc6962:sha256:64"):
            dot = run("-f", format, "--graph=dot", self.big)
            self.assertEqual(dot.returncode, 0, dot.stderr)
            drawn = subprocess.run(["dot", "-Tsvg"], check=False, input=dot.stdout, capture_output=True, text=True)
            self.assertIn("</svg>", drawn.stdout)
            self.assertEqual(drawn.stderr, "")
            svg = run("-f", format, "--graph=svg", self.big)
            subprocess.run(["rsvg-convert"], input=svg.stdout.encode(), stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    unittest.main()
