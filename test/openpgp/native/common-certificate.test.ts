import { expect, test } from 'vitest'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { armor } from '../../support/openpgp-framing.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  userId,
  plainCertificate,
} from '../../support/openpgp-certificate.ts'
import { curve25519, ed25519 } from '../../support/openpgp-key.ts'
import { isUsual, seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice } from '../../support/openpgp-people.ts'
import { FLAG } from '../../support/openpgp-certificate.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { bothPerson, compositePerson } from '../../support/openpgp-ml-kem.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import { variedCertificate } from '../../support/openpgp-varied.ts'
import { readAlike } from '../../support/openpgp-read-alike.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const { primary, subkey } = alice
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)

test('a certificate of the common shape is read natively with the result of the library', async () => {
  expect(await readAlike(alice.certificate)).toMatchObject({
    fingerprint: Buffer.from(primary.fingerprint, 'hex'),
    recipientKey: { algorithm: 18, createdS: MADE_MS / 1000 },
    signingKey: { algorithm: 22 },
    primarySigns: true,
    hasNoOtherKey: true,
    readsAes256: true,
    fromS: MADE_MS / 1000,
    untilS: 0xffff_ffff,
  })
})

test('a version 4 certificate of Ed25519 and X25519 is read natively with the result of the library', async () => {
  const signs = ed25519Native('new', MADE_MS)
  const encrypts = x25519Native('new', MADE_MS)
  const certificate = plainCertificate(signs, encrypts, 'new')
  expect(await readAlike(certificate)).toMatchObject({
    recipientKey: { algorithm: 25 },
    signingKey: { algorithm: 27 },
  })
})

test('a natively read certificate expires in the same second as for the library', async () => {
  const day = { hashed: [keyExpiresAfter(86_400)] }
  const certificate = armoredCertificate(keyPacket(primary), userId(primary, 'alice', day), binding)
  const endMs = MADE_MS + 86_400_000
  expect(await readAlike(certificate, endMs - 1)).toMatchObject({ untilS: endMs / 1000 })
  expect(await readAlike(certificate, endMs)).toBeNull()
  expect((await judgeFully(certificate, endMs)).status.unusable).toBe('expired')
})

test('a natively read certificate whose primary key may not sign has no signing key', async () => {
  const certifyOnly = userId(primary, 'alice', { flags: FLAG.certify })
  const certificate = armoredCertificate(keyPacket(primary), certifyOnly, binding)
  expect(await readAlike(certificate)).toMatchObject({ signingKey: null, primarySigns: false })
})

const spoilt = (certificate: Buffer): string => {
  const broken = flipByte(certificate, -3)
  return armor(broken, { type: 'PUBLIC KEY BLOCK' })
}
const whole = concat(keyPacket(primary), id, binding)

test.each([
  [
    'with a signing subkey',
    armoredCertificate(whole, signingSubkey(primary, ed25519('s', MADE_MS))),
  ],
  ['with two user ids', armoredCertificate(keyPacket(primary), id, userId(primary, 'b'), binding)],
  ['with two subkeys', armoredCertificate(whole, boundSubkey(primary, curve25519('b', MADE_MS)))],
  [
    'that was revoked',
    armoredCertificate(keyPacket(primary), keyRevocation(primary, { atMs: NOW_MS }), id, binding),
  ],
  ['with a changed binding', spoilt(whole)],
  [
    'that is dated ahead',
    armoredCertificate(
      keyPacket(primary),
      userId(primary, 'alice', { atMs: NOW_MS + 60_000 }),
      binding,
    ),
  ],
  ['that is a message', alice.certificate.replaceAll('PUBLIC KEY BLOCK', 'MESSAGE')],
  ['that is plain text', 'hello'],
])('a certificate %s is left to the library', (_, certificate) => {
  expect(readCommonCertificate(certificate, NOW_MS)).toBeNull()
})

test('a random certificate that is read natively has the result of the library', async () => {
  let taken = 0
  const all = seeds(200)
  for (const seed of all) {
    const random = randomFrom(seed)
    const certificate = armor(variedCertificate(random, NOW_MS), { type: 'PUBLIC KEY BLOCK' })
    const info = await readAlike(certificate).catch((error: unknown) => {
      throw new Error(`FUZZ_SEED=${seed}`, { cause: error })
    })
    if (info !== null) taken++
  }
  if (!isUsual) return
  expect(taken).toBeGreaterThan(all.length / 4)
  expect(taken).toBeLessThan(all.length)
})

test('a mutated certificate that is read natively has the result of the library', async () => {
  for (const seed of seeds(800)) {
    const certificate = armor(mutate(whole, randomFrom(seed)), { type: 'PUBLIC KEY BLOCK' })
    const info = await readAlike(certificate).catch((error: unknown) => {
      throw new Error(`FUZZ_SEED=${seed}`, { cause: error })
    })
    if (info !== null)
      expect(info.fingerprint, `FUZZ_SEED=${seed}`).toEqual(Buffer.from(primary.fingerprint, 'hex'))
  }
})

test.each([
  ['alone', compositePerson('carol', MADE_MS)],
  ['beside Curve25519', bothPerson('carol', MADE_MS)],
])('a certificate with an ML-KEM subkey %s is left to the library', (_, one) => {
  expect(readCommonCertificate(one.certificate, NOW_MS)).toBeNull()
})
