#!/bin/sh
# Net::HTTP of Ruby makes a GET, PUT or DELETE twice where the answer to the first is lost.
#
# Version:  Ruby 3.1.7+really3.1.2-0+deb12u1, Debian 12
# Input:    one request of each method, to a server that reads it and closes the connection.
# Expected: one request, and an error: the caller decides whether to repeat it.
# Seen:     GET, PUT and DELETE arrive twice, POST and PATCH once; the error comes after that. The
#           same happens where no answer comes within `read_timeout`.
# Know:     `max_retries` is 1 by default; set it to 0. A DELETE that succeeded, but whose answer was
#           lost, reports the answer to the second: 404, the message is gone.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Unpacks packages of Debian here. Ends with 77 where they cannot be installed: nothing was checked.
unpack() {
  if ! apt-get -qq download "$@" 2>apt.log; then
    cat apt.log
    echo "skipped: cannot install $*"
    exit 77
  fi
  for package in ./*.deb; do dpkg-deb -x "$package" root; done
}
version=3.1.7+really3.1.2-0+deb12u1
unpack ruby3.1=$version libruby3.1=$version
libraries=$(echo "$work"/root/usr/lib/*-linux-gnu)
ruby() {
  LD_LIBRARY_PATH=$libraries "$work/root/usr/bin/ruby3.1" --disable-gems \
    -I "$work/root/usr/lib/ruby/3.1.0" -I "$libraries/ruby/3.1.0" "$@"
}

cat >calls.rb <<'END'
require 'net/http'
require 'socket'

server = TCPServer.new('127.0.0.1', 0)
arrived = Hash.new(0)
Thread.new do
  loop do
    client = server.accept
    text = +''
    text << client.readpartial(4096) until text.end_with?('{}') || text =~ /\A[GD].*\r\n\r\n\z/m
    arrived[text[/\A\w+/]] += 1
    client.close
  end
end

%w[GET PUT DELETE POST PATCH].each do |method|
  request = Net::HTTP.const_get(method.capitalize).new('/')
  request.body = '{}' if request.request_body_permitted?
  begin
    Net::HTTP.start('127.0.0.1', server.addr[1]) { |http| http.request(request) }
  rescue EOFError => error
    puts "#{method} #{arrived[method]} #{error.class}"
  end
end
END
ruby calls.rb >seen
cat >expected <<'END'
GET 2 EOFError
PUT 2 EOFError
DELETE 2 EOFError
POST 1 EOFError
PATCH 1 EOFError
END

cmp -s seen expected || { echo 'changed: requests that arrive:'; cat seen; exit 1; }
echo 'as stated: Net::HTTP repeats GET, PUT and DELETE when their answer is lost'
