package Digest::Merkle;

use 5.010;
use strict;
use warnings;
use parent 'Digest::base';

use Carp                     ();
use Digest::MD5              ();
use Digest::Merkle::Libmksum ();
use Digest::SHA              ();

our $VERSION = '0.01';

# A hash by its name: the function from strings to a digest, and a maker of objects that take a message in pieces.
my %HASH = (
    'md5'        => [ \&Digest::MD5::md5,       sub { return Digest::MD5->new } ],
    'sha1'       => [ \&Digest::SHA::sha1,      sub { return Digest::SHA->new(1) } ],
    'sha224'     => [ \&Digest::SHA::sha224,    sub { return Digest::SHA->new(224) } ],
    'sha256'     => [ \&Digest::SHA::sha256,    sub { return Digest::SHA->new(256) } ],
    'sha384'     => [ \&Digest::SHA::sha384,    sub { return Digest::SHA->new(384) } ],
    'sha512'     => [ \&Digest::SHA::sha512,    sub { return Digest::SHA->new(512) } ],
    'sha512-256' => [ \&Digest::SHA::sha512256, sub { return Digest::SHA->new(512_256) } ],
);

# The bytes before a leaf and before a pair of digests.
my %PREFIX = ( plain => [ q{}, q{} ], rfc6962 => [ "\x00", "\x01" ] );

# Leaves are hashed in batches of 2^height leaves and about this many bytes: Perl is fast where one operation works
# on a whole list, and libmksum where it has many messages. A longer segment is hashed as it comes, in an object of its own.
my $BATCH = 65_536;

# With libmksum a batch is larger, and so is a segment that is a batch of its own.
my $LIBMKSUM_BATCH = 131_072;
my $LIBMKSUM_LEAF  = 16_777_216;

# From this length on, the segments of a file are read and hashed side by side by libmksum itself, at 1.3 to 1.5 times the speed.
my $LIBMKSUM_SIDE_BY_SIDE = 65_536;

my $MAX_SEGMENT = 1_099_511_627_776;

sub new {
    my ( $class, %option ) = @_;
    my $format  = delete $option{format}  // 'plain';
    my $hash    = delete $option{hash}    // 'sha256';
    my $segment = delete $option{segment} // 64;
    Carp::croak( 'Unknown option: ' . join ', ', sort keys %option ) if %option;
    Carp::croak("Unknown format: $format")                           if !$PREFIX{$format};
    Carp::croak("Unknown hash: $hash")                               if !$HASH{$hash};
    Carp::croak("Not a segment size of 1 to 2^40 bytes: $segment")
        if $segment !~ /\A[0-9]{1,15}\z/smx || $segment < 1 || $segment > $MAX_SEGMENT;

    my $self = bless { format => $format, hash => $hash, segment => 0 + $segment }, ref $class || $class;
    $self->{libmksum} = $hash eq 'sha256' && Digest::Merkle::Libmksum->available;
    my ( $batch, $longest ) = $self->{libmksum} ? ( $LIBMKSUM_BATCH, $LIBMKSUM_LEAF ) : ( $BATCH, $BATCH );
    $self->{height} = 0;
    $self->{height}++ while $segment << ( $self->{height} + 1 ) <= $batch;
    $self->{batch} = $segment << $self->{height};
    $self->{long}  = $segment > $longest;
    return $self->reset;
}

sub reset {    ## no critic (ProhibitBuiltinHomonyms) # the name is given by Digest
    my ($self) = @_;
    $self->{length}   = 0;      # of all bytes so far
    $self->{subtrees} = [];     # height -> digest of the perfect subtree of 2^height leaves that waits for its neighbour
    $self->{pending}  = q{};    # the bytes of a batch that is not complete
    $self->{started}  = 0;      # the bytes of a long segment that is not complete; they are in:
    $self->{leaf}     = $self->{long} ? $self->_new_leaf : undef;
    return $self;
}

