#!/usr/bin/env python3
"""Tests mksum serve with clients on this machine: mksum get, curl, a thousand at once, slow ones and ones that go away.

    serve.py MKSUM

Everything listens on 127.0.0.1 alone.
"""
import argparse
import concurrent.futures
import contextlib
import hashlib
import http.client
import os
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from bits import flip

MIB, LEAF = 1 << 20, 64 << 10
flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)

# Nothing of the environment reaches a real store or a proxy.
CLEAN = {name: value for name, value in os.environ.items() if not re.match("(AWS|GOOGLE|AZURE)_|.*_PROXY$", name, re.I)}
CLEAN |= {"NETRC": os.devnull}


class Server:
    """The tool, serving; its errors are kept."""

    def __init__(self, *arguments):
        command = [CHOSEN.mksum, "serve", *map(str, arguments), "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=CLEAN)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(self.process.communicate()[1])
        self.address = ("127.0.0.1", int(self.url.rstrip("/").rpartition(":")[2]))
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()

    def ask(self, target, method="GET", **headers):
        """Returns the status, the headers and the body; what came of a body that ends early."""
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            try:
                return response.status, response.headers, response.read()
            except http.client.IncompleteRead as early:
                return response.status, response.headers, early.partial

    def begin(self, target):
        """Sends a request, and returns its connection."""
        connection = socket.create_connection(self.address, timeout=60)
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return connection

    def logged(self, words):
        """Whether a line of the log has these words, once it is written."""
        deadline = time.monotonic() + 30
        while not any(words in line for line in self.errors) and time.monotonic() < deadline:
            time.sleep(0.01)
        return any(words in line for line in self.errors)


def rest(connection):
    """Returns all that comes until the connection is closed, however it is."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.good = random.Random(7).randbytes(12 * MIB + 5)

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.site, self.out = self.folder / "site", self.folder / "out"
        self.site.mkdir()
        self.file = self.site / "good"
        self.file.write_bytes(self.good)

    def keep(self):
        kept = subprocess.run([CHOSEN.mksum, "keep", self.file], check=True, capture_output=True, text=True)
        return f"rfc6962:sha256:64KiB:{kept.stdout.strip().rpartition(' ')[2]}"

    def serve(self, *arguments):
        return self.enterContext(Server(*(arguments or [self.site])))

    def get(self, server, root, *more):
        command = [CHOSEN.mksum, "get", f"{server.url}good", "--root", root, "-o", self.out, *more]
        done = subprocess.run(command, check=False, capture_output=True, env=CLEAN, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(self.out.read_bytes(), self.good)
        self.out.unlink()

    def test_get_fetches_from_it(self):
        plain = f"sha256:{hashlib.sha256(self.good).hexdigest()}"
        self.get(self.serve(), plain)
        root = self.keep()
        for server in (self.serve(), self.serve(self.file), self.serve(self.file, self.folder)):
            self.assertEqual(server.ask("/good", "HEAD")[1]["ETag"], f'"{root}"')
            self.get(server, root)
            self.get(server, plain)
            # Its ETag is a root, too.
            self.get(server, server.ask("/good", "HEAD")[1]["ETag"])
            self.assertEqual(server.errors, [])
        slow = [CHOSEN.mksum, "get", f"{server.url}good", "--root", root, "-o", self.out, "--limit-rate", "20MB"]
        for turn in range(5):
            process = subprocess.Popen(slow, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CLEAN)
            time.sleep(0.08 * (turn + 1))
            process.kill()
            process.wait()
            self.get(server, root)

    def test_get_fetches_a_directory(self):
        (self.site / "sub" / "empty").mkdir(parents=True)
        (self.site / "sub" / "small").write_bytes(b"small")
        subprocess.run([CHOSEN.mksum, "keep", "-q", "-r", self.site], check=True, stdout=subprocess.DEVNULL)
        command = [CHOSEN.mksum, "-f", "dir", self.site / ".mksum" / "catalogue"]
        root = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        for number, flags_of in enumerate(([], ["--verify"])):
            out = self.folder / f"out{number}"
            with Server(self.site, *flags_of) as server:
                command = [CHOSEN.mksum, "get", server.url, "--root", root, "-o", out]
                done = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN)
            self.assertEqual((done.returncode, server.errors), (0, []), done.stderr)
            self.assertEqual((out / "good").read_bytes(), self.good)
            self.assertEqual(sorted(os.listdir(out / "sub")), ["empty", "small"])

    def test_another_server_is_a_source(self):
        server = self.serve()
        through = self.serve(f"{server.url}good")
        for start, end in ((0, 1), (LEAF - 1, 3 * LEAF), (12 * MIB, 12 * MIB + 5)):
            status, headers, body = through.ask("/good", Range=f"bytes={start}-{end - 1}")
            self.assertEqual((status, headers["Content-Range"]), (206, f"bytes {start}-{end - 1}/{len(self.good)}"))
            self.assertEqual(body, self.good[start:end])
        self.assertEqual(through.ask("/good")[2], self.good)
        self.assertEqual(through.ask("/good", Range="bytes=-7")[2], self.good[-7:])
        self.assertEqual(through.ask("/good.mkt")[0], 404)

    def test_a_proxy_fetches_each_leaf_once(self):
        self.keep()
        cache = self.folder / "cache"

        def sent(server):
            server.__exit__()
            lines = re.findall(r"GET /good: \d+, (\d+) bytes sent", "".join(server.errors))
            return sum(map(int, lines))

        origin = Server(self.site, "-v")
        with Server(origin.url, "--verify", "--cache", cache) as through, concurrent.futures.ThreadPoolExecutor(8) as threads:
            self.assertTrue(all(threads.map(lambda _: through.ask("/good")[2] == self.good, range(16))))
            two = [CHOSEN.mksum, "serve", origin.url, "--verify", "--cache", cache]
            refused = subprocess.run(two, check=False, capture_output=True, text=True, env=CLEAN)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn("cache: another process uses this cache", refused.stderr)
        # And at most a few bytes, by which it knows what is there.
        self.assertLess(sent(origin) - len(self.good), LEAF)
        # All that is wrong with the file does not matter any more, and what is wrong in the cache costs one leaf.
        flip(self.file, 5 * LEAF, hidden=True)
        leaves = sorted(path for path in cache.glob("??/*") if path.stat().st_size == LEAF)
        self.assertEqual(len(leaves), len(self.good) // LEAF)
        damaged = next(path for path in leaves if path.read_bytes() == self.good[7 * LEAF : 8 * LEAF])
        flip(damaged, 9)
        origin = Server(self.site, "-v")
        with Server(origin.url, "--verify", "--cache", cache) as through:
            self.assertEqual(through.ask("/good")[2], self.good)
        self.assertLess(sent(origin), 2 * LEAF)
        self.assertEqual(damaged.read_bytes(), self.good[7 * LEAF : 8 * LEAF])
        # It is as large as it may be.
        flip(self.file, 5 * LEAF, hidden=True)
        origin = self.serve(self.site)
        with Server(origin.url, "--verify", "--cache", cache, "--cache-size", 3 * LEAF) as through:
            self.assertEqual(through.ask("/good")[2], self.good)
            self.assertLessEqual(sum(path.stat().st_size for path in cache.glob("??/*")), 3 * LEAF)
        for words, folder in (("add --verify or --root", cache), ("other files", self.site)):
            command = [CHOSEN.mksum, "serve", origin.url, "--cache", folder, *(["--verify"] if folder == self.site else [])]
            refused = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(words, refused.stderr)

    def test_a_verifying_proxy_of_another_server(self):
        self.keep()
        (self.site / "a b").mkdir()
        (self.site / "a b" / "bare").write_bytes(b"no outboard")
        origin = self.serve(self.site)
        through = self.serve(origin.url, "--verify")
        cases = {"/": 404, "/none": 404, "/none/": 404, "/a%20b/bare": 500, "/../good": 400, "/good/": 404}
        for target, status in cases.items():
            self.assertEqual(through.ask(target)[0], status, target)
        self.assertIn(b"it has no outboard", through.ask("/a%20b/bare")[2])
        # Of digests alone, which clients check.
        (self.site / ".mksum").mkdir()
        (self.site / ".mksum" / "catalogue").write_bytes(b"a catalogue")
        for name in ("good.mkt", ".mksum/catalogue"):
            self.assertEqual(through.ask(f"/{name}")[2], (self.site / name).read_bytes())
        for _ in range(2):
            status, headers, body = through.ask("/good", Range=f"bytes={LEAF - 1}-{3 * LEAF}")
            self.assertEqual((status, headers["Content-Range"]), (206, f"bytes {LEAF - 1}-{3 * LEAF}/{len(self.good)}"))
            self.assertEqual(body, self.good[LEAF - 1 : 3 * LEAF + 1])
        self.assertEqual(through.ask("/good")[2], self.good)
        flip(self.file, 5 * LEAF, hidden=True)
        anew = self.serve(origin.url, "--verify")
        status, _, body = anew.ask("/good", Range=f"bytes={5 * LEAF + 7}-{5 * LEAF + 8}")
        self.assertEqual(status, 500)
        self.assertIn(f"/good: bytes {5 * LEAF}..{6 * LEAF} are damaged".encode(), body)
        self.assertEqual(anew.ask("/good", Range=f"bytes={6 * LEAF}-{6 * LEAF}")[2], self.good[6 * LEAF : 6 * LEAF + 1])
        flip(self.file, 5 * LEAF, hidden=True)
        several = self.serve(f"{origin.url}a%20b/", self.site)
        self.assertEqual(several.ask("/a%2520b/bare")[2], b"no outboard")
        command = [CHOSEN.mksum, "serve", origin.url, "--root", f"sha256:{'0' * 64}"]
        refused = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("a root is that of one file", refused.stderr)
        # Kept in memory: all digests that were needed, and leaves of which parts were asked for.
        outboard = self.site / "good.mkt"
        digests = bytearray(outboard.read_bytes())
        digests[2000:4000] = bytes(2000)
        outboard.write_bytes(digests)
        self.assertNotEqual(self.serve(origin.url, "--verify").ask("/good")[2], self.good)
        with concurrent.futures.ThreadPoolExecutor(16) as threads:
            self.assertTrue(all(threads.map(lambda _: through.ask("/good")[2] == self.good, range(16))))
        few = {"Range": f"bytes={7 * LEAF + 9}-{7 * LEAF + 20}"}
        self.assertEqual(through.ask("/good", **few)[0], 206)
        origin.process.terminate()
        origin.process.wait(30)
        self.assertEqual(through.ask("/good", **few)[2], self.good[7 * LEAF + 9 : 7 * LEAF + 21])
        # A server that is not there says nothing about its files.
        for proxy in (through, self.serve(origin.url)):
            self.assertEqual(proxy.ask("/other")[0], 502)
            self.assertTrue(proxy.logged("GET /other: 502: "))

    def test_flipped_bits_are_never_delivered(self):
        root = self.keep()
        catalogued = self.folder / "catalogued"
        catalogued.mkdir()
        self.file = catalogued / "good"
        self.file.write_bytes(self.good)
        subprocess.run([CHOSEN.mksum, "keep", "-r", catalogued], check=True, capture_output=True)
        # With the outboard beside the file, with that of the catalogue, and of another server that need not be trusted.
        origin = self.serve(self.site)
        through = [f"{origin.url}good", "--root", root]
        for place, what in ((self.site, [self.site]), (catalogued, [catalogued]), (self.site, through)):
            self.file = place / "good"
            chance = random.Random(9)
            for _ in range(10):
                # Verified leaves stay in the memory of the one before.
                server = self.serve(*what, "--verify")
                self.assertEqual(server.ask("/good", "HEAD")[1]["ETag"], f'"{root}"')
                at = chance.randrange(len(self.good))
                leaf = at // LEAF * LEAF
                end = min(leaf + LEAF, len(self.good))
                flip(self.file, at, hidden=True)
                status, _, body = server.ask("/good")
                self.assertLessEqual(len(body), leaf if status == 200 else 1000)
                if status == 200:
                    self.assertTrue(self.good.startswith(body))
                    self.assertTrue(server.logged("GET /good: 200: ended early after"))
                for start in (leaf, at, end - 1):
                    status, _, body = server.ask("/good", Range=f"bytes={start}-{start}")
                    self.assertEqual(status, 500)
                    self.assertIn(f"/good: bytes {leaf}..{end} are damaged".encode(), body)
                for start, stop in ((0, leaf), (end, len(self.good))):
                    if start < stop:
                        status, _, body = server.ask("/good", Range=f"bytes={start}-{stop - 1}")
                        self.assertTrue(status == 206 and body == self.good[start:stop])
                # The client misses the leaf, and gets it from elsewhere.
                if place == self.site:
                    self.get(server, root, "--seed", catalogued / "good")
                flip(self.file, at, hidden=True)
                self.assertTrue(server.ask("/good")[2] == self.good)
            self.get(server, root, *([] if place == self.site else ["--no-outboard"]))

    def test_a_damaged_leaf_costs_its_clients_that_leaf(self):
        root = self.keep()
        flip(self.file, 5 * LEAF, hidden=True)
        server = self.serve(self.site, "--verify")
        command = [CHOSEN.mksum, "get", f"{server.url}good", "--root", root, "-o", self.out]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no mirror has the right 65,536 bytes", done.stderr)
        self.assertIn("the server answered 500 Internal Server Error, and wants to be asked again after 3600 s", done.stderr)
        # The range, and its leaf a few times: the client below, which would ask eight times each, asks once.
        self.assertLess(len(server.errors), 40)
        self.assertFalse(self.out.exists())

    def test_curl(self):
        server = self.serve()

        def curl(*arguments):
            return subprocess.run(["curl", "-sS", "-o", self.out, *arguments, f"{server.url}good"], check=True, env=CLEAN)

        curl("-r", "100-70000")
        self.assertEqual(self.out.read_bytes(), self.good[100:70001])
        self.out.write_bytes(self.good[:1000000])
        curl("-C", "-")
        self.assertEqual(self.out.read_bytes(), self.good)
        above = ["curl", "-sS", "--path-as-is", f"{server.url}../site/good"]
        path = subprocess.run(above, check=True, capture_output=True, env=CLEAN)
        self.assertEqual(path.stdout, b"400 Bad Request\n")
        self.assertTrue(server.logged("127.0.0.1: GET /../site/good: 400: a name in the path is empty, '.' or '..'"))

    def test_a_thousand_at_once(self):
        server, chance = self.serve(), random.Random(8)
        ranges = [sorted(chance.sample(range(len(self.good)), 2)) for _ in range(1000)]
        ranges = [(start, min(end, start + chance.randrange(1, 4 * LEAF))) for start, end in ranges]
        barrier = threading.Barrier(len(ranges))

        def fetch(asked):
            start, end = asked
            barrier.wait(60)
            status, _, body = server.ask("/good", Range=f"bytes={start}-{end - 1}")
            return status == 206 and body == self.good[start:end]

        with concurrent.futures.ThreadPoolExecutor(len(ranges)) as threads:
            self.assertTrue(all(threads.map(fetch, ranges)))
        self.assertEqual(server.errors, [])

    def test_slow_readers_and_those_that_go_away(self):
        server = self.serve(self.site, "--timeout", "1s", "--connections", "8")
        self.file.write_bytes(self.good * 8)
        slow = [server.begin("/good") for _ in range(8)]
        begin = time.monotonic()
        self.assertEqual(server.ask("/good", Range="bytes=5-9")[2], self.good[5:10])
        # Not before their time was over: all connections were taken.
        self.assertGreater(time.monotonic() - begin, 0.5)
        # One was disconnected for that, and did not get all.
        self.assertLess(min(len(rest(connection)) for connection in slow), 8 * len(self.good))
        for connection in slow:
            connection.close()
        for _ in range(50):
            gone = server.begin("/good")
            gone.recv(100)
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            gone.close()
        # One that is slow, and takes bytes, gets them all.
        with server.begin("/good") as connection:
            parts = []
            while part := connection.recv(1 << 20):
                parts.append(part)
                time.sleep(0.02)
        self.assertTrue(b"".join(parts).endswith(self.good * 8))
        self.assertEqual(server.errors, [])

    def test_a_file_that_changes(self):
        server, content = self.serve(), self.good * 4

        def cut():
            os.truncate(self.file, 100)

        def write():
            with self.file.open("r+b") as file:
                file.write(bytes(len(content)))

        def grow():
            with self.file.open("ab") as file:
                file.write(b"more")

        for change in (cut, write, grow):
            self.file.write_bytes(content)
            os.utime(self.file, (0, 0))
            with server.begin("/good") as connection:
                first = connection.recv(1000)
                change()
                body = (first + rest(connection)).partition(b"\r\n\r\n")[2]
            self.assertLess(len(body), len(content), change)
            self.assertTrue(content.startswith(body), change)
            self.assertTrue(server.logged("GET /good: 200: ended early after"))
            server.errors.clear()
        self.file.write_bytes(content)
        with server.begin("/good") as connection:
            first = connection.recv(1000)
            (self.folder / "new").write_bytes(b"new")
            (self.folder / "new").replace(self.file)
            self.assertTrue((first + rest(connection)).partition(b"\r\n\r\n")[2] == content)
        self.assertEqual(server.ask("/good")[2], b"new")
        self.file.unlink()
        self.assertEqual(server.ask("/good")[0], 404)

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server = self.serve()
            with server.begin("/good") as connection:
                first = connection.recv(1)
                server.process.send_signal(number)
                body = (first + rest(connection)).partition(b"\r\n\r\n")[2]
            self.assertEqual(server.process.wait(30), 0)
            self.assertTrue(body == self.good)
        # One that does not end is not waited for.
        self.file.write_bytes(self.good * 8)
        for numbers, code in (([signal.SIGTERM], 0), ([signal.SIGINT, signal.SIGTERM], 143)):
            server = self.serve()
            with server.begin("/good") as connection:
                # Before its first byte comes, the server may not have the request yet, and ends at once.
                connection.recv(1)
                for number in numbers:
                    server.process.send_signal(number)
                self.assertEqual(server.process.wait(30), code)

    def test_what_is_logged(self):
        quiet, usual, verbose = self.serve(self.site, "-q"), self.serve(), self.serve(self.site, "-v")
        for server in (quiet, usual, verbose):
            server.ask("/none")
            server.ask("/good", Range="bytes=0-9")
        self.assertTrue(usual.logged("127.0.0.1: GET /none: 404: "))
        self.assertTrue(verbose.logged("127.0.0.1: GET /good: 206, 10 bytes sent"))
        self.assertEqual([len(server.errors) for server in (quiet, usual, verbose)], [0, 1, 2])

    def test_other_addresses_are_warned_of(self):
        command = [CHOSEN.mksum, "serve", self.site, "--listen", "0.0.0.0:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=CLEAN) as process:
            self.assertIn("http://0.0.0.0:", process.stdout.readline())
            process.terminate()
            self.assertIn("mksum: warning: 0.0.0.0 is not a loopback address", process.communicate()[1])
        taken = self.serve()
        command = [CHOSEN.mksum, "serve", self.site, "--listen", f"127.0.0.1:{taken.address[1]}"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=CLEAN, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Address already in use", done.stderr)


if __name__ == "__main__":
    CHOSEN, others = flags.parse_known_args()
    # A thousand clients.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with contextlib.suppress(KeyboardInterrupt):
        unittest.main(argv=[sys.argv[0], *others], verbosity=2)
