#!/usr/bin/env bash
# check.sh: what to run before each commit: format, lints, and the tests of the crates that differ from main.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin"
scripts/need.sh rust cc

base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
mapfile -t files < <(git diff --name-only --diff-filter=d "$base" && git ls-files --others --exclude-standard)
# Members of the workspace by the folders of those files, and the stages of the tests that cover other folders.
packages=() stages=()
for file in "${files[@]}"; do
    case $file in
        crates/*/*) packages+=("crates/$(cut -d/ -f2 <<<"$file")") ;;
        bindings/c/*) packages+=(bindings/c) stages+=(c) ;;
        bindings/js/wasm/* | bindings/js/host/* | bindings/js/extra/*) packages+=("$(cut -d/ -f1-3 <<<"$file")") stages+=(js) ;;
        bindings/js/*) stages+=(js) ;;
        bindings/python/*) stages+=(python) ;;
        languages/* | lab/* | site/* | fuzz/*) stages+=("${file%%/*}") ;;
        spec/* | vectors/*) stages+=(spec vectors) ;;
        scripts/* | docs/* | README.md) stages+=(tool) ;;
    esac
done
mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u | while read -r folder; do
    [ -z "$folder" ] || [ ! -e "$folder/Cargo.toml" ] || sed -n 's/^name = "\(.*\)"/--package=\1/p' "$folder/Cargo.toml" | head -n 1
done)

cargo fmt --check
scripts/house.py
scripts/layers.py
scripts/lint.sh
if [ ${#packages[@]} -gt 0 ]; then
    echo "clippy and tests: ${packages[*]#--package=}"
    cargo clippy "${packages[@]}" --all-targets --quiet -- -D warnings
    cargo test "${packages[@]}" --quiet
fi
echo "check.sh: passed"
[ ${#stages[@]} = 0 ] || echo "Not tested here: make test ONLY=\"$(printf '%s\n' "${stages[@]}" | sort -u | xargs)\""
