#!/bin/sh
# rnpkeys stops at a marker packet between two certificates and exits with 0.
#
# Version:  rnp 0.16.3-1, Debian 12; sqop 0.27.3 makes the keys
# Input:    two certificates in one file, a marker packet (`PGP`) between them.
# Expected: both are imported: a marker is ignored (RFC 9580, 5.8).
# Seen:     without the marker both are imported; with it the first alone. A warning is on stderr,
#           the exit code is 0.
# Know:     remove markers before you give rnp a keyring, and count what it imported.
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
unpack rnp=0.16.3-1 librnp0=0.16.3-1 libbotan-2-19=2.19.3+dfsg-1+deb12u1 libjson-c5=0.16-2 \
  libtspi1=0.3.15-0.3 sqop=0.27.3-1+b1
bin=$work/root/usr/bin
libraries=$(dirname "$(ls root/usr/lib/*/librnp.so.0)")

for name in one two; do
  "$bin/sqop" generate-key "$name <$name@example.org>" | "$bin/sqop" extract-cert --no-armor >$name
done
cat one two >plain
{ cat one; printf '\312\003PGP'; cat two; } >marked

rnpkeys() { LD_LIBRARY_PATH=$libraries "$bin/rnpkeys" "$@"; }

# Imports a file into an empty keyring and prints the exit code and the number of certificates.
import() {
  mkdir -m 700 "home.$1"
  code=0
  rnpkeys --homedir "home.$1" --import "$1" >"log.$1" 2>&1 || code=$?
  rnpkeys --homedir "home.$1" --list-keys >"list.$1" 2>>"log.$1"
  echo "exit code $code, $(grep -c '^pub' "list.$1")"
}
plain=$(import plain)
marked=$(import marked)

[ "$plain / $marked" = 'exit code 0, 2 / exit code 0, 1' ] ||
  { echo "changed: without a marker $plain; with one $marked"; cat log.marked; exit 1; }
echo 'as stated: rnpkeys imports the certificates before a marker only'
