#!/usr/bin/env bash
# prepare.sh: installs the study's libraries and builds the published package mksum.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
"$root/scripts/need.sh" rust node chromium target:wasm32-unknown-unknown
(cd "$root/bindings/js" && npm ci --silent && npm run --silent build)
cd "$here"
npm ci --silent