sub clone {
    my ($self) = @_;
    my $copy   = bless { %{$self} }, ref $self;
    $copy->{subtrees} = [ @{ $self->{subtrees} } ];
    $copy->{leaf}     = $self->{leaf}->clone if $self->{leaf};
    return $copy;
}

sub backend { my ($self) = @_; return $self->{libmksum} ? 'libmksum' : 'perl' }
sub format  { my ($self) = @_; return $self->{format} }                           ## no critic (ProhibitBuiltinHomonyms)
sub hash    { my ($self) = @_; return $self->{hash} }
sub segment { my ($self) = @_; return $self->{segment} }
sub length  { my ($self) = @_; return $self->{length} }                           ## no critic (ProhibitBuiltinHomonyms)

# The format as mksum writes it.
sub _name { my ($self) = @_; return "$self->{format}:$self->{hash}:$self->{segment}" }

sub leaves {
    my ($self) = @_;
    my $rest = $self->{length} % $self->{segment};
    return ( $self->{length} - $rest ) / $self->{segment} + ( $rest ? 1 : 0 );
}

sub add {    ## no critic (RequireArgUnpacking) # a megabyte is not copied before it is hashed
    my $self = shift;
    for my $bytes (@_) {
        my $piece = \$bytes;
        if ( utf8::is_utf8($bytes) ) {
            my $downgraded = $bytes;
            utf8::downgrade( $downgraded, 1 ) or Carp::croak('Wide character in add');
            $piece = \$downgraded;
        }
        if   ( $self->{leaf} ) { $self->_add_to_long_leaf($piece) }
        else                   { $self->_add_to_batch($piece) }
        $self->{length} += CORE::length ${$piece};
    }
    return $self;
}

sub addfile {
    my ( $self, $handle ) = @_;
    my $size = $self->{libmksum} ? $LIBMKSUM_BATCH : $BATCH;
    my $piece;
    while (1) {
        my $n = read $handle, $piece, $size;
        Carp::croak("Read failed: $!") if !defined $n;
        last                           if $n == 0;
        $self->add($piece);
    }
    return $self;
}

sub root_of_file {
    my ( $self, $path ) = @_;

    # Shorter segments are read in order, many at a time; anything but a file is a stream.
    return Digest::Merkle::Libmksum->root_of_file( $self->_name, $path )
        if $self->{libmksum} && $self->{segment} >= $LIBMKSUM_SIDE_BY_SIDE && Digest::Merkle::Libmksum->reads_files && -f $path;

    # Without a buffer: what is read at a time is long.
    open my $handle, '<:unix', $path or Carp::croak("$path: $!");
    my $tree = $self->clone->reset;
    eval { $tree->addfile($handle) } or Carp::croak("$path: $!");
    return $tree->root;
}

# From here on, bytes are passed by reference and not copied.

sub _add_to_batch {
    my ( $self, $bytes ) = @_;
    my ( $batch, $at, $end ) = ( $self->{batch}, 0, CORE::length ${$bytes} );
    if ( CORE::length $self->{pending} ) {
        $at = $batch - CORE::length $self->{pending};
        $self->{pending} .= substr ${$bytes}, 0, $at;
        return if CORE::length $self->{pending} < $batch;
        $self->_add_batch( \$self->{pending}, 0 );
        $self->{pending} = q{};
    }
    for ( ; $at + $batch <= $end ; $at += $batch ) {
        $self->_add_batch( $bytes, $at );
    }
    $self->{pending} .= substr ${$bytes}, $at if $at < $end;
    return;
}

sub _add_batch {
    my ( $self, $bytes, $at ) = @_;
    if ( $self->{libmksum} ) {

        # A batch is a perfect subtree, and the root of its bytes alone is its digest.
        $self->_carry( $self->{height}, Digest::Merkle::Libmksum->root( $self->_name, $bytes, $at, $self->{batch} ) );
        return;
    }
    my $level = $self->_leaf_digests( $bytes, $at, 1 << $self->{height} );
    $level = $self->_parents($level) for 1 .. $self->{height};
    $self->_carry( $self->{height}, $level );
    return;
}

