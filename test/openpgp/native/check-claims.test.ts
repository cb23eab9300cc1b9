/** What is found of a signature before anybody verifies it, and what is left to the library. */
import { expect, test } from 'vitest'
import type { Signed, SignedAtLength } from '../../../src/openpgp/engine.ts'
import { publicKeyOf } from '../../../src/openpgp/crypto/public-key.ts'
import { isSigningKey } from '../../../src/openpgp/crypto/algorithms.ts'
import { DocumentHashes } from '../../../src/openpgp/format/document-hashes.ts'
import { packetAt } from '../../../src/openpgp/format/packets.ts'
import { parseSignature } from '../../../src/openpgp/format/signature-claim.ts'
import type { CertificateInfo } from '../../../src/openpgp/native/certificate-info.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { Verifier, checkClaims } from '../../../src/openpgp/native/verify.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { ed25519 } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import {
  TYPE,
  created,
  intendedRecipient,
  issuer,
  issuerFingerprint,
  keyFlags,
  notation,
  signature,
  subpacket,
  type SignatureOptions,
} from '../../support/openpgp-signature.ts'

const read = readCommonCertificate(alice.certificate, NOW_MS)
if (read === null) throw new Error('not common')
const info: CertificateInfo = read
const { primary, subkey } = alice
const document = Buffer.from('a\nb')
const signed = (options: Partial<SignatureOptions> = {}): Buffer =>
  signature({ signer: primary, over: document, atMs: NOW_MS, ...options })

/** What becomes of it: verified here, or what is known of it; null where the library says. */
async function resultOf(
  what: Uint8Array | Signed | SignedAtLength,
  about = info,
): Promise<string | null> {
  const whole = what instanceof Uint8Array ? { document, signatures: [what] } : what
  const results = await new Verifier(() => true).verify(whole, about, NOW_MS)
  return results?.join(' ') ?? null
}

test('a signature by the key is valid, over exactly this document', async () => {
  expect(await resultOf(signed())).toBe('valid')
  expect(await resultOf(signed({ over: Buffer.from('a\nc') }))).toBe('bad')
  expect(await resultOf(signed({ over: Buffer.from('a\r\nb') }))).toBe('bad')
})

test('one of a text is over its line ends as they are signed', async () => {
  const text = { type: TYPE.text, over: Buffer.from('a\r\nb') }
  expect(await resultOf(signed(text))).toBe('valid')
  expect(await resultOf(signed({ ...text, over: document }))).toBe('bad')
})

test('of a long document the hash is enough, which is there for each signature', async () => {
  const hashes = new DocumentHashes([{ type: 0, hashAlgorithm: 8 }])
  hashes.update(document)
  hashes.end()
  const packets = [signed(), signed({ atMs: NOW_MS - 5000 })]
  const digests = packets.map((one) => {
    const { body } = packetAt(one, 0)
    const hashedPart = body.subarray(0, 6 + Buffer.from(body).readUInt16BE(4))
    expect(parseSignature(body, document)).not.toBeNull()
    return hashes.digest({ type: 0, hashAlgorithm: 8, hashedPart })
  })
  expect(await resultOf({ signatures: packets, digests })).toBe('valid valid')
  expect(await resultOf({ signatures: packets, digests: digests.toReversed() })).toBe('bad bad')
  expect(await resultOf({ signatures: packets, digests: [] })).toBe('bad bad')
})

test.each([
  ['a note', [notation('a@b', 'c')]],
  ['whom it is for', [intendedRecipient(mallory.primary.fingerprint)]],
  ['whom it is for, critically', [intendedRecipient(mallory.primary.fingerprint, true)]],
  ['the signer’s user id', [subpacket(28, Buffer.from('alice'))]],
  ['the issuer, hashed', [issuer(primary.fingerprint), issuerFingerprint(primary.fingerprint)]],
])('one that also says %s is verified here', async (_, hashed) => {
  expect(await resultOf(signed({ hashed }))).toBe('valid')
})

test.each([
  ['with a critical note', signed({ hashed: [notation('a@b', 'c', true)] })],
  ['with a subpacket that nobody expects', signed({ hashed: [keyFlags(1)] })],
  ['with one that is not hashed', signed({ unhashed: [issuer(primary.fingerprint), keyFlags(1)] })],
  [
    'with a note that is not hashed',
    signed({ unhashed: [issuer(primary.fingerprint), notation('a@b', 'c')] }),
  ],
  ['without a date', signed({ undated: true })],
  ['with two dates', signed({ hashed: [created(NOW_MS)] })],
  ['of another type', signed({ type: TYPE.standalone })],
  ['of version 3', packet(2, concat(3, seeded('old', 40)))],
  ['of no bytes', Buffer.alloc(0)],
  ['that is another packet', packet(11, packetAt(signed(), 0).body)],
  ['from before anything holds', signed({ atMs: MADE_MS - 1000 })],
])('one %s is the library’s', async (_, one) => {
  expect(await resultOf(one)).toBeNull()
  expect(checkClaims({ document, signatures: [signed(), one] }, info, NOW_MS)).toBeNull()
})

