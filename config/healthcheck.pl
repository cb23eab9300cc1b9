# The image's health check: whether a sidecar, or a sandbox, answers. Perl is in every Debian and
# starts in 2 ms, Node in 300. It loads no module, and asks once.
#
#   perl healthcheck.pl            0 while the sidecar of POSTERN_DATA_DIR answers
#   perl healthcheck.pl --ready    0 while that is ready
#   perl healthcheck.pl 8801       0 while this port of 127.0.0.1 answers /healthz with 200
#
# Otherwise 1, and one line says why. It asks the control socket, as `postern status` does: whatever
# the ports are, it is where the data directory is.

# What perl's module Socket has, on Linux.
my ($UNIX, $INET, $STREAM) = (1, 2, 1);
my $WITHIN_SECONDS = 5;
# More than a status can be.
my $LONGEST = 1 << 20;

sub unhealthy { print STDERR "@_\n"; exit 1 }

# The socket itself, or the file that names it where its path would be too long.
sub control_socket {
    my $folder = $ENV{POSTERN_DATA_DIR} // unhealthy('POSTERN_DATA_DIR is not set');
    open(my $pointer, '<', "$folder/control.path") or return "$folder/control.sock";
    my $path = <$pointer> // '';
    chomp $path;
    return $path;
}

sub ask {
    my ($family, $address, $request) = @_;
    $SIG{ALRM} = sub { unhealthy("no answer within $WITHIN_SECONDS s") };
    alarm $WITHIN_SECONDS;
    socket(my $peer, $family, $STREAM, 0) or unhealthy("no socket: $!");
    connect($peer, $address) or unhealthy("nothing listens: $!");
    $SIG{PIPE} = 'IGNORE';
    syswrite($peer, $request) or unhealthy("no answer: $!");
    my $answer = '';
    while (length $answer < $LONGEST && sysread($peer, $answer, 65536, length $answer)) { }
    my $isWhole = length $answer < $LONGEST;
    $isWhole && $answer =~ m{^HTTP/1\.[01] 200 } or unhealthy('it does not answer as it should');
    return $answer;
}

my ($what) = @ARGV;
if (($what // '') =~ /^\d+$/) {
    my $address = pack('S n C4 x8', $INET, $what, 127, 0, 0, 1);
    ask($INET, $address, "GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:$what\r\n\r\n");
    exit 0;
}
my $request = "POST /status HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}";
my $answer = ask($UNIX, pack('S a108', $UNIX, control_socket()), $request);
exit 0 if ($what // '') ne '--ready' || $answer =~ /"ready":true/;
my ($reasons) = $answer =~ /"reasons":\[(.*?)\],"warnings":/s;
unhealthy('not ready: ' . join(', ', ($reasons // '') =~ /"code":"([a-z-]+)"/g));
