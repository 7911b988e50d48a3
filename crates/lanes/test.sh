#!/bin/sh
# Tests crates/lanes where `cargo test` alone does not reach. Each part installs what it needs and fails loudly.
#   crates/lanes/test.sh [choice] [bare] [neon] [wasm] [miri] [asan]     (no argument: all of them)
set -eu
cd "$(dirname "$0")/../.."
here=$PWD/crates/lanes
hashes=md5,sha1,sha2,blake2,blake3,sha3,sm3,ripemd160

# A Debian package, if its command is missing.
package() {
    command -v "$1" >/dev/null && return
    if [ "$(id -u)" = 0 ]; then apt-get install -y -q "$2"; else sudo apt-get install -y -q "$2"; fi
    command -v "$1" >/dev/null || { echo "test.sh: $1 is missing: install $2" >&2; exit 1; }
}

# The override of the instruction set: one that exists, one that does not.
choice() {
    MKSUM_CPU=portable cargo test -p mksum-lanes --test choice -- --exact portable_when_asked --include-ignored
    MKSUM_CPU=nonsense cargo test -p mksum-lanes --test choice -- --exact an_error_when_unknown --include-ignored
}

# Without the standard library: the instruction set that the crate is compiled for. Each family of hashes alone.
bare() {
    rustup target add x86_64-unknown-none
    cargo build -p mksum-lanes --no-default-features --features "$hashes" --target x86_64-unknown-none
    cargo build -p mksum --no-default-features --target x86_64-unknown-none
    RUSTFLAGS="-C target-cpu=x86-64-v3" cargo test -p mksum-lanes --no-default-features --features "$hashes" \
        --target-dir target/bare --test whole --test slices
    for family in $(echo "$hashes" | tr , ' '); do
        cargo clippy --quiet -p mksum-lanes --no-default-features --features "$family" -- -D warnings
    done
}

# NEON and the SHA instructions of Armv8, emulated.
neon() {
    package qemu-aarch64 qemu-user
    package aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
    rustup target add aarch64-unknown-linux-gnu
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
        cargo test -p mksum-lanes --target aarch64-unknown-linux-gnu --tests
}

# WebAssembly's simd128, and WebAssembly without it, under Node.
wasm() {
    package node nodejs
    rustup target add wasm32-wasip1
    export CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $here/wasi.mjs"
    RUSTFLAGS="-C target-feature=+simd128" cargo test -p mksum-lanes --target wasm32-wasip1 --tests
    cargo test -p mksum-lanes --target wasm32-wasip1 --target-dir target/wasm-scalar --test slices
}

# The portable path in an interpreter that knows the language's rules for memory.
miri() {
    rustup component add miri rust-src --toolchain nightly
    MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 \
        cargo +nightly miri test -p mksum-lanes --target-dir target/miri --test miri
    # A machine whose words have their first byte the most significant.
    MIRIFLAGS=-Zmiri-disable-isolation \
        cargo +nightly miri test -p mksum-lanes --target-dir target/miri --test miri --target s390x-unknown-linux-gnu
}

# Every kernel of this machine with each access to memory checked.
asan() {
    rustup toolchain install nightly --profile minimal
    RUSTFLAGS="-Zsanitizer=address" cargo +nightly test -p mksum-lanes --target x86_64-unknown-linux-gnu \
        --target-dir target/asan --tests
}

[ $# -gt 0 ] || set -- choice bare neon wasm miri asan
for part in "$@"; do
    case $part in
        choice | bare | neon | wasm | miri | asan) echo "== $part"; "$part" ;;
        *) echo "test.sh: no part $part: choice bare neon wasm miri asan" >&2; exit 2 ;;
    esac
done
