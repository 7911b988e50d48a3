#!/usr/bin/env python3
"""import.py FOLDER: writes hmac.tsv, hkdf.tsv and pbkdf2.tsv from Wycheproof's JSON (its folder testvectors_v1)."""
import json
import pathlib
import sys

COLUMNS = {
    "hmac": ["key", "msg", "tag"],
    "hkdf": ["ikm", "salt", "info", "size", "okm"],
    "pbkdf2": ["password", "salt", "iterationCount", "dkLen", "dk"],
}
HASHES = "sha1 sha224 sha256 sha384 sha512 sha512_224 sha512_256 sha3_224 sha3_256 sha3_384 sha3_512".split()

here, folder = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1])
for kind, columns in COLUMNS.items():
    lines = ["# Wycheproof (github.com/C2SP/wycheproof, Apache-2.0), by vectors/wycheproof/import.py: do not edit.",
             "# " + "\t".join(["hash", "tcId", "result", *columns])]
    for name in HASHES:
        path = folder / (f"{kind}_hmac{name}_test.json" if kind == "pbkdf2" else f"{kind}_{name}_test.json")
        if not path.exists():
            continue
        for group in json.loads(path.read_text())["testGroups"]:
            for test in group["tests"]:
                # These differ from the right tag in some bits: of an HMAC that is computed, not verified, they say nothing.
                if kind == "hmac" and test["result"] == "invalid":
                    continue
                fields = [name.replace("_", "-"), test["tcId"], test["result"], *(test[column] for column in columns)]
                lines.append("\t".join(map(str, fields)))
    (here / f"{kind}.tsv").write_text("\n".join(lines) + "\n")
    print(f"{kind}: {len(lines) - 2} tests")
