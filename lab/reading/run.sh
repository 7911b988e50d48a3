#!/bin/sh
# Ways to get the bytes of a cached file: run.sh [FILE [ROUNDS]]. Without a file, 1 GiB of random bytes below target.
set -eu
lab=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$lab/../../target}/reading
mkdir -p "$target"
cc -O3 -Wall -Wextra -o "$target/reading" "$lab/reading.c" -lpthread
[ $# -gt 0 ] || { [ -s "$target/random" ] || head -c 1073741824 /dev/urandom >"$target/random"; set -- "$target/random"; }
exec "$target/reading" "$@"
