import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { DocumentHashes, LineEnds } from '../../../src/openpgp/format/document-hashes.ts'
import { canonicalText } from '../../../src/openpgp/format/signature-claim.ts'
import { runs } from '../../support/chance.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { fc } from '../../support/property.ts'

const signs = fc.array(fc.constantFrom('\r', '\n', 'x'), { maxLength: 40 })
const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 6 })

test('`LineEnds` converts a text in any pieces to the line ends of `canonicalText`', () => {
  fc.assert(
    fc.property(signs, cuts, (text, at) => {
      const whole = Buffer.from(text.join(''))
      const ends = [...at, whole.length]
        .map((cut) => Math.min(cut, whole.length))
        .toSorted((a, b) => a - b)
      const lines = new LineEnds()
      const pieces = ends.map((end, index) =>
        lines.update(whole.subarray(ends[index - 1] ?? 0, end)),
      )
      const given = Buffer.concat([...pieces, lines.end()])
      expect(given.toString()).toBe(Buffer.from(canonicalText(whole)).toString())
    }),
    { numRuns: runs(500) },
  )
})

const hashedPart = seeded('hashed part', 300)
/** What comes behind a version 4 signature's hashed part (RFC 9580, 5.2.4). */
const TRAILER = '04ff0000012c'
const document = 'a\nb\r\nc\r'
const asSigned = { 0: document, 1: 'a\r\nb\r\nc\r' }

/** Hashes of a document that comes in pieces, for one way to sign. */
function hashesOf(pieces: (string | Uint8Array)[], ...uses: [number, number][]): DocumentHashes {
  const hashes = new DocumentHashes(uses.map(([type, hashAlgorithm]) => ({ type, hashAlgorithm })))
  for (const piece of pieces) hashes.update(Buffer.from(piece))
  hashes.end()
  return hashes
}
const head = (type: number, hashAlgorithm: number) => ({ type, hashAlgorithm, hashedPart })

test.each([
  [8, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
  [11, 'sha224'],
  [12, 'sha3-256'],
  [14, 'sha3-512'],
])('`DocumentHashes` computes hash %i as %s over a binary and a text document', (id, name) => {
  for (const type of [0, 1] as const) {
    const signed = concat(Buffer.from(asSigned[type]), hashedPart, TRAILER)
    const expected = createHash(name).update(signed).digest('hex')
    for (const pieces of [[document], document.split(''), ['', 'a\nb\r', '\nc\r', '']]) {
      const hashes = hashesOf(pieces, [type, id])
      expect(hashes.digest(head(type, id)).toString('hex')).toBe(expected)
    }
  }
})

test.each([0, 1, 2, 3, 13, 255])('`DocumentHashes` has no digest for hash %i', (id) => {
  const hashes = hashesOf([document], [0, id], [0, 8])
  expect(hashes.digest(head(0, id))).toHaveLength(0)
  expect(hashes.digest(head(0, 8))).toHaveLength(32)
})

test('`DocumentHashes` has digests for the requested types and hashes alone, with the same value on each call', () => {
  const hashes = hashesOf([document], [0, 8], [1, 10])
  expect(hashes.digest(head(1, 8))).toHaveLength(0)
  expect(hashes.digest(head(0, 10))).toHaveLength(0)
  expect(hashes.digest(head(0, 8))).toHaveLength(32)
  expect(hashes.digest(head(1, 10))).toHaveLength(64)
  expect(hashes.digest(head(0, 8))).toEqual(hashes.digest(head(0, 8)))
})

const sha256 = (...parts: (Uint8Array | string)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

test('the statement digest of a short document equals that of the same text in a message', () => {
  for (const type of [0, 1] as const) {
    const inner = createHash('sha256').update(asSigned[type]).digest()
    for (const id of [8, 10, 2]) {
      const hashes = hashesOf(['a\nb\r', '\nc\r'], [type, id])
      expect(hashes.statement(head(type, id))).toBe(sha256(inner, hashedPart))
    }
  }
})

test('the statement digest of a document above `BOUNDS.textBytes` is over the signed digest', () => {
  const whole = Buffer.alloc(BOUNDS.textBytes, 'x')
  const inner = createHash('sha256').update(whole).digest()
  const longest = hashesOf([whole.subarray(0, 9), whole.subarray(9)], [0, 10])
  expect(longest.statement(head(0, 10))).toBe(sha256(inner, hashedPart))
  const longer = hashesOf([whole, 'x'], [0, 10])
  expect(longer.statement(head(0, 10))).toBe(sha256(longer.digest(head(0, 10)), hashedPart))
  expect(longer.statement(head(0, 10))).not.toBe(
    sha256(createHash('sha256').update(whole).update('x').digest(), hashedPart),
  )
})
