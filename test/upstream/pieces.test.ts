import { expect, test } from 'vitest'
import { Pieces } from '../../src/upstream/pieces.ts'

const all = (pieces: Pieces, ...texts: string[]) =>
  texts.map((text) => pieces.take(Buffer.from(text)))

test('what came in pieces is one body, in order', () => {
  const pieces = new Pieces(10, 200)
  expect(all(pieces, 'ab', '', 'cd')).toEqual([null, null, null])
  expect(pieces.joined().toString()).toBe('abcd')
  expect(new Pieces(10, 200).joined()).toEqual(Buffer.alloc(0))
})

test('one piece that fills its memory is the body itself', () => {
  const pieces = new Pieces(10, 200)
  const piece = Buffer.from(new Uint8Array([1, 2, 3]).buffer)
  pieces.take(piece)
  expect(pieces.joined()).toBe(piece)
})

test.each([
  [49, false],
  [50, true],
])('%i bytes of a hundred that were read keep them all: %s', (bytes, keeps) => {
  const read = new ArrayBuffer(100)
  const pieces = new Pieces(1000, 200)
  pieces.take(Buffer.from(read, 0, bytes))
  expect(pieces.joined().buffer === read).toBe(keeps)
  expect(pieces.joined().length).toBe(bytes)
})

test('the greatest size is taken, and one byte more is refused with the status', () => {
  const pieces = new Pieces(4, 404)
  const [first, second, third] = all(pieces, 'abc', 'd', 'e')
  expect([first, second]).toEqual([null, null])
  expect(third).toMatchObject({ kind: 'unusable', status: 404 })
  expect(third?.error.message).toContain('larger than any answer')
})

test('65536 pieces are taken, and one more is refused with the status', () => {
  const pieces = new Pieces(1_000_000, 500)
  const piece = Buffer.from('x')
  const taken = Array.from({ length: 65_536 }, () => pieces.take(piece))
  expect(taken.filter((failure) => failure !== null)).toEqual([])
  const failure = pieces.take(piece)
  expect(failure).toMatchObject({ kind: 'unusable', status: 500 })
  expect(failure?.error.message).toContain('an answer in crumbs')
  expect(pieces.joined().length).toBe(65_536)
})
