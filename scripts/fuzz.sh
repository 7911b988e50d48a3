#!/usr/bin/env bash
# fuzz.sh FOLDER SECONDS NAME: runs the fuzz target NAME, built in FOLDER, and prints its log only if it found something.
set -euo pipefail
log=$1/$3.log
if ! cargo +nightly fuzz run --dev --sanitizer none --target-dir "$1" "$3" -- -max_total_time="$2" -max_len=8192 -verbosity=0 >"$log" 2>&1; then
    cat "$log"
    exit 1
fi
echo "$3: no findings in $2 s"
