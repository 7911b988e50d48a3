#!/usr/bin/env bash
# release.sh TARGET FOLDER: builds the tool for a target and packs it with its man pages, completions and licences into FOLDER. The name of
# the archive is the one that `cargo binstall mksum-cli` looks for.
# release.sh sums FOLDER: writes SHA256SUMS and MKSUM, the Merkle roots by the tool that is there, of all files of FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 folder=$(realpath "$2") built=${CARGO_TARGET_DIR:-$PWD/target}

if [ "$target" = sums ]; then
    cd "$folder"
    rm -f SHA256SUMS MKSUM
    files=(*)
    sha256sum "${files[@]}" >SHA256SUMS
    mksum "${files[@]}" >MKSUM
    mksum -c --quiet SHA256SUMS MKSUM
    exit
fi

scripts/need.sh rust "target:$target"
cargo build --release --locked --package mksum-cli --target "$target"
program=$built/$target/release/mksum
[ -e "$program" ] || program=$program.exe
# It runs here, alone, and has the digest of another tool.
[ "$("$program" -f sha256 --untagged LICENSE-MIT | cut -c1-64)" = "$(sha256sum LICENSE-MIT | cut -c1-64)" ]
version=$("$program" --version | cut -d' ' -f2)
name=mksum-cli-v$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/man" "$work/$name/completions"
cp "$program" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$work/$name"
"$program" man --directory "$work/$name/man"
for shell in bash elvish fish powershell zsh; do
    "$program" completions $shell >"$work/$name/completions/mksum.$shell"
done
tar -C "$work" -czf "$folder/$name.tar.gz" "$name"
echo "$folder/$name.tar.gz"