sub _add_to_long_leaf {
    my ( $self, $bytes ) = @_;
    my ( $at,   $end )   = ( 0, CORE::length ${$bytes} );
    while ( $at < $end ) {
        my $missing = $self->{segment} - $self->{started};
        my $now     = $missing < $end - $at ? $missing : $end - $at;
        $self->{leaf}->add( $now == $end ? ${$bytes} : substr ${$bytes}, $at, $now );
        $self->{started} += $now;
        $at += $now;
        next if $self->{started} < $self->{segment};
        $self->_carry( 0, $self->{leaf}->digest );
        $self->{started} = 0;
        $self->{leaf}    = $self->_new_leaf;
    }
    return;
}

sub _new_leaf {
    my ($self) = @_;
    return $HASH{ $self->{hash} }[1]->()->add( $PREFIX{ $self->{format} }[0] );
}

# The digests of so many leaves from a position on, one after another in a string. The last may be short.
sub _leaf_digests {
    my ( $self, $bytes, $at, $count ) = @_;
    my $hash   = $HASH{ $self->{hash} }[0];
    my $prefix = $PREFIX{ $self->{format} }[0];
    my @leaves = unpack "x$at (a$self->{segment})$count", ${$bytes};
    return join q{}, $prefix eq q{} ? map { $hash->($_) } @leaves : map { $hash->( $prefix, $_ ) } @leaves;
}

# The digests of the pairs in such a string.
sub _parents {
    my ( $self, $level ) = @_;
    my $hash   = $HASH{ $self->{hash} }[0];
    my $prefix = $PREFIX{ $self->{format} }[1];
    my $pair   = 2 * $self->digest_size;
    my @pairs  = unpack "(a$pair)*", $level;
    return join q{}, $prefix eq q{} ? map { $hash->($_) } @pairs : map { $hash->( $prefix, $_ ) } @pairs;
}

sub node {
    my ( $self, $left, $right ) = @_;
    return $self->_parents( $left . $right );
}

# Adds a perfect subtree, as one adds a one to a binary number: as long as there is a subtree of the same height, the
# two become one of the next height.
sub _carry {
    my ( $self, $height, $digest ) = @_;
    my $subtrees = $self->{subtrees};
    while ( defined $subtrees->[$height] ) {
        $digest = $self->node( $subtrees->[$height], $digest );
        $subtrees->[ $height++ ] = undef;
    }
    $subtrees->[$height] = $digest;
    return;
}

sub digest_size {
    my ($self) = @_;
    state %size;
    return $size{ $self->{hash} } //= CORE::length $HASH{ $self->{hash} }[0]->(q{});
}

sub subtrees {
    my ($self)  = @_;
    my @perfect = @{ $self->{subtrees} };
    my $whole   = int( CORE::length( $self->{pending} ) / $self->{segment} );
    my $level   = $self->_leaf_digests( \$self->{pending}, 0, $whole );
    for ( my $height = 0 ; CORE::length $level ; $height++ ) {

        # The last of an odd number of subtrees has no neighbour.
        my $odd = CORE::length($level) / $self->digest_size % 2;
        $perfect[$height] = substr $level, -$self->digest_size, $self->digest_size, q{} if $odd;
        $level = $self->_parents($level);
    }
    return reverse grep { defined } @perfect;
}

sub root {
    my ($self)   = @_;
    my @subtrees = $self->subtrees;
    my $short    = $self->{length} % $self->{segment};
    if ( $self->{leaf} && $short ) {
        push @subtrees, $self->{leaf}->clone->digest;
    }
    elsif ($short) {
        push @subtrees, $self->_leaf_digests( \$self->{pending}, CORE::length( $self->{pending} ) - $short, 1 );
    }
    return $HASH{ $self->{hash} }[0]->(q{}) if !@subtrees;

    # From the right: each perfect subtree is joined to what is right of it.
    my $root = pop @subtrees;
    $root = $self->node( pop @subtrees, $root ) while @subtrees;
    return $root;
}

