#!/usr/bin/env python3
"""Measures the bars of `mksum get` on this machine alone: from two nginx, beside aria2, curl and wget2.

    run.py MKSUM [--size BYTES] [--rounds N] [--sparse BYTES] [--folder DIR] [CASE ...]

Cases, all of them by default; the figures of each are compared with its bar, and the last lines say which bars are met:

two      SIZE bytes from two nginx without a limit: `mksum get` beside aria2c -x16 with a metalink (a SHA-256 of the whole, and
         SHA-1 sums of pieces of 1 MiB, which it needs to find a wrong one), `curl -Z` (a half from each; verifies nothing) and
         wget2 (if it is installed; verifies nothing). Bars: wall at most aria2c's; CPU at most 1.15 times that of curl and of
         hashing the file in memory.
gigabit  a quarter of SIZE through two relays of 1 Gbit/s each, which count the bytes of all their connections.
         Bar: at least 0.9 of their sum.
corrupt  a quarter of SIZE from a mirror of which every tenth leaf is wrong, and a right one. Bars: the file is right; only
         wrong leaves are fetched twice.
first    the first byte of `-o -` through a relay that keeps each request for 100 ms. Bar: the outboard and two more round
         trips, with the one that asks for its length: 4.
sparse   the largest resident memory of `-o -` from a sparse file of --sparse bytes, of which a tenth is read. The outboard lies
         beside it on the server. Bar: 100 MB.

Every file is compared with the original. DIR is in memory, so that no disk decides, and needs room for twice SIZE.
"""

import contextlib
import filecmp
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from timing import Options, judged, measure, output

PIECE, LEAF, GIGABIT, HELD = 1 << 20, 64 << 10, 125_000_000, 0.1
CONFIGURATION = """
daemon off; master_process off; error_log /dev/null; pid {folder}/pid-{port};
events {{ worker_connections 256; }}
http {{
    access_log off; sendfile on; keepalive_requests 1000000;
    client_body_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp;
    uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
    server {{ listen 127.0.0.1:{port}; root {folder}/site; }}
}}
"""
METALINK = """<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file"><size>{size}</size><hash type="sha-256">{whole}</hash>
<pieces length="{piece}" type="sha-1">{pieces}</pieces>{urls}</file></metalink>
"""


@contextlib.contextmanager
def server(folder, port):
    """Yields the URL of an nginx over folder/site."""
    configuration = folder / f"nginx-{port}.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, port=port))
    command = ["nginx", "-e", "/dev/null", "-p", folder, "-c", configuration]
    with subprocess.Popen(command) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            # Until it listens.
            probe = ["curl", "-s", "-o", os.devnull, "--retry", "20", "--retry-connrefused", "--retry-delay", "1", url]
            subprocess.run(probe, check=True)
            yield url
        finally:
            process.terminate()


class Relay:
    """A relay to a server on this machine, at a rate of all connections (bytes a second), or with a wait of each request."""

    def __init__(self, port, rate=None, held=0):
        self.port, self.rate, self.held, self.lock, self.free = port, rate, held, threading.Lock(), 0.0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.port))
                for pair, wait in (((near, far), self.hold), ((far, near), self.pay)):
                    threading.Thread(target=self.pump, args=(*pair, wait), daemon=True).start()

    def hold(self, _):
        time.sleep(self.held)

    def pay(self, count):
        """Waits until these bytes may pass: at most 10 ms of the rate are saved up."""
        if self.rate:
            with self.lock:
                now = time.monotonic()
                self.free = max(self.free, now - 0.01) + count / self.rate
                wait = self.free - now
            time.sleep(max(wait, 0))

    def pump(self, source, target, wait):
        with contextlib.suppress(OSError):
            while part := source.recv(128 << 10):
                wait(len(part))
                target.sendall(part)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def metalink(file, urls, to):
    whole, pieces = hashlib.sha256(), []
    with open(file, "rb") as content:
        while piece := content.read(PIECE):
            whole.update(piece)
            pieces.append(f"<hash>{hashlib.sha1(piece).hexdigest()}</hash>")
    urls = "".join(f"<url>{url}</url>" for url in urls)
    size = file.stat().st_size
    to.write_text(METALINK.format(size=size, whole=whole.hexdigest(), piece=PIECE, pieces="".join(pieces), urls=urls))
    return to


