#!/usr/bin/env python3
"""Tests mksum and its Python package with Google Cloud Storage and Azure: fake-gcs-server and Azurite on this machine.

    clouds.py MKSUM --fake-gcs-server PROGRAM --azurite PROGRAM [TEST…]

Run it with a Python that has mksum, google-cloud-storage and azure-storage-blob, which write the objects. Everything listens on
127.0.0.1 alone.

NOT TESTED, since these servers do not have it: at Google uploads in parts, pages of listings and If-Match, which fake-gcs-server
does not have in the XML interface (it takes an object in one request as a signed URL has it, which is translated here); at Azure
versions of blobs; tokens of OAuth at both.
"""

import argparse
import contextlib
import datetime
import hashlib
import json
import os
import random
import re
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import servers
import stores
from stores import CLEAN, MIB

FORMAT = "blake3"
# The key that Azurite has for its account.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
# Names that the client of a store cannot ask for.
ODD = ("a//b", "tab\tx", "/c")

flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
flags.add_argument("mksum", type=os.path.abspath)
flags.add_argument("--fake-gcs-server", type=os.path.abspath, required=True)
flags.add_argument("--azurite", type=os.path.abspath, required=True)


class Between(servers.Forwarding):
    """Passes requests on to a store, and does what a test asks for at each read of an object."""

    def do_GET(self):
        path, sent = self.server.cloud.path(self.command, self.path), self.sent()
        if "Range" in self.headers or "x-ms-range" in self.headers:
            with self.server.lock:
                self.server.reads += 1
                number = self.server.reads
            status = self.server.fault(number)
            if status is not None:
                self.answer(status, {}, b"")
                return
        status, headers, body = self.ask(sent, path)
        self.answer(status, headers | self.server.cloud.headers(self.command, status, body), body)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET


