#!/usr/bin/env bash
# package.sh: packs every crate that is published, has crates.io's own checks, and installs the tool from the packed files alone. With
# --publish: publishes them.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
crates=(mksum-lanes mksum-cache mksum mksum-gpu mksum-io mksum-stores mksum-sums mksum-log mksum-catalogue mksum-plan mksum-get mksum-serve mksum-mount mksum-cli)

# --allow-dirty: changes that are not committed yet are tested, too.
options=() patches=()
for crate in "${crates[@]}"; do
    options+=(--package "$crate")
done
if [ "${1:-}" = --publish ]; then
    exec cargo publish --locked "${options[@]}"
fi
cargo package --quiet --no-verify --allow-dirty "${options[@]}"
# The registry's own checks: manifests, versions, what depends on what. `--no-verify` leaves out that each packed crate builds by itself
# with its default features: below, the tool is built from all of them, with the features that it has.
cargo publish --dry-run --quiet --no-verify --allow-dirty --locked "${options[@]}"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# Outside of the workspace, so that nothing of it can be found.
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
for crate in "${crates[@]}"; do
    tar -C "$packed" -xzf "$target/package/$crate-$version.crate"
    folder=$packed/$crate-$version
    for file in Cargo.toml README.md LICENSE-MIT LICENSE-APACHE; do
        [ -s "$folder/$file" ] || { echo "package.sh: the packed $crate has no $file" >&2; exit 1; }
    done
    # Those that are not published yet come from here.
    [ "$crate" = mksum-cli ] || patches+=(--config "patch.crates-io.$crate.path=\"$folder\"")
done
# Without debug information, so that the crates of others are those that the workspace's tests have.
cargo install --quiet --debug --config profile.dev.debug=false --path "$packed/mksum-cli-$version" --root "$packed/installed" --target-dir "$target" "${patches[@]}"
echo abc > "$packed/abc"
root=$("$packed/installed/bin/mksum" -f plain:sha256:1TiB --untagged "$packed/abc" | cut -d' ' -f1)
[ "$root" = "$(sha256sum "$packed/abc" | cut -d' ' -f1)" ] || { echo "package.sh: the installed tool printed '$root'" >&2; exit 1; }
echo "${#crates[@]} crates packed, and the tool installed from them"
