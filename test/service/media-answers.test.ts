import { expect, test } from 'vitest'
import { ServiceError } from '../../src/errors.ts'
import type { Upstream } from '../../src/service/client.ts'
import type { UpstreamLimits } from '../../src/service/limits.ts'
import { door, failing, no, rawService, service, waiting } from './support.ts'

const LATE = 'postern_upstream_timeout'

async function bytesOf(upstream: Upstream, signal = waiting()): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of await upstream.media('abc', signal)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const fetching = (url: string, limits: Partial<UpstreamLimits> = {}, signal = waiting()) =>
  bytesOf(door(url, { limits }).upstream, signal)

test('an attachment is requested without the token and with any type accepted', async () => {
  const { url, seen } = await service((_request, response) => void response.end('content'))
  expect(await fetching(url)).toBe('content')
  expect(seen[0]).toMatchObject({ method: 'GET', url: '/media/abc', headers: { accept: '*/*' } })
  expect(seen[0]?.headers).not.toHaveProperty('authorization')
})

test('the download of an attachment rejects with the service’s error', async () => {
  const { url, seen } = await service((_request, response) => no(response, 404, 'media_not_found'))
  const error = await failing(fetching(url))
  expect(error).toBeInstanceOf(ServiceError)
  expect(error).toMatchObject({ code: 'media_not_found', status: 404 })
  expect(seen.length).toBe(1)
})

test.each([
  [201, 'content'],
  [206, 'content'],
  [204, ''],
  [201, '{"ok":true,"result":1}'],
  [404, '<html>'],
  [404, `${' '.repeat(2000)}{}`],
])('an answer %d with the body %j is no attachment', async (status, body) => {
  const { url } = await service((_request, response) => void response.writeHead(status).end(body))
  const error = await failing(fetching(url, { maxBytes: 1000 }))
  expect(error.code).toBe('postern_upstream_invalid')
  expect(error.message).toMatch(/no file$/)
})

test.each([
  [302, {}, 'a redirect'],
  [200, { 'content-encoding': 'gzip' }, 'an encoding'],
])('an answer %d with the headers %j is no attachment', async (status, headers, why) => {
  const { url, seen } = await service(
    (_request, response) =>
      void response.writeHead(status, { location: '/media/other', ...headers }).end('content'),
  )
  const error = await failing(fetching(url))
  expect([error.code, error.message.includes(why)]).toEqual(['postern_upstream_invalid', true])
  expect(seen.length).toBe(1)
})

test('an error whose body breaks off fails the download', async () => {
  const { url } = await service((_request, response) => {
    response.writeHead(404, { 'content-length': '50' }).write('{')
    setTimeout(() => response.destroy(), 20)
  })
  expect((await failing(fetching(url))).code).toBe('postern_upstream_unreachable')
})

test('a reader that stops ends the download', async () => {
  const { url, closed } = await rawService((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nx'),
  )
  for await (const piece of await door(url).upstream.media('abc', waiting())) {
    expect(piece.length).toBe(1)
    break
  }
  await expect.poll(closed).toBe(1)
})

test('a slow or broken download is not repeated', async () => {
  const slow = await service(() => {})
  expect((await failing(fetching(slow.url, { callMs: 50 }))).code).toBe(LATE)
  expect(slow.seen.length).toBeLessThan(2)
  const cut = await service((_request, response) => {
    response.writeHead(200, { 'content-length': '9' }).write('con')
    setTimeout(() => response.destroy(), 20)
  })
  const error = await failing(fetching(cut.url))
  expect([error.code, cut.seen.length]).toEqual(['postern_upstream_unreachable', 1])
})

test('a download is not repeated after its reader leaves or its time is over', async () => {
  for (const who of ['reader', 'time'] as const) {
    const leaving = new AbortController()
    let asked = 0
    const { url } = await rawService((socket) => {
      asked++
      socket.resetAndDestroy()
      if (who === 'reader') setTimeout(() => leaving.abort(), 50)
    })
    const limits = { retryPauseMs: 60_000, ...(who === 'time' && { mediaMs: 500 }) }
    expect((await failing(fetching(url, limits, leaving.signal))).code).toBe(LATE)
    expect(asked).toBeLessThan(2)
  }
})

test('a download that waits for a connection ends when its reader leaves', async () => {
  const { url, seen } = await service(() => {})
  const { upstream } = door(url, { limits: { mediaConnections: 1 } })
  const first = failing(upstream.media('a', waiting()))
  const leaving = new AbortController()
  const second = failing(upstream.media('b', leaving.signal))
  await expect.poll(() => seen.length).toBe(1)
  leaving.abort()
  expect((await second).message).toContain('given up')
  await upstream[Symbol.asyncDispose]()
  await first
  expect(seen.length).toBe(1)
})
