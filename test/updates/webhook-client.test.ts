import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openBot, openRaw } from './bot.ts'
import { deliverer } from './deliverer.ts'

const BODY = JSON.stringify({ updateId: 1, words: 'Ünïcødé 🙂' })

test('a delivery is a POST with body, Content-Type, Content-Length, User-Agent and secret', async () => {
  const bot = await openBot()
  const url = `${bot.url}/a%20b?x=1&y=%2F`
  expect(await deliverer()(url, { secret: 's3cr_e-t', body: BODY })).toEqual({
    kind: 'delivered',
    status: 200,
  })
  const [got] = bot.deliveries
  expect([got?.method, got?.path, got?.body]).toEqual(['POST', '/hook/a%20b?x=1&y=%2F', BODY])
  const names = got?.rawHeaders.filter((_word, index) => index % 2 === 0) ?? []
  expect(names.map((name) => name.toLowerCase()).toSorted()).toEqual([
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
    'x-service-bot-api-secret-token',
  ])
  expect(got?.headers).toMatchObject({
    host: `127.0.0.1:${bot.port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(BODY)),
    'user-agent': 'Service-Bot-Api/1',
    'x-service-bot-api-secret-token': 's3cr_e-t',
  })
})

test.each([200, 201, 202, 204, 226, 299])(
  'a webhook answer with status %i means delivered',
  async (status) => {
    const bot = await openBot((_delivery, response) => void response.writeHead(status).end())
    expect(await deliverer()(bot.url)).toEqual({ kind: 'delivered', status })
  },
)

const FAILURES: [status: number, kind: string][] = [
  ...[400, 401, 404, 429, 500, 503].map((status): [number, string] => [status, 'refused']),
  ...[301, 302, 303, 304, 307, 308].map((status): [number, string] => [status, 'redirected']),
]
test.each(FAILURES)(
  'a webhook answer with status %i is %s, and its location is not followed',
  async (status, kind) => {
    const bot = await openBot((_delivery, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    expect((await deliverer()(bot.url)).kind).toBe(kind)
    expect(bot.deliveries.map(({ path }) => path)).toEqual(['/hook'])
  },
)

test('a delivery reuses the connection of the previous delivery', async () => {
  const bot = await openBot((_delivery, response) => void response.end('thank you'))
  const deliver = deliverer()
  for (let n = 0; n < 3; n++) {
    await deliver(bot.url)
    await immediate()
  }
  expect(bot.deliveries.length).toBe(3)
  expect(new Set(bot.deliveries.map(({ connection }) => connection)).size).toBeLessThan(3)
})

test('a delivery on a kept connection that the bot resets is repeated at once on a new one', async () => {
  let answered = 0
  const raw = await openRaw((socket) => {
    // Says that it keeps the connection, and resets it when it is used again.
    if (++answered === 2) socket.resetAndDestroy()
    else socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n')
  })
  const deliver = deliverer()
  expect((await deliver(raw.url)).kind).toBe('delivered')
  await immediate()
  expect((await deliver(raw.url)).kind).toBe('delivered')
})

/** Answers the first request on each connection, and resets that at any other. */
const forgetful = async (isNew: () => boolean) =>
  await openRaw((socket) => {
    if (!isNew()) socket.resetAndDestroy()
    else socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n')
  })

test('a delivery whose repetition on a new connection is reset too is `unreachable`', async () => {
  let requests = 0
  const raw = await forgetful(() => ++requests === 1)
  const deliver = deliverer()
  expect((await deliver(raw.url)).kind).toBe('delivered')
  await immediate()
  expect(await deliver(raw.url)).toEqual({
    kind: 'unreachable',
    message: 'the connection failed: ECONNRESET',
  })
  expect([requests, raw.connections.length]).toEqual([3, 2])
})

test('a delivery opens a new connection while the previous response body is still arriving', async () => {
  const bot = await openBot((_delivery, response) => void response.writeHead(200).write('more'))
  const deliver = deliverer()
  for (let n = 0; n < 3; n++) expect((await deliver(bot.url)).kind).toBe('delivered')
  expect(new Set(bot.deliveries.map(({ connection }) => connection)).size).toBe(3)
})

test('a delivery tries the addresses of a host in order until one accepts the connection', async () => {
  const bot = await openBot()
  const deliver = deliverer({ hosts: { bot: ['::1', '127.0.0.2', '127.0.0.1'] } })
  expect((await deliver(`http://bot:${bot.port}/`)).kind).toBe('delivered')
  expect(bot.deliveries[0]?.headers.host).toBe(`bot:${bot.port}`)
})

test('a delivery tries no further address after one accepted the connection and reset it', async () => {
  const bot = await openBot((_delivery, response) => void response.socket?.resetAndDestroy())
  const deliver = deliverer({ hosts: { bot: ['127.0.0.1', '127.0.0.1'] } })
  expect((await deliver(`http://bot:${bot.port}/`)).kind).toBe('unreachable')
  expect(bot.deliveries.length).toBe(1)
})

test('a delivery resolves its host once and calls only the address that was checked', async () => {
  const bot = await openBot()
  const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']]
  const deliver = deliverer({ resolve: () => Promise.resolve(answers.shift() ?? []) })
  for (const kind of ['delivered', 'not-allowed', 'delivered', 'not-allowed']) {
    expect((await deliver(`http://rebound:${bot.port}/`)).kind).toBe(kind)
  }
  expect(bot.deliveries.length).toBe(2)
})
