#!/usr/bin/env bash
# run.sh [OPTION…]: compares hashtree_hash of libmksum with hashtree (github.com/OffchainLabs/hashtree), and times both in one process.
# HASHTREE=FOLDER takes a clone that is there already. Options go to run.py: `--rounds N`, and `--write` for lab/results and the tables.
set -euo pipefail
HASHTREE=${HASHTREE:+$(realpath "$HASHTREE")}
cd "$(dirname "$0")/../.."
commit=30497cff98a06362eadde897202634f91d504fd8
scripts/need.sh rust cc python
target=$(realpath "${CARGO_TARGET_DIR:-target}")
folder=$target/lab-pairs
mkdir -p "$folder"
clone=${HASHTREE:-$folder/hashtree}
if [ -z "$HASHTREE" ] && [ ! -d "$clone/.git" ]; then
    git clone --quiet https://github.com/OffchainLabs/hashtree "$clone" || {
        echo "lab/pairs: DID NOT RUN: hashtree cannot be cloned; HASHTREE=FOLDER takes a clone that is there" >&2
        exit 1
    }
fi
[ -n "$HASHTREE" ] || git -C "$clone" checkout --quiet "$commit"
commit=$(git -C "$clone" rev-parse HEAD)

make --silent -C "$clone/src" OUT_DIR="$folder/peer" "$folder/peer/lib/libhashtree.a"
# One program has both, so theirs get other names.
objcopy --redefine-sym hashtree_hash=peer_hashtree_hash --redefine-sym hashtree_init=peer_hashtree_init \
    "$folder/peer/lib/libhashtree.a" "$folder/libpeer.a"
make --no-print-directory -C bindings/c install PREFIX="$folder/usr" >/dev/null
read -ra libraries <<<"$(PKG_CONFIG_PATH="$folder/usr/lib/pkgconfig" pkg-config --static --libs-only-l mksum | sed 's/-lmksum//')"
cc -std=c11 -Wall -Wextra -Werror -O2 lab/pairs/pairs.c "-I$folder/usr/include" "$folder/libpeer.a" "$folder/usr/lib/libmksum.a" \
    "${libraries[@]}" -o "$folder/pairs"
lab/pairs/run.py "$folder/pairs" --commit "$commit" "$@"
