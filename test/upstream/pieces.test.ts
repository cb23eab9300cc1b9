import { expect, test } from 'vitest'
import { Pieces } from '../../src/upstream/pieces.ts'

const all = (pieces: Pieces, ...texts: string[]) =>
  texts.map((text) => pieces.take(Buffer.from(text)))

test('`Pieces` joins its pieces in order', () => {
  const pieces = new Pieces(10, 200)
  expect(all(pieces, 'ab', '', 'cd')).toEqual([null, null, null])
  expect(pieces.joined().toString()).toBe('abcd')
  expect(new Pieces(10, 200).joined()).toEqual(Buffer.alloc(0))
})

test('`Pieces` returns a single full piece without a copy', () => {
  const pieces = new Pieces(10, 200)
  const piece = Buffer.from(new Uint8Array([1, 2, 3]).buffer)
  pieces.take(piece)
  expect(pieces.joined()).toBe(piece)
})

test.each([
  [49, false],
  [50, true],
])('`Pieces` keeps a piece of %i bytes in a buffer of 100 without a copy: %s', (bytes, keeps) => {
  const read = new ArrayBuffer(100)
  const pieces = new Pieces(1000, 200)
  pieces.take(Buffer.from(read, 0, bytes))
  expect(pieces.joined().buffer === read).toBe(keeps)
  expect(pieces.joined().length).toBe(bytes)
})

test('`Pieces` accepts the maximum size and refuses one byte more', () => {
  const pieces = new Pieces(4, 404)
  const [first, second, third] = all(pieces, 'abc', 'd', 'e')
  expect([first, second]).toEqual([null, null])
  expect(third).toMatchObject({ kind: 'unusable', status: 404 })
  expect(third?.error.message).toContain('larger than any answer')
})

test('`Pieces` accepts 65536 pieces and refuses one more', () => {
  const pieces = new Pieces(1_000_000, 500)
  const piece = Buffer.from('x')
  const taken = Array.from({ length: 65_536 }, () => pieces.take(piece))
  expect(taken.filter((failure) => failure !== null)).toEqual([])
  const failure = pieces.take(piece)
  expect(failure).toMatchObject({ kind: 'unusable', status: 500 })
  expect(failure?.error.message).toContain('an answer in crumbs')
  expect(pieces.joined().length).toBe(65_536)
})
