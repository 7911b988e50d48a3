#!/usr/bin/env bash
# run.sh [ARGUMENT…]: installs all engines and libraries, runs the study, and draws its figures and tables. Passes arguments to run.mjs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../scripts/need.sh" firefox
"$here/prepare.sh"
cd "$here/engines"
# The engines have 400 MB: install them only if their versions changed.
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent
node "$here/run.mjs" "$@"
# Figures of a quick run are drawn below target/, so that they replace no committed ones.
case " $* " in
    *" --quick "*) "$here/../python.sh" "$here/figures.py" --quick ;;
    *) "$here/../python.sh" "$here/figures.py" ;;
esac
