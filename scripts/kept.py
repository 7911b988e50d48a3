#!/usr/bin/env python3
"""Tests kept trees under real conditions: killed processes, full disks, and other programs with trees of their own.

    kept.py MKSUM

Needs root for a small file system, and fsverity, veritysetup and bao. If one of these is missing, its tests fail.
"""
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

MKSUM = os.path.abspath(sys.argv.pop(1))
KIB, MIB = 1 << 10, 1 << 20
RUNS = 200
BUSY = ("another process is writing to it", "changed while it was being repaired", "changed while it was read")


def run(*arguments, **more):
    return subprocess.run([MKSUM, *map(str, arguments)], check=False, capture_output=True, text=True, **more)


def program(*arguments):
    return subprocess.run([*map(str, arguments)], check=True, capture_output=True, text=True)


def root(path, *arguments):
    done = run("--untagged", *arguments, path)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[0]


def stored_root(outboard):
    """Returns the root in a finished outboard (spec/outboard.md)."""
    bytes = outboard.read_bytes()
    size, count = struct.unpack_from("<I", bytes, 12)[0], struct.unpack_from("<Q", bytes, 32)[0]
    seals = [bytes[at : at + 72] for at in (768, 896)]
    assert len(bytes) == 1024 + count * size, "the outboard lacks digests"
    assert seals[0] == seals[1] and struct.unpack_from("<Q", seals[0])[0] == count, "the outboard is not finished"
    return seals[0][8 : 8 + size].hex()


