# The program: what it prints, and that an error is never a root.
use 5.010;
use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

my $folder  = tempdir( CLEANUP => 1 );
my @program = ( $^X, ( map { "-I$_" } @INC ), 'script/merkle' );

# Exit status, standard output and standard error of a run with some bytes on standard input.
sub run {
    my ( $input, @arguments ) = @_;
    spill( "$folder/in", $input );
    my $pid = fork // die "fork: $!\n";
    if ( !$pid ) {
        open STDIN,  '<', "$folder/in"  or die "$!\n";
        open STDOUT, '>', "$folder/out" or die "$!\n";
        open STDERR, '>', "$folder/err" or die "$!\n";
        exec @program, @arguments or die "$!\n";
    }
    waitpid $pid, 0;
    return ( $? >> 8, map { slurp("$folder/$_") } qw(out err) );
}

sub spill {
    my ( $file, $text ) = @_;
    open my $handle, '>:raw', $file or die "$file: $!\n";
    print {$handle} $text;
    close $handle or die "$file: $!\n";
    return;
}

sub slurp {
    my ($file) = @_;
    open my $handle, '<:raw', $file or die "$file: $!\n";
    local $/;
    return scalar <$handle>;
}

my $plain   = "e30f1444ac52d1ee4c9101fc5e6f8af497f0075606d2513a3af0f44cf9c11318\n";
my $rfc6962 = "1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90\n";
spill( "$folder/letters", 'abcdefghijklmnopqr' );
is_deeply [ run( 'abcdefghijklmnopqr', qw(--segment 4) ) ], [ 0, $plain, q{} ], 'standard input';
is_deeply [ run( q{}, qw(--segment 4 --format rfc6962), "$folder/letters" ) ], [ 0, $rfc6962, q{} ], 'a file';

my $row = "rfc6962:md5:1KiB\tpat\t0\t%s\tdefinition\n";
is_deeply [ run( "# a\tcomment\n" . sprintf( $row, q{?} ), '--rows' ) ],
    [ 0, "# a\tcomment\n" . sprintf( $row, 'd41d8cd98f00b204e9800998ecf8427e' ), q{} ], 'rows';
like( ( run( q{}, qw(--hash-rate 1000) ) )[1], qr/\A[0-9.]+ s [0-9.]+ MH\/s\n\z/, 'hash rate' );
like( ( run( q{}, '--help' ) )[1],             qr/\AUsage: /,                     'help' );

for my $arguments (
    ['no-such-file'],                         [$folder],
    [ "$folder/letters", "$folder/letters" ], ['--no-such-option'],
    [qw(--format x)],                         ['--format'],
    [qw(--segment 0)],                        [qw(--segment 64x)],
    [ '--segment', q{} ],                     [ '--seg', 64 ],
    [qw(--hash-rate 0)],
    )
{
    my ( $status, $out, $err ) = run( 'abc', @{$arguments} );
    ok( ( $status == 1 || $status == 2 ) && $out eq q{} && $err ne q{}, "refused: @{$arguments}" ) or diag "$status $out $err";
}
for my $bad ( 'mtsum:sha256:64', 'plain:sha9:64', 'plain:sha256:0', 'plain:sha256' ) {
    my ( $status, $out, $err ) = run( "$bad\tmod251\t1\t?\tdefinition\n", '--rows' );
    ok $status == 1 && $out eq q{} && $err =~ /\Amerkle: /, "refused: the row $bad";
}

done_testing;
