#!/usr/bin/env python3
"""Tests hdfs:// with HDFS itself: Hadoop's mini cluster, of two datanodes in a JVM of its own.

    hdfs.py MKSUM --jars FOLDER [TEST…]

Run it with a Python that has mksum and pyspark; FOLDER has hadoop-client-minicluster and what it needs. Files are appended to,
replaced and deleted in the middle of a read, datanodes stop, blocks decay: each root is that of the bytes, or there is an error.
All servers listen on 127.0.0.1 alone.
"""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import mksum
import mksum.cluster
import mksum.spark
from cluster import MIB, Spark
from py4j.java_gateway import JavaGateway

FORMAT = "blake3"
PART = 2 * MIB
BLOCK = MIB
SIZES = {"big": 20 * MIB + 5, "empty": 0, "small": 1000, "below/a file": 2 * MIB, "below/further/last": MIB + 1}

flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)
flags.add_argument("--jars", type=pathlib.Path, required=True)


class Between:
    """Passes calls on to the namenode, and does what a test asks for before each."""

    def __init__(self, namenode, stack):
        self.namenode, self.stopped = namenode, False
        self.before = lambda method, number: None
        self.numbers, self.opened = {}, []
        self.lock = threading.Lock()
        self.listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.url = f"hdfs://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def reset(self, before=lambda method, number: None):
        """Has `before(method, number)` be called before each call, the first of a method being number 1."""
        self.before, self.numbers, self.opened = before, {}, []

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.namenode))
            threading.Thread(target=self.calls, args=(client, server), daemon=True).start()
            threading.Thread(target=self.answers, args=(server, client), daemon=True).start()

    def calls(self, client, server):
        with contextlib.suppress(OSError, EOFError), client, server:
            # Before the first call there are seven bytes about the connection.
            server.sendall(self.exactly(client, 7))
            while True:
                head = self.exactly(client, 4)
                call = self.exactly(client, struct.unpack(">I", head)[0])
                for method in ("getFileInfo", "getBlockLocations"):
                    if method.encode() in call:
                        with self.lock:
                            self.numbers[method] = self.numbers.get(method, 0) + 1
                            if method == "getBlockLocations":
                                self.opened.append(call)
                            self.before(method, self.numbers[method])
                server.sendall(head + call)

    def exactly(self, client, size):
        found = client.recv(size, socket.MSG_WAITALL)
        if len(found) != size:
            raise EOFError
        return found

    def answers(self, server, client):
        with contextlib.suppress(OSError):
            while some := server.recv(1 << 16):
                client.sendall(some)


class Hdfs:
    """The mini cluster, and the server before its namenode."""

    def __init__(self, folder, stack):
        jars = ":".join(map(str, sorted(CHOSEN.jars.glob("*.jar"))))
        self.gateway = JavaGateway.launch_gateway(classpath=jars, die_on_exit=True, javaopts=["-Xmx400m"])
        stack.callback(self.gateway.shutdown)
        self.folder = folder
        hadoop = self.gateway.jvm.org.apache.hadoop
        self.path = hadoop.fs.Path
        settings = hadoop.conf.Configuration()
        options = {
            "hdfs.minidfs.basedir": folder / "hdfs",
            "dfs.namenode.fs-limits.min-block-size": BLOCK,
            "dfs.blocksize": BLOCK,
            "dfs.replication": 2,
            # A file is not written on one machine because the other is stopped.
            "dfs.client.block.write.replace-datanode-on-failure.enable": "false",
        }
        for name, value in options.items():
            settings.set(name, str(value))
        self.cluster = hadoop.hdfs.MiniDFSCluster.Builder(settings).numDataNodes(2).build()
        stack.callback(self.cluster.shutdown)
        self.files = self.cluster.getFileSystem()
        self.between = Between(self.cluster.getNameNodePort(), stack)
        self.url = self.between.url

    def put(self, name, content):
        """Writes a file, in the place of one that is there."""
        copy = self.folder / "content"
        copy.write_bytes(content)
        self.files.copyFromLocalFile(False, True, self.path(str(copy)), self.path(name))

    def append(self, name, content):
        out = self.files.append(self.path(name))
        out.write(content)
        out.close()

    def delete(self, name):
        self.files.delete(self.path(name), False)

    def copies(self, block):
        """The datanodes' files with this content."""
        found = []
        for path in (self.folder / "hdfs").rglob("blk_*"):
            # Datanodes delete the blocks of replaced files in the background.
            with contextlib.suppress(FileNotFoundError):
                if path.read_bytes() == block:
                    found.append(path)
        return found

    @contextlib.contextmanager
    def stopped(self, *numbers):
        """Some datanodes are not there."""
        stopped = [self.cluster.stopDataNode(number) for number in sorted(numbers, reverse=True)]
        try:
            yield
        finally:
            for properties in stopped:
                # At another port: a connection may hold the one that it had.
                self.cluster.restartDataNode(properties, False)
            self.cluster.waitActive()


