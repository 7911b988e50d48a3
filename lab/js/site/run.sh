#!/usr/bin/env bash
# run.sh [--bytes N] [--rounds N]: times the page beside pages with other libraries: a file with SHA-256 and BLAKE3, on two workers
# each, in Chromium.
set -euo pipefail
cd "$(dirname "$0")/../../.."
scripts/need.sh chromium python npm:lab/js
# The package that the page uses.
scripts/site.sh >/dev/null
exec python3 lab/js/site/run.py "$@"
