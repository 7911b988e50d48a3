#!/usr/bin/env python3
"""Tests mksum.spark, mksum.dask and mksum.ray on clusters of this machine, with objects in versitygw behind a server with faults.

    cluster.py MKSUM --versitygw PROGRAM [TEST…]

Run it with a Python that has mksum, pyspark, distributed, ray and boto3. Workers are killed, objects are replaced and deleted in
the middle of a job, servers fail, drivers are killed: each root is the tool's, or there is an error. Stores listen on 127.0.0.1
alone.
"""

import argparse
import collections
import contextlib
import glob
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid
import warnings
import zlib

import boto3
import servers
from bits import flip
from stores import CLEAN, KEYS

MIB = 1 << 20
PART, TASK = MIB, 12 * MIB
FORMAT = "blake3"
JOB = [sys.executable, __file__]
LOCAL = "local-cluster[2,1,1024]"

flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)
flags.add_argument("--versitygw", type=os.path.abspath, required=True)
# A driver of its own, which can be killed: hashes s3://bucket/ with this engine, verifies that in this run if one is named, and
# prints the results.
flags.add_argument("--job", nargs="+", metavar=("ENGINE", "LEDGER"), help=argparse.SUPPRESS)


class Between(servers.Forwarding):
    """Passes requests on to a store, counts what is read of objects, and does what a test asks for at each."""

    def do_GET(self):
        with self.server.lock:
            self.server.busy += 1
        try:
            self.pass_on()
        finally:
            with self.server.lock:
                self.server.busy -= 1

    def pass_on(self):
        server, (_, bucket, key) = self.server, (self.path.partition("?")[0] + "//").split("/", 2)
        key = key.strip("/") if bucket == "bucket" else ""
        sent, fault = self.sent(), {}
        if key:
            with server.lock:
                server.gets[key] += 1
                number = sum(server.gets.values())
            fault = server.fault(key, number) or {}
        time.sleep(fault.get("slow", 0))
        if "status" in fault:
            self.answer(fault["status"], {}, b"")
            return
        status, headers, body = self.ask(sent)
        if key and status in (200, 206):
            with server.lock:
                server.bytes += len(body)
            if "flip" in fault and body:
                body = bytes([body[0] ^ 1]) + body[1:]
        self.answer(status, headers, body)

    do_HEAD = do_PUT = do_GET


class Counting(servers.Patient):
    connections = 0
    busy = 0

    def get_request(self):
        self.connections += 1
        return super().get_request()


class Store:
    """A bucket, and the server with faults before it."""

    def __init__(self, folder, stack):
        address = stack.enter_context(servers.versitygw(CHOSEN.versitygw, folder, KEYS))
        self.direct = {**CLEAN, **KEYS, "AWS_ENDPOINT_URL": address}
        self.client = boto3.client(
            "s3",
            endpoint_url=self.direct["AWS_ENDPOINT_URL"],
            region_name=KEYS["AWS_REGION"],
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        )
        for name in ("bucket", "ledgers"):
            self.client.create_bucket(Bucket=name)
        self.chance = random.Random(18)
        own = {"store": int(address.rpartition(":")[2]), "lock": threading.Lock()}
        self.between = stack.enter_context(servers.answering(Between, Counting, **own))
        self.url = self.between.url
        self.reset()

    def reset(self, fault=lambda key, number: None):
        """Forgets what was counted, and has `fault(key, number)` say what happens at the next requests for objects."""
        self.between.gets, self.between.bytes, self.between.fault = collections.Counter(), 0, fault

    def put(self, key, size):
        self.client.put_object(Bucket="bucket", Key=key, Body=self.chance.randbytes(size))

    def fill(self):
        for key, size in {"big": 24 * MIB + 5, "mid/1": 5 * MIB, "mid/2": 3 * MIB + 1, "empty": 0}.items():
            self.put(key, size)
        for number in range(20):
            self.put(f"small/{number:02}", self.chance.choice([1, 1000, 70_000]))

    def roots(self, fmt=FORMAT):
        """The tool's roots by URL."""
        command = [CHOSEN.mksum, "--json", "-f", fmt, "-r", "s3://bucket/"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=self.direct)
        return {row["path"]: row["root"] for row in map(json.loads, done.stdout.splitlines()) if "root" in row}


