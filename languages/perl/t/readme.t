# The tour in README.md runs, and prints what it says.
use 5.010;
use strict;
use warnings;

use Test::More;

open my $handle, '<:encoding(UTF-8)', 'README.md' or die "README.md: $!\n";
my $readme = do { local $/; <$handle> };
my ($tour) = join "\n", $readme =~ /^```perl\n(.*?)^```$/gms;

my @expected = $tour =~ /^print .*?#\s(.*)$/gm;
my $printed  = q{};
{
    open my $out, '>', \$printed or die "$!\n";
    my $before = select $out;
    eval "$tour; 1" or die $@;    ## no critic (ProhibitStringyEval)
    select $before;
}
ok @expected >= 4, 'the tour prints something';
is_deeply [ split /\n/, $printed ], \@expected, 'what the comments say';

done_testing;
