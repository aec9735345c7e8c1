# Fails where a TAP document has an error of form for the parser of prove. That a test failed is none.
use strict;
use warnings;
use TAP::Parser;

my $failed = !@ARGV;
for my $path (@ARGV) {
    open my $file, '<', $path or die "$path: $!\n";
    my $parser = TAP::Parser->new({ tap => do { local $/; <$file> } });
    $parser->run;
    for my $error ($parser->parse_errors) {
        print "$path: $error\n";
        $failed = 1;
    }
}
exit($failed ? 1 : 0);