def processes(*words):
    """The processes whose command lines have all of these words."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = pathlib.Path(path).read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if all(word in line for word in words):
                found.append(int(path.split("/")[2]))
    return found


def marked(mark):
    """The processes with a mark in the environment that they began with."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"MKSUM_TEST_JOB={mark}".encode() in pathlib.Path(path).read_bytes():
                found.append(int(path.split("/")[2]))
    return found


class Spark:
    """Two executors, each a JVM with a Python worker, whose slow tasks are started twice."""

    name = "spark"

    def __init__(self, folder, stack, remote=None):
        from pyspark.sql import SparkSession

        os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, SPARK_WORKER_DIR=str(folder))
        import pyspark

        os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
        builder = SparkSession.builder.remote(remote) if remote else SparkSession.builder.master(LOCAL)
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "700m",
            "spark.sql.shuffle.partitions": "4",
            "spark.speculation": "true",
            "spark.speculation.quantile": "0.3",
            "spark.speculation.multiplier": "1.2",
            "spark.speculation.interval": "50ms",
            "spark.local.dir": str(folder),
            # A folder under a name that Hadoop alone knows.
            "spark.hadoop.fs.viewfs.mounttable.here.link./ledgers": (folder.parent / "ledgers").as_uri(),
        }
        for name, value in options.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        stack.callback(self.session.stop)
        if not remote:
            self.session.sparkContext.setLogLevel("OFF")

    def hash(self, source, ledger, fmt=FORMAT, **options):
        import mksum.spark

        frame = mksum.spark.hash(self.session, source, str(ledger), fmt, part=PART, task=TASK, **options)
        return [row.asDict() for row in frame.collect()]

    def verify(self, kept, ledger, **options):
        import mksum.spark

        frame = self.session.createDataFrame(kept, mksum.spark.RESULTS)
        found = mksum.spark.verify(self.session, frame, str(ledger), part=PART, task=TASK, **options)
        return [row.asDict() for row in found.collect()]

    def kill(self):
        executors = processes("CoarseGrainedExecutorBackend", self.session.sparkContext.applicationId)
        os.kill(executors[0], signal.SIGKILL)


class Dask:
    """Two processes of one thread."""

    name = "dask"

    def __init__(self, folder, stack):
        import distributed

        options = {"processes": True, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
        cluster = stack.enter_context(distributed.LocalCluster(**options, silence_logs=50, local_directory=str(folder)))
        self.client = stack.enter_context(distributed.Client(cluster))

    def hash(self, source, ledger, fmt=FORMAT, **options):
        import mksum.dask

        return mksum.dask.hash(self.client, source, str(ledger), fmt, part=PART, task=TASK, **options)

    def verify(self, kept, ledger, **options):
        import mksum.dask

        return mksum.dask.verify(self.client, kept, str(ledger), part=PART, task=TASK, **options)

    def kill(self):
        os.kill(next(iter(self.pids)), signal.SIGKILL)

    def before_kill(self):
        self.pids = self.client.run(os.getpid).values()


class Ray:
    """Two processes."""

    name = "ray"

    def __init__(self, folder, stack):
        os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
        import ray

        # Sockets have short names only.
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True))
        options = {"include_dashboard": False, "log_to_driver": False, "configure_logging": False, "_temp_dir": place}
        ray.init(num_cpus=2, object_store_memory=100 * MIB, **options)
        stack.callback(ray.shutdown)

    def hash(self, source, ledger, fmt=FORMAT, **options):
        import mksum.ray

        return mksum.ray.hash(source, str(ledger), fmt, part=PART, task=TASK, **options)

    def verify(self, kept, ledger, **options):
        import mksum.ray

        return mksum.ray.verify(kept, str(ledger), part=PART, task=TASK, **options)

    def kill(self):
        os.kill(processes("ray::_call")[0], signal.SIGKILL)


RESULT = dict.fromkeys(("object", "etag", "size", "format", "root", "status", "error", "run", "verified_at"))
ENGINES = {engine.name: engine for engine in (Spark, Dask, Ray)}


