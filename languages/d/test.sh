#!/bin/sh
# Builds languages/d/bin/merkle and runs all tests, with warnings and deprecations as errors.
set -eu
cd "$(dirname "$0")"

if ! command -v ldc2 >/dev/null || ! command -v dub >/dev/null; then
    echo "test.sh: installing ldc and dub" >&2
    [ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends ldc dub
fi

# Debian has neither dfmt nor D-Scanner. What can be checked without them: no tabs, no blanks at the end of a line, no long lines.
if grep -nE "$(printf '\t')|[[:blank:]]\$|^.{131}" source/merkle/*.d app/*.d; then
    echo "test.sh: the lines above have a tab, a blank at their end, or more than 130 columns" >&2
    exit 1
fi

# No package index, nothing outside this folder.
export DUB_HOME="$PWD/.dub/home"
dub build --skip-registry=all --compiler=ldc2 --build=release --config=application
# Once as it is written and once optimized: the optimizer must not change an answer.
dub test --skip-registry=all --compiler=ldc2
dub test --skip-registry=all --compiler=ldc2 --build=unittest-optimized
echo "languages/d: built and tested"
