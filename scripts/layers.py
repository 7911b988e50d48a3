#!/usr/bin/env python3
"""Checks who knows whom: a crate depends only on crates below it (lanes ← cache, tree ← sums ← io, gpu ← stores, catalogue
← cli, bindings), and the modules of a crate import each other without circles; a folder of JavaScript imports only folders
below it."""
import json
import os
import pathlib
import re
import subprocess
import sys

HEIGHT = {"mksum-lanes": 0, "mksum-stdio": 0, "mksum-cache": 1, "mksum": 1, "mksum-sums": 2, "mksum-io": 3, "mksum-gpu": 3,
          "mksum-stores": 4, "mksum-catalogue": 4, "mksum-cli": 5, "mksum-c": 5, "mksum-js": 5, "mksum-js-host": 0,
          "mksum-js-extra": 1}
TESTS_ONLY = {"mksum-vectors"}
# Folders of JavaScript: the package, what measures it, the page that hashes, the site around it. Others are below all of these.
SCRIPTS = {"bindings/js": 1, "lab/js": 2, "site/app": 2, "site": 3}


def upward(package):
    """Yields what is wrong with the dependencies of a package."""
    name = package["name"]
    if name not in HEIGHT and name not in TESTS_ONLY:
        yield f"{name} has no height: add it to HEIGHT in {sys.argv[0]}"
        return
    for dependency in package["dependencies"]:
        other = dependency["name"]
        if other in TESTS_ONLY and dependency["kind"] != "dev":
            yield f"{name} depends on {other} outside its tests"
        elif other in HEIGHT and name in HEIGHT and dependency["kind"] != "dev" and HEIGHT[other] >= HEIGHT[name]:
            yield f"{name} depends on {other}, which is not below it"


def paths(tree):
    """Yields the paths of a use declaration: `a::{b, c::d}` has a::b and a::c::d."""
    depth, start = 0, 0
    for at, letter in enumerate(tree + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            part, start = tree[start:at].strip(), at + 1
            before, brace, inner = part.partition("{")
            yield from ([before + path for path in paths(inner.removesuffix("}"))] if brace else [part])


def imports(folder):
    """Returns the modules that each module of a crate imports, tests aside. The root of the crate does not count."""
    texts = {}
    for file in folder.rglob("*.rs"):
        module = "::".join(file.relative_to(folder).with_suffix("").parts)
        base = module.removesuffix("::mod")
        above = base if module != base else base.rpartition("::")[0]
        text = file.read_text().split("#[cfg(test)]\nmod tests")[0]
        texts[base] = re.sub(r"\bsuper::", f"crate::{above}::" if above else "crate::", text)
    found = {}
    for module, text in texts.items():
        used = [path for tree in re.findall(r"\buse crate::([^;]*);", text) for path in paths(tree)]
        used += re.findall(r"\bcrate::([a-z_0-9]+(?:::[a-z_0-9]+)*)", text)
        found[module] = {owner(path, texts) for path in used} - {None, module, "lib", "main"}
    return {module: modules for module, modules in found.items() if module not in ("lib", "main")}


def owner(path, modules):
    """Returns the innermost module on a path, or None."""
    parts = path.split("::")
    starts = ("::".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((start for start in starts if start in modules), None)


def circle(imported):
    """Returns a circle of modules, or None."""
    left = dict(imported)
    while True:
        ends = [module for module, modules in left.items() if not modules & left.keys()]
        if not ends:
            break
        for module in ends:
            del left[module]
    if not left:
        return None
    way = [min(left)]
    while way.count(way[-1]) == 1:
        way.append(min(left[way[-1]] & left.keys()))
    return way[way.index(way[-1]) :]


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
    metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--no-deps"]))
    errors = list(scripts())
    for package in metadata["packages"]:
        errors += upward(package)
        way = circle(imports(pathlib.Path(package["manifest_path"]).parent / "src"))
        if way:
            errors.append(f"{package['name']}: modules import each other in a circle: {' → '.join(way)}")
    print("\n".join(errors) or f"{len(metadata['packages'])} crates, each above its dependencies, without circles of imports")
    sys.exit(bool(errors))


main()
