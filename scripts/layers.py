#!/usr/bin/env python3
"""Checks who knows whom: a crate depends only on crates below it (lanes ← cache, tree ← sums ← io, gpu ← stores, plan, get ←
catalogue ← serve ← cli, bindings), and the modules and folders of a crate import each other without circles, whatever names its
root re-exports (modules.py follows them); a folder of JavaScript imports only folders below it."""
import json
import os
import pathlib
import re
import subprocess
import sys

from modules import circles, folders, imports

HEIGHT = {"mksum-lanes": 0, "mksum-cache": 1, "mksum": 1, "mksum-io": 3, "mksum-gpu": 3, "mksum-sums": 2, "mksum-log": 2,
          "mksum-stores": 4, "mksum-get": 4, "mksum-plan": 4, "mksum-catalogue": 5, "mksum-serve": 6, "mksum-mount": 5,
          "mksum-cli": 7, "mksum-c": 6, "mksum-js": 6, "mksum-js-host": 0, "mksum-js-extra": 1,
          "mksum-python": 6, "mksum-merkle": 3, "lab-lanes": 1}
TESTS_ONLY = {"mksum-vectors", "mksum-fuzz"}
# Folders of JavaScript: the package, what measures it, the page that hashes, the site around it. Others are below all of these.
SCRIPTS = {"bindings/js": 1, "lab/js": 2, "site/app": 2, "site": 3}


def upward(package):
    """Yields what is wrong with the dependencies of a package."""
    name = package["name"]
    if name in TESTS_ONLY:
        return
    if name not in HEIGHT:
        yield f"{name} has no height: add it to HEIGHT in {sys.argv[0]}"
        return
    for dependency in package["dependencies"]:
        other = dependency["name"]
        if other in TESTS_ONLY and dependency["kind"] != "dev":
            yield f"{name} depends on {other} outside its tests"
        elif other in HEIGHT and dependency["kind"] != "dev" and HEIGHT[other] >= HEIGHT[name]:
            yield f"{name} depends on {other}, which is not below it"


def packages():
    """Yields the packages of every workspace of the repository."""
    seen = set()
    for manifest in subprocess.check_output(["git", "ls-files", "*Cargo.toml"], text=True).split():
        if os.path.abspath(manifest) not in seen:
            command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--manifest-path", manifest]
            for package in json.loads(subprocess.check_output(command))["packages"]:
                seen.add(package["manifest_path"])
                yield package


def round_trips(package):
    """Yields the circles of imports in each library and program of a package: of modules, and of folders."""
    for target in package["targets"]:
        if target["kind"][0] in ("test", "example", "bench", "custom-build"):
            continue
        imported = imports(pathlib.Path(target["src_path"]))
        for together, way in circles(imported) or circles(folders(imported)):
            yield f"{package['name']}: {len(together)} modules import each other in a circle: {' → '.join(way)}"


def height(file):
    """Returns the height of a file's folder: of the innermost that has one."""
    return max(((len(folder), high) for folder, high in SCRIPTS.items() if file.startswith(f"{folder}/")), default=(0, 0))[1]


def scripts():
    """Yields the imports of JavaScript and TypeScript files that are not below their own folder."""
    names = subprocess.check_output(["git", "ls-files", "-z", "--", "*.js", "*.mjs", "*.ts"], text=True).split("\0")
    for name in filter(None, names):
        for path in re.findall(r"""\b(?:from|import)\s*\(?\s*["'](\.[^"']*)["']""", pathlib.Path(name).read_text()):
            other = os.path.normpath(os.path.join(os.path.dirname(name), path))
            if height(other) > height(name):
                yield f"{name} imports {other}, which is not below it"


def main():
    errors, crates = list(scripts()), list(packages())
    for package in crates:
        errors += [*upward(package), *round_trips(package)]
    print("\n".join(errors) or f"{len(crates)} crates, each above its dependencies, without circles of imports")
    sys.exit(bool(errors))


main()
