/** What openpgp.js reports of a certificate for native sealing and verifying, and of an own key. */
import { expect, test } from 'vitest'
import { certificateOf } from '../../../src/openpgp/library/key-cache.ts'
import { describeOwnKey, judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { applyProfile } from '../../../src/openpgp/library/profile.ts'
import { NEVER_S } from '../../../src/openpgp/bounds.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyRevocation,
  userId,
  userIdRevocation,
  type SelfSignature,
} from '../../support/openpgp-certificate.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { curve25519, ed25519 } from '../../support/openpgp-key.ts'
import {
  MADE_MS,
  NOW_MS,
  alice,
  bot,
  personOf,
  rsaKey,
  testPerson,
} from '../../support/openpgp-people.ts'
import { expiresAfter } from '../../support/openpgp-signature.ts'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'

applyProfile()

const { primary, subkey } = alice
const MADE_S = MADE_MS / 1000
const NOW_S = NOW_MS / 1000
const infoAt = async (certificate: string, nowMs = NOW_MS): Promise<CertificateInfo | null> =>
  (await judgeFully(certificate, nowMs)).info
const id = (options: SelfSignature = {}): Buffer => userId(primary, 'alice', options)
const sub = (options: SelfSignature = {}): Buffer => boundSubkey(primary, subkey, options)
const made = (...packets: Buffer[]): string => armoredCertificate(keyPacket(primary), ...packets)
const hexOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? '').toString('hex')
/** The last 32 bytes of a legacy point stand before what derives keys. */
const pointIn = (body: Buffer, behind: number): string =>
  body.subarray(body.length - behind - 32, body.length - behind).toString('hex')
const DERIVATION_BYTES = 4

test('the `CertificateInfo` of a plain certificate is complete, with points in memory of their own', async () => {
  const info = await infoAt(alice.certificate)
  expect(hexOf(info?.fingerprint)).toBe(primary.fingerprint)
  expect(info).toMatchObject({
    recipientKey: { algorithm: 18, createdS: MADE_S },
    signingKey: { algorithm: 22, createdS: MADE_S },
    primarySigns: true,
    hasNoOtherKey: true,
    readsAes256: true,
    fromS: MADE_S,
    untilS: NEVER_S,
  })
  expect(hexOf(info?.recipientKey.point)).toBe(pointIn(subkey.body, DERIVATION_BYTES))
  expect(hexOf(info?.signingKey?.point)).toBe(pointIn(primary.body, 0))
  expect(info?.recipientKey.point.buffer.byteLength).toBe(32)
  expect(info?.signingKey?.point.buffer.byteLength).toBe(32)
})

test('the `CertificateInfo` of a certificate with a signing subkey has that as its signing key', async () => {
  const signing = ed25519('signing', MADE_MS)
  const info = await infoAt(made(id(), sub(), signingSubkey(primary, signing)))
  expect(info).toMatchObject({ primarySigns: false, hasNoOtherKey: true })
  expect(hexOf(info?.signingKey?.point)).toBe(pointIn(signing.body, 0))
})

test('the `CertificateInfo` of a certificate with an unused subkey reports another key', async () => {
  const older = curve25519('older', MADE_MS - 86_400_000)
  const info = await infoAt(made(id(), sub(), boundSubkey(primary, older, { atMs: MADE_MS })))
  expect(info).toMatchObject({ hasNoOtherKey: false, primarySigns: true })
  expect(hexOf(info?.recipientKey.point)).toBe(pointIn(subkey.body, DERIVATION_BYTES))
})

const RETIRED = { atMs: NOW_MS - 1000, code: 3 }
const spare = curve25519('spare', MADE_MS - 1000)

