#!/usr/bin/env bash
# wheel.sh: builds the source distribution and, from it alone, the wheel for glibc 2.17 and later, in target/python/dist. Prints the
# path of the wheel.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}
folder=$CARGO_TARGET_DIR/python
../../scripts/need.sh python-package
export PATH="$folder/venv/bin:$PATH"

rm -rf "$folder/dist"
maturin sdist --out "$folder/dist" >&2
sdist=$(echo "$folder"/dist/mksum-*.tar.gz)
# The same sources keep their folder, and cargo what it has built of them.
if ! cmp -s "$sdist" "$folder/source.tar.gz"; then
    rm -rf "$folder/source"
    mkdir -p "$folder/source"
    # -m: all files in it have one old date, so cargo would take a changed file for the one that it has built before.
    tar -xmzf "$sdist" -C "$folder/source" --strip-components=1
    cp "$sdist" "$folder/source.tar.gz"
fi
(cd "$folder/source" && maturin build --quiet --release --locked --zig --compatibility manylinux2014 --out "$folder/dist" >&2)
wheel=$(echo "$folder"/dist/mksum-*-cp311-abi3-manylinux*_2_17_*.whl)
[ -e "$wheel" ] || { echo "wheel.sh: no wheel for glibc 2.17 in $folder/dist" >&2; exit 1; }
echo "$wheel"