class Bench:
    """The files, the servers, and what was found of the bars."""

    def __init__(self, chosen, folder):
        self.chosen, self.folder, self.out, self.bars = chosen, folder, folder / "out", []

    def bar(self, words, figure, limit, unit, at_least=False):
        self.bars.append(judged(words, figure, limit, unit, at_least))

    def file(self, name, size):
        file = self.folder / "site" / name
        if not file.exists():
            subprocess.run(f"head -c {size} /dev/urandom > {file}", shell=True, check=True)
        return file

    def keep(self, file, form="rfc6962:sha256:64KiB"):
        """Returns the arguments with the root and the outboard of a file."""
        kept = f"{file}.{form.partition(':')[0]}"
        root = output([self.chosen.mksum, "keep", "-f", form, "-o", kept, file]).split()[-1]
        return ["--root", f"{form}:{root}", "--outboard", kept]

    def get(self, urls, trusted, connections, *more):
        return [self.chosen.mksum, "get", *urls, "-o", f"{self.out}/file", "--connections", str(connections), *trusted, *more]

    def aria2(self, file, urls, split, *more):
        link = metalink(file, urls, self.folder / f"{file.name}.meta4")
        fast = ["-x16", f"-s{split}", "-k1M", "--file-allocation=none", "--console-log-level=error", "-q", "--no-conf", *more]
        return ["aria2c", *fast, "--check-integrity=true", "-d", str(self.out), str(link)]

    def fresh(self, file):
        """Compares what the last command fetched, and removes it: `file`, or its halves `a` and `b`."""
        if self.out.exists():
            if (whole := self.out / "file").exists():
                assert filecmp.cmp(whole, file, shallow=False), "another file was fetched"
            elif (half := self.out / "a").exists():
                assert half.stat().st_size + (self.out / "b").stat().st_size == file.stat().st_size
            shutil.rmtree(self.out)
        self.out.mkdir()

    def two(self, urls):
        size = self.chosen.size
        file = self.file("file", size)
        sources = [f"{url}/file" for url in urls]
        forms = {form: self.keep(file, form) for form in ("rfc6962:sha256:64KiB", "blake3")}
        half = [["-r", part, "-o", f"{self.out}/{name}", url]
                for part, name, url in zip((f"0-{size // 2 - 1}", f"{size // 2}-"), "ab", sources, strict=True)]
        commands = {f"mksum get, {form}": self.get(sources, trusted, 16) for form, trusted in forms.items()}
        commands |= {
            "aria2c -x16": self.aria2(file, sources, 16),
            "curl": ["curl", "-s", "-o", f"{self.out}/file", sources[0]],
            "curl -Z, a half from each": ["curl", "-s", "-Z", *half[0], "--next", "-s", *half[1]],
            **{f"mksum -f {form}, in memory": [self.chosen.mksum, "-f", form, str(file)] for form in forms},
        }
        if shutil.which("wget2"):
            parts = ["--max-threads=16", "--chunk-size=16M"]
            commands["wget2"] = ["wget2", "-q", "--no-config", *parts, "-O", f"{self.out}/file", sources[0]]
        rows = measure("two", commands, size / 1e9, "GB", self.chosen.rounds, lambda: self.fresh(file))
        self.fresh(file)
        wall = {row["subject"]: row["median"] for row in rows}
        cpu = {row["subject"]: row["cpu_seconds"] for row in rows}
        for form in forms:
            own = f"mksum get, {form}"
            self.bar(f"two: wall of {own}, against aria2c", wall[own] / wall["aria2c -x16"], 1, "times")
            plain = cpu["curl"] + cpu[f"mksum -f {form}, in memory"]
            self.bar(f"two: CPU of {own}, against curl and hashing", cpu[own] / plain, 1.15, "times")
        file.unlink()

    def gigabit(self, urls):
        file = self.file("quarter", self.chosen.size // 4)
        trusted, size = self.keep(file), file.stat().st_size
        with contextlib.ExitStack() as stack:
            relays = [stack.enter_context(Relay(int(url.rpartition(":")[2]), GIGABIT)) for url in urls]
            sources = [f"{relay.url}/quarter" for relay in relays]
            aria2 = self.aria2(file, sources, 16, "-o", "file")
            commands = {"mksum get": self.get(sources, trusted, 16), "aria2c -x16": aria2}
            rows = measure("gigabit", commands, size / 1e9, "GB", self.chosen.rounds, lambda: self.fresh(file))
        self.fresh(file)
        self.bar("gigabit: two mirrors of 1 Gbit/s", size / rows[0]["median"] / (2 * GIGABIT), 0.9, "of their sum", at_least=True)

    def corrupt(self, urls):
        file = self.file("quarter", self.chosen.size // 4)
        trusted, size = self.keep(file), file.stat().st_size
        bad = self.folder / "site" / "bad"
        shutil.copyfile(file, bad)
        with open(bad, "r+b") as content:
            for at in range(3 * LEAF, size, 10 * LEAF):
                content.seek(at)
                byte = content.read(1)
                content.seek(at)
                content.write(bytes([byte[0] ^ 1]))
        self.fresh(file)
        begin = time.monotonic()
        found = json.loads(output(self.get([f"{urls[0]}/quarter", f"{urls[1]}/bad"], trusted, 16, "--json")))
        took = time.monotonic() - begin
        self.fresh(file)
        wrong = [part for mirror in found["mirrors"] for part in mirror["bad"]]
        assert all(start // LEAF % 10 == 3 and end - start <= LEAF for start, end in wrong), "a right leaf was refused"
        again = sum(mirror["bytes"] for mirror in found["mirrors"]) - size
        print(f"corrupt: {took:.3f} s, {len(wrong)} wrong leaves refused, {again:,} bytes fetched twice", flush=True)
        bad_bytes = sum(end - start for start, end in wrong)
        self.bar("corrupt: bytes fetched twice, against those that were wrong", again / max(1, bad_bytes), 1, "times")
        bad.unlink()

    def first(self, urls):
        self.file("quarter", self.chosen.size // 4)
        file = self.folder / "site" / "quarter"
        trusted = self.keep(file)[:2]
        os.rename(f"{file}.rfc6962", f"{file}.mkt")
        with Relay(int(urls[0].rpartition(":")[2]), held=HELD) as relay:
            for name, command in {"mksum get": [self.chosen.mksum, "get", f"{relay.url}/quarter", *trusted, "-o", "-", "-q"],
                                  "curl": ["curl", "-s", f"{relay.url}/quarter"]}.items():
                begin = time.monotonic()
                with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                    byte = process.stdout.read(1)
                    took = time.monotonic() - begin
                    process.kill()
                with open(file, "rb") as content:
                    assert byte == content.read(1)
                print(f"first: {name}: {took:.3f} s, {took / HELD:.2f} requests that wait {HELD} s each", flush=True)
                if name == "mksum get":
                    # What is not a request takes less than another one.
                    self.bar("first: requests before the first byte", took // HELD, 4, "of them")

    def sparse(self, urls):
        file = self.folder / "site" / "sparse"
        with open(file, "wb") as content:
            content.truncate(self.chosen.sparse)
        trusted, kept = self.keep(file)[:2], f"{file}.mkt"
        os.rename(f"{file}.rfc6962", kept)
        command = [self.chosen.mksum, "get", f"{urls[0]}/sparse", *trusted, "-o", "-", "-q"]
        left = self.chosen.sparse // 10
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        while left > 0 and (part := process.stdout.read(1 << 20)):
            assert not part.strip(b"\0"), "a byte that is not zero"
            left -= len(part)
        assert left <= 0, "the file ended early"
        process.stdout.close()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        length = f"{self.chosen.sparse / 1e9:g} GB"
        self.bar(f"sparse: resident memory, of a file of {length}", usage.ru_maxrss * 1024 / 1e6, 100, "MB")
        file.unlink()
        os.unlink(kept)


def main():
    options = Options(__doc__, ["two", "gigabit", "corrupt", "first", "sparse"], rounds=3)
    options.add_argument("--sparse", default=100_000_000_000, type=int, help="in bytes [100 GB]")
    chosen = options.chosen(("nginx", "aria2c", "curl"), "nginx-light aria2 curl wget2", copies=2)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as place, contextlib.ExitStack() as stack:
        folder = pathlib.Path(place).resolve()
        (folder / "site").mkdir()
        (folder / "tmp").mkdir()
        urls = [stack.enter_context(server(folder, port)) for port in (8711, 8712)]
        bench = Bench(chosen, folder)
        for case in chosen.cases:
            getattr(bench, case)(urls)
            shutil.rmtree(bench.out, ignore_errors=True)
    print(f"\nAfter {time.monotonic() - begin:.0f} s:", *bench.bars, sep="\n")


if __name__ == "__main__":
    main()