class Engine:
    """What is true of each engine."""

    @classmethod
    def setUpClass(cls):
        stack = cls.enterClassContext(contextlib.ExitStack())
        cls.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        cls.store = Store(cls.folder, stack)
        cls.store.fill()
        # Workers read through the server with faults.
        os.environ.update({**KEYS, "AWS_ENDPOINT_URL": cls.store.url})
        cls.engine = cls.kind(cls.folder / "work", stack)
        cls.numbers = itertools.count()

    def setUp(self):
        self.store.reset()
        self.ledger = self.folder / f"ledger{next(self.numbers)}"
        self.began = time.monotonic()

    def tearDown(self):
        print(f"    {time.monotonic() - self.began:.1f} s", file=sys.stderr)

    def right(self, results, fmt=FORMAT):
        """All results are ok, and the roots are the tool's."""
        self.assertEqual({row["status"] for row in results}, {"ok"}, results)
        self.assertEqual({row["object"]: row["root"] for row in results}, self.store.roots(fmt))

    def only_wrong(self, results, status, error):
        """All results but that of `big` are right."""
        [wrong] = [row for row in results if row["object"] == "s3://bucket/big"]
        self.assertEqual((wrong["root"], wrong["status"]), (None, status), wrong)
        self.assertRegex(wrong["error"], error)
        expected = self.store.roots()
        for row in results:
            if row is not wrong:
                self.assertEqual((row["status"], row["root"]), ("ok", expected[row["object"]]))

    def test_1_roots_are_those_of_the_tool_and_nothing_is_read_twice(self):
        told, plans = [], []
        options = {"on_plan": lambda *plan: plans.append(plan), "on_progress": told.append}
        results = self.engine.hash("s3://bucket/", self.ledger, **options)
        self.right(results)
        self.assertEqual(set(results[0]), set(RESULT))
        total = sum(row["size"] for row in results)
        self.assertEqual(sum(told), total)
        self.assertEqual(plans, [(total, len(results))])
        # Speculation may read a task twice.
        self.assertLess(self.store.between.bytes, 2 * total + MIB)
        self.store.reset()
        self.right(self.engine.hash("s3://bucket/", self.ledger, **options))
        self.assertEqual((self.store.between.bytes, plans[1:], sum(told)), (0, [(0, 0)], total))
        # The tool joins from the same ledger, with a plan of its own.
        command = [CHOSEN.mksum, "plan", "-f", FORMAT, "--range", "1MiB", "-r", "s3://bucket/"]
        plan = self.folder / "plan"
        plan.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=self.store.direct).stdout)
        rows = sorted((self.ledger / "rows=digests").glob("part-*"))
        joined = subprocess.run([CHOSEN.mksum, "join", "--plan", plan, *rows], check=True, capture_output=True, text=True)
        expected = {f"{FORMAT} ({url}) = {root}" for url, root in self.store.roots().items()}
        self.assertEqual((set(joined.stdout.splitlines()), joined.stderr), (expected, ""))
        # What the tool hashed counts as well.
        other = self.folder / f"{self.ledger.name}-of-the-tool"
        (other / "rows=digests").mkdir(parents=True)
        with open(other / "rows=digests" / "mapped", "wb") as out:
            subprocess.run([CHOSEN.mksum, "map", plan], check=True, stdout=out, env=self.store.direct)
        self.right(self.engine.hash("s3://bucket/", other))
        self.assertEqual(self.store.between.bytes, 0)

    def test_2_a_worker_is_killed(self):
        killed = []

        def fault(_, number):
            if number == 8:
                killed.append(self.engine.kill())
            return {"slow": 0.05}

        getattr(self.engine, "before_kill", lambda: None)()
        self.store.reset(fault)
        self.right(self.engine.hash("s3://bucket/", self.ledger))
        self.assertEqual(len(killed), 1)

    def test_3_an_object_is_replaced(self):
        done = threading.Event()

        def fault(key, _):
            if key == "big" and self.store.between.gets["big"] == 2 and not done.is_set():
                done.set()
                self.store.put("big", 24 * MIB + 5)
            return {}

        self.store.reset(fault)
        self.only_wrong(self.engine.hash("s3://bucket/", self.ledger), "changed", "another version|is .* now|plan it again")
        self.assertTrue(done.is_set())
        self.store.reset()
        self.right(self.engine.hash("s3://bucket/", self.ledger))
        # Only the object that was replaced is read by the next run.
        self.assertEqual(set(self.store.between.gets), {"big", "empty"} & {*self.store.between.gets} | {"big"})

    def test_4_an_object_is_deleted(self):
        done = threading.Event()

        def fault(key, _):
            if key == "big" and self.store.between.gets["big"] == 2 and not done.is_set():
                done.set()
                self.store.client.delete_object(Bucket="bucket", Key="big")
            return {}

        self.store.reset(fault)
        try:
            self.only_wrong(self.engine.hash("s3://bucket/", self.ledger), "gone", "gone|no such object")
        finally:
            self.store.put("big", 24 * MIB + 5)

    def test_5_servers_fail_and_are_slow(self):
        chance = random.Random(5)
        self.store.reset(lambda *_: {"status": 503} if chance.random() < 0.2 else {"slow": chance.random() / 10})
        self.right(self.engine.hash("s3://bucket/", self.ledger))

    def test_6_rows_are_there_twice_or_are_wrong(self):
        self.engine.hash("s3://bucket/", self.ledger)
        rows = [path for path in (self.ledger / "rows=digests").glob("part-*") if path.stat().st_size]
        for path in rows:
            path.with_name(f"part-again{path.name}").write_bytes(path.read_bytes() + path.read_bytes()[:50])
        self.store.reset()
        self.right(self.engine.hash("s3://bucket/", self.ledger))
        self.assertEqual(self.store.between.bytes, 0)
        lines = [json.loads(line) for path in rows for line in path.read_text().splitlines()]
        line = next(line for line in lines if line["path"] == "s3://bucket/big")
        changed = {**line, "digest": line["digest"][::-1]}
        (self.ledger / "rows=digests" / "part-changed.json").write_text(json.dumps(changed, separators=(",", ":")) + "\n")
        # By the check of the row it is not one that was written.
        self.right(self.engine.hash("s3://bucket/", self.ledger))
        names = "kind schema path path_base64 version size format offset length level unit digest units".split()
        text = "".join(f"{changed.get(name, '')}\n" for name in names)
        line = {**changed, "crc32": f"{zlib.crc32(text.encode()):08x}"}
        (self.ledger / "rows=digests" / "part-wrong.json").write_text(json.dumps(line, separators=(",", ":")) + "\n")
        self.only_wrong(self.engine.hash("s3://bucket/", self.ledger), "failed", "have two digests")

    def test_7_the_driver_is_killed(self):
        kept = self.killed("digests")
        results = self.engine.hash("s3://bucket/", self.ledger)
        self.only_missing_was_read(results, kept)

    def test_7_the_driver_of_a_verification_is_killed(self):
        hashed = self.engine.hash("s3://bucket/", self.ledger)
        kept = self.killed("verified", "nightly")
        results = self.engine.verify(hashed, self.ledger, run="nightly")
        self.only_missing_was_read(results, kept)
        self.assertEqual({row["run"] for row in results}, {"nightly"})

    def killed(self, kind, *run):
        """Kills a driver in the middle. Returns the bytes of which digests are in its ledger."""
        command = [*JOB, CHOSEN.mksum, "--versitygw", CHOSEN.versitygw, "--job", self.engine.name, self.ledger, *run]
        self.store.reset(lambda *_: {"slow": 0.1})
        mark = uuid.uuid4().hex
        with open(os.devnull, "wb") as nowhere:
            environment, outputs = {**os.environ, "MKSUM_TEST_JOB": mark}, {"stdout": nowhere, "stderr": nowhere}
            job = subprocess.Popen(list(map(str, command)), start_new_session=True, env=environment, **outputs)
        rows, deadline = self.ledger / f"rows={kind}", time.monotonic() + 300
        while self.in_ledger(rows) < 8 * MIB:
            self.assertIsNone(job.poll(), "it ended too early")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        # All that the driver started ends with it.
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        # So does what it started in sessions of their own; their requests are answered before bytes are counted again.
        while left := marked(mark):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.02)
        while self.store.between.busy:
            time.sleep(0.02)
        self.store.reset()
        return self.in_ledger(rows)

    def only_missing_was_read(self, results, kept):
        self.right(results)
        total = sum(row["size"] for row in results)
        print(f"    {kept} of {total} bytes were in the ledger, {self.store.between.bytes} read again", file=sys.stderr)
        # With speculation a task may be read twice.
        self.assertLessEqual(self.store.between.bytes, (total - kept) * (2 if self.engine.name == "spark" else 1))

    def in_ledger(self, rows):
        """The bytes whose digests are in a ledger."""
        kept = 0
        for path in rows.glob("part-*"):
            for line in path.read_text().splitlines():
                with contextlib.suppress(ValueError):
                    kept += json.loads(line)["length"]
        return kept

    def test_8_decay_is_found(self):
        kept = self.engine.hash("s3://bucket/", self.ledger)
        self.right(kept)
        self.store.reset()
        # A verification reads everything, although the ledger has it all.
        results = self.engine.verify(kept, self.ledger)
        self.right(results)
        self.assertGreaterEqual(self.store.between.bytes, sum(row["size"] for row in kept))
        # The store answers with other bytes under the same ETag.
        self.store.reset(lambda key, _: {"flip": True} if key == "big" else {})
        results = self.engine.verify(kept, self.ledger, run="decayed")
        self.only_wrong(results, "damaged", "its root was [0-9a-f]{64} and is")
        self.assertEqual({row["run"] for row in results}, {"decayed"})
        self.store.reset()
        with self.assertRaisesRegex(ValueError, "'decayed' has ended"):
            self.engine.verify(kept, self.ledger, run="decayed")
        self.assertEqual(self.store.between.bytes, 0)
        self.right(self.engine.verify(kept, self.ledger))

    def test_8_files_that_decay_between_two_verifications_are_found(self):
        files = self.folder / f"{self.ledger.name}-files"
        files.mkdir()
        for name, size in {"a": 3 * MIB + 1, "b": 1, "c": MIB}.items():
            (files / name).write_bytes(random.Random(name).randbytes(size))
        kept = self.engine.hash(str(files), self.ledger)
        first = self.engine.verify(kept, self.ledger)
        self.assertEqual([row["status"] for row in first], ["ok"] * 3)
        for path in files.iterdir():
            flip(path, -1, hidden=True)
        second = self.engine.verify(kept, self.ledger)
        self.assertEqual([row["status"] for row in second], ["damaged"] * 3)
        runs = [{row["run"] for row in rows} for rows in (kept, first, second)]
        self.assertEqual([len(run) for run in runs], [1, 1, 1])
        self.assertEqual(len(set.union(*runs)), 3)

    def test_9_nothing_to_read_is_no_success(self):
        empty = self.folder / f"{self.ledger.name}-empty"
        (empty / "folder").mkdir(parents=True)
        with self.assertRaisesRegex(ValueError, "nothing to hash"):
            self.engine.hash(str(empty), self.ledger)
        with self.assertRaisesRegex(ValueError, "nothing to verify"):
            self.engine.verify([{**RESULT, "object": str(empty / "a"), "status": "gone"}], self.ledger)
        (empty / "link").symlink_to(__file__)
        [skipped] = self.engine.hash(str(empty), self.ledger)
        self.assertEqual((skipped["status"], skipped["root"]), ("skipped", None))
        [followed] = self.engine.hash(str(empty), self.ledger, symlinks="follow")
        self.assertEqual(followed["status"], "ok")