sub hexroot {
    my ($self) = @_;
    return unpack 'H*', $self->root;
}

sub digest {
    my ($self) = @_;
    my $root = $self->root;
    $self->reset;
    return $root;
}

1;

__END__

=encoding utf8

=head1 NAME

Digest::Merkle - the root of the Merkle tree over the segments of a byte stream

=head1 SYNOPSIS

    use Digest::Merkle;

    my $tree = Digest::Merkle->new( format => 'rfc6962', segment => 4096 );
    $tree->add('some bytes');
    $tree->addfile($handle);
    print $tree->hexroot, "\n";      # looks
    print $tree->hexdigest, "\n";    # the same, and begins anew, as all Digest classes do

=head1 DESCRIPTION

A stream of bytes is cut into segments of one size, the last of which may be shorter. Each is hashed: a leaf. Pairs of
neighbours are hashed together, level by level, up to the root; a node without a neighbour goes up as it is. The root of
no bytes is the hash of no bytes.

The memory for any stream is one digest a level, and up to 64 KiB of bytes.

If L<FFI::Platypus> is installed and the system has the library C<libmksum>, SHA-256 trees are hashed by that, ten times as fast
or more; the memory is up to 128 KiB of bytes then, or the segment if that is larger, up to 16 MiB. The environment variable
C<DIGEST_MERKLE_LIBMKSUM> names the file of the library, or is C<none> for none.

This class is a L<Digest::base>, so C<add_bits>, C<hexdigest>, C<b64digest> and C<base64_padded_digest> are as everywhere.

=head1 METHODS

=head2 new

    Digest::Merkle->new( format => 'plain', hash => 'sha256', segment => 64 )

These are the defaults. The format is C<plain>, where a leaf is H(bytes) and a node H(left, right), or C<rfc6962>, where
they are H(0, bytes) and H(1, left, right), as in Certificate Transparency (RFC 6962, section 2.1). The hash is C<md5>,
C<sha1>, C<sha224>, C<sha256>, C<sha384>, C<sha512> or C<sha512-256>. The segment is in bytes, 1 to 2^40. Croaks at
anything else.

=head2 add

Adds the bytes of its arguments, in pieces of any length. Croaks at characters above 255, as all Digest classes do.

=head2 addfile

Adds the bytes from a handle, which ought to be in C<binmode>, up to its end. Croaks when it cannot be read.

=head2 root_of_file

    $tree->root_of_file($path)

The root of a file, in binary, with the format, hash and segment of the object, which does not change. Segments of 64 KiB or more are
read at several places at once where C<libmksum> reads files. Croaks with the name of the file when it cannot be read.

=head2 root, hexroot

The root of the bytes so far, in binary or hexadecimal. The object does not change and takes further bytes.

=head2 digest

The root, after which the object is as new. L<Digest> asks for this; use C<root> to keep the object as it is.

=head2 reset, clone

The object as new; a copy with a life of its own.

=head2 leaves, length

The number of leaves and of bytes so far.

=head2 subtrees

The digests of the perfect subtrees over the complete leaves, the largest first: one for each bit that is set in their
number.

=head2 node

The digest of the node over a left and a right digest.

=head2 format, hash, segment, digest_size

What the object was made with, and the bytes in a digest.

=head2 backend

C<libmksum> or C<perl>: what hashes.

=head1 SECURITY

In C<plain>, the bytes of two digests are a leaf of a shorter stream with the same root. Take C<rfc6962> for anything
new, and C<plain> to agree with what exists, where the length is known from a trusted source.

=head1 SEE ALSO

L<Digest::Merkle::Proof>, L<Digest::SHA>

=head1 LICENSE

MIT or Apache-2.0.

=cut
