#!/usr/bin/perl
# Prints the Merkle root of a file: eg/simple.pl SEGMENT FILE
#
# The whole idea of this distribution in one file, with Digest::SHA. A leaf is the hash of one segment, a node the hash of its two
# children's digests, and neither has a prefix (the format plain).
use 5.010;
use strict;
use warnings;

use Digest::SHA qw(sha256);
use English     qw(-no_match_vars);

my ( $segment, $name ) = @ARGV;
die "usage: simple.pl SEGMENT FILE\n" if @ARGV != 2 || $segment !~ /\A[1-9][0-9]*\z/smx || $segment > 2**40;
open my $file, '<:raw', $name or die "$name: $OS_ERROR\n";

# The roots of perfect subtrees by height, undef where there is none: the binary digits of the number of leaves.
my @subtrees;

# To the end, one segment at a time. Only the last one may be shorter. A failed read ends the loop, and `close` reports it.
local $RS = \$segment;
while ( defined( my $leaf = <$file> ) ) {
    push_leaf( sha256($leaf) );
}
close $file or die "$name: $OS_ERROR\n";
print unpack( 'H*', root() ), "\n" or die "standard output: $OS_ERROR\n";

# Appends a leaf as one is added to a binary number: each carry joins two subtrees of equal height.
sub push_leaf {
    my ($digest) = @_;
    my $height = 0;
    while ( defined $subtrees[$height] ) {
        $digest = sha256( $subtrees[$height] . $digest );
        $subtrees[ $height++ ] = undef;
    }
    $subtrees[$height] = $digest;
    return;
}

# Joins the subtrees along the right edge, the smallest first. A tree without leaves has the hash of no bytes.
sub root {
    my ( $root, @larger ) = grep { defined } @subtrees;
    return sha256(q{}) if !defined $root;
    $root = sha256( $_ . $root ) for @larger;
    return $root;
}
