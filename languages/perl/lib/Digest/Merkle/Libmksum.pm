package Digest::Merkle::Libmksum;

use 5.010;
use strict;
use warnings;

use Carp ();

our $VERSION = '0.01';

# What mksum.h calls MKSUM_TEXT_MAX: the room that the text of any root has in.
my $ROOM = 192;

# What mksum.h calls mksum_options, where pointers have 8 bytes, for one thread: its size, the number of threads, no progress function.
my $ONE_THREAD = pack 'JIx![J]JJ', 32, 1, 0, 0;

my ( $root_of_bytes, $root_of_file, $last_error );

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

    # A library can be built without what reads files.
    $root_of_file = eval { $ffi->function( mksum_root_of_file => [qw(string string opaque opaque size_t)] => 'int' ) }
        if $ffi->sizeof('opaque') == 8;

    # A file that was named has to be the library; one that was found need not.
    Carp::croak("DIGEST_MERKLE_LIBMKSUM is no libmksum: $file") if !$ok && defined $ENV{DIGEST_MERKLE_LIBMKSUM};
    return $ok ? 1 : 0;
}

# The root, in binary, of so many bytes of a string from a position on.
sub root {
    my ( $class, $format, $bytes, $at, $length ) = @_;
    Carp::croak('Bytes outside of the string') if $at + $length > CORE::length ${$bytes};
    my ($from) = FFI::Platypus::Buffer::scalar_to_buffer( ${$bytes} );
    return _binary( sub { $root_of_bytes->call( $format, $from + $at, $length, @_ ) } );
}

# Whether it is there and reads files.
sub reads_files { return available() && defined $root_of_file }

# The root, in binary, of a file, hashed on one thread.
sub root_of_file {
    my ( $class, $format, $path ) = @_;
    my ($options) = FFI::Platypus::Buffer::scalar_to_buffer($ONE_THREAD);
    return _binary( sub { $root_of_file->call( $format, $path, $options, @_ ) } );
}

# The root that a function writes as text to a buffer, which it gets with its length.
sub _binary {
    my ($call) = @_;
    my $text   = "\0" x $ROOM;
    my ($to)   = FFI::Platypus::Buffer::scalar_to_buffer($text);
    Carp::croak( 'libmksum: ' . $last_error->call ) if $call->( $to, $ROOM ) != 0;
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

=head2 reads_files

Whether both are there, and the library reads files: it can be built without.

=head2 root_of_file

    Digest::Merkle::Libmksum->root_of_file( $format, $path )

The root of a file, in binary, hashed on one thread. Croaks with the library's message.

=head1 LICENSE

MIT or Apache-2.0.

=cut