class WithHdfs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = cls.enterClassContext(contextlib.ExitStack())
        cls.stack = stack
        cls.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        # Nothing of the environment's configuration counts; a server that is not there is asked three times.
        os.environ.update(HADOOP_CONF_DIR=str(cls.folder), AWS_MAX_ATTEMPTS="3")
        cls.hdfs = Hdfs(cls.folder, stack)
        cls.chance = random.Random(18)
        cls.numbers = itertools.count()

    def setUp(self):
        self.hdfs.between.reset()
        self.place = f"/test{next(self.numbers)}"
        self.url = self.hdfs.url + self.place
        self.contents = {name: self.chance.randbytes(size) for name, size in SIZES.items()}
        for name, content in self.contents.items():
            self.hdfs.put(f"{self.place}/{name}", content)

    def tool(self, *arguments, status=0, **more):
        command = [CHOSEN.mksum, *map(str, arguments)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, **more)
        self.assertEqual(done.returncode, status, (command, done.stdout, done.stderr))
        return done.stdout, done.stderr

    def expected(self, fmt=FORMAT):
        return {f"{self.url}/{name}": mksum.root(content, fmt).text for name, content in self.contents.items()}

    def on(self, method, number, call):
        """Has `call` be called once, before a call of the namenode's. Returns what is set then."""
        done = threading.Event()

        def before(name, count):
            if (name, count) == (method, number) and not done.is_set():
                done.set()
                call()

        self.hdfs.between.reset(before)
        return done

    def test_1_roots_are_those_of_local_files(self):
        for fmt in (FORMAT, "md5", "rfc6962:sha256:64KiB"):
            out, _ = self.tool("--json", "-f", fmt, "-r", f"{self.url}/")
            rows = [json.loads(line) for line in out.splitlines()]
            self.assertEqual({row["path"]: row["root"] for row in rows if "root" in row}, self.expected(fmt))
        # The file system that Hadoop's configuration names.
        conf = self.folder / "conf"
        conf.mkdir()
        named = f"<property><name>fs.defaultFS</name><value>{self.hdfs.url}</value></property>"
        (conf / "core-site.xml").write_text(f"<configuration>{named}</configuration>")
        environment = {**os.environ, "HADOOP_CONF_DIR": str(conf)}
        out, _ = self.tool("-f", FORMAT, f"hdfs://{self.place}/big", env=environment)
        self.assertIn(mksum.root(self.contents["big"], FORMAT).text, out)
        # The default port is not guessed.
        self.assertIn("name the port", self.tool("hdfs://127.0.0.1/big", status=1)[1])
        self.assertIn("no such object", self.tool(f"{self.url}/none", status=1)[1])
        self.assertIn("Connection refused", self.tool("hdfs://127.0.0.1:1/big", status=1)[1])

    def test_2_trees_are_kept_and_files_repaired(self):
        url = f"{self.url}/big"
        self.tool("keep", "-f", FORMAT, url, "-o", f"{url}.mkt")
        self.tool("verify", url, "--outboard", f"{url}.mkt")
        copy = self.folder / "copy"
        copy.write_bytes(self.contents["big"][: 3 * MIB] + bytes(100_000) + self.contents["big"][3 * MIB + 100_000 :])
        self.tool("repair", copy, "--from", url, "--outboard", f"{url}.mkt")
        self.assertEqual(copy.read_bytes(), self.contents["big"])
        # The bytes change, and length and outboard do not.
        self.hdfs.put(f"{self.place}/big", self.contents["big"][:-1] + b"!")
        self.tool("verify", url, "--outboard", f"{url}.mkt", status=1)

    def test_3_a_file_that_changes_while_it_is_read_has_no_root(self):
        name = f"{self.place}/big"
        other = self.chance.randbytes(SIZES["big"])

        def cut():
            self.hdfs.files.truncate(self.hdfs.path(name), 18 * BLOCK)

        changes = {
            "appended": lambda: self.hdfs.append(name, b"more"),
            "replaced": lambda: self.hdfs.put(name, other),
            "deleted": lambda: self.hdfs.delete(name),
            "truncated": cut,
        }
        # The facts of the file are asked for when it is opened and after each range, its blocks once, after the opening.
        calls = [("getBlockLocations", 1), ("getFileInfo", 4)]
        for (what, change), (method, number) in itertools.product(changes.items(), calls):
            with self.subTest(what=what, method=method, number=number):
                self.hdfs.put(name, self.contents["big"])
                done = self.on(method, number, change)
                out, error = self.tool("-f", FORMAT, f"{self.url}/big", status=1)
                self.assertTrue(done.is_set())
                self.assertEqual(out, "")
                self.assertRegex(error, "is gone" if what == "deleted" else "its ETag was|bytes and has")

    def test_4_datanodes_stop_and_blocks_decay(self):
        expected = mksum.root(self.contents["big"], FORMAT).text
        with contextlib.ExitStack() as until:
            done = self.on("getFileInfo", 2, lambda: until.enter_context(self.hdfs.stopped(0)))
            self.assertIn(expected, self.tool("-f", FORMAT, f"{self.url}/big")[0])
            self.assertTrue(done.is_set())
        with self.hdfs.stopped(0, 1):
            out, error = self.tool("-f", FORMAT, f"{self.url}/big", status=1)
            self.assertEqual(out, "")
            self.assertIn("DataNodes failed", error)
        content = self.contents["below/a file"]
        copies = self.hdfs.copies(content[:BLOCK])
        self.assertEqual(len(copies), 2)
        copies[0].write_bytes(b"!" + content[1:BLOCK])
        expected = mksum.root(content, FORMAT).text
        self.assertIn(expected, self.tool("-f", FORMAT, f"{self.url}/below/a file")[0])
        copies[1].write_bytes(b"!" + content[1:BLOCK])
        out, _ = self.tool("-f", FORMAT, f"{self.url}/below/a file", status=1)
        self.assertEqual(out, "")

    def test_5_jobs_read_hdfs(self):
        spark = Spark(self.folder / "work", self.stack).session
        big = f"{self.url}/big"

        def with_spark(ledger):
            frame = mksum.spark.hash(spark, self.url, f"{self.hdfs.url}{ledger}", FORMAT, part=PART, task=4 * MIB)
            return [row.asDict() for row in frame.collect()]

        def here(ledger):
            return mksum.cluster.hash(self.url, f"{self.hdfs.url}{ledger}", FORMAT, part=PART, task=4 * MIB)

        for job in (with_spark, here):
            with self.subTest(job=job.__name__):
                ledger = f"/ledger{next(self.numbers)}"
                self.hdfs.put(f"{self.place}/big", self.contents["big"])
                other = self.chance.randbytes(SIZES["big"])
                # Blocks are asked for when a file is opened: here in the middle of the job.
                done = self.on("getBlockLocations", 3, lambda other=other: self.hdfs.put(f"{self.place}/big", other))
                results = {row["object"]: row for row in job(ledger)}
                self.assertTrue(done.is_set())
                expected = self.expected()
                self.assertEqual((results[big]["root"], results[big]["status"]), (None, "changed"), results[big])
                found = {url: row["root"] for url, row in results.items() if url != big}
                self.assertEqual(found, {url: root for url, root in expected.items() if url != big})
                # The next run reads that file alone.
                self.assertTrue(any(b"/small" in call for call in self.hdfs.between.opened))
                self.contents["big"] = other
                self.hdfs.between.reset()
                results = job(ledger)
                self.assertEqual({row["object"]: row["root"] for row in results}, self.expected())
                self.assertFalse([call for call in self.hdfs.between.opened if b"/small" in call or b"/below/" in call])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    CHOSEN, rest = flags.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
