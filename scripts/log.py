#!/usr/bin/env python3
"""Tests mksum log with the programs of the Go ecosystem, and under what befalls a folder: kills, full disks, copies, old backups.

    log.py MKSUM PEER [--kills N]

PEER is the program of vectors/log, which scripts/need.sh builds. Needs strace, and root for a small file system. Servers listen
on 127.0.0.1 alone.
"""

import argparse
import contextlib
import fcntl
import functools
import hashlib
import http.server
import itertools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import servers

flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)
flags.add_argument("peer", type=os.path.abspath)
# The exit codes of what is refused: a file that is damaged, and a signature or history that is not as it must be.
DAMAGED, UNTRUSTED = 1, 3
EITHER = (DAMAGED, UNTRUSTED)
flags.add_argument("--kills", type=int, default=500, metavar="N", help="of append, at random moments and at system calls")

# Around the ends of tiles and of tiles of tiles.
SIZES = [0, 1, 2, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 1 << 20]
WIDTH = 256
ORIGIN = "example.com/log"


def run(*command, **more):
    """Runs a command, which ends within a minute."""
    return subprocess.run(list(map(str, command)), check=False, capture_output=True, timeout=60, **more)


def line(index):
    return b"entry %d of mksum" % index


def lines(entries):
    return b"".join(b"%s\n" % entry for entry in entries)


def bundles(entries):
    """Returns the bytes of the bundles of entries, one after the other."""
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries)


def name_of(index):
    """Returns the place of a tile or bundle on its level: groups of three digits."""
    groups = [f"{index % 1000:03}"]
    while index := index // 1000:
        groups.append(f"x{index % 1000:03}")
    return "/".join(reversed(groups))


