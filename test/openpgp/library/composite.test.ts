/** Certificates with a subkey of ML-KEM-768+X25519 (draft-ietf-openpgp-pqc). */
import { readKey, readPrivateKey } from 'openpgp'
import { describe, expect, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { isComposite } from '../../../src/openpgp/library/composite.ts'
import { encryptionKey, termsOf } from '../../../src/openpgp/library/owner-terms.ts'
import { fitsRecord } from '../../../src/openpgp/native/certificate-record.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import {
  FLAG,
  armoredCertificate,
  boundSubkey,
  keyPacket,
  subkeyRevocation,
  userId,
  plainCertificate,
} from '../../support/openpgp-certificate.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { identify } from '../../support/openpgp-key.ts'
import {
  bothPerson,
  compositeBody,
  compositePerson,
  draftVector,
  mlKem,
} from '../../support/openpgp-ml-kem.ts'
import { MADE_MS, NOW_MS, alice, mallory, rsaKey } from '../../support/openpgp-people.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'
import '../../support/openpgp-engine.ts'
import { flipByte } from '../../support/openpgp-flips.ts'
import { statusOf } from '../../../src/openpgp/native/certificate-cache.ts'

const carol = bothPerson('carol', MADE_MS)
const { primary, subkey, kem } = carol
const id = userId(primary, 'carol')
const classical = boundSubkey(primary, subkey)
const bound = boundSubkey(primary, kem)
const certificate = (...parts: Buffer[]): string =>
  armoredCertificate(keyPacket(primary), id, ...parts)
const PQC = { unusable: null, algorithm: 'ML-KEM-768+X25519' }
const CLASSIC = { unusable: null, algorithm: 'Curve25519' }
const status = async (armored: string, known?: string, atMs = NOW_MS) =>
  (await judgeFully(armored, atMs, known)).status

test('a certificate is sealed to by its ML-KEM subkey, in any order beside a classical one', async () => {
  for (const one of [certificate(classical, bound), certificate(bound, classical)]) {
    const { status: found, info } = await judgeFully(one, NOW_MS)
    expect(found).toMatchObject({
      ...PQC,
      fingerprint: primary.fingerprint,
      recipientBytes: { aes256: 1175, aes128: 1159 },
    })
    expect(found.encryptionKeys).toEqual([kem.fingerprint, subkey.fingerprint])
    expect(info).toMatchObject({ recipientKey: { algorithm: 35 }, readsAes256: true })
    expect(info && fitsRecord(info)).toBe(false)
    expect(info && statusOf(info, one)).toMatchObject({ ...PQC, expiresMs: found.expiresMs })
  }
})

test('a certificate with an ML-KEM subkey alone is unusable for openpgp.js by itself', async () => {
  const one = compositePerson('dave', MADE_MS)
  expect(await status(one.certificate)).toMatchObject({
    ...PQC,
    encryptionKeys: [one.kem.fingerprint],
  })
  expect(await judge(one.certificate, NOW_MS)).toMatchObject({ unusable: 'no-encryption-subkey' })
  expect(await judge(carol.certificate, NOW_MS)).toMatchObject(CLASSIC)
})

test('the certificate of the ML-KEM draft is usable', async () => {
  const { status: found } = await judgeFully(draftVector('pk'), NOW_MS)
  expect(found).toMatchObject({
    ...PQC,
    fingerprint: '342e5db2de345215cb2c944f7102ffed3b9cf12d',
    encryptionKeys: ['e51dbfea51936988b5428fffa4f95f985ed61a51'],
  })
})

test('an RSA primary key may bind an ML-KEM subkey', async () => {
  const rsa = rsaKey(2048)
  const one = plainCertificate(rsa, kem, 'rsa')
  const { status: found, info } = await judgeFully(one, NOW_MS)
  expect(found).toMatchObject({ ...PQC, unusable: null })
  expect(info).toMatchObject({ recipientKey: { algorithm: 35 }, signingKey: null })
})

test('the newest of several ML-KEM subkeys is used', async () => {
  const newer = mlKem('newer', MADE_MS + 1000)
  const both = certificate(boundSubkey(primary, newer), bound)
  expect((await status(both)).encryptionKeys).toEqual([newer.fingerprint, kem.fingerprint])
})

