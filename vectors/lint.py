#!/usr/bin/env python3
"""Fails when formats, pages and rows do not belong together, or when a worked example is wrong.

    lint.py [--formats "NAME NAME ..."]

The formats are the names in the index of spec/README.md. Each needs its page with every section and a worked example,
and its rows; each page and each file of rows needs its place. --formats is the list that a tool prints: the same one.

A worked example is a fenced block that begins with ```example and is computed again, line by line:

    format rfc6962:sha256:4         the format whose root it is
    input "abcdefghi"               its input: bytes, as below
    leaf0 = sha256(00 "abcd") = 2b… a digest; BLAKE3 has chunk.INDEX, chunk.root, parent and parent.root too
    root = 81…                      the last digest, and what reference.py prints for the format and the input

Bytes are "text", pairs of hex digits, the name of an earlier line, input[start..end], zeros(count), mod251(count).
"""
import argparse, base64, pathlib, re, sys

import generate
import reference

SPEC = pathlib.Path(__file__).resolve().parent.parent / "spec"
SECTIONS = "Same output as|Formula|Choices|Worked example|Edges|Soundness of proofs|Pitfalls|Source".split("|")
TOKEN = re.compile(r'"([^"]*)"|(\w+)\[(\d+)\.\.(\d+)\]|(zeros|mod251)\((\d+)\)|([0-9a-f]{2})(?!\w)|([a-z]\w*)|\s+')


def bytes_of(text, known):
    """The bytes that tokens stand for."""
    found, at = b"", 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if not token:
            raise ValueError(f"not understood: {text[at:]}")
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
    root = reference.ROOT if which == "root" else 0
    if kind == "chunk":
        return reference.blake3_chunk(data, 0 if root else int(which), root)
    if kind == "parent":
        return reference.blake3_parent(data[:32], data[32:], root)
    return reference.hasher(function)(data)


def example_errors(block):
    """What is wrong with one worked example, and the name of its format."""
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
                errors.append(f"{line}: it is {known[name].hex()}")
        elif word == "root" and rest.startswith("= "):
            root = reference.root(format, known["input"])
            if rest != f"= {root}":
                errors.append(f"{line}: it is {root}")
            last = list(known.values())[-1]
            if root.split("-")[0] not in (last.hex(), base64.b64encode(last).decode()):
                errors.append(f"{line}: it is not the digest in the line before")
        else:
            errors.append(f"not understood: {line}")
    return errors, format.split(":")[0]


def page_errors(name):
    """What is wrong with a format's page."""
    path = SPEC / f"{name}.md"
    if not path.exists():
        yield "no such page"
        return
    text = path.read_text(encoding="utf-8")
    for section in SECTIONS:
        if f"\n## {section}\n" not in text:
            yield f"no section: {section}"
    blocks = re.findall(r"^```example\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    results = [example_errors(block) for block in blocks]
    yield from (error for errors, _ in results for error in errors)
    if name not in [format for _, format in results]:
        yield "no worked example"


def row_errors(name):
    """What is wrong with a format's rows, roots apart: those are generate.py's to check."""
    path = generate.ROWS / f"{name}.tsv"
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"] if path.exists() else []
    if not rows:
        yield "no rows"
    for row in rows:
        columns = row.split("\t")
        if len(columns) != 5 or columns[0].split(":")[0] != name or columns[1] not in reference.PATTERNS:
            yield f"not a row of {name}: {row}"


def place_errors(formats, index):
    """Pages and files of rows that the index lacks, and links that lead nowhere."""
    for page in SPEC.glob("*.md"):
        if page.name != "README.md" and f"({page.name})" not in index:
            yield f"spec/{page.name}: not in the index"
    for rows in generate.ROWS.iterdir():
        if rows.stem not in formats:
            yield f"vectors/rows/{rows.name}: no such format in the index"
    for page in [*SPEC.glob("*.md"), *generate.ROWS.parent.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                yield f"{page.parent.name}/{page.name}: links to {link}, which is not there"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--formats", help="the formats that a tool prints, separated by blanks")
    chosen = arguments.parse_args()

    index = (SPEC / "README.md").read_text(encoding="utf-8")
    formats = re.findall(r"^\| \[`([\w-]+)`\]\(\1\.md\)", index, re.MULTILINE)
    errors = [f"spec/{name}.md: {error}" for name in formats for error in page_errors(name)]
    errors += [f"vectors/rows/{name}.tsv: {error}" for name in formats for error in row_errors(name)]
    errors += place_errors(formats, index)
    offered = {"vectors/reference.py": [*reference.CHOICES, *reference.FIXED]}
    if chosen.formats is not None:
        offered["--formats"] = chosen.formats.split()
    for where, names in offered.items():
        errors += [f"{name}: in {where}, not in the index of spec/" for name in names if name not in formats]
        errors += [f"{name}: in the index of spec/, not in {where}" for name in formats if name not in names]
    print("\n".join(errors) or f"{len(formats)} formats, all there")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
