#!/bin/sh
# Installs Zig if it is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"

zig=$(./zig.sh)
"$zig" fmt --check build.zig build.zig.zon src
# The fast program, and one with every index, cast and overflow checked: side by side, since a compilation uses one core.
"$zig" build --prefix . -Doptimize=ReleaseFast &
fast=$!
"$zig" build --prefix zig-out -Doptimize=ReleaseSafe
wait $fast
"$zig" build-exe -OReleaseFast -mcpu=native -femit-bin=bin/simple src/simple.zig
../contract.sh zig-out/bin/merkle
# The tests, with the same checks.
"$zig" build test --summary all
# Other processors: the portable way compiles.
"$zig" build --prefix zig-out -Dtarget=aarch64-linux
echo "languages/zig: built and tested"
