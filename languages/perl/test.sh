#!/bin/sh
# Builds languages/perl/bin/merkle, checks format and style, runs all tests, and installs the packed distribution.
set -eu
cd "$(dirname "$0")"

../need.sh perl:perl make:make perlcritic:libperl-critic-perl perltidy:perltidy \
    /usr/share/perl5/Test/CPAN/Meta.pm:libtest-cpan-meta-perl /usr/share/perl5/FFI/CheckLib.pm:libffi-checklib-perl \
    /usr/share/doc/libffi-platypus-perl:libffi-platypus-perl

perl Makefile.PL
make
mkdir -p bin
cat > bin/merkle <<'END'
#!/bin/sh
folder=$(dirname "$(dirname "$(readlink -f "$0")")")
exec perl -I"$folder/blib/lib" "$folder/blib/script/merkle" "$@"
END
chmod +x bin/merkle

ln -sf ../eg/simple.pl bin/simple

sources="eg/simple.pl lib/Digest/Merkle.pm lib/Digest/Merkle/Libmksum.pm lib/Digest/Merkle/Proof.pm script/merkle"
for file in $sources t/*.t Makefile.PL; do
    perltidy --profile=.perltidyrc --standard-output "$file" | diff "$file" - ||
        { echo "test.sh: $file: not as perltidy formats it" >&2; exit 1; }
done
# shellcheck disable=SC2086 # file names without spaces
perlcritic --profile .perlcriticrc $sources
# (Without libmksum they are tested by disttest, in publish.sh.)

# libmksum, if the repository has the means to build it: the same tests, and the contract.
if command -v cargo >/dev/null || [ -x "$HOME/.cargo/bin/cargo" ]; then
    (cd ../.. && PATH="$PATH:$HOME/.cargo/bin" cargo build --release --quiet --package mksum-c)
    DIGEST_MERKLE_LIBMKSUM=$(cd ../.. && echo "${CARGO_TARGET_DIR:-$PWD/target}/release/libmksum.so")
    export DIGEST_MERKLE_LIBMKSUM
    [ "$(perl -Iblib/lib -MDigest::Merkle -e 'print Digest::Merkle->new->backend')" = libmksum ]
    make test
    ../contract.sh bin/merkle
    unset DIGEST_MERKLE_LIBMKSUM
else
    echo "test.sh: no cargo: the tests with libmksum are left out" >&2
fi
echo "languages/perl: built and tested"
