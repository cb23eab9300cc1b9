#!/bin/sh
# gpg finds the text signature in a signed message bad where the words have LF alone.
#
# Version:  gpg 2.2.40-1.1+deb12u2, Debian 12; sqop 0.27.3 signs
# Input:    `sqop inline-sign --as=text`: a signature of type 0x01 over a literal of format `b`.
# Expected: a good signature: line ends are read as CRLF for it (RFC 9580, 5.2.4).
# Seen:     with LF gpg reports BADSIG, with CRLF GOODSIG. gpg hashes the literal as it is. For a
#           detached text signature gpg does convert: GOODSIG for both.
# Know:     write CRLF into the literal of a text signature; or sign as binary. A bad signature
#           that gpg reports for a text message may be nobody's forgery.
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
unpack gpg=2.2.40-1.1+deb12u2 sqop=0.27.3-1+b1
bin=$work/root/usr/bin

mkdir -m 700 home
gpg() { "$bin/gpg" --homedir home --no-autostart --batch --quiet --trust-model always "$@"; }
"$bin/sqop" generate-key 'Writer <writer@example.org>' >key
"$bin/sqop" extract-cert <key >cert
gpg --import cert 2>log

# The verdicts of gpg and of sqop about a message or a detached signature.
verdict() {
  gpg --status-fd 1 --verify "$@" 2>>log | sed -n 's/^\[GNUPG:\] \(GOODSIG\|BADSIG\) .*/\1/p'
}
printf 'one\ntwo\n' >lf
printf 'one\r\ntwo\r\n' >crlf
for ends in lf crlf; do
  "$bin/sqop" inline-sign --as=text key <$ends >signed.$ends
  "$bin/sqop" inline-verify cert <signed.$ends >words 2>>log ||
    { echo "changed: sqop does not verify its message with $ends"; exit 1; }
  "$bin/sqop" sign --as=text key <$ends >detached.$ends
  echo "$ends: message $(verdict signed.$ends), detached $(verdict detached.$ends $ends)"
done >seen
cat >expected <<'END'
lf: message BADSIG, detached GOODSIG
crlf: message GOODSIG, detached GOODSIG
END

cmp -s seen expected || { echo 'changed:'; cat seen; exit 1; }
echo 'as stated: gpg finds a text signature over LF bad in a message, good when detached'
