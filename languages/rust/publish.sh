#!/bin/sh
# The dry run of crates.io: packs the crate, and installs the program from the packed files as users do. Publishes nothing.
set -eu
cd "$(dirname "$0")"
command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
# The paths below are this folder's.
unset CARGO_TARGET_DIR

# What crates.io takes: the packed crate, whose dependencies have versions. Those that are not published yet come from here.
tree=$(cd ../../crates/tree && pwd) lanes=$(cd ../../crates/lanes && pwd)
# The same options for three commands.
set -- --config "patch.crates-io.mksum.path=\"$tree\"" --config "patch.crates-io.mksum-lanes.path=\"$lanes\""
cargo package --no-verify --allow-dirty "$@"
# The registry's own checks. `--no-verify`, because the crate is built from the packed files below.
cargo publish --dry-run --no-verify --allow-dirty "$@"
version=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"name":"mksum-merkle","version":"\([^"]*\)".*/\1/')
# Outside of this folder, whose workspace it would be in.
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
tar -C "$packed" -xzf "target/package/mksum-merkle-$version.crate"
for file in LICENSE-MIT LICENSE-APACHE README.md Cargo.toml; do
    [ -s "$packed/mksum-merkle-$version/$file" ] || { echo "publish.sh: the packed crate has no $file" >&2; exit 1; }
done
if grep -n '^path = "\.\.' "$packed/mksum-merkle-$version/Cargo.toml"; then exit 1; fi
# As a user installs it.
cargo install --quiet --path "$packed/mksum-merkle-$version" --root "$packed/installed" --target-dir target "$@"
"$packed/installed/bin/merkle" --help | cmp - ../usage.txt
echo "languages/rust: ready to publish"
