/** The seconds in which signatures of a key begin and cease to count. */
import { expect, test } from 'vitest'
import type { Signed, SignedAtLength } from '../../../src/openpgp/engine.ts'
import { DocumentHashes } from '../../../src/openpgp/format/document-hashes.ts'
import { applyProfile } from '../../../src/openpgp/library/profile.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import {
  armoredCertificate,
  boundSubkey,
  directKey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyRevocation,
  userId,
  userIdRevocation,
} from '../../support/openpgp-certificate.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { ed25519, type SigningKey } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, rsaKey } from '../../support/openpgp-people.ts'
import {
  keyExpiresAfter,
  signature,
  signatureBody,
  type SignatureOptions,
} from '../../support/openpgp-signature.ts'

applyProfile()

const DAY_S = 86_400
const document = Buffer.from('hello')
const { primary, subkey } = alice
const signing = ed25519('bounds', MADE_MS)
const certificateOf = (...more: Buffer[]): string =>
  armoredCertificate(
    keyPacket(primary),
    userId(primary, 'alice'),
    boundSubkey(primary, subkey),
    ...more,
  )

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

test('a primary key verifies until the second of its expiry', async () => {
  const ends = { hashed: [keyExpiresAfter(DAY_S)] }
  const certificate = armoredCertificate(keyPacket(primary), userId(primary, 'alice', ends))
  const endMs = MADE_MS + DAY_S * 1000
  const of = async (atMs: number, nowMs = atMs): Promise<string> =>
    await resultOf(certificate, signed({ atMs }), nowMs)
  expect(await of(endMs - 1000)).toBe('valid')
  expect(await of(endMs - 1000, endMs)).toBe('bad')
  expect(await of(endMs - 1000, endMs - 1)).toBe('valid')
  const direct = armoredCertificate(
    keyPacket(primary),
    directKey(primary, ends),
    userId(primary, 'alice'),
  )
  expect(await resultOf(direct, signed({ atMs: endMs - 1000 }), endMs - 1)).toBe('valid')
  expect(await resultOf(direct, signed({ atMs: endMs - 1000 }), endMs)).toBe('bad')
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
  expect(await of([1], NOW_MS)).toBe('bad')
  expect(await of([40 * DAY_S], endMs - 1000)).toBe('valid')
  expect(await of([40 * DAY_S], endMs)).toBe('bad')
  expect(await of([null, 40 * DAY_S], endMs)).toBe('bad')
})

test('a signing subkey verifies until the second of its expiry', async () => {
  const ends = { hashed: [keyExpiresAfter(DAY_S)] }
  const certificate = certificateOf(signingSubkey(primary, signing, ends))
  const endMs = MADE_MS + DAY_S * 1000
  const one = signed({ signer: signing, atMs: endMs - 1000 })
  expect(await resultOf(certificate, one, endMs - 1)).toBe('valid')
  expect(await resultOf(certificate, one, endMs)).toBe('bad')
})

const RETIRED = 3

test("a signature in the second of the key's retirement is bad", async () => {
  const atMs = NOW_MS - 5000
  const certificate = armoredCertificate(
    keyPacket(primary),
    keyRevocation(primary, { atMs, code: RETIRED }),
    userId(primary, 'alice'),
  )
  expect(await resultOf(certificate, signed({ atMs: atMs - 1000 }))).toBe('valid')
  expect(await resultOf(certificate, signed({ atMs }))).toBe('bad')
})

/** The library heeds no revocation over this hash. */
const weakly = { code: RETIRED, hash: 'sha1' } as const

test('a revocation over SHA-1 counts for keys and subkeys in the same second', async () => {
  const atMs = NOW_MS - 5000
  const old = rsaKey(2048)
  const at = (signer: SigningKey, packets: Buffer[]) => async (signedMs: number) =>
    await resultOf(armoredCertificate(...packets), signed({ signer, atMs: signedMs }))
  const names = [keyPacket(old), userId(old, 'old')]
  const revokedKey = [...names, keyRevocation(old, { atMs, ...weakly })]
  const bySubkey = [...names, signingSubkey(old, signing)]
  const revokedSubkey = [...bySubkey, subkeyRevocation(old, signing, { atMs, ...weakly })]
  for (const by of [at(old, revokedKey), at(signing, revokedSubkey)]) {
    expect(await by(atMs - 1000)).toBe('valid')
    expect(await by(atMs)).toBe('bad')
  }
  expect(await at(old, revokedSubkey)(atMs)).toBe('valid')
})

test('a revoked signing subkey leaves other signing subkeys valid', async () => {
  const other = ed25519('other', MADE_MS)
  const retiredMs = NOW_MS - 5000
  const certificate = certificateOf(
    signingSubkey(primary, signing),
    subkeyRevocation(primary, signing, { atMs: retiredMs, code: RETIRED }),
    signingSubkey(primary, other),
  )
  const by = async (signer: typeof other, atMs: number): Promise<string> =>
    await resultOf(certificate, signed({ signer, atMs }))
  expect(await by(signing, retiredMs - 1000)).toBe('valid')
  expect(await by(signing, retiredMs)).toBe('bad')
  expect(await by(other, retiredMs)).toBe('valid')
})

test('the earliest of several subkey revocations counts, and a compromise counts for all time', async () => {
  const [early, late] = [NOW_MS - 9000, NOW_MS - 5000]
  const retired = (atMs: number, code = RETIRED): Buffer =>
    subkeyRevocation(primary, signing, { atMs, code })
  const by = async (atMs: number, ...revocations: Buffer[]): Promise<string> => {
    const certificate = certificateOf(signingSubkey(primary, signing), ...revocations)
    return await resultOf(certificate, signed({ signer: signing, atMs }))
  }
  for (const both of [
    [retired(early), retired(late)],
    [retired(late), retired(early)],
  ]) {
    expect(await by(early - 1000, ...both)).toBe('valid')
    expect(await by(early, ...both)).toBe('bad')
  }
  const COMPROMISED = 2
  expect(await by(early - 1000, retired(late, COMPROMISED))).toBe('bad')
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

test('an empty signature packet is bad', async () => {
  expect(await resultOf(alice.certificate, { document, signatures: [Buffer.alloc(0)] })).toBe('bad')
})
