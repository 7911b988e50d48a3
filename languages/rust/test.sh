#!/bin/sh
# Installs Rust if it is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"
[ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo

command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
if ! command -v cargo >/dev/null; then
    echo "test.sh: installing rustup" >&2
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates curl gcc libc6-dev
    curl --proto '=https' --tlsv1.2 -fsS https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy
    PATH="$HOME/.cargo/bin:$PATH"
fi

mkdir -p bin
cargo build --locked --release
cp target/release/merkle bin/merkle
cargo fmt --check
cargo clippy --locked --release --all-targets -- -D warnings
cargo test --locked --release
echo "languages/rust: built and tested"
