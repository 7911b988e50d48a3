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

# What crates.io takes: the packed crate, whose dependencies have versions. Those that are not published yet come from here.
tree=$(cd ../../crates/tree && pwd) lanes=$(cd ../../crates/lanes && pwd)
# The same options for two commands.
set -- --config "patch.crates-io.mksum.path=\"$tree\"" --config "patch.crates-io.mksum-lanes.path=\"$lanes\""
cargo package --no-verify --allow-dirty "$@"
version=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"name":"mksum-merkle","version":"\([^"]*\)".*/\1/')
# Outside of this folder, whose workspace it would be in.
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
tar -C "$packed" -xzf "target/package/mksum-merkle-$version.crate"
for file in LICENSE-MIT LICENSE-APACHE README.md Cargo.toml; do
    [ -s "$packed/mksum-merkle-$version/$file" ] || { echo "test.sh: the packed crate has no $file" >&2; exit 1; }
done
if grep -n '^path = "\.\.' "$packed/mksum-merkle-$version/Cargo.toml"; then exit 1; fi
# As a user installs it.
cargo install --quiet --path "$packed/mksum-merkle-$version" --root "$packed/installed" --target-dir target "$@"
"$packed/installed/bin/merkle" --help | cmp - ../usage.txt
echo "languages/rust: built and tested"
