#!/bin/sh
# Builds languages/d/bin/merkle and runs all tests, with warnings and deprecations as errors.
set -eu
cd "$(dirname "$0")"

../need.sh ldc2:ldc dub:dub

# Debian has neither dfmt nor D-Scanner. What can be checked without them: no tabs, no blanks at the end of a line, no long lines.
if grep -nE "$(printf '\t')|[[:blank:]]\$|^.{131}" simple.d source/merkle/*.d app/*.d; then
    echo "test.sh: the lines above have a tab, a blank at their end, or more than 130 columns" >&2
    exit 1
fi

# No package index, nothing outside this folder.
export DUB_HOME="$PWD/.dub/home"
dub() { command dub "$@" --skip-registry=all --compiler=ldc2; }
dub build --build=release --config=application
ldc2 -w -de -O3 -release -of=bin/simple -od=bin/simple.o simple.d
# Once as it is written and once optimized: the optimizer must not change an answer.
dub test
dub test --build=unittest-optimized
echo "languages/d: built and tested"
