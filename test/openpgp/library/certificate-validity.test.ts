import { expect, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import '../../support/openpgp-engine.ts'
import { curve25519, ed25519 } from '../../support/openpgp-key.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice, mallory, testPerson } from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  directKey,
  keyPacket,
  keyRevocation,
  subkeyRevocation,
  userId,
  userIdRevocation,
} from '../../support/openpgp-certificate.ts'
import { expiresAfter, keyExpiresAfter } from '../../support/openpgp-signature.ts'

const DAY_S = 86_400
const DAY_MS = DAY_S * 1000
const { primary, subkey } = alice
const key = keyPacket(primary)
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)
const lasting = (days: number): { hashed: Buffer[] } => ({
  hashed: [keyExpiresAfter(days * DAY_S)],
})
const yesterday = { atMs: NOW_MS - DAY_MS }

test.each([
  [
    'the self-signature of its user id',
    armoredCertificate(key, userId(primary, 'alice', lasting(60)), binding),
    60,
  ],
  [
    'its subkey binding',
    armoredCertificate(key, id, boundSubkey(primary, subkey, lasting(50))),
    50,
  ],
  [
    'a direct-key signature',
    armoredCertificate(key, directKey(primary, lasting(40)), id, binding),
    40,
  ],
  [
    'the earlier of its self-signature and binding',
    armoredCertificate(
      key,
      userId(primary, 'alice', lasting(60)),
      boundSubkey(primary, subkey, lasting(50)),
    ),
    50,
  ],
  [
    'the expiry of the self-signature itself',
    armoredCertificate(
      key,
      userId(primary, 'alice', { hashed: [expiresAfter(45 * DAY_S)] }),
      binding,
    ),
    45,
  ],
])('a certificate expires by %s', async (_, certificate, days) => {
  const expiresMs = MADE_MS + days * DAY_MS
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null, expiresMs })
  expect(await judge(certificate, expiresMs - 1000)).toMatchObject({ unusable: null })
  expect(await judge(certificate, expiresMs)).toMatchObject({ unusable: 'expired', notBeforeMs: 0 })
  expect(await judge(certificate, expiresMs + DAY_MS)).toMatchObject({ unusable: 'expired' })
})

test('a newer self-signature extends an expired key', async () => {
  const renewed = userId(primary, 'alice', { atMs: NOW_MS - DAY_MS, ...lasting(365) })
  const certificate = armoredCertificate(
    key,
    userId(primary, 'alice', lasting(20)),
    renewed,
    binding,
  )
  expect(await judge(certificate, NOW_MS)).toMatchObject({
    unusable: null,
    expiresMs: MADE_MS + 365 * DAY_MS,
  })
})

test('a newer subkey replaces an expired one', async () => {
  const newer = curve25519('alice newer', NOW_MS - DAY_MS)
  const certificate = armoredCertificate(
    key,
    id,
    boundSubkey(primary, subkey, lasting(10)),
    boundSubkey(primary, newer),
  )
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null, expiresMs: Infinity })
})

test.each([
  [5, null],
  [299, null],
  [300, null],
  [301, 'not-yet-valid'],
  [3600, 'not-yet-valid'],
] as const)(
  'a certificate that is dated %i s ahead has the `unusable` value %s (C1)',
  async (seconds, unusable) => {
    const madeMs = NOW_MS + seconds * 1000
    const { certificate } = testPerson('fast', madeMs)
    const notBeforeMs = madeMs - BOUNDS.clockToleranceMs
    expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable, notBeforeMs })
    expect(await judge(certificate, notBeforeMs)).toMatchObject({ unusable: null, notBeforeMs })
  },
)

test.each([
  [
    'self-signature',
    (atMs: number) => armoredCertificate(key, userId(primary, 'alice', { atMs }), binding),
  ],
  [
    'binding',
    (atMs: number) => armoredCertificate(key, id, boundSubkey(primary, subkey, { atMs })),
  ],
  [
    'subkey',
    (atMs: number) => armoredCertificate(key, id, boundSubkey(primary, curve25519('late', atMs))),
  ],
])('a certificate whose %s is dated an hour ahead is not yet valid until then', async (_, make) => {
  const atMs = NOW_MS + 3_600_000
  const notBeforeMs = atMs - BOUNDS.clockToleranceMs
  const certificate = make(atMs)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: 'not-yet-valid', notBeforeMs })
  expect(await judge(certificate, notBeforeMs)).toMatchObject({ unusable: null })
})

test('a certificate is usable by its older subkey while the newer one is not yet valid', async () => {
  const late = boundSubkey(primary, curve25519('late', NOW_MS + 3_600_000))
  const certificate = armoredCertificate(key, id, binding, late)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null })
})

test.each([0, 1, 2, 3])(
  'a key revocation that is dated ahead, with reason %i, revokes at once',
  async (code) => {
    const revocation = keyRevocation(primary, { atMs: NOW_MS + DAY_MS, code })
    const certificate = armoredCertificate(key, revocation, id, binding)
    expect(await judge(certificate, NOW_MS)).toMatchObject({
      unusable: 'revoked',
      revocations: true,
    })
  },
)

test('a subkey that is retired as of tomorrow is usable until then', async () => {
  const tomorrow = { atMs: NOW_MS + DAY_MS, code: 3 }
  const packets = concat(binding, subkeyRevocation(primary, subkey, tomorrow))
  const certificate = armoredCertificate(key, id, packets)
  expect(await judge(certificate, NOW_MS)).toMatchObject({
    unusable: null,
    expiresMs: tomorrow.atMs,
    revocations: true,
  })
  expect(await judge(certificate, tomorrow.atMs)).toMatchObject({ unusable: 'revoked' })
})

test.each([NOW_MS - DAY_MS, NOW_MS])('a forged subkey revocation is ignored', async (atMs) => {
  const forged = { ...mallory.primary, fingerprint: primary.fingerprint }
  const packets = concat(binding, subkeyRevocation(forged, subkey, { atMs }))
  expect(await judge(armoredCertificate(key, id, packets), NOW_MS)).toMatchObject({
    unusable: null,
    revocations: false,
    expiresMs: Infinity,
  })
})

test('a certificate is usable while one of its user ids is not revoked', async () => {
  const gone = userIdRevocation(primary, 'alice', NOW_MS - DAY_MS)
  expect(await judge(armoredCertificate(key, id, gone, binding), NOW_MS)).toMatchObject({
    unusable: 'revoked',
  })
  const other = userId(primary, 'alice again')
  expect(await judge(armoredCertificate(key, id, gone, other, binding), NOW_MS)).toMatchObject({
    unusable: null,
  })
})

test('a certificate that is expired and revoked is reported as `revoked`', async () => {
  const fresh = ed25519('both', MADE_MS)
  const certificate = armoredCertificate(
    keyPacket(fresh),
    keyRevocation(fresh, yesterday),
    userId(fresh, 'both', lasting(1)),
    boundSubkey(fresh, subkey),
  )
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: 'revoked' })
})
