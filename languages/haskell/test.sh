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

# What Hackage checks, and what it gives: the packed archives, their documentation, and a project of its own over them.
rm -rf dist-newstyle/packed
mkdir -p dist-newstyle/packed/user
for package in sha256 merkle; do
    (cd $package && cabal check && cabal sdist -v0 --output-directory=../dist-newstyle/packed)
    tar -C dist-newstyle/packed -xzf dist-newstyle/packed/$package-0.1.0.0.tar.gz
    for file in LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md; do
        [ -s dist-newstyle/packed/$package-0.1.0.0/$file ] || { echo "test.sh: the packed $package has no $file" >&2; exit 1; }
    done
done
cat >dist-newstyle/packed/user/user.cabal <<'END'
cabal-version: 2.4
name:          user
version:       0

executable user
  main-is:          Main.hs
  default-language: Haskell2010
  build-depends:    base, bytestring, merkle ^>=0.1, sha256 ^>=0.1
END
cat >dist-newstyle/packed/user/Main.hs <<'END'
module Main (main) where

import Crypto.SHA256 (hex)
import qualified Data.ByteString.Char8 as C
import Data.Maybe (fromJust)
import Merkle

main :: IO ()
main = putStrLn (hex (rootOf (fromJust (shape Rfc6962 4)) (C.pack "abcdefghijklmnopqr")))
END
printf 'packages: */*.cabal\nactive-repositories: :none\n' >dist-newstyle/packed/cabal.project
(
    cd dist-newstyle/packed
    cabal build --offline -v1 user
    [ "$("$(cabal list-bin --offline -v0 user)")" = 1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90 ]
    cabal haddock --offline -v1 sha256 merkle >haddock.log 2>&1 || { cat haddock.log; exit 1; }
    ! grep -E '^ *[0-9]+% .* in ' haddock.log | grep -v '^ *100%' || { echo "test.sh: the lines above say what has no documentation" >&2; exit 1; }
)

./newest.sh
echo "languages/haskell: built and tested"
