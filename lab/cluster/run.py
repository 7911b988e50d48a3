#!/usr/bin/env python3
"""Measures objects in a store and a Spark job, beside loops that users would write and beside the tool.

    run.py MKSUM --versitygw PROGRAM [--object BYTES] [--many N] [--rounds N] [--write] [CASE…]

Run it with target/cluster/bin/python after the stage `cluster` of the tests, and with obstore in it. The store is versitygw on
127.0.0.1, so it takes part of the same processors, and its files are in the page cache. All digests are compared first. In each
round the subjects of a case follow one another; a ratio above 1 means that mksum is faster.
"""

import argparse
import concurrent.futures
import contextlib
import gc
import hashlib
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import boto3
import mksum

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import results
import servers
from stores import KEYS

MIB = 1 << 20
FORMAT = "blake3"
CASES = {
    "object": "one object: mksum, and an obstore loop that reads its ranges of 8 MiB and hashes nothing",
    "many": "MD5 of objects of 64 KiB: mksum -r, and a boto3 loop of 16 threads with hashlib",
    "spark": "eight objects in tasks of 256 MiB: the tool, and a Spark job in a session that is warm",
    "driver": "the memory of Spark's driver after a job over sparse files of 1 GiB and of 16 GiB: Python's peak, the JVM's heap",
}


@contextlib.contextmanager
def store(program, folder):
    """Runs versitygw, and yields a client; the environment has its address."""
    with servers.versitygw(program, folder, KEYS) as address:
        os.environ.update({**KEYS, "AWS_ENDPOINT_URL": address})
        # It finds the address and the keys in the environment.
        client = boto3.client("s3", region_name=KEYS["AWS_REGION"], config=boto3.session.Config(max_pool_connections=32))
        client.create_bucket(Bucket="bucket")
        yield client


def put(client, key, size):
    """Uploads an object without a pattern, in parts."""
    block = random.Random(key).randbytes(64 * MIB)
    upload = client.create_multipart_upload(Bucket="bucket", Key=key)["UploadId"]
    parts = []
    for number, start in enumerate(range(0, size, len(block)), 1):
        body = number.to_bytes(8, "big") + block[8 : min(len(block), size - start)]
        done = client.upload_part(Bucket="bucket", Key=key, PartNumber=number, UploadId=upload, Body=body)
        parts.append({"PartNumber": number, "ETag": done["ETag"]})
    client.complete_multipart_upload(Bucket="bucket", Key=key, UploadId=upload, MultipartUpload={"Parts": parts})


def tool(*arguments):
    done = subprocess.run([CHOSEN.mksum, *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr}")
    return {line.rpartition(" ")[2] for line in done.stdout.splitlines()}


def compared(case, subjects, amount, rounds):
    """Yields a row for each subject, the first of which is ours, in seconds; theirs has the ratio to ours."""
    measured = {name: [] for name in subjects}
    for turn in range(rounds + 1):
        for name, call in subjects.items():
            begin = time.perf_counter()
            call()
            if turn:  # The first round is a warm-up.
                measured[name].append(time.perf_counter() - begin)
    ours = next(iter(measured.values()))
    for name, found in measured.items():
        ratio = statistics.median(their / our for their, our in zip(found, ours, strict=True))
        middle = statistics.median(found)
        row = {"case": case, "subject": name, "median": middle, "least": min(found), "most": max(found), "trials": rounds}
        row["ratio"] = ratio
        rate = f"{amount / middle / 1e6:9.1f} MB/s" if amount else ""
        print(f"{case:8} {name:28} {middle:8.3f} s ({row['least']:.3f}–{row['most']:.3f}) {rate} ×{ratio:.2f}", flush=True)
        yield row


def one_object(client, rounds):
    import obstore
    from obstore.store import S3Store

    put(client, "object", CHOSEN.object)
    config = {name.lower(): value for name, value in KEYS.items()} | {"aws_endpoint": os.environ["AWS_ENDPOINT_URL"]}
    reader = S3Store("bucket", config=config, client_options={"allow_http": True})

    def part(start):
        return len(obstore.get_range(reader, "object", start=start, length=min(8 * MIB, CHOSEN.object - start)))

    def loop():
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(part, range(0, CHOSEN.object, 8 * MIB))) == CHOSEN.object

    subjects = {"mksum": lambda: tool("-f", FORMAT, "s3://bucket/object"), "obstore loop": loop}
    yield from compared("object", subjects, CHOSEN.object, rounds)


