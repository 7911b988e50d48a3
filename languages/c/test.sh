#!/bin/sh
# Installs what is missing, builds bin/merkle, and tests everything of this folder.
set -eu
cd "$(dirname "$0")"

../need.sh gcc:gcc g++:g++ make:make cmake:cmake pkg-config:pkg-config clang:clang clang-format:clang-format clang-tidy:clang-tidy \
    /usr/include/cmocka.h:libcmocka-dev /usr/include/openssl/sha.h:libssl-dev /usr/include/stdlib.h:libc6-dev
# libFuzzer and the sanitizers come in a package of their own, named after clang's version.
../need.sh "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(uname -m).a:libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev"

make check
echo "languages/c: built and tested"
