#!/usr/bin/env python3
"""Catalogues of directories where it goes wrong: kills, full disks, several processes, mutated catalogues, directories that
change, odd file systems. directories.py MKSUM. KILLS and FAULTS: how many runs of each of four commands are killed, and in how
many a system call fails (20 by default)."""
import contextlib
import fcntl
import hashlib
import itertools
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
KILLS = int(os.environ.get("KILLS", "20"))
FAULTS = int(os.environ.get("FAULTS", "20"))
LONG = 9 << 20


def run(*arguments, **options):
    """Runs the tool."""
    arguments = [TOOL, *map(str, arguments)]
    return subprocess.run(arguments, check=False, capture_output=True, text=True, errors="surrogateescape", **options)


def part(data):
    """Returns bytes with their length before them."""
    return len(data).to_bytes(8, "little") + data


def check_spans(db):
    """Checks that each span in a catalogue is one that its entries have (spec/catalogue.md); returns their number."""
    names, roots, entries = dict(db.execute("SELECT id, name FROM format")), {}, {}
    for path, number, root in db.execute("SELECT path, format, root FROM root"):
        roots.setdefault(path, []).append((names[number].encode(), root))
    for path, kind, size, link in db.execute("SELECT path, type, size, link FROM entry ORDER BY path"):
        own = roots.get(path, [])
        framed = b"".join(part(name) + part(root) for name, root in sorted(own))
        content = {"f": size.to_bytes(8, "little") + len(own).to_bytes(8, "little") + framed, "d": b"", "l": part(link or b"")}
        entries[path] = None if kind == "f" and not own else kind.encode() + part(path) + content[kind]

    def digest(level, start, end):
        """Returns the digest over some entries; no bytes if there is none."""
        starts = [b"", *(path for path in entries if level < 2 or hashlib.sha256(path).digest().startswith(bytes(level - 1)))]
        starts = [path for path in starts if start <= path and (end is None or path < end)]
        if level == 1:
            parts = [entries[path] for path in starts if path]
        else:
            parts = [digest(level - 1, *ends) for ends in zip(starts, [*starts[1:], end], strict=True)]
        return b"" if not all(parts) else hashlib.sha256(b"".join(parts)).digest()

    found = db.execute('SELECT level, start, "end", entries, digest FROM span').fetchall()
    for level, start, end, count, kept in found:
        starts = [b"", *(path for path in entries if hashlib.sha256(path).digest().startswith(bytes(level)))]
        if (start, end) not in zip(starts, [*starts[1:], None], strict=True):
            raise AssertionError(f"no span of level {level} has these ends: {start} {end}")
        inside = [path for path in entries if start <= path and (end is None or path < end)]
        if (count, kept) != (len(inside), digest(level, start, end)):
            raise AssertionError(f"the span {level} {start} {end} is not that of its entries")
    return len(found)


def digest_of(db):
    """Returns the number of rows in a catalogue, what has read its directory, and the digest of both (spec/catalogue.md)."""
    (walk,) = db.execute("SELECT walk FROM state").fetchone()
    count, total = 0, walk
    for table in "format", "entry", "root":
        for row in db.execute(f"SELECT * FROM {table}"):
            framed = b"t" + part(table.encode())
            for value in row:
                if value is None:
                    framed += b"n"
                elif isinstance(value, int):
                    framed += b"i" + (value % 2**64).to_bytes(8, "little")
                else:
                    framed += b"t" + part(value.encode()) if isinstance(value, str) else b"b" + part(value)
            total += int.from_bytes(hashlib.sha256(framed).digest()[:16], "little")
            count += 1
    return walk, count, (total % 2**128).to_bytes(16, "little")


def sign(db):
    """Takes the rows that a test has changed for those that mksum wrote."""
    db.execute("UPDATE state SET walk = ?, rows = ?, digest = ?", digest_of(db))
    db.commit()


