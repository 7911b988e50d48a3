#!/usr/bin/env python3
"""Checks that every crate depends only on crates below it: lanes ← tree ← io, gpu ← cli, bindings."""
import json
import subprocess
import sys

HEIGHT = {"mksum-lanes": 0, "mksum": 1, "mksum-io": 2, "mksum-gpu": 2, "mksum-cli": 3, "mksum-c": 3, "mksum-js": 3,
          "mksum-unpack": 0, "mksum-stdio": 0}
TESTS_ONLY = {"mksum-vectors"}

metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--no-deps"]))
errors = []
for package in metadata["packages"]:
    name = package["name"]
    if name not in HEIGHT and name not in TESTS_ONLY:
        errors.append(f"{name} has no height: add it to HEIGHT in {sys.argv[0]}")
        continue
    for dependency in package["dependencies"]:
        other = dependency["name"]
        if other in TESTS_ONLY and dependency["kind"] != "dev":
            errors.append(f"{name} depends on {other} outside its tests")
        elif other in HEIGHT and name in HEIGHT and dependency["kind"] != "dev" and HEIGHT[other] >= HEIGHT[name]:
            errors.append(f"{name} depends on {other}, which is not below it")
print("\n".join(errors) or f"{len(metadata['packages'])} crates, each above its dependencies")
sys.exit(bool(errors))
