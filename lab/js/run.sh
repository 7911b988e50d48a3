#!/usr/bin/env bash
# run.sh [ARGUMENT…]: installs all engines and libraries, runs the study, draws it and fills its page. Arguments go to run.mjs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../scripts/need.sh" firefox
"$here/prepare.sh"
cd "$here/engines"
# 400 MB of engines: not again while they are the same.
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent
node "$here/run.mjs" "$@"
"$here/../python.sh" "$here/figures.py"
