#!/bin/sh
# PGPy and pgpainless-cli sign blanks at line ends of cleartext, which other programs leave out.
#
# Version:  PGPy 0.6.0 and pgpainless-cli 1.3.16-1, Debian 12; sqop 0.27.3 verifies
# Input:    a cleartext signed message whose text has blanks at the end of a line.
# Expected: a good signature: such blanks are not part of the signed text (RFC 9580, 7).
# Seen:     sqop finds the signatures of both bad; without the blanks both are good. PGPy in turn
#           finds a good message of sqop bad once it has blanks there.
# Know:     remove blanks at line ends before you sign cleartext. The usual mark above a signature
#           in mail, two dashes and a blank, is such a line.
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
unpack pgpainless-cli=1.3.16-1 libpgpainless-cli-java=1.3.16-1 libpgpainless-sop-java=1.3.16-1 \
  libpgpainless-core-java=1.3.16-1 libsop-java-picocli-java=4.1.0-1 libsop-java-java=4.1.0-1 \
  libbcpg-java=1.72-2 libbcprov-java=1.72-2 libpicocli-java=4.6.2-2 libslf4j-java=1.7.32-1 \
  sqop=0.27.3-1+b1 python3-pgpy=0.6.0-1 python3-cryptography=38.0.4-3+deb12u1 \
  python3-cffi-backend=1.15.1-5+b1 python3-pyasn1=0.4.8-3+deb12u3 python3-six=1.16.0-4
command -v java >/dev/null || { echo 'skipped: no Java'; exit 77; }
rm root/usr/share/java/slf4j-[jlms]*
pgpainless() { java -cp "root/usr/share/java/*" org.pgpainless.cli.PGPainlessCLI "$@"; }
sqop=$work/root/usr/bin/sqop
PYTHONPATH=$work/root/usr/lib/python3/dist-packages
export PYTHONPATH
python=/usr/bin/python3.11
[ -x $python ] || { echo 'skipped: no Python 3.11 of Debian'; exit 77; }

"$sqop" generate-key 'Writer <writer@example.org>' >key
"$sqop" extract-cert <key >cert
cat >pgpy_cli.py <<'END'
"""`sign TEXT MESSAGE` or `verify MESSAGE`: cleartext by PGPy with `key` and `cert`."""
import sys

from pgpy import PGPKey, PGPMessage

command, source, *target = sys.argv[1:]
if command == "sign":
    message = PGPMessage.new(source, cleartext=True, file=True)
    key, _ = PGPKey.from_file("key")
    message |= key.sign(message)
    with open(target[0], "w", newline="") as file:
        file.write(str(message))
else:
    cert, _ = PGPKey.from_file("cert")
    print("good" if cert.verify(PGPMessage.from_file(source)) else "bad")
END
by_pgpy() { $python -W ignore pgpy_cli.py "$@"; }

printf 'one\n-- two' >plain
printf 'one  \n-- two' >blanks
for text in plain blanks; do
  by_pgpy sign $text pgpy.$text
  pgpainless inline-sign --as=clearsigned key <$text >pgpainless.$text 2>>log
  for maker in pgpy pgpainless; do
    verdict=bad
    if "$sqop" inline-verify cert <$maker.$text >words 2>>log; then verdict=good; fi
    echo "$maker, $text: by sqop $verdict"
  done
  # Blanks that are written into a message after it was signed do not change its verdict.
  "$sqop" inline-sign --as=clearsigned key <plain | sed "s/^one\$/$(head -n 1 $text)/" >sqop.$text
  "$sqop" inline-verify cert <sqop.$text >words
  echo "sqop, $text: by pgpy $(by_pgpy verify sqop.$text)"
done >seen
cat >expected <<'END'
pgpy, plain: by sqop good
pgpainless, plain: by sqop good
sqop, plain: by pgpy good
pgpy, blanks: by sqop bad
pgpainless, blanks: by sqop bad
sqop, blanks: by pgpy bad
END

cmp -s seen expected || { echo 'changed:'; cat seen; exit 1; }
echo 'as stated: PGPy and pgpainless-cli sign the blanks at line ends of cleartext'
