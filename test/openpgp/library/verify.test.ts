import { expect, test } from 'vitest'
import type { Signed, SignatureResult, SignedAtLength } from '../../../src/openpgp/engine.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { openInner } from '../../support/openpgp-engine.ts'
import { hashedForm, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import type { SigningOptions } from '../../support/openpgp-inner.ts'
import { concat, u16 } from '../../support/openpgp-bytes.ts'
import {
  NOW_MS,
  alice,
  mallory,
  MADE_MS,
  revokedCertificate,
  testPerson,
} from '../../support/openpgp-people.ts'
import {
  TYPE,
  expiresAfter,
  issuer,
  issuerFingerprint,
  onePass,
  signature,
  keyExpiresAfter,
  signatureBody,
  type SignatureOptions,
} from '../../support/openpgp-signature.ts'
import { ed25519, type SigningKey } from '../../support/openpgp-key.ts'
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
  directKey,
} from '../../support/openpgp-certificate.ts'
import { DocumentHashes } from '../../../src/openpgp/format/document-hashes.ts'
import { applyProfile } from '../../../src/openpgp/library/profile.ts'
import { packet } from '../../support/openpgp-framing.ts'

const by: SigningOptions = { signer: alice.primary, atMs: NOW_MS }
const DAY_S = 86_400

applyProfile()

async function signedOf(inner: Uint8Array): Promise<Signed> {
  const opened = await openInner(inner)
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened))
  return opened.signed
}

/** Verifies a message that is signed so, against a certificate of alice's unless told. */
async function results(
  signing: SigningOptions | SigningOptions[],
  { text = 'hello', certificate = alice.certificate, nowMs = NOW_MS } = {},
): Promise<SignatureResult[]> {
  return await verify(await signedOf(signedLiteral(text, signing)), certificate, nowMs)
}

test.each([
  [-10_000, 'valid'],
  [0, 'valid'],
  [5000, 'valid'],
  [299_000, 'valid'],
  [300_000, 'valid'],
  [301_000, 'signed-ahead'],
  [3_600_000, 'signed-ahead'],
] as const)('a signature that is dated %i ms ahead is %s (P33)', async (aheadMs, result) => {
  expect(await results({ ...by, atMs: NOW_MS + aheadMs })).toEqual([result])
})

test.each([
  [DAY_S + 1, 'valid'],
  [DAY_S - 1, 'signature-expired'],
  [1, 'signature-expired'],
] as const)(
  'a signature of yesterday that expires after %i s is %s (P34)',
  async (seconds, result) => {
    const signing = { ...by, atMs: NOW_MS - DAY_S * 1000, hashed: [expiresAfter(seconds)] }
    expect(await results(signing)).toEqual([result])
  },
)

test.each([
  ['numbers of another signature', { numbers: mallory.primary.sign(Buffer.alloc(32), 'sha256') }],
  ['zero numbers', { numbers: concat(u16(0), u16(0)) }],
  ['a single number', { numbers: concat(u16(8), 255) }],
  ['numbers longer than the packet', { numbers: concat('ffff', 'ff') }],
  ['no numbers', { numbers: Buffer.alloc(0) }],
  ['the algorithm of another key', { signer: { ...alice.primary, algorithm: 1 } }],
  ['an unknown algorithm', { signer: { ...alice.primary, algorithm: 99 } }],
])('a signature with %s is bad', async (_, spoilt) => {
  expect(await results({ ...by, ...spoilt })).toEqual(['bad'])
})

test('a signature that names another issuer than its maker is never valid', async () => {
  const { fingerprint } = mallory.primary
  const lies = [
    [issuer(fingerprint)],
    [issuerFingerprint(fingerprint)],
    [issuer(fingerprint), issuerFingerprint(alice.primary.fingerprint)],
  ]
  for (const unhashed of lies) {
    expect(await results({ ...by, unhashed }, { certificate: mallory.certificate })).not.toContain(
      'valid',
    )
  }
})

test('a signature in the name of the encryption subkey is bad', async () => {
  const signer = { ...alice.primary, fingerprint: alice.subkey.fingerprint }
  expect(await results({ ...by, signer })).toEqual(['bad'])
})

test('a signature of version 3 is `unknown-form`', async () => {
  const old = concat(0xc2, 19, 3, 5, 0, '69000000', alice.primary.keyId, 22, 8, '0000')
  const signed = await signedOf(concat(old, literal('hello')))
  expect(await verify(signed, alice.certificate, NOW_MS)).toEqual(['unknown-form'])
})

test.each(['a\nb', 'a\r\nb', 'a\nb\n', 'a \t\nb', 'grüße\n世界\r\n', '\n\n', ''])(
  'a text signature over %j is valid',
  async (text) => {
    expect(await results({ ...by, type: TYPE.text }, { text })).toEqual(['valid'])
  },
)

