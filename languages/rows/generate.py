#!/usr/bin/env python3
"""Writes segments.tsv: rows like those of vectors/rows, for the segment sizes of the table that have none there.

    generate.py            write segments.tsv
    generate.py --check    change nothing; fail when it differs from what is computed here
"""
import pathlib, sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "vectors"))
sys.dont_write_bytecode = True
import reference  # noqa: E402: it lies beside the other rows

HEADER = """# Roots for segment sizes 256, 1024 and 2^23, and of large inputs; written by languages/rows/generate.py: do not edit.
# format\tinput\tlength\troot\tsource
"""


def borders(leaf, counts):
    """0, 1, and one byte before, at and after each count of leaves."""
    return sorted({0, 1} | {count * leaf + step for count in counts for step in (-1, 0, 1)})


def cases():
    """Every (format, pattern, length)."""
    for name in "plain", "rfc6962":
        for leaf in "256", "1KiB":
            size = {"256": 256, "1KiB": 1024}[leaf]
            for pattern in "mod251", "pat":
                for length in borders(size, [1, 2, 3, 4, 5, 7, 8, 16, 255, 256, 257, 511, 512, 513]):
                    yield f"{name}:sha256:{leaf}", pattern, length
        for length in borders(1 << 23, [1, 2]) + [3 << 23, (3 << 23) + 1]:
            yield f"{name}:sha256:8MiB", "mod251", length
        # Leaves around the sizes at which SHA-256 needs one more block, with and without a prefix.
        for leaf in 54, 55, 56, 62, 63, 65, 118, 119, 120, 126, 127, 128, 129, 191:
            for length in 1, leaf, 2 * leaf, 257 * leaf + 1:
                yield f"{name}:sha256:{leaf}", "mod251", length
        # Many leaves: 2^16 and its neighbours, and a number whose bits alternate.
        for count in 65535, 65536, 65537, 0x15555:
            yield f"{name}:sha256:1", "pat", count
            yield f"{name}:sha256:16", "mod251", 16 * count


def content():
    rows = [HEADER]
    for format, pattern, length in dict.fromkeys(cases()):
        root = reference.root(format, reference.input_bytes(pattern, length))
        rows.append(f"{format}\t{pattern}\t{length}\t{root}\tdefinition\n")
    return "".join(rows)


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    path = HERE / "segments.tsv"
    if not sys.argv[1:]:
        path.write_text(content())
    elif path.read_text() != content():
        sys.exit(f"{path}: differs from what is computed")


if __name__ == "__main__":
    main()
