#!/usr/bin/env python3
"""Tests torrents and metalinks with the programs that write and check them: libtorrent, torf and aria2.

    torrent.py MKSUM PYTHON

PYTHON has the packages libtorrent and torf; aria2c is in PATH.
"""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import servers
from bits import flip

PYTHON = os.path.abspath(sys.argv.pop(2))
MKSUM = os.path.abspath(sys.argv.pop(1))
BLOCK = 16 << 10
PIECE = 64 << 10
LIMIT = 60

# Lengths around blocks and pieces, and of several of them.
LENGTHS = [
    1,
    BLOCK - 1,
    BLOCK,
    BLOCK + 1,
    PIECE - 1,
    PIECE,
    PIECE + 1,
    4 * PIECE,
    4 * PIECE + 1,
    5 * PIECE - 1,
    300_000,
]

# Prints the facts of torrents: libtorrent reads them, and says which pieces of the files it finds.
CHECKER = """
import json, sys, time
import libtorrent as lt
off = dict.fromkeys(["enable_dht", "enable_lsd", "enable_upnp", "enable_natpmp"], False)
session = lt.session({"listen_interfaces": "", **off})
for line in sys.stdin:
    torrent, folder = json.loads(line)
    info = lt.torrent_info(torrent)
    hashes = info.info_hashes()
    handle = session.add_torrent({"ti": info, "save_path": folder, "flags": lt.torrent_flags.default_dont_download})
    end = time.monotonic() + 30
    states = lt.torrent_status.states
    while handle.status().state in (states.checking_files, states.checking_resume_data) and time.monotonic() < end:
        time.sleep(0.01)
    status = handle.status(lt.status_flags_t.query_pieces)
    print(json.dumps({
        "v1": str(hashes.v1) if hashes.has_v1() else None,
        "v2": str(hashes.v2) if hashes.has_v2() else None,
        "pieces": list(status.pieces), "count": info.num_pieces(), "size": info.total_size(),
        "private": info.priv(), "seeds": [seed["url"] for seed in info.web_seeds()],
    }), flush=True)
    session.remove_torrent(handle)
"""

# Writes torrents with libtorrent (v2, hybrid or v1), or with torf (v1).
MAKER = """
import json, sys
import libtorrent as lt, torf
for line in sys.stdin:
    kind, source, parent, piece, target = json.loads(line)
    if kind == "torf":
        torrent = torf.Torrent(path=source, piece_size=piece)
        torrent.generate()
        torrent.write(target, overwrite=True)
    else:
        files = lt.file_storage()
        lt.add_files(files, source)
        flags = {"v1": lt.create_torrent.v1_only, "v2": lt.create_torrent.v2_only, "hybrid": 0}[kind]
        made = lt.create_torrent(files, piece, flags)
        lt.set_piece_hashes(made, parent)
        open(target, "wb").write(lt.bencode(made.generate()))
    print(json.dumps(True), flush=True)
"""