test('one may be dated five minutes ahead, and not a second more', async () => {
  expect(await resultOf(signed({ atMs: NOW_MS + 300_000 }))).toBe('valid')
  expect(await resultOf(signed({ atMs: NOW_MS + 301_000 }))).toBe('bad')
})

test('one from when another thing held is the library’s', async () => {
  const about = { ...info, fromS: NOW_MS / 1000 - 100, untilS: NOW_MS / 1000 + 100 }
  expect(await resultOf(signed({ atMs: NOW_MS - 100_000 }), about)).toBe('valid')
  expect(await resultOf(signed({ atMs: NOW_MS - 101_000 }), about)).toBeNull()
  expect(await resultOf(signed({ atMs: NOW_MS + 99_000 }), about)).toBe('valid')
  expect(await resultOf(signed({ atMs: NOW_MS + 100_000 }), about)).toBeNull()
})

test('one that names a key of nobody here is by another key', async () => {
  const theirs = signed({ signer: mallory.primary })
  expect(await resultOf(theirs)).toBe('other-key')
  expect(await resultOf(theirs, { ...info, hasNoOtherKey: false })).toBeNull()
  expect(await resultOf(theirs, { ...info, signingKey: null })).toBe('other-key')
  for (const named of [issuer, issuerFingerprint]) {
    const once = { signer: mallory.primary, unhashed: [named(mallory.primary.fingerprint)] }
    expect(await resultOf(signed(once))).toBe('other-key')
    expect(await resultOf(signed({ ...once, undated: true }))).toBeNull()
  }
})

/** A fingerprint that ends like another. */
const like = (fingerprint: string): string => 'ab'.repeat(12) + fingerprint.slice(24)

test('one by a key that has the id of a key here, and another fingerprint, is the library’s', async () => {
  for (const one of [primary, subkey]) {
    const unhashed = [issuerFingerprint(like(one.fingerprint))]
    expect(await resultOf(signed({ unhashed }))).toBeNull()
  }
})

test.each([
  ['the subkey that is sealed to', [issuer(subkey.fingerprint)]],
  ['nobody', []],
  ['two keys', [issuer(mallory.primary.fingerprint), issuerFingerprint(primary.fingerprint)]],
  ['a key id of seven bytes', [subpacket(16, seeded('id', 7))]],
  ['a fingerprint of version 5', [subpacket(33, concat(5, seeded('f', 20)))]],
  ['a fingerprint of 19 bytes', [subpacket(33, concat(4, seeded('f', 19)))]],
])('one that names %s is the library’s', async (_, unhashed) => {
  expect(await resultOf(signed({ unhashed }))).toBeNull()
})

test('where no key can be verified here, one by the primary key is the library’s', async () => {
  for (const primarySigns of [true, false]) {
    expect(await resultOf(signed(), { ...info, signingKey: null, primarySigns })).toBeNull()
  }
})

test('where a subkey signs, its signatures are verified, and those of the primary key are the library’s', async () => {
  const signer = ed25519('signing subkey', MADE_MS)
  const signingKey = publicKeyOf(signer.body)
  if (signingKey === null || !isSigningKey(signingKey)) throw new Error('not native')
  const about = { ...info, signingKey, primarySigns: false }
  expect(await resultOf(signed({ signer }), about)).toBe('valid')
  expect(await resultOf(signed(), about)).toBeNull()
  expect(await resultOf(signed({ signer: mallory.primary }), about)).toBe('other-key')
  const alike = { signer, unhashed: [issuerFingerprint(like(signer.fingerprint))] }
  expect(await resultOf(signed(alike), about)).toBeNull()
  const named = { signer: mallory.primary, unhashed: [issuer(signer.fingerprint)] }
  expect(await resultOf(signed(named), about)).toBe('bad')
})

test('each of several signatures is judged for itself, in order', async () => {
  const signatures = [signed({ signer: mallory.primary }), signed(), signed({ over: Buffer.of(1) })]
  expect(await resultOf({ document, signatures })).toBe('other-key valid bad')
  expect(checkClaims({ document, signatures: [] }, info, NOW_MS)).toEqual([])
})