def many_objects(client, rounds):
    chance = random.Random(2)
    bodies = [chance.randbytes(64 << 10) for _ in range(64)]

    def fill(number):
        body = number.to_bytes(8, "big") + bodies[number % 64][8:]
        client.put_object(Bucket="bucket", Key=f"many/{number:06}", Body=body)

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(fill, range(CHOSEN.many)))

    def loop():
        def one(key):
            return hashlib.md5(client.get_object(Bucket="bucket", Key=key)["Body"].read()).hexdigest()

        pages = client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix="many/")
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            return set(pool.map(one, (row["Key"] for page in pages for row in page["Contents"])))

    assert loop() == tool("-f", "md5", "-r", "s3://bucket/many/")
    subjects = {"mksum -r": lambda: tool("-f", "md5", "-r", "s3://bucket/many/"), "boto3 loop, 16 threads": loop}
    yield from compared("many", subjects, CHOSEN.many << 16, rounds)


def session():
    import pyspark
    from pyspark.sql import SparkSession

    home = os.path.dirname(pyspark.__file__)
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, SPARK_HOME=home)
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "8",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def spark_job(client, rounds, folder):
    import mksum.spark

    spark = session()
    for number in range(8):
        put(client, f"spark/{number}", CHOSEN.object // 8)

    def job():
        ledger = folder / "ledger"
        frame = mksum.spark.hash(spark, "s3://bucket/spark/", str(ledger), FORMAT, task=256 * MIB)
        found = {row.root for row in frame.collect()}
        shutil.rmtree(ledger)
        return found

    assert job() == tool("-f", FORMAT, "-r", "s3://bucket/spark/")
    subjects = {"the tool": lambda: tool("-f", FORMAT, "-r", "s3://bucket/spark/"), "Spark job": job}
    yield from compared("spark", subjects, CHOSEN.object, rounds)


def driver(folder):
    """Prints the driver's memory after jobs over more and more bytes, in as many parts."""
    import mksum.spark

    spark = session()
    machine = spark.sparkContext._jvm
    for gigabytes in (1, 16):
        files = folder / f"sparse{gigabytes}"
        files.mkdir()
        for number in range(16):
            with open(files / f"{number}", "wb") as file:
                file.truncate(gigabytes * 64 * MIB)
        ledger = folder / f"ledger{gigabytes}"
        mksum.spark.hash(spark, str(files), str(ledger), FORMAT, part=gigabytes * 4 * MIB, task=gigabytes * 64 * MIB).count()
        gc.collect()
        machine.System.gc()
        heap = machine.Runtime.getRuntime().totalMemory() - machine.Runtime.getRuntime().freeMemory()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        words = f"Python's peak {peak / 1e6:.0f} MB, the JVM's heap {heap / 1e6:.0f} MB"
        print(f"driver   {gigabytes:3} GiB in 256 parts: {words}", flush=True)


def main():
    rows = []
    with tempfile.TemporaryDirectory(dir=CHOSEN.folder, ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        with store(CHOSEN.versitygw, folder) as client:
            wanted = CHOSEN.cases or list(CASES)
            if "object" in wanted:
                rows += one_object(client, CHOSEN.rounds)
            if "many" in wanted:
                rows += many_objects(client, CHOSEN.rounds)
            if "spark" in wanted:
                rows += spark_job(client, CHOSEN.rounds, folder)
            if "driver" in wanted:
                driver(folder)
    if CHOSEN.write:
        cases = {name: {"unit": "s"} for name in {row["case"] for row in rows}}
        print(results.write("cluster", cases, rows, versions={"mksum": mksum.__version__, "boto3": boto3.__version__})[1])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mksum")
    parser.add_argument("--versitygw", required=True)
    parser.add_argument("--object", type=int, default=8 << 30)
    parser.add_argument("--many", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=os.path.abspath, help="where the store has its files")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    CHOSEN = parser.parse_intermixed_args()
    main()
