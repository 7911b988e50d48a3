#!/usr/bin/env python3
"""Tests mksum with objects in stores: versitygw (S3), moto (S3 with checksums and versions), and a server with faults.

    stores.py MKSUM --versitygw PROGRAM --python PYTHON

PYTHON has moto, boto3 and awscrt. Everything listens on 127.0.0.1 alone.
"""
import argparse
import base64
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

import mount
import servers

MIB = 1 << 20
flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)
flags.add_argument("--versitygw", type=os.path.abspath, required=True)
flags.add_argument("--python", type=os.path.abspath, required=True)

# Nothing of the environment reaches a real store.
CLEAN = {name: value for name, value in os.environ.items() if not re.match("(AWS|GOOGLE|AZURE)_|MKSUM_RED|.*_PROXY$", name, re.I)}
CLEAN |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "NETRC": os.devnull}
KEYS = {"AWS_ACCESS_KEY_ID": "an-id", "AWS_SECRET_ACCESS_KEY": "a-secret", "AWS_REGION": "us-east-1"}
# A request that fails is made three times.
ANONYMOUS = {**CLEAN, "AWS_SKIP_SIGNATURE": "true", "AWS_MAX_ATTEMPTS": "3"}


def run(*arguments, environment, **more):
    command = [CHOSEN.mksum, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=120, **more)


def boto(environment, program, *arguments):
    """Runs a program with `s3`, a client of boto3. Returns what it printed."""
    head = "import boto3, os, sys, json\ns3 = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'])\n"
    command = [CHOSEN.python, "-c", head + program, *map(str, arguments)]
    return subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout


