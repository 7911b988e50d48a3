#!/usr/bin/env python3
"""Compares roots of random directories with git, swh.model and nix-hash.

    trees.py MKSUM [SEED]

The directories have names on both sides of the slash (`a`, `a-b`, `a.b`, `a0`), every mode, links and empty folders.
Git computes the ids of all directories in three processes for each kind of repository; mksum, of all in one run. Run it where the
programs are installed (check.py does so in target/vector-tools).
"""
import base64
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from swh.model.from_disk import Directory

FORMATS = ["dir:git:sha1", "dir:git:sha256", "dir:swhid", "dir:nar"]
DIRECTORIES = 320
NAMES = [b"a", b"a-", b"a-b", b"a.b", b"a0", b"A", b"b", b"b ", b"\xff\xfe", "é".encode(), b"x" * 200, b"...", b"-", b"a\tb"]
MODES = [0o644, 0o600, 0o640, 0o755, 0o744, 0o700, 0o654, 0o645, 0o444]
LIMIT = 120  # seconds, for each process


def fill(rng, folder, depth):
    """Makes random entries in a folder."""
    for name in rng.sample(NAMES, rng.randrange(len(NAMES) // (1 + depth))):
        path = os.path.join(folder, name)
        kind = rng.random()
        if kind < 0.3 and depth < 5:
            os.mkdir(path)
            fill(rng, path, depth + 1)
        elif kind < 0.4:
            os.symlink(rng.choice([b"a", b"../b", b"\xff/nowhere", b".", b"x" * 300]), path)
        else:
            with open(path, "wb") as file:
                file.write(rng.randbytes(rng.choice([0, 1, 55, 56, 57, 64, 100, 1000, 10_000])))
            os.chmod(path, rng.choice(MODES))


def run(command, data=None):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True, timeout=LIMIT)
    return done.stdout


def below(folder):
    """Returns the folders below a folder and itself, the deepest first, each with its entries."""
    return [(top, [*folders, *files]) for top, folders, files in os.walk(folder, topdown=False)]


def git_trees(kind, tops, scratch):
    """Returns git's tree id of each directory: a process hashes all files, one all links, and one for each depth all trees."""
    repository = os.path.join(scratch, kind)
    run(["git", "init", "--quiet", f"--object-format={kind}", repository])
    git = ["git", "-C", repository]
    folders = [folder for top in tops for folder in below(top)]
    paths = [os.path.join(top, name) for top, names in folders for name in names]
    files = [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]
    links = [path for path in paths if os.path.islink(path)]
    # The text of a link is the content of its blob: files beside the repository hold the texts.
    texts = []
    for number, path in enumerate(links):
        texts.append(os.path.join(scratch, f"{kind}-{number}").encode())
        pathlib.Path(os.fsdecode(texts[-1])).write_bytes(os.readlink(path))
    lines = b"".join(path + b"\n" for path in files + texts)
    ids = dict(zip(files + links, run([*git, "hash-object", "-w", "--no-filters", "--stdin-paths"], lines).split(), strict=True))
    # Trees of the same depth need only deeper ones.
    depths = {}
    for top, names in folders:
        depths.setdefault(top.count(b"/"), []).append((top, names))
    for _, level in sorted(depths.items(), reverse=True):
        lists = []
        for top, names in level:
            entries = b""
            for path in (os.path.join(top, name) for name in names):
                if path not in ids:
                    continue  # a folder without files
                if os.path.islink(path):
                    head = b"120000 blob "
                elif os.path.isdir(path):
                    head = b"040000 tree "
                else:
                    head = b"100755 blob " if os.stat(path).st_mode & 0o100 else b"100644 blob "
                entries += head + ids[path] + b"\t" + os.path.basename(path) + b"\0"
            lists.append((top, entries))
        # An empty line, which ends a tree, is an empty name with -z.
        printed = run([*git, "mktree", "-z", "--batch"], b"".join(entries + b"\0" for _, entries in lists)).split()
        for (top, entries), tree in zip(lists, printed, strict=True):
            if entries or top in tops:
                ids[top] = tree
    return [ids[top].decode() for top in tops]


def write_tree(kind, tops, scratch):
    """Returns what `git add` and `git write-tree` print for each directory: all of git's own rules."""
    for number, top in enumerate(tops):
        repository = os.path.join(scratch, f"whole-{kind}-{number}")
        run(["git", "init", "--quiet", f"--object-format={kind}", repository])
        git = ["git", f"--git-dir={repository}/.git", b"--work-tree=" + top, "-c", "core.autocrlf=false"]
        run([*git, "add", "--all", "--force", "."])
        yield run([*git, "write-tree"]).decode().strip()


def main():
    tool, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng, wrong = random.Random(seed), []
    scratch = tempfile.mkdtemp()
    try:
        tops = []
        for number in range(DIRECTORIES):
            tops.append(os.path.join(scratch, f"{number:03}").encode())
            os.mkdir(tops[-1])
            fill(rng, tops[-1], 0)
        words = [word for format in FORMATS for word in ("-f", format)]
        lines = run([tool, *words, *tops]).decode().splitlines()
        roots = [line.rsplit(" = ", 1)[1] for line in lines]
        for index, format in enumerate(FORMATS):
            found = roots[index :: len(FORMATS)]
            if format.startswith("dir:git"):
                kind = format.rpartition(":")[2]
                right = git_trees(kind, tops, scratch)
                again = list(write_tree(kind, tops[:10], scratch))
                wrong += [f"{format}: git's ways differ: {a} and {b}" for a, b in zip(right[:10], again, strict=True) if a != b]
            elif format == "dir:nar":
                printed = run(["nix-hash", "--type", "sha256", *tops]).split()
                right = [f"sha256-{base64.b64encode(bytes.fromhex(line.decode())).decode()}" for line in printed]
            else:
                right = [str(Directory.from_disk(path=top, max_content_length=None).swhid()) for top in tops]
            wrong += [f"{format}: directory {number} (seed {seed}): expected {one}, mksum printed {other}"
                      for number, (one, other) in enumerate(zip(right, found, strict=True)) if one != other]
        # A change of any kind changes every id.
        before = run([tool, *words, tops[0]])
        pathlib.Path(os.fsdecode(tops[0]), "new").write_bytes(b"")
        if any(line in before for line in run([tool, *words, tops[0]]).splitlines()):
            wrong.append("a new file did not change an id")
    finally:
        shutil.rmtree(scratch)
    print("\n".join(wrong[:20]) or f"{len(tops)} random directories have the ids of git, swh.model and nix-hash (seed {seed})")
    sys.exit(1 if wrong or len(tops) < 300 else 0)


if __name__ == "__main__":
    main()
