#!/usr/bin/env bash
# wheel.sh: builds the source distribution and, from it alone, the wheel for glibc 2.17 and later, in target/python/dist, unless those of
# the same sources, compiler and profile are there. Prints the path of the wheel.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}
folder=$CARGO_TARGET_DIR/python
mkdir -p "$folder"
# One at a time.
[ -n "${MKSUM_WHEEL:-}" ] || MKSUM_WHEEL=1 exec flock --close "$folder/wheel.lock" "./${0##*/}"
../../scripts/need.sh python-package
export PATH="$folder/venv/bin:$PATH"

rm -rf "$folder/new"
maturin sdist --out "$folder/new" >&2
options=$(rustc --version && env | sed -n '/^CARGO_PROFILE_/p' | sort)
if ! cmp -s "$folder"/new/mksum-*.tar.gz "$folder"/dist/mksum-*.tar.gz || [ "$(cat "$folder/options" 2>/dev/null)" != "$options" ]; then
    rm -rf "$folder/source" "$folder/dist"
    mkdir -p "$folder/source"
    # -m: all files in it have one old date, so cargo would take a changed file for the one that it has built before.
    tar -xmzf "$folder"/new/mksum-*.tar.gz -C "$folder/source" --strip-components=1
    (cd "$folder/source" && maturin build --quiet --release --locked --zig --compatibility manylinux2014 --out "$folder/new" >&2)
    printf '%s\n' "$options" > "$folder/options"
    mv "$folder/new" "$folder/dist"
fi
wheel=$(echo "$folder"/dist/mksum-*-cp311-abi3-manylinux*_2_17_*.whl)
[ -e "$wheel" ] || { echo "wheel.sh: no wheel for glibc 2.17 in $folder/dist" >&2; exit 1; }
echo "$wheel"
