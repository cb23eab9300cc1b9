import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { PosternError } from '../../src/errors.ts'
import { type UpstreamLimits, UPSTREAM_LIMITS } from '../../src/service/limits.ts'
import { BOUNDS } from '../../src/openpgp/bounds.ts'
import { door, service, waiting } from './support.ts'

/** A service that answers every request for a file alike; gives what came of one. */
async function cameOf(
  answer: (response: ServerResponse) => void,
  limits: Partial<UpstreamLimits> = {},
  signal = waiting(),
): Promise<{ outcome: string; bytes: number; closed: () => Promise<void> }> {
  const closed = Promise.withResolvers<void>()
  const { url } = await service((_request, response) => {
    response.on('close', () => closed.resolve())
    answer(response)
  })
  const { upstream } = door(url, { limits })
  let bytes = 0
  const rest = { closed: () => closed.promise }
  try {
    for await (const piece of await upstream.media('abc', signal)) bytes += piece.length
    return { outcome: 'given', bytes, ...rest }
  } catch (error) {
    if (!(error instanceof PosternError)) throw error
    return { outcome: error.code, bytes, ...rest }
  }
}

const LARGE = { maxMediaBytes: 100_000 }
const piece = Buffer.alloc(1000)

test('an attachment of the maximum size is downloaded, and one byte more is refused', async () => {
  const sized = (size: number) => (response: ServerResponse) =>
    void response.end(Buffer.alloc(size))
  expect(await cameOf(sized(100_000), LARGE)).toMatchObject({ outcome: 'given', bytes: 100_000 })
  expect(await cameOf(sized(100_001), LARGE)).toMatchObject({
    outcome: 'postern_media_too_large',
    bytes: 0,
  })
})

test('a download without a length ends at the maximum size', async () => {
  const endless = (response: ServerResponse): void => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', more)
    more()
  }
  const came = await cameOf(endless, LARGE)
  expect(came.outcome).toBe('postern_media_too_large')
  expect(came.bytes).toBeLessThanOrEqual(100_000)
  await came.closed()
})

test.each([
  ['longer than the body fails the download', 5000, /^postern_upstream_/, 1000],
  ['shorter than the body ends the download', 500, /^given$/, 500],
])('a content length %s', async (_, length, outcome, bytes) => {
  const lying = (response: ServerResponse): void => {
    response.socket?.end(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(1000)}`)
  }
  const came = await cameOf(lying, LARGE)
  expect(came.outcome).toMatch(outcome)
  expect(came.bytes).toBeLessThanOrEqual(bytes)
})

test('a download that never starts, stalls or drips ends at its deadline', async () => {
  expect((await cameOf(() => {}, { mediaMs: 200 })).outcome).toBe('postern_upstream_timeout')
  const stalls = (response: ServerResponse): void => void response.write(piece)
  expect((await cameOf(stalls, { mediaMs: 300 })).outcome).toBe('postern_upstream_timeout')
  const drips = (response: ServerResponse): void => {
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  }
  const came = await cameOf(drips, { mediaMs: 400, stallMs: 60_000 })
  expect(came.outcome).toBe('postern_upstream_timeout')
  await came.closed()
})

test('a reader that leaves ends the download', async () => {
  const leave = new AbortController()
  const came = await cameOf(() => setTimeout(() => leave.abort(), 20), {}, leave.signal)
  expect(came.outcome).toBe('postern_upstream_timeout')
  await came.closed()
})

test('the maximum size of a download equals the maximum size of an opened attachment', () => {
  expect(UPSTREAM_LIMITS.maxMediaBytes).toBe(BOUNDS.storedAttachmentBytes)
})