class WithSpark(Engine, unittest.TestCase):
    kind = Spark

    def test_9_inputs_come_from_frames_data_sources_and_file_systems(self):
        import mksum.spark
        from pyarrow.fs import LocalFileSystem

        session = self.engine.session
        mksum.spark.register(session)
        expected = self.store.roots("s3:md5:5MiB")
        listed = session.read.format("mksum").option("rows", "inputs").load("s3://bucket/")
        self.assertEqual(listed.count(), len(expected))
        # As S3 Inventory has them, with quotes, and one that is long gone.
        gone = session.createDataFrame([("s3://bucket/none", 5, '"abc"')], "path string, size long, etag string")
        quoted = listed.selectExpr("path", "size", "concat('\"', version, '\"') etag").union(gone)
        # Rows that cannot be hashed are errors of their objects alone: no ETag, two versions, a scheme that is unknown.
        odd = [
            ("s3://bucket/null", 5, None),
            ("s3a://bucket/two", 5, "a"),
            ("s3://bucket/two", 5, "b"),
            ("wasbs://c@h/k", 5, "a"),
            ("s3://bucket/less", -1, "a"),
            (None, 5, "a"),
        ]
        quoted = quoted.union(session.createDataFrame(odd, "path string, size long, etag string"))
        results = {row["object"]: row for row in self.engine.hash(quoted, self.ledger, "s3:md5:5MiB")}
        self.assertEqual(results.pop("s3://bucket/none")["status"], "gone")
        wrong = {"null": "without a size", "two": "twice", "less": "a size of -1"}
        wrong = {"": "no path", "wasbs://c@h/k": "'wasbs'", **{f"s3://bucket/{key}": words for key, words in wrong.items()}}
        for url, words in wrong.items():
            row = results.pop(url)
            self.assertEqual(row["status"], "failed")
            self.assertIn(words, row["error"])
        self.assertEqual({url: row["root"] for url, row in results.items()}, expected)
        parts = session.read.format("mksum").options(fmt=FORMAT, part=PART, task=TASK).load("s3://bucket/")
        # A partition is a list of parts.
        self.assertLess(parts.rdd.getNumPartitions(), parts.count() / 4)
        by_object = collections.defaultdict(list)
        for row in parts.drop("status", "error").collect():
            by_object[row.path].append(row.asDict())
        self.assertEqual({url: mksum.join(rows).text for url, rows in by_object.items()}, self.store.roots())
        # Any file system of Arrow's: here that of this machine.
        files = self.folder / "files"
        files.mkdir()
        for name, size in {"a": 3 * MIB + 1, "b": 0, "c": 5}.items():
            (files / name).write_bytes(random.Random(name).randbytes(size))
        other = self.folder / f"{self.ledger.name}-files"
        found = self.engine.hash(str(files), other, files=LocalFileSystem())
        expected = {str(path): mksum.file_root(path, FORMAT).text for path in files.iterdir()}
        self.assertEqual({row["object"]: row["root"] for row in found}, expected)

    def test_9_files_of_tables_have_no_etags(self):
        import mksum.spark

        session, columns = self.engine.session, "path string, size long"
        expected = self.store.roots()
        listed = session.createDataFrame([("s3a" + url[2:], None) for url in expected], columns)
        self.right(self.engine.hash(listed, self.ledger))
        wrong = [("s3://bucket/none", 5), ("s3://bucket/big", 5), ("wasbs://c@h/k", 5), (None, 5), ("s3://bucket/mid/1", 5 * MIB)]
        found = self.engine.hash(session.createDataFrame(wrong, columns), self.folder / f"{self.ledger.name}-wrong")
        found = {row["object"]: (row["status"], row["error"] or "") for row in found}
        self.assertEqual(found.pop("s3://bucket/mid/1"), ("ok", ""))
        words = {"s3://bucket/none": "not there", "s3://bucket/big": "listed with 5 bytes, and has"}
        words |= {"": "no path", "wasbs://c@h/k": "'wasbs'"}
        for url, error in words.items():
            status, told = found.pop(url)
            self.assertEqual(status, "gone" if url.endswith("none") else "failed")
            self.assertIn(error, told)
        # A table of Parquet, whose folders have letters that URIs have not.
        place = self.folder / f"{self.ledger.name} of a table"
        session.sql(f"CREATE TABLE plain (id int, Provider string) USING parquet PARTITIONED BY (Provider) LOCATION '{place}'")
        session.sql("INSERT INTO plain VALUES (1, 'a b'), (2, 'x/y%z'), (3, 'ü')")

        def files():
            return {str(path): mksum.file_root(path, FORMAT).text for path in place.rglob("*.parquet")}

        table = mksum.spark.table(session, "plain")
        self.assertEqual({row.path for row in table.collect()}, set(files()))
        kept = self.engine.hash(table, f"{place} kept")
        self.assertEqual({row["object"]: row["root"] for row in kept}, files())
        # New files are found, although the session has listed the table before.
        session.sql("INSERT INTO plain VALUES (4, 'ü')")
        results = self.engine.hash(mksum.spark.table(session, "plain"), f"{place} kept")
        self.assertEqual({row["object"]: row["root"] for row in results}, files())
        self.assertEqual(len(results), len(kept) + 1)
        flip(results[0]["object"], -1, hidden=True)
        statuses = {row["object"]: row["status"] for row in self.engine.verify(results, f"{place} kept")}
        self.assertEqual(statuses.pop(results[0]["object"]), "damaged")
        self.assertEqual(set(statuses.values()), {"ok"})
        session.sql("CREATE VIEW seen AS SELECT * FROM plain")
        with self.assertRaisesRegex(ValueError, "seen: no table, but perhaps a view"):
            mksum.spark.table(session, "seen")
        with self.assertRaisesRegex(Exception, "TABLE_OR_VIEW_NOT_FOUND"):
            mksum.spark.table(session, "none")

    def test_figures_of_a_job(self):
        (self.folder / "ledgers").mkdir(exist_ok=True)
        sizes = [row["Size"] for row in self.store.client.list_objects_v2(Bucket="bucket")["Contents"]]
        # Tasks write to the first ledger, and Spark to the second.
        for ledger in (self.ledger, f"viewfs://here/ledgers/{self.ledger.name}-figures"):
            told, figures = [], []
            self.right(self.engine.hash("s3://bucket/", ledger, on_metrics=figures.append, on_progress=told.append))
            # A task that is started twice may count twice.
            last = figures[-1]
            self.assertGreaterEqual(last["hashed_bytes"], sum(sizes))
            self.assertGreaterEqual(last["received_bytes"], sum(sizes))
            self.assertGreaterEqual(last["requests"], len(sizes) - sizes.count(0))
            self.assertGreater(last["seconds"], 0)
            self.assertGreaterEqual(sum(told), sum(sizes))
            for name in last:
                self.assertEqual([row[name] for row in figures], sorted(row[name] for row in figures))
        self.engine.hash("s3://bucket/", self.ledger, on_metrics=lambda _: self.fail("nothing is read"))

    def test_ledgers_in_places_that_spark_alone_knows(self):
        (self.folder / "ledgers").mkdir(exist_ok=True)
        name = f"ledgers/{self.ledger.name} of 100 %"
        self.right(self.engine.hash("s3://bucket/", f"viewfs://here/{name}"))
        self.store.reset()
        # It is the same ledger under the name by which tasks write to it themselves.
        self.store.put("small/00", 70_001)
        self.right(self.engine.hash("s3://bucket/", self.folder / name))
        self.assertEqual(set(self.store.between.gets), {"small/00"} | {"empty"} & {*self.store.between.gets})
        self.store.reset()
        self.right(self.engine.hash("s3://bucket/", f"viewfs://here/{name}"))
        self.assertEqual(self.store.between.bytes, 0)
        # Spark's files have its number of the task in their names.
        names = [path.name for path in (self.folder / name / "rows=digests").glob("part-*")]
        self.assertEqual({len(name.split("-")) > 2 for name in names}, {False, True})

    def test_a_ledger_that_spark_does_not_know_is_refused_with_what_it_lacks(self):
        for url, lacks in {
            "s3://ledgers/x": "hadoop-aws.*fs.s3.impl",
            "s3a://ledgers/x": "hadoop-aws",
            "gs://ledgers/x": "hadoop-gcp",
            "abfss://c@a.dfs.core.windows.net/x": "hadoop-azure",
        }.items():
            words = f"{url}.*: this Spark has no file system for '{url.partition(':')[0]}': start it with .*{lacks}"
            with self.assertRaisesRegex(ValueError, words):
                self.engine.hash("s3://bucket/", url)
            with self.assertRaisesRegex(ValueError, words):
                self.engine.verify([RESULT], url, run="x")

    def test_options_of_the_data_source_are_checked(self):
        import mksum.spark

        session = self.engine.session
        mksum.spark.register(session)
        with self.assertRaisesRegex(Exception, "no option 'format': it has fmt, part"):
            session.read.format("mksum").option("format", "sha256").load("s3://bucket/").collect()
        files = self.folder / "links"
        files.mkdir()
        (files / "file").write_bytes(b"abc")
        (files / "link").symlink_to(files / "file")

        def read(**options):
            frame = session.read.format("mksum").options(fmt="sha256", **options).load(str(files))
            return {os.path.basename(row.path): row for row in frame.collect()}

        rows = read()
        self.assertEqual(rows["file"].digest, mksum.sha256(b"abc").hexdigest())
        self.assertEqual((rows["link"].digest, rows["link"].status), (None, "skipped"))
        self.assertEqual(read(symlinks="follow")["link"].digest, rows["file"].digest)

    def test_letters_of_patterns_in_the_name_of_a_ledger(self):
        ledger = self.folder / f"{self.ledger.name} [a-b] {{c}} * ?"
        kept = self.engine.hash("s3://bucket/", ledger)
        self.right(kept)
        self.store.reset()
        self.right(self.engine.hash("s3://bucket/", ledger))
        self.assertEqual(self.store.between.bytes, 0)
        self.right(self.engine.verify(kept, ledger, run="first"))
        with self.assertRaisesRegex(ValueError, "'first' has ended"):
            self.engine.verify(kept, ledger, run="first")

    def test_connect(self):
        command = [*JOB, CHOSEN.mksum, "--versitygw", CHOSEN.versitygw, "--job", "connect", str(self.ledger)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=400)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.right(json.loads(done.stdout.splitlines()[-1]))
        self.right(self.engine.hash("s3://bucket/", self.ledger))