def rows(catalogue, more=""):
    """Yields the path, size, digest and format of each root, after checking the file."""
    with tempfile.TemporaryDirectory() as folder:
        for end in ["", "-wal"]:
            if os.path.exists(f"{catalogue}{end}"):
                shutil.copy(f"{catalogue}{end}", f"{folder}/copy{end}")
        db = sqlite3.connect(f"{folder}/copy")
        ok = db.execute("PRAGMA integrity_check").fetchall()
        if ok != [("ok",)]:
            raise AssertionError(ok)
        if db.execute("SELECT count(*) FROM root WHERE path NOT IN (SELECT path FROM entry)").fetchone() != (0,):
            raise AssertionError("roots without entries")
        if db.execute("SELECT * FROM state").fetchall() != [digest_of(db)]:
            raise AssertionError("its digest is not that of its rows")
        check_spans(db)
        more = f", e.{more}" if more else ""
        tables = "entry e JOIN root r USING (path) JOIN format f ON f.id = r.format"
        text = f"SELECT e.path, e.size, r.root, f.name{more} FROM {tables}"
        yield from db.execute(text).fetchall()
        db.close()


class Directories(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "tree"
        self.numbers = itertools.count(1)
        self.catalogue = self.tree / ".mksum/catalogue"

    def make(self, files=300, long=True):
        """Makes a directory; its files are old enough that nothing waits for the clock."""
        for number in range(files):
            place = self.tree / f"d{number % 7}/e{number % 3}/{number}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"%d\n" % number * (number % 50))
            os.utime(place, (10**9 + number, 10**9 + number))
        if long:
            (self.tree / "long").write_bytes(random.Random(1).randbytes(LONG))
            os.utime(self.tree / "long", (10**9, 10**9))

    def good(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def bad(self, *arguments, word=""):
        done = run(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr + done.stdout)
        self.assertIn(word, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def check_rows(self, contents=None):
        """Checks that each root is that of the file's bytes: now, or of those that `contents` has."""
        count = 0
        for path, size, root, name, mtime in rows(self.catalogue, "mtime") if self.catalogue.exists() else []:
            if name == "sha256" and path.startswith(b"busy/"):
                self.check_busy(path, size, root, mtime)
            elif name == "sha256":
                data = (contents or {}).get(path) or (self.tree / os.fsdecode(path)).read_bytes()
                self.assertEqual((len(data), hashlib.sha256(data).digest()), (size, root), path)
                count += 1
        return count

    def check_busy(self, path, size, root, mtime):
        """Checks the root of a file that may be another one by now; a size never comes again."""
        with contextlib.suppress(FileNotFoundError):
            place = self.tree / os.fsdecode(path)
            facts, data = os.stat(place), place.read_bytes()
            if (facts.st_size, facts.st_mtime_ns) == (size, mtime):
                self.assertEqual(hashlib.sha256(data).digest(), root, path)

    @contextlib.contextmanager
    def changing(self):
        """In a part of the directory, files come and go, are rewritten and renamed, until the end of the block."""
        ended, busy = threading.Event(), self.tree / "busy"

        def change():
            while not ended.wait(0.0005):
                number = next(self.numbers)
                busy.mkdir(exist_ok=True)
                place = busy / f"{number % 5}"
                place.write_bytes((b"%d," % number * number)[:number])
                if number % 3 == 0:
                    place.rename(busy / f"moved {number % 4}")
                if number % 11 == 0:
                    shutil.rmtree(busy)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def settle(self):
        """Brings the catalogue up to date with what has changed meanwhile."""
        shutil.rmtree(self.tree / "busy", ignore_errors=True)
        self.good("update", self.tree)

    def kills(self, *arguments):
        """Runs the tool while the directory changes, and kills it at some time, until so many runs did not end before; yields the
        number of each run."""
        killed, most = 0, 0.1
        for number in range(5 * KILLS):
            yield number
            command = [TOOL, *map(str, arguments)]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            with self.changing(), subprocess.Popen(command, **quiet) as process:
                time.sleep(random.random() * most)
                process.kill()
            killed += process.returncode == -signal.SIGKILL
            # Short runs are killed sooner.
            most *= 1.1 if process.returncode == -signal.SIGKILL else 0.8
            if killed == KILLS:
                print(f"{arguments[0]}: {killed} of {number + 1} runs killed", file=sys.stderr)
                return
        self.fail(f"only {killed} runs were killed before their end")

    def test_kills_leave_whole_catalogues(self):
        self.make()
        copy = self.folder / "copy"
        shutil.copytree(self.tree, copy)
        keep = ["keep", "-r", "-f", "sha256", "-f", "rfc6962", self.tree]
        for number in self.kills(*keep):
            self.check_rows()
            if number % 5 == 0:
                shutil.rmtree(self.catalogue.parent, ignore_errors=True)
        self.good(*keep)
        self.settle()
        self.assertEqual(self.check_rows(), 301)
        self.good("verify", "-r", self.tree)
        for number in self.kills("update", self.tree):
            self.check_rows_there()
            for place in (path for path in sorted(self.tree.glob("d*/e*/*"))[number % 7 :: 7] if path.exists()):
                place.write_bytes(b"changed %d" % number)
                place.rename(place.with_name(f"moved {number} {place.name[-5:]}"))
            os.utime(self.tree / "long", (10**9 + number, 10**9 + number))
        self.settle()
        self.assertEqual(self.check_rows(), 301)
        self.good("status", self.tree)
        for _ in self.kills("verify", "-r", "--budget", "10s", self.tree):
            self.assertEqual(self.check_rows(), 301)
        self.settle()
        shutil.rmtree(copy)
        shutil.copytree(self.tree, copy)
        short = next(self.tree.glob("d1/e1/*")).relative_to(self.tree)
        damaged = {os.fsencode(path): (copy / path).read_bytes() for path in ("long", str(short))}
        for number in self.kills("repair", "-r", self.tree, "--from", copy):
            self.check_rows(damaged)
            for path in (self.tree / "long", self.tree / short):
                times = os.stat(path)
                with open(path, "r+b") as file:
                    file.seek(number * 1000 if path.name == "long" else 1)
                    file.write(b"DAMAGE"[: times.st_size - 1])
                os.utime(path, ns=(times.st_mtime_ns, times.st_mtime_ns))
        self.settle()
        self.good("repair", "-r", self.tree, "--from", copy)
        self.good("verify", "-r", self.tree)
        self.check_rows()

    def check_rows_there(self):
        """Checks the roots of the files that are where their rows say and have the time of these."""
        for path, size, root, name, mtime in rows(self.catalogue, "mtime"):
            place = self.tree / os.fsdecode(path)
            if name == "sha256" and path.startswith(b"busy/"):
                self.check_busy(path, size, root, mtime)
            elif name == "sha256" and place.exists() and place.stat().st_mtime_ns == mtime:
                data = place.read_bytes()
                self.assertEqual((len(data), hashlib.sha256(data).digest()), (size, root), path)

    def test_a_first_walk_that_could_not_read_all(self):
        self.make(12, long=False)
        (self.tree / "d1/e1/1").chmod(0)
        (self.tree / "d2/e2").chmod(0)
        self.folder.chmod(0o755)
        for path in [self.tree, *self.tree.rglob("*")]:
            os.chown(path, 65534, 65534, follow_symlinks=False)

        # Root could read everything, and others may not come to where the tool is.
        tool = shutil.copy(TOOL, self.folder / "mksum")
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}

        def nobody(*arguments):
            return subprocess.run([tool, *map(str, arguments)], check=False, capture_output=True, text=True, **other)

        def lacks(*command, counts):
            walk = nobody(*command)
            self.assertEqual(walk.returncode, 1, walk.stderr)
            self.assertIn(counts, walk.stderr)
            for command in ["-f", "dir:sha256", self.catalogue], ["join", "-f", "dir:sha256", f"part={self.catalogue}"]:
                refused = nobody(*command)
                self.assertEqual((refused.returncode, refused.stdout), (1, ""))
                self.assertIn("could not be read, or changed meanwhile, and are missing", refused.stderr)
            for form in [], ["--to", "json"]:
                listed = nobody("export", self.tree, *form)
                self.assertEqual(listed.returncode, 1)
                self.assertIn("d6/e0/6", listed.stdout)
                self.assertNotIn("d2/e2/2", listed.stdout)
                self.assertIn("could not be read, or changed meanwhile, and are missing", listed.stderr)
            self.assertIn("d2/e2/: Permission denied", nobody("status", self.tree).stderr)

        lacks("keep", "-r", "-f", "sha256", self.tree, counts="10 new, 2 unreadable")
        lacks("update", self.tree, counts="2 unreadable")
        (self.tree / "d1/e1/1").chmod(0o644)
        self.assertEqual(nobody("update", self.tree).returncode, 1)
        self.assertEqual(nobody("-f", "dir:sha256", self.catalogue).returncode, 1, "a part of it is still unknown")
        (self.tree / "d2/e2").chmod(0o755)
        self.assertEqual(nobody("update", self.tree).returncode, 0)
        roots = [self.good("-f", "dir:sha256", path).split()[-1] for path in (self.catalogue, self.tree)]
        self.assertEqual(*roots)
        self.assertEqual(len(self.good("export", self.tree).splitlines()), 12)
        # From now on, rows are as true as before.
        (self.tree / "d1/e1/1").chmod(0)
        self.assertEqual(nobody("update", self.tree).returncode, 0)

    def test_a_repair_without_a_kept_tree_takes_bounded_memory(self):
        self.tree.mkdir()
        size = 256 << 20
        for place in self.tree / "long", self.folder / "copy":
            with open(place, "wb") as file:
                file.truncate(size)
            os.utime(place, (10**9, 10**9))
        # A plain sum has no tree.
        self.good("keep", "-r", "-f", "sha256", self.tree)
        self.assertFalse(list(self.catalogue.parent.rglob("*.mkt")))
        with open(self.tree / "long", "r+b") as file:
            file.seek(200 << 20)
            file.write(b"damage")
        os.utime(self.tree / "long", (10**9, 10**9))
        copy = self.folder / "copies"
        copy.mkdir()
        (self.folder / "copy").rename(copy / "long")
        # In a process with a single child, because RUSAGE_CHILDREN covers the largest child.
        code = (
            "import resource, subprocess, sys\n"
            "done = subprocess.run(sys.argv[1:], stdout=sys.stderr)\n"
            "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)\n"
        )
        command = [sys.executable, "-c", code, TOOL, "repair", "-r", self.tree, "--from", copy]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        status, peak = map(int, done.stdout.split())
        self.assertEqual(status, 0, done.stderr)
        self.assertLess(peak, 150 << 20)
        self.good("verify", "-r", self.tree)

    def test_spans_are_those_of_their_entries(self):
        self.make(2000, long=False)
        self.good("keep", "-r", "-f", "md5", "-f", "blake3", self.tree)
        copy = self.folder / "copy"
        shutil.copy(self.catalogue, copy)
        for turn in range(5):
            places = sorted(path for path in self.tree.glob("d*/e*/*"))[turn::97]
            for number, place in enumerate(places):
                if number % 3 == 0:
                    place.write_bytes(b"changed %d" % turn)
                elif number % 3 == 1:
                    place.rename(place.with_name(f"{place.name} moved"))
                else:
                    place.unlink()
            self.good("update", self.tree)
            db = sqlite3.connect(self.catalogue)
            self.assertGreater(check_spans(db), 3)
            (whole,) = db.execute("SELECT max(entries) FROM span").fetchone()
            self.assertEqual(db.execute("SELECT count(*) FROM entry").fetchone(), (whole,))
            db.close()
            by_spans = run("diff", copy, self.tree)
            other = self.folder / "other"
            shutil.copy(copy, other)
            db = sqlite3.connect(other)
            db.execute("DELETE FROM span")
            db.commit()
            db.close()
            linear = run("diff", other, self.tree)
            self.assertEqual((by_spans.stdout, by_spans.stderr), (linear.stdout, linear.stderr))
            self.assertIn("removed", by_spans.stderr)

    def test_silent_changes_are_damage(self):
        self.make(20)
        self.good("keep", "-r", self.tree)
        place = self.tree / "d1/e1/1"
        times = os.stat(place)
        place.write_bytes(b"x\n")
        os.utime(place, ns=(times.st_mtime_ns, times.st_mtime_ns))
        self.good("status", self.tree)
        self.good("update", self.tree)
        self.bad("verify", "-r", self.tree, word="d1/e1/1: FAILED")
        # Neither with another format, for which all files are read.
        self.bad("keep", "-r", "-f", "md5", self.tree, word="d1/e1/1: damaged")
        self.bad("verify", "-r", self.tree, word="d1/e1/1: FAILED")
        # A file in its place with the same size and time is another one, by its inode.
        other = self.folder / "other"
        other.write_bytes(b"y\n")
        os.utime(other, ns=(times.st_mtime_ns, times.st_mtime_ns))
        other.rename(place)
        self.bad("status", self.tree, word="d1/e1/1: CHANGED")
        self.assertIn("d1/e1/1: CHANGED", self.good("update", self.tree))
        self.good("verify", "-r", self.tree)

    def test_moves_keep_their_evidence(self):
        self.make(30)
        self.good("keep", "-r", self.tree)
        times = os.stat(self.tree / "long")
        with open(self.tree / "long", "r+b") as file:
            file.write(b"X")
        os.utime(self.tree / "long", ns=(times.st_mtime_ns, times.st_mtime_ns))
        (self.tree / "long").rename(self.tree / "d1/renamed")
        (self.tree / "d2").rename(self.tree / "d8")
        self.assertIn("MOVED from", self.bad("status", self.tree))
        self.assertIn("d1/renamed: MOVED", self.good("update", self.tree))
        self.bad("verify", "-r", self.tree, word="d1/renamed: damaged 0..65536")
        # A copy whose original is removed is found by its root.
        shutil.copy(self.tree / "d1/e1/1", self.tree / "copied")
        (self.tree / "d1/e1/1").unlink()
        self.assertIn("copied: MOVED", self.good("update", self.tree))

    def test_two_processes(self):
        self.make()
        several = [subprocess.Popen([TOOL, "keep", "-r", "-f", "sha256", self.tree], stdout=subprocess.DEVNULL) for _ in range(4)]
        self.assertEqual([process.wait() for process in several], [0] * 4)
        self.assertEqual(self.check_rows(), 301)
        # Each of them waits for the others, whatever they do.
        copy = self.folder / "copy"
        shutil.copytree(self.tree, copy)
        for number in range(3):
            place = self.tree / f"d1/e1/{number}"
            place.write_bytes(b"changed")
            os.utime(place, (10**9, 10**9))
        commands = [["keep", "-r", "-f", "sha256"], ["update"], ["verify", "-r"], ["repair", "-r", "--from", copy]]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        several = [subprocess.Popen([TOOL, *map(str, command), self.tree], **quiet) for command in commands * 2]
        for process in several:
            _, errors = process.communicate()
            # A verification before the update finds files that have changed.
            self.assertIn(process.returncode, (0, 1) if process.args[1] in ("verify", "repair") else (0,), errors)
            self.assertNotIn("database", errors)
        self.assertEqual(self.check_rows(), 303)
        self.good("verify", "-r", self.tree)
        with open(f"{self.catalogue}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = subprocess.Popen([TOOL, "update", self.tree], stderr=subprocess.PIPE, text=True)
            self.assertIn("another process writes to it", waiting.stderr.readline())
            self.good("status", self.tree)
        waiting.stderr.read()
        self.assertEqual(waiting.wait(), 0)
        waiting.stderr.close()

    def test_mutated_catalogues_never_pass(self):
        self.make(12, long=False)
        self.good("keep", "-r", self.tree)
        place = self.tree / "d1/e1/1"
        times = os.stat(place)
        place.write_bytes(b"x\n")
        os.utime(place, ns=(times.st_mtime_ns, times.st_mtime_ns))
        whole = self.catalogue.read_bytes()
        outcomes = {}
        used = [at for at in range(len(whole)) if whole[at] or whole[at - 1]]
        for at in random.Random(3).sample(used, min(700, len(used))):
            for path in self.catalogue.parent.glob("catalogue-*"):
                path.unlink()
            mutated = bytearray(whole)
            mutated[at] ^= random.Random(at).choice([1, 0x80, 0xFF])
            self.catalogue.write_bytes(mutated)
            for command in ["verify", "-r"], ["diff", self.catalogue], ["status"], ["export"]:
                done = run(*command, self.tree, timeout=20)
                self.assertIn(done.returncode, (0, 1), f"byte {at}: {command}: {done.stderr}")
                if command[0] == "verify":
                    outcomes[done.returncode] = outcomes.get(done.returncode, 0) + 1
                    self.assertEqual(done.returncode, 1, f"byte {at}: {done.stdout}{done.stderr}")
        self.catalogue.write_bytes(whole[: len(whole) // 2])
        self.bad("verify", "-r", self.tree)
        for junk in [b"", b"SQLite format 3\0", b"junk" * 100]:
            self.catalogue.write_bytes(junk)
            self.bad("status", self.tree, word="not a catalogue")

    def test_rows_are_not_believed(self):
        self.make(3, long=False)
        self.good("keep", "-r", self.tree)
        whole = self.catalogue.read_bytes()
        for change, word in [
            ("UPDATE root SET root = zeroblob(5)", "expected 32"),
            ("UPDATE root SET root = zeroblob(500)", "expected 32"),
            ("UPDATE root SET format = 7", "format 7"),
            ("UPDATE root SET outboard = '../../etc/passwd'", "not the name of an outboard"),
            ("UPDATE entry SET size = -1 WHERE type = 'f'", "below zero"),
            ("UPDATE entry SET type = 'x' WHERE type = 'f'", "not a type"),
            ("UPDATE entry SET path = CAST('../x' AS BLOB) WHERE path = CAST('d1' AS BLOB)", "not a path"),
            ("UPDATE entry SET roots = 2 WHERE type = 'f'", "expected 2"),
            ("UPDATE entry SET roots = 0 WHERE type = 'f'", "expected 0"),
            ("UPDATE format SET name = 'md6'", "not the canonical name"),
            ("CREATE VIEW x AS SELECT 1", "its tables are not"),
            ("PRAGMA user_version = 1", "version 1"),
            ("PRAGMA user_version = 2", "its tables are not"),
            ("PRAGMA user_version = 4", "version 4"),
        ]:
            self.catalogue.write_bytes(whole)
            db = sqlite3.connect(self.catalogue)
            db.execute(change)
            db.commit()
            db.close()
            self.bad("verify", "-r", self.tree, word=word)

    def test_full_disk(self):
        self.make(3000, long=False)
        for pages in 1, 4, 8, 9, 10, 12, 16, 20, 64:
            with self.mounted("-t", "tmpfs", "-o", f"size={4 * pages}k", "none") as disk:
                place = disk / "catalogue"
                keep = ["keep", "-r", "-f", "sha256", "-o", place, self.tree]
                done = run(*keep)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertNotIn("new\n", done.stderr)
                self.assertIn(place.exists(), [place.exists() and place.read_bytes().startswith(b"SQLite format 3"), False])
                for path, size, root, _ in rows(place) if place.exists() else []:
                    data = (self.tree / os.fsdecode(path)).read_bytes()
                    self.assertEqual((len(data), hashlib.sha256(data).digest()), (size, root))
                # Nothing takes it for the whole.
                self.assertEqual(run("-f", "dir:sha256", place).returncode, 1)
                self.assertEqual(run("export", place).returncode, 1)
                subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
                self.good(*keep)
                roots = [self.good("-f", "dir:sha256", path).split()[-1] for path in (place, self.tree)]
                self.assertEqual(*roots)

    def test_system_calls_that_fail(self):
        if shutil.which("strace") is None:
            print(f"NOT RUN: {self.id()}: no strace", file=sys.stderr)
            self.skipTest("strace")
        self.make(40)
        copy = self.folder / "copy"
        shutil.copytree(self.tree, copy)
        keep = ["keep", "-r", "-f", "sha256", "-f", "rfc6962", self.tree]
        calls = [("fsync", "EIO"), ("fdatasync", "EIO"), ("pwrite64", "ENOSPC"), ("write", "ENOSPC")]
        calls += [("rename,renameat", "EACCES"), ("ftruncate", "ENOSPC"), ("pwrite64", "EIO")]
        calls += [("openat", "EMFILE"), ("pread64", "EIO"), ("unlink,unlinkat", "EROFS")]
        numbers, failed = random.Random(5), 0
        for command in keep, ["update", self.tree], ["verify", "-r", self.tree], ["repair", "-r", self.tree, "--from", copy]:
            for turn in range(FAULTS):
                if command == keep:
                    shutil.rmtree(self.catalogue.parent, ignore_errors=True)
                else:
                    self.good(*keep)
                    place = self.tree / f"d{turn % 7}/changed {turn}"
                    place.write_bytes(b"changed")
                    os.utime(place, (10**9, 10**9))
                call, error = calls[turn % len(calls)]
                inject = ["-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={numbers.randrange(1, 9)}+"]
                traced = ["strace", "-fqq", "-o", "/dev/null", *inject, TOOL, *map(str, command)]
                with self.changing():
                    done = subprocess.run(traced, check=False, capture_output=True)
                # 127: the tool was not loaded.
                self.assertIn(done.returncode, (0, 1, 2, 127), f"{command} {call} {error}: {done.stderr}")
                failed += done.returncode != 0
                self.check_rows()
        self.good(*keep)
        self.settle()
        self.assertEqual(self.check_rows(), 41 + len(list(self.tree.glob("d*/changed *"))))
        self.good("verify", "-r", self.tree)
        print(f"{4 * FAULTS} runs with faults, {failed} failed", file=sys.stderr)

    def mounted(self, *arguments):
        """Mounts a file system."""
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        done = subprocess.run(["mount", *map(str, arguments), disk], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"NOT RUN: {self.id()}: {done.stderr.strip()}", file=sys.stderr)
            self.skipTest(done.stderr)

        class Mounted:
            def __enter__(self):
                return disk

            def __exit__(self, *_):
                subprocess.run(["umount", disk], check=True)

        return Mounted()

    def test_vfat_has_no_inodes(self):
        image = self.folder / "image"
        with open(image, "wb") as file:
            file.truncate(8 << 20)
        subprocess.run(["mkfs.vfat", image], check=True, stdout=subprocess.DEVNULL)
        with self.mounted("-o", "loop", image) as disk:
            for number in range(20):
                (disk / f"{number}").write_bytes(b"%d" % number)
            self.good("keep", "-r", disk)
            self.good("status", disk)
        with self.mounted("-o", "loop", image) as disk:
            self.good("status", disk)
            self.good("verify", "-r", disk)
            (disk / "3").rename(disk / "x")
            self.assertIn("x: MOVED", self.good("update", disk))
        with self.mounted("-o", "loop,ro", image) as disk:
            self.good("status", disk)
            self.good("keep", "-r", "-o", self.folder / "elsewhere", disk)
            self.good("verify", "-r", "--catalogue", self.folder / "elsewhere", disk)
            done = run("verify", "-r", disk)
            noted = done.stderr.count("times of this verification are not noted")
            self.assertEqual((done.returncode, noted), (0, 1), done.stderr)
            self.good("diff", disk, self.folder / "elsewhere")

    def test_directories_that_change(self):
        self.make(200, long=False)
        ended = threading.Event()

        def change():
            number = 0
            while not ended.is_set():
                number += 1
                (self.tree / f"d{number % 7}" / "new").write_bytes(b"%d" % number)
                shutil.rmtree(self.tree / "gone", ignore_errors=True)
                (self.tree / "gone/deep").mkdir(parents=True, exist_ok=True)
                (self.tree / "gone/deep/file").write_bytes(b"x" * (number % 100))

        thread = threading.Thread(target=change)
        thread.start()
        for _ in range(10):
            for command in (["-f", "dir"], ["keep", "-r", "-f", "sha256"], ["status"], ["verify", "-r"]):
                self.assertIn(run(*command, self.tree).returncode, (0, 1))
        ended.set()
        thread.join()
        time.sleep(0.05)
        self.good("keep", "-r", "-f", "sha256", self.tree)
        self.check_rows()
        self.good("verify", "-r", self.tree)

    def test_a_file_that_is_written(self):
        self.make(2, long=False)
        place = self.tree / "log"
        ended = threading.Event()

        def write():
            with open(place, "wb", buffering=0) as file:
                while not ended.is_set():
                    file.write(b"x" * 65536)

        thread = threading.Thread(target=write)
        thread.start()
        while not place.exists() or place.stat().st_size < 16 << 20:
            time.sleep(0.01)
        found = self.bad("keep", "-r", "-f", "sha256", "--throttle", "40MB", self.tree)
        ended.set()
        thread.join()
        self.assertIn("log: it is being written", found)
        self.assertNotIn(b"log", [path for path, *_ in rows(self.catalogue)])

    def test_clocks_and_rounds(self):
        self.make(10)
        self.good("keep", "-r", self.tree)
        db = sqlite3.connect(self.catalogue)
        db.execute("UPDATE root SET verified = 1000")
        # As of a clock that was ahead.
        db.execute("UPDATE root SET verified = 99999999999 WHERE path = CAST('d1/e1/1' AS BLOB)")
        sign(db)
        db.close()
        os.utime(self.tree / "d3/e0/3", (2**33, 2**33))
        self.good("update", self.tree)
        self.good("status", self.tree)
        self.assertTrue(self.good("verify", "-r", "--sample", "0.000001%", self.tree).startswith(f"{self.tree}/d1/e1/1: OK"))
        # A long file goes on where the last run stopped.
        (self.tree / "very long").write_bytes(bytes(200 << 20))
        self.good("update", self.tree)
        db = sqlite3.connect(self.catalogue)
        db.execute("UPDATE root SET verified = 5 WHERE path = CAST('very long' AS BLOB)")
        sign(db)
        db.close()
        seen = "".join(self.good("verify", "-r", "--sample", "20%", self.tree) for _ in range(5))
        self.assertEqual(seen.count("very long: OK (50,331,648 of 209,715,200 bytes)"), 4, seen)
        self.assertIn("very long: OK (8,388,608 of 209,715,200 bytes)", seen)

    def test_links_and_mounts(self):
        self.make(5, long=False)
        (self.tree / "loop").symlink_to(".")
        (self.tree / "self").symlink_to("self")
        os.mkfifo(self.tree / "pipe")
        self.good("keep", "-r", self.tree)
        self.good("status", self.tree)
        (self.tree / "loop").unlink()
        (self.tree / "loop").symlink_to("d1")
        self.bad("status", self.tree, word="loop: CHANGED")
        for path in self.tree.rglob("*"):
            if path.is_file() and not path.is_symlink() and ".mksum" not in path.parts:
                path.unlink()
        self.assertIn("GONE", self.good("update", self.tree))
        for path in list(self.tree.iterdir()):
            if path.name != ".mksum":
                path.unlink() if not path.is_dir() or path.is_symlink() else shutil.rmtree(path)
        self.bad("update", self.tree, word="file system mounted")


unittest.main(verbosity=2)
