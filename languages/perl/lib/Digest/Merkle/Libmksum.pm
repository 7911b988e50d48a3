package Digest::Merkle::Libmksum;

use 5.010;
use strict;
use warnings;

use Carp ();

our $VERSION = '0.01';

# What mksum.h calls MKSUM_TEXT_MAX: the room that the text of any root has in.
my $ROOM = 192;

my ( $root_of_bytes, $last_error );

# Whether FFI::Platypus and libmksum are there. They are looked for once.
sub available {
    state $found = _load();
    return $found;
}

sub _load {
    my $file = $ENV{DIGEST_MERKLE_LIBMKSUM} // q{};
    return 0 if $file eq 'none';
    return 0 if !eval { require FFI::Platypus; require FFI::Platypus::Buffer; require FFI::CheckLib; 1 };
    if ( $file eq q{} ) {
        ($file) = FFI::CheckLib::find_lib( lib => 'mksum', symbol => 'mksum_root_of_bytes' );
        return 0 if !defined $file;
    }
    my $ffi = FFI::Platypus->new( api => 2, lib => $file );
    my $ok  = eval {
        $root_of_bytes = $ffi->function( mksum_root_of_bytes => [qw(string opaque size_t opaque size_t)] => 'int' );
        $last_error    = $ffi->function( mksum_error         => []                                       => 'string' );
        1;
    };

    # A file that was named has to be the library; one that was found need not.
    Carp::croak("DIGEST_MERKLE_LIBMKSUM is no libmksum: $file") if !$ok && defined $ENV{DIGEST_MERKLE_LIBMKSUM};
    return $ok ? 1 : 0;
}

# The root, in binary, of so many bytes of a string from a position on.
sub root {
    my ( $class, $format, $bytes, $at, $length ) = @_;
    Carp::croak('Bytes outside of the string') if $at + $length > CORE::length ${$bytes};
    my ($from) = FFI::Platypus::Buffer::scalar_to_buffer( ${$bytes} );
    my $text   = "\0" x $ROOM;
    my ($to)   = FFI::Platypus::Buffer::scalar_to_buffer($text);
    my $status = $root_of_bytes->call( $format, $from + $at, $length, $to, $ROOM );
    Carp::croak( 'libmksum: ' . $last_error->call ) if $status != 0;
    return pack 'H*', unpack 'Z*', $text;
}

1;

__END__

=encoding utf8

=head1 NAME

Digest::Merkle::Libmksum - the roots of libmksum, for Digest::Merkle

=head1 SYNOPSIS

    use Digest::Merkle;

    print Digest::Merkle->new->backend, "\n";    # libmksum, if it is there

=head1 DESCRIPTION

What L<Digest::Merkle> uses where L<FFI::Platypus> is installed and the system has C<libmksum>. It is no interface of its own.

=head1 METHODS

=head2 available

Whether both are there. The environment variable C<DIGEST_MERKLE_LIBMKSUM> names the file of the library, or is C<none> for none.

=head2 root

    Digest::Merkle::Libmksum->root( $format, \$bytes, $at, $length )

The root of a part of a string, in binary. Croaks with the library's message.

=head1 LICENSE

MIT or Apache-2.0.

=cut
