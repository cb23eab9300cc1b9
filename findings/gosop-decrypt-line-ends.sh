#!/bin/sh
# `gosop decrypt` changes the line ends of binary data.
#
# Version:  gosop 0.0~git20221115.92fc880-1+b6 (GopenPGP 2.5.2), Debian 12
# Input:    a binary literal (format `b`) with CRLF, encrypted by gosop itself.
# Expected: the bytes that were encrypted (RFC 9580, 5.9: format `b` is read as it is).
# Seen:     every CRLF is LF; a CR alone stays. The exit code is 0.
# Know:     a file that was decrypted by gosop can differ from the file that was encrypted, and a
#           detached signature of the file does not fit any more.
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
unpack gosop=0.0~git20221115.92fc880-1+b6
gosop=$work/root/usr/bin/gosop

"$gosop" generate-key 'Reader <reader@example.org>' >reader.key
"$gosop" extract-cert <reader.key >reader.cert
printf 'one\r\ntwo\r\n\r\000three' >sent
printf 'one\ntwo\n\r\000three' >expected
"$gosop" encrypt reader.cert <sent >sealed
"$gosop" decrypt reader.key <sealed >received

cmp received expected || { echo 'changed: gosop decrypts to other bytes:'; od -c received; exit 1; }
echo 'as stated: gosop decrypts CRLF to LF in binary data'
