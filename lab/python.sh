#!/usr/bin/env bash
# python.sh FILE ARGUMENT…: runs a program of the lab with the packages for plots.
set -euo pipefail
lab=$(cd "$(dirname "$0")" && pwd)
"$lab/../scripts/need.sh" python
venv=$lab/../target/lab-venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import altair, vl_convert' 2>/dev/null ||
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$lab/requirements.txt"
exec "$venv/bin/python" "$@"
