#!/usr/bin/env python3
"""Tests sum files with the tools that write and check them: theirs are checked by mksum, mksum's by them.

    sumfiles.py MKSUM PYTHON

PYTHON has the package bagit. Needs coreutils, OpenSSL, shasum (Perl), b3sum, hashdeep, RHash, xxhsum, minisign, signify-openbsd,
ssh-keygen and gpg in PATH; a tool that is missing is a failure. BSD's programs are not there on Linux: their lines are in
crates/cli/tests/scripts.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

PYTHON = os.path.abspath(sys.argv.pop(2))
MKSUM = os.path.abspath(sys.argv.pop(1))
FILES = {"a": b"one\n", "b c": b"two\n", "sub/d, e": b"three\n" * 50_000, "empty": b"", "50%25 (x) = y": b"four"}
# Names that need an escape. Some tools have none for a carriage return, and some none at all.
ODD = {"new\nline": b"five", "back\\slash": b"six"}
ODDER = ODD | {"return\r": b"seven"}

CKSUM = "md5 sha1 sha224 sha256 sha384 sha512 blake2b sm3".split()
OPENSSL = "md5 sha1 sha224 sha256 sha384 sha512 sha512-256 sha3-256 blake2b512 blake2s256 sm3".split()

# The name of a sum file, the command that writes it, and the names that it can escape.
WRITERS = [
    *((f"{tool[:-3].upper()}SUMS", tool, ODDER) for tool in ("md5sum", "sha1sum", "sha224sum", "sha384sum", "sha512sum")),
    ("SHA256SUMS", "sha256sum", ODDER),
    ("binary", "sha256sum --binary", ODDER),
    ("tagged", "sha512sum --tag", ODDER),
    ("B2SUMS", "b2sum", ODDER),
    *((f"cksum-{hash}", f"cksum -a {hash}", ODDER) for hash in CKSUM),
    ("x-sm3.txt", "cksum -a sm3 --untagged", ODDER),
    *((f"shasum-{bits}", f"shasum -a {bits}", ODD) for bits in (1, 224, 256, 384, 512)),
    ("sha512-256", "shasum -a 512256 -b", ODD),
    ("tagged by shasum", "shasum -a 512256 --tag", ODD),
    *((f"openssl-{hash}", f"openssl dgst -{hash}", {}) for hash in OPENSSL),
    ("openssl.sha3-512", "openssl dgst -r -sha3-512", ODD),
    ("B3SUMS", "b3sum", ODDER),
    ("tagged by b3sum", "b3sum --tag", ODDER),
    ("hashdeep", "hashdeep -l", {}),
    ("hashdeep-all", "hashdeep -l -c md5,sha1,sha256,tiger,whirlpool", {}),
    ("hashdeep-md5", "hashdeep -l -c md5,tiger", {}),
    ("md5deep", "md5deep -l", {}),
    ("sha256deep", "sha256deep -l", {}),
    *((f"rhash.{hash}", f"rhash --{hash}", {}) for hash in ("md5", "sha1", "sha256", "sha512", "sha3-256", "blake2s", "blake2b")),
    ("rhash-bsd", "rhash --bsd --md5 --sha1 --sha224 --sha512 --sha3-384 --blake2s --blake2b", {}),
    ("rhash.sfv", "rhash --sfv --sha512", {}),
    ("XXH32SUMS", "xxhsum -H0", {}),
    ("any name", "xxhsum", {}),
    ("XXH128SUMS", "xxhsum -H2", {}),
    # Since version 0.8.2 with the prefix XXH3_, before that tagged.
    ("of xxhsum -H3", "xxhsum -H3", {}),
    *((f"tagged by xxhsum -H{variant}", f"xxhsum -H{variant} --tag", {}) for variant in range(4)),
]

# The format, the style of the lines, the command that checks them, and the escaped names that it knows.
# b3sum checks lines with the tag BLAKE3 only, and mksum writes blake3.
READERS = [
    *((hash, "--untagged", f"{hash}sum -c --strict", ODDER) for hash in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")),
    ("sha256", "--tag", "sha256sum -c --strict", ODDER),
    ("blake2b", "--untagged", "b2sum -c --strict", ODDER),
    *((hash, "--tag", "cksum -c --strict", ODDER) for hash in CKSUM),
    ("blake3", "--untagged", "b3sum -c", ODDER),
    *((hash, style, "shasum -c --strict", ODD) for hash in ("sha1", "sha256", "sha512") for style in ("--tag", "--untagged")),
    ("sha512-256", "--tag", "shasum -c --strict", ODD),
    *((hash, "--tag", "rhash -c", {}) for hash in ("md5", "sha1", "sha256", "sha512", "sha3-256", "blake2s", "blake2b")),
    *((hash, "--untagged", f"rhash --{hash} -c", {}) for hash in ("md5", "sha1", "sha256", "sha512")),
    *((name, "--tag", "xxhsum -c --strict", {}) for name in ("xxh32", "xxh64", "xxh3", "xxh128")),
    *((name, "--untagged", "xxhsum -c --strict", {}) for name in ("xxh32", "xxh64", "xxh128")),
]


class SumFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, files, below="."):
        for name, content in files.items():
            path = self.folder / below / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def run_in(self, *command):
        return subprocess.run(list(map(str, command)), check=False, cwd=self.folder, capture_output=True)

    def check(self, sum_file, names, changed, lines=1):
        """Checks that mksum finds each file `lines` times, all intact, and then exactly the one that is changed."""
        for damaged in (None, changed):
            if damaged is not None:
                path = self.folder / damaged
                before = path.read_bytes()
                path.write_bytes(before + b"!")
            done = self.run_in(MKSUM, "-c", "--strict", "--json", sum_file)
            if damaged is not None:
                path.write_bytes(before)
            self.assertNotIn(b"improperly", done.stderr)
            self.assertEqual(done.returncode, 0 if damaged is None else 1, done.stdout + done.stderr)
            self.assertEqual(done.stdout.count(b'"status":"ok"'), lines * (len(names) - (damaged is not None)), done.stdout)
            self.assertEqual(done.stdout.count(b'"status":"failed"'), lines * (damaged is not None), done.stdout)

    def test_sum_files_of_other_tools_are_checked(self):
        for sum_file, command, odd in WRITERS:
            files = FILES | odd
            self.write(files)
            with self.subTest(command):
                done = self.run_in(*shlex.split(command), *files)
                # xxhsum wipes its line of progress.
                self.assertEqual((done.returncode, done.stderr.strip()), (0, b""))
                (self.folder / sum_file).write_bytes(done.stdout)
                lines = command.count("--") - 1 if "--bsd" in command else 1
                self.check(sum_file, files, "b c", lines)

    def test_a_stream_that_openssl_hashed_is_checked(self):
        for command in ("openssl dgst -sha256", "openssl dgst -md5"):
            with self.subTest(command):
                sums = subprocess.run(shlex.split(command), check=True, input=b"one", capture_output=True).stdout
                (self.folder / "sums").write_bytes(sums)
                for stream, status in ((b"one", 0), (b"two", 1)):
                    done = subprocess.run([MKSUM, "-c", self.folder / "sums"], check=False, input=stream, capture_output=True)
                    self.assertEqual((done.returncode, done.stdout), (status, b"-: OK\n" if status == 0 else b"-: FAILED\n"))

    def test_bags_are_checked(self):
        hashes = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s", "sha3_256")
        files = FILES | {"new\nline": b"five", "return\r": b"seven"}
        self.write(files, "bag")
        made = self.run_in(PYTHON, "-m", "bagit", *(f"--{hash}" for hash in hashes), "bag")
        self.assertEqual(made.returncode, 0, made.stderr)
        for hash in hashes:
            with self.subTest(hash):
                self.check(f"bag/manifest-{hash}.txt", files, "bag/data/b c")
                tags = len((self.folder / f"bag/tagmanifest-{hash}.txt").read_text().splitlines())
                self.check(f"bag/tagmanifest-{hash}.txt", range(tags), "bag/bag-info.txt")
        manifests = [f"bag/{kind}manifest-{hash}.txt" for kind in ("", "tag") for hash in hashes]
        complete = self.run_in(MKSUM, "-c", "--quiet", "--report-extra", *manifests)
        self.assertEqual((complete.returncode, complete.stdout), (0, b""), complete.stderr)
        (self.folder / "bag/data/more").write_bytes(b"")
        extra = self.run_in(MKSUM, "-c", "--quiet", "--report-extra", *manifests)
        self.assertEqual((extra.returncode, extra.stdout), (1, b"bag/data/more: EXTRA\n"))

    def test_modes_of_shasum_without_the_bytes_are_refused(self):
        self.write({"text": b"a\r\nb\r\n", "bits": b"0110"})
        for flag, name in (("-U", "text"), ("-0", "bits")):
            with self.subTest(flag):
                sums = self.run_in("shasum", flag, name)
                self.assertEqual(sums.returncode, 0, sums.stderr)
                (self.folder / "sums").write_bytes(sums.stdout)
                done = self.run_in(MKSUM, "-c", "sums")
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"use 'shasum -c'", done.stderr)

    def test_crcs_of_rhash_are_checked(self):
        self.write({"a": b"one", "b c": b"two" * 300_000})
        for command in ("--sfv", "", "--crc32 --bsd", "--crc32c --bsd", "--crc32c --sfv"):
            name = "sums.crc32c" if "c --sfv" in command else "sums"
            (self.folder / name).write_bytes(self.run_in("rhash", *shlex.split(command), "a", "b c").stdout)
            with self.subTest(command):
                done = self.run_in(MKSUM, "-c", name)
                self.assertEqual((done.returncode, done.stdout), (0, b"a: OK\nb c: OK\n"), done.stderr)
        for name in ("crc32", "crc32c"):
            ours = self.run_in(MKSUM, "-f", name, "a", "b c").stdout
            self.assertEqual(ours, self.run_in("rhash", f"--{name}", "--bsd", "a", "b c").stdout)

    def test_the_crc_of_cksum_is_refused(self):
        self.write({"a": b"one"})
        (self.folder / "sums").write_bytes(self.run_in("cksum", "a").stdout)
        done = self.run_in(MKSUM, "-c", "--warn", "sums")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"some lines are those of POSIX cksum, whose CRC mksum does not have", done.stderr)

    def test_other_tools_check_sum_files_of_mksum(self):
        for format, style, command, odd in READERS:
            files = FILES | odd
            self.write(files)
            with self.subTest(f"{format} {style} {command}"):
                sums = self.run_in(MKSUM, "-f", format, style, *files)
                self.assertEqual((sums.returncode, sums.stderr), (0, b""))
                (self.folder / "sums").write_bytes(sums.stdout)
                good = self.run_in(*shlex.split(command), "sums")
                self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
                (self.folder / "b c").write_bytes(b"changed")
                bad = self.run_in(*shlex.split(command), "sums")
                self.assertNotEqual(bad.returncode, 0, bad.stdout + bad.stderr)

    def sign(self, *command, **more):
        done = subprocess.run(list(map(str, command)), check=False, cwd=self.folder, capture_output=True, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_signatures_of_other_tools_are_verified(self):
        self.write({"a": b"one", "b": b"two"})
        (self.folder / "sums").write_bytes(self.run_in("sha256sum", "a", "b").stdout)
        self.sign("minisign", "-G", "-W", "-p", "mini.pub", "-s", "mini.key")
        for name in ("signify", "other"):
            self.sign("signify-openbsd", "-G", "-n", "-p", f"{name}.pub", "-s", f"{name}.sec")
        kept = [("mini.pub", "legacy.minisig"), ("mini.pub", "prehashed.minisig"), ("signify.pub", "signify.sig")]
        self.sign("minisign", "-S", "-l", "-s", "mini.key", "-m", "sums", "-x", "legacy.minisig")
        self.sign("minisign", "-S", "-H", "-s", "mini.key", "-m", "sums", "-x", "prehashed.minisig", "-t", "a comment")
        self.sign("signify-openbsd", "-S", "-s", "signify.sec", "-m", "sums", "-x", "signify.sig")
        for kind, bits in (("ed25519", ()), ("ecdsa", (256,)), ("ecdsa", (384,)), ("rsa", (2048,)), ("rsa", (4096,))):
            key = "-".join(map(str, ("id", kind, *bits)))
            self.sign("ssh-keygen", "-q", "-t", kind, *(word for size in bits for word in ("-b", size)), "-N", "", "-f", key)
            for hash in ("sha256", "sha512"):
                self.sign("ssh-keygen", "-q", "-Y", "sign", "-O", f"hashalg={hash}", "-f", key, "-n", "file", "sums")
                (self.folder / "sums.sig").rename(self.folder / f"{key}.{hash}")
                kept.append((f"{key}.pub", f"{key}.{hash}"))
        allowed = (self.folder / "id-ed25519.pub").read_text()
        (self.folder / "signers").write_text(f'a@b namespaces="file" {allowed}')
        kept.append(("signers", "id-ed25519.sha512"))
        for key, signature in kept:
            with self.subTest(signature):
                good = self.run_in(MKSUM, "-c", "sums", "--sig", signature, "--key", key)
                self.assertEqual((good.returncode, good.stdout), (0, b"a: OK\nb: OK\n"), good.stderr)
                self.assertIn(b"sums: good signature of ", good.stderr)
                before = (self.folder / "sums").read_bytes()
                (self.folder / "sums").write_bytes(before.replace(b"  a", b"  b"))
                changed = self.run_in(MKSUM, "-c", "sums", "--sig", signature, "--key", key)
                (self.folder / "sums").write_bytes(before)
                other = self.run_in(MKSUM, "-c", "sums", "--sig", signature, "--key", "other.pub")
                for bad in (changed, other):
                    self.assertEqual((bad.returncode, bad.stdout), (3, b""), bad.stderr)
                    self.assertIn(b"no file was checked", bad.stderr)
        self.sign("signify-openbsd", "-S", "-e", "-s", "signify.sec", "-m", "sums", "-x", "sums.sig")
        embedded = self.run_in(MKSUM, "-c", "sums.sig", "--key", "signify.pub")
        self.assertEqual((embedded.returncode, embedded.stdout), (0, b"a: OK\nb: OK\n"), embedded.stderr)
        self.sign("ssh-keygen", "-q", "-Y", "sign", "-f", "id-ed25519", "-n", "git", "sums", stdin=subprocess.DEVNULL)
        purpose = self.run_in(MKSUM, "-c", "sums", "--sig", "sums.sig", "--key", "id-ed25519.pub")
        self.assertEqual(purpose.returncode, 3)

    def test_lists_that_pgp_signed_are_read(self):
        self.write({"a": b"one"})
        (self.folder / "sums").write_bytes(self.run_in("sha256sum", "a").stdout)
        home = self.folder / "home"
        home.mkdir(mode=0o700)
        gpg = ("gpg", "--homedir", home, "--batch", "--quiet", "--passphrase", "")
        self.addCleanup(subprocess.run, ["gpgconf", "--homedir", home, "--kill", "all"], check=False)
        self.sign(*gpg, "--quick-generate-key", "a@example.org", "ed25519", "sign")
        self.sign(*gpg, "--clearsign", "--output", "signed", "sums")
        done = self.run_in(MKSUM, "-c", "--strict", "--warn", "signed")
        self.assertEqual((done.returncode, done.stdout), (0, b"a: OK\n"), done.stderr)
        self.assertEqual(done.stderr, b"mksum: signed: its PGP signature was not checked: gpg --verify signed\n")
        self.sign(*gpg, "--detach-sign", "--output", "sums.sig", "sums")
        done = self.run_in(MKSUM, "-c", "sums")
        self.assertEqual(done.stderr, b"mksum: sums: the signature beside it was not checked: gpg --verify sums.sig sums\n")


if __name__ == "__main__":
    unittest.main()
