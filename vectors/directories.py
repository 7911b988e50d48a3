#!/usr/bin/env python3
"""The roots of directories (spec/directory.md), from a slow definition of its own: makes each directory of directories.tsv and
compares the definition, the rows and the tool. directories.py [MKSUM]; --write writes the rows."""
import hashlib
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

ROWS = pathlib.Path(__file__).with_suffix(".tsv")
FORMATS = ["dir:sha256", "dir:rfc6962:sha256:64KiB", "dir+mode:sha512", "dir+mode+mtime:md5", "dir+mtime:rfc6962:sha1:1KiB"]


def part(data):
    """Returns a part of variable length with its length before it."""
    return len(data).to_bytes(8, "little") + data


def tree(leaves, new):
    """Returns the root over hashed leaves (RFC 9162, 2.1.1)."""
    if len(leaves) < 2:
        return leaves[0] if leaves else new(b"").digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return new(b"\1" + tree(leaves[:split], new) + tree(leaves[split:], new)).digest()


def file_root(data, name, new):
    """Returns the root of a file in one of two kinds of formats: a plain sum, or rfc6962."""
    if not name.startswith("rfc6962"):
        return new(data).digest()
    leaf = int(name.split(":")[2].removesuffix("KiB")) << 10
    return tree([new(b"\0" + data[at : at + leaf]).digest() for at in range(0, len(data), leaf)], new)


def entries(top, below=b""):
    """Yields the paths below a directory, but its own .mksum."""
    for name in os.listdir(os.path.join(top, below)):
        path = os.path.join(below, name)
        if path != b".mksum":
            yield path
            if stat.S_ISDIR(os.lstat(os.path.join(top, path)).st_mode):
                yield from entries(top, path)


def directory_root(top, text):
    """Returns the root of a directory in a format."""
    attributes, _, name = text.partition(":")
    new = getattr(hashlib, name.split(":")[1] if ":" in name else name)
    leaves = []
    for path in sorted(entries(top)):
        place = os.path.join(top, path)
        facts = os.lstat(place)
        mode = facts.st_mode & 0o7777
        if stat.S_ISREG(facts.st_mode):
            data = pathlib.Path(os.fsdecode(place)).read_bytes()
            entry = b"f" + part(path) + len(data).to_bytes(8, "little") + part(name.encode()) + part(file_root(data, name, new))
        elif stat.S_ISLNK(facts.st_mode):
            entry, mode = b"l" + part(path) + part(os.readlink(place)), 0
        else:
            entry = b"d" + part(path)
        if "+mode" in attributes:
            entry += mode.to_bytes(4, "little")
        if "+mtime" in attributes:
            seconds, nanoseconds = divmod(facts.st_mtime_ns, 10**9)
            entry += seconds.to_bytes(8, "little", signed=True) + nanoseconds.to_bytes(4, "little")
        leaves.append(new(b"\0" + entry).digest())
    return tree(leaves, new).hex()


def write(top, path, data=b""):
    """Writes a file, and the directories above it."""
    place = os.path.join(top, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as file:
        file.write(data)


def make(name, top):
    """Makes a directory of the rows, with modes and times that are everywhere the same."""
    os.mkdir(top)
    if name == "one":
        write(top, b"a", b"content")
    elif name == "deep":
        write(top, b"/".join([b"d"] * 200) + b"/file", b"deep")
    elif name == "wide":
        for number in range(1000):
            write(top, b"%d" % number, b"x" * number)
    elif name == "order":
        for path in [b"a/b", b"a.b", b"a-b/c", b"a0", b"A", b"a/b.c", b"a/c/d"]:
            write(top, path, path)
    elif name == "names":
        for path in [b"\xff\xfe", b"a\nb", b" ", b"-", b"...", b"\x01", "é".encode(), "e\u0301".encode(), b"x" * 255, b"a\\b"]:
            write(top, path, path)
    elif name == "kinds":
        write(top, b"file", b"a")
        os.link(os.path.join(top, b"file"), os.path.join(top, b"hard link"))
        os.mkdir(os.path.join(top, b"empty"))
        for link, text in [(b"link", b"file"), (b"loop", b"."), (b"broken", b"\xff/nowhere"), (b"self", b"self")]:
            os.symlink(text, os.path.join(top, link))
    elif name == "kept":
        write(top, b".mksum/catalogue", b"not covered")
        write(top, b"sub/.mksum/file", b"covered")
        write(top, b"a" * 100, bytes(200_000))
    for folder, folders, files in os.walk(top, topdown=False):
        for path in folders + files:
            place = os.path.join(folder, path)
            if not os.path.islink(place):
                os.chmod(place, 0o755 if path in folders else 0o640)
            os.utime(place, ns=(0, 10**18 - 1 - len(path)), follow_symlinks=False)


def join(tool, folder, names):
    """Compares the definition of a directory with what the tool joins from the catalogues of its folders."""
    whole = os.path.join(os.fsencode(folder), b"whole")
    places = {b"above/\xff\xfe/" + name.encode() if name == "one" else name.encode(): name for name in names}
    for place, name in places.items():
        os.makedirs(os.path.dirname(os.path.join(whole, place)), exist_ok=True)
        make(name, os.path.join(whole, place))
    parts = []
    for number, place in enumerate(places):
        catalogue = os.path.join(os.fsencode(folder), b"%d.catalogue" % number)
        formats = [word for text in FORMATS if "+" not in text for word in ("-f", text.removeprefix("dir:"))]
        command = [tool, "keep", "-r", *formats, "-o", catalogue, os.path.join(whole, place)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        parts.append(place + b"=" + catalogue)
    for text in (text for text in FORMATS if "+" not in text):
        line = subprocess.run([tool, "join", "-f", text, *parts], stdout=subprocess.PIPE, check=True).stdout.decode()
        expected = f"{text} (-) = {directory_root(whole, text)}\n"
        if line != expected:
            sys.exit(f"join: expected {expected}, found {line}")


def main():
    arguments = sys.argv[1:]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ["empty", "one", "deep", "wide", "order", "names", "kinds", "kept"]:
            top = os.path.join(os.fsencode(folder), name.encode())
            make(name, top)
            for text in FORMATS:
                rows.append(f"{name}\t{text}\t{directory_root(top, text)}")
                for tool in [argument for argument in arguments if argument != "--write"]:
                    line = subprocess.run([tool, "-f", text, top], stdout=subprocess.PIPE, check=True).stdout.decode()
                    expected = f"{text} ({os.fsdecode(top)}) = {rows[-1].rpartition(chr(9))[2]}\n"
                    if line != expected:
                        sys.exit(f"{name}: expected {expected}, found {line}")
        for tool in [argument for argument in arguments if argument != "--write"]:
            # A catalogue of "kept" leaves out what the definition covers in a whole.
            join(tool, folder, ["empty", "one", "deep", "wide", "order", "names", "kinds"])
    text = "\n".join(["# name\tformat\troot", *rows, ""])
    if "--write" in arguments:
        ROWS.write_text(text)
    if ROWS.read_text() != text:
        sys.exit(f"{ROWS} differs from its definition")
    print(f"{len(rows)} roots of directories: definition, rows{' and tool' if arguments else ''} agree")


if __name__ == "__main__":
    main()
