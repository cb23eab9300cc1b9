import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { expect, test } from 'vitest'
import { readBody } from '../../src/upstream/attempt.ts'

/** An answer whose body comes in these pieces. */
function inPieces(pieces: Iterable<Buffer>): Dispatcher.ResponseData {
  const answer = { statusCode: 200, headers: {}, body: Readable.from(pieces) }
  return answer as unknown as Dispatcher.ResponseData
}

function* crumbs(count: number): Generator<Buffer> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(1, 0x20)
}

test('a body in more pieces than any service sends is given up, however small it is', async () => {
  const outcome = await readBody(inPieces(crumbs(100_000)), 2 ** 20)
  const error = {
    code: 'postern_upstream_invalid',
    message: expect.stringContaining('an answer in crumbs') as string,
  }
  expect(outcome).toMatchObject({ kind: 'unusable', error })
})

test('a body in many pieces is read whole', async () => {
  const body = await readBody(inPieces(crumbs(60_000)), 2 ** 20)
  expect(body).toEqual(Buffer.alloc(60_000, 0x20))
})