test('a text signature survives changed line ends, and a binary one does not', async () => {
  const arrived = literal('a\r\nb')
  const written = Buffer.from('a\nb')
  for (const [type, result] of [
    [TYPE.text, 'valid'],
    [TYPE.binary, 'bad'],
  ] as const) {
    const signing = { ...by, type }
    const over = hashedForm(written, signing)
    const inner = concat(onePass(signing), arrived, signature({ ...signing, over }))
    expect(await verify(await signedOf(inner), alice.certificate, NOW_MS)).toEqual([result])
  }
})

const DAY_MS = 86_400_000
const { primary, subkey } = alice
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)

const document = Buffer.from('hello')
const signed = (options: Partial<SignatureOptions> = {}): Buffer =>
  signature({ signer: primary, over: document, atMs: NOW_MS, ...options })

async function resultOf(
  certificate: string,
  what: Buffer | Signed | SignedAtLength = signed(),
  nowMs = NOW_MS,
): Promise<string> {
  const whole = what instanceof Uint8Array ? { document, signatures: [what] } : what
  return (await verify(whole, certificate, nowMs)).join(' ')
}

const check = (certificate: string, signer: SigningKey = primary, { atMs = NOW_MS } = {}) =>
  resultOf(certificate, signed({ signer, atMs }))

/** Alice's certificate, revoked a day ago for a reason. */
const revoked = (code: number): string => revokedCertificate(alice, { atMs: NOW_MS - DAY_MS, code })

test.each([
  [0, 'without a reason', 'key-revoked'],
  [1, 'as superseded', 'valid'],
  [2, 'as compromised', 'key-revoked'],
  [3, 'as retired', 'valid'],
] as const)(
  'a key revoked with code %i, %s, leaves its earlier signatures %s and its later ones `key-revoked` (P35)',
  async (code, _, earlier) => {
    expect(await check(revoked(code), primary, { atMs: NOW_MS - 2 * DAY_MS })).toBe(earlier)
    expect(await check(revoked(code))).toBe('key-revoked')
  },
)

const signing = ed25519('alice signing', MADE_MS)
const certificateOf = (...more: Buffer[]): string =>
  armoredCertificate(keyPacket(primary), id, binding, ...more)

const elsewhere = { backOver: testPerson('bob').primary }

test.each<[string, Buffer, SigningKey, SignatureResult]>([
  [
    'a foreign key with a forged back-signature',
    signingSubkey(primary, mallory.primary, { backSigner: primary }),
    mallory.primary,
    'may-not-sign',
  ],
  [
    'a foreign key with a back-signature for another certificate',
    signingSubkey(primary, mallory.primary, elsewhere),
    mallory.primary,
    'may-not-sign',
  ],
  ['an unbound foreign key', subkeyPacket(mallory.primary), mallory.primary, 'key-unusable'],
  [
    'a foreign key that is bound without a back-signature',
    boundSubkey(primary, mallory.primary, { flags: 2 }),
    mallory.primary,
    'may-not-sign',
  ],
  ['a subkey that may only encrypt', boundSubkey(primary, signing), signing, 'may-not-sign'],
])(
  'a signature by %s is verified with the certificate that lists the key',
  async (_, part, signer, result) => {
    expect(await check(certificateOf(part), signer)).toBe(result)
  },
)

