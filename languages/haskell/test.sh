#!/bin/sh
# Builds languages/haskell/bin/merkle, checks format and lint, and runs all tests of both packages.
#
# GHC, Cabal and all dependencies come from Debian; nothing comes from Hackage.
set -eu
cd "$(dirname "$0")"

missing=
for tool in ghc cabal hlint ormolu doctest; do command -v "$tool" >/dev/null || missing=yes; done
for package in SHA criterion cryptonite doctest tasty tasty-hunit tasty-quickcheck; do
    ghc-pkg describe "$package" >/dev/null 2>&1 || missing=yes
done
if [ -n "$missing" ]; then
    echo "test.sh: installing GHC, Cabal and the libraries of the tests" >&2
    [ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
        ghc cabal-install hlint ormolu doctest libghc-doctest-dev \
        libghc-tasty-dev libghc-tasty-hunit-dev libghc-tasty-quickcheck-dev \
        libghc-criterion-dev libghc-sha-dev libghc-cryptonite-dev
fi

# No configuration of the user, no package index, nothing outside this folder.
export CABAL_CONFIG=/dev/null CABAL_DIR="$PWD/dist-newstyle/cabal"
# The GHCi sessions and the files hold UTF-8.
export LANG=C.UTF-8

sources=$(find sha256 merkle -name '*.hs' -not -path '*/dist-newstyle/*')
# shellcheck disable=SC2086 # file names without spaces
ormolu --mode check $sources
# shellcheck disable=SC2086
hlint $sources

cabal build --offline -v1 all --enable-tests --enable-benchmarks --ghc-options=-Werror
mkdir -p bin
cp "$(cabal list-bin --offline -v0 merkle:exe:merkle --enable-tests --enable-benchmarks --ghc-options=-Werror)" bin/merkle
cabal test --offline -v1 all --enable-tests --enable-benchmarks --ghc-options=-Werror --test-show-details=streaming

# The words for LLVM, which are right with any code generator.
(
    cd sha256
    ghc -v0 -O -illvm -isrc -itest -outputdir ../dist-newstyle/llvm-words -o ../dist-newstyle/llvm-words-vectors test/Main.hs
    ../dist-newstyle/llvm-words-vectors
)
echo "languages/haskell: built and tested"
