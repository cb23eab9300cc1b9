import { expect, test } from 'vitest'
import type { SignatureClaim } from '../../../src/openpgp/engine.ts'
import {
  parseSignature,
  canonicalText,
  issuerKeyIdsOf,
  readSubpackets,
} from '../../../src/openpgp/format/signature-claim.ts'
import { openInner } from '../../support/openpgp-engine.ts'
import { signedLiteral, type SigningOptions } from '../../support/openpgp-inner.ts'
import { concat, u16, hex, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, MADE_MS } from '../../support/openpgp-people.ts'
import {
  TYPE,
  created,
  issuer,
  keyFlags,
  notation,
  signatureBody,
  subpacket,
  intendedRecipient,
  issuerFingerprint,
} from '../../support/openpgp-signature.ts'
import { createHash } from 'node:crypto'

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

const one = seeded('issuer one', 20).toString('hex')
const other = seeded('issuer other', 20).toString('hex')
const newer = seeded('issuer of version 6', 32).toString('hex')
const idOf = (fingerprint: string): string => fingerprint.slice(-16)
const twoLines = Buffer.from('a\nb\n')

interface Areas {
  version?: number
  type?: number
  hashed?: Buffer[]
  unhashed?: Buffer[]
}

/** A signature packet's body up to the end of its subpackets (RFC 9580, 5.2.3). */
function bodyOf({ version = 4, type = 0, hashed = [], unhashed = [] }: Areas): Buffer {
  const length = version === 6 ? u32 : u16
  const areas = [concat(...hashed), concat(...unhashed)]
  const framed = areas.flatMap((area) => [length(area.length), area])
  return concat(version, type, 22, 8, ...framed)
}

const claimOf = (areas: Areas): ReturnType<typeof parseSignature> =>
  parseSignature(bodyOf({ ...areas, hashed: [created(NOW_MS), ...(areas.hashed ?? [])] }), twoLines)

test('a version 6 signature is parsed with its own lengths and fingerprints', () => {
  const unhashed = [issuerFingerprint(newer)]
  expect(claimOf({ version: 6, unhashed })).toMatchObject({
    issuerKeyId: newer.slice(0, 16),
    createdMs: NOW_MS,
  })
  expect(claimOf({ version: 6, hashed: [intendedRecipient(newer)] })).toMatchObject({
    intended: [newer],
  })
  const asVersion4 = concat(4, bodyOf({ version: 6, hashed: [created(NOW_MS)] }).subarray(1))
  expect(parseSignature(asVersion4, twoLines)).toBeNull()
})

test.each([
  ['a fingerprint of version 4 with 32 bytes', subpacket(33, concat(4, newer))],
  ['a fingerprint of version 6 with 20 bytes', subpacket(33, concat(6, one))],
  ['a fingerprint of version 5', subpacket(33, concat(5, newer))],
])('an issuer subpacket with %s is ignored', (_, named) => {
  expect(claimOf({ unhashed: [named] })).toMatchObject({ issuerKeyId: null })
  expect(claimOf({ unhashed: [named, issuer(one)] })).toMatchObject({ issuerKeyId: idOf(one) })
})

test('the first date of a signature counts, and hashed subpackets precede unhashed ones', () => {
  expect(claimOf({ hashed: [created(MADE_MS)] })).toMatchObject({ createdMs: NOW_MS })
  expect(claimOf({ hashed: [notation('a@b', 'c'), created(MADE_MS)] })).toMatchObject({
    createdMs: NOW_MS,
  })
  const dated = bodyOf({ hashed: [issuer(one), created(NOW_MS)], unhashed: [created(MADE_MS)] })
  expect(parseSignature(dated, twoLines)).toMatchObject({ createdMs: NOW_MS })
  expect(claimOf({ hashed: [issuer(one)], unhashed: [issuer(other)] })).toMatchObject({
    issuerKeyId: idOf(one),
  })
})

test.each([0, 1])(
  'the claim digest of a type %i signature is over the document in its hashed form',
  (type) => {
    const body = bodyOf({ type, hashed: [created(NOW_MS)], unhashed: [issuer(one)] })
    const hashedPart = body.subarray(0, 12)
    const signed = type === 1 ? 'a\r\nb\r\n' : 'a\nb\n'
    const inner = createHash('sha256').update(signed).digest()
    const digest = createHash('sha256').update(inner).update(hashedPart).digest('hex')
    expect(parseSignature(body, twoLines)).toMatchObject({ digest })
  },
)

