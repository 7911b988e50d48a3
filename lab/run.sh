#!/usr/bin/env bash
# run.sh [CASE…]: measures the tool beside its peers, and writes lab/results, the tables of lab/README.md and the chart of README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh rust cc openssl python cargo:b3sum
export PATH="$PATH:$HOME/.cargo/bin"
cargo build --release --quiet --package mksum-cli
lab/python.sh lab/files/run.py --mksum "${CARGO_TARGET_DIR:-target}/release/mksum" "$@"
