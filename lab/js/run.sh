#!/usr/bin/env bash
# run.sh [ARGUMENT…]: installs the chosen engines (all by default) and the libraries, runs the study, and draws its figures and tables.
# Passes arguments to run.mjs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../scripts/need.sh" node
needs=$(node "$here/needs.mjs" "$@")
read -ra needs <<<"$needs"
"$here/prepare.sh" "${needs[@]}"
node "$here/run.mjs" "$@"
# Figures of a quick run are drawn below target/, so that they replace no committed ones.
case " $* " in
    *" --quick "*) "$here/../python.sh" "$here/figures.py" --quick ;;
    *) "$here/../python.sh" "$here/figures.py" ;;
esac