test('a key that is dated ahead verifies within the clock tolerance, and not beyond it', async () => {
  for (const [aheadMs, result] of [
    [200_000, 'valid'],
    [900_000, 'signed-ahead'],
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

test('a primary key verifies until the second of its expiry', async () => {
  const ends = { hashed: [keyExpiresAfter(DAY_S)] }
  const certificate = armoredCertificate(keyPacket(primary), userId(primary, 'alice', ends))
  const endMs = MADE_MS + DAY_S * 1000
  const of = async (atMs: number, nowMs = atMs): Promise<string> =>
    await resultOf(certificate, signed({ atMs }), nowMs)
  expect(await of(endMs - 1000)).toBe('valid')
  expect(await of(endMs - 1000, endMs)).toBe('key-expired')
  expect(await of(endMs - 1000, endMs - 1)).toBe('valid')
  const direct = armoredCertificate(
    keyPacket(primary),
    directKey(primary, ends),
    userId(primary, 'alice'),
  )
  expect(await resultOf(direct, signed({ atMs: endMs - 1000 }), endMs - 1)).toBe('valid')
  expect(await resultOf(direct, signed({ atMs: endMs - 1000 }), endMs)).toBe('key-expired')
})

test('a key whose user ids are all revoked expires by the earliest expiry of these', async () => {
  const of = async (seconds: (number | null)[], nowMs: number): Promise<string> => {
    const ids = seconds.map((end, n) =>
      concat(
        userId(primary, `name ${n}`, end === null ? {} : { hashed: [keyExpiresAfter(end)] }),
        userIdRevocation(primary, `name ${n}`, NOW_MS - 1000),
      ),
    )
    const certificate = armoredCertificate(keyPacket(primary), ...ids)
    return await resultOf(certificate, signed({ atMs: MADE_MS + 1000 }), nowMs)
  }
  const endMs = MADE_MS + 40 * DAY_S * 1000
  expect(await of([null], NOW_MS)).toBe('valid')
  expect(await of([0], NOW_MS)).toBe('valid')
  expect(await of([1], NOW_MS)).toBe('key-expired')
  expect(await of([40 * DAY_S], endMs - 1000)).toBe('valid')
  expect(await of([40 * DAY_S], endMs)).toBe('key-expired')
  expect(await of([null, 40 * DAY_S], endMs)).toBe('key-expired')
})

test('a signing subkey verifies until the second of its expiry', async () => {
  const ends = { hashed: [keyExpiresAfter(DAY_S)] }
  const certificate = certificateOf(signingSubkey(primary, signing, ends))
  const endMs = MADE_MS + DAY_S * 1000
  const one = signed({ signer: signing, atMs: endMs - 1000 })
  expect(await resultOf(certificate, one, endMs - 1)).toBe('valid')
  expect(await resultOf(certificate, one, endMs)).toBe('key-expired')
  expect(await resultOf(certificate, signed({ atMs: endMs - 1000 }), endMs)).toBe('valid')
})

const RETIRED = 3

test("a signature in the second of the key's retirement does not count", async () => {
  const atMs = NOW_MS - 5000
  const certificate = armoredCertificate(
    keyPacket(primary),
    keyRevocation(primary, { atMs, code: RETIRED }),
    userId(primary, 'alice'),
  )
  expect(await resultOf(certificate, signed({ atMs: atMs - 1000 }))).toBe('valid')
  expect(await resultOf(certificate, signed({ atMs }))).toBe('key-revoked')
})

test('a revoked signing subkey leaves other signing subkeys valid', async () => {
  const other = ed25519('other', MADE_MS)
  const retiredMs = NOW_MS - 5000
  const certificate = certificateOf(
    signingSubkey(primary, signing),
    subkeyRevocation(primary, signing, { atMs: retiredMs, code: RETIRED }),
    signingSubkey(primary, other),
  )
  const resultBy = async (signer: typeof other, atMs: number): Promise<string> =>
    await resultOf(certificate, signed({ signer, atMs }))
  expect(await resultBy(signing, retiredMs - 1000)).toBe('valid')
  expect(await resultBy(signing, retiredMs)).toBe('key-revoked')
  expect(await resultBy(other, retiredMs)).toBe('valid')
})

test('the earliest of several subkey revocations counts, and a compromise counts for all time', async () => {
  const [early, late] = [NOW_MS - 9000, NOW_MS - 5000]
  const retired = (atMs: number, code = RETIRED): Buffer =>
    subkeyRevocation(primary, signing, { atMs, code })
  const resultBy = async (atMs: number, ...revocations: Buffer[]): Promise<string> => {
    const certificate = certificateOf(signingSubkey(primary, signing), ...revocations)
    return await resultOf(certificate, signed({ signer: signing, atMs }))
  }
  for (const both of [
    [retired(early), retired(late)],
    [retired(late), retired(early)],
  ]) {
    expect(await resultBy(early - 1000, ...both)).toBe('valid')
    expect(await resultBy(early, ...both)).toBe('key-revoked')
  }
  const COMPROMISED = 2
  expect(await resultBy(early - 1000, retired(late, COMPROMISED))).toBe('key-revoked')
})

test('a signature is verified over the digest where the document is absent', async () => {
  const body = signatureBody({ signer: primary, over: document, atMs: NOW_MS })
  const hashes = new DocumentHashes([{ type: 0, hashAlgorithm: 8 }])
  hashes.update(document)
  hashes.end()
  const hashedPart = body.subarray(0, 6 + body.readUInt16BE(4))
  const digest = hashes.digest({ type: 0, hashAlgorithm: 8, hashedPart })
  const signatures = [packet(2, body)]
  expect(await resultOf(alice.certificate, { signatures, digests: [digest] })).toBe('valid')
  const other = Buffer.from(digest).fill(0, 0, 1)
  expect(await resultOf(alice.certificate, { signatures, digests: [other] })).toBe('bad')
  expect(await resultOf(alice.certificate, { signatures, digests: [] })).toBe('bad')
})

test('two concatenated signature packets are bad', async () => {
  expect(await resultOf(alice.certificate, concat(signed(), signed()))).toBe('bad')
  expect(await resultOf(alice.certificate, concat(signed(), signed({ over: Buffer.of(1) })))).toBe(
    'bad',
  )
})

test('an empty signature packet is `unknown-form`', async () => {
  expect(await resultOf(alice.certificate, { document, signatures: [Buffer.alloc(0)] })).toBe(
    'unknown-form',
  )
})
