import { expect, test } from 'vitest'
import type { SignatureResult } from '../../../src/openpgp/engine.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { openInner } from '../../support/openpgp-engine.ts'
import { signedLiteral, type SigningOptions } from '../../support/openpgp-inner.ts'
import { ed25519, type SigningKey } from '../../support/openpgp-key.ts'
import {
  MADE_MS,
  NOW_MS,
  alice,
  mallory,
  rsaKey,
  testPerson,
} from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyPacket,
  subkeyRevocation,
  userId,
  userIdRevocation,
} from '../../support/openpgp-certificate.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'

const DAY_MS = 86_400_000
const { primary, subkey } = alice
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)

async function check(
  certificate: string,
  signer: SigningKey = primary,
  { atMs = NOW_MS, nowMs = NOW_MS, ...rest }: Partial<SigningOptions> & { nowMs?: number } = {},
): Promise<SignatureResult | undefined> {
  const opened = await openInner(signedLiteral('hello', { signer, atMs, ...rest }))
  if (opened.outcome !== 'opened') throw new Error('not opened')
  return (await verify(opened.signed, certificate, nowMs))[0]
}

/** Alice's certificate, revoked a day ago for a reason. */
const revoked = (code: number): string =>
  armoredCertificate(
    keyPacket(primary),
    keyRevocation(primary, { atMs: NOW_MS - DAY_MS, code }),
    id,
    binding,
  )

test.each([
  [0, 'without a reason'],
  [2, 'as compromised'],
])('P35 a key revoked hard (%i, %s) makes every signature bad', async (code) => {
  expect(await check(revoked(code), primary, { atMs: NOW_MS - 2 * DAY_MS })).toBe('bad')
  expect(await check(revoked(code))).toBe('bad')
})

test.each([
  [1, 'as superseded'],
  [3, 'as retired'],
])('P35 a key revoked softly (%i, %s) keeps what it signed before', async (code) => {
  expect(await check(revoked(code), primary, { atMs: NOW_MS - 2 * DAY_MS })).toBe('valid')
  expect(await check(revoked(code))).toBe('bad')
})

test('a revocation that somebody else made is none', async () => {
  const forged = { ...mallory.primary, fingerprint: primary.fingerprint }
  const certificate = armoredCertificate(
    keyPacket(primary),
    keyRevocation(forged, { atMs: NOW_MS - DAY_MS }),
    id,
    binding,
  )
  expect(await check(certificate)).toBe('valid')
})

const thirtyDays = { hashed: [keyExpiresAfter(30 * 86_400)] }

test('an expired key verifies nothing, back-dated or not', async () => {
  const certificate = armoredCertificate(
    keyPacket(primary),
    userId(primary, 'alice', thirtyDays),
    binding,
  )
  expect(await check(certificate)).toBe('bad')
  const before = MADE_MS + 29 * DAY_MS
  expect(await check(certificate, primary, { atMs: before })).toBe('bad')
  expect(await check(certificate, primary, { atMs: before, nowMs: before })).toBe('valid')
})

test('an expired key whose user id was revoked since verifies nothing either', async () => {
  const gone = userIdRevocation(primary, 'alice', NOW_MS - DAY_MS)
  const expired = userId(primary, 'alice', thirtyDays)
  const certificate = armoredCertificate(keyPacket(primary), expired, gone, binding)
  expect(await check(certificate, primary, { atMs: MADE_MS + DAY_MS })).toBe('bad')
})

test('an expired encryption subkey takes nothing from what the primary key signs', async () => {
  const encryption = boundSubkey(primary, subkey, thirtyDays)
  const certificate = armoredCertificate(keyPacket(primary), id, encryption)
  expect(await check(certificate)).toBe('valid')
  expect(await check(certificate, primary, { atMs: MADE_MS + DAY_MS })).toBe('valid')
})

test('a user id that was revoked, and the only one, makes every signature bad', async () => {
  const certificate = armoredCertificate(
    keyPacket(primary),
    id,
    userIdRevocation(primary, 'alice', NOW_MS - DAY_MS),
    binding,
  )
  expect(await check(certificate)).toBe('bad')
})

test('what was signed before a user id was revoked holds, in whatever order it is asked', async () => {
  const gone = userIdRevocation(primary, 'alice', NOW_MS - DAY_MS)
  const certificate = armoredCertificate(keyPacket(primary), id, gone, binding)
  const before = { atMs: NOW_MS - 2 * DAY_MS }
  expect(await check(certificate, primary, before)).toBe('valid')
  expect(await check(certificate)).toBe('bad')
  expect(await check(certificate, primary, before)).toBe('valid')
})

test('a certificate without any self-signature makes every signature bad', async () => {
  const certificate = armoredCertificate(keyPacket(primary), subkeyPacket(subkey))
  expect(await check(certificate)).toBe('bad')
})

const signingKey = ed25519('alice signing', MADE_MS)
const withSigning = (packets: Buffer): string =>
  armoredCertificate(keyPacket(primary), id, binding, packets)

