#!/usr/bin/env python3
"""Tests mksum mount: files, directories and URLs are read back through the kernel, damaged, changed, stopped and killed.

    mount.py MKSUM

Needs Linux, /dev/fuse, and root or fusermount3 (Debian package fuse3). Everything listens on 127.0.0.1 alone.
"""
import argparse
import concurrent.futures
import contextlib
import errno
import mmap
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import servers
from bits import flip

MIB, LEAF = 1 << 20, 64 << 10
flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)

# Nothing of the environment reaches a real store or a proxy.
CLEAN = {name: value for name, value in os.environ.items() if not re.match("(AWS|GOOGLE|AZURE)_|.*_PROXY$", name, re.I)}
CLEAN |= {"NETRC": os.devnull}


def mksum(*arguments, code=0):
    """Runs the tool; returns what it has printed, and its errors."""
    command = [CHOSEN.mksum, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN, timeout=120)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def is_mounted(point):
    return any(line.split()[1] == str(point) for line in pathlib.Path("/proc/self/mounts").read_text().splitlines())


class Mounted:
    """The tool, mounting; its errors are kept."""

    def __init__(self, source, point, *arguments, tool=None, env=CLEAN, **more):
        command = [tool or CHOSEN.mksum, "mount", *map(str, [source, point, *arguments])]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, **more)
        if self.process.stdout.readline().strip() != str(point):
            raise AssertionError(self.process.communicate()[1])
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def end(self, number=signal.SIGTERM):
        """Ends it by a signal, and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def reported(self, *words):
        """Whether a line of the errors has all these words, once it is written."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if any(all(word in line for word in words) for line in self.errors):
                return True
            time.sleep(0.01)
        return False


