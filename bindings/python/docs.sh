#!/usr/bin/env bash
# docs.sh: builds the package, and the pages of its API from docstrings and types, below target/python/docs.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}
folder=$CARGO_TARGET_DIR/python
tools=$folder/venv/bin
rm -rf "$folder/docs-wheel"
"$tools/maturin" build --quiet --release --locked --interpreter "$tools/python" --out "$folder/docs-wheel"
"$tools/uv" pip install --quiet --python "$tools/python" --reinstall --no-deps "$folder"/docs-wheel/*.whl
"$tools/python" docs.py "$folder/docs"
echo "$folder/docs/index.html"
