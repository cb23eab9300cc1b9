import { expect, test } from 'vitest'
import type { SignatureClaim } from '../../../src/openpgp/engine.ts'
import { parseSignature } from '../../../src/openpgp/format/signature-claim.ts'
import { openInner } from '../../support/openpgp-engine.ts'
import { signedLiteral, type SigningOptions } from '../../support/openpgp-inner.ts'
import { concat, u16 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice } from '../../support/openpgp-people.ts'
import {
  TYPE,
  created,
  issuer,
  keyFlags,
  notation,
  signatureBody,
  subpacket,
} from '../../support/openpgp-signature.ts'

const by: SigningOptions = { signer: alice.primary, atMs: NOW_MS }
const document = Buffer.from('hello')

/** Claims of the signatures of a message. */
async function claims(...signing: SigningOptions[]): Promise<SignatureClaim[]> {
  const opened = await openInner(signedLiteral('hello', signing))
  expect(opened.outcome).toBe('opened')
  return opened.outcome === 'opened' ? opened.signatures : []
}

const first = async (signing: SigningOptions): Promise<SignatureClaim | undefined> =>
  (await claims(signing))[0]

test('the claim of a signature has its issuer, date, recipients and digest', async () => {
  expect(await claims(by)).toEqual([
    {
      issuerKeyId: alice.primary.keyId,
      createdMs: NOW_MS,
      intended: [],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    },
  ])
})

test('a signature without an issuer has a claim without a key id', async () => {
  expect(await first({ ...by, unhashed: [] })).toMatchObject({ issuerKeyId: null })
})

test.each([
  ['no creation time', { ...by, undated: true }],
  [
    'a creation time of three bytes',
    { ...by, undated: true, hashed: [subpacket(2, concat('010203'))] },
  ],
  ['a creation time that is not hashed', { ...by, undated: true, unhashed: [created(NOW_MS)] }],
  ['type standalone (P32)', { ...by, type: TYPE.standalone }],
  ['type timestamp (P32)', { ...by, type: TYPE.timestamp }],
  ['type certification (P32)', { ...by, type: TYPE.certification }],
  ['type direct key (P32)', { ...by, type: TYPE.directKey }],
])('a signature with %s has an empty claim', async (_, signing) => {
  expect(await first(signing)).toEqual({
    issuerKeyId: null,
    createdMs: 0,
    intended: [],
    digest: 'unreadable-0',
  })
})

test('the digest of a claim depends on document, type, date and hashed part alone', async () => {
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

const whole = signatureBody({ ...by, over: document, hashed: [keyFlags(1)] })

test('`parseSignature` returns null for a signature that is truncated in its subpackets', () => {
  const hashedEnd = 6 + whole.readUInt16BE(4)
  const unhashedEnd = hashedEnd + 2 + whole.readUInt16BE(hashedEnd)
  for (let length = 0; length < unhashedEnd; length++) {
    expect(parseSignature(whole.subarray(0, length), document), `length ${length}`).toBeNull()
  }
  expect(parseSignature(whole.subarray(0, unhashedEnd), document)).not.toBeNull()
})

test.each([0, 2, 3, 5, 7, 255])(
  '`parseSignature` returns null for a signature of version %i',
  (version) => {
    expect(parseSignature(concat(version, whole.subarray(1)), document)).toBeNull()
  },
)
