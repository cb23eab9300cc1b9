/** What self-signatures and bindings say. */
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { type SelfSignature, boundSubkey, userId } from '../../support/openpgp-certificate.ts'
import { issuer, issuerFingerprint, notation, subpacket } from '../../support/openpgp-signature.ts'
import { MADE_MS, NAME, primary, subkey } from '../shape.ts'
import {
  type Entry,
  HASHES,
  HOUR_MS,
  LASTS,
  behind,
  binding,
  certification,
  id,
  key,
  keyed,
  named,
} from './parts.ts'

const SELF: [string, SelfSignature][] = [
  ...HASHES.map((hash): [string, SelfSignature] => [`over ${hash}`, { hash }]),
  ['with a notation', { hashed: [notation('name@example.org', 'x')] }],
  ['with a critical notation', { hashed: [notation('name@example.org', 'x', true)] }],
  ['with an unknown subpacket', { hashed: [subpacket(101, concat(1))] }],
  ['with an unknown critical subpacket', { hashed: [subpacket(101, concat(1), true)] }],
  ['with an unassigned subpacket', { hashed: [subpacket(70, concat(1))] }],
  ['with an unassigned critical subpacket', { hashed: [subpacket(70, concat(1), true)] }],
  ['that may not be exported', { hashed: [subpacket(4, concat(0))] }],
  ['that may be exported, critical', { hashed: [subpacket(4, concat(1), true)] }],
  ['that cannot be revoked', { hashed: [subpacket(7, concat(0))] }],
  ['marked as the primary', { hashed: [subpacket(25, concat(1))] }],
  ['with critical flags', { hashed: [subpacket(27, concat(3), true)] }],
  ['with a critical end', { hashed: [subpacket(9, u32(LASTS), true)] }],
  ['with the MDC feature', { hashed: [subpacket(30, concat(1))] }],
  [
    'with the features of an AEAD',
    { hashed: [subpacket(30, concat(9)), subpacket(39, concat(9, 2, 9, 3))] },
  ],
  ['with suites of an AEAD, without its feature', { hashed: [subpacket(39, concat(9, 2, 7, 2))] }],
  [
    'with the old AEAD features',
    { hashed: [subpacket(30, concat(7)), subpacket(34, concat(2, 1))] },
  ],
  [
    'with a keyserver',
    {
      hashed: [subpacket(24, Buffer.from('https://keys.example.org')), subpacket(23, concat(0x80))],
    },
  ],
  ['with a policy address', { hashed: [subpacket(26, Buffer.from('https://example.org'))] }],
  ["with a signer's user id", { hashed: [subpacket(28, Buffer.from('writer@example.org'))] }],
  ['with a trust level', { hashed: [subpacket(5, concat(1, 120))] }],
  [
    'with a regular expression',
    { hashed: [subpacket(5, concat(1, 120)), subpacket(6, concat(Buffer.from('<.*>'), 0))] },
  ],
  ['with hashes that it prefers', { hashed: [subpacket(21, concat(10, 9, 8, 11, 2))] }],
  ['with SHA3 among the hashes', { hashed: [subpacket(21, concat(14, 12, 10, 8))] }],
  ['with compressions that it prefers', { hashed: [subpacket(22, concat(2, 3, 1))] }],
  ['that prefers Triple-DES alone', { ciphers: [2] }],
  ['that prefers CAST5 and Triple-DES', { ciphers: [3, 2] }],
  ['that prefers AES-128 alone', { ciphers: [7] }],
  ['that prefers AES-192 alone', { ciphers: [8] }],
  ['that prefers Camellia and Twofish', { ciphers: [13, 10] }],
  ['that prefers unknown ciphers', { ciphers: [99, 100] }],
  ['that names no ciphers', { ciphers: [] }],
  ['with an attested certification', { hashed: [subpacket(37, seeded('attested', 32))] }],
  ['with a salt', { hashed: [notation('salt@notations.openpgpjs.org', 'abcdefgh01234567')] }],
  ['with a long notation', { hashed: [notation('long@example.org', 'x'.repeat(5000))] }],
  ['without a date', { undated: true }],
  ['dated twice', { hashed: [subpacket(2, u32(MADE_MS / 1000 + 60))] }],
]
export const selfSignatures: Entry[] = [
  ...SELF.map(([name, options]): Entry => [
    `self-signature ${name}`,
    keyed(userId(primary, NAME, options)),
  ]),
  ...HASHES.map((hash): Entry => [
    `binding over ${hash}`,
    concat(key, id, boundSubkey(primary, subkey, { hash })),
  ]),
  ...HASHES.map((hash): Entry => [
    `self-signature and binding over ${hash}`,
    concat(key, userId(primary, NAME, { hash }), boundSubkey(primary, subkey, { hash })),
  ]),
  ...HASHES.map((hash): Entry => [
    `old self-signature over ${hash}, a newer one over sha256`,
    keyed(userId(primary, NAME, { hash }), certification({ atMs: MADE_MS + HOUR_MS })),
  ]),
  ...['sha1' as const, 'md5' as const].map((hash): Entry => [
    `newer self-signature over ${hash}, an old one over sha256`,
    keyed(id, certification({ hash, atMs: MADE_MS + HOUR_MS })),
  ]),
  ...[0x10, 0x11, 0x12].map((type): Entry => [
    `self-signature of type 0x${type.toString(16)}`,
    keyed(named(NAME, { type })),
  ]),
  ...(
    [
      ['no issuer', []],
      ['the fingerprint of its issuer alone', [issuerFingerprint(primary.fingerprint)]],
      ['the key id of its issuer alone', [issuer(primary.fingerprint)]],
      ['another issuer first', [issuer('00'.repeat(20)), issuer(primary.fingerprint)]],
      ['another issuer alone', [issuer('ab'.repeat(20))]],
    ] as [string, Buffer[]][]
  ).map(([name, unhashed]): Entry => [
    `self-signature with ${name}`,
    keyed(named(NAME, { unhashed })),
  ]),
  ['the same self-signature twice', keyed(id, certification())],
  ['the same user id twice', keyed(id, id)],
  ['the same subkey twice', behind(binding)],
]
