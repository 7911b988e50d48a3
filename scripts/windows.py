#!/usr/bin/env python3
"""Tests the tool for Windows, with Wine on other systems: paths, names, sum files, devices, streams.

    windows.py MKSUM.EXE

On other systems it needs wine, and for a Wine without bcryptprimitives.dll a C compiler (x86_64-w64-mingw32-gcc).
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NATIVE = os.name == "nt"
WINE = shutil.which("wine64") or "/usr/lib/wine/wine64"
EXE = pathlib.Path(sys.argv.pop(1)).resolve()
# A DLL that Wine lacks before version 9.
SHIM = (pathlib.Path(__file__).resolve().parent / "bcryptprimitives.c").read_text()
# Opens a file as databases and virtual machines do, so that nobody else can open it, until its own input ends.
LOCK = """#include <stdio.h>
#include <windows.h>
int main(int count, char **arguments) {
    HANDLE file = CreateFileA(arguments[count - 1], GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    puts(file == INVALID_HANDLE_VALUE ? "failed" : "locked");
    fflush(stdout);
    return getchar() != EOF || file == INVALID_HANDLE_VALUE;
}
"""
ENVIRONMENT = {**os.environ, "WINEDEBUG": "-all"}
PLACE = tempfile.TemporaryDirectory(prefix="mksum-windows-")
# The command that runs the tool.
TOOL = [EXE]


def prepare():
    """Makes an environment in which the tool starts."""
    place = pathlib.Path(PLACE.name)
    ENVIRONMENT["WINEPREFIX"] = str(place / "prefix")
    copy = place / "bin" / "mksum.exe"
    copy.parent.mkdir()
    shutil.copy(EXE, copy)
    TOOL[:] = [WINE, copy]
    subprocess.run([WINE, "wineboot", "--init"], env=ENVIRONMENT, capture_output=True, check=False)
    if run("--version").returncode:
        compile("shim.c", SHIM, "-shared", "-o", copy.parent / "bcryptprimitives.dll", "-ladvapi32")
    version = run("--version")
    assert version.returncode == 0, version


def compile(name, text, *arguments):
    """Compiles a program or library for Windows."""
    source = pathlib.Path(PLACE.name) / name
    source.write_text(text)
    subprocess.run(["x86_64-w64-mingw32-gcc", source, *arguments], check=True)


def run(*arguments, **more):
    command = [*TOOL, *map(str, arguments)]
    for _ in range(3):
        done = subprocess.run(command, check=False, capture_output=True, env=ENVIRONMENT, **more)
        # Below zero: a signal has ended Wine itself, as its server does on a busy machine with a program that has ended but is
        # slow to go. A fault of the tool's own would be an exit status.
        if NATIVE or done.returncode >= 0:
            break
    done.stdout, done.stderr = done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="surrogateescape")
    if not NATIVE:
        # Wine's own words, not the tool's: a thread that is still talking to the server while its program ends. It may be ended
        # itself between the first word and the last, so the line need not have an end.
        done.stderr = re.sub(r"wine client error:.*(\n|$)", "", done.stderr)
    return done


def windows(path):
    """The path as Windows names it: Wine has the root directory as drive Z."""
    return str(path) if NATIVE else "Z:" + str(path).replace("/", "\\")


class Windows(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(dir=PLACE.name)
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.bytes = b"".join(b"%d\n" % number for number in range(100_000))
        self.file = self.folder / "f"
        self.file.write_bytes(self.bytes)
        self.root = self.good("--untagged", "f").split()[0]

    def good(self, *arguments, **more):
        done = run(*arguments, cwd=self.folder, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def bad(self, *arguments, **more):
        done = run(*arguments, cwd=self.folder, **more)
        self.assertEqual(done.returncode, 1, done)
        return done.stdout + done.stderr

    def test_paths(self):
        (self.folder / "a" / "b c").mkdir(parents=True)
        (self.folder / "a" / "b c" / "f").write_bytes(self.bytes)
        own = windows(self.folder)
        for path, shown in (
            ("a\\b c\\f", "a/b c/f"),
            ("a/b c/f", "a/b c/f"),
            (".\\a\\..\\f", "./a/../f"),
            (own + "\\f", own.replace("\\", "/") + "/f"),
            ("\\\\?\\" + own + "\\f", None),
            (own.lower() + "\\F", None),
        ):
            line = self.good(path)
            self.assertIn(self.root, line)
            if shown:
                self.assertEqual(line, f"rfc6962:sha256:64KiB ({shown}) = {self.root}\n")
            # What is printed can be checked.
            (self.folder / "SUMS").write_text(line)
            self.assertTrue(self.good("-c", "SUMS").endswith(": OK\n"))

    def test_unc_names(self):
        # Wine has the local disks below this name, as Windows has below \\localhost\c$.
        own = windows(self.folder)
        line = self.good("\\\\?\\" + own + "\\f")
        self.assertTrue(line.startswith("\\rfc6962:sha256:64KiB (\\\\\\\\?\\\\"), line)
        missing = self.bad("\\\\no-such-server\\share\\f")
        self.assertIn("no-such-server", missing)

    def test_long_paths(self):
        deep = self.folder
        while len(str(deep)) < 600:
            deep /= "a-directory-with-quite-a-long-name-" + "x" * 40
        deep.mkdir(parents=True)
        (deep / "f").write_bytes(self.bytes)
        self.assertIn(self.root, self.good(windows(deep / "f")))
        self.assertEqual(self.good("-r", windows(self.folder)).count(self.root), 2)

    def test_reserved_names_and_devices(self):
        self.assertIn("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", self.good("-f", "blake3", "NUL"))
        self.assertIn("-r processes the files in it", self.bad("."))
        self.assertIn("no fixed length", self.bad("keep", "NUL"))
        self.assertIn("nosuch", self.bad("nosuch"))

    def test_devices_that_are_not_there(self):
        for name in ("COM7", "LPT9"):
            self.assertIn(name, self.bad(name, stdin=subprocess.DEVNULL, timeout=60), name)

    def test_a_locked_file_stops_no_other(self):
        program = self.folder / "lock.exe"
        compile("lock.c", LOCK, "-o", program)
        (self.folder / "locked").write_bytes(self.bytes)
        command = [*TOOL[:-1], program, "locked"]
        with subprocess.Popen(command, cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as locking:
            self.assertEqual(locking.stdout.readline().strip(), b"locked")
            done = run("locked", "f", cwd=self.folder)
            locking.communicate()
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(self.root, done.stdout)
        self.assertNotIn("(locked)", done.stdout)
        self.assertRegex(done.stderr, "^mksum: locked: .*(used by another process|Sharing violation|os error 32)")
        self.assertIn(self.root, self.good("locked"))

    def test_streams(self):
        self.assertIn(self.root, self.good("-", input=self.bytes))
        with open(self.file, "rb") as file:
            self.assertIn(self.root, self.good(stdin=file))
        done = subprocess.run([*TOOL, "f"], cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, check=False)
        self.assertIn(self.root.encode(), done.stdout)

    def test_sum_files_of_windows(self):
        line = f"rfc6962:sha256:64KiB (f) = {self.root}\r\nrfc6962:sha256:64KiB (\u00fc) = {self.root}\r\n"
        (self.folder / "\u00fc").write_bytes(self.bytes)
        for name, bytes in (
            ("crlf", line.encode()),
            ("utf-8 with a mark", b"\xef\xbb\xbf" + line.encode()),
            ("utf-16, little endian", b"\xff\xfe" + line.encode("utf-16-le")),
            ("utf-16, big endian", b"\xfe\xff" + line.encode("utf-16-be")),
        ):
            (self.folder / "SUMS").write_bytes(bytes)
            self.assertEqual(self.good("-c", "--strict", "SUMS"), "f: OK\n\u00fc: OK\n", name)
        self.assertEqual(self.good("-c", "--strict", "-", input=b"\xff\xfe" + line.encode("utf-16-le")), "f: OK\n\u00fc: OK\n")

    def test_kept_trees(self):
        tree = self.folder / "tree"
        (tree / "d").mkdir(parents=True)
        for name in ("a", "d/b", "d/\u00fc"):
            (tree / name).write_bytes(self.bytes)
        copy = self.folder / "copy"
        shutil.copytree(tree, copy)
        self.good("keep", "-r", "--beside", "tree")
        names = {path.name for path in tree.rglob("*") if path.is_file()}
        self.assertEqual(names, {"a", "a.mkt", "b", "b.mkt", "\u00fc", "\u00fc.mkt"}, "nothing else is left")
        self.assertEqual(self.good("verify", "-r", "tree").count("OK"), 3)
        with open(tree / "d" / "b", "r+b") as file:
            file.seek(300_000)
            file.write(b"X")
        objects = [json.loads(line) for line in self.bad("verify", "-r", "--json", "tree").splitlines()]
        self.assertEqual([one["start"] for one in objects if one["kind"] == "damaged"], [262_144])
        self.assertIn("65,536 bytes repaired", self.good("repair", "-r", "tree", "--from", "copy"))
        self.assertEqual((tree / "d" / "b").read_bytes(), self.bytes)
        done = run("verify", "-r", "--budget", "1h", "tree", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        # An outboard is replaced, and bit rot is not.
        before = (tree / "a").stat()
        with open(tree / "a", "r+b") as file:
            file.write(b"X")
        os.utime(tree / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertIn("accept-changes", self.bad("keep", "tree\\a"))
        done = run("keep", "--accept-changes", "tree\\a", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the new tree has replaced that", done.stderr)
        self.assertEqual(self.good("-r", "tree").count("rfc6962"), 3)

    def test_a_sparse_file(self):
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(100 << 20)
        full = self.good("-f", "blake3", "--io", "buffered", "sparse")
        self.assertEqual(self.good("-f", "blake3", "--io", "direct", "sparse"), full)

    def test_a_file_that_grows_has_no_root(self):
        with open(self.folder / "growing", "wb") as file:
            file.write(bytes(8 << 20))
        command = [*TOOL, "--throttle", "1MB", "growing"]
        process = subprocess.Popen(
            command, cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        with self.assertRaises(subprocess.TimeoutExpired):
            # Wine takes a while to start on a busy machine.
            process.wait(4)
        with open(self.folder / "growing", "ab") as file:
            file.write(b"more")
        output, errors = process.communicate()
        self.assertEqual((process.returncode, output), (1, ""), errors)
        self.assertIn("changed while it was read", errors)

    @unittest.skipIf(NATIVE, "consoles of Windows itself are looked at by hand")
    def test_progress_on_a_console(self):
        import pty

        master, slave = pty.openpty()
        command = [*TOOL, "--throttle", "300kB", "f"]
        environment = {**ENVIRONMENT, "TERM": "xterm"}
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        ):
            os.close(slave)
            shown = b""
            try:
                while part := os.read(master, 1 << 16):
                    shown += part
            except OSError:
                # Linux reports so that the other side was closed.
                pass
        os.close(master)
        # Wine's console writes escape sequences of its own.
        text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]", b"", shown)
        self.assertRegex(text, rb"\[=* *\] +\d+% [0-9.]+ kB of 588\.89 kB, [0-9.]+ kB/s, \d+ s left +f")
        self.assertIn(self.root.encode(), text)

    def test_help_says_what_is_not_there(self):
        self.assertIn("On Windows:", self.good("--help"))
        self.assertIn("Exit status:", self.good("keep", "--help"))


if __name__ == "__main__":
    if NATIVE:
        print("native", file=sys.stderr)
    else:
        prepare()
        print(subprocess.run([WINE, "--version"], capture_output=True, text=True, check=False).stdout, file=sys.stderr)
    tests = unittest.main(verbosity=2, exit=False)
    if not NATIVE:
        subprocess.run(["/usr/lib/wine/wineserver", "--kill", "--wait"], env=ENVIRONMENT, check=False)
    PLACE.cleanup()
    sys.exit(not tests.result.wasSuccessful())
