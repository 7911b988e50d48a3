#!/usr/bin/env python3
"""Writes rows/*.tsv: formats and lengths, their roots by reference.py, and the programs that print the same roots.

    generate.py            write every rows/NAME.tsv
    generate.py --check    change nothing; fail if a file differs from the computed one
"""
import itertools
import pathlib
import sys

import reference
from reference import ANY_HASH, CHECKSUMS, CHOICES, CRCS, SUMS, KiB, MiB

ROWS = pathlib.Path(__file__).parent / "rows"
HEADER = """# Roots of `{name}`, written by vectors/generate.py: do not edit. See vectors/README.md.
# format\tinput\tlength\troot\tsource
"""

# The programs that print the same roots. check.py installs these versions and runs them on their rows.
TLOG = "golang.org/x/mod sumdb/tlog v0.42.0"
MERKLE = "github.com/transparency-dev/merkle v0.0.2"
BOTOCORE = "botocore 1.44.5"
LIBTORRENT = "libtorrent 2.1.1"
FSVERITY = "fsverity 1.5"
VERITYSETUP = "veritysetup 2.6.1"
MOTO = "moto 5.2.5 upload"
RCLONE = "rclone 1.60.1"
B3SUM = "b3sum 1.8.7"
MTSUM = "mtsum 1.1.0"
OPENSSL = "openssl dgst"
AWSCRT = "awscrt 0.38.1"
GOOGLE = "google-crc32c 1.9.0"
QUICKXORHASH = "quickxorhash 1.0.5"
XXHASH = "xxhash 4.1.0"
HF_XET = "hf_xet 1.8.0"
GIT = "git 2.39.5"
SWH_MODEL = "swh.model 8.4.1"
NIX = "nix-hash 2.8.0"
REMOTE_APIS = "remote-apis sha256tree_test_vectors.txt"
DEFINITION = "definition"  # no other program computes the root

# The lengths in that file, of `mod251`.
PUBLISHED = {count * KiB + step for count in range(1, 9) for step in (0, 1)} - {KiB} | {16 * KiB, 31 * KiB, 100 * KiB}


def source(format, pattern, length, root):
    """Returns the independent program that prints this row's root."""
    name, hash_name, _, _ = reference.parse(format)
    if root == "-":
        return LIBTORRENT if name == "btv2" else DEFINITION
    if name in {*SUMS, "c4"} or format.startswith("s3:sha512"):
        return OPENSSL
    if name == "quickxor":
        return QUICKXORHASH
    if hash_name in CHECKSUMS:
        return XXHASH if hash_name not in CRCS else GOOGLE if name == "crc32c" else AWSCRT
    if name == "rfc6962":
        return TLOG if hash_name == "sha256" else MERKLE
    if name == "sha256tree":  # recorded: no package contains a program
        return OPENSSL if length <= KiB else REMOTE_APIS if pattern == "mod251" and length in PUBLISHED else DEFINITION
    if name == "mtsum":
        return MTSUM if pattern == "pat" else DEFINITION  # recorded: no package contains mtsum
    return {"plain": MERKLE, "glacier": BOTOCORE, "btv2": LIBTORRENT, "fsverity": FSVERITY, "dmverity": VERITYSETUP,
            "s3": MOTO, "dropbox": RCLONE, "blake3": B3SUM, "blake3-pairs": MERKLE, "xet": HF_XET,
            "git": GIT, "swhid": SWH_MODEL, "nar": NIX}[name]


def text(size):
    """Formats a size with the largest binary unit that divides it: 64KiB, 5MiB, 1000."""
    for unit, factor in (("MiB", MiB), ("KiB", KiB)):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def borders(leaf, counts):
    """Returns the lengths 0, 1, and one byte before, at and after each count of leaves."""
    return sorted({0, 1} | {count * leaf + step for count in counts for step in (-1, 0, 1)})


