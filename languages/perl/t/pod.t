# The documentation has no errors, and every public method is in it.
use 5.010;
use strict;
use warnings;

use Pod::Checker ();
use Test::More;

for my $file (qw(lib/Digest/Merkle.pm lib/Digest/Merkle/Libmksum.pm lib/Digest/Merkle/Proof.pm script/merkle)) {
    my $checker = Pod::Checker->new( -warnings => 1 );
    $checker->parse_from_file( $file, \*STDERR );
    is $checker->num_errors,   0, "$file: errors";
    is $checker->num_warnings, 0, "$file: warnings";

    open my $handle, '<:encoding(UTF-8)', $file or die "$file: $!\n";
    my $text     = do { local $/; <$handle> };
    my $headings = join q{ }, $text =~ /^=head2 (.*)$/gm;
    next if $file =~ /script/;
    my @missing = grep { $headings !~ /\b$_\b/ } $text =~ /^sub ([a-z]\w*)/gm;
    is "@missing", q{}, "$file: every method is described";
}

done_testing;