def entries_of(folder, size):
    """Returns the entries of a log by its bundles alone."""
    entries = []
    for index in range(-(-size // WIDTH)):
        width = min(size - index * WIDTH, WIDTH)
        whole = folder / "tile" / "entries" / name_of(index)
        path = whole if whole.exists() else whole.with_name(f"{whole.name}.p") / str(width)
        content, taken = path.read_bytes(), 0
        while content and taken < width:
            length = int.from_bytes(content[:2], "big")
            entries.append(content[2 : 2 + length])
            content, taken = content[2 + length :], taken + 1
    return entries


class Static(servers.Silent, http.server.SimpleHTTPRequestHandler):
    """Python's server of static files."""


class Log(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.folder, self.checkpoints, self.published = self.place / "log", [], 0

    def mksum(self, *arguments, code=0, **more):
        done = run(CHOSEN.mksum, "log", *arguments, **more)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,), (arguments, done.stderr.decode()))
        return done

    def peer(self, *arguments, code=0):
        done = run(CHOSEN.peer, *arguments)
        self.assertEqual(done.returncode, code, (arguments, done.stderr.decode()))
        return done.stdout.decode().strip()

    def init(self, folder=None):
        """Makes a log and returns its key."""
        printed = self.mksum("init", folder or self.folder, "--origin", ORIGIN).stdout.decode()
        return re.search(rf"{ORIGIN}\+[0-9a-f]{{8}}\+[\w+/=]+", printed)[0]

    def append(self, entries, *arguments, folder=None, code=0):
        return self.mksum("append", folder or self.folder, *arguments, input=lines(entries), code=code)

    def size(self, folder=None):
        return int(((folder or self.folder) / "checkpoint").read_text().splitlines()[1])

    def sign(self, published=None):
        """Collects a checkpoint that was signed: the one that is published now."""
        path = self.place / f"signed.{len(self.checkpoints)}"
        shutil.copy(published or self.folder / "checkpoint", path)
        self.checkpoints.append(path)
        return path

    def verified(self, key, entries, place=None):
        """Verifies a log with both programs; it has these entries."""
        place = place or self.folder
        self.mksum("fsck", place, "--key", key)
        size, root, digest = self.peer("verify", place, key).split()
        self.assertEqual((int(size), digest), (len(entries), hashlib.sha256(bundles(entries)).hexdigest()))
        return root

    def policy(self, *lines):
        path = self.place / "policy"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def file(self, name, content):
        path = self.place / name
        path.write_bytes(content)
        return path

    def test_others_read_our_logs(self):
        key, entries = self.init(), []
        policy = self.policy(f"log {key}", "quorum none")
        for size in SIZES:
            more = [line(index) for index in range(len(entries), size)]
            entries += more
            if more:
                self.append(more)
            self.assertEqual(self.size(), size)
            self.verified(key, entries)
            self.sign()
            for index in {0, size // 2, size - 1} if size else ():
                proof = self.file("proof", self.mksum("prove", self.folder, str(index)).stdout)
                for content, code in ((entries[index], 0), (entries[index] + b"!", 1)):
                    held = self.file("entry", content)
                    self.peer("check", proof, policy, held, code=code)
                    self.mksum("check", proof, "--policy", policy, "--entry", held, code=code)
                # Both make the same file.
                self.assertEqual(proof.read_text().strip(), self.peer("prove", self.folder, index))
        self.peer("extends", self.folder, key, *self.checkpoints)
        for old in SIZES[1:-1]:
            ours = self.mksum("prove", self.folder, "--from", str(old)).stdout.decode().partition("\n\n")[0].splitlines()
            self.assertEqual(ours, [f"old {old}", *self.peer("consistency", self.folder, old, SIZES[-1]).split()])
        # What is fixed is noticed by both, wherever it is changed.
        chance = random.Random(5)
        paths = [path for path in self.folder.rglob("*") if path.is_file() and ".mksum" not in path.parts]
        for path in [self.folder / "checkpoint", *chance.sample(sorted(paths), 12)]:
            content = bytearray(path.read_bytes())
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            good = path.read_bytes()
            path.write_bytes(content)
            self.mksum("fsck", self.folder, "--key", key, code=EITHER)
            self.peer("verify", self.folder, key, code=1)
            path.write_bytes(good)
        self.verified(key, entries)

    def test_we_read_logs_of_others(self):
        origin = "example.org/other"
        key = self.peer("write", self.folder, origin, *SIZES)
        policy = self.policy(f"log {key}", "quorum none")
        mirror, last = self.place / "mirror", 0
        with servers.answering(functools.partial(Static, directory=self.folder)) as server:
            url = server.url
            for size in SIZES:
                shutil.copy(self.place / f"log.{size}", self.folder / "checkpoint")
                for source in (self.folder, url):
                    self.mksum("fsck", source, "--key", key)
                self.mksum("follow", url, mirror, "--key", key)
                self.assertEqual((mirror / "checkpoint").read_bytes(), (self.folder / "checkpoint").read_bytes())
                self.assertEqual(entries_of(mirror, size), entries_of(self.folder, size))
                self.peer("verify", mirror, key)
                for index in {0, size - 1} if size else ():
                    proofs = [self.mksum("prove", source, str(index)).stdout for source in (self.folder, url, mirror)]
                    proofs.append(self.peer("prove", url, index).encode() + b"\n")
                    self.assertEqual(len(set(proofs)), 1)
                    proof = self.file("proof", proofs[0])
                    held = self.file("entry", b"entry %d of another program" % index)
                    self.mksum("check", proof, "--key", key, "--entry", held)
                    self.peer("check", proof, policy, held)
                    self.mksum("check", proof, "--key", key, "--entry", self.file("entry", b"entry of nobody"), code=1)
                if last:
                    ours = self.mksum("prove", url, "--from", str(last)).stdout.decode().partition("\n\n")[0].splitlines()
                    self.assertEqual(ours[1:], self.peer("consistency", self.folder, last, size).split())
                last = size
            # Partial tiles may go once the full ones are there: older checkpoints are proven by these.
            for partial in self.folder.rglob("*.p"):
                if partial.with_name(partial.name.removesuffix(".p")).exists():
                    shutil.rmtree(partial)
            for size in (257, 65_537):
                shutil.copy(self.place / f"log.{size}", self.folder / "checkpoint")
                self.mksum("fsck", url, "--key", key)
                self.mksum("prove", url, str(size - 1))

    def test_entries_of_any_bytes(self):
        key = self.init()
        chance = random.Random(3)
        lengths = [1, 2, 255, 256, 65_534, 65_535]
        entries = [chance.randbytes(length).replace(b"\0", b"\n") for length in lengths]
        self.mksum("append", self.folder, "-z", input=b"".join(entry + b"\0" for entry in entries))
        self.verified(key, entries)
        # One that is too long is refused, and nothing of its input is logged.
        self.append([b"short", bytes(b"x" * 65_536)], code=1)
        self.verified(key, entries)
        self.append([b"one", b"two", b"one", entries[0]], "--unique")
        found = entries_of(self.folder, self.size())
        self.assertEqual(found[: len(entries) + 2], [*entries, b"one", b"two"])
        self.assertEqual(found.count(b"one"), 1)

    def test_policies_of_witnesses(self):
        key, names = self.init(), [f"witness.example/{index}" for index in range(3)]
        self.append([b"entry"])
        held = self.file("entry", b"entry")
        keys = [self.peer("witness", name, self.place / f"key.{index}") for index, name in enumerate(names)]
        known = [f"log {key}", *(f"witness w{index} {witness}" for index, witness in enumerate(keys))]
        quorums = {
            "none": (["quorum none"], lambda _: True),
            "one": (["quorum w1"], lambda signed: 1 in signed),
            "two of three": (["group g 2 w0 w1 w2", "quorum g"], lambda signed: len(signed) > 1),
            "all of any": (["group a any w0 w1", "group b all a w2", "quorum b"], lambda signed: 2 in signed and len(signed) > 1),
        }
        proof = self.mksum("prove", self.folder, "0").stdout.decode()
        for signed in itertools.chain.from_iterable(itertools.combinations(range(3), count) for count in range(4)):
            checkpoint = self.file("cosigned", (self.folder / "checkpoint").read_bytes())
            for index in signed:
                checkpoint.write_text(self.peer("cosign", names[index], self.place / f"key.{index}", checkpoint) + "\n")
            path = self.file("proof", (proof.partition("\n\n")[0] + "\n\n" + checkpoint.read_text()).encode())
            for lines, holds in quorums.values():
                policy = self.policy(*known, *lines)
                self.peer("check", path, policy, held, code=0 if holds(signed) else 1)
                self.mksum("check", path, "--policy", policy, "--entry", held, code=0 if holds(signed) else UNTRUSTED)
        # Any changed byte of a proof with all cosignatures is refused, except of lines that no policy asks for.
        self.refuses_changes(path, self.policy(*known, "group g all w0 w1 w2", "quorum g"), held, 40)

    def test_a_witness_on_the_network(self):
        self.asks_a_witness("witness.example")

    def test_a_witness_with_a_key_of_ml_dsa(self):
        self.refuses_changes(*self.asks_a_witness("mldsa.example"), self.file("entry", line(500)), 100)

    def refuses_changes(self, proof, policy, entry, count):
        """A proof is valid, and with a changed byte at any of some places it is not."""
        good, chance = proof.read_bytes(), random.Random(9)
        self.mksum("check", proof, "--policy", policy, "--entry", entry)
        for at in sorted(chance.sample(range(len(good)), count)):
            changed = good[:at] + bytes([good[at] ^ 1 << chance.randrange(8)]) + good[at + 1 :]
            done = run(CHOSEN.mksum, "log", "check", self.file("changed", changed), "--policy", policy, "--entry", entry)
            self.assertIn(done.returncode, EITHER, (at, changed, done.stderr))

    def asks_a_witness(self, name):
        """Has a witness cosign a log as it grows, and refuse others. Returns a proof of entry 500, and a policy."""
        key, secret = self.init(), self.place / "secret"
        witness = self.peer("witness", name, secret)
        policy = self.policy(f"log {key}", f"witness w {witness}", "quorum w")
        command = [CHOSEN.peer, "serve", name, secret, key]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            self.addCleanup(server.kill)
            url, backup = server.stdout.readline().strip(), self.place / "backup"

            def ask(folder, code=0, by=witness):
                return self.mksum("checkpoint", folder, "--witness", url, "--key", by, code=code)

            # The first time, after growth over ends of tiles, and of the same checkpoint again.
            for size in (0, 1, 256, 700, 700):
                if more := [line(index) for index in range(self.size(), size)]:
                    self.append(more)
                done = ask(self.folder)
                self.assertEqual(done.stdout, (self.folder / "checkpoint").read_bytes())
                self.assertEqual(len(done.stdout.split(b"\n\n")[1].splitlines()), 2)
                self.mksum("fsck", self.folder, "--policy", policy)
                if size == 256:
                    shutil.copytree(self.folder, backup)
            proof = self.file("proof", self.mksum("prove", self.folder, "500").stdout)
            # torchwood knows ML-DSA from its version 0.10 on, which needs Go 1.27.
            if not name.startswith("mldsa"):
                self.peer("check", proof, policy, self.file("entry", line(500)))
            # Another witness's key, a log that was rolled back, a fork, and a log that it does not know.
            before = (self.folder / "checkpoint").read_bytes()
            other = self.peer("witness", "other.example", self.place / "other")
            ask(self.folder, UNTRUSTED, other)
            self.assertEqual((self.folder / "checkpoint").read_bytes(), before)
            self.assertIn(b"rolled back", ask(backup, UNTRUSTED).stderr)
            self.append([b"%d" % index for index in range(500)], folder=backup)
            self.assertIn(b"fork", ask(backup, UNTRUSTED).stderr)
            self.mksum("init", self.place / "unknown", "--origin", "example.com/unknown")
            ask(self.place / "unknown", DAMAGED)
            server.kill()
        ask(self.folder, DAMAGED)
        return proof, policy

    def killed(self, command, entries, after):
        """Starts append, kills it after some seconds, and returns whether it had ended."""
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(lines(entries))
                process.stdin.close()
            time.sleep(after)
            process.kill()
            return process.wait(timeout=60) == 0

    def goes_on(self, key, entries, more, ended):
        """After a kill: the log has the entries, with the new ones or without them. Returns what it has."""
        # Between the two files, it is signed and not published yet: the next writer publishes it.
        signed = int((self.folder / ".mksum/log/signed").read_text().splitlines()[1])
        self.assertIn(signed, (len(entries), len(entries) + len(more)))
        # If that one is killed first, too, what is published is still the one before.
        self.assertIn(self.size(), (self.published, len(entries), signed))
        self.published = self.size()
        self.assertTrue(signed > len(entries) or not ended)
        for path in (self.folder / ".mksum/log/signed", self.folder / "checkpoint"):
            self.sign(path)
        self.mksum("fsck", self.folder, "--key", key)
        return entries + more[: signed - len(entries)]

    def test_killed_at_any_moment(self):
        key, entries, whole = self.init(), [], 0
        chance = random.Random(11)
        begin = time.monotonic()
        self.append([b"first"])
        entries.append(b"first")
        least = time.monotonic() - begin
        for turn in range(CHOSEN.kills):
            more = [b"%d of turn %d" % (index, turn) for index in range(chance.choice((1, 40, 300, 3000)))]
            ended = self.killed([CHOSEN.mksum, "log", "append", self.folder], more, chance.random() * 2 * least)
            before = len(entries)
            entries = self.goes_on(key, entries, more, ended)
            whole += len(entries) > before
            if turn % 10 == 9:
                self.append([])
                self.published = self.size()
                self.verified(key, entries)
        print(f"{CHOSEN.kills} killed, {whole} had appended", flush=True)
        self.append([b"last"])
        self.verified(key, [*entries, b"last"])
        self.peer("extends", self.folder, key, *self.checkpoints)

    def traced(self, inject, folder):
        """An append under strace, which has a system call fail or kill."""
        calls = "openat,write,fsync,fdatasync,syncfs,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat"
        injected = ["-e", f"trace={calls}", "-e", f"inject={calls}:{inject}"]
        return ["strace", "-f", "-qq", "-o", "/dev/null", *injected, CHOSEN.mksum, "log", "append", folder]

    def test_killed_at_system_calls(self):
        key, entries, kills, whole, ended = self.init(), [], 0, 0, 0
        # strace counts the calls of each thread. How many the first one makes differs, as others wait for the disk with it: the
        # last of its calls is behind when some runs in a row came to their end.
        for number in itertools.count(1):
            # Over the end of a bundle in each second turn.
            more = [b"%d of call %d" % (index, number) for index in range(200)]
            done = run(*self.traced(f"signal=KILL:when={number}", self.folder), input=lines(more))
            before = len(entries)
            entries = self.goes_on(key, entries, more, done.returncode == 0)
            if done.returncode == 0:
                ended += 1
                if ended == 8:
                    break
                continue
            self.assertIn(done.returncode, (-9, 137), done.stderr)
            kills, whole, ended = kills + 1, whole + (len(entries) > before), 0
        print(f"{kills} killed, each at another system call, {whole} had appended", flush=True)
        # Some calls are before the checkpoint is signed, and some after it.
        self.assertTrue(0 < whole < kills, (whole, kills))
        self.append([])
        self.verified(key, entries)
        self.peer("extends", self.folder, key, *self.checkpoints)

    def test_a_disk_that_fails(self):
        key, entries, failed = self.init(), [], 0
        for number in itertools.count(1):
            more = [b"%d of call %d" % (index, number) for index in range(100)]
            error = ("EIO", "ENOSPC")[number % 2]
            # From that call on, those that change a file fail.
            command = [str(part).replace("openat,", "") for part in self.traced(f"error={error}:when={number}", self.folder)]
            done = run(*command, input=lines(more))
            entries = self.goes_on(key, entries, more, done.returncode == 0)
            failed += done.returncode != 0
            if number > 40:
                break
        self.assertGreater(failed, 3)
        # What was not written is not signed, also where the system reports it only once.
        waits = ["-e", "trace=syncfs", "-e", "inject=syncfs:error=EIO"]
        before = (self.folder / "checkpoint").read_bytes()
        command = ["strace", "-f", "-qq", "-o", "/dev/null", *waits, CHOSEN.mksum, "log", "append", self.folder]
        # So many files that one wait is for all.
        done = run(*command, input=b"not written\n" * 20_000)
        self.assertEqual((done.returncode, (self.folder / "checkpoint").read_bytes()), (1, before), done.stderr)
        self.assertIn(b"Input/output error", done.stderr)
        self.append([b"last"])
        self.verified(key, [*entries, b"last"])
        self.peer("extends", self.folder, key, *self.checkpoints)

    def test_a_full_disk(self):
        disk = self.place / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
        try:
            folder = disk / "log"
            key, entries = self.init(folder), []
            for turn in range(20):
                more = [b"%d of turn %d, with something behind it to fill the disk" % (index, turn) for index in range(2000)]
                done = run(CHOSEN.mksum, "log", "append", folder, input=lines(more))
                if done.returncode:
                    break
                entries += more
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"No space left on device", done.stderr)
            self.verified(key, entries, folder)
            old = self.sign(folder / "checkpoint")
            subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
            self.append(more, folder=folder)
            self.verified(key, entries + more, folder)
            self.peer("extends", folder, key, old)
        finally:
            subprocess.run(["umount", disk], check=True)

    def is_held(self):
        """Whether a process has the log's lock."""
        with open(self.folder / ".mksum/log/lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def test_two_writers(self):
        key = self.init()
        entries = [[b"%d of writer %d" % (index, writer) for index in range(50)] for writer in range(2)]
        command = [CHOSEN.mksum, "log", "append", self.folder]
        # The first has the log while it waits for its input, and the second waits for the log.
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as first:
            deadline = time.monotonic() + 30
            while not self.is_held():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            more = self.file("entries", lines(entries[1])).open("rb")
            with more, subprocess.Popen(command, stdin=more, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as second:
                self.assertIn(b"waiting for another process", second.stderr.readline())
                self.assertEqual(self.size(), 0)
                first.stdin.write(lines(entries[0]))
                first.stdin.close()
                self.assertEqual((first.wait(timeout=60), second.wait(timeout=60)), (0, 0))
        self.verified(key, entries[0] + entries[1])
        # At once, in a loop: each appends all of its entries or says that the log is held.
        appended, lock = [*entries], threading.Lock()

        def write(writer):
            for turn in range(8):
                more = [b"%d.%d of writer %d" % (turn, index, writer) for index in range(30)]
                done = run(CHOSEN.mksum, "log", "append", self.folder, input=lines(more))
                with lock:
                    outcomes.append((done.returncode, done.stderr))
                    if done.returncode == 0:
                        appended.append(more)

        outcomes, writers = [], [threading.Thread(target=write, args=(writer,)) for writer in range(3)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(timeout=120)
        self.assertTrue(all(code == 0 or b"another process" in errors for code, errors in outcomes), outcomes)
        found = entries_of(self.folder, self.size())
        self.assertCountEqual(found, [entry for some in appended for entry in some])
        self.verified(key, found)

    def test_a_folder_that_is_copied_and_continued_twice(self):
        key, copy, mirror = self.init(), self.place / "copy", self.place / "mirror"
        old = [line(index) for index in range(300)]
        self.append(old)
        self.mksum("follow", self.folder, mirror, "--key", key)
        shutil.copytree(self.folder, copy)
        self.append([b"to the original"])
        self.append([b"to the copy", b"and more"], folder=copy)
        # Each is a good log alone, and they contradict each other.
        self.verified(key, [*old, b"to the original"])
        self.verified(key, [*old, b"to the copy", b"and more"], copy)
        self.peer("extends", copy, key, self.sign(), code=1)
        self.mksum("follow", self.folder, mirror, "--key", key)
        before = (mirror / "checkpoint").read_bytes()
        with servers.answering(functools.partial(Static, directory=copy)) as server:
            url = server.url
            for source in (copy, url):
                done = self.mksum("follow", source, mirror, "--key", key, code=UNTRUSTED)
                self.assertIn(b"fork", done.stderr)
        self.assertEqual((mirror / "checkpoint").read_bytes(), before)
        self.verified(key, [*old, b"to the original"], mirror)
        # The evidence convicts by the key alone: two signed checkpoints.
        (evidence,) = (mirror / ".mksum" / "log" / "evidence").iterdir()
        self.peer("extends", self.folder, key, evidence / "seen")
        self.peer("extends", copy, key, evidence / "shown")
        self.peer("extends", copy, key, evidence / "seen", code=1)

    def test_an_old_backup(self):
        key, backup, mirror = self.init(), self.place / "backup", self.place / "mirror"
        old, more = [line(index) for index in range(300)], [b"signed after the backup"]
        self.append(old)
        shutil.copytree(self.folder, backup)
        self.append(more)
        self.mksum("follow", self.folder, mirror, "--key", key)
        good = self.place / "good"
        self.folder.rename(good)
        # What is served is old, and what was signed is known.
        shutil.copytree(backup, self.folder)
        shutil.copy(good / ".mksum/log/signed", self.folder / ".mksum/log/signed")
        done = self.append([b"another"], code=1)
        self.assertRegex(done.stderr.decode(), "backup")
        self.assertEqual((self.folder / "checkpoint").read_bytes(), (backup / "checkpoint").read_bytes())
        # The way out: the newer files, from a mirror.
        for path in mirror.rglob("*"):
            if path.is_file() and ".mksum" not in path.parts:
                to = self.folder / path.relative_to(mirror)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, to)
        self.append([b"another"])
        self.verified(key, [*old, *more, b"another"])
        # All of it is old: a mirror sees the rollback, and the fork after it.
        shutil.rmtree(self.folder)
        shutil.copytree(backup, self.folder)
        done = self.mksum("follow", self.folder, mirror, "--key", key, code=UNTRUSTED)
        self.assertIn(b"rollback", done.stderr)
        self.append([b"another", b"and more"])
        done = self.mksum("follow", self.folder, mirror, "--key", key, code=UNTRUSTED)
        self.assertIn(b"fork", done.stderr)

    def test_times_do_not_matter(self):
        key = self.init()
        self.append([b"one"])
        for moment in (0, 4_000_000_000):
            for path in self.folder.rglob("*"):
                os.utime(path, (moment, moment))
            self.append([b"%d" % moment])
        self.verified(key, [b"one", b"0", b"4000000000"])

    def test_secrets_are_not_for_others(self):
        self.init()
        state = self.folder / ".mksum" / "log"
        self.assertEqual((state / "key").stat().st_mode & 0o777, 0o600)
        (state / "key").chmod(0o644)
        self.assertIn(b"others can read", self.append([b"one"], code=1).stderr)


if __name__ == "__main__":
    CHOSEN, rest = flags.parse_known_args()
    with contextlib.suppress(KeyboardInterrupt):
        unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
