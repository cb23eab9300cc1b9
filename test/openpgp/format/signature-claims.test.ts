import { expect, test } from 'vitest'
import type { SignatureClaim } from '../../../src/openpgp/engine.ts'
import { parseSignature } from '../../../src/openpgp/format/signature-claim.ts'
import { openInner } from '../../support/openpgp-engine.ts'
import { literal, signedLiteral, type SigningOptions } from '../../support/openpgp-inner.ts'
import { concat, u16 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import {
  TYPE,
  created,
  intendedRecipient,
  issuer,
  issuerFingerprint,
  keyFlags,
  notation,
  signature,
  signatureBody,
  subpacket,
} from '../../support/openpgp-signature.ts'

const by: SigningOptions = { signer: alice.primary, atMs: NOW_MS }
const document = Buffer.from('hello')

/** What a message that is signed so claims. */
async function claims(...signing: SigningOptions[]): Promise<SignatureClaim[]> {
  const opened = await openInner(signedLiteral('hello', signing))
  expect(opened.outcome).toBe('opened')
  return opened.outcome === 'opened' ? opened.signatures : []
}

const first = async (signing: SigningOptions): Promise<SignatureClaim | undefined> =>
  (await claims(signing))[0]

test('a signature says who made it and when', async () => {
  expect(await claims(by)).toEqual([
    {
      issuerKeyId: alice.primary.keyId,
      createdMs: NOW_MS,
      intended: [],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    },
  ])
})

test.each([
  ['a fingerprint that is not hashed', [issuerFingerprint(alice.primary.fingerprint)], []],
  ['a key id that is not hashed', [issuer(alice.primary.fingerprint)], []],
  ['a hashed fingerprint', [], [issuerFingerprint(alice.primary.fingerprint)]],
  ['a hashed key id', [], [issuer(alice.primary.fingerprint)]],
  [
    'a hashed fingerprint, before a false key id',
    [issuer(mallory.primary.fingerprint)],
    [issuerFingerprint(alice.primary.fingerprint)],
  ],
])('the issuer is read from %s', async (_, unhashed, hashed) => {
  const claim = await first({ ...by, unhashed, hashed })
  expect(claim?.issuerKeyId).toBe(alice.primary.keyId)
})

test('without an issuer there is none, and the signature still counts', async () => {
  expect(await first({ ...by, unhashed: [] })).toMatchObject({ issuerKeyId: null })
})

test.each([
  ['of a length that is none', issuerFingerprint('abcdef')],
  ['of version 5', subpacket(33, concat(5, '00'.repeat(32)))],
  ['a key id of seven bytes', subpacket(16, concat('00'.repeat(7)))],
  ['an empty one', subpacket(33, Buffer.alloc(0))],
])('an issuer %s is passed over', async (_, unhashed) => {
  expect(await first({ ...by, unhashed: [unhashed] })).toMatchObject({ issuerKeyId: null })
})

test('P37 intended recipients are read in order, whether critical or not', async () => {
  const hashed = [
    intendedRecipient(bot.primary.fingerprint),
    intendedRecipient(mallory.primary.fingerprint, true),
  ]
  expect(await first({ ...by, hashed })).toMatchObject({
    intended: [bot.primary.fingerprint, mallory.primary.fingerprint],
  })
})

test('P37 an intended recipient that is not hashed is nobody’s word', async () => {
  const unhashed = [issuer(alice.primary.fingerprint), intendedRecipient(bot.primary.fingerprint)]
  expect(await first({ ...by, unhashed })).toMatchObject({ intended: [] })
})

test('subpackets in every length form are read', async () => {
  const long = (length: number): Buffer => notation('x@y', 'v'.repeat(length))
  const hashed = [
    long(100),
    long(170),
    long(200),
    long(9000),
    intendedRecipient(bot.primary.fingerprint),
  ]
  expect(await first({ ...by, hashed })).toMatchObject({ intended: [bot.primary.fingerprint] })
})

test.each([
  ['no creation time', { ...by, undated: true }],
  [
    'a creation time of three bytes',
    { ...by, undated: true, hashed: [subpacket(2, concat('010203'))] },
  ],
  ['a creation time that is not hashed', { ...by, undated: true, unhashed: [created(NOW_MS)] }],
  ['P32 type standalone', { ...by, type: TYPE.standalone }],
  ['P32 type timestamp', { ...by, type: TYPE.timestamp }],
  ['P32 type certification', { ...by, type: TYPE.certification }],
  ['P32 type direct key', { ...by, type: TYPE.directKey }],
])('a signature with %s counts, and claims nothing', async (_, signing) => {
  expect(await first(signing)).toEqual({
    issuerKeyId: null,
    createdMs: 0,
    intended: [],
    digest: 'unreadable-0',
  })
})

test('a text signature and a binary one both claim', async () => {
  expect(await claims(by, { ...by, type: TYPE.text })).toHaveLength(2)
  expect(await first({ ...by, type: TYPE.text })).toMatchObject({ createdMs: NOW_MS })
})

test('several signatures claim in the order of the signature packets', async () => {
  const all = await claims(by, { ...by, signer: mallory.primary })
  expect(all.map(({ issuerKeyId }) => issuerKeyId)).toEqual([
    mallory.primary.keyId,
    alice.primary.keyId,
  ])
})

test('the digest is that of the statement: document, date and hashed part', async () => {
  const digest = async (signing: SigningOptions, text = 'hello'): Promise<string> => {
    const opened = await openInner(signedLiteral(text, signing))
    return opened.outcome === 'opened' ? (opened.signatures[0]?.digest ?? '') : ''
  }
  const base = await digest(by)
  const notHashed = [issuer(alice.primary.fingerprint), notation('x@y', 'z')]
  expect(await digest(by)).toBe(base)
  expect(await digest({ ...by, unhashed: notHashed })).toBe(base)
  expect(await digest({ ...by, numbers: concat(u16(8), 255, u16(8), 255) })).toBe(base)
  expect(await digest({ ...by, atMs: NOW_MS + 1000 })).not.toBe(base)
  expect(await digest({ ...by, hashed: [notation('x@y', 'z')] })).not.toBe(base)
  expect(await digest(by, 'hello!')).not.toBe(base)
  expect(await digest({ ...by, type: TYPE.text })).not.toBe(base)
})

test('the digest of a text signature is the same for any line ending', () => {
  const text = { ...by, type: TYPE.text }
  const body = signatureBody({ ...text, over: Buffer.from('a\r\nb') })
  const of = (words: string): string | undefined =>
    parseSignature(body, Buffer.from(words, 'latin1'))?.digest
  expect(of('a\nb')).toBe(of('a\r\nb'))
  expect(of('a\n\xff')).toBe(of('a\r\n\xff'))
  expect(of('a\nb')).not.toBe(of('a b'))
  expect(of('a\xe4')).not.toBe(of('a\xf6'))
})

const whole = signatureBody({ ...by, over: document, hashed: [keyFlags(1)] })

test('a signature cut short anywhere in its subpackets claims nothing and throws nothing', () => {
  const hashedEnd = 6 + whole.readUInt16BE(4)
  const unhashedEnd = hashedEnd + 2 + whole.readUInt16BE(hashedEnd)
  for (let length = 0; length < unhashedEnd; length++) {
    expect(parseSignature(whole.subarray(0, length), document), `length ${length}`).toBeNull()
  }
  expect(parseSignature(whole.subarray(0, unhashedEnd), document)).not.toBeNull()
})

test.each([0, 2, 3, 5, 7, 255])('a signature of version %i claims nothing', (version) => {
  expect(parseSignature(concat(version, whole.subarray(1)), document)).toBeNull()
})

test('subpackets that lie about their length end the list', () => {
  const lies = [concat(0), concat(50, 16, 1), concat(255, 255, 255, 255, 255, 16), concat(255, 0)]
  for (const lie of lies) {
    const body = signatureBody({ ...by, over: document, unhashed: [lie] })
    expect(parseSignature(body, document)).toMatchObject({ issuerKeyId: null, createdMs: NOW_MS })
  }
})

test('an old signature of version 3 counts, and claims nothing', async () => {
  const old = concat(0xc2, 19, 3, 5, 0, '69000000', alice.primary.keyId, 22, 8, '0000')
  const opened = await openInner(concat(old, literal('hello')))
  expect(opened).toMatchObject({ outcome: 'opened', signatures: [{ issuerKeyId: null }] })
  expect(signature({ ...by, over: document })[0]).toBe(0xc2)
})