class Place(unittest.TestCase):
    """Tests with a folder, and the roots of local files."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.folder = pathlib.Path(cls.place.name)

    def good(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def local(self, *arguments):
        return self.good(run(*arguments, environment=CLEAN))


class Versitygw(Place):
    """An S3 server over files: names, formats, listings, kept trees."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        address = cls.enterClassContext(servers.versitygw(CHOSEN.versitygw, cls.folder, KEYS))
        cls.there = {**CLEAN, **KEYS, "AWS_ENDPOINT_URL": address}
        cls.files = cls.folder / "files"
        chance = random.Random(18)
        for name, size in {"big": 40 * MIB + 5, "empty": 0, "a b/c+d%25 ü?x": 3000, "a b/one": 1}.items():
            path = cls.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chance.randbytes(size))
        for number in range(300):
            path = cls.files / "many" / f"{number % 7}" / f"{number}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chance.randbytes(chance.choice([0, 1, 100, 5000, 70_000])))
        boto(
            cls.there,
            "import pathlib\nroot = pathlib.Path(sys.argv[1])\ns3.create_bucket(Bucket='bucket')\n"
            "for path in sorted(root.rglob('*')):\n"
            "    if path.is_file():\n"
            "        s3.put_object(Bucket='bucket', Key=str(path.relative_to(root)), Body=path.read_bytes())\n",
            cls.files,
        )

    def tool(self, *arguments, **more):
        return run(*arguments, environment=self.there, **more)

    def test_an_object_has_the_roots_of_its_file_in_every_format(self):
        formats = [json.loads(line)["name"] for line in self.local("formats", "--json").splitlines()]
        several = [flag for name in formats for flag in ("-f", name)]
        there, here = self.tool(*several, "s3://bucket/big"), run(*several, self.files / "big", environment=CLEAN)
        self.assertEqual(there.stdout.replace("s3://bucket", str(self.files)), here.stdout)
        self.assertEqual(there.stderr.replace("s3://bucket", str(self.files)), here.stderr)
        for name in formats:
            there, here = self.tool("-f", name, "s3://bucket/big"), run("-f", name, self.files / "big", environment=CLEAN)
            self.assertEqual(there.stdout.replace("s3://bucket", str(self.files)), here.stdout, name)

    def test_each_byte_is_fetched_once(self):
        done = self.tool("--verbose", "s3://bucket/big")
        self.assertEqual(done.returncode, 0)
        self.assertIn("41,943,045 bytes received", done.stderr)

    def test_a_profile_has_credentials_and_endpoint(self):
        home = self.folder / "home"
        (home / ".aws").mkdir(parents=True)
        config, credentials = home / ".aws/config", home / ".aws/credentials"
        endpoint = self.there["AWS_ENDPOINT_URL"]
        config.write_text(
            f"[profile own]\nregion = us-east-1\nendpoint_url = {endpoint}\n"
            f"[profile wrong]\nendpoint_url = {endpoint}\naws_access_key_id = an-id\naws_secret_access_key = another\n"
            "[profile process]\ncredential_process = false\n"
        )
        secret = KEYS["AWS_SECRET_ACCESS_KEY"]
        credentials.write_text(f"[own]\naws_access_key_id = {KEYS['AWS_ACCESS_KEY_ID']}\naws_secret_access_key = {secret}\n")
        plain = {name: value for name, value in CLEAN.items() if not name.startswith("AWS_")} | {"HOME": str(home)}

        def hashed(profile, **more):
            return run("-f", "md5", "s3://bucket/big", environment={**plain, "AWS_PROFILE": profile, **more})

        whole = self.good(self.tool("-f", "md5", "s3://bucket/big"))
        self.assertEqual(self.good(hashed("own")), whole)
        # The environment comes first.
        self.assertEqual(self.good(hashed("wrong", **KEYS)), whole)
        # The files may be elsewhere.
        files = {"AWS_CONFIG_FILE": str(config), "AWS_SHARED_CREDENTIALS_FILE": str(credentials)}
        self.assertEqual(self.good(hashed("own", HOME="/nowhere", **files)), whole)
        for profile, why in (
            ("wrong", "SignatureDoesNotMatch"),
            ("gone", f"there is no profile 'gone' (AWS_PROFILE): searched {config} and {credentials}"),
            ("process", f"the profile 'process' in {config} has credential_process, which is not supported"),
        ):
            done = hashed(profile)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(why, done.stderr)
            self.assertNotIn(secret, done.stderr)

    def test_names_are_as_they_are(self):
        for name in ("a b/c+d%25 ü?x", "empty", "a b/one"):
            there = self.good(self.tool("--untagged", "-f", "sha256", f"s3://bucket/{name}"))
            self.assertEqual(there.split()[0], hashlib.sha256((self.files / name).read_bytes()).hexdigest())

    def test_a_prefix_is_listed(self):
        for arguments in (("-f", "md5"), ("-f", "rfc6962", "-f", "sha256"), ("-f", "md5", "--exclude", "3/")):
            there = sorted(self.good(self.tool("-r", *arguments, "s3://bucket/many/")).splitlines())
            here = sorted(self.local("-r", *arguments, self.files / "many").replace(str(self.files), "s3://bucket").splitlines())
            self.assertEqual(there, here)
        everything = self.good(self.tool("-r", "-f", "md5", "s3://bucket"))
        self.assertEqual(len(everything.splitlines()), 304)
        self.assertEqual(self.good(self.tool("-r", "s3://bucket/big")), self.good(self.tool("s3://bucket/big")))

    def test_small_objects_take_a_request_each(self):
        done = self.tool("-v", "-r", "-f", "md5", "s3://bucket/many/1")
        count = len(list((self.files / "many/1").iterdir()))
        empty = sum(path.stat().st_size == 0 for path in (self.files / "many/1").iterdir())
        requests = int(re.search(r"(\d+) requests to stores", done.stderr)[1])
        # A page of the listing; and of an empty object its length, and whether it is one or marks a folder.
        self.assertLessEqual(requests, 1 + count + 2 * empty)

    def test_sums_of_objects_are_checked(self):
        sums = self.folder / "SUMS"
        sums.write_text(self.good(self.tool("-f", "blake3", "-r", "s3://bucket/a b", "s3://bucket/empty")))
        checked = self.good(self.tool("-c", sums))
        self.assertEqual(checked.count(": OK"), 3)
        sums.write_text(sums.read_text() + "blake3 (s3://bucket/gone) = " + "0" * 64 + "\n")
        checked = self.tool("-c", "--quiet", sums)
        self.assertEqual((checked.returncode, checked.stdout), (1, "s3://bucket/gone: FAILED open or read\n"))
        self.assertIn("there is no such object", checked.stderr)
        etag = hashlib.md5((self.files / "big").read_bytes()).hexdigest()
        self.good(self.tool("-f", "md5", "--expect", etag, "s3://bucket/big"))

    def test_a_part_of_an_object_is_hashed(self):
        for part in ("1MiB..9MiB", "..5", "41943040.."):
            there = self.good(self.tool("--range", part, "s3://bucket/big"))
            self.assertEqual(there.split()[-1], self.local("--range", part, self.files / "big").split()[-1])

    def test_a_tree_is_kept_verified_and_repairs_a_file(self):
        kept = self.folder / "big.mkt"
        root = self.good(self.tool("keep", "s3://bucket/big", "-o", kept)).split()[-1]
        self.assertEqual(root, self.local(self.files / "big").split()[-1])
        self.assertIn("OK", self.good(self.tool("verify", "s3://bucket/big", "--outboard", kept)))
        quick = self.tool("verify", "--quick", "s3://bucket/big", "--outboard", kept)
        self.assertIn("1 unchanged file was not read", quick.stderr)
        damaged = self.folder / "damaged"
        content = bytearray((self.files / "big").read_bytes())
        content[5 * MIB] ^= 1
        content[-1] ^= 1
        damaged.write_bytes(content)
        done = self.tool("repair", damaged, "--outboard", kept, "--from", "s3://bucket/big", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["fetched"], 65536 + 5)
        self.assertEqual(damaged.read_bytes(), (self.files / "big").read_bytes())

    def test_a_tree_is_kept_in_the_store(self):
        boto(self.there, "s3.create_bucket(Bucket='kept')\n")
        there = "s3://kept/big.mkt"
        root = self.good(self.tool("keep", "s3://bucket/big", "-o", there)).split()[-1]
        self.assertEqual(root, self.local(self.files / "big").split()[-1])
        self.assertIn("OK", self.good(self.tool("verify", "s3://bucket/big", "--outboard", there)))
        # It is the outboard that a file would have, and so are what it proves and what it repairs.
        kept = self.folder / "local.mkt"
        self.good(self.tool("keep", "s3://bucket/big", "-o", kept))
        self.assertEqual(
            self.good(self.tool("--untagged", "-f", "sha256", there)).split()[0], hashlib.sha256(kept.read_bytes()).hexdigest()
        )
        proof = [
            self.good(self.tool("prove", "--json", "--range", "9MiB..9437190", "s3://bucket/big", *more))
            for more in (("--outboard", there), ("--outboard", kept), ())
        ]
        self.assertEqual(proof, proof[:1] * 3)
        content = bytearray((self.files / "big").read_bytes())
        content[7 * MIB] ^= 1
        copy = self.folder / "copy"
        copy.write_bytes(content)
        damaged = self.tool("verify", copy, "--outboard", there)
        self.assertEqual((damaged.returncode, damaged.stdout.count("damaged 7340032..7405568")), (1, 1))
        differs = self.tool("diff", there, copy)
        self.assertEqual((differs.returncode, differs.stdout.count("differs 7340032..7405568")), (1, 1))
        self.good(self.tool("repair", copy, "--outboard", there, "--from", "s3://bucket/big"))
        self.assertEqual(copy.read_bytes(), (self.files / "big").read_bytes())
        # Again: nothing has changed.
        again = self.tool("keep", "--update", "s3://bucket/big", "-o", there)
        self.assertEqual((again.returncode, again.stdout.split()[-1]), (0, root))
        self.assertIn("unchanged", again.stderr)
        # No object is replaced that is not an outboard.
        refused = self.tool("keep", "s3://bucket/a b/one", "-o", "s3://bucket/big")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("not an outboard", refused.stderr)
        nowhere = self.tool("keep", "s3://bucket/big", "-o", "s3://nowhere/big.mkt")
        self.assertEqual((nowhere.returncode, nowhere.stdout), (1, ""))

    def test_files_are_copied_into_the_store(self):
        source, back = self.folder / "to copy", self.folder / "back"
        (source / "d" / "empty").mkdir(parents=True)
        # More than one part, one request, and nothing.
        for name, size in (("big", 40 * MIB + 7), ("d/small", 1000), ("none", 0)):
            (source / name).write_bytes(os.urandom(size))
        boto(self.there, "s3.create_bucket(Bucket='copies')\n")
        lines = [json.loads(line) for line in self.good(self.tool("copy", "-r", "--keep", "--json", source, "s3://copies/p")).splitlines()]
        self.assertEqual([line["path"] for line in lines], [f"s3://copies/p/{name}" for name in ("big", "d/small", "none")])
        self.assertEqual({line["state"] for line in lines}, {"copied"})
        for line in lines:
            name = line["path"].removeprefix("s3://copies/p/")
            boto(self.there, f"s3.download_file('copies', {'p/' + name!r}, {str(back)!r})\n")
            self.assertEqual(back.read_bytes(), (source / name).read_bytes())
            self.assertEqual(self.local(source / name).split()[-1], line["root"])
            self.assertIn("OK", self.good(self.tool("verify", line["path"], "--outboard", line["path"] + ".mkt")))
        # What is right already is not written again; another object of the same length is replaced, and nothing else.
        (source / "d" / "small").write_bytes(os.urandom(1000))
        stamps = (
            "found = s3.list_objects_v2(Bucket='copies')['Contents']\n"
            "print(json.dumps({one['Key']: str(one['LastModified']) + one['ETag'] for one in found}))\n"
        )
        before = json.loads(boto(self.there, stamps))
        lines = self.good(self.tool("copy", "-r", "--json", source, "s3://copies/p")).splitlines()
        states = [json.loads(line)["state"] for line in lines]
        after = json.loads(boto(self.there, stamps))
        changed = {key for key in before if before[key] != after[key]}
        self.assertEqual((states, changed), (["present", "copied", "present"], {"p/d/small"}))
        # Stores have no links, which is said; a key that ends in a slash is a folder.
        (source / "d" / "link").symlink_to("small")
        done = self.tool("copy", "-r", source, "s3://copies/links")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 symbolic link skipped: stores have none", done.stderr)
        self.good(self.tool("copy", "--verify", "none", source / "none", source / "big", "s3://copies/below/"))
        self.good(self.tool("copy", "s3://copies/below/big", "s3://copies/again"))
        boto(self.there, f"s3.download_file('copies', 'again', {str(back)!r})\n")
        self.assertEqual(back.read_bytes(), (source / "big").read_bytes())
        # A source that changes while it is sent becomes no object.
        command = [CHOSEN.mksum, "copy", source / "big", "s3://copies/changed", "--throttle", "40MB"]
        with subprocess.Popen(command, env=self.there, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            with open(source / "big", "r+b", buffering=0) as file:
                while process.poll() is None:
                    file.write(b"other")
                    time.sleep(0.02)
            errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("big: ", errors)
        self.assertNotIn("changed", json.loads(boto(self.there, stamps)))
        for command, why in (
            ((source / "none", "s3://nowhere/x"), "s3://nowhere/x"),
            (("s3://copies/again", "s3://copies/again"), "itself"),
        ):
            done = self.tool("copy", *command)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(why, done.stderr)

    def test_a_bucket_is_mounted(self):
        if why := mount.missing():
            print(f"NOT RUN: {self.id()}: {why}", file=sys.stderr)
            return
        source, point = self.folder / "to mount", self.folder / "point"
        (source / "d").mkdir(parents=True)
        point.mkdir()
        # With an outboard, as a whole, and empty.
        files = {name: os.urandom(size) for name, size in (("big", 9 * MIB + 7), ("d/small", 1000), ("none", 0))}
        for name, content in files.items():
            (source / name).write_bytes(content)
        self.local("keep", "-q", "-r", source)
        root = self.local("-f", "dir", source / ".mksum" / "catalogue").strip()
        boto(
            self.there,
            "import pathlib\nroot = pathlib.Path(sys.argv[1])\ns3.create_bucket(Bucket='mounted')\n"
            "for path in sorted(root.rglob('*')):\n"
            "    if path.is_file():\n"
            "        s3.put_object(Bucket='mounted', Key='p/' + str(path.relative_to(root)), Body=path.read_bytes())\n",
            source,
        )
        with mount.Mounted("s3://mounted/p/", point, "--root", root, tool=CHOSEN.mksum, env=self.there) as mounted:
            for name, content in files.items():
                self.assertEqual((point / name).read_bytes(), content)
            self.assertEqual(mounted.errors, [])
        boto(self.there, "s3.put_object(Bucket='mounted', Key='p/d/small', Body=b'x' * 1000)\n")
        with mount.Mounted("s3://mounted/p/", point, "--root", root, tool=CHOSEN.mksum, env=self.there) as mounted:
            with self.assertRaises(OSError):
                (point / "d" / "small").read_bytes()
            self.assertTrue(mounted.reported("s3://mounted/p/d/small: bytes 0..1000 are damaged: expected "), mounted.errors)

    def test_crcs_of_the_store_are_compared(self):
        # As S3 does, versitygw sums an object that comes without a checksum by CRC64NVME.
        boto(
            self.there,
            "from botocore.config import Config\nfrom boto3.s3.transfer import TransferConfig\nimport io\n"
            "plain = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'],\n"
            "    config=Config(request_checksum_calculation='when_required'))\n"
            "s3.create_bucket(Bucket='sums')\n"
            "plain.put_object(Bucket='sums', Key='one/without', Body=os.urandom(3_000_000))\n"
            "for name in ('CRC32', 'CRC32C', 'CRC64NVME', 'SHA256'):\n"
            "    s3.put_object(Bucket='sums', Key='one/' + name, Body=os.urandom(2_000_000), ChecksumAlgorithm=name)\n"
            "for name, kind in (('CRC32', 'COMPOSITE'), ('CRC32C', 'COMPOSITE'), ('CRC64NVME', 'FULL_OBJECT')):\n"
            "    at = {'Bucket': 'sums', 'Key': 'parts/' + name}\n"
            "    begun = s3.create_multipart_upload(**at, ChecksumAlgorithm=name, ChecksumType=kind)['UploadId']\n"
            "    parts = []\n"
            "    for number in (1, 2, 3):\n"
            "        body = os.urandom(6 << 20 if number < 3 else 1000)\n"
            "        sent = s3.upload_part(**at, UploadId=begun, PartNumber=number, Body=body, ChecksumAlgorithm=name)\n"
            "        own = 'Checksum' + name\n"
            "        parts.append({'PartNumber': number, 'ETag': sent['ETag'], own: sent[own]})\n"
            "    s3.complete_multipart_upload(**at, UploadId=begun, MultipartUpload={'Parts': parts}, ChecksumType=kind)\n",
        )
        for name, spec in (("without", "crc64nvme"), ("CRC32", "crc32"), ("CRC32C", "crc32c"), ("CRC64NVME", "crc64nvme")):
            done = self.tool("--stored", f"s3://sums/one/{name}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"s3://sums/one/{name}: x-amz-checksum-{spec} agrees ({spec})", done.stderr)
        for name, spec in (("CRC32", "s3:crc32:6MiB"), ("CRC32C", "s3:crc32c:6MiB"), ("CRC64NVME", "crc64nvme")):
            done = self.tool("--stored", f"s3://sums/parts/{name}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"s3://sums/parts/{name}: x-amz-checksum-{name.lower()} agrees ({spec})", done.stderr)
        # Many objects are asked for side by side, and each is compared with its own.
        done = self.tool("--stored", "-r", "s3://sums", "s3://bucket/many")
        self.assertEqual((done.returncode, done.stderr.count(" agrees (") >= 300), (0, True), done.stderr[-500:])

    def test_a_plan_is_hashed_in_tasks_and_joined(self):
        plan, ledger = self.folder / "plan", self.folder / "ledger"
        specs = "rfc6962:sha256:64KiB blake3 mtsum s3:md5:8MiB s3:crc32c:8MiB crc64nvme fsverity sha256"
        for spec in specs.split():
            plan.write_text(self.good(self.tool("plan", "-f", spec, "--range", "4MiB", "--tasks", 3, "-r", "s3://bucket")))
            rows = [json.loads(line) for line in plan.read_text().splitlines()]
            self.assertEqual(rows[-1]["objects"], 304)
            self.assertEqual({row["task"] for row in rows[:-1]}, {0, 1, 2})
            done = [self.good(self.tool("map", "--task", task, plan)) for task in (2, 0, 1)]
            ledger.write_text("".join(done))
            joined = self.good(self.tool("join", "--plan", plan, ledger))
            whole = self.good(self.tool("-f", spec, "-r", "s3://bucket"))
            self.assertEqual(sorted(joined.splitlines()), sorted(whole.splitlines()), spec)
            self.assertEqual(self.good(self.tool("missing", plan, ledger)), "")
            # Twice is as good as once.
            ledger.write_text("".join(done + done))
            self.assertEqual(self.good(self.tool("join", "--plan", plan, ledger)), joined)

    def test_outboards_are_joined_into_the_store(self):
        boto(
            self.there,
            "s3.create_bucket(Bucket='joined')\n"
            "for key in ('a/one', 'a/two', 'empty'):\n"
            "    s3.put_object(Bucket='joined', Key=key, Body=os.urandom(3_000_000 if key != 'empty' else 0))\n"
            "s3.put_object(Bucket='joined', Key='taken', Body=b'x')\n"
            "s3.put_object(Bucket='joined', Key='taken.mkt', Body=b'not an outboard')\n",
        )
        plan, ledger = self.folder / "plan", self.folder / "ledger"
        objects = ["s3://joined/a/one", "s3://joined/a/two", "s3://joined/empty"]
        plan.write_text(self.good(self.tool("plan", "-f", "blake3", "--range", "1MiB", "--outboards", *objects)))
        ledger.write_text(self.good(self.tool("map", plan)))
        lines = self.good(self.tool("join", "--plan", plan, "--outboards", "--json", ledger)).splitlines()
        self.assertEqual([json.loads(line)["outboard"] for line in lines], [name + ".mkt" for name in objects])
        for name in objects:
            self.assertIn("OK", self.good(self.tool("verify", name, "--outboard", name + ".mkt")))
            # The digests are those of an outboard that is written in one go.
            own, there = self.folder / "own.mkt", self.folder / "there.mkt"
            self.good(self.tool("keep", "-f", "blake3", name, "-o", own))
            boto(self.there, f"s3.download_file('joined', {name[len('s3://joined/') :] + '.mkt'!r}, {str(there)!r})\n")
            self.assertEqual(own.read_bytes()[1024:], there.read_bytes()[1024:])
            own.unlink()
        # Below another prefix, and below a directory; nothing that is not an outboard is replaced.
        for place in ("s3://joined/outboards", "s3://joined/outboards/"):
            self.good(self.tool("join", "--plan", plan, f"--outboards={place}", ledger))
        self.assertIn("OK", self.good(self.tool("verify", objects[0], "--outboard", "s3://joined/outboards/joined/a/one.mkt")))
        self.good(self.tool("join", "--plan", plan, f"--outboards={self.folder / 'below'}", ledger))
        self.assertIn("OK", self.good(self.tool("verify", objects[0], "--outboard", self.folder / "below/joined/a/one.mkt")))
        plan.write_text(self.good(self.tool("plan", "-f", "blake3", "--outboards", "s3://joined/taken")))
        ledger.write_text(self.good(self.tool("map", plan)))
        refused = self.tool("join", "--plan", plan, "--outboards", ledger)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("s3://joined/taken.mkt: not an outboard", refused.stderr)

    def test_a_part_is_fetched_alone(self):
        plan = self.good(self.tool("plan", "-f", "blake3", "--range", "4MiB", "s3://bucket/big")).splitlines()
        row = self.folder / "row"
        row.write_text(plan[4] + "\n")
        with self.counted() as (count, environment):
            self.good(run("map", row, environment=environment))
        self.assertEqual(count["bytes"], 4 * MIB)

    @contextlib.contextmanager
    def counted(self):
        """Yields a count of the bytes of bodies between the tool and the server, and the environment to be counted in."""
        count = {"bytes": 0}

        class Between(servers.Forwarding):
            def do_GET(self):
                status, headers, body = self.ask(self.sent())
                count["bytes"] += len(body)
                self.answer(status, headers, body)

        store = int(self.there["AWS_ENDPOINT_URL"].rpartition(":")[2])
        with servers.answering(Between, store=store) as server:
            yield count, {**self.there, "AWS_ENDPOINT_URL": server.url}

    def test_an_object_that_is_replaced_after_the_plan_is_an_error(self):
        put = "s3.put_object(Bucket='bucket', Key='later/x', Body=os.urandom(9_000_000))\n"
        boto(self.there, put)
        plan, ledger = self.folder / "later", self.folder / "later.ledger"
        plan.write_text(self.good(self.tool("plan", "-f", "blake3", "--range", "1MiB", "-r", "s3://bucket/later")))
        first = self.folder / "later.first"
        first.write_text("".join(plan.read_text().splitlines(keepends=True)[:3]))
        ledger.write_text(self.good(self.tool("map", first)))
        boto(self.there, put)
        done = self.tool("map", plan)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "s3://bucket/later/x: it had 9000000 bytes of version .* plan it again")
        again = self.folder / "later.again"
        again.write_text(self.good(self.tool("plan", "-f", "blake3", "--range", "1MiB", "-r", "s3://bucket/later")))
        rest = self.tool("missing", again, ledger)
        self.assertEqual(rest.stdout.count("\n"), 9, "of the new version, nothing is hashed")
        done = self.tool("join", "--plan", again, ledger)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("of another version than", done.stderr)
        ledger.write_text(ledger.read_text() + self.good(self.tool("map", again)))
        done = self.tool("join", "--plan", again, ledger)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("are there in two versions", done.stderr)
        boto(self.there, "s3.delete_object(Bucket='bucket', Key='later/x')\n")

    def test_a_map_that_is_killed_leaves_whole_rows(self):
        plan, ledger = self.folder / "killed", self.folder / "killed.ledger"
        plan.write_text(self.good(self.tool("plan", "-f", "blake3", "--range", "64KiB", "-r", "s3://bucket")))
        chance = random.Random(9)
        for _ in range(8):
            with open(ledger, "a") as out:
                command = [CHOSEN.mksum, "map", "-j", "1", "--throttle", "30MB", "-"]
                rest = self.good(self.tool("missing", plan, ledger))
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, env=self.there, text=True)
                with contextlib.suppress(BrokenPipeError):
                    threading.Timer(chance.uniform(0.02, 0.15), process.kill).start()
                    process.communicate(rest)
        # However the last one ended, and though half a row is there too.
        with open(ledger, "a") as out:
            out.write(ledger.read_text().splitlines(keepends=True)[0][:50])
            out.flush()
            rest = self.tool("missing", plan, ledger)
            self.assertEqual(rest.returncode, 0)
            self.assertGreater(len(rest.stdout.splitlines()), 0)
            out.write(self.good(self.tool("map", "-", input=rest.stdout)))
        joined = self.tool("join", "--plan", plan, ledger)
        self.assertEqual((joined.returncode, joined.stderr), (0, ""))
        whole = self.good(self.tool("-f", "blake3", "-r", "s3://bucket"))
        self.assertEqual(sorted(joined.stdout.splitlines()), sorted(whole.splitlines()))

    def test_what_is_not_there_is_an_error(self):
        done = self.tool("s3://bucket/none", "s3://bucket/a b/one")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (1, 1))
        self.assertIn("mksum: s3://bucket/none: there is no such object", done.stderr)
        refused = self.tool("s3://bucket/a//b", "s3://bucket/dir/")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("a name with an empty part", refused.stderr)
        self.assertIn("a name that ends with '/'", refused.stderr)
        refused = self.tool("repair", "s3://bucket/big", "--from", self.files / "big")
        self.assertIn("objects are not written", refused.stderr)

    def test_a_file_url_is_a_path(self):
        path = self.files / "a b/c+d%25 ü?x"
        url = path.as_uri()
        self.assertEqual(self.local(url), self.local(path))


