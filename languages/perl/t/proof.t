# Proofs: the true ones hold, and whatever is changed in one makes it fail.
use 5.010;
use strict;
use warnings;

use Test::More;

use Digest::Merkle;
use Digest::Merkle::Proof;

my $long = pack 'C*', map { $_ * 7 % 251 } 0 .. 9_999;

for my $format (qw(plain rfc6962)) {
    for my $count ( 1 .. 20, 31 .. 33, 64, 100 ) {
        my %shape = ( format => $format, segment => 10 );
        my $bytes = substr $long, 0, 10 * $count - 3;
        my @leaf  = unpack '(a10)*', $bytes;
        my $root  = Digest::Merkle->new(%shape)->add($bytes)->root;
        my $wrong = 0;
        for my $index ( 0 .. $count - 1 ) {
            my $proof = Digest::Merkle::Proof->new( index => $index, %shape );
            $proof->add( unpack '(a' . ( 1 + $index % 37 ) . ')*', $bytes );
            my %claim =
                ( root => $root, index => $index, leaves => $count, bytes => $leaf[$index], path => $proof->path, %shape );
            my $holds = sub { return Digest::Merkle::Proof->verify( %claim, @_ ) };
            $wrong++ if !$holds->();
            $wrong++ if $holds->( bytes => "$leaf[$index]x" );
            $wrong++ if $holds->( bytes => $leaf[$index] ^ "\1" );
            $wrong++ if $holds->( bytes => q{} );
            $wrong++ if $holds->( bytes => substr $leaf[$index], 1 );
            $wrong++ if $holds->( bytes => substr $leaf[$index], 0, -1 );
            $wrong++ if $holds->( root  => $root . "\0" );
            $wrong++ if $holds->( root  => substr $root, 1 );
            $wrong++ if $holds->( index => $count );
            $wrong++ if $holds->( root  => $root ^ "\1" );
            $wrong++ if $holds->( path  => [ @{ $claim{path} }, $root ] );
            $wrong++ if $count > 1 && $holds->( path => [ @{ $claim{path} }[ 1 .. $#{ $claim{path} } ] ] );
            $wrong++ if grep { $_ != $index && $leaf[$_] ne $leaf[$index] && $holds->( index => $_ ) } 0 .. $count - 1;
            $wrong++ if @{ $claim{path} } > 7;
        }
        is $wrong, 0, "$format, $count leaves: a proof of each";
    }
}

# Sizes, where the digests fit all the same: a leaf of another size that has the digest of the root, a digest cut in two.
for my $format (qw(plain rfc6962)) {
    my %shape  = ( format => $format, segment => 10 );
    my $single = sub {
        my ($bytes) = @_;
        my $root = Digest::Merkle->new( format => $format, segment => 1000 )->add($bytes)->root;
        return Digest::Merkle::Proof->verify( root => $root, index => 0, leaves => 1, bytes => $bytes, path => [], %shape );
    };
    is $single->( 'x' x 10 ), 1, "$format: a whole leaf";
    is $single->('x'),        1, "$format: a short last leaf";
    is $single->( 'x' x 11 ), 0, "$format: a leaf that is longer than a segment";
    is $single->(q{}),        0, "$format: no leaf";

    # A first leaf that is short, in a tree that was made with it.
    my $tree  = Digest::Merkle->new(%shape);
    my $right = Digest::Merkle->new(%shape)->add('0123456789')->root;
    my $left  = Digest::Merkle->new(%shape)->add('short')->root;
    my %claim = ( root => $tree->node( $left, $right ), index => 0, leaves => 2, bytes => 'short', path => [$right], %shape );
    is( Digest::Merkle::Proof->verify(%claim), 0, "$format: a short leaf that is not the last" );
    my @halves = unpack '(a16)*', $right;
    is( Digest::Merkle::Proof->verify( %claim, bytes => '0123456789', path => [@halves] ), 0, "$format: halves of a digest" );
}

# A proof can be had at any moment, and grows with the tree.
my ( $proof, $so_far, $wrong ) = ( Digest::Merkle::Proof->new( index => 5, segment => 8 ), q{}, 0 );
for my $piece ( unpack '(a5)*', substr $long, 0, 600 ) {
    $proof->add($piece);
    $so_far .= $piece;
    if ( length $so_far <= 40 ) { $wrong++ if $proof->path; next }
    $wrong++
        if !Digest::Merkle::Proof->verify(
        root    => Digest::Merkle->new( segment => 8 )->add($so_far)->root,
        index   => 5,
        leaves  => int( ( length($so_far) + 7 ) / 8 ),
        bytes   => substr( $so_far, 40, 8 ),
        path    => $proof->path,
        segment => 8,
        );
}
is $wrong, 0, 'at any moment';

# Long leaves.
my %shape = ( segment => 70_000, hash => 'sha1' );
my $bytes = $long x 30;
my $path  = Digest::Merkle::Proof->new( index => 1, %shape )->add($bytes)->path;
my $root  = Digest::Merkle->new(%shape)->add($bytes)->root;
ok(
    Digest::Merkle::Proof->verify(
        root   => $root,
        index  => 1,
        leaves => 5,
        bytes  => substr( $bytes, 70_000, 70_000 ),
        path   => $path,
        %shape
    ),
    'segments of 70,000 bytes, SHA-1'
);

# Why plain needs a trusted length: two digests shown as a leaf.
for my $format (qw(plain rfc6962)) {
    my $tree   = Digest::Merkle->new( segment => 64, format => $format )->add( substr $long, 0, 128 );
    my @leaf   = map { Digest::Merkle->new( segment => 64, format => $format )->add( substr $long, 64 * $_, 64 )->root } 0, 1;
    my $forged = Digest::Merkle::Proof->verify(
        root   => $tree->root,
        index  => 0,
        leaves => 1,
        bytes  => "$leaf[0]$leaf[1]",
        path   => [],
        format => $format,
    );
    is $forged, $format eq 'plain' ? 1 : 0, "$format: a node shown as a leaf";
}

done_testing;
