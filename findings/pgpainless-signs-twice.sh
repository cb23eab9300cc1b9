#!/bin/sh
# pgpainless-cli signs twice with one key whose primary key and subkey may both sign.
#
# Version:  pgpainless-cli 1.3.16-1, Debian 12; sqop 0.27.3 to compare; PGPy 0.6.0 makes the key
# Input:    a key with flags for signing on the primary key and on a subkey: GnuPG's usual key to
#           which somebody added a subkey for signing.
# Expected: one signature for each key that is given, as SOP describes `sign`.
# Seen:     two, by the primary key and by the subkey. sqop makes one.
# Know:     the number of signatures is not the number of signers. Count primary keys, which is the
#           third field of each line that `verify` prints.
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

$python -W ignore - >key <<'END'
from pgpy import PGPKey, PGPUID
from pgpy.constants import EllipticCurveOID, HashAlgorithm, KeyFlags, PubKeyAlgorithm

primary, subkey = (PGPKey.new(PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519) for _ in range(2))
primary.add_uid(
    PGPUID.new("Writer", email="writer@example.org"),
    usage={KeyFlags.Certify, KeyFlags.Sign},
    hashes=[HashAlgorithm.SHA512],
)
primary.add_subkey(subkey, usage={KeyFlags.Sign})
print(primary)
END
"$sqop" extract-cert <key >cert

# Prints how many signatures there are, and by how many primary keys.
count() {
  echo words | "$1" sign key >signatures 2>log
  echo words | "$sqop" verify signatures cert >verified
  echo "$(($(wc -l <verified))) by $(($(cut -d ' ' -f 3 verified | sort -u | wc -l)))"
}
seen="$(count pgpainless) / $(count "$sqop")"

[ "$seen" = '2 by 1 / 1 by 1' ] ||
  { echo "changed: signatures by primary keys, the same of sqop: $seen"; exit 1; }
echo 'as stated: pgpainless-cli signs with the primary key and with its subkey'
