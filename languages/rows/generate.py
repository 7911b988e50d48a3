#!/usr/bin/env python3
"""Writes the rows that all languages share, beside those of vectors/rows.

    generate.py            write segments.tsv, proofs.tsv and verdicts.tsv if missing; fail if one does not have its SHA-256
"""
import hashlib
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "vectors"))
sys.dont_write_bytecode = True
import reference  # noqa: E402 -- it is in the folder of the other rows

FORMATS = {"plain": (b"", b""), "rfc6962": (b"\0", b"\1")}  # the prefixes of a leaf and of a node
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
EMPTY = "-"  # an empty leaf or path
LIMIT = 1 << 40  # the largest number in a row

# ---- Roots -----------------------------------------------------------------------------------------------------------

SEGMENTS = """# Roots for segments of 256, 1024 and 2^23 bytes, and of large inputs; from languages/rows/generate.py: do not edit.
# format\tinput\tlength\troot\tsource
"""


def borders(leaf, counts):
    """0, 1, and one byte before, at and after each count of leaves."""
    return sorted({0, 1} | {count * leaf + step for count in counts for step in (-1, 0, 1)})


def inputs():
    """Every (format, pattern, length)."""
    for name in FORMATS:
        for leaf in "256", "1KiB":
            size = {"256": 256, "1KiB": 1024}[leaf]
            for pattern in "mod251", "pat":
                for length in borders(size, [1, 2, 3, 4, 5, 7, 8, 16, 255, 256, 257, 511, 512, 513]):
                    yield f"{name}:sha256:{leaf}", pattern, length
        for length in [*borders(1 << 23, [1, 2]), 3 << 23, (3 << 23) + 1]:
            yield f"{name}:sha256:8MiB", "mod251", length
        # Leaves around the sizes at which SHA-256 needs one more block, with and without a prefix.
        for leaf in 54, 55, 56, 62, 63, 65, 118, 119, 120, 126, 127, 128, 129, 191:
            for length in 1, leaf, 2 * leaf, 257 * leaf + 1:
                yield f"{name}:sha256:{leaf}", "mod251", length
        # Many leaves: 2^16 and its neighbours, and a number whose bits alternate.
        for count in 65535, 65536, 65537, 0x15555:
            yield f"{name}:sha256:1", "pat", count
            yield f"{name}:sha256:16", "mod251", 16 * count
        # The largest units and the largest leaf.
        for leaf in "1GiB", "1TiB":
            yield f"{name}:sha256:{leaf}", "pat", 70000


def root_rows():
    for format, pattern, length in dict.fromkeys(inputs()):
        root = reference.root(format, reference.input_bytes(pattern, length))
        yield format, pattern, str(length), root, "definition"


# ---- Inclusion proofs (RFC 9162, 2.1.3) ------------------------------------------------------------------------------

PROOFS = """# Inclusion proofs: the siblings of a leaf, the lowest first; written by languages/rows/generate.py: do not edit.
# format\tinput\tlength\tindex\troot\tpath\tsource
"""


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def parsed(format):
    """The prefixes and the leaf size of a format string."""
    name, _, leaf = format.split(":")
    unit = leaf[-3:] if leaf[-3:] in UNITS else ""
    return *FORMATS[name], int(leaf.removesuffix(unit)) * UNITS.get(unit, 1)


def levels(format, data):
    """The digests of each level, the leaves first. A last node without a neighbour is on the next level too."""
    leaf, node, size = parsed(format)
    level = [sha256(leaf, data[at : at + size]) for at in range(0, len(data), size)]
    while len(level) > 1:
        yield level
        pairs = [sha256(node, *level[i : i + 2]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) & ~1 :]
    yield level


def proof(format, data, index):
    """The root, and the path of the leaf `index`."""
    *below, [root] = levels(format, data)
    siblings = [(level, index >> height ^ 1) for height, level in enumerate(below)]
    return root, [level[i] for level, i in siblings if i < len(level)]


def joined(path):
    return ",".join(digest.hex() for digest in path) or EMPTY


