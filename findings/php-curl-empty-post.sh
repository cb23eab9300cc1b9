#!/bin/sh
# The curl of PHP sends a POST without fields in chunks, and first waits a second for `100 Continue`.
#
# Version:  PHP 8.2.36-1~deb12u1 with libcurl 7.88.1-10+deb12u15, Debian 12
# Input:    CURLOPT_POST without CURLOPT_POSTFIELDS, and with the empty text, to a server that answers
#           once it has the body, and never says `100 Continue`.
# Expected: `Content-Length: 0` for both, and no wait.
# Seen:     for the first `Transfer-Encoding: chunked`, `Expect: 100-continue` and the type of a form;
#           the last chunk, which is the whole body, is sent a second later.
# Know:     set CURLOPT_POSTFIELDS to '' where a POST has no body. A server reads the type of a body
#           only where the body has a byte.
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
version=8.2.36-1~deb12u1
unpack php8.2-cli=$version php8.2-curl=$version libcurl4=7.88.1-10+deb12u15 \
  libargon2-1 libsodium23 libxml2 libicu72 libnghttp2-14 librtmp1 libssh2-1 libpsl5 libldap-2.5-0 libsasl2-2
LD_LIBRARY_PATH=$(echo "$work"/root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
extensions=$(echo "$work"/root/usr/lib/php/20*)

cat >post.php <<'END'
<?php
/** The lines of a request that tell of its body, and whether it took most of a second. */
function post(array $options): void {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $name = stream_socket_get_name($server, false);
    $handle = curl_init("http://$name/");
    curl_setopt_array($handle, [CURLOPT_POST => true, CURLOPT_RETURNTRANSFER => true] + $options);
    $calls = curl_multi_init();
    curl_multi_add_handle($calls, $handle);
    $start = microtime(true);
    $client = null;
    $text = '';
    do {
        curl_multi_exec($calls, $running);
        $client ??= @stream_socket_accept($server, 0) ?: null;
        if ($client === null) continue;
        stream_set_blocking($client, false);
        $text .= fread($client, 4096);
        $end = str_contains($text, 'chunked') ? "\r\n\r\n0\r\n\r\n" : "\r\n\r\n";
        if (!str_ends_with($text, $end)) continue;
        fwrite($client, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        $text = substr($text, 0, -1);
    } while ($running > 0);
    preg_match_all('/^(?:Content|Transfer|Expect)[^\r]*/m', $text, $found);
    $waited = microtime(true) - $start > 0.5 ? 'waited' : 'at once';
    echo implode(', ', $found[0]), ", $waited\n";
}

post([]);
post([CURLOPT_POSTFIELDS => '']);
END
"$work/root/usr/bin/php8.2" -n -d "extension=$extensions/curl.so" post.php >seen
cat >expected <<'END'
Transfer-Encoding: chunked, Content-Type: application/x-www-form-urlencoded, Expect: 100-continue, waited
Content-Length: 0, Content-Type: application/x-www-form-urlencoded, at once
END

cmp -s seen expected || { echo 'changed: without fields, with an empty text:'; cat seen; exit 1; }
echo 'as stated: the curl of PHP sends a POST without fields in chunks, a second later'
