#!/bin/sh
# The dry run of PAUSE: MANIFEST, META, and the packed distribution, which is tested and installed. Publishes nothing.
set -eu
cd "$(dirname "$0")"
../need.sh perl:perl make:make /usr/share/perl5/Test/CPAN/Meta.pm:libtest-cpan-meta-perl \
    /usr/share/perl5/FFI/CheckLib.pm:libffi-checklib-perl /usr/share/doc/libffi-platypus-perl:libffi-platypus-perl
mkdir -p bin
perl Makefile.PL >/dev/null

perl -MExtUtils::Manifest=fullcheck -e 'my ($missing, $extra) = fullcheck(); exit(@$missing + @$extra > 0)' 2>bin/manifest.log ||
    { cat bin/manifest.log; exit 1; }

# What PAUSE and the CPAN clients do: the distribution is packed, unpacked, built, tested and installed; its META is valid.
DIGEST_MERKLE_LIBMKSUM=none make disttest >bin/disttest.log 2>&1 || { cat bin/disttest.log; exit 1; }
make dist >/dev/null
version=$(perl -Ilib -MDigest::Merkle -e 'print Digest::Merkle->VERSION')
rm -rf bin/packed && mkdir -p bin/packed
tar -C bin/packed -xzf "Digest-Merkle-$version.tar.gz"
rm "Digest-Merkle-$version.tar.gz"
(
    cd "bin/packed/Digest-Merkle-$version"
    if perl -MTest::CPAN::Meta -e 'meta_yaml_ok()' | grep '^not ok'; then exit 1; fi
    perl -MCPAN::Meta -e '
        my $meta = CPAN::Meta->load_file("META.json");
        my $licenses = join " ", $meta->license;
        $licenses eq "mit apache_2_0" or die "licenses: $licenses\n";
        $meta->resources->{$_} or die "no $_\n" for qw(repository bugtracker homepage license);'
    perl Makefile.PL INSTALL_BASE="$PWD/../installed" >/dev/null && make install >/dev/null
)
[ "$(printf abcdefghijklmnopqr | PERL5LIB=bin/packed/installed/lib/perl5 bin/packed/installed/bin/merkle --format rfc6962 --segment 4)" = \
    1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90 ]
echo "languages/perl: ready to publish"