test('a signing subkey signs for its certificate', async () => {
  expect(await check(withSigning(signingSubkey(primary, signingKey)), signingKey)).toBe('valid')
})

test('an expired signing subkey verifies nothing, back-dated or not, and the primary goes on', async () => {
  const back = signingSubkey(primary, signingKey, { hashed: [keyExpiresAfter(30 * 86_400)] })
  const before = { atMs: MADE_MS + DAY_MS }
  expect(await check(withSigning(back), signingKey)).toBe('bad')
  expect(await check(withSigning(back), signingKey, before)).toBe('bad')
  const then = { ...before, nowMs: before.atMs }
  expect(await check(withSigning(back), signingKey, then)).toBe('valid')
  expect(await check(withSigning(back), primary, before)).toBe('valid')
})

test('a signing key with a back-signature of another certificate’s holder signs for nobody', async () => {
  const stolen = signingSubkey(primary, mallory.primary, { backSigner: primary })
  expect(await check(withSigning(stolen), mallory.primary)).toBe('bad')
  const elsewhere = signingSubkey(primary, mallory.primary, { backOver: testPerson('bob').primary })
  expect(await check(withSigning(elsewhere), mallory.primary)).toBe('bad')
})

test('a signing subkey that did not consent signs for nobody', async () => {
  const without = signingSubkey(primary, signingKey, { backSignature: false })
  expect(await check(withSigning(without), signingKey)).toBe('bad')
})

test('somebody else’s signing key, listed without binding, signs for nobody', async () => {
  expect(await check(withSigning(subkeyPacket(mallory.primary)), mallory.primary)).toBe('bad')
})

test('somebody else’s signing key, bound without consent, does not make his words hers', async () => {
  const stolen = boundSubkey(primary, mallory.primary, { flags: 2 })
  expect(await check(withSigning(stolen), mallory.primary)).toBe('bad')
})

test('a subkey that may only encrypt signs for nobody', async () => {
  expect(await check(withSigning(boundSubkey(primary, signingKey)), signingKey)).toBe('bad')
})

test('a revoked signing subkey signs for nobody, and the primary goes on signing', async () => {
  const packets = Buffer.concat([
    signingSubkey(primary, signingKey),
    subkeyRevocation(primary, signingKey, { atMs: NOW_MS - DAY_MS, code: 2 }),
  ])
  expect(await check(withSigning(packets), signingKey)).toBe('bad')
  expect(await check(withSigning(packets))).toBe('valid')
})

test('what a retired signing subkey signed before holds, in whatever order it is asked', async () => {
  const packets = Buffer.concat([
    signingSubkey(primary, signingKey),
    subkeyRevocation(primary, signingKey, { atMs: NOW_MS - DAY_MS, code: 3 }),
  ])
  const certificate = withSigning(packets)
  expect(await check(certificate, signingKey, { atMs: NOW_MS - 2 * DAY_MS })).toBe('valid')
  expect(await check(certificate, signingKey)).toBe('bad')
  expect(await check(certificate, signingKey, { atMs: NOW_MS - 2 * DAY_MS })).toBe('valid')
})

test('a primary key that may only certify signs no messages', async () => {
  const certifyOnly = userId(primary, 'alice', { flags: 1 })
  expect(await check(armoredCertificate(keyPacket(primary), certifyOnly, binding))).toBe('bad')
})

test.each([
  [1024, 'bad'],
  [2048, 'valid'],
] as const)('P31 a signature by an RSA key of %i bits is %s', async (bits, result) => {
  const signer = rsaKey(bits)
  const certificate = armoredCertificate(keyPacket(signer), userId(signer, 'rsa'))
  expect(await check(certificate, signer)).toBe(result)
})

test('P35 a revocation over SHA-1 is heeded, although no other signature over it is', async () => {
  const signer = rsaKey(2048)
  const at = (code: number): string =>
    armoredCertificate(
      keyPacket(signer),
      keyRevocation(signer, { atMs: NOW_MS - DAY_MS, code, hash: 'sha1' }),
      userId(signer, 'rsa'),
    )
  const before = { atMs: NOW_MS - 2 * DAY_MS }
  expect(await check(at(2), signer)).toBe('bad')
  expect(await check(at(2), signer, before)).toBe('bad')
  expect(await check(at(3), signer)).toBe('bad')
  expect(await check(at(3), signer, before)).toBe('valid')
})

test('a key dated ahead of our clock within tolerance verifies, beyond it not', async () => {
  for (const [aheadMs, result] of [
    [200_000, 'valid'],
    [900_000, 'bad'],
  ] as const) {
    const fast = ed25519('fast', NOW_MS + aheadMs)
    const certificate = armoredCertificate(keyPacket(fast), userId(fast, 'fast'))
    expect(await check(certificate, fast, { atMs: NOW_MS + aheadMs })).toBe(result)
  }
})

test('what cannot be read as a certificate verifies nothing', async () => {
  for (const certificate of ['', 'hello', alice.certificate.slice(0, 200)]) {
    await expect(check(certificate)).rejects.toThrow()
  }
})
