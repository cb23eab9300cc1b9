/** Vectors of certificates: SECURITY C1. */
import { packet } from '../../support/openpgp-framing.ts'
import { identify, seconds } from '../../support/openpgp-key.ts'
import { mpi, concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import {
  MADE_MS,
  NOW_MS,
  alice,
  mallory,
  rsaKey,
  testPerson,
} from '../../support/openpgp-people.ts'
import {
  boundSubkey,
  directKey,
  keyPacket,
  keyRevocation,
  subkeyRevocation,
  userId,
  userIdRevocation,
} from '../../support/openpgp-certificate.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { paperRsa } from '../../support/openpgp-generated.ts'
import type { CertificateCase } from './case.ts'

const DAY_S = 86_400
const DAY_MS = DAY_S * 1000
const { primary, subkey } = alice
const key = keyPacket(primary)
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)
const whole = concat(key, id, binding)
const lasting = (days: number): { hashed: Buffer[] } => ({
  hashed: [keyExpiresAfter(days * DAY_S)],
})
const yesterday = { atMs: NOW_MS - DAY_MS }
const forged = { ...mallory.primary, fingerprint: primary.fingerprint }
const rsa = rsaKey(2048)
const weak = rsaKey(1024)
const known = { fingerprint: primary.fingerprint }
const withSubkey = (body: Buffer): Buffer =>
  concat(key, id, boundSubkey(primary, identify(body, MADE_MS)))
const elgamal = concat(
  4,
  seconds(MADE_MS),
  16,
  ...['p', 'g', 'y'].map((name) => mpi(concat(0x80, seeded(name, 255)))),
)
const v6 = concat(6, u32(MADE_MS / 1000), 27, u32(32), seeded('v6', 32))
const v3 = concat(3, u32(MADE_MS / 1000), 0, 0, 1, '0400', seeded('n', 128), '0011', '010001')
type More = Omit<CertificateCase, 'name' | 'about' | 'covers' | 'body'>
const row = (
  name: string,
  about: string,
  covers: string,
  body: Uint8Array | string,
  more: More = {},
): CertificateCase => ({ name, about, covers: `SECURITY ${covers}`, body, ...more })
const no = (unusable: string): More => ({ unusable })

export const CERTIFICATES: CertificateCase[] = [
  row('c0-plain', 'Ed25519 signs, Curve25519 encrypts, in the legacy encodings.', '3.4', whole, {
    ...known,
    algorithm: 'Curve25519',
    expiresMs: null,
    recipient: [96, 80],
  }),
  row(
    'c0-rsa',
    'An RSA key of 2048 bits, and Curve25519.',
    '3.4',
    concat(keyPacket(rsa), userId(rsa, 'rsa'), boundSubkey(rsa, subkey)),
    { fingerprint: rsa.fingerprint, recipient: [96, 80] },
  ),
  row('c0-rsa-subkey', 'An RSA subkey of 3072 bits.', '3.4', withSubkey(paperRsa(3072)), {
    ...known,
    algorithm: 'RSA 3072',
    recipient: [399, 399],
  }),
  row(
    'c1-expires',
    'It expires in thirty days.',
    'C1',
    concat(key, userId(primary, 'alice', lasting(61)), binding),
    { ...known, expiresMs: MADE_MS + 61 * DAY_MS },
  ),
  row(
    'c1-expired',
    'It expired yesterday.',
    'C1',
    concat(key, userId(primary, 'alice', lasting(30)), binding),
    no('expired'),
  ),
  row(
    'c1-expired-direct',
    'It expired by a direct-key signature.',
    'C1',
    concat(key, directKey(primary, lasting(30)), id, binding),
    no('expired'),
  ),
  row(
    'c1-expired-subkey',
    'Its subkey expired.',
    'C1',
    concat(key, id, boundSubkey(primary, subkey, lasting(30))),
    no('expired'),
  ),
  row(
    'c1-five-seconds-ahead',
    'Made five seconds ahead of our clock.',
    'C1',
    testPerson('fast', NOW_MS + 5000).certificate,
    { recipient: [96, 80] },
  ),
  row(
    'c1-an-hour-ahead',
    'Made an hour ahead of our clock.',
    'C1',
    testPerson('late', NOW_MS + 3_600_000).certificate,
    { unusable: 'not-yet-valid', notBeforeMs: NOW_MS + 3_300_000 },
  ),
  ...[0, 1, 2, 3].map((code) =>
    row(
      `c1-revoked-${code}`,
      `Revoked yesterday for reason ${code}.`,
      'C1',
      concat(key, keyRevocation(primary, { ...yesterday, code }), id, binding),
      no('revoked'),
    ),
  ),
  row(
    'c1-revoked-sha1',
    'Revoked over SHA-1, which nothing else may be.',
    'C1',
    concat(
      keyPacket(rsa),
      keyRevocation(rsa, { ...yesterday, hash: 'sha1' }),
      userId(rsa, 'rsa'),
      boundSubkey(rsa, subkey),
    ),
    no('revoked'),
  ),
  row(
    'c1-revoked-by-others',
    'Somebody else revoked it: nobody did.',
    'C1',
    concat(key, keyRevocation(forged, yesterday), id, binding),
    known,
  ),
  row(
    'c1-revoked-subkey',
    'Its only subkey was revoked.',
    'C1',
    concat(key, id, binding, subkeyRevocation(primary, subkey, yesterday)),
    no('revoked'),
  ),
  row(
    'c1-revoked-user-id',
    'Its only user id was revoked.',
    'C1',
    concat(key, id, userIdRevocation(primary, 'alice', NOW_MS - DAY_MS), binding),
    no('revoked'),
  ),
  row('c1-no-subkey', 'Nothing to encrypt to.', 'C1', concat(key, id), no('no-encryption-subkey')),
  row(
    'c1-signing-subkey',
    'A subkey that may only sign.',
    'C1',
    concat(key, id, boundSubkey(primary, subkey, { flags: 2 })),
    no('no-encryption-subkey'),
  ),
  row('c1-no-user-id', 'No user id.', 'C1', concat(key, binding), no('no-encryption-subkey')),
  row(
    'c1-rsa-1024',
    'An RSA key of 1024 bits.',
    'C1',
    concat(keyPacket(weak), userId(weak, 'weak'), boundSubkey(weak, subkey)),
    no('weak-algorithm'),
  ),
  row(
    'c1-rsa-1024-subkey',
    'An RSA subkey of 1024 bits.',
    'C1',
    withSubkey(paperRsa(1024)),
    no('weak-algorithm'),
  ),
  row('c1-elgamal', 'An Elgamal subkey.', 'C1', withSubkey(elgamal), no('weak-algorithm')),
  row(
    'c1-sha1',
    'Its self-signature is over SHA-1.',
    'C1',
    concat(keyPacket(rsa), userId(rsa, 'rsa', { hash: 'sha1' }), boundSubkey(rsa, subkey)),
    no('weak-algorithm'),
  ),
  row(
    'c1-sha1-binding',
    'Its binding is over SHA-1.',
    'C1',
    concat(keyPacket(rsa), userId(rsa, 'rsa'), boundSubkey(rsa, subkey, { hash: 'sha1' })),
    no('weak-algorithm'),
  ),
  row('c1-version-3', 'A key of version 3.', 'C1', packet(6, v3), no('version')),
  row('c1-version-6', 'A key of version 6.', 'C1', packet(6, v6), no('version')),
]
