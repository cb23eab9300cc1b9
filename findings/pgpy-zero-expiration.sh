#!/bin/sh
# PGPy takes a key expiration time of zero for a key that expired when it was made.
#
# Version:  PGPy 0.6.0, Debian 12; sqop 0.27.3 and gosop (GopenPGP 2.5.2) to compare
# Input:    a key with the subpacket Key Expiration Time, and zero in it; by PGPy itself.
# Expected: the key never expires (RFC 9580, 5.2.3.13).
# Seen:     `is_expired` is true, and PGPy finds the signatures of the key bad, since it expired.
#           Without the subpacket they are good. sqop and gosop verify both.
# Know:     for a key without end leave the subpacket out.
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
unpack sqop=0.27.3-1+b1 gosop=0.0~git20221115.92fc880-1+b6 python3-pgpy=0.6.0-1 \
  python3-cryptography=38.0.4-3+deb12u1 python3-cffi-backend=1.15.1-5+b1 \
  python3-pyasn1=0.4.8-3+deb12u3 python3-six=1.16.0-4
bin=$work/root/usr/bin
PYTHONPATH=$work/root/usr/lib/python3/dist-packages
export PYTHONPATH
python=/usr/bin/python3.11
[ -x $python ] || { echo 'skipped: no Python 3.11 of Debian'; exit 77; }

printf words >data
$python -W ignore - >seen <<'END'
from datetime import timedelta

from pgpy import PGPKey, PGPUID
from pgpy.constants import EllipticCurveOID, HashAlgorithm, KeyFlags, PubKeyAlgorithm

for name, end in (("absent", {}), ("zero", {"key_expiration": timedelta(0)})):
    key = PGPKey.new(PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519)
    usage = {KeyFlags.Certify, KeyFlags.Sign}
    user = PGPUID.new("Writer", email="writer@example.org")
    key.add_uid(user, usage=usage, hashes=[HashAlgorithm.SHA512], **end)
    signature = key.sign("words")
    good = bool(key.pubkey.verify("words", signature))
    print(f"{name}: expired {key.is_expired}, good {good}")
    for path, value in ((f"{name}.cert", key.pubkey), (f"{name}.signature", signature)):
        open(path, "w").write(str(value))
END
for name in absent zero; do
  for program in sqop gosop; do
    count=$("$bin/$program" verify $name.signature $name.cert <data 2>>log | wc -l)
    echo "$name: $program $((count))"
  done
done >>seen
cat >expected <<'END'
absent: expired False, good True
zero: expired True, good False
absent: sqop 1
absent: gosop 1
zero: sqop 1
zero: gosop 1
END

cmp -s seen expected || { echo 'changed:'; cat seen; exit 1; }
echo 'as stated: PGPy takes an expiration time of zero for expired'