test('`issuerKeyIdsOf` lists all issuers of a signature in order', () => {
  const hashed = [created(NOW_MS), issuerFingerprint(one)]
  const unhashed = [issuer(other), notation('a@b', 'c'), issuer(one)]
  expect(issuerKeyIdsOf(bodyOf({ hashed, unhashed }))).toEqual([idOf(one), idOf(other), idOf(one)])
  expect(issuerKeyIdsOf(bodyOf({ hashed }))).toEqual([idOf(one)])
  expect(issuerKeyIdsOf(bodyOf({ unhashed: [issuer(other)] }))).toEqual([idOf(other)])
})

test('`issuerKeyIdsOf` is empty without issuers and for other versions than 4', () => {
  const unhashed = [issuer(one)]
  expect(issuerKeyIdsOf(bodyOf({}))).toEqual([])
  expect(issuerKeyIdsOf(bodyOf({ version: 3, unhashed }))).toEqual([])
  expect(issuerKeyIdsOf(bodyOf({ version: 6, unhashed }))).toEqual([])
  expect(issuerKeyIdsOf(Buffer.alloc(0))).toEqual([])
})

test('`issuerKeyIdsOf` is empty for a signature that is truncated in its subpackets', () => {
  const body = bodyOf({ hashed: [issuer(one)], unhashed: [issuer(other)] })
  for (let length = 0; length < body.length; length++) {
    expect(issuerKeyIdsOf(body.subarray(0, length)), `length ${length}`).toEqual([])
  }
  expect(issuerKeyIdsOf(body)).toHaveLength(2)
})

test('`readSubpackets` returns kind, criticality and bytes of each subpacket', () => {
  const area = concat(subpacket(20, concat('0102')), subpacket(35, concat('03'), true))
  const { subpackets, isPlain } = readSubpackets(area)
  expect(subpackets.map(({ bytes, ...rest }) => ({ ...rest, bytes: hex(bytes) }))).toEqual([
    { kind: 20, isCritical: false, bytes: '0102' },
    { kind: 35, isCritical: true, bytes: '03' },
  ])
  expect(isPlain).toBe(true)
  expect(readSubpackets(Buffer.alloc(0))).toEqual({ subpackets: [], isPlain: true })
})

test.each([1, 191, 192, 193, 8383, 8384, 16_319])(
  '`readSubpackets` reads a subpacket of %i bytes',
  (length) => {
    const kind = concat(20)
    const header = length < 192 ? concat(length) : u16(length - 192 + (192 << 8))
    const area = concat(header, kind, seeded('subpacket', length - 1), subpacket(2, u32(7)))
    const { subpackets, isPlain } = readSubpackets(area)
    expect(subpackets.map(({ kind: number, bytes }) => [number, bytes.length])).toEqual([
      [20, length - 1],
      [2, 4],
    ])
    expect(isPlain).toBe(true)
  },
)

test('`readSubpackets` reads a five-byte length and reports it as not plain', () => {
  const area = concat(255, u32(3), 20, 1, 2, subpacket(2, u32(7)))
  const { subpackets, isPlain } = readSubpackets(area)
  expect(subpackets.map(({ kind, bytes }) => [kind, bytes.length])).toEqual([
    [20, 2],
    [2, 4],
  ])
  expect(isPlain).toBe(false)
  expect(readSubpackets(concat(255, u32(1), 20))).toMatchObject({
    subpackets: [{ kind: 20 }],
    isPlain: false,
  })
})

test.each([
  ['an empty subpacket', concat(0)],
  ['an empty subpacket that others follow', concat(0, subpacket(20, concat('01')))],
  ['a subpacket that is longer than the area', concat(3, 20, 1)],
  ['a length of two bytes that is cut short', concat(200)],
  ['a length of five bytes that is cut short', concat(255, 0, 0, 0)],
])('`readSubpackets` ends at %s and reports it as not plain', (_, area) => {
  const before = subpacket(2, u32(7))
  const { subpackets, isPlain } = readSubpackets(concat(before, area))
  expect(subpackets.map(({ kind }) => kind)).toEqual([2])
  expect(isPlain).toBe(false)
})

test.each([
  ['no line end', 'ab', 'ab'],
  ['line feeds', '\na\nb\n', '\r\na\r\nb\r\n'],
  ['CRLF', 'a\r\nb\r\n', 'a\r\nb\r\n'],
  ['a lone carriage return', 'a\rb', 'a\rb'],
  ['a lone carriage return before CRLF', 'a\r\r\nb', 'a\r\r\nb'],
])('`canonicalText` converts a text with %s', (_, given, signed) => {
  expect(Buffer.from(canonicalText(Buffer.from(given))).toString()).toBe(signed)
})

test('`canonicalText` keeps all bytes of a text but line feeds', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
  const signed = Buffer.from(canonicalText(bytes))
  expect(signed).toEqual(concat(bytes.subarray(0, 10), '0d0a', bytes.subarray(11)))
})
