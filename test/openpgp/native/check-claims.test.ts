/** Claims of signatures that native code verifies, and those that it leaves to the library. */
import { expect, test } from 'vitest'
import type { Signed, SignedAtLength } from '../../../src/openpgp/engine.ts'
import { publicKeyOf, isSigningKey } from '../../../src/openpgp/crypto/public-key.ts'
import { DocumentHashes } from '../../../src/openpgp/format/document-hashes.ts'
import { packetAt } from '../../../src/openpgp/format/packets.ts'
import { parseSignature } from '../../../src/openpgp/format/signature-claim.ts'
import { readCommonCertificate } from '../../../src/openpgp/native/common-certificate.ts'
import { Verifier, checkClaims } from '../../../src/openpgp/native/verify.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { ed25519 } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import {
  TYPE,
  issuer,
  issuerFingerprint,
  keyFlags,
  signature,
  subpacket,
  type SignatureOptions,
} from '../../support/openpgp-signature.ts'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'

const read = readCommonCertificate(alice.certificate, NOW_MS)
if (read === null) throw new Error('not common')
const info: CertificateInfo = read
const { primary, subkey } = alice
const document = Buffer.from('a\nb')
const signed = (options: Partial<SignatureOptions> = {}): Buffer =>
  signature({ signer: primary, over: document, atMs: NOW_MS, ...options })

/** The native results, or null where they are left to the library. */
async function resultOf(what: Uint8Array | Signed | SignedAtLength, about = info) {
  const whole = what instanceof Uint8Array ? { document, signatures: [what] } : what
  const results = await new Verifier(() => true).verify(whole, about, NOW_MS)
  return results?.join(' ') ?? null
}

test('a binary signature is valid over exactly its document', async () => {
  expect(await resultOf(signed())).toBe('valid')
  expect(await resultOf(signed({ over: Buffer.from('a\nc') }))).toBe('bad')
  expect(await resultOf(signed({ over: Buffer.from('a\r\nb') }))).toBe('bad')
})

test('a text signature is valid over the document with CRLF', async () => {
  const text = { type: TYPE.text, over: Buffer.from('a\r\nb') }
  expect(await resultOf(signed(text))).toBe('valid')
  expect(await resultOf(signed({ ...text, over: document }))).toBe('bad')
})

test('signatures of a long document are verified over one digest each', async () => {
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
  ['with an unexpected subpacket', signed({ hashed: [keyFlags(1)] })],
  [
    'with an unexpected unhashed subpacket',
    signed({ unhashed: [issuer(primary.fingerprint), keyFlags(1)] }),
  ],
  ['of no bytes', Buffer.alloc(0)],
  ['under another packet tag', packet(11, packetAt(signed(), 0).body)],
])('a signature %s is left to openpgp.js', async (_, one) => {
  expect(await resultOf(one)).toBeNull()
  expect(checkClaims({ document, signatures: [signed(), one] }, info, NOW_MS)).toBeNull()
})

test('a signature that is dated more than 300 s ahead is left to openpgp.js', async () => {
  expect(await resultOf(signed({ atMs: NOW_MS + 300_000 }))).toBe('valid')
  expect(await resultOf(signed({ atMs: NOW_MS + 301_000 }))).toBeNull()
})

test('a signature from outside the period of the `CertificateInfo` is left to openpgp.js', async () => {
  const about = { ...info, fromS: NOW_MS / 1000 - 100, untilS: NOW_MS / 1000 + 100 }
  expect(await resultOf(signed({ atMs: NOW_MS - 100_000 }), about)).toBe('valid')
  expect(await resultOf(signed({ atMs: NOW_MS - 101_000 }), about)).toBeNull()
  expect(await resultOf(signed({ atMs: NOW_MS + 99_000 }), about)).toBe('valid')
  expect(await resultOf(signed({ atMs: NOW_MS + 100_000 }), about)).toBeNull()
})

test('a signature that names an unknown key is `other-key` where the info has all keys', async () => {
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

test('a signature with a known key id and another fingerprint is left to openpgp.js', async () => {
  for (const one of [primary, subkey]) {
    const unhashed = [issuerFingerprint(like(one.fingerprint))]
    expect(await resultOf(signed({ unhashed }))).toBeNull()
  }
})

test.each([
  ['the encryption subkey', [issuer(subkey.fingerprint)]],
  ['a key id of seven bytes', [subpacket(16, seeded('id', 7))]],
  ['a fingerprint of version 5', [subpacket(33, concat(5, seeded('f', 20)))]],
  ['a fingerprint of 19 bytes', [subpacket(33, concat(4, seeded('f', 19)))]],
])('a signature that names %s is left to openpgp.js', async (_, unhashed) => {
  expect(await resultOf(signed({ unhashed }))).toBeNull()
})

test('a signature by a primary key without a native signing key is left to openpgp.js', async () => {
  for (const primarySigns of [true, false]) {
    expect(await resultOf(signed(), { ...info, signingKey: null, primarySigns })).toBeNull()
  }
})

test('signatures of a signing subkey are verified natively, and those of its primary key are not', async () => {
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

test('several signatures have one result each, in order', async () => {
  const signatures = [signed({ signer: mallory.primary }), signed(), signed({ over: Buffer.of(1) })]
  expect(await resultOf({ document, signatures })).toBe('other-key valid bad')
  expect(checkClaims({ document, signatures: [] }, info, NOW_MS)).toEqual([])
})