test.each([
  [
    'an unused subkey',
    made(
      id(),
      sub(),
      boundSubkey(primary, spare, { atMs: MADE_MS }),
      subkeyRevocation(primary, spare, RETIRED),
    ),
  ],
  [
    'one of its user ids',
    made(id(), userId(primary, 'other'), userIdRevocation(primary, 'other', NOW_MS - 1000), sub()),
  ],
  ['the primary key, by another signer,', made(keyRevocation(bot.primary, RETIRED), id(), sub())],
  ['the primary key', made(keyRevocation(primary, RETIRED), id(), sub())],
])('a certificate where %s is revoked has no `CertificateInfo`', async (_, certificate) => {
  expect(await infoAt(certificate)).toBeNull()
})

test('the `CertificateInfo` of a certificate with an RSA primary key has no signing key', async () => {
  const { certificate } = personOf('rsa', rsaKey(2048), curve25519('rsa', MADE_MS))
  expect(await infoAt(certificate)).toMatchObject({
    signingKey: null,
    primarySigns: false,
    hasNoOtherKey: true,
    recipientKey: { algorithm: 18 },
  })
  const onlyCertifies = made(id({ flags: 1 }), sub())
  expect(await infoAt(onlyCertifies)).toMatchObject({ signingKey: null, primarySigns: false })
})

test('a certificate with a newer statement in an earlier copy has no `CertificateInfo`', async () => {
  const known = made(id(), userId(primary, 'b', { atMs: NOW_MS - 1000 }), sub())
  const { info, status } = await judgeFully(alice.certificate, NOW_MS, known)
  expect([info, status.unusable]).toEqual([null, null])
})

const DAY_S = 86_400
const untilDay = 60 * DAY_S

test.each<[string, string, { fromS?: number; untilS?: number }]>([
  [
    'its self-signature expires',
    made(id({ hashed: [expiresAfter(untilDay)] }), sub()),
    { untilS: MADE_S + untilDay },
  ],
  [
    'its binding expires',
    made(id(), sub({ hashed: [expiresAfter(untilDay)] })),
    { untilS: MADE_S + untilDay },
  ],
  ['its self-signature is newer', made(id({ atMs: NOW_MS - 5000 }), sub()), { fromS: NOW_S - 5 }],
  [
    'its self-signature is of the current second',
    made(id({ atMs: NOW_MS }), sub()),
    { fromS: NOW_S },
  ],
  ['its binding is newer', made(id(), sub({ atMs: NOW_MS - 5000 })), { fromS: NOW_S - 5 }],
  [
    'another self-signature begins',
    made(id(), id({ atMs: NOW_MS + 9000 }), sub()),
    { untilS: NOW_S + 9 },
  ],
])(
  'the `CertificateInfo` of a certificate holds until a change: %s',
  async (_, certificate, times) => {
    expect(await infoAt(certificate)).toMatchObject({ fromS: MADE_S, untilS: NEVER_S, ...times })
  },
)

test('a certificate that is dated a minute ahead is usable and has no `CertificateInfo`', async () => {
  const { certificate } = testPerson('soon', NOW_MS + 60_000)
  expect((await judgeFully(certificate, NOW_MS)).status.unusable).toBeNull()
  expect(await infoAt(certificate)).toBeNull()
})

test('`describeOwnKey` returns the opening subkeys and the info of a key', async () => {
  const described = await describeOwnKey(alice.unlocked, NOW_MS)
  expect(described.opens).toEqual([subkey.keyId])
  expect(described.info).toEqual(await infoAt(alice.certificate))
  const early = await describeOwnKey(alice.unlocked, MADE_MS - 86_400_000)
  expect(early).toMatchObject({ opens: [subkey.keyId], info: null })
  const signing = testPerson('signs alone')
  const bytes = concat(
    packet(5, signing.primary.secretBody),
    userId(signing.primary, 'signs alone'),
  )
  expect(await describeOwnKey({ ...signing.unlocked, bytes }, NOW_MS)).toEqual({
    opens: [],
    info: null,
  })
})

test('`certificateOf` rejects a secret key', async () => {
  const secret = armor(alice.secret, { type: 'PRIVATE KEY BLOCK' })
  await expect(certificateOf(secret)).rejects.toThrow('a secret key is no certificate')
})
