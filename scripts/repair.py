#!/usr/bin/env python3
"""Tests mksum repair with real servers and killed processes: files, nginx, an S3 server, and a server without range requests.

    repair.py MKSUM [--size MIB] [--kills N]

nginx comes from Debian; the S3 server is moto, from the Python packages of vectors/check.
"""
import argparse
import contextlib
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import servers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB, LEAF = 1 << 20, 64 << 10
flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)
flags.add_argument("--size", type=int, default=64, metavar="MIB")
flags.add_argument("--kills", type=int, default=20, metavar="N")
flags.add_argument("--tools", type=pathlib.Path, default=ROOT / "target/vector-tools", metavar="DIR")


def run(*arguments, **more):
    return subprocess.run([CHOSEN.mksum, *map(str, arguments)], check=False, capture_output=True, text=True, **more)


@contextlib.contextmanager
def nginx(folder, certificate=None):
    """Runs a web server over a directory. Yields its address, and a function that returns the body bytes sent so far.

    With a certificate and its key, both paths, it serves https.
    """
    with tempfile.TemporaryDirectory() as place:
        port, log = servers.free_port(), pathlib.Path(place, "log")
        config = pathlib.Path(place, "nginx.conf")
        user = "user root;" if os.getuid() == 0 else ""
        ssl = " ssl; ssl_certificate {}; ssl_certificate_key {}".format(*certificate) if certificate else ""
        config.write_text(
            f"{user} daemon off; pid {place}/pid; events {{}}\n"
            f"http {{ log_format sent '$status $body_bytes_sent'; access_log {log} sent; client_body_temp_path {place}/a;\n"
            f"  proxy_temp_path {place}/b; fastcgi_temp_path {place}/c; uwsgi_temp_path {place}/d; scgi_temp_path {place}/e;\n"
            f"  server {{ listen 127.0.0.1:{port}{ssl}; root {folder}; }} }}\n"
        )
        with servers.serving("nginx", "-c", config, "-e", f"{place}/errors", port=port, env=PATHS):

            def sent():
                lines = [line.split() for line in log.read_text().splitlines()]
                assert all(status == "206" for status, _ in lines), lines
                return sum(int(size) for _, size in lines)

            yield f"{'https' if certificate else 'http'}://127.0.0.1:{port}", sent


