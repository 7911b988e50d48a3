#!/usr/bin/env bash
# asan.sh [TEST…]: builds the extension with AddressSanitizer and runs the tests, or some of them, with it. It takes a quarter of an
# hour the first time. Needs a nightly Rust, clang's runtime (libclang-rt-dev), and the packages that test.sh installs, or another
# Python in PYTHON. The clients of stores are left out.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}
folder=$CARGO_TARGET_DIR/asan
python=${PYTHON:-$CARGO_TARGET_DIR/python/venv/bin/python}
host=$(rustc -vV | sed -n 's/^host: //p')
runtime=$(clang -print-file-name="libclang_rt.asan-${host%%-*}.so")
[ -e "$runtime" ] || { echo "asan.sh: clang has no runtime of AddressSanitizer: install libclang-rt-dev" >&2; exit 1; }

# With --target, cargo instruments the extension and not the build scripts. SQLite is instrumented, too.
CARGO_TARGET_DIR=$folder RUSTFLAGS=-Zsanitizer=address CFLAGS="-fsanitize=address -fno-omit-frame-pointer" \
    cargo +nightly build --locked --no-default-features --features abi3 --target "$host"
rm -rf "$folder/package"
mkdir -p "$folder/package"
cp -r python/mksum "$folder/package"
cp "$folder/$host/debug/lib_mksum.so" "$folder/package/mksum/_mksum.abi3.so"

# Python itself leaks at its end, and its allocator would hide errors. GCC gives two arrays in functions of SQLite one name.
export PYTHONMALLOC=malloc PYTHONPATH=$folder/package PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0
[ $# -gt 0 ] || set -- tests/test_{directories,trees,files,outboards,hashlib,aio}.py
LD_PRELOAD=$runtime "$python" -X faulthandler -m pytest -q -p no:cacheprovider "$@"
