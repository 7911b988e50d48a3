#!/usr/bin/env python3
"""Checks what the repository says about itself.

    house.py [CHECK…]       all of these if none is named
    house.py flags MKSUM    that the flags of commands in pages exist, by the tool's own help

claims: each guarantee of SECURITY.md names tests that exist.
unsafe: the files of Rust with `unsafe` are those that SECURITY.md lists, and every other crate forbids it.
tree:   no tracked file is a compiled program, executable without #!, larger than 256 KB, or unexpected at the root.
pages:  every link and every file that a page names exists.
crates: the page of each crate tells its features and the Rust that it needs.
comments: no documentation comment of Rust begins with a pronoun, which has no meaning where it is shown alone.
"""
import os
import pathlib
import re
import subprocess
import sys
import tomllib

# What belongs to the root, and the files over 256 KB that earn their size.
ROOT = set("""
    .gitignore .oxlintrc.json ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md Cargo.lock Cargo.toml LICENSE-APACHE LICENSE-MIT
    Makefile README.md SECURITY.md deny.toml ruff.toml rustfmt.toml""".split())
LARGEST = 256 * 1024
LARGE = {
    "vectors/wycheproof/hkdf.tsv": "rows of Project Wycheproof",
}
# Features for the tests, and for the binary alone.
INTERNAL = {"default", "devices", "fuzzing", "tool"}
PROGRAMS = {b"\x7fELF": "ELF", b"MZ": "PE"} | dict.fromkeys(
    [bytes.fromhex(magic) for magic in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe")], "Mach-O")
# Comments, strings and characters of Rust, in which `unsafe` is a word.
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|r(\#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""", re.S)
DANGLING = re.compile(r"\n *//[/!] (Those|Its|It|They|Them|Their|Whose|None|Nobody|Whoever)\b[^\n]*")
SOURCES = "c cl cuh go h hs js md mjs py rs sh toml ts yml zig".split()


def tracked():
    """Returns the names of tracked files that are there."""
    names = subprocess.check_output(["git", "ls-files", "-z"], text=True).split("\0")
    return [name for name in names if name and os.path.lexists(name)]


def below(name, places):
    """Returns the place that a file is, or is below, or None."""
    return next((place for place in places if name == place or name.startswith(place.rstrip("/") + "/")), None)


def claims(names):
    """Yields guarantees of SECURITY.md without a test, and tests that it names and that do not exist."""
    guarantees = pathlib.Path("SECURITY.md").read_text().split("\n## ")[1]
    for bullet in re.split(r"^- ", guarantees, flags=re.M)[1:]:
        tests = re.findall(r"\[`([^`]*)`\]\(([^)]*)\)", bullet)
        if not tests:
            yield f"SECURITY.md: no test is named for: {bullet.splitlines()[0]}"
        for test, file in tests:
            if file not in names or (test != os.path.basename(file) and test not in pathlib.Path(file).read_text()):
                yield f"SECURITY.md: {file} has no test {test}"


def unsafe(names):
    """Yields where SECURITY.md and the code disagree about `unsafe`."""
    text = pathlib.Path("SECURITY.md").read_text()
    bullet = re.search(r"^- `unsafe` code is in .*?(?=^(?:- |\n|#))", text, re.M | re.S)
    places = re.findall(r"`([^`]*/[^`]*)`", bullet[0]) if bullet else []
    used = set()
    for name in names:
        if name.endswith(".rs") and re.search(r"\bunsafe\b", NO_CODE.sub(" ", pathlib.Path(name).read_text())):
            place = below(name, places)
            used.add(place)
            if not place:
                yield f"{name} has `unsafe`, and SECURITY.md does not list it"
    for place in places:
        if place not in used:
            yield f"SECURITY.md: {place} is listed and has no `unsafe`"
    for manifest in names:
        folder = os.path.dirname(manifest)
        if os.path.basename(manifest) != "Cargo.toml" or not folder or below(folder, places):
            continue
        # Where some files of a crate are listed, the others are kept from it by its root.
        levels = ("deny", "forbid") if any(below(place, [folder]) for place in places) else ("forbid",)
        for name in ("src/lib.rs", "src/main.rs"):
            root = pathlib.Path(folder, name)
            if root.exists() and not any(f"#![{level}(unsafe_code)]" in root.read_text() for level in levels):
                yield f"{root} does not {levels[-1]} unsafe_code: SECURITY.md does not list it"
    other = pathlib.Path("CONTRIBUTING.md").read_text()
    if re.search(r"^- `unsafe`[^-]*(crates|bindings)/", other, re.M):
        yield "CONTRIBUTING.md lists places of `unsafe`: SECURITY.md alone does"


def tree(names):
    """Yields tracked files that should not be."""
    for name in names:
        path = pathlib.Path(name)
        if "/" not in name and name not in ROOT:
            yield f"{name}: not expected at the root: move it, or add it to ROOT in {sys.argv[0]}"
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            head = file.read(4)
        for magic, kind in PROGRAMS.items():
            if head.startswith(magic):
                yield f"{name}: a compiled program ({kind})"
        if os.access(path, os.X_OK) and not head.startswith(b"#!"):
            yield f"{name}: executable, but without #!"
        if path.stat().st_size > LARGEST and name not in LARGE:
            yield f"{name}: {path.stat().st_size:,} bytes: make it smaller, or add it to LARGE in {sys.argv[0]}"
    for name in LARGE:
        if name not in names or os.path.getsize(name) <= LARGEST:
            yield f"{name}: in LARGE of {sys.argv[0]}, but not large"


def pages(names):
    """Yields links to files and names of files that do not exist."""
    there = set(names) | {str(folder) for name in names for folder in pathlib.PurePath(name).parents}
    top = {name.partition("/")[0] for name in names if "/" in name}
    for page in names:
        if not page.endswith(".md"):
            continue
        here, text = os.path.dirname(page), re.sub(r"```.*?```", "", pathlib.Path(page).read_text(), flags=re.S)
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in link and os.path.normpath(os.path.join(here, link)) not in there:
                yield f"{page}: a link to {link}, which does not exist"
        for named in re.findall(r"`([\w./{},-]+)`", text):
            path = named.rstrip("/")
            # Of a page's own folder or the root's, or a file with a name of a source; NAME stands for any.
            known = ("/" in path and path.partition("/")[0] in top) or ("." in path and path.rpartition(".")[2] in SOURCES)
            if not known or re.search(r"\b[A-Z]*NAME\b", path) or not (page in ROOT or page.startswith(("crates/", "bindings/"))):
                continue
            if not any(found == path or found.endswith("/" + path) for found in there):
                yield f"{page}: names {named}, which does not exist"


def crates(names):
    """Yields features of crates, and needed versions of Rust, that their pages do not tell."""
    rust = tomllib.loads(pathlib.Path("Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    for page in names:
        if re.fullmatch(r"crates/\w+/README\.md", page):
            text = pathlib.Path(page).read_text()
            manifest = tomllib.loads(pathlib.Path(page).with_name("Cargo.toml").read_text())
            if f"Rust {rust} or later" not in text:
                yield f"{page}: Rust {rust} is needed, and the page does not say so"
            for feature in manifest.get("features", {}).keys() - INTERNAL:
                if not re.search(rf"^\|.*`{re.escape(feature)}`", text, re.M):
                    yield f"{page}: the feature {feature} is in no table"


def comments(names):
    """Yields documentation comments whose first words point to something else."""
    for name in names:
        if name.endswith(".rs"):
            text = "\n" + pathlib.Path(name).read_text()
            for found in DANGLING.finditer(text):
                above = text[: found.start()].rpartition("\n")[2].lstrip()
                if not above.startswith(("///", "//!")):
                    yield f"{name}:{text.count(chr(10), 0, found.end())}: say what the item is:{found[0].strip().lstrip('/!')}"


def flags(names, tool):
    """Yields flags of commands of mksum in pages that the command does not have."""

    def known(*command):
        text = subprocess.run([tool, *command, "--help"], check=True, capture_output=True, text=True).stdout
        names = re.findall(r"^  ([a-z][a-z-]+)  ", text, re.M) if not command or "\nCommands:\n" in text else []
        found = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))
        # The flags of the commands of a command, too.
        return found.union(*(known(*command, name)[0] for name in names if command)), names

    top, commands = known()
    have = {command: known(command)[0] for command in commands} | {"": top}
    for page in names:
        text = pathlib.Path(page).read_text() if page.endswith(".md") and page != "CHANGELOG.md" else ""
        # Commands in code: up to what ends a command in a shell.
        fenced = [line for block in re.findall(r"```.*?```", text, re.S) for line in block.splitlines()]
        for line in fenced + re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
            for command in re.findall(r"(?:^|[|;&(] *|[$] +)mksum ([^|;&)#<>]*)", re.sub(r"\$\([^)]*\)", "", line)):
                words = command.split()
                name = words[0] if words and words[0] in have else ""
                for flag in [word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]:
                    if flag not in have[name] and not (flag[1] != "-" and "-" + flag[1] in have[name]):
                        yield f"{page}: mksum {name} has no {flag}: {line.strip()}"


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    names = tracked()
    if sys.argv[1:2] == ["flags"]:
        errors = list(flags(names, sys.argv[2]))
        print("\n".join(errors) or "the flags in all pages exist")
        sys.exit(bool(errors))
    checks = {check.__name__: check for check in (claims, unsafe, tree, pages, crates, comments)}
    errors = [error for name in sys.argv[1:] or checks for error in checks[name](names)]
    print("\n".join(errors) or "SECURITY.md, the tree and the pages are as they say")
    sys.exit(bool(errors))


main()