def cases():
    """Yields the (format, length) of every mod251 row."""
    for name in "rfc6962", "plain":
        for hash_name in ANY_HASH:
            for leaf in 1, 16, 64, 1000, 4 * KiB, 64 * KiB:
                counts = [1, 2, 3, 4, 8, 16]
                if hash_name == "sha256":
                    counts += [5, 6, 7, 32] + [100, 1024] * (leaf <= 1000)
                for length in borders(leaf, counts):
                    yield f"{name}:{hash_name}:{text(leaf)}", length
    for hash_name in CHOICES["mtsum"][1]:
        for leaf in 1, 1000, KiB, 64 * KiB:
            for length in borders(leaf, [1, 2, 3, 4, 5, 7, 8, 16]):
                yield f"mtsum:{hash_name}:{text(leaf)}", length
        for length in 0, 1, 2, 3, 1000, MiB - 1, MiB, MiB + 1:
            yield f"mtsum:{hash_name}", length
    yield from (("glacier", length) for length in borders(MiB, [1, 2, 3, 4, 5, 8]))
    yield from (("btv2", length) for length in borders(16 * KiB, [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 64]))
    yield from (("dropbox", length) for length in borders(4 * MiB, [1, 2, 3]))
    chunks = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 64, 128, 1024]
    yield from (("blake3", length) for length in borders(64, [1, 2]) + borders(KiB, chunks))
    leaves = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 1024, 4096]
    yield from (("sha256tree", length) for length in sorted({*borders(KiB, chunks), *PUBLISHED}))
    yield from (("blake3-pairs", length) for length in borders(32, leaves))
    for name in "fsverity", "dmverity":
        for hash_name in CHOICES[name][1]:
            for block in [512] * (name == "dmverity") + [KiB << power for power in range(7)]:
                yield from verity(name, hash_name, block)
            for length in 1, 16, 31, 32, 256:
                if length <= 32 or name == "dmverity":
                    salt = reference.input_bytes("pat", length).hex()
                    for block in KiB, 4 * KiB:
                        for count in 0, 1, 2, block // 64 + 1, block // 32, block // 32 + 1:
                            yield f"{name}:{hash_name}:{text(block)}:salt={salt}", count * block
    for hash_name in CHOICES["s3"][1]:
        for part, counts in (64, [1, 2, 3, 4, 8, 100]), (1000, [1, 2, 3]), (64 * KiB, [1, 2, 3]), (5 * MiB, [1, 2]):
            # The slow definition of a checksum takes a second for a few MiB.
            if hash_name not in CHECKSUMS or part < MiB:
                for length in borders(part, counts):
                    yield f"s3:{hash_name}:{text(part)}", length
    for name in CRCS:
        yield from ((name, length) for length in [*borders(64, [1, 2, 4]), *borders(256 * KiB, [1, 2, 3, 4]), 2 * MiB + 5])
    lengths = {length for size in (4, 8, 16, 32, 64, 240, KiB) for length in borders(size, [1, 2, 3, 4])}
    lengths = sorted(lengths | {KiB + 63, KiB + 65, 64 * KiB, 256 * KiB - 1, 256 * KiB + 1})
    yield from ((name, length) for name in CHECKSUMS if name not in {*CRCS, "quickxor"} for length in lengths)
    lengths = [*borders(8, [1]), *borders(14, [1]), *borders(160, [1, 2, 3]), *borders(256 * KiB, [1, 2]), MiB + 7]
    yield from (("quickxor", length) for length in lengths)
    blocks = [64, 72, 104, 128, 136, 144]
    lengths = {length for block in blocks for length in [*borders(block, [1, 2]), block - 9, block - 8, block - 17, block - 16]}
    yield from ((name, length) for name in SUMS for length in [*sorted(lengths), 1000, 64 * KiB, MiB + 1])
    yield from (("c4", length) for length in [*borders(128, [1, 2]), 111, 112, 1000, 64 * KiB])
    yield from (("xet", length) for length in [*borders(8 * KiB, [1]), *borders(128 * KiB, [1, 2])])
    # The header is seven bytes and up: borders of blocks with it, and lengths before and after a digit more.
    lengths = {64 * count - size + step for count in (1, 2, 3) for size in (7, 8, 9, 10, 16, 17, 18) for step in (-1, 0, 1)}
    lengths |= {10**power + step for power in range(1, 7) for step in (-1, 0, 1)}
    lengths |= {64 * KiB, 256 * KiB, 256 * KiB + 1, MiB, MiB + 1}
    formats = "git:sha1", "git:sha256", "swhid", "nar"
    yield from ((format, length) for format in formats for length in sorted({0, 1} | lengths))
    yield from (("s3:sha256:8MiB", length) for length in (0, 1, 8 * MiB - 1, 8 * MiB, 8 * MiB + 1, 20 * MiB))