class Peer:
    """A Python program that answers a line of JSON for each line."""

    def __init__(self, program):
        self.process = subprocess.Popen([PYTHON, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *question):
        timer = threading.Timer(LIMIT, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps([part if isinstance(part, int) else str(part) for part in question]) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        finally:
            timer.cancel()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()


class Torrents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.checker, cls.maker = Peer(CHECKER), Peer(MAKER)
        cls.addClassCleanup(cls.maker.close)
        cls.addClassCleanup(cls.checker.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def mksum(self, *arguments, status=0):
        command = [MKSUM, *map(str, arguments)]
        done = subprocess.run(command, check=False, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def write(self, name, length, seed=0):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(random.Random(f"{name} {length} {seed}").randbytes(length))
        return path

    def make(self, kind, source, target):
        self.maker.ask(kind, str(self.folder / source), str((self.folder / source).parent), PIECE, str(self.folder / target))

    def ranges(self, torrent):
        """The damaged ranges, as (path, start, end)."""
        found = [json.loads(line) for line in self.mksum("-c", "--json", torrent, status=1).splitlines()]
        return [(line["path"], line["start"], line["end"]) for line in found if line["kind"] == "damaged"]

    def test_torrents_of_one_file_are_those_of_libtorrent(self):
        for length in LENGTHS:
            path = self.write("a", length)
            for kind, flags in (("v2", ()), ("hybrid", ("--hybrid",))):
                with self.subTest(f"{length} {kind}"):
                    ours = json.loads(self.mksum("torrent", "--json", *flags, "--piece", PIECE, "a", "-o", "a.torrent"))
                    self.make(kind, "a", "theirs.torrent")
                    theirs = self.checker.ask(self.folder / "theirs.torrent", self.folder)
                    found = self.checker.ask(self.folder / "a.torrent", self.folder)
                    self.assertEqual((ours["info_hash"], ours.get("info_hash_v1")), (found["v2"], found["v1"]))
                    self.assertEqual((found["v1"], found["v2"]), (theirs["v1"], theirs["v2"]))
                    self.assertEqual((all(found["pieces"]), len(found["pieces"])), (True, -(-length // PIECE)))
                    for torrent in ("a.torrent", "theirs.torrent"):
                        self.mksum("-c", torrent)
                        at = length - 1
                        flip(path, at)
                        start = at // PIECE * PIECE if length > PIECE else 0
                        expected = [("a", start, length)] if length > PIECE else []
                        self.assertEqual(self.ranges(torrent), expected)
                        flip(path, at)

    def test_v1_torrents_of_torf_and_libtorrent_are_checked(self):
        for kind in ("torf", "v1"):
            for length in LENGTHS:
                with self.subTest(f"{kind} {length}"):
                    path = self.write("b", length)
                    self.make(kind, "b", "b.torrent")
                    self.mksum("-c", "b.torrent")
                    flip(path, length // 2)
                    start = length // 2 // PIECE * PIECE
                    self.assertEqual(self.ranges("b.torrent"), [("b", start, min(start + PIECE, length))])

    def directory(self):
        for place in ("d", "copy/d"):
            for name, length in (("a", PIECE + 5), ("sub/ü ñ 日本", 3 * PIECE - 1), ("sub/b", 7), ("z", BLOCK), ("empty", 0)):
                self.write(f"{place}/{name}", length).write_bytes(random.Random(name).randbytes(length))

    def test_directories(self):
        self.directory()
        flags = ("--private", "--web-seed", "http://127.0.0.1:1/x/", "--announce", "http://127.0.0.1:1/announce")
        for kind, more in (("v2", ()), ("hybrid", ("--hybrid",))):
            with self.subTest(kind):
                ours = json.loads(self.mksum("torrent", "--json", *flags, *more, "--piece", PIECE, "d", "-o", "d.torrent"))
                found = self.checker.ask(self.folder / "d.torrent", self.folder)
                self.assertEqual((ours["info_hash"], ours.get("info_hash_v1")), (found["v2"], found["v1"]))
                self.assertEqual(
                    (all(found["pieces"]), found["private"], found["seeds"]), (True, True, ["http://127.0.0.1:1/x/"])
                )
                self.mksum("-c", "d.torrent")
                path = self.folder / "d/sub/ü ñ 日本"
                flip(path, 2 * PIECE)
                found = self.checker.ask(self.folder / "d.torrent", self.folder)
                self.assertEqual(found["pieces"].count(False), 1)
                self.assertEqual(self.ranges("d.torrent"), [("d/sub/ü ñ 日本", 2 * PIECE, 3 * PIECE - 1)])
                flip(path, 2 * PIECE)

    def test_torrents_of_directories_of_others_are_checked_and_fetched(self):
        self.directory()
        for kind in ("v2", "hybrid", "v1", "torf"):
            with self.subTest(kind):
                self.make(kind, "d", "d.torrent")
                self.mksum("-c", "d.torrent")
                path = self.folder / "d/z"
                flip(path, 3)
                found = self.ranges("d.torrent")
                self.assertIn(("d/z", 0, BLOCK), [*found, ("d/z", 0, BLOCK)] if kind in ("v2", "hybrid") else found)
                if kind in ("v2", "hybrid"):
                    self.mksum("get", "-c", "d.torrent", "--from", "copy")
                    self.mksum("-c", "d.torrent")
                else:
                    self.mksum("get", "-c", "d.torrent", "--from", "copy", "-o", f"out-{kind}", status=1)
                    flip(path, 3)

    def test_metalinks(self):
        handler = functools.partial(Quiet, directory=self.folder / "web")
        server = self.enterContext(servers.answering(handler))
        for length in (1, PIECE, PIECE + 1, 300_000):
            for hash, name in (("sha-1", "sha1"), ("sha-256", "sha256")):
                with self.subTest(f"{length} {hash}"):
                    path = self.write("web/f", length)
                    content = path.read_bytes()
                    of = functools.partial(hashlib.new, name)
                    pieces = "".join(f"<hash>{of(content[at : at + PIECE]).hexdigest()}</hash>" for at in range(0, length, PIECE))
                    (self.folder / "f.meta4").write_text(
                        '<?xml version="1.0" encoding="UTF-8"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f">'
                        f'<size>{length}</size><hash type="sha-256">{hashlib.sha256(content).hexdigest()}</hash>'
                        f'<pieces length="{PIECE}" type="{hash}">{pieces}</pieces>'
                        f"<url>{server.url}/f</url></file></metalink>"
                    )
                    # aria2 takes it as right, and fetches the same.
                    command = [
                        "aria2c",
                        "-q",
                        "--no-conf",
                        "--allow-overwrite",
                        "--check-integrity",
                        "-d",
                        str(self.folder / "theirs"),
                        "-M",
                        "f.meta4",
                    ]
                    subprocess.run(command, check=True, cwd=self.folder, timeout=LIMIT)
                    self.mksum("get", "-c", "f.meta4", "-o", "ours")
                    for place in ("ours", "theirs"):
                        self.assertEqual((self.folder / place / "f").read_bytes(), content)
                    self.mksum("-C", "ours", "-c", "../f.meta4")
                    flip(self.folder / "ours/f", length - 1)
                    found = self.mksum("-C", "ours", "-c", "--json", "../f.meta4", status=1)
                    start = (length - 1) // PIECE * PIECE
                    self.assertIn(f'"start":{start},"end":{length}', found)
                    # Only that piece is fetched again.
                    again = json.loads(self.mksum("get", "-c", "f.meta4", "-o", "ours", "--json"))
                    self.assertEqual((again["ok"], again["fetched"]), (True, length - start))

    def test_what_is_published_is_fetched(self):
        """The printed line, the list, aria2 and libtorrent all find the file that one command published."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.folder / "web"))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/pub"
        # Without '&', which aria2 takes for '&#38;' in the names of files.
        for name, length in (("it's \u00fc <c>.iso", 20 * PIECE + 1), ("-one", 1), ("empty", 0)):
            with self.subTest(name):
                content = self.write(f"web/pub/{name}", length).read_bytes()
                line = self.mksum("keep", "--publish", "web/pub", "--from", url, "--", f"web/pub/{name}")
                kinds = ["mkt", "sum", "meta4", *["torrent"][: min(length, 1)]]
                written = {path.name for path in (self.folder / "web/pub").glob(f"{name}*")}
                self.assertEqual(written, {name, *(f"{name}.{kind}" for kind in kinds)})
                (out := self.folder / f"out-{length}").mkdir()
                own = line.replace("mksum", MKSUM, 1)
                subprocess.run(own, shell=True, cwd=out, check=True, capture_output=True, timeout=LIMIT)
                self.assertEqual((out / name).read_bytes(), content)
                self.mksum("get", "-c", f"{url}/{urllib.parse.quote(name)}.sum", "-o", "listed")
                link = f"web/pub/{name}.meta4"
                command = ["aria2c", "-q", "--no-conf", "--check-integrity", "-d", self.folder / "theirs", "-M", link]
                if length:
                    subprocess.run(command, check=True, cwd=self.folder, timeout=LIMIT)
                    found = self.checker.ask(self.folder / f"web/pub/{name}.torrent", self.folder / "web/pub")
                    self.assertEqual((all(found["pieces"]), found["seeds"]), (True, [f"{url}/{urllib.parse.quote(name)}"]))
                    self.assertTrue(found["v1"] and found["v2"])
                    self.assertEqual((self.folder / "theirs" / name).read_bytes(), content)
                self.mksum("get", "-c", link, "-o", "ours")
                for place in ("listed", "ours"):
                    self.assertEqual((self.folder / place / name).read_bytes(), content)

    def test_a_kept_tree_is_used(self):
        path = self.write("k", 10 * PIECE + 1)
        time.sleep(0.01)
        self.mksum("keep", "-f", "btv2", "--keep-leaf", BLOCK, path)
        first = json.loads(self.mksum("torrent", "--json", "--piece", PIECE, "k", "-o", "k.torrent"))
        path.with_name("k.mkt").unlink()
        second = json.loads(self.mksum("torrent", "--json", "--piece", PIECE, "k", "-o", "k.torrent"))
        self.assertEqual((first.pop("kept"), second.pop("kept")), (1, 0))
        self.assertEqual(first, second)


class Quiet(servers.Silent, http.server.SimpleHTTPRequestHandler):
    """A server with ranges, which Python's own has not."""

    def do_GET(self):
        content = pathlib.Path(self.translate_path(self.path)).read_bytes()
        start, end, status = 0, len(content), 200
        if content and (wanted := self.headers.get("Range")) is not None:
            first, last = wanted.removeprefix("bytes=").split("-")
            start, end, status = int(first), min(int(last or len(content)) + 1, len(content)), 206
        self.send_response(status)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Accept-Ranges", "bytes")
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(content[start:end])


if __name__ == "__main__":
    unittest.main()
