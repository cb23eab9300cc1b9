#!/bin/sh
# sqop opens a message for several hidden recipients as the first of them only.
#
# Version:  sqop 0.27.3-1+b1, Debian 12; gosop (GopenPGP 2.5.2) to compare
# Input:    a message of sqop for two people; both key ids in its PKESK packets set to zero, as by
#           `gpg --hidden-recipient`.
# Expected: each of the two opens it: all secret keys are tried on each packet (RFC 9580, 5.1).
# Seen:     named, both open it. Hidden, the owner of the first packet opens it, the second gets
#           `Unable to decrypt`. gosop opens it for both.
# Know:     a second hidden recipient with sqop cannot read. Name the recipients, or send a message
#           to each.
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
unpack sqop=0.27.3-1+b1 gosop=0.0~git20221115.92fc880-1+b6
bin=$work/root/usr/bin

for name in first second; do
  "$bin/sqop" generate-key "$name <$name@example.org>" >$name.key
  "$bin/sqop" extract-cert <$name.key >$name.cert
done
echo words | "$bin/sqop" encrypt --no-armor first.cert second.cert >named
cat >hide.py <<'END'
"""Sets the key id of each PKESK packet (version 3, a length of one byte) to zero."""
import sys

data, at = bytearray(sys.stdin.buffer.read()), 0
while data[at] == 0xC1:
    assert data[at + 1] < 192 and data[at + 2] == 3
    data[at + 3 : at + 11] = bytes(8)
    at += 2 + data[at + 1]
sys.stdout.buffer.write(data)
END
python3 hide.py <named >hidden

for message in named hidden; do
  for program in sqop gosop; do
    for name in first second; do
      words=$("$bin/$program" decrypt $name.key <$message 2>>log) || words='no words'
      echo "$message, $program, $name: $words"
    done
  done
done >seen
cat >expected <<'END'
named, sqop, first: words
named, sqop, second: words
named, gosop, first: words
named, gosop, second: words
hidden, sqop, first: words
hidden, sqop, second: no words
hidden, gosop, first: words
hidden, gosop, second: words
END

cmp -s seen expected || { echo 'changed:'; cat seen; exit 1; }
echo 'as stated: sqop opens a message for hidden recipients as the first of them only'
