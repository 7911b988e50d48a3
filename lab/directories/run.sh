#!/usr/bin/env bash
# run.sh [CASE…]: measures catalogues of directories beside other tools, and writes lab/results.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/need.sh rust cc python rhash hashdeep
export PATH="$PATH:$HOME/.cargo/bin"
cargo build --release --quiet --package mksum-cli
lab/python.sh lab/directories/run.py --mksum "${CARGO_TARGET_DIR:-target}/release/mksum" "$@"
