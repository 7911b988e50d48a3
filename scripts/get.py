#!/usr/bin/env python3
"""Tests mksum get with servers on this machine: mirrors that are damaged, slow, lying or gone, and downloads that are killed.

    get.py MKSUM [--kills N] [--mutations N]

Everything listens on 127.0.0.1 alone. Bytes are counted at the servers.
"""
import argparse
import binascii
import contextlib
import filecmp
import hashlib
import http.server
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import servers

MIB, LEAF = 1 << 20, 64 << 10
flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)
flags.add_argument("--kills", type=int, default=30, metavar="N")
flags.add_argument("--mutations", type=int, default=300, metavar="N", help="of outboards, roots and contents: a multiple of 6")

# Nothing of the environment reaches a real store; a request that fails is made twice.
CLEAN = {name: value for name, value in os.environ.items() if not re.match("(AWS|GOOGLE|AZURE)_|MKSUM_RED|.*_PROXY$", name, re.I)}
CLEAN |= {"NETRC": os.devnull, "AWS_MAX_ATTEMPTS": "2"}


class Mirror:
    """A web server over a dict of files. A function of the handler, the content and the range may answer in its place, and one
    of a request's headers and its content adds headers to whole responses."""

    def __init__(self, files, fault=None, headers=lambda asked, content: {}):
        self.files, self.fault, self.headers = files, fault, headers
        self.sent, self.requests, self.lock = 0, [], threading.Lock()

    def ranges(self, name):
        return [found for path, found in self.requests if path == f"/{name}" and found]

    def __enter__(self):
        mirror = self

        class Handler(servers.Silent, http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                self.do_GET()

            def send(self, status, body, **headers):
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                if self.command == "GET":
                    with mirror.lock:
                        mirror.sent += len(body)
                    self.wfile.write(body)

            def part(self, content, start, end):
                self.send(206, content[start:end], ETag='"one"', Content_Range=f"bytes {start}-{end - 1}/{len(content)}")

            def do_GET(self):
                content = mirror.files.get(self.path.lstrip("/"))
                asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                if content is None:
                    return self.send(404, b"")
                if not asked:
                    with mirror.lock:
                        mirror.requests.append((self.path, None))
                    return self.send(200, content, ETag='"one"', **mirror.headers(self.headers, content))
                start, end = int(asked[1]), min(int(asked[2] or len(content)) + 1, len(content))
                with mirror.lock:
                    mirror.requests.append((self.path, (start, end)))
                if not (mirror.fault and mirror.fault(self, content, start, end)):
                    self.part(content, start, end)

        self.answering = servers.answering(Handler)
        self.server = self.answering.__enter__()
        self.address = self.server.url
        return self

    def __exit__(self, *failure):
        self.answering.__exit__(*failure)


def flipped(part):
    return bytes([part[0] ^ 1]) + part[1:]


class Get(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        folder = pathlib.Path(cls.place.name)
        cls.chance = random.Random(7)
        cls.good = cls.chance.randbytes(12 * MIB + 5)
        (folder / "good").write_bytes(cls.good)
        kept = subprocess.run([CHOSEN.mksum, "keep", "good"], cwd=folder, check=True, capture_output=True, text=True)
        cls.line = kept.stdout.strip()
        cls.root = cls.line.rpartition(" ")[2]
        cls.tree = (folder / "good.mkt").read_bytes()
        cls.files = {"good": cls.good, "good.mkt": cls.tree}
        cls.sha256 = hashlib.sha256(cls.good).hexdigest()

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.out = self.folder / "out"

    def mirror(self, files=None, fault=None, **more):
        return self.enterContext(Mirror(files or self.files, fault, **more))

    def get(self, *arguments, root=None, out=None, **more):
        trusted = ["--root", root or self.root] if root != "" else []
        command = [CHOSEN.mksum, "get", *map(str, arguments), *trusted, "-o", out or self.out]
        with tempfile.TemporaryDirectory() as temporary:
            env = CLEAN | {"TMPDIR": temporary}
            done = subprocess.run(command, check=False, capture_output=True, env=env, timeout=120, **more)
            self.assertEqual(os.listdir(temporary), [])
        return done

    def fetched(self, *arguments, **more):
        done = self.get(*arguments, "--json", **more)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(self.out.read_bytes(), self.good)
        self.assertEqual(os.listdir(self.folder), ["out"])
        return json.loads(done.stdout)

    def refused(self, done, words, code=1):
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertIn(words, done.stderr.decode())
        self.assertFalse(self.out.exists())

    def test_a_root_is_anything_that_mksum_prints(self):
        one = self.mirror()
        url = f"{one.address}/good"
        for root in (self.root, f"rfc6962:sha256:64KiB:{self.root}", self.line, f"{self.root}  some name", self.root.upper()):
            one.sent = 0
            found = self.fetched(url, root=root)
            self.assertEqual((found["state"], found["format"]), ("fetched", "rfc6962:sha256:64KiB"))
            self.assertEqual(found["length"], len(self.good))
            self.assertEqual((found["root"], found["fetched"], found["ranges"]), (self.root, len(self.good), []))
            self.assertEqual(one.sent, len(self.good) + len(self.tree))
            self.out.unlink()
        starts = [start for start, _ in one.ranges("good")]
        self.assertTrue(all(start % LEAF == 0 for start in starts))
        for root in (self.sha256, f"sha256:{self.sha256}", f"SHA256 (x) = {self.sha256}", f"{self.sha256}  x"):
            self.assertEqual(self.fetched(url, root=root)["format"], "sha256")
            self.out.unlink()
        self.refused(self.get(url, root="nonsense"), "--root", 2)
        done = subprocess.run([CHOSEN.mksum, "get", url, "-o", self.out], check=False, capture_output=True, env=CLEAN)
        self.refused(done, "--root is missing, the server states no sum of the file", 2)

    def test_without_a_root_the_server_may_state_one(self):
        base64 = binascii.b2a_base64(hashlib.sha256(self.good).digest(), newline=False).decode()
        empty = binascii.b2a_base64(hashlib.sha256(b"").digest(), newline=False).decode()
        md5 = binascii.b2a_base64(hashlib.md5(self.good).digest(), newline=False).decode()
        digest = f"sha-256=:{base64}:"
        files, words = {"good": self.good}, "the root is the server's own ("

        def stating(content=self.good, **headers):
            return self.mirror({"good": content}, headers=lambda asked, content: headers)

        formats = {
            "sha256": [{"Repr_Digest": digest}, {"Repr_Digest": f"unixsum=:AAA=:, md5=:{md5}:;a=1, {digest}"},
                       {"Content_Digest": digest}, {"Digest": f"MD5={md5},SHA-256={base64}"},
                       {"Repr_Digest": digest, "Content_Digest": f"sha-256=:{empty}:"},
                       {"Repr_Digest": "sha-256=x", "Digest": f"sha-256={base64}"}],
            "md5": [{"Repr_Digest": f"md5=:{md5}:"}, {"Content_MD5": md5}],
        }
        for name, all_headers in formats.items():
            for headers in all_headers:
                one = stating(**headers)
                found = self.fetched(f"{one.address}/good", root="")
                self.assertEqual((found["state"], found["format"], found["trusted"]), ("fetched", name, "server"), headers)
                self.assertEqual(one.sent, len(self.good))
                done = self.get(f"{one.address}/good", root="", out="-")
                self.assertEqual((done.returncode, done.stdout == self.good), (0, True))
                self.assertIn(words, done.stderr.decode())
                self.out.unlink()

        # One that computes it only where it is wanted.
        def where_wanted(asked, _):
            return {"Repr_Digest": digest} if "sha-256" in asked.get("Want-Repr-Digest", "") else {}

        wanted = self.mirror(files, headers=where_wanted)
        self.assertEqual(self.fetched(f"{wanted.address}/good", root="")["trusted"], "server")
        self.assertEqual(self.fetched(f"{wanted.address}/good")["trusted"], "given")
        self.out.unlink()
        # A mirror that states nothing is asked for bytes too; with a root, what a server states does not count.
        silent = self.mirror(files)
        damaged = stating(flipped(self.good), Repr_Digest=digest)
        done = self.get(f"{silent.address}/good", f"{damaged.address}/good", root="")
        self.assertEqual((done.returncode, self.out.read_bytes() == self.good), (0, True), done.stderr.decode())
        self.out.unlink()
        liar = stating(Repr_Digest=f"sha-256=:{empty}:")
        self.assertEqual(self.fetched(f"{liar.address}/good")["trusted"], "given")
        self.out.unlink()

        # Damage on the way, or another file: nothing gets the name.
        for one in (damaged, liar):
            self.refused(self.get(f"{one.address}/good", root=""), "the root differs:\n  expected ")
            (self.folder / "out.part").unlink(missing_ok=True)
        done = self.get(f"{liar.address}/good", f"{wanted.address}/good", root="")
        self.refused(done, "the mirrors have different files: its repr-digest is sha-256=")
        # What no digest is known from is said, and nothing is fetched.
        for headers in ({}, {"Repr_Digest": "sha-256"}, {"Repr_Digest": f"md6=:{md5}:"}, {"Content_Digest": f"sha-256=:{empty}:"},
                        {"Digest": "unixsum=5"}):
            one = stating(**headers)
            done = self.get(f"{one.address}/good", root="")
            self.refused(done, "--root is missing, the server states no sum of the file, and nothing is fetched", 2)
            is_named = b"no digest of the file is known from it" in done.stderr
            self.assertEqual((is_named, one.sent), (bool(headers), 0), done.stderr)
        self.refused(self.get(f"{wanted.address}/nosuch", root=""), "there is no such object")
        self.refused(self.get("http://127.0.0.1:1/good", root=""), "mksum: http://127.0.0.1:1/good: ")
        self.refused(self.get(f"{wanted.address}/good", "-f", "sha512", root=""), "states no sum", 2)
        self.assertEqual(os.listdir(self.folder), [])

    def test_without_a_root_a_link_may_name_a_metalink(self):
        two = self.mirror({"good": self.good[:8 * MIB] + flipped(self.good[8 * MIB:]), "right": self.good})
        pieces = [self.good[at:at + MIB] for at in range(0, len(self.good), MIB)]
        pieces = "".join(f"<hash>{hashlib.sha256(piece).hexdigest()}</hash>" for piece in pieces)
        metalink = (f'<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="good"><size>{len(self.good)}</size>'
                    f'<hash type="sha-256">{self.sha256}</hash><pieces length="{MIB}" type="sha-256">{pieces}</pieces>'
                    f"<url>{two.address}/good</url></file></metalink>").encode()
        link = '<good.meta4>; rel=describedby; type="application/metalink4+xml"'
        damaged = self.good[:5 * MIB] + flipped(self.good[5 * MIB:])
        other = binascii.b2a_base64(hashlib.sha256(damaged).digest(), newline=False).decode()
        right = binascii.b2a_base64(hashlib.sha256(self.good).digest(), newline=False).decode()

        def linking(found=metalink, **headers):
            files = {"good": damaged, "good.meta4": found}
            return self.mirror(files, headers=lambda asked, content: headers if content is damaged else {})

        # Each has a wrong piece, which comes from the other one: whether it was asked for it first is chance.
        one = linking(Link=link)
        found = self.fetched(f"{one.address}/good", root="")
        self.assertEqual((found["trusted"], found["root"]), ("server", self.sha256))
        wrong = {f"{one.address}/good": [5 * MIB, 6 * MIB], f"{two.address}/good": [8 * MIB, 9 * MIB]}
        self.assertEqual({mirror["mirror"] for mirror in found["mirrors"]}, set(wrong))
        for mirror in found["mirrors"]:
            self.assertIn(mirror["bad"], ([], [wrong[mirror["mirror"]]]))
        self.out.unlink()
        done = self.get(f"{one.address}/good", root="")
        self.assertIn(f"the root is the server's own (the metalink {one.address}/good.meta4)", done.stderr.decode())
        self.out.unlink()
        # With a root, the server's links do not count.
        self.refused(self.get(f"{one.address}/good", root=f"sha256:{self.sha256}"), "the root differs")
        (self.folder / "out.part").unlink(missing_ok=True)
        # A sum in a header of the same response has to agree.
        lying = linking(Link=link, Repr_Digest=f"sha-256=:{other}:")
        self.refused(self.get(f"{lying.address}/good", root=""), "the mirrors have different files: its metalink has ")
        # One that cannot be used is said, and the header's sum counts; a duplicate is one more mirror.
        for wrong in (b"", b"<metalink", metalink.replace(b'type="sha-256">', b'type="none">')):
            broken = linking(wrong, Link=f"{link}, <{two.address}/right>; rel=duplicate", Repr_Digest=f"sha-256=:{right}:")
            done = self.get(f"{broken.address}/good", root="")
            self.assertEqual((done.returncode, self.out.read_bytes() == self.good), (0, True), done.stderr.decode())
            self.assertIn(f"{broken.address}/good.meta4: ", done.stderr.decode())
            self.out.unlink()
        for none in (link.replace("good.meta4", "file:///etc/passwd"), link.partition("; type")[0], "<"):
            self.refused(self.get(f"{linking(Link=none).address}/good", root=""), "states no sum of the file", 2)

    def test_without_a_root_from_mksum_serve(self):
        pub = self.folder / "pub"
        pub.mkdir()
        (pub / "good").write_bytes(self.good)
        subprocess.run([CHOSEN.mksum, "keep", "-q", "-r", "-f", "sha256", pub], check=True, stdout=subprocess.DEVNULL)
        port = servers.free_port()
        with servers.serving(CHOSEN.mksum, "serve", pub, "--listen", port, port=port, env=CLEAN):
            done = self.get(f"http://127.0.0.1:{port}/good", "--json", root="")
            found = json.loads(done.stdout)
            self.assertEqual((done.returncode, self.out.read_bytes() == self.good), (0, True), done.stderr.decode())
            self.assertEqual((found["root"], found["trusted"]), (self.sha256, "server"))
            self.assertIn(b"the server's own (repr-digest)", done.stderr)
            command = [CHOSEN.mksum, "--stored", f"http://127.0.0.1:{port}/good"]
            done = subprocess.run(command, check=True, capture_output=True, env=CLEAN)
            self.assertIn(b"repr-digest agrees (sha256)", done.stderr)

    def test_other_sums_in_the_same_pass(self):
        one = self.mirror()
        url, also = f"{one.address}/good", ("--also", "sha256", "--also", "md5", "--also", "blake3")
        expected = {"sha256": self.sha256, "md5": hashlib.md5(self.good).hexdigest()}

        def sums(*more):
            done = self.get(url, *also, "--json", *more)
            self.assertEqual((done.returncode, self.out.read_bytes() == self.good), (0, True), done.stderr.decode())
            found = {one["format"]: one["root"] for one in json.loads(done.stdout)["also"]}
            self.assertEqual({name: found[name] for name in expected}, expected)
            return done.stderr.decode()

        for more in ((), ("--no-outboard",), ("--connections", 1)):
            self.assertEqual(sums(*more), "")
            # The sums of a file that is right already take one read, too.
            self.assertEqual(sums(*more), "")
            self.out.unlink()
        # What an interrupted run left is not hashed as it comes: a second read, of which the user learns.
        part = self.folder / "out.part"
        part.write_bytes(self.good[: 5 * MIB])
        self.assertIn("out: read once more for --also", sums())
        done = self.get(url, *also, "-q")
        lines = f"SHA256 ({self.out}) = {self.sha256}\nMD5 ({self.out}) = {expected['md5']}\n"
        self.assertTrue(done.stdout.decode().startswith(lines), done.stdout)
        self.out.unlink()
        # No sum of a file that is not whole; what can be fetched of it is.
        def broken(handler, content, start, end):
            return start <= 2 * MIB < end and handler.send(500, b"") is None

        bad = self.mirror(fault=broken)
        done = self.get(f"{bad.address}/good", *also, "--json")
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["state"], "also" in found), (1, "incomplete", False), done.stderr.decode())
        self.assertEqual(part.read_bytes()[-MIB:], self.good[-MIB:])
        self.assertEqual(sums().count("read once more"), 1)
        self.out.unlink()
        done = self.get(url, *also, out="-")
        self.assertEqual((done.returncode, done.stdout == self.good), (0, True))
        self.assertIn(f"SHA256 (-) = {self.sha256}", done.stderr.decode())
        done = self.get(url, "--also", "xxh3", "--also", "nonsense")
        self.refused(done, "unknown format 'nonsense'", 2)

    def test_bad_ranges_are_fetched_from_another_mirror_and_nothing_else(self):
        def damage(handler, content, start, end):
            units = [content[at : at + LEAF] for at in range(start, end, LEAF)]
            for index in range(len(units)):
                if (start // LEAF + index) % 10 == 3:
                    units[index] = flipped(units[index])
            handler.send(206, b"".join(units), ETag='"one"', Content_Range=f"bytes {start}-{end - 1}/{len(content)}")
            return True

        bad = self.mirror({"good": self.good}, damage)
        good = self.mirror()
        found = self.fetched(f"{bad.address}/good", f"{good.address}/good")
        wrong = found["mirrors"][0]["bad"]
        self.assertEqual((found["mirrors"][1]["bad"], found["mirrors"][0]["mirror"]), ([], f"{bad.address}/good"))
        again = sum(end - start for start, end in wrong)
        self.assertTrue(wrong and all(start // LEAF % 10 == 3 and end - start == LEAF for start, end in wrong), wrong)
        self.assertEqual(bad.sent + good.sent, len(self.good) + len(self.tree) + again)
        for index, mirror in enumerate((bad, good)):
            self.assertEqual(found["mirrors"][index]["bytes"], sum(end - start for start, end in mirror.ranges("good")))
        self.out.unlink()
        done = self.get(f"{bad.address}/good", f"{good.address}/good")
        self.assertRegex(done.stderr.decode(), rf"{bad.address}/good: bytes \d+\.\.\d+ were wrong, and not written")
        # Alone, it never has these bytes: what is right is kept.
        self.out.unlink()
        done = self.get(f"{bad.address}/good", "--outboard", f"{good.address}/good.mkt")
        self.refused(done, "no mirror has the right 1,245,184 bytes (19 ranges)")
        part = (self.folder / "out.part").read_bytes()
        for at in range(0, len(self.good), LEAF):
            expected = bytes(LEAF) if at // LEAF % 10 == 3 else self.good[at : at + LEAF]
            self.assertEqual(part[at : at + LEAF], expected[: len(self.good) - at], at)
        good.sent = 0
        found = self.fetched(f"{good.address}/good")
        self.assertEqual((found["fetched"], good.sent), (19 * LEAF, 19 * LEAF + len(self.tree)))

    def test_a_bad_root_costs_the_outboard_at_most(self):
        one = self.mirror()
        done = self.get(f"{one.address}/good", "-f", "rfc6962", root="00" * 32)
        self.refused(done, "this outboard is of another file")
        self.assertEqual(one.ranges("good"), [])
        self.assertLessEqual(one.sent, len(self.tree))
        # Another file under the right outboard costs a leaf a try.
        other = self.mirror({"good": self.chance.randbytes(len(self.good)), "good.mkt": self.tree})
        self.refused(self.get(f"{other.address}/good"), "no mirror has the right ")
        self.assertLessEqual(other.sent, len(self.tree) + 3 * LEAF * 3)

    def test_killed_at_any_moment(self):
        whole, extra = 0, 0
        slow = self.mirror(fault=lambda handler, *_: time.sleep(0.004))
        url = f"{slow.address}/good"
        for turn in range(CHOSEN.kills):
            self.out.unlink(missing_ok=True)
            command = [CHOSEN.mksum, "get", url, "--root", self.root, "-o", self.out, "--limit-rate", "60MB"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CLEAN)
            time.sleep(0.25 * (turn + 0.5) / CHOSEN.kills)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if self.out.exists():
                self.assertEqual(self.out.read_bytes(), self.good)
            part, there = self.folder / "out.part", 0
            if part.exists():
                kept = part.read_bytes()
                units = range(0, len(kept), LEAF)
                there = sum(len(kept[at : at + LEAF]) for at in units if kept[at : at + LEAF] == self.good[at : at + LEAF])
                self.assertTrue(all(kept[at] in (0, self.good[at]) for at in range(0, len(kept), 997)))
            # Another server: requests of the killed process may still be on their way to the first.
            done, other = self.out.exists(), self.mirror()
            found = self.fetched(f"{other.address}/good")
            whole += done
            if not done:
                again = sum(end - start for start, end in other.ranges("good"))
                self.assertEqual((found["resumed"], again), (there, len(self.good) - there))
                extra += there > 0
        print(f"{CHOSEN.kills} killed, {extra} resumed with verified bytes, {whole} were whole", flush=True)

    def test_a_file_that_is_there(self):
        one = self.mirror()
        url = f"{one.address}/good"
        self.out.write_bytes(self.good)
        self.assertEqual(self.fetched(url)["state"], "present")
        self.assertEqual(one.requests, [])
        # Its good leaves are used; until the new file is whole, it is as it was.
        old = bytearray(self.good)
        old[5 * LEAF] ^= 1
        self.out.write_bytes(old)
        self.assertEqual(self.get(url, root="rfc6962:" + "00" * 32).returncode, 1)
        self.assertEqual(self.out.read_bytes(), old)
        found = self.fetched(url)
        self.assertEqual((found["fetched"], found["seeded"]), (LEAF, len(self.good) - LEAF))
        self.assertEqual(one.ranges("good"), [(5 * LEAF, 6 * LEAF)])
        self.out.unlink()
        with tempfile.NamedTemporaryFile() as seed:
            seed.write(old[: 7 * MIB])
            seed.flush()
            found = self.fetched(url, "--seed", seed.name)
        self.assertEqual((found["seeded"], found["fetched"]), (7 * MIB - LEAF, len(self.good) - 7 * MIB + LEAF))

    def test_blocks_of_older_files_are_shared(self):
        """On disks that have no room for two such files."""
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        if os.geteuid() or not (mkfs := shutil.which("mkfs.xfs", path=path)):
            print("NOT TESTED: shared blocks: it takes root, and mkfs.xfs", flush=True)
            return
        image, disk = self.folder / "image", self.folder / "disk"
        disk.mkdir()
        with open(image, "wb") as file:
            file.truncate(320 * MIB)
        subprocess.run([mkfs, "-q", "-m", "reflink=1", image], check=True)
        if subprocess.run(["mount", "-o", "loop", image, disk], check=False).returncode:
            print("NOT TESTED: shared blocks: the kernel mounts no XFS", flush=True)
            return
        try:
            new = self.folder / "new"
            with open(new, "wb") as file:
                for _ in range(shutil.disk_usage(disk).free * 6 // 10 // MIB):
                    file.write(self.chance.randbytes(MIB))
                file.write(b"end")
            size = new.stat().st_size
            line = subprocess.run([CHOSEN.mksum, "keep", new], check=True, capture_output=True, text=True).stdout
            shutil.copyfile(new, disk / "old")
            with open(disk / "old", "r+b") as file:
                file.seek(5 * MIB)
                file.write(b"another leaf")
                file.seek(0, os.SEEK_END)
                file.write(b"and a longer file")
            done = self.get(new, "--seed", disk / "old", "--json", root=line, out=disk / "got")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            found = json.loads(done.stdout)
            self.assertEqual((found["fetched"], found["seeded"]), (LEAF, size - LEAF))
            self.assertTrue(filecmp.cmp(new, disk / "got", shallow=False))
            # The same in place. What no mirror has is not in the unfinished file either.
            with open(new, "r+b") as file:
                file.seek(5 * MIB)
                file.write(b"damaged")
            done = self.get(new, root=line, out=disk / "old")
            self.assertEqual(done.returncode, 1, done.stderr.decode())
            with open(disk / "old.part", "rb") as file:
                file.seek(5 * MIB)
                self.assertEqual(file.read(LEAF), bytes(LEAF))
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_without_an_outboard_the_stream_is_hashed(self):
        one = self.mirror({"good": self.good})
        url = f"{one.address}/good"
        self.assertEqual(self.fetched(url)["fetched"], len(self.good))
        self.assertEqual(self.fetched(url, "--no-outboard")["state"], "present")
        self.out.unlink()
        wrong = self.mirror({"good": flipped(self.good)})
        done = self.get(f"{wrong.address}/good")
        self.refused(done, f"the root differs:\n  expected {self.root}\n  found    ")
        # What came is kept: with an outboard, only what is wrong of it is fetched.
        self.assertEqual(os.listdir(self.folder), ["out.part"])
        other = self.mirror()
        found = self.fetched(f"{other.address}/good")
        self.assertEqual((found["fetched"], other.ranges("good")), (LEAF, [(0, LEAF)]))
        self.out.unlink()
        found = self.fetched(f"{wrong.address}/good", url)
        self.assertIn("the root differs", found["mirrors"][0]["error"])
        self.out.unlink()
        done = self.get(url, "--length", len(self.good) - 1)
        self.refused(done, "another length")

    def test_without_an_outboard_a_stream_goes_on_where_it_ended(self):
        slow = self.mirror({"good": self.good})
        part, resumed = self.folder / "out.part", 0
        for turn in range(8):
            command = [CHOSEN.mksum, "get", f"{slow.address}/good", "--root", self.root, "-o", self.out, "--limit-rate", "20MB"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CLEAN)
            time.sleep(0.05 * (turn + 1))
            process.kill()
            process.wait()
            kept = part.read_bytes() if part.exists() else b""
            self.assertTrue(self.out.exists() or self.good.startswith(kept))
            one = self.mirror({"good": self.good})
            found = self.fetched(f"{one.address}/good")
            if kept:
                self.assertEqual((found["resumed"], found["fetched"]), (len(kept), len(self.good) - len(kept)))
                self.assertEqual(next(start for start, _ in one.ranges("good")), len(kept) - 1)
                resumed += 1
            self.out.unlink()
        print(f"8 killed, {resumed} resumed", flush=True)
        # The beginning of another file costs its reading: all is fetched again, also where the mirror has less than is there.
        for kept in (flipped(self.good[: 5 * MIB]), flipped(self.good), self.good + b"more"):
            part.write_bytes(kept)
            found = self.fetched(f"{slow.address}/good")
            self.assertEqual(found["resumed"], 0)
            self.out.unlink()
        part.write_bytes(self.good)
        self.assertEqual(self.fetched(f"{slow.address}/good")["fetched"], 0)
        self.out.unlink()
        # A connection that ends is one more beginning; a mirror that is not there leaves nothing.
        self.refused(self.get(f"{slow.address}/nosuch"), "there is no such object")
        self.assertEqual(os.listdir(self.folder), [])

    def test_files_of_a_list(self):
        names = ["a", "d/b c", "d/e/\u00e4%"]
        contents = {name: self.chance.randbytes(200_000 + 7 * index) for index, name in enumerate(names)}
        encoded = {urllib.parse.quote(name): content for name, content in contents.items()}
        lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items()]
        text = "".join(lines).encode()
        good = self.mirror({**encoded, "SHA256SUMS": text})
        bad = self.mirror({**encoded, "a": flipped(contents["a"])})
        command = [CHOSEN.mksum, "get", "-c", f"{good.address}/SHA256SUMS"]

        def fetch(*more):
            return subprocess.run([*command, *more], check=False, capture_output=True, env=CLEAN, cwd=self.folder, timeout=120)

        def there():
            return {
                str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()
            }

        done = fetch("--from", f"{bad.address}/")
        self.assertEqual((done.returncode, set(there())), (1, set(names[1:])), done.stderr)
        self.assertIn(b"a: not fetched: no mirror has a file with this root", done.stderr)
        # The list's own folder is the default, and what is there is not fetched again.
        good.requests.clear()
        done = fetch()
        self.assertEqual((done.returncode, there()), (0, contents), done.stderr)
        self.assertEqual([path for path, _ in good.requests], ["/SHA256SUMS", "/a"])
        # Without a valid signature, nothing is believed of it.
        good.requests.clear()
        key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
        done = fetch("-o", "signed", "--key", key)
        self.assertEqual((done.returncode, (self.folder / "signed").exists()), (3, False), done.stderr)
        self.assertIn(b"nothing was fetched", done.stderr)
        self.assertEqual([path for path, _ in good.requests], ["/SHA256SUMS"])

    def directory(self):
        """Keeps a catalogue of a directory, and returns its line and its files by what a server calls them."""
        source = self.folder / "source"
        for folder in ["d/e", "empty"]:
            (source / folder).mkdir(parents=True)
        (source / "big").write_bytes(self.good)
        (source / "d" / "\u00e4%").write_bytes(b"one")
        (source / "d" / "e" / "two").write_bytes(b"two")
        (source / "d" / "link").symlink_to("e/two")
        subprocess.run([CHOSEN.mksum, "keep", "-q", "-r", source], check=True, stdout=subprocess.DEVNULL)
        catalogue = source / ".mksum" / "catalogue"
        line = subprocess.run([CHOSEN.mksum, "-f", "dir", catalogue], check=True, capture_output=True, text=True).stdout
        files = [path for path in source.rglob("*") if path.is_file() and not path.is_symlink()]
        names = [urllib.parse.quote(str(path.relative_to(source))) for path in files]
        files = {name: path.read_bytes() for name, path in zip(names, files, strict=True)}
        shutil.rmtree(source)
        return line.strip(), files

    def entries(self, folder):
        return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.is_dir() or path.read_bytes()
                for path in folder.rglob("*")}

    def test_a_directory_by_its_root(self):
        line, files = self.directory()
        good = self.mirror(files)
        done = self.get(good.address, root=line)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        whole = self.entries(self.out)
        self.assertEqual(set(whole), {"big", "d", "d/\u00e4%", "d/e", "d/e/two", "d/link", "empty"})
        self.assertEqual((whole["big"], whole["d/link"], whole["d/\u00e4%"]), (self.good, "e/two", b"one"))
        again = subprocess.run([CHOSEN.mksum, "-f", "dir", self.out], check=True, capture_output=True, text=True).stdout
        self.assertEqual(again.rpartition(" ")[2], line.rpartition(" ")[2] + "\n")
        # Nothing but the catalogue is fetched again, and of a long file only the damaged leaf.
        (self.out / "d" / "e" / "two").write_bytes(b"xxx")
        damaged = bytearray(self.good)
        damaged[5 * MIB] ^= 1
        (self.out / "big").write_bytes(damaged)
        sent = good.sent
        done = self.get(f"{good.address}/", root=line, out=self.out)
        self.assertEqual((done.returncode, self.entries(self.out)), (0, whole), done.stderr.decode())
        trees = sum(len(content) for name, content in files.items() if name.startswith(".mksum/"))
        self.assertLess(good.sent - sent, trees + 2 * LEAF)

        # One mirror has another directory, one a damaged file: both are named, and the result is right.
        other = self.mirror({**files, ".mksum/catalogue": flipped(files[".mksum/catalogue"]), "big": bytes(damaged)})
        done = self.get(other.address, good.address, root=line, out=self.folder / "second")
        self.assertEqual((done.returncode, self.entries(self.folder / "second")), (0, whole), done.stderr.decode())
        self.assertIn(b"not used", done.stderr)
        done = self.get(other.address, root=line, out=self.folder / "third")
        self.assertEqual((done.returncode, (self.folder / "third").exists()), (1, False), done.stderr.decode())

    def test_a_directory_that_is_killed_goes_on(self):
        line, files = self.directory()
        mirror = self.mirror(files)
        ended = 0
        for _ in range(CHOSEN.kills):
            command = [CHOSEN.mksum, "get", mirror.address, "--root", line, "-o", self.out]
            with subprocess.Popen(command, env=CLEAN, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(self.chance.random() * 0.06)
                process.kill()
            ended += process.returncode == 0
            if self.out.exists():
                for path, content in self.entries(self.out).items():
                    # A name is that of a whole file, or not there.
                    if isinstance(content, bytes) and not path.endswith(".part"):
                        self.assertEqual(content, files[urllib.parse.quote(path)])
        done = self.get(mirror.address, root=line)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertFalse([path for path in self.entries(self.out) if path.endswith(".part")])

    def test_mutated_catalogues_never_become_another_directory(self):
        line, files = self.directory()
        (mirror := self.folder / "mirror").mkdir()
        files = {**files, "big": self.good}
        for name, content in files.items():
            place = mirror / urllib.parse.unquote(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        catalogue = mirror / ".mksum" / "catalogue"
        whole, ends = None, {0: 0, 1: 0}
        for turn in range(CHOSEN.mutations // 2):
            mutated = bytearray(files[".mksum/catalogue"])
            if turn:
                at = self.chance.randrange(len(mutated))
                if turn % 3:
                    mutated[at] ^= 1 << self.chance.randrange(8)
                else:
                    del mutated[at : at + self.chance.choice([1, 16, 4096])]
            catalogue.write_bytes(mutated)
            done = self.get(mirror, root=line)
            self.assertIn(done.returncode, ends, done.stderr)
            ends[done.returncode] += 1
            if done.returncode == 0:
                whole = whole or self.entries(self.out)
                self.assertEqual(self.entries(self.out), whole)
            shutil.rmtree(self.out, ignore_errors=True)
        self.assertTrue(ends[0] and ends[1], ends)

    def test_standard_output_has_verified_bytes_only(self):
        one = self.mirror()
        for more in ((), ("--no-outboard",), ("--connections", 1)):
            done = self.get(f"{one.address}/good", *more, out="-")
            self.assertEqual((done.returncode, done.stdout == self.good), (0, True), done.stderr)

        def late(handler, content, start, end):
            body = flipped(content[start:end]) if end > 8 * MIB else content[start:end]
            handler.send(206, body, ETag='"one"', Content_Range=f"bytes {start}-{end - 1}/{len(content)}")
            return True

        bad = self.mirror(fault=late)
        done = self.get(f"{bad.address}/good", out="-")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(self.good.startswith(done.stdout) and len(done.stdout) < len(self.good))
        wrong = self.mirror({"good": flipped(self.good)})
        done = self.get(f"{wrong.address}/good", out="-")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_does_not_fit_is_refused_before_the_first_byte(self):
        one = self.mirror()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8 * MIB, 8 * MIB))

        self.refused(self.get(f"{one.address}/good", preexec_fn=limit), "File too large")
        self.assertEqual((one.ranges("good"), os.listdir(self.folder)), ([], []))

    def test_servers_as_they_are(self):
        tries = {}

        def whole(handler, content, start, end):
            handler.send(200, content, ETag='"one"')
            return True

        def elsewhere(handler, content, start, end):
            handler.send(206, content[:LEAF], ETag='"one"', Content_Range=f"bytes 0-{LEAF - 1}/{len(content)}")
            return True

        def short(handler, content, start, end):
            if end - start <= LEAF or tries.setdefault(("short", start), 0):
                return False
            tries["short", start] = 1
            handler.send(206, content[start : end - 1000], ETag='"one"', Content_Range=f"bytes {start}-{end - 1}/{len(content)}")
            return True

        def changing(handler, content, start, end):
            tag = f'"{len(handler.server.mirror.requests)}"'
            if "If-Match" in handler.headers and handler.headers["If-Match"] != tag:
                handler.send(412, b"")
            else:
                handler.send(206, content[start:end], ETag=tag, Content_Range=f"bytes {start}-{end - 1}/{len(content)}")
            return True

        def compressed(handler, content, start, end):
            import gzip

            body = gzip.compress(content[start:end], 1)
            place = f"bytes {start}-{end - 1}/{len(content)}"
            handler.send(206, body, ETag='"one"', Content_Encoding="gzip", Content_Range=place)
            return True

        def busy(handler, content, start, end):
            with handler.server.mirror.lock:
                count = tries["busy"] = tries.get("busy", 0) + 1
            if count % 7 == 2:
                handler.send(429 if count % 2 else 503, b"", Retry_After="0")
                return True
            return False

        def nameless(handler, content, start, end):
            handler.send(206, content[start:end], Content_Range=f"bytes {start}-{end - 1}/{len(content)}")
            return True

        # Alone, a mirror whose every range is a wrong one has nothing; of a busy one, it depends.
        ends = {whole: {0}, elsewhere: {1}, short: {0}, changing: {0}, compressed: {1}, busy: {0, 1}, nameless: {0}}
        for fault, codes in ends.items():
            with self.subTest(fault=fault.__name__), Mirror(self.files, fault) as odd, Mirror(self.files) as good:
                odd.server.mirror = odd
                self.fetched(f"{odd.address}/good", f"{good.address}/good")
                self.out.unlink()
                alone = self.get(f"{odd.address}/good", "--outboard", f"{good.address}/good.mkt")
                self.assertIn(alone.returncode, codes, alone.stderr.decode())
                if alone.returncode == 0:
                    self.assertEqual(self.out.read_bytes(), self.good)
                    self.out.unlink()
                self.assertFalse(self.out.exists())
                (self.folder / "out.part").unlink(missing_ok=True)

    def test_a_busy_server_is_asked_again_when_it_says(self):
        asked = []

        def busy(handler, content, start, end):
            asked.append(time.monotonic())
            if len(asked) > 1:
                return False
            handler.send(429, b"", Retry_After="2")
            return True

        one = self.mirror(fault=busy)
        self.fetched(f"{one.address}/good", "--connections", 1)
        self.assertGreaterEqual(asked[1] - asked[0], 2)

    def test_a_mirror_that_is_gone_or_hangs_is_left_behind(self):
        good = self.mirror()
        hanging, ended = {}, threading.Event()
        self.addCleanup(ended.set)

        def hang(handler, content, start, end):
            if start == 0 or len(hanging) > 2:
                return False
            hanging[start] = True
            ended.wait(100)
            return True

        slow = self.mirror(fault=hang)
        found = self.fetched("http://127.0.0.1:1/good", f"{slow.address}/good", f"{good.address}/good")
        self.assertEqual(found["mirrors"][0]["bytes"], 0)
        self.assertIn("error", found["mirrors"][0])

    def test_mutations_never_become_a_file(self):
        """Of the outboard, the root and the content, each many times: the right file, or none."""
        small = self.good[: 3 * LEAF + 77]
        (self.folder / "small").write_bytes(small)
        kept = subprocess.run([CHOSEN.mksum, "keep", self.folder / "small"], check=True, capture_output=True, text=True)
        root = kept.stdout.strip().rpartition(" ")[2]
        tree = (self.folder / "small.mkt").read_bytes()
        (self.folder / "small").unlink()
        (self.folder / "small.mkt").unlink()
        place, ends = self.folder / "mirror", {}
        place.mkdir()
        for turn in range(CHOSEN.mutations):
            content, outboard, claimed = bytearray(small), bytearray(tree), root
            what = turn % 6
            mutated = content if what < 2 else outboard
            at = self.chance.randrange(len(mutated))
            if what in (0, 2, 3):
                mutated[at] ^= 1 << self.chance.randrange(8)
            elif what in (1, 4):
                del mutated[at : at + self.chance.choice([1, 16, LEAF])]
            else:
                claimed = root[: turn % 64] + format((int(root[turn % 64], 16) + 1) % 16, "x") + root[turn % 64 + 1 :]
            (place / "small").write_bytes(content)
            (place / "small.mkt").write_bytes(outboard)
            done = self.get(place / "small", root=f"rfc6962:sha256:64KiB:{claimed}")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertEqual(done.returncode == 0, self.out.exists(), done.stderr)
            if self.out.exists():
                self.assertEqual((self.out.read_bytes(), claimed), (small, root))
                self.out.unlink()
            ends[what, done.returncode] = ends.get((what, done.returncode), 0) + 1
            (self.folder / "out.part").unlink(missing_ok=True)
        shutil.rmtree(place)
        self.assertEqual(sum(count for (_, code), count in ends.items() if code == 0), CHOSEN.mutations // 2)

    def copy(self, *arguments, **more):
        command = [CHOSEN.mksum, "copy", *map(str, arguments)]
        return subprocess.run(command, check=False, capture_output=True, env=CLEAN, timeout=120, **more)

    def test_a_copy_that_is_killed_goes_on(self):
        source, resumed = self.folder / "source", 0
        source.write_bytes(self.good)
        for turn in range(8):
            command = [CHOSEN.mksum, "copy", source, self.out, "--throttle", "60MB"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CLEAN)
            time.sleep(0.03 * (turn + 1))
            process.kill()
            process.wait()
            part, there = self.folder / "out.part", 0
            if part.exists():
                kept = part.read_bytes()
                units = range(0, len(kept), LEAF)
                there = sum(len(kept[at : at + LEAF]) for at in units if kept[at : at + LEAF] == self.good[at : at + LEAF])
            if self.out.exists():
                self.assertEqual(self.out.read_bytes(), self.good)
                there = len(self.good)
            done = self.copy(source, self.out, "--json")
            self.assertEqual((done.returncode, self.out.read_bytes() == self.good), (0, True), done.stderr)
            self.assertEqual(json.loads(done.stdout)["copied"], len(self.good) - there)
            self.assertEqual(set(os.listdir(self.folder)), {"source", "out"})
            resumed += there > 0
            self.out.unlink()
        print(f"8 killed, {resumed} resumed", flush=True)

    def test_a_source_that_changes_has_no_copy(self):
        source = self.folder / "source"
        for keeps in (False, True):
            source.write_bytes(self.good)
            command = [CHOSEN.mksum, "copy", source, self.out, "--throttle", "4MB"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=CLEAN) as process:
                while not (self.folder / "out.part").exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                with open(source, "r+b") as file:
                    file.write(b"other" if keeps else b"")
                    file.truncate(len(self.good) if keeps else len(self.good) - 1)
                errors = process.communicate()[1].decode()
            self.assertEqual((process.returncode, self.out.exists()), (1, False), errors)
            self.assertRegex(errors, "source: .*(changed|shorter|end)")
            (self.folder / "out.part").unlink(missing_ok=True)

    def test_a_copy_of_a_directory_is_that_of_cp(self):
        source = self.folder / "source"
        (source / "d" / "empty").mkdir(parents=True)
        (source / "d" / "file").write_bytes(b"one")
        os.link(source / "d" / "file", source / "hard")
        links = {"in": "d/file", "out": "../../elsewhere", "absolute": "/nosuch", "d/loop": "loop", "folder": "d"}
        for name, text in links.items():
            (source / name).symlink_to(text)
        os.mkfifo(source / "pipe")
        (source / "d" / "closed").mkdir(mode=0o500)
        os.utime(source / "d" / "empty", (5, 978307200))
        os.utime(source / "in", (5, 978307200), follow_symlinks=False)
        peer = self.folder / "peer"
        subprocess.run(["cp", "-a", source, peer], check=True)
        (peer / "pipe").unlink()

        def facts(folder):
            paths = {path: path.lstat() for path in sorted(folder.rglob("*"))}
            attributes = {path.relative_to(folder): (found.st_mode, found.st_mtime_ns) for path, found in paths.items()}
            # Nothing but the pipe, which is left out, was in the top folder last.
            return attributes, self.entries(folder)

        for state in ("copied", "present"):
            done = self.copy("-r", source, self.out, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(facts(self.out), facts(peer))
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual((len(lines), {line["state"] for line in lines}), (7, {state}))
        self.assertEqual(os.stat(self.out).st_mode, os.stat(source).st_mode)
        # A link that was copied once is no way out of the copy, and is not replaced by what it points to.
        (self.folder / "elsewhere").mkdir()
        (source / "out").unlink()
        (source / "out").mkdir()
        (source / "out" / "file").write_bytes(b"two")
        (self.out / "out").unlink()
        (self.out / "out").symlink_to("../elsewhere")
        done = self.copy("-r", source, self.out)
        self.assertEqual((done.returncode, os.listdir(self.folder / "elsewhere")), (1, []), done.stderr)
        self.assertIn(f"{self.out}/out: a symbolic link is here", done.stderr.decode())
        # It is skipped or followed where that is asked for; blocks are shared only where the file system can.
        done = self.copy("-r", "--symlinks", "skip", source, self.folder / "skipped")
        self.assertIn(b"4 symbolic links skipped", done.stderr)
        self.assertEqual((done.returncode, (self.folder / "skipped" / "in").exists()), (1, False))
        done = self.copy("--reflink", "--symlinks", "follow", "-r", source / "d", self.folder / "followed")
        self.assertIn(b"loop", done.stderr)
        self.assertEqual((self.folder / "followed" / "file").read_bytes(), b"one")

    def test_a_copy_that_does_not_fit(self):
        source = self.folder / "source"
        source.write_bytes(self.good)

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8 * MIB, 8 * MIB))

        self.refused(self.copy(source, self.out, preexec_fn=limit), "File too large")

    def test_objects_are_copied(self):
        one = self.mirror()
        done = self.copy(f"{one.address}/good", self.folder)
        self.assertEqual((done.returncode, (self.folder / "good").read_bytes() == self.good), (0, True), done.stderr)
        self.assertEqual(one.sent, len(self.good))
        self.assertEqual(self.copy(f"{one.address}/nosuch", self.folder).returncode, 1)
        self.assertEqual(os.listdir(self.folder), ["good"])


if __name__ == "__main__":
    CHOSEN, rest = flags.parse_known_args()
    with contextlib.suppress(KeyboardInterrupt):
        unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
