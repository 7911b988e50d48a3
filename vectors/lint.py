#!/usr/bin/env python3
"""Checks that formats, pages and rows match, and recomputes the worked examples.

    lint.py [--formats "NAME NAME ..."]

The index of spec/README.md lists the formats. Each needs rows and a page with every section and a worked example of it (a page
may be that of several formats); each page and each file of rows must belong to a format. --formats, the list that a tool prints,
must equal the index.

A worked example is a fenced block that begins with ```example. Each of its lines is recomputed:

    format rfc6962:sha256:4         the format
    input "abcdefghi"               the input: bytes, as below
    leaf0 = sha256(00 "abcd") = 2b… a digest; BLAKE3 also has chunk.INDEX, chunk.root, parent and parent.root,
                                    Xet xet.leaf, xet.node and xet.root, sha256tree has sha256tree.parent
    root = 81…                      the last digest, which reference.py also prints for the format and the input

Bytes are "text", pairs of hex digits, the name of an earlier line, input[start..end], zeros(count), mod251(count),
noise(count).
"""
import argparse
import base64
import pathlib
import re
import sys

import generate
import reference

SPEC = pathlib.Path(__file__).resolve().parent.parent / "spec"
SECTIONS = "Same output as|Formula|Choices|Worked example|Edges|Soundness of proofs|Pitfalls|Source".split("|")
TOKEN = re.compile(r'"([^"]*)"|(\w+)\[(\d+)\.\.(\d+)\]|(zeros|mod251|noise)\((\d+)\)|([0-9a-f]{2})(?!\w)|([a-z]\w*)|\s+')


def bytes_of(text, known):
    """Returns the bytes that the tokens of `text` stand for."""
    found, at = b"", 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if not token:
            raise ValueError(f"cannot parse: {text[at:]}")
        quoted, sliced, start, end, pattern, count, pair, name = token.groups()
        if quoted is not None:
            found += quoted.encode()
        elif sliced:
            found += known[sliced][int(start) : int(end)]
        elif pattern:
            found += bytes(int(count)) if pattern == "zeros" else reference.input_bytes(pattern, int(count))
        elif name or pair:
            found += known[name] if name else bytes.fromhex(pair)
        at = token.end()
    return found


def digest(function, data):
    kind, _, which = function.partition(".")
    if kind == "xet":
        answer = reference.xet_hash(which, data)
        return reference.xet_written(answer) if which == "root" else answer
    root = reference.ROOT if which == "root" else 0
    if kind == "sha256tree":
        return reference.sha256tree_parent(data[:32], data[32:])
    if kind == "chunk":
        return reference.blake3_chunk(data, 0 if root else int(which), root)
    if kind == "parent":
        return reference.blake3_parent(data[:32], data[32:], root)
    return reference.hasher(function)(data)


def example_errors(block):
    """Returns the errors of one worked example, and the name of its format."""
    known, format, errors = {}, "", []
    for line in filter(None, map(str.strip, block.splitlines())):
        word, _, rest = line.partition(" ")
        computed = re.fullmatch(r"(\w+) = ([\w.-]+)\((.*)\) = (\S+)", line)
        if word == "format":
            format = rest
        elif word == "input":
            known["input"] = bytes_of(rest, known)
        elif computed:
            name, function, arguments, stated = computed.groups()
            known[name] = digest(function, bytes_of(arguments, known))
            if known[name].hex() != stated:
                errors.append(f"{line}: expected {known[name].hex()}")
        elif word == "root" and rest.startswith("= "):
            root = reference.root(format, known["input"])
            if rest != f"= {root}":
                errors.append(f"{line}: expected {root}")
            last = list(known.values())[-1]
            texts = last.hex(), base64.b64encode(last).decode(), reference.c4_text(last)
            if root.removeprefix("sha256-").split("-")[0].split(":")[-1] not in texts:
                errors.append(f"{line}: not the digest in the previous line")
        else:
            errors.append(f"cannot parse: {line}")
    return errors, format.split(":")[0]


def page_errors(name, page):
    """Yields the errors of a format's page."""
    path = SPEC / page
    if not path.exists():
        yield "missing page"
        return
    text = path.read_text(encoding="utf-8")
    for section in SECTIONS:
        if f"\n## {section}\n" not in text:
            yield f"missing section: {section}"
    blocks = re.findall(r"^```example\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    results = [example_errors(block) for block in blocks]
    yield from (error for errors, _ in results for error in errors)
    if name not in [format for _, format in results]:
        yield "no worked example"


def row_errors(name):
    """Yields the errors of a format's rows, except wrong roots, which generate.py checks."""
    path = generate.ROWS / f"{name}.tsv"
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"] if path.exists() else []
    if not rows:
        yield "no rows"
    for row in rows:
        columns = row.split("\t")
        if len(columns) != 5 or columns[0].split(":")[0] != name or columns[1] not in reference.PATTERNS:
            yield f"not a row of {name}: {row}"


def place_errors(formats, index):
    """Yields pages and files of rows that are not in the index, and broken links."""
    for page in SPEC.glob("*.md"):
        if page.name != "README.md" and f"({page.name})" not in index:
            yield f"spec/{page.name}: not in the index"
    for rows in generate.ROWS.iterdir():
        if rows.stem not in formats:
            yield f"vectors/rows/{rows.name}: no such format in the index"
    for page in [*SPEC.glob("*.md"), *generate.ROWS.parent.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                yield f"{page.parent.name}/{page.name}: broken link to {link}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--formats", help="the formats that a tool prints, separated by spaces")
    chosen = arguments.parse_args()

    index = (SPEC / "README.md").read_text(encoding="utf-8")
    formats = dict(re.findall(r"^\| \[`([\w-]+)`\]\(([\w-]+\.md)\)", index, re.MULTILINE))
    errors = [f"spec/{page}: {name}: {error}" for name, page in formats.items() for error in page_errors(name, page)]
    errors += [f"vectors/rows/{name}.tsv: {error}" for name in formats for error in row_errors(name)]
    errors += place_errors(formats, index)
    offered = {"vectors/reference.py": [*reference.CHOICES, *reference.FIXED]}
    if chosen.formats is not None:
        offered["--formats"] = chosen.formats.split()
    for where, names in offered.items():
        errors += [f"{name}: in {where}, not in the index of spec/" for name in names if name not in formats]
        errors += [f"{name}: in the index of spec/, not in {where}" for name in formats if name not in names]
    print("\n".join(errors) or f"{len(formats)} formats, no errors")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
