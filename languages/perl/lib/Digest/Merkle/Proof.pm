package Digest::Merkle::Proof;

use 5.010;
use strict;
use warnings;

use Carp           ();
use Digest::Merkle ();

our $VERSION = '0.01';

# Cut the leaves at leaf i. To the left of it there is one sibling on the path for each bit that is set in i: just the
# perfect subtrees over the first i leaves. To the right there is one for each bit k that is not set, over 2^k leaves, one
# after another; the stream may end within one, which then is over all of its leaves.
sub new {
    my ( $class, %option ) = @_;
    my $index = delete $option{index} // Carp::croak('The index of the leaf is missing');
    Carp::croak("Not the index of a leaf: $index") if $index !~ /\A[0-9]{1,15}\z/smx;
    my $self = bless {
        index      => 0 + $index,
        before     => Digest::Merkle->new(%option),    # the leaves before leaf i
        passed     => 0,                               # the bytes of leaf i so far
        neighbours => [],                              # [level, digest] of the complete neighbours to the right
        level      => _right_level( $index, 0 ),       # of the neighbour that is read now
        neighbour  => Digest::Merkle->new(%option),    # and its leaves so far
    }, $class;
    return $self;
}

# The lowest level from the given one on at which the neighbour of leaf i is to the right.
sub _right_level {
    my ( $index, $level ) = @_;
    $level++ while $level < 63 && $index >> $level & 1;
    return $level;
}

sub add {
    my ( $self,   @pieces )    = @_;
    my ( $before, $neighbour ) = @{$self}{qw(before neighbour)};
    my $segment = $before->segment;
    for my $piece (@pieces) {
        my $at = 0;
        while ( $at < length $piece ) {
            if ( my $missing = $self->{index} * $segment - $before->length ) {
                $at += _feed( $before, $piece, $at, $missing );
            }
            elsif ( $self->{passed} < $segment ) {
                my $now = substr $piece, $at, $segment - $self->{passed};
                $self->{passed} += length $now;
                $at += length $now;
            }
            elsif ( my $wanted = ( $segment << $self->{level} ) - $neighbour->length ) {
                $at += _feed( $neighbour, $piece, $at, $wanted );
            }
            else {
                push @{ $self->{neighbours} }, [ $self->{level}, $neighbour->digest ];
                $self->{level} = _right_level( $self->{index}, $self->{level} + 1 );
            }
        }
    }
    return $self;
}

# Adds so many bytes of a piece to a tree, or all there are; returns how many.
sub _feed {
    my ( $tree, $piece, $at, $count ) = @_;
    my $now = substr $piece, $at, $count;
    $tree->add($now);
    return length $now;
}

sub path {
    my ($self) = @_;
    return if !$self->{passed};
    my @path  = @{ $self->{neighbours} };
    my @left  = reverse $self->{before}->subtrees;
    my @level = grep { $self->{index} >> $_ & 1 } 0 .. 62;
    push @path, map { [ $level[$_], $left[$_] ] } 0 .. $#left;
    push @path, [ $self->{level}, $self->{neighbour}->root ] if $self->{neighbour}->length;
    return [ map { $_->[1] } sort { $a->[0] <=> $b->[0] } @path ];
}

sub verify {
    my ( $class, %claim ) = @_;
    my ( $root, $index, $leaves, $bytes, $path ) = delete @claim{qw(root index leaves bytes path)};
    my $leaf = Digest::Merkle->new(%claim);
    my $size = $leaf->digest_size;
    return 0 if $index >= $leaves || grep { length != $size } $root, @{$path};
    return 0 if length $bytes > $leaf->segment || $bytes eq q{};
    return 0 if length $bytes < $leaf->segment && $index + 1 < $leaves;

    # The place on a level, the last place on that level, and the digest there (RFC 9162, section 2.1.3.2).
    my ( $place, $end, $digest ) = ( $index, $leaves - 1, $leaf->add($bytes)->root );
    my @neighbours = @{$path};
    for ( ; $end > 0 ; $place >>= 1, $end >>= 1 ) {
        next     if $place == $end && $place % 2 == 0;
        return 0 if !@neighbours;
        my $neighbour = shift @neighbours;
        $digest = $leaf->node( $place % 2 ? ( $neighbour, $digest ) : ( $digest, $neighbour ) );
    }
    return !@neighbours && $digest eq $root ? 1 : 0;
}

1;

__END__

=encoding utf8

=head1 NAME

Digest::Merkle::Proof - inclusion proofs for Digest::Merkle

=head1 SYNOPSIS

    use Digest::Merkle::Proof;

    my $proof = Digest::Merkle::Proof->new( index => 2, format => 'rfc6962', segment => 4 );
    $proof->add('abcdefghijklmnopqr');
    my $path = $proof->path;

    Digest::Merkle::Proof->verify(
        root    => $root,
        index   => 2,
        leaves  => 5,
        bytes   => 'ijkl',
        path    => $path,
        format  => 'rfc6962',
        segment => 4,
    ) or die "not leaf 2 of that stream\n";

=head1 DESCRIPTION

That some bytes are leaf number I<i> of a stream with a known root is shown by the digests beside the way from the leaf
up to the root: the path, one digest a level at most, the lowest first.

=head1 METHODS

=head2 new

Takes the C<index> of the leaf, counted from 0, and the options of L<Digest::Merkle/new>.

=head2 add

Adds the bytes of the stream, in pieces of any length. The memory is a few digests a level.

=head2 path

The path in the tree over the bytes so far, a reference to a list of binary digests; undef, if they do not reach the
leaf. The object does not change and takes further bytes: a later path is one in the longer tree.

=head2 verify

A class method: 1 if the bytes are the leaf with this index, in the tree of so many leaves with this binary root, else 0.
The bytes must be a whole segment, or, if they are the last leaf, no more than one and not empty.

=head1 SECURITY

In C<plain>, a proof is sound only if the number of leaves is known from a trusted source, not from whoever sends the
proof: there, the bytes of two digests are a leaf of a shorter stream with the same root. In C<rfc6962> a wrong number
of leaves can show a leaf in a wrong place, but never bytes that are no leaf.

=head1 LICENSE

MIT or Apache-2.0.

=cut