def verity(name, hash_name, block):
    """Yields lengths around one, two and three blocks, the arity, and its square if that is below 2 MiB."""
    slot = reference.power_of_two_from(len(reference.hasher(hash_name)(b"")))
    arity = block // slot
    whole = [1, 2, 3] + [around for count in (arity, arity**2) if count * block < 2 * MiB
                         for around in (count - 1, count, count + 1)]
    lengths = borders(block, whole if name == "fsverity" else [1, 2]) + [count * block for count in whole]
    yield from ((f"{name}:{hash_name}:{text(block)}", length) for length in sorted(set(lengths)))


def recorded_cases():
    """Yields the (format, length) of every pat row. Their roots were recorded from the programs before this generator existed."""
    small, large = [0, 1, 1000, 16 * KiB, 16 * KiB + 1], [MiB, MiB + 1]
    for format in ("rfc6962:sha256:4KiB", "rfc6962:sha256:1MiB", "glacier", "btv2", "fsverity:sha256:4KiB",
                   "fsverity:sha512:4KiB", "dmverity:sha256:4KiB", "plain:sha256:64", "dropbox", "s3:sha256:5MiB",
                   "s3:md5:5MiB", "mtsum:sha256", "blake3"):
        yield from ((format, length) for length in small + large)
    for hash_name in CHOICES["mtsum"][1]:
        yield from ((f"mtsum:{hash_name}", length) for length in (0, 1, 2, 3, 1000, MiB))
    yield from (("blake3-pairs", 32 << level) for level in (1, 2, 3, 10, 16))
    # All leaves but the last are equal, and so are all nodes of a level: only their number decides where groups end.
    counts = [1, 2, 3, 4, 5, 8, 9, 10, 11, 18, 19, 27, 28, 30, 81, 82, 83, 90]
    yield from (("xet", count * 128 * KiB + step) for count in counts for step in (0, 1))


def cut_cases():
    """Yields the (format, length) of every noise row: a byte before, at and after the ends of its leaves."""
    ends = list(itertools.accumulate(map(len, reference.xet_leaves(reference.input_bytes("noise", 600 * KiB)))))
    yield from (("xet", end + step) for end in ends[:-1] for step in (-1, 0, 1))


def files():
    """Returns the text of every rows/NAME.tsv, by name."""
    rows = dict.fromkeys([(format, "mod251", length) for format, length in cases()] +
                         [(format, "pat", length) for format, length in recorded_cases()] +
                         [(format, "noise", length) for format, length in cut_cases()])
    written = {}
    for format, pattern, length in rows:
        root = reference.root(format, reference.input_bytes(pattern, length))
        row = "\t".join((format, pattern, str(length), root, source(format, pattern, length, root)))
        name = format.split(":")[0]
        written[name] = written.get(name, HEADER.format(name=name)) + row + "\n"
    return written


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    computed = files()
    present = {path.stem: path.read_text() for path in ROWS.glob("*.tsv")}
    if not sys.argv[1:]:
        ROWS.mkdir(exist_ok=True)
        for name, content in computed.items():
            (ROWS / f"{name}.tsv").write_text(content)
        return
    differing = [name for name in computed.keys() | present.keys() if computed.get(name) != present.get(name)]
    for name in sorted(differing):
        print(f"rows/{name}.tsv: differs from the computed file", file=sys.stderr)
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
