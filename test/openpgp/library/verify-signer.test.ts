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
  [0, 'without a reason', 'bad'],
  [1, 'as superseded', 'valid'],
  [2, 'as compromised', 'bad'],
  [3, 'as retired', 'valid'],
] as const)(
  'a key revoked with code %i, %s, leaves its earlier signatures %s and its later ones bad (P35)',
  async (code, _, earlier) => {
    expect(await check(revoked(code), primary, { atMs: NOW_MS - 2 * DAY_MS })).toBe(earlier)
    expect(await check(revoked(code))).toBe('bad')
  },
)

test('a key revocation by another key is ignored', async () => {
  const forged = { ...mallory.primary, fingerprint: primary.fingerprint }
  const revocation = keyRevocation(forged, { atMs: NOW_MS - DAY_MS })
  expect(await check(armoredCertificate(keyPacket(primary), revocation, id, binding))).toBe('valid')
})

const thirtyDays = { hashed: [keyExpiresAfter(30 * 86_400)] }

test('an expired key makes its signatures bad, also back-dated ones', async () => {
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

test('an expired key with a revoked user id makes its signatures bad', async () => {
  const gone = userIdRevocation(primary, 'alice', NOW_MS - DAY_MS)
  const expired = userId(primary, 'alice', thirtyDays)
  const certificate = armoredCertificate(keyPacket(primary), expired, gone, binding)
  expect(await check(certificate, primary, { atMs: MADE_MS + DAY_MS })).toBe('bad')
})

test('an expired encryption subkey leaves signatures of the primary key valid', async () => {
  const encryption = boundSubkey(primary, subkey, thirtyDays)
  const certificate = armoredCertificate(keyPacket(primary), id, encryption)
  expect(await check(certificate)).toBe('valid')
  expect(await check(certificate, primary, { atMs: MADE_MS + DAY_MS })).toBe('valid')
})

test('a signature from before the revocation of the only user id is valid, and a later one is bad', async () => {
  const gone = userIdRevocation(primary, 'alice', NOW_MS - DAY_MS)
  const certificate = armoredCertificate(keyPacket(primary), id, gone, binding)
  const before = { atMs: NOW_MS - 2 * DAY_MS }
  expect(await check(certificate, primary, before)).toBe('valid')
  expect(await check(certificate)).toBe('bad')
  expect(await check(certificate, primary, before)).toBe('valid')
})

const signingKey = ed25519('alice signing', MADE_MS)
const withSigning = (packets: Buffer): string =>
  armoredCertificate(keyPacket(primary), id, binding, packets)

const elsewhere = { backOver: testPerson('bob').primary }

test.each<[string, Buffer, SigningKey, SignatureResult]>([
  ['a signing subkey', signingSubkey(primary, signingKey), signingKey, 'valid'],
  [
    'a foreign key with a forged back-signature',
    signingSubkey(primary, mallory.primary, { backSigner: primary }),
    mallory.primary,
    'bad',
  ],
  [
    'a foreign key with a back-signature for another certificate',
    signingSubkey(primary, mallory.primary, elsewhere),
    mallory.primary,
    'bad',
  ],
  [
    'a subkey without a back-signature',
    signingSubkey(primary, signingKey, { backSignature: false }),
    signingKey,
    'bad',
  ],
  ['an unbound foreign key', subkeyPacket(mallory.primary), mallory.primary, 'bad'],
  [
    'a foreign key that is bound without a back-signature',
    boundSubkey(primary, mallory.primary, { flags: 2 }),
    mallory.primary,
    'bad',
  ],
  ['a subkey that may only encrypt', boundSubkey(primary, signingKey), signingKey, 'bad'],
])(
  'a signature by %s is verified by the certificate that lists it',
  async (_, part, signer, result) => {
    expect(await check(withSigning(part), signer)).toBe(result)
  },
)

test.each([
  ['whose primary key may only certify', [userId(primary, 'alice', { flags: 1 }), binding]],
  ['without a self-signature', [subkeyPacket(subkey)]],
])('a certificate %s makes every signature bad', async (_, parts) => {
  expect(await check(armoredCertificate(keyPacket(primary), ...parts))).toBe('bad')
})

test('an expired signing subkey makes its signatures bad and leaves those of the primary key valid', async () => {
  const back = signingSubkey(primary, signingKey, { hashed: [keyExpiresAfter(30 * 86_400)] })
  const before = { atMs: MADE_MS + DAY_MS }
  expect(await check(withSigning(back), signingKey)).toBe('bad')
  expect(await check(withSigning(back), signingKey, before)).toBe('bad')
  const then = { ...before, nowMs: before.atMs }
  expect(await check(withSigning(back), signingKey, then)).toBe('valid')
  expect(await check(withSigning(back), primary, before)).toBe('valid')
})

test('a compromised signing subkey makes its signatures bad and leaves those of the primary key valid', async () => {
  const packets = Buffer.concat([
    signingSubkey(primary, signingKey),
    subkeyRevocation(primary, signingKey, { atMs: NOW_MS - DAY_MS, code: 2 }),
  ])
  expect(await check(withSigning(packets), signingKey)).toBe('bad')
  expect(await check(withSigning(packets))).toBe('valid')
})

test('a retired signing subkey leaves its earlier signatures valid and makes later ones bad', async () => {
  const packets = Buffer.concat([
    signingSubkey(primary, signingKey),
    subkeyRevocation(primary, signingKey, { atMs: NOW_MS - DAY_MS, code: 3 }),
  ])
  const certificate = withSigning(packets)
  expect(await check(certificate, signingKey, { atMs: NOW_MS - 2 * DAY_MS })).toBe('valid')
  expect(await check(certificate, signingKey)).toBe('bad')
  expect(await check(certificate, signingKey, { atMs: NOW_MS - 2 * DAY_MS })).toBe('valid')
})

test('a key revocation over SHA-1 counts (P35)', async () => {
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

test('a key that is dated ahead verifies within the clock tolerance, and not beyond it', async () => {
  for (const [aheadMs, result] of [
    [200_000, 'valid'],
    [900_000, 'bad'],
  ] as const) {
    const fast = ed25519('fast', NOW_MS + aheadMs)
    const certificate = armoredCertificate(keyPacket(fast), userId(fast, 'fast'))
    expect(await check(certificate, fast, { atMs: NOW_MS + aheadMs })).toBe(result)
  }
})

test('`verify` throws for an unreadable certificate', async () => {
  for (const certificate of ['', 'hello', alice.certificate.slice(0, 200)]) {
    await expect(check(certificate)).rejects.toThrow()
  }
})
