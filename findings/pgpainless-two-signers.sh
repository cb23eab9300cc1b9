#!/bin/sh
# pgpainless-cli verifies a message of two signers by one of the two certificates only.
#
# Version:  pgpainless-cli 1.3.16-1, Debian 12; sqop 0.27.3 to compare
# Input:    an inline-signed message with two good signatures, by pgpainless-cli itself.
# Expected: each of the two certificates verifies one signature.
# Seen:     both certificates together verify two. Alone, one of them verifies one, the other none:
#           exit code 3. sqop verifies one signature by either.
# Know:     `No verifiable signature found` of PGPainless does not mean that no signature is good.
#           Give it the certificates of all signers.
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
  sqop=0.27.3-1+b1
command -v java >/dev/null || { echo 'skipped: no Java'; exit 77; }
rm root/usr/share/java/slf4j-[jlms]*
pgpainless() { java -cp "root/usr/share/java/*" org.pgpainless.cli.PGPainlessCLI "$@"; }
sqop=$work/root/usr/bin/sqop

for name in one two; do
  "$sqop" generate-key "$name <$name@example.org>" >$name.key
  "$sqop" extract-cert <$name.key >$name.cert
done
echo words | pgpainless inline-sign one.key two.key >message

# Prints how many signatures of the message a program verifies by some certificates.
count() {
  program=$1
  shift
  "$program" inline-verify --verifications-out verified "$@" <message >words 2>>log || : >verified
  echo $(($(wc -l <verified)))
  rm verified
}
count_all() {
  echo "$(count "$1" one.cert two.cert) $(count "$1" one.cert) $(count "$1" two.cert)"
}
seen="$(count_all pgpainless) / $(count_all "$sqop")"

case $seen in
'2 1 0 / 2 1 1' | '2 0 1 / 2 1 1') ;;
*) echo "changed: signatures by both, by one, by the other; by sqop: $seen"; exit 1 ;;
esac
echo 'as stated: pgpainless-cli verifies two signers by one of their certificates only'
