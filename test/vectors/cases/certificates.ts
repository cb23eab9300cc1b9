/** Bodies of vectors of certificates: SECURITY C1 and C4 to C7. */
import { armor, packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { curve25519, identify, seconds } from '../../support/openpgp-key.ts'
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
  bogusBindings,
  bogusCertifications,
  boundSubkey,
  directKey,
  keyPacket,
  keyRevocation,
  subkeyPacket,
  subkeyRevocation,
  userId,
  userIdRevocation,
} from '../../support/openpgp-certificate.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { paperRsa } from '../../support/openpgp-generated.ts'
import type { Bodies } from './bodies.ts'

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
const names = (count: number): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => userId(primary, `alice ${index}`)))

export const CERTIFICATES: Bodies = {
  'c0-plain': whole,
  'c0-rsa': concat(keyPacket(rsa), userId(rsa, 'rsa'), boundSubkey(rsa, subkey)),
  'c0-rsa-subkey': withSubkey(paperRsa(3072)),
  'c1-expires': concat(key, userId(primary, 'alice', lasting(61)), binding),
  'c1-expired': concat(key, userId(primary, 'alice', lasting(30)), binding),
  'c1-expired-direct': concat(key, directKey(primary, lasting(30)), id, binding),
  'c1-expired-subkey': concat(key, id, boundSubkey(primary, subkey, lasting(30))),
  'c1-five-seconds-ahead': testPerson('fast', NOW_MS + 5000).certificate,
  'c1-an-hour-ahead': testPerson('late', NOW_MS + 3_600_000).certificate,
  ...Object.fromEntries(
    [0, 1, 2, 3].map((code) => [
      `c1-revoked-${code}`,
      concat(key, keyRevocation(primary, { ...yesterday, code }), id, binding),
    ]),
  ),
  'c1-revoked-sha1': concat(
    keyPacket(rsa),
    keyRevocation(rsa, { ...yesterday, hash: 'sha1' }),
    userId(rsa, 'rsa'),
    boundSubkey(rsa, subkey),
  ),
  'c1-revoked-by-others': concat(key, keyRevocation(forged, yesterday), id, binding),
  'c1-revoked-subkey': concat(key, id, binding, subkeyRevocation(primary, subkey, yesterday)),
  'c1-revoked-user-id': concat(
    key,
    id,
    userIdRevocation(primary, 'alice', NOW_MS - DAY_MS),
    binding,
  ),
  'c1-no-subkey': concat(key, id),
  'c1-signing-subkey': concat(key, id, boundSubkey(primary, subkey, { flags: 2 })),
  'c1-no-user-id': concat(key, binding),
  'c1-rsa-1024': concat(keyPacket(weak), userId(weak, 'weak'), boundSubkey(weak, subkey)),
  'c1-rsa-1024-subkey': withSubkey(paperRsa(1024)),
  'c1-elgamal': withSubkey(elgamal),
  'c1-sha1': concat(keyPacket(rsa), userId(rsa, 'rsa', { hash: 'sha1' }), boundSubkey(rsa, subkey)),
  'c1-sha1-binding': concat(
    keyPacket(rsa),
    userId(rsa, 'rsa'),
    boundSubkey(rsa, subkey, { hash: 'sha1' }),
  ),
  'c1-version-3': packet(6, v3),
  'c1-version-6': packet(6, v6),
  'c4-two-certificates': concat(whole, keyPacket(mallory.primary)),
  'c4-two-blocks': alice.certificate + mallory.certificate,
  'c4-secret-key': armor(alice.secret, { type: 'PRIVATE KEY BLOCK' }),
  'c4-secret-in-public': alice.secret,
  'c4-message': armor(literal('hello')),
  'c4-junk': 'hello',
  'c4-too-long': alice.certificate.padEnd(65_537, '\n'),
  'c4-many-user-ids': concat(key, names(300), binding),
  'c4-bogus-self-signatures': concat(key, id, bogusCertifications(primary, 'alice', 300), binding),
  'c4-bogus-bindings': concat(key, id, binding, bogusBindings(primary, subkey, 15)),
  'c5-grafted': concat(key, id, subkeyPacket(mallory.subkey), binding),
  'c5-grafted-alone': concat(key, id, boundSubkey(mallory.primary, mallory.subkey)),
  'c6-stripped': whole,
  'c6-replaced': concat(key, keyRevocation(forged, yesterday), id, binding),
  'c6-subkey-stripped': whole,
  'c6-subkey-renewed': concat(
    key,
    id,
    boundSubkey(primary, curve25519('alice newer', NOW_MS - DAY_MS)),
  ),
  'c7-rsa-8192': withSubkey(paperRsa(8192)),
  'c7-rsa-16384': withSubkey(paperRsa(16_384)),
}
