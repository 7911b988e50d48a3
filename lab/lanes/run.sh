#!/bin/sh
# The whole table in one run: lab/lanes/run.sh [ISAL] [-- WORD…]; results go to lab/results.
# ISAL as for peers.sh, words as for lab-lanes. It takes about five minutes, and the builds before it ten.
set -eu
lab=$(dirname "$0")
isal=-
if [ $# -gt 0 ] && [ "$1" != -- ]; then isal=$1; shift; fi
if [ $# -gt 0 ]; then shift; fi
RUSTFLAGS=$("$lab/peers.sh" "$isal")
export RUSTFLAGS
cargo build --release --quiet --manifest-path "$lab/Cargo.toml" --features hashtree-rs
note="$(date -u +%F), $(rustc --version | cut -d' ' -f1,2), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-)"
exec python3 "$lab/told.py" "$note" "${CARGO_TARGET_DIR:-$lab/target}/release/lab-lanes" "$@"
