#!/bin/sh
# Cycles a block of SHA-256 on the SHA unit of this machine, and beside it; results go to lab/results. It takes seconds.
set -eu
lab=$(dirname "$0")
cargo build --release --quiet --manifest-path "$lab/Cargo.toml" --bin sha_unit
note="$(date -u +%F), $(rustc --version | cut -d' ' -f1,2), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-)"
exec python3 "$lab/told.py" sha-unit "$note" "${CARGO_TARGET_DIR:-$lab/target}/release/sha_unit"
