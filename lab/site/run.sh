#!/bin/sh
# Times the page beside pages with other libraries: a file with SHA-256 and BLAKE3, on two workers each, in Chromium.
# usage: lab/site/run.sh [BYTES] [ROUNDS]; the package in bindings/js must be built.
set -eu
cd "$(dirname "$0")"
npm ci --silent
exec node run.js "$@"
