# Roots against their definition, the worked examples, and pieces of any length.
use 5.010;
use strict;
use warnings;

use Digest::SHA qw(sha256 sha256_hex);
use Test::More;

use Digest::Merkle;

# RFC 6962, section 2.1: the tree over several leaves splits at the largest power of two below their number.
my %PREFIX = ( plain => [ q{}, q{} ], rfc6962 => [ "\x00", "\x01" ] );

sub definition {
    my ( $format, $segment, $bytes ) = @_;
    return sha256(q{}) if $bytes eq q{};
    return subtree( $format, unpack "(a$segment)*", $bytes );
}

sub subtree {
    my ( $format, @leaves ) = @_;
    return sha256( $PREFIX{$format}[0], @leaves ) if @leaves == 1;
    my $k = 1;
    $k *= 2 while 2 * $k < @leaves;
    my @left = splice @leaves, 0, $k;
    return sha256( $PREFIX{$format}[1], subtree( $format, @left ), subtree( $format, @leaves ) );
}

sub hexroot {
    my ( $bytes, %option ) = @_;
    return Digest::Merkle->new(%option)->add($bytes)->hexroot;
}

my $letters = 'abcdefghijklmnopqr';
my $long    = pack 'C*', map { $_ % 251 } 0 .. 299_999;

is hexroot( $letters, segment => 4 ), 'e30f1444ac52d1ee4c9101fc5e6f8af497f0075606d2513a3af0f44cf9c11318', 'spec/plain.md';
is hexroot( $letters, segment => 4, format => 'rfc6962' ),
    '1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90', 'spec/rfc6962.md';
is hexroot( "\0" x 4_194_336 ), 'e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120', '2^22 + 32 zeros';
for my $segment ( 1, 64, 2**23 ) {
    is hexroot( q{}, segment => $segment, format => $_ ), sha256_hex(q{}), "$_: no bytes" for qw(plain rfc6962);
}

for my $format (qw(plain rfc6962)) {
    for my $segment ( 1, 3, 63, 64, 65 ) {
        my @wrong = grep {
            my $bytes = substr $long, 0, $_;
            hexroot( $bytes, format => $format, segment => $segment ) ne unpack 'H*', definition( $format, $segment, $bytes )
        } 0 .. 40, map { ( $_ - 1, $_, $_ + 1 ) } map { $_ * $segment } 1 .. 34;
        is "@wrong", q{}, "$format, segments of $segment: every length";
    }
    for my $segment ( 1, 64, 1000, 4096, 32_768, 65_535, 65_536, 65_537, 100_000, 299_999, 300_000, 300_001 ) {
        my $bytes    = $segment > 1 ? $long : substr $long, 0, 70_001;
        my $expected = unpack 'H*', definition( $format, $segment, $bytes );
        for my $piece ( $segment > 60 ? 13 : 1, 63, 65_536, 299_999, 300_000 ) {
            my $tree = Digest::Merkle->new( format => $format, segment => $segment );
            $tree->add($_) for unpack "(a$piece)*", $bytes;
            is $tree->hexroot, $expected, "$format, segments of $segment: pieces of $piece";
        }
    }
}

# The root at any moment.
for my $segment ( 10, 70_000 ) {
    my $tree = Digest::Merkle->new( segment => $segment );
    my ( $so_far, $wrong ) = ( q{}, 0 );
    for my $piece ( unpack '(a7001)*', $long ) {
        $so_far .= $piece;
        $tree->add($piece);
        my @seen = map { $tree->root } 1 .. 2;
        $wrong++ if grep { $_ ne definition( 'plain', $segment, $so_far ) } @seen;
        $wrong++ if $tree->length != length $so_far || $tree->leaves != int( ( length($so_far) + $segment - 1 ) / $segment );
    }
    is $wrong, 0, "segments of $segment: root, length and leaves after each piece";
}

# Other hashes: one leaf is the plain checksum, two are the hash of two.
for my $hash (qw(md5 sha1 sha224 sha256 sha384 sha512 sha512-256)) {
    my $one = Digest::Merkle->new( hash => $hash, segment => 9 )->add('one leaf.');
    my $two = Digest::Merkle->new( hash => $hash, segment => 9 )->add('one leaf.one leaf.');
    is $two->root,        Digest::Merkle->new( hash => $hash, segment => 999 )->add( $one->root x 2 )->root, "$hash: a node";
    is length $one->root, $one->digest_size,                                                                 "$hash: digest_size";
}

for my $bad (
    [ segment  => 0 ],
    [ segment  => -1 ],
    [ segment  => q{} ],
    [ segment  => '1e3' ],
    [ segment  => 1.5 ],
    [ segment  => 2**40 + 1 ],
    [ format   => 'x' ],
    [ hash     => 'sha9' ],
    [ segments => 64 ],
    )
{
    ok !eval { Digest::Merkle->new( @{$bad} ) }, "refused: @{$bad}";
}

done_testing;
