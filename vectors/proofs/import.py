#!/usr/bin/env python3
"""Writes transparency-dev.tsv from the testdata/ of a checkout of github.com/transparency-dev/merkle.

    import.py CHECKOUT COMMIT
"""
import base64
import json
import pathlib
import sys

HEADER = """# Cases of github.com/transparency-dev/merkle, testdata/ at commit {commit}, one row a file, \
nothing changed but the form.
# Copyright Google LLC; Apache License 2.0: vectors/proofs/LICENSE. Written by vectors/proofs/import.py: do not edit.
# Trees of rfc6962 over SHA-256. A subtree is the tree over the leaves start to end, size one over the leaves 0 to size.
# file\tindex\tstart\tend\tsize\tdigest\troot\tproof\tverdict
#   inclusion, subtreeinclusion      digest, of leaf index, is under root, of the tree or of the subtree
#   consistency, subtreeconsistency  digest, the root of the subtree, is consistent with root, of the tree
"""


def hexed(text):
    return base64.b64decode(text or "").hex() or "-"


def row(path, case):
    """Returns the columns of one case."""
    start = case.get("start", 0)
    end = case.get("end", case.get("size1", case.get("treeSize")))
    size = case.get("size", case.get("size2", case.get("treeSize", "-")))
    digest, root = case.get("leafHash", case.get("root1")), case.get("root", case.get("root2"))
    proof = ",".join(map(hexed, case["proof"])) if case["proof"] else "none"
    verdict = "refuse" if case["wantErr"] else "accept"
    return [path, case.get("leafIdx", "-"), start, end, size, hexed(digest), hexed(root), proof, verdict]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1], "testdata")
    cases = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.json")}
    rows = [row(name, json.loads(path.read_text())) for name, path in cases.items()]
    lines = ["\t".join(map(str, columns)) + "\n" for columns in sorted(rows)]
    pathlib.Path(__file__).with_name("transparency-dev.tsv").write_text(HEADER.format(commit=sys.argv[2]) + "".join(lines))
    print(f"{len(lines)} cases")


if __name__ == "__main__":
    main()
