#!/bin/sh
# Instructions a message, exactly, so that a regression shows on a noisy machine: lab/lanes/instructions.sh >FILE.tsv
# Counted by valgrind's callgrind, which knows neither AVX-512 nor the SHA extensions: the same sources on AVX2, SSE4.1 and
# portable code stand for them.
set -eu
cd "$(dirname "$0")"
cargo build --release --quiet --bin instructions
bin=${CARGO_TARGET_DIR:-target}/release/instructions
echo "# $(date -u +%F), $(rustc --version | cut -d' ' -f1,2), valgrind $(valgrind --version), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-)"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
printf 'cpu\thash\tbytes\tmessages\tinstructions a message\n'
for cpu in avx2 sse41 portable; do
    for hash in md5 sha1 sha256 sha512 blake2s blake2b blake3 sha3-256; do
        # A group of messages, and one alone, which shows what a call costs.
        for case in '64' '1024' '32 1' '1024 1'; do
            # shellcheck disable=SC2086 # bytes and count
            count=$(valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect=counted \
                "$bin" "$cpu" "$hash" $case 2>/dev/null)
            total=$(sed -n 's/^summary: //p; s/^totals: //p' "$out" | head -1)
            printf '%s\t%s\t%s\t%s\t%s\n' "$cpu" "$hash" "${case% *}" "$count" "$((total / count))"
        done
    done
done
