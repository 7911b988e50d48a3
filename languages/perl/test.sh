#!/bin/sh
# Builds languages/perl/bin/merkle, checks format and style, and runs all tests.
set -eu
cd "$(dirname "$0")"

missing=
for tool in perl make perlcritic perltidy; do command -v "$tool" >/dev/null || missing=yes; done
if [ -n "$missing" ]; then
    echo "test.sh: installing perl, perlcritic, perltidy" >&2
    [ "$(id -u)" -eq 0 ] && sudo= || sudo=sudo
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends \
        perl make libperl-critic-perl perltidy
fi

perl Makefile.PL
make
mkdir -p bin
cat > bin/merkle <<'END'
#!/bin/sh
folder=$(dirname "$(dirname "$(readlink -f "$0")")")
exec perl -I"$folder/blib/lib" "$folder/blib/script/merkle" "$@"
END
chmod +x bin/merkle

sources="lib/Digest/Merkle.pm lib/Digest/Merkle/Proof.pm script/merkle"
for file in $sources t/*.t Makefile.PL; do
    perltidy --profile=.perltidyrc --standard-output "$file" | diff "$file" - ||
        { echo "test.sh: $file: not as perltidy formats it" >&2; exit 1; }
done
# shellcheck disable=SC2086 # file names without spaces
perlcritic --profile .perlcriticrc $sources
perl -MExtUtils::Manifest=manicheck -e 'exit(manicheck() > 0)'
make test
echo "languages/perl: built and tested"
