#!/bin/sh
# The dry run of Hackage: `cabal check`, the packed archives, their documentation, and a project over them. Publishes nothing.
set -eu
cd "$(dirname "$0")"
../need.sh ghc:ghc cabal:cabal-install haddock:ghc gcc:gcc /usr/include/stdlib.h:libc6-dev \
    /usr/share/doc/libghc-cryptohash-sha256-dev:libghc-cryptohash-sha256-dev

# No configuration of the user, no package index, nothing outside this folder.
export CABAL_CONFIG=/dev/null CABAL_DIR="$PWD/dist-newstyle/cabal"
# The files hold UTF-8.
export LANG=C.UTF-8

# What Hackage checks, and what it gives: the packed archives, their documentation, and a project of its own over them.
rm -rf dist-newstyle/packed
mkdir -p dist-newstyle/packed/user
for package in sha256 merkle; do
    (cd $package && cabal check && cabal sdist -v0 --output-directory=../dist-newstyle/packed)
    tar -C dist-newstyle/packed -xzf dist-newstyle/packed/$package-0.1.0.0.tar.gz
    for file in LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md; do
        [ -s dist-newstyle/packed/$package-0.1.0.0/$file ] || { echo "publish.sh: the packed $package has no $file" >&2; exit 1; }
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
    ! grep -E '^ *[0-9]+% .* in ' haddock.log | grep -v '^ *100%' || { echo "publish.sh: the lines above say what has no documentation" >&2; exit 1; }
)

./newest.sh
echo "languages/haskell: ready to publish"