class Kept(unittest.TestCase):
    def setUp(self):
        # Next to the build, which is on a disk.
        place = tempfile.TemporaryDirectory(dir=os.path.dirname(MKSUM))
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.file = self.folder / "file"
        self.file.write_bytes(os.urandom(24 * MIB + 77))
        self.outboard = self.folder / "file.mkt"
        print(file=sys.stderr)

    def killed(self, arguments, at_most):
        """Kills a run after a random time. Returns whether it ended before, and its messages."""
        command = [MKSUM, *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            process.wait(random.uniform(0, at_most))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        self.assertIn(process.returncode, (0, -signal.SIGKILL), errors)
        return process.returncode == 0, errors

    def test_a_killed_run_leaves_no_wrong_outboard_and_the_next_resumes(self):
        options = ["-f", "rfc6962:sha256:4KiB", "--keep-leaf", "4KiB", "--throttle", "40MB", "--checkpoint", "5ms"]
        keep = ["keep", *options, self.file]
        right, ended = root(self.file, "-f", "rfc6962:sha256:4KiB"), 0
        for _ in range(RUNS):
            done, errors = self.killed(keep, 0.2)
            self.assertTrue(self.outboard.exists() or not done)
            # At this rate, no single run can read the whole file.
            self.assertTrue("resumed at byte" in errors or not done, errors)
            # A run may also be killed after it finished the outboard.
            if self.outboard.exists():
                ended += 1
                self.assertEqual(stored_root(self.outboard), right)
                self.outboard.unlink()
        self.assertGreater(ended, 1, "killed runs finish outboards between them")
        print(f"{RUNS} runs, {ended} outboards finished", file=sys.stderr)

    def test_a_killed_update_leaves_the_old_outboard_or_the_new(self):
        spec = ["-f", "rfc6962:sha256:4KiB"]
        run("keep", *spec, "--keep-leaf", "4KiB", self.file)
        before, kills = root(self.file, *spec), 0
        for turn in range(RUNS // 4):
            with open(self.file, "r+b") as file:
                if turn % 2:
                    file.seek(0, os.SEEK_END)
                    file.write(os.urandom(random.randrange(1, MIB)))
                else:
                    file.seek(4 * MIB)
                    file.write(os.urandom(2 * MIB))
            ranges = [] if turn % 2 else ["--range", f"{4 * MIB}..{6 * MIB}"]
            now = root(self.file, *spec)
            done, _ = self.killed(["keep", "--update", "--throttle", "40MB", *ranges, self.file], 0.08)
            kills += not done
            self.assertIn(stored_root(self.outboard), (now,) if done else (before, now))
            again = run("keep", "--update", *ranges, self.file)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(stored_root(self.outboard), now)
            self.assertEqual(run("verify", self.file).returncode, 0)
            before = now
        self.assertGreater(kills, RUNS // 20)

    def test_an_unfinished_outboard_of_another_file_is_not_resumed(self):
        keep = ["keep", "--throttle", "20MB", "--checkpoint", "5ms", self.file]
        while True:
            done, _ = self.killed(keep, 0.5)
            part = self.folder / "file.mkt.part"
            if not done and part.exists() and part.stat().st_size > 1024:
                break
            self.outboard.unlink(missing_ok=True)
        with open(self.file, "r+b") as file:
            file.write(b"other")
        done = run("keep", self.file)
        self.assertNotIn("resumed", done.stderr)
        self.assertEqual(stored_root(self.outboard), root(self.file))

    def test_a_full_disk_is_an_error_and_the_old_outboard_stays(self):
        full = self.folder / "full"
        full.mkdir()
        program("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", full)
        try:
            outboard = full / "file.mkt"
            keep = ["keep", "-f", "rfc6962:sha256:1KiB", "--keep-leaf", "1KiB", "--checkpoint", "1ms", "-o", outboard, self.file]
            right = root(self.file, "-f", "rfc6962:sha256:1KiB")
            failed = run(*keep)
            self.assertEqual(failed.returncode, 1)
            self.assertIn("No space left on device", failed.stderr)
            self.assertFalse(outboard.exists())
            self.assertEqual(failed.stdout, "", "no root after an error")
            program("mount", "-o", "remount,size=8m", full)
            again = run(*keep)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(stored_root(outboard), right)
            # An update without enough space leaves the outboard unchanged.
            with open(self.file, "ab") as file:
                file.write(b"more")
            (full / "ballast").write_bytes(bytes(os.statvfs(full).f_bavail * os.statvfs(full).f_frsize - 64 * KIB))
            failed = run("keep", "--update", "-o", outboard, self.file)
            self.assertEqual(failed.returncode, 1, failed.stdout)
            self.assertIn("No space left on device", failed.stderr)
            self.assertEqual(stored_root(outboard), right)
        finally:
            program("umount", full)

    def tree(self, count, longest):
        """Creates a directory of files. Returns it, and the root of each file."""
        folder = self.folder / "tree"
        for number in range(count):
            path = folder / f"{number % 7}" / f"f{number}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(os.urandom(random.randrange(longest)))
        lines = run("-r", "--untagged", folder).stdout.splitlines()
        return folder, {pathlib.Path(line[66:]): line[:64] for line in lines}

    def test_a_killed_keep_of_a_directory_leaves_no_wrong_outboard_and_nothing_else(self):
        folder, roots = self.tree(60, 300_000)
        ended = resumed = 0
        for _ in range(RUNS):
            done, errors = self.killed(["keep", "-r", "--beside", "--throttle", "40MB", "--checkpoint", "5ms", folder], 0.5)
            ended, resumed = ended + done, resumed + ("resumed" in errors)
            for path in folder.rglob("f*"):
                name = path.name.split(".", 1)
                if len(name) == 1:
                    continue
                self.assertIn(name[1], ("mkt", "mkt.part"), "nothing else is left")
                if name[1] == "mkt":
                    self.assertEqual(stored_root(path), roots[path.with_suffix("")])
                    # Something is left to do in the next run.
                    if random.random() < 0.2:
                        path.unlink()
        self.assertEqual(run("keep", "-r", "--beside", folder).returncode, 0)
        self.assertEqual(sum(1 for _ in folder.rglob("*.mkt")), len(roots))
        self.assertEqual(list(folder.rglob("*.part")), [])
        print(f"{RUNS} runs of keep -r, {ended} ended, {resumed} resumed", file=sys.stderr)

    def test_processes_side_by_side_write_whole_outboards(self):
        """Several keep or repair a directory at once: one writes a file, and the others say that they do not."""
        folder, roots = self.tree(30, 300_000)
        copy, refused = self.folder / "copy", 0
        program("cp", "-a", folder, copy)

        def several(*commands):
            nonlocal refused
            pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
            processes = [subprocess.Popen([MKSUM, *map(str, command)], **pipes) for command in commands for _ in range(2)]
            for process in processes:
                _, errors = process.communicate()
                # What another one repairs has changed, or is changing, since it was judged.
                lines = [line for line in errors.splitlines() if "not read (same size" not in line]
                busy = sum(any(words in line for words in BUSY) for line in lines)
                self.assertEqual((process.returncode, busy), (1, len(lines)) if busy else (0, 0), errors)
                refused += busy

        for _ in range(RUNS // 10):
            keep = ["keep", "-r", "--beside", "--checkpoint", "1ms", folder]
            several(keep, [*keep, "--quick"])
            self.assertEqual(run(*keep).returncode, 0)
            for path, root in roots.items():
                self.assertEqual(stored_root(path.with_name(f"{path.name}.mkt")), root)
            for path in random.sample(sorted(path for path in roots if path.stat().st_size), 9):
                with open(path, "r+b") as file:
                    first = file.read(1)[0]
                    file.seek(0)
                    file.write(bytes([first ^ 1]))
            repair = ["repair", "-r", folder, "--from", copy]
            several(repair, repair)
            again = run(*repair)
            self.assertEqual(again.returncode, 0, again.stderr)
            for path in roots:
                self.assertEqual(path.read_bytes(), (copy / path.relative_to(folder)).read_bytes())
            self.assertEqual({path.name.split(".", 1)[1] for path in folder.rglob("f*.*")}, {"mkt"})
            for path in folder.rglob("*.mkt"):
                path.unlink()
        print(f"{RUNS // 10 * 8} processes, {refused} files were another one's", file=sys.stderr)

    def test_a_killed_verification_forgets_nothing_and_calls_no_damage_verified(self):
        folder, roots = self.tree(8, 4 * MIB)
        self.assertEqual(run("keep", "-r", "--beside", folder).returncode, 0)
        damaged = max(roots, key=lambda path: path.stat().st_size)
        with open(damaged, "r+b") as file:
            file.seek(damaged.stat().st_size // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))
        part_of_damage = None
        before, kills, steps = {}, 0, 0
        for _ in range(RUNS):
            command = [MKSUM, "verify", "-r", "--budget", "1h", "--throttle", "200MB", str(folder)]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(random.uniform(0, 0.12))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                kills += 1
            # Damage is found in each run that ends.
            self.assertIn(process.wait(), (1, -signal.SIGKILL))
            for path in roots:
                record = path.with_name(path.name + ".mkt.checked")
                if not record.exists():
                    continue
                lines = record.read_text().splitlines()
                self.assertEqual(lines[0], "mksum verified 1")
                part = int(lines[2].split()[-1])
                times = [int(line) for line in lines[3:]]
                self.assertEqual(len(times), -(-path.stat().st_size // part), "the record is whole")
                old = before.get(path, [0] * len(times))
                self.assertTrue(all(new >= then for new, then in zip(times, old, strict=True)), "no time is lost")
                steps += times != old
                before[path] = times
                if path == damaged:
                    part_of_damage = path.stat().st_size // 2 // part
                    self.assertEqual(times[part_of_damage], 0, "a damaged part is never verified")
        others = [path.name for path in folder.rglob("f*") if path.name.split(".", 1)[1:] not in ([], ["mkt"], ["mkt.checked"])]
        self.assertEqual(others, [])
        self.assertIsNotNone(part_of_damage)
        self.assertGreater(kills, RUNS // 4)
        print(f"{RUNS} runs of verify --budget, {kills} killed, {steps} records written", file=sys.stderr)

    def test_a_killed_repair_of_a_directory_makes_no_byte_worse(self):
        leaf = 64 * KIB
        folder, roots = self.tree(12, 2 * MIB)
        copy = self.folder / "copy"
        program("cp", "-a", folder, copy)
        self.assertEqual(run("keep", "-r", "--beside", folder).returncode, 0)
        good = {path: path.read_bytes() for path in roots}
        kills = repaired = 0
        for _ in range(RUNS):
            before = {}
            for path in random.sample(sorted(path for path in good if good[path]), 4):
                bytes = bytearray(path.read_bytes())
                for _ in range(6):
                    bytes[random.randrange(len(bytes))] ^= 1 << random.randrange(8)
                path.write_bytes(bytes)
            before = {path: path.read_bytes() for path in good}
            done, _ = self.killed(["repair", "-r", folder, "--from", copy, "--throttle", "300MB"], 0.15)
            kills += not done
            for path, old in before.items():
                new, right = path.read_bytes(), good[path]
                self.assertTrue(new == right or not done)
                for at in range(0, len(right), leaf):
                    now, then, best = (bytes[at : at + leaf] for bytes in (new, old, right))
                    if now not in (then, best):
                        # A leaf may be written in part: then each byte is the old or the right one.
                        each = zip(now, then, best, strict=True)
                        self.assertTrue(all(byte in (old, right) for byte, old, right in each), f"{path}: leaf at {at}")
                    repaired += now != then
        done = run("repair", "-r", folder, "--from", copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(all(path.read_bytes() == right for path, right in good.items()))
        left = {path.name.split(".", 1)[1] for path in folder.rglob("f*.*")}
        self.assertEqual(left, {"mkt"})
        self.assertGreater(kills, RUNS // 4)
        print(f"{RUNS} runs of repair -r, {kills} killed, {repaired} leaves repaired", file=sys.stderr)

    def test_a_killed_foreign_tree_is_resumed(self):
        keep = ["keep", "--foreign", "-f", "fsverity", "--throttle", "40MB", "--checkpoint", "5ms", self.file]
        expected, ended = root(self.file, "-f", "fsverity"), 0
        tree = self.folder / "file.fsverity"
        for _ in range(RUNS // 4):
            done, errors = self.killed(keep, 0.25)
            self.assertEqual(tree.exists(), done or tree.exists())
            if tree.exists():
                ended += 1
                self.assertTrue("resumed at byte" in errors or not done, errors)
                verified = run("verify", "--foreign", "fsverity", "--root", expected, self.file)
                self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
                tree.unlink()
        self.assertGreater(ended, 2)

    def test_no_changed_part_gives_a_wrong_root(self):
        self.file.write_bytes(os.urandom(3 * MIB + 5))
        options = ["-f", "rfc6962:sha256:64KiB", "--keep-leaf", "64KiB"]
        part, right = self.folder / "file.mkt.part", root(self.file)
        for _ in range(RUNS):
            self.outboard.unlink(missing_ok=True)
            self.killed(["keep", *options, "--throttle", "20MB", "--checkpoint", "5ms", self.file], 0.3)
            begun = part.read_bytes() if part.exists() else b""
            if len(begun) > 1024 and "resumed" in run("keep", *options, self.file).stderr:
                break
        else:
            self.fail("no killed run was resumed")
        self.outboard.unlink()
        refused, resumed = 0, 0
        changes = [(at, None) for at in range(len(begun))] + [(None, length) for length in range(len(begun))]
        for at, length in random.sample(changes, 600):
            changed = bytearray(begun[:length])
            if at is not None:
                changed[at] ^= 1 << random.randrange(8)
            part.write_bytes(changed)
            done = run("keep", *options, self.file)
            if done.returncode:
                # It does not begin as an outboard any more: then it may be anyone's.
                self.assertIn("not an outboard", done.stderr)
                refused += 1
                continue
            resumed += "resumed" in done.stderr
            self.assertEqual(stored_root(self.outboard), right, (at, length))
            self.outboard.unlink()
        part.unlink(missing_ok=True)
        self.assertGreater(resumed, 10)
        print(f"600 changed parts: {refused} refused, {resumed} resumed", file=sys.stderr)

    def test_a_directory_that_cannot_be_written(self):
        place = self.folder / "read-only"
        place.mkdir()
        program("mount", "-t", "tmpfs", "tmpfs", place)
        try:
            file = place / "f"
            file.write_bytes(os.urandom(3 * MIB))
            other = place / "g"
            other.write_bytes(b"no outboard yet")
            self.assertEqual(run("keep", file).returncode, 0)
            program("mount", "-o", "remount,ro", place)
            self.assertEqual(run("verify", file).returncode, 0)
            failed = run("keep", other)
            self.assertEqual((failed.returncode, failed.stdout), (1, ""))
            self.assertIn("g.mkt", failed.stderr)
            self.assertIn("Read-only file system", failed.stderr)
            elsewhere = run("keep", "-o", self.outboard, other)
            self.assertEqual(elsewhere.returncode, 0, elsewhere.stderr)
            # The bytes are verified all the same; what cannot be recorded is an error.
            budget = run("verify", "--budget", "1h", file)
            self.assertIn("f: OK", budget.stdout)
            self.assertEqual(budget.returncode, 1)
            self.assertIn("Read-only file system", budget.stderr)
        finally:
            program("umount", place)

    def test_many_outboards_are_flushed_together(self):
        folder, count = self.folder / "many", 1000
        folder.mkdir()
        for number in range(count):
            (folder / f"f{number}").write_bytes(os.urandom(100))
        begin = time.monotonic()
        self.assertEqual(run("keep", "-r", "--beside", folder).returncode, 0)
        print(f"{count} outboards in {time.monotonic() - begin:.2f} s", file=sys.stderr)

    def test_foreign_trees_equal_those_of_bao_fsverity_and_veritysetup(self):
        file, theirs, ours, compared = self.folder / "f", self.folder / "theirs", self.folder / "ours", 0

        def same(spec, *more):
            nonlocal compared
            ours.unlink(missing_ok=True)
            done = run("keep", "--foreign", "-f", spec, *more, "-o", ours, file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(ours.read_bytes(), theirs.read_bytes(), f"{spec} of {file.stat().st_size} bytes")
            verified = run("verify", "--foreign", spec, "-o", theirs, file)
            # The tree of a single leaf holds no digest to compare with.
            alone = file.stat().st_size <= (1024 if spec == "blake3" else int(spec.split(":")[2]))
            self.assertEqual(verified.returncode, int(alone), verified.stdout + verified.stderr)
            given = run("verify", "--foreign", spec, "--root", root(file, "-f", spec), "-o", theirs, file)
            self.assertEqual(given.returncode, 0, given.stdout + given.stderr)
            compared += 1

        for length in (1, 1024, 1025, 3000, 4096, 4097, 100_000, 128 * 4096, 128 * 4096 + 1, 129 * 4096, 128 * 128 * 1024 + 5):
            file.write_bytes(os.urandom(length))
            theirs.unlink(missing_ok=True)
            program("bao", "encode", f"--outboard={theirs}", file)
            same("blake3")
            for hash in ("sha256", "sha512"):
                for block in (1024, 4096):
                    for salt in ("", "0123ab"):
                        options = [f"--hash-alg={hash}", f"--block-size={block}"] + ([f"--salt={salt}"] if salt else [])
                        program("fsverity", "digest", *options, f"--out-merkle-tree={theirs}", file)
                        same(f"fsverity:{hash}:{block}" + (f":salt={salt}" if salt else ""))
            uuid = "12345678-9abc-def0-1234-56789abcdef0"
            file.write_bytes(os.urandom(length // 4096 * 4096 or 4096))
            for hash in ("sha1", "sha256", "sha512"):
                for block in (512, 4096):
                    for salt in ("-", "0123ab"):
                        theirs.unlink(missing_ok=True)
                        options = [f"--hash={hash}", f"--data-block-size={block}", f"--hash-block-size={block}"]
                        program("veritysetup", "format", *options, f"--salt={salt}", f"--uuid={uuid}", file, theirs)
                        same(f"dmverity:{hash}:{block}" + (f":salt={salt}" if salt != "-" else ""), "--uuid", uuid)
        # A flipped byte in a foreign tree is reported as damage to the tree, not to the file.
        program("bao", "encode", f"--outboard={theirs}", file)
        bytes = bytearray(theirs.read_bytes())
        bytes[8 + 64 * 100] ^= 1
        theirs.write_bytes(bytes)
        found = run("verify", "--foreign", "blake3", "-o", theirs, "--json", file)
        self.assertEqual(found.returncode, 1)
        self.assertTrue(found.stdout.count('"kind":"outboard"') and not found.stdout.count('"kind":"damaged"'), found.stdout)
        print(f"{compared} trees are equal", file=sys.stderr)


if __name__ == "__main__":
    random.seed(time.time())
    unittest.main()
