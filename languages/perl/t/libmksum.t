# The roots of libmksum are those of Perl. Without the library, and with one that is none, what happens is said here too.
use 5.010;
use strict;
use warnings;

use Test::More;

use Digest::Merkle;

# The root of some bytes, in a process of its own that has or has not the library.
sub root_with {
    my ( $library, $segment, $format, $length, $piece ) = @_;
    local $ENV{DIGEST_MERKLE_LIBMKSUM} = $library;
    delete $ENV{DIGEST_MERKLE_LIBMKSUM} if $library eq q{};
    my @command = ( $^X, ( map { "-I$_" } @INC ), '-MDigest::Merkle', '-e', <<'END', $segment, $format, $length, $piece );
my ($segment, $format, $length, $piece) = @ARGV;
my $tree = Digest::Merkle->new(segment => $segment, format => $format);
my $bytes = substr pack('C*', map { $_ % 251 } 0 .. 65_534) x (1 + $length / 65_535), 0, $length;
$tree->add($_) for unpack "(a$piece)*", $bytes;
print $tree->backend, ' ', $tree->hexroot, ' ', $tree->leaves;
END
    open my $out, '-|', @command or die "$!\n";
    my $printed = do { local $/; <$out> };
    close $out;
    return $printed;
}

my ($backend) = split / /, root_with( $ENV{DIGEST_MERKLE_LIBMKSUM} // q{}, 64, 'plain', 1, 1 );
diag "backend: $backend";
for my $case (
    [ 64,      'plain',   5_000_000, 5_000_000 ],
    [ 64,      'rfc6962', 3_000_001, 77_777 ],
    [ 1,       'plain',   1_100_000, 1_100_000 ],
    [ 1000,    'rfc6962', 4_000_000, 999_999 ],
    [ 65_537,  'plain',   4_000_000, 4_000_000 ],
    [ 1 << 20, 'plain',   5_000_000, 100_000 ],
    [ 3 << 20, 'rfc6962', 9_437_185, 2_000_000 ],
    )
{
    my $with    = root_with( $ENV{DIGEST_MERKLE_LIBMKSUM} // q{}, @{$case} );
    my $without = root_with( 'none',                              @{$case} );
    like $without, qr/\Aperl [0-9a-f]{64} \d+\z/, "Perl: @{$case}";
    is $with, $without =~ s/^perl/$backend/r, "$backend gives the same root: @{$case}";
}

SKIP: {
    skip 'FFI::Platypus is not installed', 1 if !eval { require FFI::Platypus; require FFI::CheckLib; 1 };
    local $SIG{__WARN__}               = sub { };
    local $ENV{DIGEST_MERKLE_LIBMKSUM} = $0;
    my $said = qx{$^X @{[map { "-I$_" } @INC]} -MDigest::Merkle -e 'Digest::Merkle->new' 2>&1};
    like $said, qr/is no libmksum/, 'a file that is no libmksum is refused';
}

done_testing;
