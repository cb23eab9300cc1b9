import { expect, test } from 'vitest'
import { Pieces } from '../../src/service/pieces.ts'

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
