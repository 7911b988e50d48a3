#!/bin/sh
# Builds languages/haskell/bin/merkle, checks format and lint, and runs all tests of both packages.
#
# GHC, Cabal and all dependencies come from Debian; nothing comes from Hackage.
set -eu
cd "$(dirname "$0")"

../need.sh ghc:ghc cabal:cabal-install haddock:ghc hlint:hlint ormolu:ormolu doctest:doctest \
    valgrind:valgrind /usr/include/valgrind/memcheck.h:valgrind gcc:gcc /usr/include/stdlib.h:libc6-dev \
    /usr/share/doc/libghc-doctest-dev:libghc-doctest-dev /usr/share/doc/libghc-tasty-dev:libghc-tasty-dev \
    /usr/share/doc/libghc-tasty-hunit-dev:libghc-tasty-hunit-dev \
    /usr/share/doc/libghc-tasty-quickcheck-dev:libghc-tasty-quickcheck-dev \
    /usr/share/doc/libghc-cryptohash-sha256-dev:libghc-cryptohash-sha256-dev

# No configuration of the user, no package index, nothing outside this folder.
export CABAL_CONFIG=/dev/null CABAL_DIR="$PWD/dist-newstyle/cabal"
# The GHCi sessions and the files hold UTF-8.
export LANG=C.UTF-8

sources=$(find Simple.hs sha256 merkle constant-time -name '*.hs' -not -path '*/dist-newstyle/*')
# shellcheck disable=SC2086 # file names without spaces
ormolu --mode check $sources
# shellcheck disable=SC2086
hlint $sources

flags='--offline -v1 --enable-tests --ghc-options=-Werror'
WYCHEPROOF_HMAC=$PWD/../../vectors/wycheproof/hmac.tsv
export WYCHEPROOF_HMAC
# shellcheck disable=SC2086 # a list of flags
{
    cabal build all $flags
    mkdir -p bin
    cp "$(cabal list-bin merkle:exe:merkle $flags -v0)" bin/merkle
    cabal test all $flags
}
ghc -v0 -Wall -Wcompat -Wincomplete-uni-patterns -Werror -O2 -outputdir dist-newstyle/simple -o bin/simple Simple.hs

# No branch and no address depends on a key or a message: memcheck, for which they are undefined, reports none. It does report a
# program that has such a branch.
ghc -v0 -O -isha256/src -iconstant-time -outputdir dist-newstyle/constant-time \
    -o dist-newstyle/constant-time-run constant-time/Main.hs constant-time/secret.c
valgrind -q --error-exitcode=9 dist-newstyle/constant-time-run >dist-newstyle/secret.log 2>&1 ||
    { cat dist-newstyle/secret.log; echo "test.sh: a branch or an address depends on a secret" >&2; exit 1; }
status=0
valgrind -q --error-exitcode=9 dist-newstyle/constant-time-run branch >/dev/null 2>&1 || status=$?
[ $status -eq 9 ] || { echo "test.sh: memcheck does not see a branch on a secret: exit status $status" >&2; exit 1; }
echo "languages/haskell: built and tested"
