#!/bin/sh
# Builds languages/haskell/bin/merkle, checks format and lint, and runs all tests of both packages.
#
# GHC, Cabal and all dependencies come from Debian; nothing comes from Hackage.
set -eu
cd "$(dirname "$0")"

../need.sh ghc:ghc cabal:cabal-install haddock:ghc hlint:hlint ormolu:ormolu doctest:doctest \
    gcc:gcc /usr/include/stdlib.h:libc6-dev \
    /usr/share/doc/libghc-doctest-dev:libghc-doctest-dev /usr/share/doc/libghc-tasty-dev:libghc-tasty-dev \
    /usr/share/doc/libghc-tasty-hunit-dev:libghc-tasty-hunit-dev \
    /usr/share/doc/libghc-tasty-quickcheck-dev:libghc-tasty-quickcheck-dev \
    /usr/share/doc/libghc-cryptohash-sha256-dev:libghc-cryptohash-sha256-dev

# No configuration of the user, no package index, nothing outside this folder.
export CABAL_CONFIG=/dev/null CABAL_DIR="$PWD/dist-newstyle/cabal"
# The GHCi sessions and the files hold UTF-8.
export LANG=C.UTF-8

sources=$(find Simple.hs sha256 merkle -name '*.hs' -not -path '*/dist-newstyle/*')
# shellcheck disable=SC2086 # file names without spaces
ormolu --mode check $sources
# shellcheck disable=SC2086
hlint $sources

flags='--offline -v1 --enable-tests --ghc-options=-Werror'
# shellcheck disable=SC2086 # a list of flags
{
    cabal build all $flags
    mkdir -p bin
    cp "$(cabal list-bin merkle:exe:merkle $flags -v0)" bin/merkle
    cabal test all $flags
}
ghc -v0 -Wall -Wcompat -Wincomplete-uni-patterns -Werror -O2 -outputdir dist-newstyle/simple -o bin/simple Simple.hs
echo "languages/haskell: built and tested"