class Google:
    """fake-gcs-server, and Google's own client."""

    scheme = "gs"

    def __init__(self, stack, folder, port, url):
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage

        del folder
        stack.enter_context(servers.fake_gcs_server(CHOSEN.fake_gcs_server, port, url.partition("://")[2]))
        os.environ["STORAGE_EMULATOR_HOST"] = f"http://127.0.0.1:{port}"
        self.client = storage.Client(project="test", credentials=AnonymousCredentials())
        # What object_store calls a service account without OAuth.
        account = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
        self.environment = {"GOOGLE_BASE_URL": url, "GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(account)}
        self.endpoint = "GOOGLE_BASE_URL"

    def create(self, bucket):
        self.client.create_bucket(bucket)

    def put(self, bucket, key, data):
        self.client.bucket(bucket).blob(key).upload_from_string(data)

    def get(self, bucket, key):
        return self.client.bucket(bucket).blob(key).download_as_bytes()

    @staticmethod
    def path(command, path):
        # The server takes an object in one request only as a signed URL has it.
        return f"{path}?X-Goog-Algorithm=none" if command == "PUT" else path

    @staticmethod
    def headers(command, status, body):
        # It answers as the JSON interface does then; the XML interface says the same in headers.
        facts = json.loads(body) if command == "PUT" and status == 200 else {}
        return {"ETag": f'"{facts["etag"]}"', "x-goog-generation": facts["generation"]} if facts else {}


class Azure:
    """Azurite, and Azure's own client."""

    scheme = "az"

    def __init__(self, stack, folder, port, url):
        from azure.storage.blob import BlobServiceClient

        stack.enter_context(servers.azurite(CHOSEN.azurite, port, folder))
        self.client = BlobServiceClient(f"http://127.0.0.1:{port}/{ACCOUNT}", credential=KEY)
        self.environment = {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
            "AZURE_STORAGE_ENDPOINT": f"{url}/{ACCOUNT}",
        }
        self.endpoint = "AZURE_STORAGE_ENDPOINT"

    def create(self, bucket):
        self.client.create_container(bucket)

    def put(self, bucket, key, data):
        self.client.get_blob_client(bucket, key).upload_blob(data, overwrite=True)

    def get(self, bucket, key):
        return self.client.get_blob_client(bucket, key).download_blob().readall()

    @staticmethod
    def path(_, path):
        # With a token in the URL the rest of it is not signed: pages of few names, so that there are several.
        return f"{path}&maxresults=50" if "comp=list" in path and "sig=" in path else path

    @staticmethod
    def headers(*_):
        return {}


class Cloud:
    """What is true of each store."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        port = servers.free_port()
        own = {"store": port, "lock": threading.Lock(), "reads": 0, "fault": lambda _: None}
        cls.between = cls.enterClassContext(servers.answering(Between, **own))
        stack = cls.enterClassContext(contextlib.ExitStack())
        cls.cloud = cls.between.cloud = cls.kind(stack, cls.folder / "server", port, cls.between.url)
        cls.there = {**CLEAN, **cls.cloud.environment, "AWS_MAX_ATTEMPTS": "3"}
        cls.scheme, cls.files, chance = cls.cloud.scheme, cls.folder / "files", random.Random(35)
        sizes = {"big": 40 * MIB + 5, "empty": 0, "a b/c+d%25 ü?x": 3000, "a b/one": 1}
        sizes |= {f"many/{number % 7}/{number}": chance.choice([0, 1, 100, 5000, 70_000]) for number in range(120)}
        cls.cloud.create("bucket")
        for name, size in sizes.items():
            path = cls.files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chance.randbytes(size))
            cls.cloud.put("bucket", name, path.read_bytes())
        cls.count = len(sizes)
        for name in ("kept", "odd", "changed", "damaged"):
            cls.cloud.create(name)

    def setUp(self):
        self.between.reads, self.between.fault = 0, lambda _: None
        # The package reads the environment of its process.
        for name in list(os.environ):
            if re.match("(AWS|GOOGLE|AZURE)_", name):
                del os.environ[name]
        os.environ.update({name: value for name, value in self.there.items() if name not in CLEAN})

    def url(self, name, bucket="bucket"):
        return f"{self.scheme}://{bucket}/{name}"

    def tool(self, *arguments, **more):
        return stores.run(*arguments, environment=self.there, **more)

    def wrong(self, done, words):
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr, words)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def root(self, path, fmt=FORMAT):
        return self.local("-f", fmt, "--untagged", path).split()[0]

    def test_an_object_has_the_roots_of_its_file_in_every_format(self):
        formats = [json.loads(line)["name"] for line in self.local("formats", "--json").splitlines()]
        several = [flag for name in formats for flag in ("-f", name)]
        there, here = self.tool(*several, self.url("big")), stores.run(*several, self.files / "big", environment=CLEAN)
        self.assertEqual(there.stdout.replace(self.url("big"), str(self.files / "big")), here.stdout)
        self.assertEqual(there.stderr.replace(self.url("big"), str(self.files / "big")), here.stderr)

    def test_each_byte_is_fetched_once(self):
        done = self.tool("--verbose", self.url("big"))
        self.assertIn("41,943,045 bytes received", done.stderr)

    def test_names_are_as_they_are(self):
        for name in ("a b/c+d%25 ü?x", "empty", "a b/one"):
            there = self.good(self.tool("--untagged", "-f", "sha256", self.url(name)))
            self.assertEqual(there.split()[0], hashlib.sha256((self.files / name).read_bytes()).hexdigest())

    def test_a_prefix_is_listed(self):
        there = self.good(self.tool("-r", "-f", "md5", self.url("many/")))
        here = self.local("-r", "-f", "md5", self.files / "many").replace(str(self.files), self.url("")[:-1])
        self.assertEqual(sorted(there.splitlines()), sorted(here.splitlines()))
        everything = self.good(self.tool("-r", "-f", "md5", self.url("")))
        self.assertEqual(len(everything.splitlines()), self.count)
        sums = self.folder / "SUMS"
        sums.write_text(everything)
        self.assertEqual(self.good(self.tool("-c", sums)).count(": OK\n"), self.count)

    def test_a_name_that_cannot_be_asked_for_costs_no_other(self):
        for name in ("plain", *ODD):
            self.cloud.put("odd", name, b"abc")
        # A folder as consoles make it is no object.
        self.cloud.put("odd", "folder/", b"")
        done = self.tool("-r", "-f", "md5", "--untagged", self.url("", "odd"))
        self.assertEqual((done.returncode, done.stdout.split()[1:]), (1, [self.url("plain", "odd")]))
        self.assertEqual(done.stderr.count("the client of the store cannot ask for"), len(ODD), done.stderr)
        self.assertIn("a name with a control character", done.stderr)
        import mksum.cluster

        rows = mksum.cluster.hash(self.url("", "odd"), str(self.folder / "odd"), "md5")
        wrong = {row["object"]: row["error"] for row in rows if row["status"] != "ok"}
        self.assertEqual((set(wrong), len(rows)), ({self.url(name, "odd") for name in ODD}, len(ODD) + 1))
        self.assertTrue(all("cannot ask for" in error for error in wrong.values()), wrong)

    def test_a_part_of_an_object_is_hashed(self):
        for part in ("1MiB..9MiB", "..5", "41943040.."):
            there = self.good(self.tool("--range", part, self.url("big")))
            self.assertEqual(there.split()[-1], self.local("--range", part, self.files / "big").split()[-1])

    def test_a_tree_is_kept_in_the_store_and_finds_damage(self):
        there, kept = self.url("big.mkt", "kept"), self.folder / "big.mkt"
        root = self.good(self.tool("keep", self.url("big"), "-o", there)).split()[-1]
        self.assertEqual(root, self.local(self.files / "big").split()[-1])
        self.good(self.tool("keep", self.url("big"), "-o", kept))
        self.assertEqual(self.cloud.get("kept", "big.mkt"), kept.read_bytes())
        for outboard in (there, kept):
            self.assertIn("OK", self.good(self.tool("verify", self.url("big"), "--outboard", outboard)))
            self.assertIn("1 unchanged file", self.tool("verify", "--quick", self.url("big"), "--outboard", outboard).stderr)
        proof = [
            self.good(self.tool("prove", "--json", "--range", "9MiB..9437190", self.url("big"), *more))
            for more in (("--outboard", there), ("--outboard", kept), ())
        ]
        self.assertEqual(proof, proof[:1] * 3)
        content = bytearray((self.files / "big").read_bytes())
        content[7 * MIB] ^= 1
        self.cloud.put("damaged", "big", bytes(content))
        done = self.tool("verify", self.url("big", "damaged"), "--outboard", there)
        self.assertEqual(done.returncode, 1)
        self.assertIn("damaged 7340032..7405568 (65,536 bytes, leaf 112)", done.stdout)
        copy = self.folder / "copy"
        copy.write_bytes(content)
        done = self.good(self.tool("repair", copy, "--outboard", there, "--from", self.url("big"), "--json"))
        self.assertEqual(json.loads(done.splitlines()[-1])["fetched"], 65536)
        self.assertEqual(copy.read_bytes(), (self.files / "big").read_bytes())
        # Nothing that is not an outboard is replaced.
        self.cloud.put("kept", "other", b"not an outboard")
        self.wrong(self.tool("keep", self.url("big"), "-o", self.url("other", "kept")), "other: not an outboard")
        self.assertEqual(self.cloud.get("kept", "other"), b"not an outboard")

    def test_sums_of_the_store_are_compared(self):
        name, known = ("x-goog-hash", ("crc32c", "md5")) if self.scheme == "gs" else ("content-md5", ("md5",))
        done = self.tool("--stored", self.url("a b/one"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for fmt in known:
            self.assertIn(f"{self.url('a b/one')}: {name} agrees ({fmt})", done.stderr)

    def test_a_file_is_fetched_from_two_buckets(self):
        content = bytearray((self.files / "big").read_bytes())
        content[3 * MIB] ^= 1
        self.cloud.put("damaged", "mirror", bytes(content))
        root, got = self.root(self.files / "big", "rfc6962"), self.folder / "got"
        self.tool("keep", self.url("big"), "-o", self.url("big.mkt", "kept"))
        mirrors = (self.url("mirror", "damaged"), self.url("big"))
        done = self.tool("get", *mirrors, "--root", root, "--outboard", self.url("big.mkt", "kept"), "-o", got)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(got.read_bytes(), (self.files / "big").read_bytes())

    def test_a_plan_is_hashed_in_tasks_and_joined(self):
        plan, ledger = self.folder / "plan", self.folder / "ledger"
        plan.write_text(self.good(self.tool("plan", "-f", FORMAT, "--range", "4MiB", "-r", self.url(""))))
        ledger.write_text(self.good(self.tool("map", plan)))
        joined = self.good(self.tool("join", "--plan", plan, ledger))
        whole = self.good(self.tool("-f", FORMAT, "-r", self.url("")))
        self.assertEqual(sorted(joined.splitlines()), sorted(whole.splitlines()))

    def test_an_object_that_is_replaced_while_it_is_read_is_an_error(self):
        # As long as the first one: of a shorter one, fake-gcs-server, which does not know If-Match, may have no byte of a range.
        other = random.Random(2).randbytes(40 * MIB)
        for when in (2, 3):
            self.cloud.put("changed", "x", random.Random(1).randbytes(40 * MIB))

            def replaced(number, when=when):
                if number == when:
                    self.cloud.put("changed", "x", other)

            self.between.reads, self.between.fault = 0, replaced
            self.wrong(self.tool("-f", "md5", self.url("x", "changed")), "x: changed while it was read")
        self.between.fault = lambda _: None
        found = self.good(self.tool("-f", "md5", "--untagged", self.url("x", "changed")))
        self.assertEqual(found.split()[0], hashlib.md5(other).hexdigest())

    def test_a_server_that_is_busy_is_asked_again(self):
        self.between.fault = lambda number: 503 if number in (1, 3) else None
        there = self.good(self.tool("-f", "md5", "--untagged", self.url("big")))
        self.assertEqual(there.split()[0], self.root(self.files / "big", "md5"))
        self.between.fault = lambda _: 503
        self.wrong(self.tool("-f", "md5", self.url("big")), "the server answered 503 Service Unavailable")

    def test_what_is_not_there_is_an_error(self):
        self.wrong(self.tool(self.url("none")), "/none: there is no such object")
        self.wrong(self.tool(self.url("none", "nobucket")), "/none: there is no such object")
        self.wrong(self.tool("-r", self.url("", "nobucket")), "nobucket/: the server answered (404|500) .*(bucket|container)")
        self.wrong(self.tool("keep", self.url("big"), "-o", self.url("x", "nobucket")), "write failed: there is no such bucket")
        nowhere = f"http://127.0.0.1:{servers.free_port()}"
        done = stores.run(self.url("big"), environment={**self.there, self.cloud.endpoint: nowhere})
        self.wrong(done, f"cannot connect to {nowhere}: ")
        done = stores.run(self.url("big"), environment={**self.there, self.cloud.endpoint: "127.0.0.1:1"})
        self.wrong(done, f"the endpoint '127.0.0.1:1' \\({self.cloud.endpoint}\\) is no URL")

    def test_the_package_hashes_lists_and_writes(self):
        import mksum

        url, big = self.url("big"), self.files / "big"
        self.assertEqual(mksum.file_root(url, [FORMAT, "md5"]), mksum.file_root(big, [FORMAT, "md5"]))
        listed = {row["path"]: row["size"] for row in mksum.list_objects(self.url("many/"))}
        local = {self.url(str(path.relative_to(self.files))): path for path in (self.files / "many").rglob("*") if path.is_file()}
        self.assertEqual(listed, {name: path.stat().st_size for name, path in local.items()})
        for name, found in mksum.hash_files(list(local), FORMAT):
            self.assertEqual(found, mksum.file_root(local[name], FORMAT))
        self.assertEqual(list(mksum.get_objects(local)), [path.read_bytes() for path in local.values()])
        mksum.put_object(self.url("new ü", "kept"), b"content")
        self.assertEqual(self.cloud.get("kept", "new ü"), b"content")
        with self.assertRaises(mksum.NotFoundError):
            mksum.file_root(self.url("none"))
        rows = mksum.plan(url, FORMAT, part=4 * MIB)
        with ThreadPoolExecutor() as pool:
            self.assertEqual(mksum.join(pool.map(mksum.map_range, rows)), mksum.file_root(big, FORMAT))

    def test_the_package_keeps_trees_and_reads_verified(self):
        import mksum

        url, big = self.url("big"), (self.files / "big").read_bytes()
        tree = mksum.Outboard.keep(url, outboard=self.url("package.mkt", "kept"))
        again = mksum.Outboard.open(url, outboard=self.url("package.mkt", "kept"))
        again.verify()
        self.assertEqual(mksum.check_proof(again.prove(10, 20), tree.root, big[10:20]), (10, 20))
        content = bytearray(big)
        content[5 * MIB] ^= 1
        self.cloud.put("damaged", "package", bytes(content))
        mksum.put_object(self.url("package.mkt", "damaged"), self.cloud.get("kept", "package.mkt"))
        damaged = self.url("package", "damaged")
        with mksum.open(damaged, root=tree.root, outboard=self.url("package.mkt", "damaged")) as file:
            self.assertEqual(file.read_at(9 * MIB, 100), big[9 * MIB : 9 * MIB + 100])
            with self.assertRaises(mksum.DamagedError):
                file.read_at(5 * MIB, 1)
        with mksum.open(damaged, root=tree.root, outboard=self.url("package.mkt", "damaged"), replicas=[url]) as file:
            self.assertEqual(hashlib.sha256(file.read()).digest(), hashlib.sha256(big).digest())
        path = self.folder / "package-got"
        self.assertEqual(mksum.get([damaged, url], tree.root, path)["state"], "fetched")
        self.assertEqual(path.read_bytes(), big)

    def test_a_ledger_is_in_the_store(self):
        import mksum.cluster

        options = {"part": 4 * MIB, "task": 16 * MIB}
        ledger = self.url("ledger", "kept")
        kept = mksum.cluster.hash(self.url("many/"), ledger, FORMAT, **options)
        self.assertEqual({row["status"] for row in kept}, {"ok"})
        for row in kept:
            path = self.files / row["object"].removeprefix(self.url(""))
            self.assertEqual(row["root"], mksum.file_root(path, FORMAT).text)
        again = mksum.cluster.hash(self.url("many/"), ledger, FORMAT, **options)
        self.assertEqual([row["root"] for row in again], [row["root"] for row in kept])
        changed = {**kept[0], "root": kept[1]["root"]}
        found = mksum.cluster.verify([changed, *kept[1:]], ledger, **options)
        self.assertEqual([row["status"] for row in found], ["damaged"] + ["ok"] * (len(kept) - 1))


class WithGoogle(Cloud, stores.Place):
    kind = Google

    def test_a_malformed_service_account_is_an_error_of_one_line(self):
        import mksum

        account = {"client_email": "a@b", "private_key": "not a key", "private_key_id": "1"}
        nowhere = {"gcs_base_url": "no server", "disable_oauth": True}
        key, file, server = "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_BASE_URL"
        for settings, words in (
            ({key: "{}"}, f"{key} is not the JSON of a service account: .*client_email"),
            ({key: "{"}, f"{key} is not the JSON of a service account: EOF"),
            ({key: json.dumps(account)}, f"the credentials in {key} cannot be used: .*pem"),
            ({key: json.dumps(account | nowhere), server: ""}, f"the endpoint 'no server' .gcs_base_url in {key}. is no URL"),
            ({file: "/nowhere", key: ""}, f"{file} is '/nowhere': the file cannot be read: No such file"),
            ({file: json.dumps(account), key: ""}, f"{file} is a key: expected the path of its file; set {key}$"),
            ({file: "/nowhere"}, f"{file} and {key} are both set: unset one"),
            ({"GOOGLE_BEARER_TOKEN": "a\nb"}, "GOOGLE_BEARER_TOKEN has a newline"),
        ):
            environment = {name: value for name, value in (self.there | settings).items() if value}
            self.wrong(stores.run(self.url("big"), environment=environment), words)
            for name in (key, file, server, "GOOGLE_BEARER_TOKEN"):
                os.environ.pop(name, None)
            os.environ.update({name: value for name, value in environment.items() if name.startswith("GOOGLE_")})
            with self.assertRaisesRegex(mksum.RefusedError, words):
                mksum.file_root(self.url("big"))


class WithAzure(Cloud, stores.Place):
    kind = Azure

    def test_a_key_that_is_wrong_is_an_error_of_one_line(self):
        done = stores.run(self.url("big"), environment={**self.there, "AZURE_STORAGE_ACCOUNT_KEY": "AAAA"})
        self.wrong(done, "the server answered 403 Forbidden: AuthorizationFailure: ")
        self.assertNotIn("RequestId", done.stderr)

    def test_pages_of_a_listing_follow_each_other(self):
        from azure.storage.blob import generate_account_sas

        end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
        token = generate_account_sas(ACCOUNT, KEY, "sco", "rl", end)
        own = {name: value for name, value in self.there.items() if name != "AZURE_STORAGE_ACCOUNT_KEY"}
        own["AZURE_STORAGE_SAS_TOKEN"] = token
        there = self.good(stores.run("-r", "-f", "md5", self.url(""), environment=own))
        self.assertEqual(there, self.good(self.tool("-r", "-f", "md5", self.url(""))))
        self.assertEqual(len(there.splitlines()), self.count)
        # What is in the token is not printed.
        done = stores.run(self.url("none"), environment={**own, "AZURE_STORAGE_SAS_TOKEN": token[:-9]})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertNotIn("sig=", done.stderr)

    def test_the_emulator_is_found_by_its_own_variables(self):
        own = {**CLEAN, "AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": self.between.url}
        there = self.good(stores.run("-f", "md5", "--untagged", self.url("big"), environment=own))
        self.assertEqual(there.split()[0], self.root(self.files / "big", "md5"))
        done = stores.run(self.url("big"), environment={**own, "AZURITE_BLOB_STORAGE_URL": "mailto:x"})
        self.wrong(done, "AZURITE_BLOB_STORAGE_URL is 'mailto:x': expected a URL")


if __name__ == "__main__":
    CHOSEN, rest = flags.parse_known_args()
    stores.CHOSEN = CHOSEN
    print(__doc__[__doc__.index("NOT TESTED") :].strip(), file=sys.stderr)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
