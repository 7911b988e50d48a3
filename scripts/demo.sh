#!/usr/bin/env bash
# demo.sh FILE: hashes a file with mksum, sha256sum and openssl, and prints their speeds. Creates a default file of 1 GiB.
set -euo pipefail
cd "$(dirname "$0")/.."
file=$1
echo "make demo: installs Rust, a C compiler and openssl if they are missing, builds mksum, and hashes $file with it and with its peers"
scripts/need.sh rust cc openssl
export PATH="$PATH:$HOME/.cargo/bin"

# What hashes files, without stores, catalogues and devices: half of the time, and the same speed (Cargo.toml, profile.demo).
echo "building mksum from source: the first time takes about two minutes on two cores, below is what cargo does"
cargo build --profile demo --package mksum-cli --no-default-features --features tool
mksum=${CARGO_TARGET_DIR:-target}/demo/mksum
if [ "$file" = target/random.bin ] && [ ! -e "$file" ]; then
    echo "creating a file of 1 GiB of random bytes (make demo FILE=path uses yours)"
    mkdir -p target
    head -c 1G /dev/urandom >"$file.new" && mv "$file.new" "$file"
fi
[ -f "$file" ] || { echo "demo.sh: $file: no such file" >&2; exit 1; }
size=$(stat -c %s "$file")
# Read the file once, so that every program finds it in the page cache.
cat "$file" >/dev/null

# timed NAME COMMAND…: prints the best time of three runs, and the output of the last.
timed() {
    local name=$1 best='' begin end seconds
    shift
    for _ in 1 2 3; do
        begin=$(date +%s%N)
        output=$("$@")
        end=$(date +%s%N)
        seconds=$((end - begin))
        [ -n "$best" ] && [ "$best" -le $seconds ] || best=$seconds
    done
    [ -n "${first:-}" ] || first=$best
    awk -v name="$name" -v bytes="$size" -v ns="$best" -v first="$first" -v output="$output" 'BEGIN {
        sub(/^.*\) ?= /, "", output); sub(/ .*/, "", output)
        printf "%-28s %7.2f s %7.2f GB/s %6.1f×   %.16s…\n", name, ns / 1e9, bytes / ns, first / ns, output }'
}

echo "$file: $size bytes, $(nproc) cores, from the page cache, best of three"
echo
timed sha256sum sha256sum "$file"
timed "openssl dgst -sha256" openssl dgst -sha256 "$file"
for format in rfc6962:sha256:64KiB glacier blake3 btv2 fsverity mtsum s3:md5:8MiB; do
    timed "mksum -f $format" "$mksum" -f "$format" "$file"
done
echo
echo "The default format, as a line for mksum -c:"
cd "$(dirname "$file")"
"$OLDPWD/$mksum" "$(basename "$file")" 2>/dev/null || "$mksum" "$(basename "$file")"
