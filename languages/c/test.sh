#!/bin/sh
# Installs what is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"
[ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo

missing=
for tool in cc:gcc g++:g++ make:make pkg-config:pkg-config clang:clang clang-format:clang-format clang-tidy:clang-tidy; do
    command -v "${tool%:*}" >/dev/null || missing="$missing ${tool#*:}"
done
[ -e /usr/include/cmocka.h ] || missing="$missing libcmocka-dev libc6-dev"
if [ -n "$missing" ]; then
    echo "test.sh: installing$missing" >&2
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi
# libFuzzer and the sanitizers come in a package of their own, named after clang's version.
runtime=libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev
dpkg -s "$runtime" >/dev/null 2>&1 || $sudo apt-get install -y -qq --no-install-recommends "$runtime"

make check
echo "languages/c: built and tested"
