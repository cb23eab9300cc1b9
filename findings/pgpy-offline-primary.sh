#!/bin/sh
# PGPy does not decrypt with a key whose primary secret is kept elsewhere.
#
# Version:  PGPy 0.6.0, Debian 12; sqop 0.27.3 makes the key and compares
# Input:    a key without passphrase and with a placeholder for the primary secret, as
#           `gpg --export-secret-subkeys` writes for a laptop (S2K of GnuPG, `gnu-dummy`).
# Expected: the key decrypts: the secret of the encryption subkey is there.
# Seen:     `decrypt` of the key raises PGPError, since the key is not unlocked; `unlock` raises
#           NotImplementedError. `decrypt` of the subkey (`key.subkeys`) works; so does sqop.
# Know:     with PGPy address the subkey, not the key, where the primary secret may be absent.
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
unpack sqop=0.27.3-1+b1 python3-pgpy=0.6.0-1 python3-cryptography=38.0.4-3+deb12u1 \
  python3-cffi-backend=1.15.1-5+b1 python3-pyasn1=0.4.8-3+deb12u3 python3-six=1.16.0-4
sqop=$work/root/usr/bin/sqop
PYTHONPATH=$work/root/usr/lib/python3/dist-packages
export PYTHONPATH
python=/usr/bin/python3.11
[ -x $python ] || { echo 'skipped: no Python 3.11 of Debian'; exit 77; }

"$sqop" generate-key --no-armor 'Reader <reader@example.org>' >full.key
"$sqop" extract-cert <full.key >cert
echo words | "$sqop" encrypt cert >sealed

$python -W ignore - >seen <<'END'
from pgpy import PGPKey, PGPMessage
from pgpy.errors import PGPError

# A new packet with a length of one byte; the public part of an Ed25519 key has 51 bytes.
data = open("full.key", "rb").read()
assert data[0] == 0xC5 and data[1] < 192
public, rest = data[2 : 2 + 51], data[2 + data[1] :]
packet = public + b"\xff\x00\x65\x00GNU\x01"
laptop = bytes([0xC5, len(packet)]) + packet + rest
open("laptop.key", "wb").write(laptop)

message = PGPMessage.from_file("sealed")
for name in ("full.key", "laptop.key"):
    key, _ = PGPKey.from_file(name)
    words = []
    for holder in [key, *key.subkeys.values()]:
        try:
            words.append(bytes(holder.decrypt(message).message).decode().strip())
        except PGPError as error:
            words.append("locked" if "is_unlocked" in str(error) else "no words")
    print(f"{name}:", *words, sep=" / ")
try:
    with key.unlock(""):
        print("unlocked")
except NotImplementedError:
    print("not implemented")
END
for key in full laptop; do echo "$key by sqop: $("$sqop" decrypt $key.key <sealed)"; done >>seen
cat >expected <<'END'
full.key: / words / no words / words
laptop.key: / locked / no words / words
not implemented
full by sqop: words
laptop by sqop: words
END

cmp -s seen expected || { echo 'changed: by the key and its subkeys, by sqop:'; cat seen; exit 1; }
echo 'as stated: PGPy does not decrypt with a key whose primary secret is elsewhere'
