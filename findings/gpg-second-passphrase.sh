#!/bin/sh
# gpg opens a message for two passphrases with the first passphrase only.
#
# Version:  gpg 2.2.40-1.1+deb12u2, Debian 12; sqop 0.27.3 makes the message
# Input:    a session key that is encrypted to two passphrases, in two packets of type 3 (SKESK).
# Expected: either passphrase opens the message (RFC 9580, 5.3).
# Seen:     the passphrase of the first packet opens it. With the other gpg reports
#           `Bad session key` and exits with 2. sqop opens the message with either.
# Know:     where gpg must open a message, give it one passphrase, or its own first.
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
printf 'first passphrase' >first
printf 'second passphrase' >second
echo words | "$bin/sqop" encrypt --with-password first --with-password second >sealed

open_by_gpg() {
  "$bin/gpg" --homedir home --no-autostart --batch --quiet --pinentry-mode loopback \
    --passphrase-file "$1" --status-file "status.$1" --decrypt sealed 2>"log.$1"
}
for passphrase in first second; do
  [ "$("$bin/sqop" decrypt --with-password $passphrase <sealed)" = words ] ||
    { echo "changed: sqop does not open it with the $passphrase passphrase"; exit 1; }
done
[ "$(open_by_gpg first)" = words ] ||
  { echo 'changed: gpg does not open it with the first passphrase'; cat log.first; exit 1; }
code=0
open_by_gpg second >opened || code=$?
[ $code -eq 2 ] && [ ! -s opened ] && grep -q 'Bad session key' log.second ||
  { echo "changed: gpg ends with $code for the second passphrase"; cat log.second; exit 1; }
echo 'as stated: gpg opens the message with its first passphrase only'
