#!/bin/sh
# Installs Zig if it is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"
[ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo

# The standard library changes with each release: this one and no other.
release=0.17.0
if [ "$(zig version 2>/dev/null)" = $release ]; then
    zig=zig
else
    zig=$PWD/.toolchain/bin/python-zig
    if [ "$("$zig" version 2>/dev/null)" != $release ]; then
        echo "test.sh: installing ziglang $release" >&2
        if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
            $sudo apt-get update -qq
            $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv
        fi
        rm -rf .toolchain
        python3 -m venv .toolchain
        .toolchain/bin/pip install --quiet --disable-pip-version-check ziglang==$release
    fi
fi

"$zig" fmt --check .
"$zig" build --prefix . -Doptimize=ReleaseFast
# Every index, cast and overflow checked: as the compiler makes it for debugging, and optimised.
"$zig" build test --summary all
"$zig" build test --summary all -Doptimize=ReleaseSafe
"$zig" build --prefix zig-out -Doptimize=ReleaseSafe
grep -hE '^(plain|rfc6962):(sha256|md5|sha512-256|blake2b|blake3):' \
    ../../vectors/rows/plain.tsv ../../vectors/rows/rfc6962.tsv ../rows/segments.tsv >zig-out/expected.tsv
# shellcheck disable=SC2094 # read twice
zig-out/bin/merkle --rows <zig-out/expected.tsv | diff zig-out/expected.tsv -
# Other processors: the portable way is at least compiled.
"$zig" build --prefix zig-out -Dtarget=aarch64-linux
echo "languages/zig: built and tested"
