import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Clock } from '../../src/util/clock.ts'
import { openBot, openRaw } from './bot.ts'
import { deliverer, deliveringClient } from './deliverer.ts'

/** Ten seconds that pass when the test says so. */
class TenSeconds implements Clock {
  readonly waits: { ms: number; end: () => void }[] = []
  now = (): number => 0
  monotonicNow = (): number => 0
  wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
      this.waits.push({ ms, end: resolve })
    })
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

test('a delivery to a closed port is `unreachable`', async () => {
  const { port, close } = await openBot()
  await close()
  expect(await deliverer()(`http://127.0.0.1:${port}/`)).toEqual({
    kind: 'unreachable',
    message: 'the connection failed: ECONNREFUSED',
  })
})

test.each([
  ['bytes that are no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', 'unreadable'],
  ['half a header section', 'HTTP/1.1 200 OK\r\nx: ', 'unreachable'],
  [
    'two Content-Length headers',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    'unreadable',
  ],
  [
    '101 Switching Protocols',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'refused',
  ],
  ['101 without an Upgrade header', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'refused'],
  ['100 Continue before a refusal', `${CONTINUE}HTTP/1.1 503 Busy\r\n\r\n`, 'refused'],
  ['the status 000', 'HTTP/1.1 000 None\r\ncontent-length: 0\r\n\r\n', 'unreadable'],
  ['a header of 17 kB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`, 'unreadable'],
  ['endless headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}`, 'unreadable'],
])('a delivery answered with %s fails', async (_what, bytes, kind) => {
  const raw = await openRaw((socket) => void socket.end(bytes))
  expect((await deliverer()(raw.url)).kind).toBe(kind)
})

test('an endless response body does not delay a delivery', async () => {
  const bot = await openBot((_delivery, response) => {
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  })
  expect((await deliverer()(bot.url)).kind).toBe('delivered')
  await expect.poll(() => bot.deliveries.length).toBe(1)
  await bot.close()
})

test('a response body that does not end in time has its connection closed', async () => {
  const ended = Promise.withResolvers<void>()
  const bot = await openBot((_delivery, response) => {
    response.on('close', ended.resolve).writeHead(200).write('more')
  })
  expect((await deliverer()(bot.url)).kind).toBe('delivered')
  await ended.promise
})

test('a delivery reads past 100 (Continue) before the response, each time on one connection', async () => {
  const raw = await openRaw((socket, request) => {
    if (!request.endsWith('}')) return
    socket.write(`${CONTINUE}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`)
  })
  const deliver = deliverer()
  for (const _turn of [1, 2]) {
    expect(await deliver(raw.url)).toEqual({ kind: 'delivered', status: 200 })
    // undici keeps the connection for the next request a moment after the answer
    await pause(20)
  }
  expect(raw.connections).toHaveLength(1)
})

test('a delivery ignores early hints before the response', async () => {
  const bot = await openBot((_delivery, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.writeHead(204).end()
  })
  expect(await deliverer()(bot.url)).toEqual({ kind: 'delivered', status: 204 })
})

test('a delivery without an answer within ten seconds is `late`, and its connection is closed', async () => {
  const clock = new TenSeconds()
  const ended = Promise.withResolvers<void>()
  const bot = await openBot((_delivery, response) => void response.on('close', ended.resolve))
  const outcome = deliverer({ clock })(bot.url)
  await bot.until(1)
  expect(clock.waits.map(({ ms }) => ms)).toEqual([10_000])
  clock.waits[0]?.end()
  expect(await outcome).toEqual({ kind: 'late', message: 'no answer within 10 seconds' })
  await ended.promise
})

test('a delivery with half a status line after ten seconds is `late`', async () => {
  const clock = new TenSeconds()
  const raw = await openRaw((socket) => void socket.write('HTTP/1.1 200 O'))
  const outcome = deliverer({ clock })(raw.url)
  await expect.poll(() => raw.connections.length).toBe(1)
  clock.waits[0]?.end()
  expect((await outcome).kind).toBe('late')
})

test('a delivery whose host does not resolve within ten seconds is `late`', async () => {
  const clock = new TenSeconds()
  const outcome = deliverer({ clock, resolve: () => new Promise(() => {}) })('http://bot/')
  clock.waits[0]?.end()
  expect((await outcome).kind).toBe('late')
})

test('a delivery aborted by the sidecar is `abandoned`, and not a failure of the bot', async () => {
  const giveUp = new AbortController()
  const bot = await openBot(() => giveUp.abort())
  expect((await deliverer()(bot.url, { signal: giveUp.signal })).kind).toBe('abandoned')
  expect((await deliverer()(bot.url, { signal: AbortSignal.abort() })).kind).toBe('abandoned')
})

const silent = () => {}

const begun = async (url: (port: number) => string, answer: (socket: Socket) => void) => {
  const raw = await openRaw(answer)
  const { client, deliver } = deliveringClient()
  const outcome = deliver(url(raw.port))
  await expect.poll(() => raw.connections[0]?.bytesRead).toBeGreaterThan(0)
  return { raw, client, outcome }
}

test.each([
  ['with a pending request', 'http', silent],
  ['in its TLS handshake', 'https', silent],
])('a disposed `WebhookClient` closes a connection %s', async (_what, scheme, answer) => {
  const { raw, client, outcome } = await begun((port) => `${scheme}://127.0.0.1:${port}/`, answer)
  client[Symbol.dispose]()
  expect((await outcome).kind).toBe('unreachable')
  // Sooner than undici gives up a connection by itself.
  await expect.poll(() => raw.connections[0]?.destroyed, { timeout: 5000 }).toBe(true)
})

test('a disposed `WebhookClient` closes an idle connection', async () => {
  const { raw, client, outcome } = await begun(
    (port) => `http://127.0.0.1:${port}/`,
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  )
  expect((await outcome).kind).toBe('delivered')
  expect(raw.connections[0]?.destroyed).toBe(false)
  client[Symbol.dispose]()
  await expect.poll(() => raw.connections[0]?.destroyed).toBe(true)
})