describe('an ML-KEM subkey that cannot be used', () => {
  const forged = boundSubkey(mallory.primary, kem)
  const spoilt = flipByte(bound, -3)
  const odd = identify(compositeBody(kem.point.subarray(1), MADE_MS), MADE_MS)
  const long = identify(compositeBody(concat(kem.point, 0), MADE_MS), MADE_MS)
  const lowOrder = concat(Buffer.alloc(32), kem.point.subarray(32))
  const above = concat(kem.point.subarray(0, 32), 0xff, 0xff, kem.point.subarray(34))
  test.each([
    ['bound by another key', forged],
    ['with a spoilt binding', spoilt],
    ['without a binding', packet(14, kem.body)],
    ['bound by SHA-1', boundSubkey(primary, kem, { hash: 'sha1' })],
    ['that may only sign', boundSubkey(primary, kem, { flags: FLAG.sign })],
    ['without its first byte', boundSubkey(primary, { ...kem, ...odd })],
    ['with a byte too many', boundSubkey(primary, { ...kem, ...long })],
    [
      'of low order',
      boundSubkey(primary, { ...kem, ...identify(compositeBody(lowOrder, MADE_MS), MADE_MS) }),
    ],
    [
      'with a coefficient above the modulus',
      boundSubkey(primary, { ...kem, ...identify(compositeBody(above, MADE_MS), MADE_MS) }),
    ],
    ['that has expired', boundSubkey(primary, kem, { hashed: [keyExpiresAfter(60)] })],
    ['that was revoked', concat(bound, subkeyRevocation(primary, kem, { atMs: NOW_MS - 1000 }))],
  ])(
    'an ML-KEM subkey %s is ignored beside a classical one, and alone makes no certificate usable',
    async (_, part) => {
      expect(await status(certificate(classical, part))).toMatchObject(CLASSIC)
      expect((await status(certificate(part))).unusable).not.toBeNull()
    },
  )

  test('a certificate with an ML-KEM primary key is unparseable', async () => {
    const one = armoredCertificate(packet(6, kem.body), id, classical)
    expect(await status(one)).toMatchObject({ unusable: 'unparseable' })
  })

  test('an ML-KEM subkey that is dated ahead is used from its date on', async () => {
    const later = mlKem('later', NOW_MS + 60_000)
    const alone = certificate(boundSubkey(primary, later))
    const found = await status(alone)
    expect(found).toMatchObject({ unusable: 'not-yet-valid', notBeforeMs: NOW_MS + 60_000 })
    expect(await status(alone, undefined, NOW_MS + 60_000)).toMatchObject(PQC)
    const { status: both, info } = await judgeFully(
      certificate(classical, boundSubkey(primary, later)),
      NOW_MS,
    )
    expect([both.algorithm, info?.untilS]).toEqual(['Curve25519', NOW_MS / 1000 + 60])
  })
})

test('a certificate with a revoked classical subkey is usable by its ML-KEM subkey', async () => {
  const one = certificate(
    concat(classical, subkeyRevocation(primary, subkey, { atMs: NOW_MS - 1000 })),
    bound,
  )
  const { status: found, info } = await judgeFully(one, NOW_MS)
  expect(found).toMatchObject({ ...PQC, revocations: true })
  expect(info).toMatchObject({
    recipientKey: { algorithm: 35 },
    signingKey: null,
    hasNoOtherKey: false,
  })
})

describe('a copy without a known ML-KEM subkey', () => {
  test('a certificate without a known ML-KEM subkey is merged with the known copy and reported as stripped', async () => {
    const found = await status(certificate(classical), carol.certificate)
    expect(found).toMatchObject({ ...PQC, isStripped: true })
    expect(await status(found.armored)).toMatchObject(PQC)
    expect((await readKey({ armoredKey: found.armored })).subkeys).toHaveLength(2)
  })

  test('a newer certificate without a known ML-KEM subkey is reported as stripped', async () => {
    const renewed = userId(primary, 'carol', { atMs: MADE_MS + 1000 })
    const one = armoredCertificate(keyPacket(primary), renewed, classical)
    expect(await status(one, carol.certificate)).toMatchObject({
      ...PQC,
      isStripped: true,
      isNews: true,
    })
  })

  test('a certificate without a revoked or expired ML-KEM subkey is not reported as stripped', async () => {
    const revoked = certificate(
      classical,
      concat(bound, subkeyRevocation(primary, kem, { atMs: NOW_MS - 1000 })),
    )
    const found = await status(certificate(classical), revoked)
    expect(found).toMatchObject({ ...CLASSIC, revocations: true })
    expect(found.isStripped).toBeUndefined()
    const short = boundSubkey(primary, kem, { hashed: [keyExpiresAfter(60)] })
    const expired = await status(certificate(classical), certificate(classical, short))
    expect(expired).toMatchObject(CLASSIC)
    expect(expired.isStripped).toBeUndefined()
  })

  test('a certificate with a newer ML-KEM subkey in place of the known one is not reported as stripped', async () => {
    const newer = boundSubkey(primary, mlKem('newer', MADE_MS + 1000))
    const found = await status(certificate(classical, newer), carol.certificate)
    expect(found).toMatchObject(PQC)
    expect(found.isStripped).toBeUndefined()
  })

  test('`judge` of openpgp.js alone does not report a stripped ML-KEM subkey', async () => {
    const found = await judge(certificate(classical), NOW_MS, carol.certificate)
    expect(found).toMatchObject(CLASSIC)
    expect(found.isStripped).toBeUndefined()
  })

  test('a certificate that exceeds its maximal size when merged is unusable as `too-large`', async () => {
    const bindings = (first: number): Buffer[] =>
      Array.from({ length: 20 }, (_, n) => boundSubkey(primary, mlKem(`n ${first + n}`, MADE_MS)))
    const seen = certificate(classical, ...bindings(0))
    const listed = certificate(classical, ...bindings(20))
    expect(await status(seen)).toMatchObject(PQC)
    expect(await status(listed, seen)).toMatchObject({ unusable: 'too-large' })
  })

  test('ML-KEM subkeys of another certificate are never merged', async () => {
    expect(await status(alice.certificate, carol.certificate)).toMatchObject(CLASSIC)
  })
})

test('openpgp.js writes a certificate and a secret key with an ML-KEM subkey unchanged', async () => {
  const read = await readKey({ armoredKey: carol.certificate })
  expect((await readKey({ armoredKey: read.armor() })).write()).toEqual(read.write())
  expect(read.subkeys.map((one) => one.keyPacket.algorithm)).toEqual([18, 35])
  const secret = await readPrivateKey({ binaryKey: carol.unlocked.bytes })
  expect(Buffer.from(secret.write())).toEqual(carol.secret)
  expect(secret.toPublic().write()).toEqual(read.write())
  const found = encryptionKey(await termsOf(read, NOW_MS), NOW_MS, () => true)
  expect(typeof found !== 'string' && isComposite(found.part)).toBe(true)
})
