#!/bin/sh
# pgpainless-cli cannot open its own part of a message when another recipient has a new X25519 key.
#
# Version:  pgpainless-cli 1.3.16-1, Debian 12; openpgp.js 6.3.2 makes keys and messages; sqop
#           0.27.3 to compare
# Input:    a message for two: a key of version 4 with X25519 of RFC 9580 (algorithm 25), and one
#           with the older ECDH over Curve25519 (algorithm 18). The container has version 1.
# Expected: the owner of the older key reads the message: each recipient has a packet of their own
#           (RFC 9580, 5.1).
# Seen:     pgpainless-cli reports no valid OpenPGP message, in either order of the recipients. It
#           opens the message for the older key alone. sqop opens all three.
# Know:     one recipient with a new key can make a group's message unreadable for all whose program
#           is PGPainless 1.3. Encrypt for such people apart.
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

npm install --silent --no-audit --no-fund --prefix . openpgp@6.3.2 ||
  { echo 'skipped: cannot install openpgp@6.3.2'; exit 77; }

cat >make.mjs <<'END'
import { createMessage, encrypt, generateKey } from 'openpgp'
import { writeFileSync } from 'node:fs'

const make = (type) =>
  generateKey({ type, userIDs: [{ email: `${type}@example.org` }], format: 'object' })
const older = await make('ecc')
const newer = await make('curve25519')
writeFileSync('older.key', older.privateKey.armor())
for (const [name, keys] of Object.entries({
  alone: [older],
  first: [older, newer],
  last: [newer, older],
})) {
  const message = await createMessage({ text: 'words' })
  const encryptionKeys = keys.map((key) => key.publicKey)
  writeFileSync(name, await encrypt({ message, encryptionKeys }))
}
END
node make.mjs

for name in alone first last; do
  by_pgpainless=$(pgpainless decrypt older.key <$name 2>>log) || by_pgpainless='no words'
  by_sqop=$("$sqop" decrypt older.key <$name 2>>log) || by_sqop='no words'
  echo "$name: $by_pgpainless, sqop $by_sqop"
done >seen
cat >expected <<'END'
alone: words, sqop words
first: no words, sqop words
last: no words, sqop words
END

cmp -s seen expected || { echo 'changed:'; cat seen log; exit 1; }
echo 'as stated: pgpainless-cli does not open a message that is also for a new X25519 key'
