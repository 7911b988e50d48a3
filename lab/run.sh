#!/usr/bin/env bash
# run.sh [CASE…]: measures the tool beside its peers and writes lab/results and the chart of README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh rust cc openssl python cargo:b3sum
export PATH="$PATH:$HOME/.cargo/bin"
cargo build --release --quiet --package mksum-cli
venv=target/lab-venv
[ -x $venv/bin/python ] || python3 -m venv $venv
# The plots; pinned, so that a figure looks the same next year.
$venv/bin/pip install --quiet --disable-pip-version-check matplotlib==3.10.8
$venv/bin/python lab/files/run.py --mksum "${CARGO_TARGET_DIR:-target}/release/mksum" "$@"
