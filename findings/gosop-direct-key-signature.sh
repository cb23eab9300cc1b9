#!/bin/sh
# `gosop extract-cert` leaves out the direct-key signature.
#
# Version:  gosop 0.0~git20221115.92fc880-1+b6 (GopenPGP 2.5.2), Debian 12; sqop 0.27.3 makes the
#           key
# Input:    a key of sqop: one direct-key signature (type 0x1F), one self-signature of the user id,
#           two bindings.
# Expected: the certificate with all four signatures.
# Seen:     three. The direct-key signature is missing, and with it its subpackets: expiration,
#           features, flags, designated revoker.
# Know:     take a certificate from its owner rather than from a program that rewrote it: the rules
#           in a direct-key signature hold for the whole key (RFC 9580, 5.2.3.10).
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
unpack gosop=0.0~git20221115.92fc880-1+b6 sqop=0.27.3-1+b1
bin=$work/root/usr/bin

"$bin/sqop" generate-key 'Owner <owner@example.org>' >key
cat >types.py <<'END'
"""Prints the types of the version 4 signatures in a binary certificate, in their order."""
import sys

data, at, types = sys.stdin.buffer.read(), 0, []
while at < len(data):
    tag, first = data[at] & 0x3F, data[at + 1]
    if first < 192:
        size, at = first, at + 2
    else:
        size, at = ((first - 192) << 8) + data[at + 2] + 192, at + 3
    if tag == 2:
        types.append(f"{data[at + 1]:02x}")
    at += size
print(*types)
END
for program in sqop gosop; do
  "$bin/$program" extract-cert <key | "$bin/sqop" dearmor | python3 types.py >$program.types
done

[ "$(cat sqop.types) / $(cat gosop.types)" = '1f 13 18 18 / 13 18 18' ] ||
  { echo 'changed: the types of signatures are:'; head sqop.types gosop.types; exit 1; }
echo 'as stated: gosop extract-cert leaves out the direct-key signature'
