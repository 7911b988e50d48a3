#!/bin/sh
# The whole table in one run: lab/lanes/run.sh [PROTOTYPE] [ISAL] [-- WORD…] >FILE.txt
# PROTOTYPE and ISAL as for peers.sh; words choose cases as for lab-lanes.
set -eu
cd "$(dirname "$0")"
prototype=- isal=-
[ $# -gt 0 ] && [ "$1" != -- ] && { prototype=$1; shift; }
[ $# -gt 0 ] && [ "$1" != -- ] && { isal=$1; shift; }
[ $# -gt 0 ] && shift
RUSTFLAGS=$(./peers.sh "$prototype" "$isal")
export RUSTFLAGS
cargo build --release --quiet --bin lab-lanes --features hashtree-rs,fearless_simd
echo "# $(date -u +%F), $(rustc --version | cut -d' ' -f1,2), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-)"
exec "${CARGO_TARGET_DIR:-target}/release/lab-lanes" "$@"