def proof_rows():
    for name in FORMATS:
        for size, counts in (1, (3, 256, 257, 1000)), (4, (*range(1, 10), 15, 16, 17, 33)), (64, (1, 2, 5, 511, 512, 513)):
            for count in counts:
                for last in sorted({1, size}):
                    length = (count - 1) * size + last
                    data = reference.input_bytes("mod251", length)
                    for index in sorted({0, 1, 2, count // 2, count - 2, count - 1} & set(range(count))):
                        format = f"{name}:sha256:{size}"
                        root, path = proof(format, data, index)
                        yield format, "mod251", str(length), str(index), root.hex(), joined(path), "definition"


# ---- Verdicts --------------------------------------------------------------------------------------------------------

VERDICTS = """# Proofs to verify, most of them with one thing changed; written by languages/rows/generate.py: do not edit.
# format\tleaves\tindex\tleaf\troot\tpath\tverdict\tsource
"""


def verifies(format, leaves, index, leaf, root, path):
    """RFC 9162, 2.1.3.2, and the length of the leaf."""
    leaf_prefix, node_prefix, size = parsed(format)
    if index >= leaves or not 0 < len(leaf) <= size or (len(leaf) < size and index + 1 < leaves):
        return False
    place, last, digest = index, leaves - 1, sha256(leaf_prefix, leaf)
    for sibling in path:
        if last == 0 or len(sibling) != 32:
            return False
        if place & 1 or place == last:
            digest = sha256(node_prefix, sibling, digest)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            digest = sha256(node_prefix, digest, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and digest == root


def flipped(data, bit):
    return bytes(byte ^ (1 << bit % 8 if i == bit // 8 else 0) for i, byte in enumerate(data))


def changes(leaves, index, leaf, root, path):
    """Each (what was changed, the proof with that change)."""
    whole = {"leaves": leaves, "index": index, "leaf": leaf, "root": root, "path": path}
    yield "nothing", whole
    for name, other in (
        ("a bit of the leaf", flipped(leaf, 3)),
        ("a shorter leaf", leaf[:-1]),
        ("a longer leaf", leaf + b"\0"),
        ("no leaf", b""),
    ):
        yield name, whole | {"leaf": other}
    for other in {0, index - 1, index + 1, index ^ 2, leaves - 1, leaves, LIMIT} - {index, -1}:
        yield "index", whole | {"index": other}
    for other in {0, 1, index, index + 1, leaves - 1, leaves + 1, 2 * leaves, LIMIT} - {leaves, -1}:
        yield "leaves", whole | {"leaves": other}
    for name, other in (
        ("a bit of the root", flipped(root, 100)),
        ("a short root", root[:-1]),
        ("no root", b""),
        ("a long root", root + b"\0"),
    ):
        yield name, whole | {"root": other}
    yield "one digest more", whole | {"path": [*path, root]}
    for i, digest in enumerate(path):
        yield "one digest less", whole | {"path": path[:i] + path[i + 1 :]}
        for name, other in (
            ("a bit of a sibling", flipped(digest, 255)),
            ("a short sibling", digest[1:]),
            ("a long sibling", digest + b"\0"),
        ):
            yield name, whole | {"path": [*path[:i], other, *path[i + 1 :]]}
    if len(path) > 1:
        yield "the path reversed", whole | {"path": path[::-1]}


def claims():
    """Each (format, source, proof)."""
    for name in FORMATS:
        other = {"plain": "rfc6962", "rfc6962": "plain"}[name]
        for size, counts in (1, (3,)), (7, (1, 2, 3, 5, 6, 8, 17)), (64, (2, 13)):
            for count in counts:
                data = reference.input_bytes("pat", count * size - size // 2)
                for index in sorted({0, count // 2, count - 1}):
                    format, leaf = f"{name}:sha256:{size}", data[index * size : (index + 1) * size]
                    root, path = proof(format, data, index)
                    for source, claim in changes(count, index, leaf, root, path):
                        yield format, source, claim
                    claim = {"leaves": count, "index": index, "leaf": leaf, "root": root, "path": path}
                    yield f"{other}:sha256:{size}", "another format", claim
        # What spec/plain.md warns of: the digests of two leaves, shown as the only leaf.
        data = reference.input_bytes("mod251", 128)
        *_, leaves, [root] = levels(f"{name}:sha256:64", data)
        node = {"leaves": 1, "index": 0, "leaf": b"".join(leaves), "root": root, "path": []}
        yield f"{name}:sha256:64", "a node as a leaf", node
        # Roots that are the hash of what a proof claims, but of no tree: an empty leaf, and siblings of another length.
        leaf_prefix, node_prefix, _ = parsed(f"{name}:sha256:64")
        nothing = {"leaves": 1, "index": 0, "leaf": b"", "root": sha256(leaf_prefix), "path": []}
        yield f"{name}:sha256:64", "the hash of no leaf", nothing
        *_, [root] = levels(f"{name}:sha256:64", data)
        yield f"{name}:sha256:64", "two leaves as one", {"leaves": 1, "index": 0, "leaf": data, "root": root, "path": []}
        for length in 31, 33, 64:
            leaf, sibling = b"x" * 64, b"s" * length
            root = sha256(node_prefix, sha256(leaf_prefix, leaf), sibling)
            claim = {"leaves": 2, "index": 0, "leaf": leaf, "root": root, "path": [sibling]}
            yield f"{name}:sha256:64", f"the hash of a sibling of {length} bytes", claim
        # Trees that are too large to be made here: made-up siblings, and the root that follows from them.
        numbers = random.Random(1)
        for leaves in (1 << 32) - 1, 1 << 32, (1 << 32) + 1, LIMIT - 1, LIMIT:
            for index in 0, leaves // 2, leaves // 3, leaves - 1:
                leaf_prefix, node_prefix, _ = parsed(f"{name}:sha256:8")
                leaf, path = b"12345678", []
                place, last, root = index, leaves - 1, sha256(leaf_prefix, leaf)
                while last:
                    if place & 1 or place < last:
                        path.append(numbers.randbytes(32))
                        root = sha256(node_prefix, path[-1], root) if place & 1 else sha256(node_prefix, root, path[-1])
                    place, last = place >> 1, last >> 1
                proof_here = {"leaves": leaves, "index": index, "leaf": leaf, "root": root, "path": path}
                yield f"{name}:sha256:8", "a large tree", proof_here
                yield f"{name}:sha256:8", "a large tree, leaves", proof_here | {"leaves": leaves - 1}


def verdict_rows():
    for format, source, claim in claims():
        if claim["leaves"] > LIMIT or claim["index"] > LIMIT:
            continue
        verdict = "valid" if verifies(format, **claim) else "invalid"
        shown = claim["leaf"].hex() or EMPTY, claim["root"].hex() or EMPTY, joined(claim["path"])
        yield format, str(claim["leaves"]), str(claim["index"]), *shown, verdict, source


# Header, rows, and the SHA-256 of the file: a mistake in the definition here or in vectors/reference.py changes it.
FILES = {
    "segments.tsv": (SEGMENTS, root_rows, "64716d35e6998df7c3eff868172f0d599d33df4dad819a94f1c69702b303c7e7"),
    "proofs.tsv": (PROOFS, proof_rows, "2a2f1cf94b6825b7ab05f36c398804a9cd3af5f4ba8e3843d7591ef696235c5f"),
    "verdicts.tsv": (VERDICTS, verdict_rows, "74de9727150292cf5dc7e77b50065169cef5b78415479fc6365ca75ac460707c"),
}


def main():
    for name, (header, rows, expected) in FILES.items():
        path = HERE / name
        if not path.exists():
            path.write_text(header + "".join("\t".join(row) + "\n" for row in rows()))
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != expected:
            sys.exit(f"{path}: SHA-256 {found}, expected {expected}: delete it, and if it differs again, read the difference")


if __name__ == "__main__":
    main()