def read_at(file, offset, size):
    """Reads bytes past the page cache of earlier reads; None if that is EIO."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        return os.pread(descriptor, size, offset)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return None
    finally:
        os.close(descriptor)


class Mount(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.good = random.Random(7).randbytes(12 * MIB + 5)

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name).resolve()
        self.point, self.site = self.folder / "point", self.folder / "site"
        self.point.mkdir()
        self.site.mkdir()
        self.file = self.site / "good"
        self.file.write_bytes(self.good)
        self.addCleanup(self.unmount)

    def unmount(self):
        """Takes away what a test has left behind."""
        if is_mounted(self.point):
            subprocess.run(["umount", "-l", self.point], check=False)

    def keep(self, *arguments):
        return f"rfc6962:sha256:64KiB:{mksum('keep', *arguments, self.file)[0].strip().rpartition(' ')[2]}"

    def mount(self, source=None, *arguments):
        return self.enterContext(Mounted(source or self.file, self.point, *arguments))

    def refused(self, words, *arguments, code=1):
        found = mksum("mount", *arguments, code=code)[1]
        self.assertIn(words, found)
        self.assertFalse(is_mounted(self.point))

    def test_a_file(self):
        root = self.keep()
        os.utime(self.file, ns=(0, 1_234_567_890_123_456_789))
        self.file.chmod(0o640)
        with self.mount() as mounted:
            shown = self.point / "good"
            self.assertEqual(os.listdir(self.point), ["good"])
            self.assertEqual(shown.read_bytes(), self.good)
            self.assertEqual(shown.stat().st_size, len(self.good))
            self.assertEqual((shown.stat().st_mtime_ns, shown.stat().st_mode & 0o7777), (1_234_567_890_123_456_789, 0o640))
            with shown.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
                self.assertEqual(mapped[5 * MIB - 3:7 * MIB], self.good[5 * MIB - 3:7 * MIB])
            changes = (lambda: shown.write_bytes(b""), shown.unlink, (self.point / "new").touch, lambda: shown.chmod(0o777))
            for change in changes:
                with self.assertRaises(OSError) as caught:
                    change()
                self.assertEqual(caught.exception.errno, errno.EROFS)
            self.assertEqual(mounted.errors, [])
        # With its root; with that of another file; without an outboard, as a whole.
        with self.mount(None, "--root", root):
            self.assertEqual(shown.read_bytes(), self.good)
        self.refused("is trusted", self.file, self.point, "--root", root[:-4] + "0000")
        elsewhere = self.folder / "elsewhere.mkt"
        self.file.with_suffix(".mkt").rename(elsewhere)
        with self.mount(None, "--root", root, "--outboard", elsewhere):
            self.assertEqual(shown.read_bytes(), self.good)
        self.refused("there is no outboard", self.file, self.point)
        with self.mount(None, "--root", root):
            self.assertEqual(shown.read_bytes(), self.good)
            self.assertEqual(read_at(shown, 100, 10), self.good[100:110])

    def tree(self):
        """A directory with folders, links, empty and small files, and a catalogue; returns its root."""
        (self.site / "a" / "b").mkdir(parents=True)
        (self.site / "empty").mkdir()
        (self.site / "a" / "b" / "small").write_bytes(b"small")
        (self.site / "a" / "nothing").write_bytes(b"")
        (self.site / "a" / "name \u00e9\n").write_bytes(b"odd")
        (self.site / "a" / "good").symlink_to("../good")
        (self.site / "outside").symlink_to("/etc/passwd")
        (self.site / "good.part").write_bytes(b"part")
        (self.site / "a" / "b" / "small").chmod(0o750)
        os.utime(self.site / "a" / "b" / "small", ns=(0, 999_000_000_001))
        mksum("keep", "-q", "-r", self.site)
        return mksum("-f", "dir", self.site / ".mksum" / "catalogue")[0].strip()

    def entries(self, folder):
        """The entries below a folder: folders, the texts of links, the bytes of files."""
        found = {}
        for top, folders, files in os.walk(folder):
            for name in folders + files:
                path = pathlib.Path(top, name)
                key = str(path.relative_to(folder))
                if not key.startswith(".mksum"):
                    found[key] = os.readlink(path) if path.is_symlink() else "" if path.is_dir() else path.read_bytes()
        return found

    def test_a_directory(self):
        root, expected = self.tree(), self.entries(self.site)
        for arguments in ([], ["--root", root]):
            with self.mount(self.site, *arguments) as mounted:
                self.assertEqual(self.entries(self.point), expected)
                small = (self.point / "a" / "b" / "small").stat()
                self.assertEqual(small.st_mtime_ns, 999_000_000_001)
                self.assertEqual(small.st_mode & 0o7777, 0o750 if not arguments else 0o444)
                self.assertFalse((self.point / ".mksum").exists())
                self.assertEqual((self.point / "a" / "good").read_bytes(), self.good)
                self.assertEqual(mounted.errors, [])
        # A new file is in no catalogue; one that is gone, or has other bytes, is an error.
        (self.site / "new").write_bytes(b"new")
        (self.site / "a" / "nothing").unlink()
        (self.site / "a" / "b" / "small").write_bytes(b"smell")
        (self.site / "good.part").write_bytes(b"longer")
        with self.mount(self.site) as mounted:
            self.assertFalse((self.point / "new").exists())
            for path, words in (("a/nothing", "No such file"), ("a/b/small", "bytes 0..5 are damaged: expected "),
                                ("good.part", "it has 6 bytes: expected 4")):
                with self.assertRaises(OSError) as caught:
                    (self.point / path).read_bytes()
                self.assertEqual(caught.exception.errno, errno.EIO)
                self.assertTrue(mounted.reported(path, words), mounted.errors)
            self.assertEqual((self.point / "good").read_bytes(), self.good)
        self.refused("--root: the root of a file", self.site, self.point, "--root", f"sha256:{'0' * 64}", code=2)
        self.refused("expected root", self.site, self.point, "--root", root[:-4] + "0000")
        shutil.rmtree(self.site / ".mksum")
        self.refused("catalogue", self.site, self.point)

    def test_urls(self):
        file_root, root = self.keep(), self.tree()
        (self.site / "good.mkt").unlink()
        expected = self.entries(self.site)
        mksum("keep", "-q", self.file)
        port = servers.free_port()
        with servers.serving(CHOSEN.mksum, "serve", self.site, "--listen", port, port=port, env=CLEAN):
            url = f"http://127.0.0.1:{port}/"
            with self.mount(f"{url}good", "--root", file_root):
                self.assertEqual((self.point / "good").read_bytes(), self.good)
            with self.mount(url, "--root", root) as mounted:
                self.assertEqual(self.entries(self.point), expected)
                self.assertEqual(mounted.errors, [])
            flip(self.file, 5 * MIB)
            with self.mount(url, "--root", root, "--replica", self.site) as mounted:
                self.assertIsNone(read_at(self.point / "good", 5 * MIB, 10))
                words = ("/good: bytes 5242880..5308416 are damaged: expected ", ", found ")
                self.assertTrue(mounted.reported(*words), mounted.errors)
            copy = self.folder / "copy"
            copy.mkdir()
            (copy / "good").write_bytes(self.good)
            with self.mount(url, "--root", root, "--replica", copy) as mounted:
                self.assertEqual((self.point / "good").read_bytes(), self.good)
                self.assertTrue(mounted.reported(f"{url}good: 65536 bytes are damaged"), mounted.errors)
        self.refused("Connection refused", url, self.point, "--root", root)

    def test_flipped_bits_are_never_handed_out(self):
        root, chance = self.keep(), random.Random(11)
        for _ in range(20):
            places = [chance.randrange(len(self.good)) for _ in range(100)]
            # A place that is hit twice is right again.
            damaged = {at for at in places if places.count(at) % 2}
            for at in places:
                flip(self.file, at)
            bad = {at // LEAF for at in damaged}
            with self.mount(None, "--root", root) as mounted:
                shown, failed = self.point / "good", 0
                for at in places:
                    start = max(0, at - chance.randrange(2 * LEAF))
                    size = chance.randrange(1, 3 * LEAF)
                    found = read_at(shown, start, size)
                    failed += found is None
                    if found is not None:
                        # A read may end before a damaged page.
                        self.assertTrue(found and self.good[start:start + size].startswith(found), (start, size))
                        self.assertFalse(bad & set(range(start // LEAF, (start + len(found) - 1) // LEAF + 1)), (start, size))
                self.assertGreater(failed, 0)
                # Whole leaves beside damaged ones can be read.
                for leaf in sorted(set(range(len(self.good) // LEAF)) - bad):
                    self.assertEqual(read_at(shown, leaf * LEAF, LEAF), self.good[leaf * LEAF:][:LEAF])
                for leaf in bad:
                    self.assertIsNone(read_at(shown, leaf * LEAF, 1))
                    self.assertTrue(mounted.reported(f"bytes {leaf * LEAF}..", " are damaged: expected "), mounted.errors)
            self.file.write_bytes(self.good)

    def test_a_mutated_outboard_is_never_believed(self):
        root, chance = self.keep(), random.Random(12)
        outboard = self.site / "good.mkt"
        kept, opened = outboard.read_bytes(), 0
        for _ in range(30):
            mutated = bytearray(kept)
            for at in [chance.randrange(len(kept)) for _ in range(chance.randrange(1, 20))]:
                mutated[at] ^= 1 << chance.randrange(8)
            outboard.write_bytes(mutated)
            # Half of the time other bytes lie at a leaf that a mutated digest may allow.
            try:
                mounted = Mounted(self.file, self.point, "--root", root)
            except AssertionError:
                continue
            opened += 1
            with mounted:
                for _ in range(20):
                    at = chance.randrange(len(self.good))
                    found = read_at(self.point / "good", at, LEAF)
                    self.assertTrue(found is None or self.good[at:at + LEAF].startswith(found))
        self.assertGreater(opened, 0)

    def test_a_file_that_changes(self):
        self.keep()

        def cut():
            os.truncate(self.file, 100)

        def grow():
            with self.file.open("ab") as file:
                file.write(b"more")

        def replace():
            (self.site / "new").write_bytes(self.good[::-1])
            (self.site / "new").replace(self.file)

        for change in (cut, grow, replace):
            with self.mount() as mounted:
                with (self.point / "good").open("rb") as file:
                    self.assertEqual(file.read(100), self.good[:100])
                    change()
                    self.assertIsNone(read_at(self.point / "good", 9 * MIB, 10), change)
                    with self.assertRaises(OSError) as caught:
                        os.pread(file.fileno(), 10, 9 * MIB)
                    self.assertEqual(caught.exception.errno, errno.EIO)
                self.assertTrue(mounted.reported(str(self.file)), mounted.errors)
                # The file that is right again can be opened again.
                self.file.write_bytes(self.good)
                self.assertEqual(read_at(self.point / "good", 9 * MIB, 10), self.good[9 * MIB:][:10])

    def test_damage_is_repaired_from_a_replica(self):
        root = self.keep()
        copy = self.folder / "copy"
        copy.write_bytes(self.good)
        flip(self.file, 3 * MIB)
        damaged = self.file.read_bytes()
        with self.mount(None, "--root", root, "--replica", copy) as mounted:
            self.assertEqual((self.point / "good").read_bytes(), self.good)
            self.assertTrue(mounted.reported(f"{self.file}: 65536 bytes are damaged or unreadable, and came from a replica"))
        self.assertEqual((len(mounted.errors), self.file.read_bytes()), (1, damaged))
        with self.mount(None, "--root", root, "--replica", copy, "--on-bad", "repair") as mounted:
            self.assertEqual((self.point / "good").read_bytes(), self.good)
            self.assertTrue(mounted.reported("came from a replica, and were written to it"))
        self.assertEqual(self.file.read_bytes(), self.good)
        flip(self.file, 3 * MIB)
        flip(copy, 3 * MIB + 1)
        with self.mount(None, "--root", root, "--replica", copy, "--on-bad", "repair") as mounted:
            self.assertIsNone(read_at(self.point / "good", 3 * MIB, 1))
            self.assertTrue(mounted.reported("bytes 3145728..3211264 are damaged", "it is damaged there too"), mounted.errors)
        self.refused("--replica is missing", self.file, self.point, "--on-bad", "repair", code=2)
        # A small file of a directory, verified as a whole.
        flip(self.file, 3 * MIB)
        root = self.tree()
        other = self.folder / "other"
        shutil.copytree(self.site, other, symlinks=True)
        small = self.site / "a" / "b" / "small"
        times = small.stat()
        flip(small, 3, hidden=True)
        with self.mount(self.site, "--root", root, "--replica", other, "--on-bad", "repair"):
            self.assertEqual((self.point / "a" / "b" / "small").read_bytes(), b"small")
        self.assertEqual((small.read_bytes(), small.stat().st_mtime_ns), (b"small", times.st_mtime_ns))

    def test_planted_links_are_not_followed(self):
        self.tree()
        copy, outside = self.folder / "copy", self.folder / "outside"
        shutil.copytree(self.site, copy, symlinks=True)
        small = self.site / "a" / "b" / "small"
        for planted in (small, small.parent):
            shutil.copytree(copy / "a" / "b", outside)
            target = outside / "small"
            target.write_bytes(b"smaXl")
            if planted == small:
                small.unlink()
                small.symlink_to(target)
            else:
                shutil.rmtree(planted)
                planted.symlink_to(outside)
            with self.mount(self.site, "--replica", copy, "--on-bad", "repair") as mounted:
                with self.assertRaises(OSError) as caught:
                    (self.point / "a" / "b" / "small").read_bytes()
                self.assertEqual(caught.exception.errno, errno.EIO)
                self.assertTrue(mounted.reported("a/b/small: "), mounted.errors)
            self.assertEqual(target.read_bytes(), b"smaXl")
            shutil.rmtree(outside)

    def test_many_readers_at_once(self):
        self.tree()
        with self.mount(self.site) as mounted:
            barrier = threading.Barrier(16)

            def read(number):
                chance = random.Random(number)
                barrier.wait(60)
                if number % 2:
                    return (self.point / "good").read_bytes() == self.good
                for _ in range(200):
                    at = chance.randrange(len(self.good))
                    if read_at(self.point / "good", at, 10000) != self.good[at:at + 10000]:
                        return False
                return True

            with concurrent.futures.ThreadPoolExecutor(16) as threads:
                self.assertTrue(all(threads.map(read, range(16))))
            self.assertEqual(mounted.errors, [])

    def test_signals_leave_nothing_behind(self):
        self.keep()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            mounted = Mounted(self.file, self.point)
            self.assertTrue(is_mounted(self.point))
            self.assertEqual((mounted.end(number), is_mounted(self.point)), (0, False))
            self.assertEqual((mounted.errors, os.listdir(self.point)), ([], []))
        # Also while a file is open, and a directory is someone's own.
        mounted = Mounted(self.file, self.point)
        with (self.point / "good").open("rb") as file, subprocess.Popen(["sleep", "600"], cwd=self.point) as other:
            self.assertEqual(file.read(10), self.good[:10])
            self.assertEqual((mounted.end(), is_mounted(self.point)), (0, False))
            with self.assertRaises(OSError):
                os.pread(file.fileno(), 10, 9 * MIB)
            other.kill()
        self.assertEqual(os.listdir(self.point), [])
        # Unmounted by somebody else, it ends.
        mounted = Mounted(self.file, self.point)
        subprocess.run(["umount", self.point], check=True)
        self.assertEqual((mounted.process.wait(30), mounted.end()), (0, 0))

    def test_what_a_killed_one_leaves_can_be_taken_away(self):
        self.keep()
        for command in (["fusermount3", "-u", self.point], ["umount", self.point]):
            mounted = Mounted(self.file, self.point)
            self.assertEqual(mounted.end(signal.SIGKILL), -signal.SIGKILL)
            self.assertTrue(is_mounted(self.point))
            found = mksum("mount", self.file, self.point, code=1)[1]
            self.assertIn("a file system is mounted here whose program has ended", found)
            subprocess.run(command, check=True)
            self.assertFalse(is_mounted(self.point))
            with self.mount():
                self.assertEqual((self.point / "good").read_bytes(), self.good)

    def test_mount_points_are_checked(self):
        self.keep()
        self.refused("there is no such directory", self.file, self.folder / "none")
        self.refused("not a directory", self.file, self.file)
        self.refused("the directory is not empty", self.file, self.site)
        (self.point / "x").touch()
        self.refused("the directory is not empty", self.file, self.point)
        (self.point / "x").unlink()
        self.refused("No such file", self.folder / "none", self.point)

    def test_without_the_device(self):
        self.keep()
        hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "-"]
        command = [*hidden, CHOSEN.mksum, "mount", self.file, self.point]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN, timeout=60)
        if "mksum: " not in done.stderr:
            print(f"NOT RUN: {self.id()}: {done.stderr.strip()}", file=sys.stderr)
            return
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/fuse: No such file or directory: load the kernel's module with 'modprobe fuse'", done.stderr)

    def test_other_users(self):
        """One who is not root mounts by fusermount3, in a directory that is the user's own."""
        if os.getuid() != 0:
            print(f"NOT RUN: {self.id()}: only root becomes another user", file=sys.stderr)
            return
        self.keep()
        self.folder.chmod(0o755)
        tool, user = self.folder / "mksum", {"user": 65534, "group": 65534, "extra_groups": []}
        shutil.copy(CHOSEN.mksum, tool)
        command = [tool, "mount", self.file, self.point]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN, timeout=60, **user)
        self.assertEqual((done.returncode, is_mounted(self.point)), (1, False))
        self.assertIn("not mounted: ", done.stderr)
        os.chown(self.point, 65534, 65534)
        for is_busy in (False, True):
            mounted = Mounted(self.file, self.point, tool=tool, **user)
            read = ["tail", "-c", "9", self.point / "good"]
            self.assertEqual(subprocess.run(read, check=True, capture_output=True, **user).stdout, self.good[-9:])
            hold = ["sh", "-c", f"exec 9<{self.point}/good; echo; exec sleep 600"]
            with subprocess.Popen(hold, stdout=subprocess.PIPE, **user) as other:
                other.stdout.readline()
                if not is_busy:
                    other.kill()
                    other.wait()
                self.assertEqual((mounted.end(), mounted.errors, is_mounted(self.point)), (0, [], False))
                other.kill()


def missing():
    """What is not there of what the tests need, if anything."""
    if not os.path.exists("/dev/fuse"):
        return "/dev/fuse is missing: 'modprobe fuse', or a container with --device /dev/fuse --cap-add SYS_ADMIN"
    with contextlib.suppress(OSError):
        os.close(os.open("/dev/fuse", os.O_RDWR))
        return None if shutil.which("fusermount3") else "fusermount3 is missing: the Debian package fuse3 has it"
    return "/dev/fuse cannot be opened"


if __name__ == "__main__":
    CHOSEN, others = flags.parse_known_args()
    if why := missing():
        print(f"NOT RUN: mksum mount: {why}", file=sys.stderr)
        sys.exit(0)
    with contextlib.suppress(KeyboardInterrupt):
        unittest.main(argv=[sys.argv[0], *others], verbosity=2)
