/** Signatures of many shapes over the usual words. */
import { concat, seeded, u32 } from '../support/openpgp-bytes.ts'
import { literal, type SigningOptions } from '../support/openpgp-inner.ts'
import { packet } from '../support/openpgp-framing.ts'
import { ed25519 } from '../support/openpgp-key.ts'
import {
  HASH,
  TYPE,
  embedded,
  expiresAfter,
  intendedRecipient,
  issuer,
  issuerFingerprint,
  notation,
  onePass,
  signature,
  signatureBody,
  subpacket,
  type HashName,
} from '../support/openpgp-signature.ts'
import { ed25519Native } from '../support/openpgp-x25519.ts'
import {
  DAY_S,
  MADE_MS,
  WORDS,
  WORDS_MS,
  primary,
  reader,
  toReader,
  usual,
  wordsBy,
  type Shape,
} from './shape.ts'

const HASHES = Object.keys(HASH) as HashName[]
const TYPES = { ...TYPE, unknown: 0x05, thirdParty: 0x50 }
const stranger = ed25519('peers foreign', MADE_MS)
const nativeOther = ed25519Native('peers foreign', MADE_MS)

const SIGNINGS: [string, Omit<SigningOptions, 'signer' | 'atMs'> & { atMs?: number }][] = [
  ...HASHES.map((hash): [string, { hash: HashName }] => [`over ${hash}`, { hash }]),
  ...Object.entries(TYPES).map(([name, type]): [string, { type: number }] => [
    `of type ${name}`,
    { type },
  ]),
  ['when the key was made', { atMs: MADE_MS }],
  ['a second before the key was made', { atMs: MADE_MS - 1000 }],
  ['a day before the key was made', { atMs: MADE_MS - DAY_S * 1000 }],
  ['without a date', { undated: true }],
  ['dated twice', { hashed: [subpacket(2, u32(WORDS_MS / 1000 - 60))] }],
  ['dated 2090', { atMs: Date.UTC(2090, 0, 1) }],
  ['that ended', { hashed: [expiresAfter(DAY_S)] }],
  ['that lasts', { hashed: [expiresAfter(30 * 365 * DAY_S)] }],
  ['that lasts for ever by a zero', { hashed: [expiresAfter(0)] }],
  ['with a notation', { hashed: [notation('name@example.org', 'x')] }],
  ['with a critical notation', { hashed: [notation('name@example.org', 'x', true)] }],
  ['with a salt', { hashed: [notation('salt@notations.openpgpjs.org', 'abcdefgh01234567')] }],
  ['with an unknown subpacket', { hashed: [subpacket(101, concat(1))] }],
  ['with an unknown critical subpacket', { hashed: [subpacket(101, concat(1), true)] }],
  ['with an unassigned critical subpacket', { hashed: [subpacket(70, concat(1), true)] }],
  ['with a critical date', { hashed: [subpacket(16, concat(primary.keyId), true)] }],
  ['with a policy address', { hashed: [subpacket(26, Buffer.from('https://example.org'))] }],
  ["with a signer's user id", { hashed: [subpacket(28, Buffer.from('writer@example.org'))] }],
  ["with another's user id", { hashed: [subpacket(28, Buffer.from('other@example.org'))] }],
  ['with flags', { hashed: [subpacket(27, concat(2))] }],
  ['with features', { hashed: [subpacket(30, concat(1))] }],
  ['with ciphers that it prefers', { hashed: [subpacket(11, concat(9, 8, 7))] }],
  [
    'with an embedded signature',
    {
      hashed: [
        embedded(signatureBody({ signer: stranger, over: Buffer.from('x'), atMs: WORDS_MS })),
      ],
    },
  ],
  ['for the reader', { hashed: [intendedRecipient(reader.primary.fingerprint)] }],
  ['for the reader, critical', { hashed: [intendedRecipient(reader.primary.fingerprint, true)] }],
  ['for somebody else', { hashed: [intendedRecipient('ab'.repeat(20))] }],
  ['with a target', { hashed: [subpacket(31, concat(1, 8, seeded('target', 32)))] }],
  ['with a keyserver', { hashed: [subpacket(24, Buffer.from('https://keys.example.org'))] }],
  ['that may not be exported', { hashed: [subpacket(4, concat(0))] }],
  ['that cannot be revoked', { hashed: [subpacket(7, concat(0))] }],
  ['of 3,000 bytes of notations', { hashed: [notation('long@example.org', 'x'.repeat(3000))] }],
  ['with an empty subpacket area', { unhashed: [issuer(primary.fingerprint)] }],
  ['with no issuer', { unhashed: [] }],
  [
    'with the fingerprint of its issuer alone',
    { unhashed: [issuerFingerprint(primary.fingerprint)] },
  ],
  [
    'with the key id of its issuer, hashed',
    { hashed: [issuer(primary.fingerprint)], unhashed: [] },
  ],
  [
    'with the fingerprint of its issuer, hashed',
    { hashed: [issuerFingerprint(primary.fingerprint)], unhashed: [] },
  ],
  [
    'with another key id, and the right fingerprint',
    { hashed: [issuerFingerprint(primary.fingerprint)], unhashed: [issuer('ab'.repeat(20))] },
  ],
  [
    'with two key ids, the right one last',
    { unhashed: [issuer('ab'.repeat(20)), issuer(primary.fingerprint)] },
  ],
  [
    'with two key ids, the right one first',
    { unhashed: [issuer(primary.fingerprint), issuer('ab'.repeat(20))] },
  ],
  [
    'with an unhashed notation',
    { unhashed: [issuer(primary.fingerprint), notation('name@example.org', 'x')] },
  ],
  ['with an unhashed end', { unhashed: [issuer(primary.fingerprint), expiresAfter(1)] }],
  [
    'with an unhashed critical unknown subpacket',
    { unhashed: [issuer(primary.fingerprint), subpacket(101, concat(1), true)] },
  ],
]

/** A signature of version 3 (RFC 9580, 5.2.2), behind a one-pass packet. */
function versionThree(): Buffer {
  const document = Buffer.from(WORDS)
  const hashedPart = concat(TYPE.binary, u32(WORDS_MS / 1000))
  const message = concat(document, hashedPart)
  const numbers = primary.sign(message, 'sha256')
  const body = concat(3, 5, hashedPart, primary.keyId, 22, 8, '0000', numbers)
  return toReader(concat(onePass({ signer: primary }), literal(WORDS), packet(2, body)))
}

const unknown = (version: number): Buffer =>
  toReader(
    concat(
      onePass({ signer: primary, last: false }),
      onePass({ signer: primary }),
      literal(WORDS),
      signature({ signer: primary, atMs: WORDS_MS, over: Buffer.from(WORDS) }),
      packet(2, concat(version, seeded('unknown', 80))),
    ),
  )

export const SIGNATURES: Shape[] = [
  ...SIGNINGS.map(([name, options]): [string, Buffer] => [
    name,
    wordsBy({ signer: primary, atMs: WORDS_MS, ...options }),
  ]),
  ['of version 3', versionThree()] as [string, Buffer],
  ...[5, 9].map((version): [string, Buffer] => [
    `of version ${version} beside a usual one`,
    unknown(version),
  ]),
  [
    'by an unknown algorithm beside a usual one',
    wordsBy([
      { signer: nativeOther, atMs: WORDS_MS },
      { signer: primary, atMs: WORDS_MS },
    ]),
  ] as [string, Buffer],
].map(([name, message]) => ({
  group: 'signature',
  name: `signature ${name}`,
  certificate: usual,
  message,
}))
