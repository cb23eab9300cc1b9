/** The fields of signature packets, read from their bytes alone. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  canonicalText,
  issuerKeyIdsOf,
  parseSignature,
  readSubpackets,
} from '../../../src/openpgp/format/signature-claim.ts'
import { concat, hex, seeded, u16, u32 } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS } from '../../support/openpgp-people.ts'
import {
  created,
  intendedRecipient,
  issuer,
  issuerFingerprint,
  notation,
  subpacket,
} from '../../support/openpgp-signature.ts'

const one = seeded('issuer one', 20).toString('hex')
const other = seeded('issuer other', 20).toString('hex')
const newer = seeded('issuer of version 6', 32).toString('hex')
const idOf = (fingerprint: string): string => fingerprint.slice(-16)
const document = Buffer.from('a\nb\n')

interface Areas {
  version?: number
  type?: number
  hashed?: Buffer[]
  unhashed?: Buffer[]
}

/** A signature packet's body up to the end of its subpackets (RFC 9580, 5.2.3). */
function bodyOf({ version = 4, type = 0, hashed = [], unhashed = [] }: Areas): Buffer {
  const length = version === 6 ? u32 : u16
  const [first, second] = [concat(...hashed), concat(...unhashed)]
  return concat(version, type, 22, 8, length(first.length), first, length(second.length), second)
}

const claimOf = (areas: Areas): ReturnType<typeof parseSignature> =>
  parseSignature(bodyOf({ ...areas, hashed: [created(NOW_MS), ...(areas.hashed ?? [])] }), document)

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
  expect(parseSignature(asVersion4, document)).toBeNull()
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
  expect(parseSignature(dated, document)).toMatchObject({ createdMs: NOW_MS })
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
    expect(parseSignature(body, document)).toMatchObject({ digest })
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