@contextlib.contextmanager
def moto():
    """The environment for a server of moto's, which runs until the end of the block."""
    with servers.moto(CHOSEN.python) as address:
        yield {**CLEAN, **KEYS, "AWS_ENDPOINT_URL": address}


class Moto(Place):
    """An S3 server with versions."""

    def test_versions(self):
        with moto() as there:
            versions = boto(
                there,
                "s3.create_bucket(Bucket='bucket')\n"
                "on = {'Status': 'Enabled'}\n"
                "s3.put_bucket_versioning(Bucket='bucket', VersioningConfiguration=on)\n"
                "for body in (b'old', b'new'):\n"
                "    print(s3.put_object(Bucket='bucket', Key='key', Body=body)['VersionId'])\n",
            ).split()
            for query, body in [("", b"new"), (f"?versionId={versions[0]}", b"old"), (f"?versionId={versions[1]}", b"new")]:
                line = self.good(run("-f", "sha256", "--untagged", f"s3://bucket/key{query}", environment=there))
                self.assertEqual(line.split()[0], hashlib.sha256(body).hexdigest(), query)

    def test_a_key_of_a_listing_is_no_version(self):
        with moto() as there:
            keys = ["q", "q?versionId=null", "q?versionId=null?versionId="]
            boto(
                there,
                "s3.create_bucket(Bucket='bucket')\n"
                f"for key in {keys}:\n"
                "    s3.put_object(Bucket='bucket', Key=key, Body=key.encode())\n",
            )
            lines = self.good(run("-f", "sha256", "--untagged", "-r", "s3://bucket", environment=there))
            sums = [line.split()[0] for line in lines.splitlines()]
            self.assertEqual(sorted(sums), sorted(hashlib.sha256(key.encode()).hexdigest() for key in keys))
            self.good(run("-f", "sha256", "-c", "-", environment=there, input=lines))
            plan = self.good(run("plan", "-r", "-f", "sha256", "s3://bucket", environment=there))
            ledger = self.good(run("map", "-", environment=there, input=plan))
            self.assertEqual([json.loads(row)["digest"] for row in ledger.splitlines()], sums)

    def test_a_name_that_no_store_has_is_an_error(self):
        found = run(f"s3://bucket/{'a' * (64 << 10)}", environment={**ANONYMOUS, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
        self.assertEqual(found.returncode, 1)
        self.assertIn("longer than", found.stderr)

    def test_markers_of_folders_are_no_objects(self):
        with moto() as there:
            boto(
                there,
                "s3.create_bucket(Bucket='bucket')\n"
                "for key, body in [('a/', b''), ('a/b', b'b'), ('a/c/', b''), ('d', b'')]:\n"
                "    s3.put_object(Bucket='bucket', Key=key, Body=body)\n",
            )
            lines = self.good(run("-f", "sha256", "--untagged", "-r", "s3://bucket", environment=there)).splitlines()
            self.assertEqual([line.split("/", 2)[2] for line in lines], ["bucket/a/b", "bucket/d"])

    def test_sums_of_the_store_are_compared(self):
        with moto() as there:
            boto(
                there,
                "from boto3.s3.transfer import TransferConfig\nimport io\n"
                "s3.create_bucket(Bucket='bucket')\n"
                "s3.put_object(Bucket='bucket', Key='one', Body=b'one', ChecksumAlgorithm='SHA256')\n"
                "parts = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=6 << 20)\n"
                "s3.upload_fileobj(io.BytesIO(bytes(20_000_000)), 'bucket', 'parts', Config=parts)\n",
            )
            one = run("--stored", "s3://bucket/one", environment=there)
            self.assertEqual(one.returncode, 0, one.stderr)
            self.assertIn("s3://bucket/one: etag agrees (md5)", one.stderr)
            self.assertIn("s3://bucket/one: x-amz-checksum-sha256 agrees (sha256)", one.stderr)
            self.assertIn(f"SHA256 (s3://bucket/one) = {hashlib.sha256(b'one').hexdigest()}\n", one.stdout)
            parts = run("--stored", "-f", "blake3", "s3://bucket/parts", environment=there)
            self.assertEqual(parts.returncode, 0, parts.stderr)
            self.assertIn("s3://bucket/parts: etag agrees (s3:md5:6MiB)", parts.stderr)
            self.assertIn("blake3 (s3://bucket/parts) = ", parts.stdout)


class Quiet(servers.Silent, http.server.BaseHTTPRequestHandler):
    """A server that keeps connections, prints nothing and answers HEAD as GET; `do_GET` sends a body to GET alone."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.do_GET()


class Faulty(Quiet):
    """A store with one object, and with the faults that a test asks for."""

    def do_GET(self):
        server = self.server
        with server.lock:
            number = server.count
            server.count += 1
            server.seen.append((self.headers.get("Range"), self.headers.get("If-Match")))
            fault = server.fault(number) or {}
            body, etag = fault.get("object", server.object)
        if fault.get("status"):
            self.answer(fault["status"], b"<Error><Code>Told</Code><Message>As told.</Message></Error>", etag)
            return
        wanted = self.headers.get("If-Match")
        if wanted and wanted != etag and server.matches:
            self.answer(412, b"", etag)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if not asked or not fault.get("ranges", server.ranges):
            self.answer(200, body, etag, fault)
            return
        start, end = int(asked[1]), min(int(asked[2]) + 1, len(body))
        if start >= len(body):
            self.answer(416, b"", etag)
            return
        named = start + fault.get("shift", 0)
        self.answer(206, body[start:end], etag, fault, f"bytes {named}-{named + end - start - 1}/{len(body)}")

    def answer(self, status, body, etag, fault=None, there=None):
        fault = fault or {}
        self.send_response(status)
        if fault.get("length", True):
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Connection", "close")
        if etag:
            self.send_header("ETag", etag)
        if there:
            self.send_header("Content-Range", there)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        with contextlib.suppress(OSError):
            if "cut" in fault:
                self.wfile.write(body[: fault["cut"]])
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if "slow" in fault:
                for at in range(0, len(body), MIB):
                    self.wfile.write(body[at : at + MIB])
                    time.sleep(fault["slow"])
                return
            self.wfile.write(body)


class Faults(Place):
    """Each fault ends in the right root or in an error."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.body = random.Random(19).randbytes(20 * MIB + 3)
        cls.sum = hashlib.sha256(cls.body).hexdigest()
        cls.other = random.Random(20).randbytes(20 * MIB + 3)

    @contextlib.contextmanager
    def store(self, fault=lambda _: None, etag='"one"', matches=True, ranges=True):
        noted = {"lock": threading.Lock(), "count": 0, "seen": [], "headers": {}}
        wanted = {"fault": fault, "object": (self.body, etag), "matches": matches, "ranges": ranges}
        with servers.answering(Faulty, **noted, **wanted) as server:
            environment = {**ANONYMOUS, "AWS_ENDPOINT_URL": server.url}
            yield server, [("s3://bucket/key", environment), (f"{server.url}/a//b?c=d", environment)]

    def hashed(self, **store):
        """Yields the tool's end, and the server's record, for S3 and for a web server."""
        for which in (0, 1):
            with self.store(**store) as (server, urls):
                url, environment = urls[which]
                yield run("-f", "sha256", "--untagged", url, environment=environment), server

    def right(self, **store):
        for done, server in self.hashed(**store):
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.split()[0], self.sum)
            yield server

    def wrong(self, words, **store):
        for done, server in self.hashed(**store):
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, words)
            yield server

    def test_no_fault(self):
        for server in self.right():
            self.assertEqual({match for _, match in server.seen}, {None, '"one"'})
            self.assertEqual([match for _, match in server.seen].count(None), 1, "all but the first are bound to its version")

    def test_an_object_that_is_replaced_is_an_error(self):
        def replaced(number):
            return {"object": (self.other, '"two"')} if number >= 2 else {}

        list(self.wrong("changed while it was read.*412", fault=replaced))

    def test_so_it_is_where_the_server_ignores_if_match(self):
        def replaced(number):
            return {"object": (self.other, '"two"')} if number >= 2 else {}

        words = 'changed while it was read.*its ETag was "one" and is "two" now'
        list(self.wrong(words, fault=replaced, matches=False))

    def test_an_object_that_changes_back_is_an_error_or_itself(self):
        def between(number):
            return {"object": (self.other, '"two"')} if number == 2 else {}

        list(self.wrong("changed while it was read", fault=between, matches=False))

    def test_another_object_with_the_same_etag_and_another_length_is_an_error(self):
        def longer(number):
            return {"object": (self.other + b"x", '"one"')} if number >= 2 else {}

        list(self.wrong("changed while it was read.*it had 20971523 bytes and has 20971524 now", fault=longer))

    def test_an_object_that_is_deleted_is_an_error(self):
        list(self.wrong("changed while it was read.*it is gone", fault=lambda number: {"status": 404} if number >= 2 else {}))

    def test_503_is_tried_again(self):
        for server in self.right(fault=lambda number: {"status": 503} if number in (0, 2, 3) else {}):
            self.assertGreater(server.count, 6)

    def test_503_for_ever_is_an_error(self):
        for server in self.wrong("503 Service Unavailable: Told: As told", fault=lambda _: {"status": 503}):
            self.assertEqual(server.count, 3)
        list(self.wrong("503 Service Unavailable", fault=lambda number: {"status": 503} if number else {}))

    def test_403_is_not_tried_again(self):
        for server in self.wrong("403 Forbidden: Told: As told", fault=lambda _: {"status": 403}):
            self.assertEqual(server.count, 1)

    def test_a_connection_that_is_cut_is_made_again(self):
        list(self.right(fault=lambda number: {"cut": 700_001} if number in (0, 2, 3) else {}))

    def test_a_connection_that_is_always_cut_is_an_error(self):
        list(self.wrong("bytes from", fault=lambda number: {"cut": 5} if number else {}))

    def test_an_object_that_is_replaced_while_the_connection_is_cut_is_an_error(self):
        def cut(number):
            if number < 2:
                return {"cut": 100_000}
            return {"object": (self.other, '"two"')}

        list(self.wrong("bytes from|changed while it was read", fault=cut, matches=False))

    def test_a_slow_server_is_waited_for(self):
        list(self.right(fault=lambda _: {"slow": 0.1}))

    def test_a_server_without_ranges_sends_all_in_one_response(self):
        for server in self.right(ranges=False):
            self.assertEqual(server.count, 2, "the request of a range, and that of the whole object")
        for server in self.right(ranges=False, etag=None):
            self.assertEqual(server.count, 2, "one response has one version")

    def test_trees_are_kept_of_a_server_without_ranges(self):
        local, outboard = self.folder / "local", self.folder / "tree.mkt"
        local.write_bytes(self.body)
        # Short leaves, long ones, and those of two lengths.
        for form in ("rfc6962", "rfc6962:3MiB", "mtsum"):
            root = self.local("-f", form, "--untagged", local).split()[0]
            with self.store(ranges=False) as (server, [(url, environment), _]):
                for command in (("keep", "-f", form, "--output"), ("verify", "--root", root, "--outboard")):
                    server.count = 0
                    self.assertIn(root, self.good(run(*command, outboard, url, environment=environment)))
                    self.assertEqual(server.count, 2, "the request of a range, and that of the whole object")
            outboard.unlink()

    def test_a_server_without_ranges_is_asked_again_before_the_first_byte(self):
        for server in self.right(ranges=False, fault=lambda number: {"cut": 0} if number == 1 else {}):
            self.assertLessEqual(server.count, 4, "with an ETag, the client asks for the rest first, in vain")

    def test_a_server_without_ranges_and_lengths_is_an_error(self):
        list(self.wrong("curl -s URL \\| mksum", ranges=False, fault=lambda _: {"length": False}))

    def test_a_server_without_ranges_that_ends_too_soon_is_an_error(self):
        def cut(number):
            return {"cut": 700_001} if number else {}

        list(self.wrong("bytes from 700001.*nothing goes on from here", ranges=False, fault=cut))

    def test_a_server_that_loses_its_ranges_is_an_error(self):
        def without(number):
            return {"ranges": False} if number else {}

        list(self.wrong("does not support range requests", fault=without))

    def test_a_server_that_sends_another_range_is_an_error(self):
        for first in (0, 1):
            list(self.wrong("Requested .*got", fault=lambda number, first=first: {"shift": number >= first}))

    def test_a_server_that_names_no_version_is_refused(self):
        list(self.wrong("neither ETag nor Last-Modified", etag=None))

    def test_small_objects_come_in_one_response_of_any_server(self):
        with self.store(etag=None) as (server, urls):
            server.object = (b"small", None)
            for url, environment in urls:
                done = run("-f", "sha256", "--untagged", url, environment=environment)
                self.assertEqual((done.returncode, done.stdout.split()[0]), (0, hashlib.sha256(b"small").hexdigest()))

    def test_a_sum_of_the_store_that_differs_is_an_error(self):
        wrong, right = "0" * 32, hashlib.md5(self.body).hexdigest()
        differs = f"etag differs:\n  the store has {wrong}\n  found         {right}"
        for etag, words in [(f'"{wrong}"', differs), ('"x"', "no sum of it that can be")]:
            with self.store(etag=etag) as (_, [(url, environment), _]):
                done = run("--stored", url, environment=environment)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(words, done.stderr)
        # Nothing but a CRC.
        crc = base64.b64encode(zlib.crc32(self.body).to_bytes(4, "big")).decode()
        for value, code in ((crc, 0), ("AAAAAA==", 1)):
            with self.store(etag='"x"') as (server, [(url, environment), _]):
                server.headers = {"x-amz-checksum-crc32": value, "x-amz-checksum-type": "FULL_OBJECT"}
                done = run("--stored", url, environment=environment)
                self.assertEqual(done.returncode, code, done.stderr)
                words = "x-amz-checksum-crc32 agrees (crc32)" if code == 0 else f"the store has {value}"
                self.assertIn(words, done.stderr)
        with self.store(etag=f'"{right}"') as (_, [(url, environment), _]):
            done = run("--stored", url, environment=environment)
            self.assertEqual((done.returncode, done.stdout), (0, f"MD5 ({url}) = {right}\n"))

    def test_no_server_is_an_error(self):
        for url in (f"http://127.0.0.1:{servers.free_port()}/x", "s3://bucket/key"):
            environment = {**ANONYMOUS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{servers.free_port()}"}
            done = run(url, environment=environment)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(url, done.stderr)


class Recorded(Quiet):
    """A server that notes the headers of each request, and answers what `server.answer` says: a URL to go to, or an object."""

    def do_GET(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append(headers)
        answer = self.server.answer(self.path, headers)
        if isinstance(answer, str):
            self.send_response(302)
            self.send_header("Location", answer)
            self.send_header("Set-Cookie", "session=secret; Path=/")
            body = b""
        elif answer is None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            body = b""
        else:
            start, end = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range")).groups()
            body = answer[int(start) : int(end) + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{int(start) + len(body) - 1}/{len(answer)}")
            self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


class Redirects(Place):
    """What a second server gets when a first one redirects to it, and where no redirect leads."""

    # Two parts: the second is asked for by its version.
    BODY = random.Random(21).randbytes(17 * MIB)
    # All that the second server needs; Host is its own.
    OPEN = frozenset(["accept", "accept-encoding", "host", "if-match", "range", "user-agent"])

    def server(self, host, answer):
        return servers.answering(Recorded, host=host, seen=[], answer=answer)

    def hashed(self, url, first, **more):
        """Hashes an object of the first server, with all that a request can have of secrets."""
        secrets = {**KEYS, "AWS_SESSION_TOKEN": "a-token", "AWS_ENDPOINT_URL": first.url, "AWS_MAX_ATTEMPTS": "1"}
        return run("-f", "sha256", "--untagged", url, environment={**CLEAN, **secrets, **more})

    def right(self, done):
        self.assertEqual(self.good(done).split()[0], hashlib.sha256(self.BODY).hexdigest())

    def refused(self, done, words):
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, words)

    def test_another_host_gets_no_secret(self):
        for host in ("127.0.0.1", "127.0.0.2"):
            with (
                self.server(host, lambda *_: self.BODY) as second,
                self.server("127.0.0.1", lambda *_: second.url.replace("//", "//me:other@") + "/there") as first,
            ):
                web = first.url.replace("//", "//me:secret@") + "/a?X-Amz-Signature=secret"
                for url, secrets in (("s3://bucket/key", {"authorization", "x-amz-security-token"}), (web, {"authorization"})):
                    first.seen.clear()
                    second.seen.clear()
                    self.right(self.hashed(url, first))
                    self.assertEqual([secrets - set(headers) for headers in first.seen], [set()] * len(first.seen))
                    self.assertEqual([set(headers) - self.OPEN for headers in second.seen], [set()] * len(second.seen))
                    self.assertEqual([headers.get("if-match") for headers in second.seen], [None, '"one"'])
                    self.assertNotIn("secret", repr(second.seen))

    def test_secrets_do_not_come_back_with_a_redirect_to_the_first_host(self):
        with self.server("127.0.0.2", lambda *_: first.url + "/last") as second:
            answers = {"/here": "/still", "/still": second.url, "/last": self.BODY}
            with self.server("127.0.0.1", lambda path, _: answers[path]) as first:
                self.right(self.hashed(first.url.replace("//", "//me:secret@") + "/here", first))
                self.assertEqual(["authorization" in headers for headers in first.seen[:3]], [True, True, False])
                self.assertFalse([headers for headers in first.seen if "cookie" in headers or "referer" in headers])

    def test_another_scheme_is_refused(self):
        with self.server("127.0.0.2", lambda *_: self.BODY) as second:
            for to, words in (
                (second.url.replace("http", "https"), "which has another scheme: .*MKSUM_REDIRECTS=any"),
                (second.url.replace("http", "ftp"), "no URL"),
                ("file:///etc/passwd", "no URL"),
            ):
                with self.server("127.0.0.1", lambda *_, to=to: to) as first:
                    for url in (first.url + "/a", "s3://bucket/key"):
                        self.refused(self.hashed(url, first), words)
                        self.assertEqual(len(first.seen), 1)
                        first.seen.clear()
            self.assertEqual(second.seen, [])

    def test_a_public_server_does_not_lead_inwards(self):
        # The first server is the proxy for a public address, so nothing leaves this machine.
        with (
            self.server("127.0.0.1", lambda *_: self.BODY) as second,
            self.server("127.0.0.1", lambda *_: second.url + "/there") as first,
        ):
            proxy = {"HTTP_PROXY": first.url, "NO_PROXY": "127.0.0.1"}
            url = "http://93.184.215.14/a"
            self.refused(self.hashed(url, first, **proxy), "an address of this machine or of a private network: .*any")
            self.assertEqual(second.seen, [])
            self.right(self.hashed(url, first, **proxy, MKSUM_REDIRECTS="any"))

    def test_the_login_of_a_host_is_in_a_netrc_file(self):
        def answer(path, headers):
            own = base64.b64encode(b"me:a secret").decode()
            return None if headers.get("authorization") != f"Basic {own}" else second.url if path == "/moved" else self.BODY

        home = self.folder / "home"
        home.mkdir()
        netrc, wrong = home / ".netrc", self.folder / "wrong"
        netrc.write_text('machine 127.0.0.1 login me password "a secret"\nmachine 127.0.0.2 login me password other\n')
        wrong.write_text("machine 127.0.0.1\nlogin me password a secret\n")
        usual, named = {"HOME": str(home), "NETRC": ""}, {"NETRC": str(netrc)}
        with self.server("127.0.0.2", lambda *_: self.BODY) as second, self.server("127.0.0.1", answer) as first:
            for environment in (usual, named):
                done = self.hashed(first.url + "/a", first, **environment)
                self.right(done)
                self.assertEqual(done.stdout.split()[1], first.url + "/a")
            # Another host gets no login, although it has one in the file.
            self.right(self.hashed(first.url + "/moved", first, **named))
            self.assertFalse([headers for headers in second.seen if "authorization" in headers])
            # The user of a URL comes first.
            self.refused(self.hashed(first.url.replace("//", "//me@") + "/a", first, **named), "401 Unauthorized")
            self.refused(self.hashed(first.url + "/a", first), "401 Unauthorized")
            first.seen.clear()
            done = self.hashed(first.url + "/a", first, NETRC=str(wrong))
            self.refused(done, f"{wrong}: line 2: expected 'machine'")
            self.assertNotIn("secret", done.stderr)
            self.refused(self.hashed(first.url + "/a", first, NETRC="/nowhere"), "the file of logins /nowhere cannot be read")
            self.assertEqual(first.seen, [])

    def test_redirects_end(self):
        with self.server("127.0.0.1", lambda path, _: path + "x") as server:
            self.refused(self.hashed(server.url + "/", server), "redirects more than 10 times")
            self.assertEqual(len(server.seen), 11)


if __name__ == "__main__":
    CHOSEN, rest = flags.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
