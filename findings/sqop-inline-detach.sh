#!/bin/sh
# The two outputs of `sqop inline-detach` do not fit each other for a cleartext message.
#
# Version:  sqop 0.27.3-1+b1, Debian 12
# Input:    a cleartext signed message by sqop itself, from a text that ends in a line end.
# Expected: `sqop verify` finds the signature good over the text: that is what detaching is for.
# Seen:     sqop verifies the message as a whole; the detached pair has no acceptable signature. The
#           text on stdout has one line end that is not signed (RFC 9580, 7: the line end before
#           the signature is no part of the text). Without its last byte the text verifies.
# Know:     remove the last line end before you verify such a pair.
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
unpack sqop=0.27.3-1+b1
sqop=$work/root/usr/bin/sqop

"$sqop" generate-key 'Writer <writer@example.org>' >key
"$sqop" extract-cert <key >cert
printf 'one\ntwo\n' | "$sqop" inline-sign --as=clearsigned key >message
"$sqop" inline-verify cert <message >/dev/null ||
  { echo 'changed: sqop does not verify its own message'; exit 1; }
"$sqop" inline-detach --signatures-out signature <message >text

code=0
"$sqop" verify signature cert <text >verified 2>log || code=$?
head -c -1 text >shorter
[ $code -eq 3 ] && "$sqop" verify signature cert <shorter >verified 2>>log ||
  { echo "changed: verify ends with $code over this text:"; od -c text; cat log; exit 1; }
echo 'as stated: what sqop detaches verifies without its last line end only'