class WithDask(Engine, unittest.TestCase):
    kind = Dask

    def test_9_the_ledger_is_in_a_store(self):
        import mksum

        ledger = f"s3://ledgers/{self.ledger.name}"
        self.right(self.engine.hash("s3://bucket/", ledger))
        listed = self.store.client.list_objects_v2(Bucket="ledgers", Prefix=f"{self.ledger.name}/rows=digests/")["Contents"]
        self.assertGreater(len(listed), 1)
        # Rows of a run that failed, in the middle of one, and what is not of the ledger.
        for name in ("part-0", "_started"):
            self.store.client.put_object(Bucket="ledgers", Key=f"{self.ledger.name}/rows=digests/{name}", Body=b'{"kind":"dig')
        self.store.reset()
        self.right(self.engine.hash("s3://bucket/", ledger))
        self.assertEqual(self.store.between.bytes, 0)
        with self.assertRaises(mksum.RefusedError):
            self.engine.hash("s3://bucket/", "s3a://ledgers/other")

    def test_calls_share_connections(self):
        import mksum

        def read():
            return [mksum.file_root(f"s3://bucket/small/{number:02}", FORMAT).text for number in range(20)]

        expected, begun = read(), self.store.between.connections
        self.assertEqual(set(expected), {root for url, root in self.store.roots().items() if "/small/" in url})
        self.assertEqual(read(), expected)
        self.assertLess(self.store.between.connections - begun, 10)
        # A process that was forked has none of the threads that hold them.
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(read() != expected)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        # Another environment may name another store.
        self.store.reset()
        os.environ["AWS_ENDPOINT_URL"] = self.store.direct["AWS_ENDPOINT_URL"]
        try:
            self.assertEqual(read(), expected)
        finally:
            os.environ["AWS_ENDPOINT_URL"] = self.store.url
        self.assertEqual(self.store.between.bytes, 0)

    def test_outboards_of_objects(self):
        import mksum

        url, place = "s3a://bucket/mid/1", "s3://ledgers/mid/1.mkt"
        tree = mksum.Outboard.keep(url, FORMAT, outboard=place)
        self.assertEqual((tree.path, tree.outboard), ("s3://bucket/mid/1", place))
        self.assertEqual(tree.root.text, self.store.roots()["s3://bucket/mid/1"])
        again = mksum.Outboard.open(url, outboard=place)
        again.verify()
        got = self.store.client.get_object(Bucket="bucket", Key="mid/1", Range="bytes=10-19")["Body"].read()
        self.assertEqual(mksum.check_proof(again.prove(10, 20), tree.root, got), (10, 20))
        self.store.reset(lambda key, _: {"flip": True} if key == "mid/1" else {})
        self.assertEqual({found["kind"] for found in again.damaged()}, {"damaged"})
        with self.assertRaisesRegex(mksum.RefusedError, "only files are repaired"):
            again.repair(__file__)
        # Something else there is not replaced.
        self.store.client.put_object(Bucket="ledgers", Key="other", Body=b"abc")
        with self.assertRaisesRegex(mksum.MksumError, "s3://ledgers/other"):
            mksum.Outboard.keep("s3://bucket/mid/2", outboard="s3://ledgers/other")


class WithRay(Engine, unittest.TestCase):
    kind = Ray


def job(engine, ledger, run=None):
    """A driver: prints the results as JSON."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        started = Spark(folder, stack, remote="local[2]") if engine == "connect" else ENGINES[engine](folder, stack)
        plans = []
        results = started.hash("s3://bucket/", ledger, on_plan=lambda *plan: plans.append(plan))
        if engine == "connect":
            assert plans == [(sum(row["size"] for row in results), len(results))], plans
        print(json.dumps(results if run is None else started.verify(results, ledger, run=run)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    CHOSEN, rest = flags.parse_known_args()
    if CHOSEN.job:
        job(*CHOSEN.job)
    else:
        unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
