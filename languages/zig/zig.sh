#!/bin/sh
# Prints the path of Zig, which it installs if it is missing.
set -eu
cd "$(dirname "$0")"

# The standard library changes with each release: this one and no other.
release=0.17.0
if [ "$(zig version 2>/dev/null)" = $release ]; then
    zig=zig
else
    zig=$PWD/.toolchain/bin/python-zig
    if [ "$("$zig" version 2>/dev/null)" != $release ]; then
        python3 -c 'import venv, ensurepip' 2>/dev/null || ../need.sh /nonexistent:python3-venv
        echo "zig.sh: installing ziglang $release with pip" >&2
        rm -rf .toolchain
        python3 -m venv .toolchain
        .toolchain/bin/pip install --quiet --disable-pip-version-check ziglang==$release >&2
    fi
fi
echo "$zig"
