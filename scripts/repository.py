#!/usr/bin/env python3
"""The address of the repository, which every package names: Go's module path and all manifests.

    repository.py             print it, and fail unless every package names it
    repository.py --release   the same, and fail if it is a placeholder
    repository.py NEW         change it everywhere, as in: repository.py git.example/group/mksum
"""
import os.path
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The first line of go.mod has it. Everything else follows.
SOURCE = ROOT / "languages/go/go.mod"
NAMED = """Cargo.toml bindings/js/package.json bindings/python/pyproject.toml languages/rust/Cargo.toml languages/d/dub.sdl
    languages/go/go.mod languages/go/cmd/merkle/main.go languages/go/example_test.go languages/perl/Makefile.PL
    languages/haskell/sha256/sha256.cabal languages/haskell/merkle/merkle.cabal""".split()
# Crates have it from the workspace.
INHERITED = ("repository.workspace = true", "homepage.workspace = true")
# A page that PyPI shows alone, where links to other files lead nowhere. Other registries know the repository of a page.
ALONE = "bindings/python/README.md"
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")


def current():
    return re.match(r"module (\S+)/languages/go\n", SOURCE.read_text())[1]


def tracked(*patterns):
    files = subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [ROOT / name for name in files.splitlines() if (ROOT / name).is_file()]


def change(address, new):
    """Writes the new address in the place of the old one: in packages, not in tests, whose hosts are examples."""
    for file in [*(ROOT / name for name in NAMED), *tracked("languages", "lab/languages")]:
        content = file.read_bytes()
        if address.encode() in content:
            file.write_bytes(content.replace(address.encode(), new.encode()))
    page, below = ROOT / ALONE, os.path.dirname(ALONE)
    text = page.read_text().replace(address, new)
    page.write_text(LINK.sub(lambda link: f"](https://{new}/blob/main/{os.path.normpath(os.path.join(below, link[1]))})", text))


def main():
    arguments = sys.argv[1:]
    release = arguments == ["--release"]
    if len(arguments) > 1 or (not release and arguments and arguments[0].startswith("-")):
        sys.exit(__doc__)
    if arguments and not release:
        if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._-]+)+", arguments[0]):
            sys.exit(f"repository.py: '{arguments[0]}' is not an address such as git.example/group/mksum")
        change(current(), arguments[0])
    address = current()
    missing = [name for name in NAMED if address not in (ROOT / name).read_text()]
    for manifest in tracked("crates/*/Cargo.toml"):
        text = manifest.read_text()
        if "publish = false" not in text and not all(line in text for line in INHERITED):
            missing.append(str(manifest.relative_to(ROOT)))
    if missing:
        sys.exit(f"repository.py: {address} is not named in {', '.join(missing)}")
    is_placeholder = "example." in address.partition("/")[0]
    if not is_placeholder and (link := LINK.search((ROOT / ALONE).read_text())):
        sys.exit(f"repository.py: {ALONE}: {link[1]} leads nowhere on PyPI: scripts/repository.py {address} writes its address")
    if release and is_placeholder:
        sys.exit(f"repository.py: {address} is a placeholder: scripts/repository.py ADDRESS writes the right one everywhere")
    print(address)


if __name__ == "__main__":
    main()
