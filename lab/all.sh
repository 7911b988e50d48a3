#!/usr/bin/env bash
# all.sh [SUITE…]: measures every suite on this machine, or those named, one after the other, and writes lab/results and the pages.
# A suite that is measured at this commit is not measured again: `rm -r target/lab-all` forgets. What a suite prints is kept beside.
# Before each, the load of the machine must be at most half a processor each for ten minutes at most; BUSY=1 measures anyway.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
target=${CARGO_TARGET_DIR:-$PWD/target}
mksum=$target/release/mksum

# package FOLDER: installs the Python package in an environment below target/.
package() {
    local wheel
    wheel=$(bindings/python/wheel.sh) && "$target/python/venv/bin/uv" pip install --quiet --python "$target/$1/bin/python" --reinstall --no-deps "$wheel"
}

files() { lab/run.sh; }
many() { lab/many/run.sh; }
directories() { lab/directories/run.sh; }
kept() { lab/python.sh lab/kept/run.py --mksum "$mksum"; }
repair() { scripts/need.sh moto nginx && "$target/moto/bin/python" lab/kept/repair.py "$mksum" --write; }
merklize() { scripts/need.sh pocl && lab/python.sh lab/gpu/run.py --write; }
pairs() { lab/pairs/run.sh --write; }
log() { scripts/need.sh log-peer && lab/log/run.py "$mksum"; }
get() { scripts/need.sh nginx torrents && lab/get/run.py "$mksum"; }
reads() {
    scripts/need.sh python-package nginx bindfs && package python/venv && PATH="$PATH:/usr/sbin" "$target/python/venv/bin/python" lab/reads/run.py "$mksum"
}
formats() { lab/formats/run.py "$mksum" --write; }
python() { scripts/need.sh python-package && package python/venv && "$target/python/venv/bin/python" lab/python/run.py "$mksum" --write; }
cluster() {
    scripts/need.sh python-package versitygw cluster && package cluster && "$target/cluster/bin/pip" install --quiet obstore &&
        "$target/cluster/bin/python" lab/cluster/run.py "$mksum" --versitygw "$target/stores/versitygw"
}
lanes() { lab/lanes/run.sh; }
languages() { make -C languages table; }
site() { lab/js/site/run.sh; }
js() { lab/js/run.sh; }

suites=(files many directories kept repair merklize pairs log get reads formats python cluster lanes languages site js)
[ $# = 0 ] || suites=("$@")
done=$target/lab-all/$(git rev-parse --short HEAD)
mkdir -p "$done"
scripts/need.sh rust cc python || exit 1
cargo build --release --quiet --package mksum-cli || exit 1

# quiet: waits until the processors have nothing else to do.
quiet() {
    local limit=$((SECONDS + 600))
    until awk -v most="$(nproc)" '{ exit $1 > most / 2 }' /proc/loadavg; do
        [ "${BUSY:-}" != 1 ] || return 0
        [ $SECONDS -lt $limit ] || { echo "all.sh: the load is $(cut -d' ' -f1 /proc/loadavg): stop what runs, or BUSY=1" >&2; return 1; }
        sleep 5
    done
}

failed=()
for suite in "${suites[@]}"; do
    [ "$(type -t "$suite")" = function ] || { echo "all.sh: no suite $suite" >&2; exit 2; }
    [ ! -e "$done/$suite" ] || { echo "=== $suite: measured before, $done/$suite"; continue; }
    quiet || exit 1
    echo "=== $suite begins, $(date +%T)"
    if "$suite" 2>&1 | tee "$done/$suite.part"; then
        mv "$done/$suite.part" "$done/$suite"
    else
        failed+=("$suite")
    fi
done
[ ${#failed[@]} = 0 ] || { echo "all.sh: failed: ${failed[*]}" >&2; exit 1; }
