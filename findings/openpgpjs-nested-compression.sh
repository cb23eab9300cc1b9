#!/bin/sh
# openpgp.js refuses a message that is compressed twice.
#
# Version:  openpgp.js 6.3.2
# Input:    a literal in a compressed packet (ZIP), and the same in one more compressed packet.
# Expected: both are read: a compressed packet holds a message, which may be compressed again
#           (RFC 9580, 10.3). gpg, sqop, rnp, gosop, pgpainless-cli and PGPy read both.
# Seen:     the first is read. The second: `Packet not allowed in this context: compressedData`.
# Know:     compress a message at most once where a recipient may use openpgp.js.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Ends with 77 where it cannot be installed: nothing was checked.
npm install --silent --no-audit --no-fund --prefix . openpgp@6.3.2 ||
  { echo 'skipped: cannot install openpgp@6.3.2'; exit 77; }

cat >nested.mjs <<'END'
import { readMessage } from 'openpgp'
import { deflateRawSync } from 'node:zlib'

const packet = (tag, body) => Buffer.concat([Buffer.from([0xc0 | tag, body.length]), body])
const ZIP = Buffer.from([1])
const compress = (message) => packet(8, Buffer.concat([ZIP, deflateRawSync(message)]))

// Format `b`, no name, no date.
const literal = packet(11, Buffer.from('b\0\0\0\0\0words', 'latin1'))
for (const binaryMessage of [literal, compress(literal), compress(compress(literal))]) {
  try {
    const message = (await readMessage({ binaryMessage })).unwrapCompressed()
    console.log(Buffer.from(message.getLiteralData()).toString())
  } catch (error) {
    console.log(error.message)
  }
}
END
node nested.mjs >seen
cat >expected <<'END'
words
words
Parsing CompressedDataPacket failed: Packet not allowed in this context: compressedData
END

cmp -s seen expected || { echo 'changed: not compressed, once, twice:'; cat seen; exit 1; }
echo 'as stated: openpgp.js refuses a message that is compressed twice'