@contextlib.contextmanager
def changing(folder, at, change):
    """Serves the files of a directory in ranges; in the middle of range number `at`, from 1 on, `change` is called.

    Yields its address, and a function that returns how many ranges were asked for.
    """
    asked, lock = 0, threading.Lock()

    class Ranges(servers.Silent, http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            nonlocal asked
            content = pathlib.Path(folder, self.path.lstrip("/")).read_bytes()
            start, end = self.headers["Range"].removeprefix("bytes=").split("-")
            start, end = int(start), min(int(end or len(content)), len(content) - 1)
            middle = (start + end) // 2
            self.send_response(206)
            self.send_header("Content-Length", str(end + 1 - start))
            self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
            # Without it, a second range is refused when the first has come, and no third one asked for.
            self.send_header("ETag", '"one"')
            self.end_headers()
            if self.command == "GET":
                with lock:
                    asked += 1
                    number = asked
                self.wfile.write(content[start:middle])
                if number == at:
                    change()
                self.wfile.write(content[middle : end + 1])

    with servers.answering(Ranges) as server:
        yield server.url, lambda: asked


def save(path, content, mode="wb"):
    """Writes a file as its user does; a clock has ticked since its last change."""
    before = path.stat().st_mtime_ns
    while True:
        with open(path, mode) as file:
            file.write(content)
        if path.stat().st_mtime_ns != before:
            return


def replace(file, _):
    file.with_name("new").write_bytes(SAVED)
    file.with_name("new").rename(file)


def rewrite(file, _):
    save(file, bytes(file.stat().st_size), "r+b")


def rewrite_longer(file, _):
    save(file, bytes(file.stat().st_size + LEAF), "r+b")


def truncate(file, _):
    save(file, SAVED)


def remove(file, _):
    file.unlink()


def link(file, outside):
    file.unlink()
    file.symlink_to(outside / file.name)


def link_folder(file, outside):
    file.parent.rename(file.parent.with_name("moved"))
    file.parent.symlink_to(outside)


SAVED = b"what a user saves meanwhile"
CHANGES = (replace, rewrite, rewrite_longer, truncate, remove, link, link_folder)


def certificates(place):
    """Makes a certificate authority, and a certificate of 127.0.0.1. Returns the authority's, and the other with its key."""

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=place)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", 2, "-subj", "/CN=test authority")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1")
    (place / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    openssl("x509", "-req", "-in", "server.csr", *authority, "-days", 2, "-extfile", "names", "-out", "server.pem")
    return place / "ca.pem", (place / "server.pem", place / "server.key")


@contextlib.contextmanager
def bucket(path):
    """Runs an S3 server with one object. Yields the object's URL and the environment variables to reach it."""
    python = CHOSEN.tools.resolve() / "venv/bin/python"
    keys = {"AWS_ACCESS_KEY_ID": "an-id", "AWS_SECRET_ACCESS_KEY": "a-secret", "AWS_REGION": "eu-north-1"}
    upload = (
        "import boto3, os, sys\n"
        "s3 = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'], region_name='eu-north-1')\n"
        "s3.create_bucket(Bucket='good', CreateBucketConfiguration={'LocationConstraint': 'eu-north-1'})\n"
        "s3.upload_file(sys.argv[1], 'good', 'a folder/big + image')\n"
    )
    with servers.moto(python, env=PATHS) as address:
        there = {**keys, "AWS_ENDPOINT_URL": address}
        subprocess.run([python, "-c", upload, str(path)], check=True, env={**PATHS, **there})
        yield "s3://good/a folder/big + image", {**os.environ, **there}


class Repair(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(dir=os.path.dirname(CHOSEN.mksum))
        cls.folder = pathlib.Path(cls.place.name)
        cls.good, cls.bad = cls.folder / "good", cls.folder / "bad"
        with open(cls.good, "wb") as file:
            for _ in range(CHOSEN.size):
                file.write(os.urandom(MIB))
            file.write(b"and a short leaf")
        shutil.copy2(cls.good, cls.bad)
        assert run("keep", cls.bad).returncode == 0
        cls.kept = (cls.folder / "bad.mkt").read_bytes()
        cls.chance = random.Random(4)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def damage(self, spots=10):
        """Flips a bit in some leaves, including the first and the last. Returns the length of these leaves in bytes."""
        self.assertEqual((self.folder / "bad.mkt").read_bytes(), self.kept)
        size = self.bad.stat().st_size
        leaves = {0, size // LEAF} | set(self.chance.sample(range(1, size // LEAF), spots - 2))
        with open(self.bad, "r+b") as file:
            for leaf in leaves:
                at = leaf * LEAF + self.chance.randrange(min(LEAF, size - leaf * LEAF))
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << self.chance.randrange(8)]))
        return sum(min(LEAF, size - leaf * LEAF) for leaf in leaves)

    def whole(self):
        same = subprocess.run(["cmp", self.good, self.bad], check=False).returncode == 0
        return same and sorted(os.listdir(self.folder)) == ["bad", "bad.mkt", "good"]

    def repaired(self, source, **more):
        damaged = self.damage()
        done = run("repair", self.bad, "--from", source, "--json", **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        *ranges, last = map(json.loads, done.stdout.splitlines())
        self.assertEqual(sum(entry["bytes"] for entry in ranges), damaged)
        self.assertEqual(last["written"], damaged)
        self.assertLessEqual(last["fetched"], damaged * 1.01)
        self.assertTrue(self.whole())
        return damaged

    def test_from_a_file(self):
        self.repaired(self.good)
        verified = run("verify", self.bad, "--quick")
        self.assertEqual(verified.returncode, 0)
        self.assertIn("unchanged", verified.stderr, "repair restores the mtime that the outboard stores")

    def test_from_a_web_server(self):
        with nginx(self.folder) as (address, sent):
            damaged = self.repaired(f"{address}/good")
            self.assertLessEqual(sent(), damaged * 1.01)

    def test_from_a_web_server_over_tls(self):
        with tempfile.TemporaryDirectory() as place:
            authority, own = certificates(pathlib.Path(place))
            with nginx(self.folder, own) as (address, sent):
                trusting = {**os.environ, "SSL_CERT_FILE": str(authority)}
                damaged = self.repaired(f"{address}/good", env=trusting)
                self.assertLessEqual(sent(), damaged * 1.01)
                # Without the authority, nothing is fetched.
                self.damage()
                before, log = self.bad.read_bytes(), sent()
                refused = run("repair", self.bad, "--from", f"{address}/good")
                self.assertEqual((refused.returncode, refused.stdout), (1, ""))
                self.assertIn("certificate", refused.stderr)
                # Another name of the same server is not in its certificate.
                other = address.replace("127.0.0.1", "localhost")
                refused = run("repair", self.bad, "--from", f"{other}/good", env=trusting)
                self.assertEqual(refused.returncode, 1)
                self.assertIn("certificate", refused.stderr)
                self.assertEqual((self.bad.read_bytes(), sent()), (before, log))
        self.finish()

    def test_a_directory_from_a_web_server(self):
        with tempfile.TemporaryDirectory(dir=self.place.name) as place:
            tree, copy = pathlib.Path(place, "tree"), pathlib.Path(place, "copy")
            (tree / "a b").mkdir(parents=True)
            for name in ("one", "a b/two?", "a b/drei ü"):
                (tree / name).write_bytes(os.urandom(3 * LEAF + 5))
            shutil.copytree(tree, copy)
            self.assertEqual(run("keep", "-r", "--beside", tree).returncode, 0)
            for path in (tree / "one", tree / "a b/two?", tree / "a b/drei ü"):
                with open(path, "r+b") as file:
                    file.seek(LEAF + 7)
                    file.write(b"damage")
            with nginx(place) as (address, sent):
                done = run("repair", "-r", tree, "--from", f"{address}/copy")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(sent(), 3 * LEAF)
            for name in ("one", "a b/two?", "a b/drei ü"):
                self.assertEqual((tree / name).read_bytes(), (copy / name).read_bytes())

    def test_from_s3(self):
        with bucket(self.good) as (url, environment):
            self.repaired(url, env=environment)
            missing = run("repair", self.bad, "--from", "s3://good/nosuch", env=environment)
            self.assertEqual((missing.returncode, missing.stderr), (0, ""), "nothing is damaged, so no request is sent")
            self.damage()
            missing = run("repair", self.bad, "--from", "s3://good/nosuch", env=environment)
            self.assertEqual(missing.returncode, 1)
            self.assertIn("there is no such object", missing.stderr)
        self.finish()

    def finish(self):
        done = run("repair", self.bad, "--from", self.good)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(self.whole())

    def test_a_server_without_range_requests_sends_the_copy_once(self):
        asked = []

        class Plain(servers.Silent, http.server.SimpleHTTPRequestHandler):
            def __init__(handler, *arguments):
                super().__init__(*arguments, directory=self.folder)

            def do_GET(handler):
                asked.append(handler.headers["Range"])
                super().do_GET()

        damaged = self.damage()
        with servers.answering(Plain) as server:
            done = run("repair", self.bad, "--from", f"{server.url}/good", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        last = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((last["written"], last["fetched"]), (damaged, self.good.stat().st_size))
        self.assertEqual([wanted is None for wanted in asked], [False, True], "a range is refused; all of it comes once")
        self.assertTrue(self.whole())

    def test_servers_are_asked_in_turn(self):
        """Some are gone or lack the file, one is damaged too, the last is right: no wrong byte is written."""
        with tempfile.TemporaryDirectory() as place, nginx(place) as (wrong, _), nginx(self.folder) as (right, sent):
            damaged = self.damage()
            shutil.copy(self.bad, pathlib.Path(place, "good"))
            gone = f"http://127.0.0.1:{servers.free_port()}/good"
            copies = (gone, self.folder / "nosuch", f"{wrong}/nosuch", f"{wrong}/good", f"{right}/good")
            flags = [word for copy in copies for word in ("--from", copy)]
            before = sent()
            done = run("repair", self.bad, *flags, "--json", env={**os.environ, "AWS_MAX_ATTEMPTS": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual(sent() - before, damaged * 1.01)
            self.assertEqual(done.stderr.count("the next copy is asked"), 4, "each copy is named once")
            objects = list(map(json.loads, done.stdout.splitlines()))
            self.assertEqual({entry["copy"] for entry in objects if entry["kind"] == "repaired"}, {str(copies[-1])})
            passed = {entry["copy"] for entry in objects if entry["kind"] == "passed"}
            self.assertEqual(passed, set(map(str, copies[:-1])))
            self.assertTrue(self.whole())

    def test_what_is_saved_during_a_repair_from_a_server_stays(self):
        """The file is changed while a server answers: before anything of it is written, and after.

        Nothing of the copy gets into what is there then, nor into a file outside the directory to which a link leads.
        """
        runs = 0
        for keep, command, leaves, requests in (
            (["keep"], [], 20, 3),
            (["keep", "-r", "--beside"], ["-r"], 20, 3),
            # A short file has no tree in a catalogue: it is fetched whole. A long one has.
            (["keep", "-r"], ["-r"], 20, 1),
            (["keep", "-r"], ["-r"], 150, 3),
        ):
            good = self.chance.randbytes(leaves * LEAF + 7)
            damaged = bytearray(good)
            for leaf in (2, 9, 16):
                damaged[leaf * LEAF + 5] ^= 1
            for change in CHANGES:
                for at in range(1, requests + 1):
                    with self.subTest(keep=keep, change=change.__name__, at=at), tempfile.TemporaryDirectory() as place:
                        self.saved_during(pathlib.Path(place), (keep, command), change, at, good, bytes(damaged))
                        runs += 1
        self.assertEqual(runs, 10 * len(CHANGES))

    def saved_during(self, place, commands, change, at, good, damaged):
        keep, command = commands
        tree, outside, copy = place / "tree", place / "outside", place / "copy"
        file = tree / "folder/file"
        for folder in (file.parent, outside, copy / "folder"):
            folder.mkdir(parents=True)
        file.write_bytes(good)
        (copy / "folder/file").write_bytes(good)
        (outside / "file").write_bytes(damaged)
        os.utime(file, (10**9, 10**9))
        target = tree if command else file
        kept = run(*keep, target)
        self.assertEqual(kept.returncode, 0, kept.stderr)
        if change is link_folder and not keep[1:]:
            # Else its outboard would not be found beside it.
            shutil.copy(f"{file}.mkt", outside)
        file.write_bytes(damaged)
        os.utime(file, (10**9, 10**9))
        there, ended = None, threading.Event()

        def changed():
            nonlocal there
            change(file, outside)
            there = (file.is_symlink(), file.read_bytes() if file.exists() else None)
            ended.set()

        with changing(copy, at, changed) as (address, asked):
            source = f"{address}/" if command else f"{address}/folder/file"
            done = run("repair", *command, target, "--from", source)
            self.assertGreaterEqual(asked(), at, done.stderr)
            # Ranges are fetched ahead: the tool may end before all of this one has been sent.
            ended.wait()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertNotIn("OK: ", done.stdout)
        self.assertIn("file: ", done.stderr)
        self.assertEqual((file.is_symlink(), file.read_bytes() if file.exists() else None), there)
        self.assertEqual((outside / "file").read_bytes(), damaged)

    def test_a_signal_leaves_no_copy_of_what_a_server_has(self):
        with tempfile.TemporaryDirectory(dir=self.place.name) as name:
            place = pathlib.Path(name)
            for folder in ("tree", "copies"):
                (place / folder).mkdir()
            (place / "tree/file").write_bytes(os.urandom(3 * LEAF))
            self.assertEqual(run("keep", "-r", "-o", place / "catalogue", place / "tree").returncode, 0)
            self.assertEqual(run("keep", place / "tree/file").returncode, 0)

            for words in ["diff", "{}/catalogue", place / "catalogue"], ["keep", place / "tree/file", "-o", "{}/tree/file.mkt"]:
                ended = threading.Event()
                with changing(place, 1, ended.wait) as (address, _):
                    command = [CHOSEN.mksum, *(str(word).format(address) for word in words)]
                    environment = {**os.environ, "TMPDIR": str(place / "copies")}
                    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
                        while not os.listdir(place / "copies") and process.poll() is None:
                            time.sleep(0.001)
                        process.terminate()
                        status = process.wait()
                        ended.set()
                        self.assertEqual((status, process.stderr.read()), (143, b""))
                self.assertEqual(os.listdir(place / "copies"), [])

    def test_an_unreachable_server_is_an_error(self):
        self.damage()
        done = run("repair", self.bad, "--from", f"http://127.0.0.1:{servers.free_port()}/good")
        self.assertEqual(done.returncode, 1)
        self.assertIn("are not repaired", done.stderr)
        self.finish()

    def test_bytes_of_a_damaged_copy_are_never_written(self):
        wrong = self.folder / "wrong"
        wrong.write_bytes(os.urandom(self.bad.stat().st_size))
        self.damage()
        before = self.bad.read_bytes()
        done = run("repair", self.bad, "--from", wrong)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the copy is damaged there too", done.stderr)
        self.assertEqual(self.bad.read_bytes(), before)
        short = self.folder / "short"
        short.write_bytes(self.good.read_bytes()[:LEAF])
        done = run("repair", self.bad, "--from", short)
        self.assertEqual(done.returncode, 1)
        self.assertIn("unexpected end of file", done.stderr)
        wrong.unlink()
        short.unlink()
        self.finish()

    def test_the_end_of_a_truncated_file_is_restored(self):
        os.truncate(self.bad, self.bad.stat().st_size - 3 * LEAF - 100)
        self.finish()

    def test_a_longer_file_is_refused(self):
        with open(self.bad, "ab") as file:
            file.write(b"more")
        done = run("repair", self.bad, "--from", self.good)
        self.assertEqual(done.returncode, 1)
        self.assertIn("4 bytes more than when its outboard was written", done.stderr)
        os.truncate(self.bad, self.bad.stat().st_size - 4)
        self.finish()

    def test_a_root_of_another_file_is_refused(self):
        done = run("repair", self.bad, "--from", self.good, "--root", "00" * 32)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this outboard is of another file", done.stderr)

    def test_killed_at_any_moment(self):
        """Half of the file is damaged, and the tool is killed: each leaf is unchanged or right, and the next run repairs it."""
        good, resumed, writing = self.good.read_bytes(), 0, 0
        for turn in range(CHOSEN.kills):
            self.damage(CHOSEN.size * MIB // LEAF // 2)
            before = self.bad.read_bytes()
            # Slow enough that the kill can hit any phase: the search, between two writes, the final verification.
            rate = f"{CHOSEN.size * 2}MB"
            command = [CHOSEN.mksum, "repair", self.bad, "--from", self.good, "--throttle", rate]
            process = subprocess.Popen(command, **servers.NOWHERE)
            time.sleep(self.chance.uniform(0.01, 1.6))
            process.send_signal(signal.SIGKILL)
            process.wait()
            after = self.bad.read_bytes()
            for at in range(0, len(good), LEAF):
                leaf = after[at : at + LEAF]
                if leaf != before[at : at + LEAF] and leaf != good[at : at + LEAF]:
                    # A leaf may be written in part: then each of its bytes is the old one or the right one.
                    old_or_right = zip(leaf, before[at : at + LEAF], good[at : at + LEAF], strict=True)
                    self.assertTrue(all(byte in (old, right) for byte, old, right in old_or_right), f"leaf at {at}")
            writing += after != before
            done = run("repair", self.bad, "--from", self.good, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            resumed += json.loads(done.stdout.splitlines()[-1])["resumed"]
            self.assertTrue(self.whole(), f"turn {turn}")
        print(f"{CHOSEN.kills} killed, {writing} after the first write, {resumed} resumed from the journal", flush=True)
        self.assertGreater(resumed, 0)


def prepare(chosen):
    """Installs the servers, and stores the options."""
    global CHOSEN, PATHS
    sys.path.insert(0, str(ROOT / "vectors/check"))
    import install

    CHOSEN, PATHS = chosen, install.ENVIRONMENT
    install.debian("nginx", "nginx-light")
    chosen.tools.mkdir(parents=True, exist_ok=True)
    install.python(chosen.tools.resolve())


if __name__ == "__main__":
    parsed, rest = flags.parse_known_args()
    parsed.size = max(parsed.size, 4)
    prepare(parsed)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
