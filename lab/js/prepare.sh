#!/usr/bin/env bash
# prepare.sh [THING…]: installs what need.sh knows as THING (Chromium, which the tests run, if none is given) and the libraries,
# and builds the published package mksum.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
"$root/scripts/need.sh" rust node target:wasm32-unknown-unknown "${@:-chromium}"
(cd "$root/bindings/js" && npm ci --silent && npm run --silent build)
cd "$here"
npm ci --silent
