#!/bin/sh
# Installs Rust if it is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"

command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
if ! command -v cargo >/dev/null; then
    ../need.sh /etc/ssl/certs/ca-certificates.crt:ca-certificates curl:curl gcc:gcc /usr/include/stdlib.h:libc6-dev
    echo "test.sh: installing Rust with rustup" >&2
    curl --proto '=https' --tlsv1.2 -fsS https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy
    PATH="$HOME/.cargo/bin:$PATH"
fi
# The paths below are this folder's.
unset CARGO_TARGET_DIR

mkdir -p bin
cargo build --locked --release --bins --examples
cp target/release/merkle bin/merkle
cp target/release/examples/simple bin/simple
cargo fmt --check
cargo clippy --locked --release --all-targets -- -D warnings
cargo test --locked --release
echo "languages/rust: built and tested"
