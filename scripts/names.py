#!/usr/bin/env python3
"""names.py [--check]: writes the lists of names that follow from the tables of hashes and formats, or checks that they are so.

The tables are those of `crates/lanes/src/hash.rs`, `crates/tree/src/formats.rs` and `crates/sums/src/sumfile/source.rs`; what
the package for JavaScript has is in `bindings/js/src/table.ts`."""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).parent.parent


def text(path):
    return (ROOT / path).read_text()


def between(path, start, end):
    """Returns the text of a file between two strings."""
    return text(path).split(start, 1)[1].split(end, 1)[0]


def variants(path, start):
    """Returns the names of the hashes in a list of Rust."""
    return [VARIANTS[name] for name in re.findall(r"Hash::(\w+)\b[,)]", between(path, start, "];"))]


def natural(name):
    """A key that sorts names as the linter of Python does: classes first, then others, with numbers by their value."""
    parts = [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
    return not name[0].isupper(), [(isinstance(part, str), part) for part in parts]


# name: (number, feature, size in bytes), by number.
HASHES = {row[3]: (int(row[0]), row[1], int(row[4])) for row in
          re.findall(r'^    (\d+) "(\w+)" (\w+) "([\w-]+)" (\d+) ', text("crates/lanes/src/hash.rs"), re.M)}
VARIANTS = dict(re.findall(r'^    \d+ "\w+" (\w+) "([\w-]+)"', text("crates/lanes/src/hash.rs"), re.M))
TABLE = between("crates/tree/src/formats.rs", "pub static FAMILIES", "\n];")
FAMILIES = re.findall(r'(?:name: |sum\(\s*)"([\w-]+)"', TABLE)
SUMS = dict(re.findall(r'\bsum\("([\w-]+)", "([^"]+)"', TABLE))
CHECKSUMS = dict(re.findall(r'\bchecksum\(\s*"([\w-]+)",\s*"([^"]+)"', TABLE))
S3_CHECKSUMS = [name.lower() for name in re.findall(
    r"Checksum::(\w+)", between("crates/tree/src/formats.rs", 'name: "s3"', "leaf:"))]
ANY_HASH = variants("crates/tree/src/formats.rs", "const ANY_HASH")
NODE_HASHES = variants("crates/tree/src/node_tree/mod.rs", "const HASHES")
# The plain sums, the most usual of a length first, with the words in the names of sum files.
WORDS = re.findall(r'\("([\w-]+)", &\[(.*)\]\)', between("crates/sums/src/sumfile/source.rs", "const HASHES", "];"))
NEED_LENGTH = re.findall(r'name: "([\w-]+)",\s*about:\s*"[^"]*needs the length first', TABLE)
# Streams have no format that needs the length first, and the checksums are those of `new`.
PYTHON = [name.replace("-", "_") for name in sorted(
    set(FAMILIES) - {*NEED_LENGTH, *CHECKSUMS}, key=lambda name: (name not in SUMS, FAMILIES.index(name)))]
# name: (number, size, block size in bytes).
JS = {row[0] or row[1]: tuple(map(int, row[2:])) for row in
      re.findall(r'(?:"([\w-]+)"|(\w+)): \[(\d+), (\d+), (\d+)\]', text("bindings/js/src/table.ts"))}


def identifier(name):
    return name.replace("-", "_")


def exported(names):
    """The functions of hashes of the package for JavaScript, in order."""
    return sorted(identifier(name) + ending for name in names for ending in ("", "hex"))


def key(name):
    return f'"{name}"' if "-" in name else name


def feature(name):
    """The feature of a hash of the package for JavaScript, which has its own entry."""
    return HASHES[name][1] if name in HASHES else name


def wrap(entries, after, width, indent, first=None):
    """Returns entries with `after` behind each but the last, in lines of at most `width` characters, without breaking an entry.

    The first line goes on after `first`, which is not returned, or has the indent too."""
    words = after.join(entry.replace(" ", "\xa0") for entry in entries).replace(" /", "\xa0/")
    lines = textwrap.wrap(words, width, initial_indent=first or indent, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines).replace("\xa0", " ").removeprefix(first or "")


def names_of_python(listed, quote):
    """Returns a list of Python names with all constructors, and without those that are gone."""
    gone = set(re.findall(r"^def (\w+)\(data.*-> Hasher", text(f"{PACKAGE}/_mksum.pyi"), re.M)) - set(PYTHON)
    names = (set(re.findall(r"\w+", listed)) | set(PYTHON)) - gone
    order = sorted(names, key=lambda name: (not name[0].isupper(), name[0] != "_", natural(name)))
    return "".join(f"    {quote}{name}{quote},\n" for name in order)


def constructors(old):
    """Returns the constructors of Python: a new one's description is its name, which a person may write out."""
    described = dict(re.findall(r'^    (\w+), "(.*)";$', old, re.M))
    labels = {identifier(name): label for name, label in SUMS.items()}
    return "".join(f'    {name}, "{described.get(name) or labels.get(name, name)}";\n' for name in PLAIN)


def labels(names):
    """Returns the entries of an object of JavaScript with the names that people write: SHA-256, SHA3-256."""
    shown = {name: re.sub(r"^SHA(?!3-)", "SHA-", SUMS.get(name, name.upper())) for name in names}
    return [f'{key(name)}: "{label}"' for name, label in shown.items()]


# The order of pages and vectors: the oldest first, as the rows stand there.
VECTORS = sorted(ANY_HASH, key=lambda name: list(HASHES).index(name))
PACKAGE = "bindings/python/python/mksum"
# Constructors of Python that differ in their names alone.
PLAIN = [name for name in PYTHON if name != "blake3"]
HEADER = ' * "blake3". Among them are the hashes '
SIGNATURE = 'data: ReadableBuffer = b"", *, usedforsecurity: bool = True) -> Hasher: ...'
# The features of the hashes, by the number of the first; and of those that the tree leaves out where programs do.
ALL_FEATURES = list(dict.fromkeys(feature for _, feature, _ in HASHES.values()))
LEFT_OUT = [name for name in ALL_FEATURES if name not in ("sha2", "blake3")]
FEATURES = {}
for name in JS:
    FEATURES.setdefault(feature(name), []).append(name)

# Each list: the file, what stands before and after it, and the function of the present text that returns the right one.
LISTS = [
    (f"{PACKAGE}/_mksum.pyi", "__all__ = [\n", "]", lambda old: names_of_python(old, '"')),
    (f"{PACKAGE}/__init__.py", "from mksum._mksum import (\n", ")", lambda old: names_of_python(old, "")),
    (f"{PACKAGE}/__init__.py", "__all__ = [\n", "]", lambda old: names_of_python(old, '"')),
    (f"{PACKAGE}/_mksum.pyi", f"def new(name: Format, {SIGNATURE}\n", "@overload", lambda _: "".join(
        f"def {name}({SIGNATURE}\n" for name in PLAIN)),
    ("bindings/python/src/hasher.rs", "\nconstructors! {\n", "}\n", constructors),
    ("crates/lanes/Cargo.toml", 'default = ["std", "many", ', "]", lambda _: ", ".join(f'"{name}"' for name in ALL_FEATURES)),
    ("crates/lanes/Cargo.toml", "need not carry all.\n", "# ", lambda _: "".join(f"{name} = []\n" for name in ALL_FEATURES)),
    ("crates/lanes/test.sh", "hashes=", "\n", lambda _: ",".join(ALL_FEATURES)),
    ("crates/tree/Cargo.toml", 'default = ["std", ', ', "checksums"', lambda _: ", ".join(f'"{name}"' for name in LEFT_OUT)),
    ("crates/tree/Cargo.toml", "always there.\n", "# ", lambda _: "".join(
        f'{name} = ["mksum-lanes/{name}"]\n' for name in LEFT_OUT)),
    ("bindings/c/Cargo.toml", "hashes = [", "]", lambda _: ", ".join(f'"mksum/{name}"' for name in sorted(LEFT_OUT))),
    ("bindings/python/src/lib.rs", "hasher::{\n", "\n        },", lambda _: wrap(
        sorted(["Hasher", "new", *PYTHON], key=natural), ", ", 117, " " * 12) + ","),
    ("bindings/js/src/hash.ts", "/** One function for each hash, and one that returns hex. */\n", None, lambda _: "".join(
        f'export const {identifier(name)} = /* @__PURE__ */ by("{name}");\n'
        f"export const {identifier(name)}hex = /* @__PURE__ */ inHex({identifier(name)});\n" for name in JS)),
    ("bindings/js/src/hashes.ts", "export {\n", "} from", lambda _: "".join(
        f"    {name},\n" for name in exported(JS))),
    *((f"bindings/js/src/{family}.ts", "export { ", " } from", lambda _, names=names: ", ".join(exported(names)))
      for family, names in FEATURES.items()),
    ("bindings/js/scripts/build.js", "const FAMILIES = {\n", "};", lambda _: "".join(
        f'    {family}: [{", ".join(chr(34) + name + chr(34) for name in names)}],\n' for family, names in FEATURES.items())),
    ("site/app/src/text/format-name.js", "const names = /** @type {Record<string, string>} */ ({\n", "\n    });", lambda _: wrap(
        labels([*SUMS, *CHECKSUMS, "blake3"]), ", ", 139, "        ") + ","),
    ("bindings/c/include/mksum.h", HEADER, " */", lambda _: wrap(
        f"{' '.join(SUMS)}, and the checksums {' '.join(CHECKSUMS)}. Hashes for node trees: {' '.join(NODE_HASHES)}.".split(),
        " ", 140, " * ", HEADER)),
    ("vectors/reference.py", 'ANY_HASH = "', '"', lambda _: " ".join(VECTORS)),
    ("vectors/reference.py", 'SUMS = "', '"', lambda _: " ".join(SUMS)),
    ("spec/plain.md", "| hash | ", " |", lambda _: ", ".join(VECTORS)),
    ("spec/rfc6962.md", "| hash | ", " |", lambda _: ", ".join(VECTORS)),
    ("spec/README.md", "    name   = ", "\n    hash ", lambda _: wrap(
        [f'"{name}"' for name in FAMILIES], " / ", 118, " " * 13).strip()),
    ("spec/README.md", "    hash   = ", "\n    leaf ", lambda _: wrap(
        [f'"{name}"' for name in [*VECTORS, *S3_CHECKSUMS]], " / ", 118, " " * 13).strip()),
    ("bindings/python/README.md", "in the shape of `hashlib`: ", " formats,", lambda _: str(len(FAMILIES))),
    ("README.md", "*Any hash* is one of ", ". `dir:FORMAT`", lambda old: old if " ".join(old.split()) == ", ".join(VECTORS) else
     ", ".join(VECTORS)),
]


def errors():
    """Yields what is wrong with tables that are written by hand."""
    for name, (number, length, _) in JS.items():
        if name in HASHES and (number, length) != (HASHES[name][0], HASHES[name][2]):
            yield f"bindings/js/src/table.ts: {name} has the number {HASHES[name][0]} and {HASHES[name][2]} bytes"
    if wrong := {name for name, _ in WORDS} - {*SUMS, *CHECKSUMS, "blake3"}:
        yield f"crates/sums/src/sumfile/source.rs: not a plain sum: {', '.join(sorted(wrong))}"


def main():
    check, wrong = sys.argv[1:] == ["--check"], list(errors())
    for path, start, end, right in LISTS:
        whole = text(path)
        before, found, rest = whole.partition(start)
        old, stop, after = rest.partition(end) if end else (rest, "", "")
        if not found or (end and not stop):
            wrong.append(f"{path}: there is no list after {start.strip()!r}")
        elif (new := right(old)) != old:
            if check:
                wrong.append(f"{path}: the list after {start.strip()!r} is not that of the tables: run scripts/names.py")
            else:
                (ROOT / path).write_text(before + found + new + stop + after)
    print("\n".join(wrong) or f"{len(LISTS)} lists of names follow from the tables of hashes and formats")
    sys.exit(bool(wrong))


main()
