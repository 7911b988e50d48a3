#!/usr/bin/env python3
"""The address of the repository, which packages have to name: Go's module path, META.json, the cabal files, dub.sdl, Cargo.toml.

    repository.py           print it, and fail unless every package names it
    repository.py NEW       change it everywhere, as in: repository.py git.example/group/mksum
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Where it is told: the first line of go.mod. Everything else follows.
TOLD = HERE / "go" / "go.mod"
NAMED = ["go/go.mod", "go/cmd/merkle/main.go", "go/example_test.go", "perl/Makefile.PL", "haskell/sha256/sha256.cabal",
         "haskell/merkle/merkle.cabal", "d/dub.sdl", "rust/Cargo.toml"]


def told():
    return re.match(r"module (\S+)/languages/go\n", TOLD.read_text())[1]


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] == ["--help"]:
        sys.exit(__doc__)
    address = told()
    if sys.argv[1:]:
        new = sys.argv[1]
        if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._-]+)+", new):
            sys.exit(f"repository.py: '{new}' is not an address such as git.example/group/mksum")
        files = subprocess.run(["git", "ls-files"], cwd=HERE, stdout=subprocess.PIPE, text=True, check=True).stdout
        for name in files.splitlines():
            file = HERE / name
            content = file.read_bytes()
            if address.encode() in content:
                file.write_bytes(content.replace(address.encode(), new.encode()))
        address = told()
    missing = [name for name in NAMED if address not in (HERE / name).read_text()]
    if missing:
        sys.exit(f"repository.py: {address} is not named in {', '.join(missing)}")
    print(address)


if __name__ == "__main__":
    main()
