#!/bin/sh
# gosop uses the first of several user ids and of several signing keys, and reports nothing.
#
# Version:  gosop 0.0~git20221115.92fc880-1+b6 (GopenPGP 2.5.2), Debian 12; sqop 0.27.3 to compare
# Input:    `generate-key` with two user ids; `sign` with two keys.
# Expected: a key with both user ids and one signature by each key, as SOP describes the two
#           commands, or an error.
# Seen:     the key has the first user id, there is one signature, by the first key. Nothing is
#           printed and the exit code is 0. sqop gives two of each.
# Know:     count the signatures and the user ids of a program's output instead of its arguments.
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

# Counts the signatures of `sign` and the user ids of `generate-key`.
count() {
  "$bin/$1" generate-key 'One <one@example.org>' 'Two <two@example.org>' >both.key 2>errors
  "$bin/$1" generate-key 'Three <three@example.org>' >other.key 2>>errors
  for key in both other; do "$bin/$1" extract-cert <$key.key >$key.cert; done
  echo words | "$bin/$1" sign both.key other.key >signatures 2>>errors
  names=0
  "$bin/sqop" dearmor <both.cert >both.bin
  for name in one@example.org two@example.org; do
    if grep -aq "$name" both.bin; then names=$((names + 1)); fi
  done
  signers=$(echo words | "$bin/sqop" verify signatures both.cert other.cert | wc -l)
  echo "$1: user ids $names, signatures $((signers)), bytes on stderr $(($(wc -c <errors)))"
}
cat >expected <<'END'
gosop: user ids 1, signatures 1, bytes on stderr 0
sqop: user ids 2, signatures 2, bytes on stderr 0
END
{ count gosop; count sqop; } >seen

cmp -s seen expected || { echo 'changed:'; cat seen; exit 1; }
echo 'as stated: gosop uses the first user id and the first signing key alone'
