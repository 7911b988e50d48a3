# The contract of the Digest classes.
use 5.010;
use strict;
use warnings;

use File::Temp qw(tempfile);
use Test::More;

use Digest::Merkle;

my $tree = Digest::Merkle->new( segment => 4, format => 'rfc6962' );
isa_ok $tree, 'Digest::base';
my $root = $tree->add( 'abcd', 'efghijk' )->root;

is $tree->clone->digest,    $root,                 'digest';
is $tree->clone->hexdigest, unpack( 'H*', $root ), 'hexdigest';
ok $tree->clone->b64digest, 'b64digest';
is $tree->digest,  $root,                                               'digest of the object itself';
is $tree->length,  0,                                                   'after which it is as new';
is $tree->hexroot, Digest::Merkle->new( format => 'rfc6962' )->hexroot, 'with the root of no bytes';
is $tree->segment, 4,                                                   'and the same segments';

# Both sides go on, in either order, after which neither has anything of the other: subtrees, pending bytes, a started leaf.
for my $segment ( 4, 64, 100_000, 20_000_000 ) {
    my $long = pack 'C*', map { $_ % 251 } 0 .. 200_000;
    for my $length ( 0, 5, 70_001, $segment < 64 ? () : ( 131_072, 200_001 ) ) {
        for my $original_first ( 0, 1 ) {
            my $original = Digest::Merkle->new( segment => $segment )->add( substr $long, 0, $length );
            my $clone    = $original->clone;
            my @orders   = ( [ $original, 'original' x 9000 ], [ $clone, 'clone' x 14_000 ] );
            $_->[0]->add( $_->[1] ) for $original_first ? @orders : reverse @orders;
            my @expected =
                map { Digest::Merkle->new( segment => $segment )->add( substr( $long, 0, $length ), $_->[1] )->root } @orders;
            is_deeply [ map { $_->[0]->root } @orders ], \@expected, "a clone of $length bytes in segments of $segment";
        }
    }
}

for my $segment ( 4, 100_000 ) {
    my $one = Digest::Merkle->new( segment => $segment )->add( 'x' x 150_001 );
    my $two = $one->clone;
    $one->add('one');
    $two->add('two');
    isnt $one->root, $two->root,                                                                    'a clone goes its own way';
    is $two->root,   Digest::Merkle->new( segment => $segment )->add( 'x' x 150_001, 'two' )->root, 'and has all that was before';
    is $one->reset->add('y')->root, Digest::Merkle->new( segment => $segment )->add('y')->root,     'reset';
    is ref( $one->new ),            'Digest::Merkle',                                               'new of an object';
}

open my $handle, '<:raw', $0 or die "$0: $!\n";
my $content = do { local $/; <$handle> };
seek $handle, 0, 0;
is( Digest::Merkle->new->addfile($handle)->root, Digest::Merkle->new->add($content)->root, 'addfile' );
open my $folder, '<:raw', q{.} or die "a folder: $!\n";
ok !eval { Digest::Merkle->new->addfile($folder) }, 'addfile of what cannot be read';
like $@, qr/Read failed/, 'says so';

my $long = pack( 'C*', map { $_ % 251 } 0 .. 65_534 ) x 5;
my ( $file, $path ) = tempfile( UNLINK => 1 );
binmode $file;
print {$file} $long;
close $file or die "$path: $!\n";
for my $segment ( 64, 1000, 65_536, 100_000, 20_000_000 ) {
    for my $format (qw(plain rfc6962)) {
        my $tree = Digest::Merkle->new( segment => $segment, format => $format )->add('x');
        is $tree->root_of_file($path), $tree->new( segment => $segment, format => $format )->add($long)->root,
            "root_of_file in segments of $segment, $format";
        is $tree->length, 1, 'which leaves the object as it is';
    }
    for my $unreadable ( q{.}, "$path.none" ) {
        ok !eval { Digest::Merkle->new( segment => $segment )->root_of_file($unreadable) }, "root_of_file of $unreadable";
        like $@, qr/\Q$unreadable\E: /, 'names it';
    }
}

is( Digest::Merkle->new->add_bits('0110000101100010')->root, Digest::Merkle->new->add('ab')->root, 'add_bits' );
ok !eval { Digest::Merkle->new->add("\x{263a}") }, 'a wide character is refused';
my $upgraded = "\xe9";
utf8::upgrade($upgraded);
is(
    Digest::Merkle->new->add($upgraded)->root,
    Digest::Merkle->new->add("\xe9")->root,
    'bytes are bytes, however Perl keeps them'
);

done_testing;
