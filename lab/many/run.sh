#!/usr/bin/env bash
# run.sh [CASE…]: measures plain sums of many files beside other tools, and writes lab/results and the tables of lab/README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/need.sh rust cc openssl python rhash hashdeep cargo:b3sum
export PATH="$PATH:$HOME/.cargo/bin"
cargo build --release --quiet --package mksum-cli
lab/python.sh lab/many/run.py --mksum "${CARGO_TARGET_DIR:-target}/release/mksum" "$@"
