import type { Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Clock } from '../../src/updates/clock.ts'
import { REAL_CLOCK } from '../../src/updates/clock.ts'
import type { DeliveryOutcome } from '../../src/updates/delivery-outcome.ts'
import { WebhookClient, type Delivery } from '../../src/updates/webhook-client.ts'
import { openBot, openRaw } from './bot.ts'

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

function deliverer(o: { hosts?: Record<string, string[]>; clock?: Clock } = {}) {
  const { hosts = {}, clock = REAL_CLOCK } = o
  const resolve = (host: string) => Promise.resolve(hosts[host] ?? [])
  const made = new WebhookClient({ allowHosts: null, clock, resolve })
  onTestFinished(() => made[Symbol.dispose]())
  return (url: string, more: Partial<Delivery> = {}): Promise<DeliveryOutcome> =>
    made.deliver({ url, secret: null, body: '{}', signal: new AbortController().signal, ...more })
}

const BODY = JSON.stringify({ updateId: 1, words: 'Ünïcødé 🙂' })

describe('a delivery', () => {
  test('is a POST with the body, its type and length, the user agent and the secret', async () => {
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

  test('has no secret header where no secret was set', async () => {
    const bot = await openBot()
    await deliverer()(bot.url)
    expect(bot.deliveries[0]?.headers).not.toHaveProperty('x-service-bot-api-secret-token')
  })

  test.each([200, 201, 202, 204, 226, 299])('%i means delivered', async (status) => {
    const bot = await openBot((_delivery, response) => void response.writeHead(status).end())
    expect(await deliverer()(bot.url)).toEqual({ kind: 'delivered', status })
  })

  test.each([400, 401, 404, 429, 500, 503])('%i is a failure', async (status) => {
    const bot = await openBot((_delivery, response) => void response.writeHead(status).end())
    expect(await deliverer()(bot.url)).toEqual({
      kind: 'refused',
      message: `the bot answered ${status}`,
    })
  })

  test.each([301, 302, 303, 304, 307, 308])(
    '%i is a failure and is not followed',
    async (status) => {
      const bot = await openBot((_delivery, response) => {
        response.writeHead(status, { location: '/elsewhere' }).end()
      })
      expect((await deliverer()(bot.url)).kind).toBe('redirected')
      expect(bot.deliveries.map(({ path }) => path)).toEqual(['/hook'])
    },
  )

  test('goes on the connection of the one before, as long as the bot keeps it', async () => {
    const bot = await openBot((_delivery, response) => void response.end('thank you'))
    const deliver = deliverer()
    for (let n = 0; n < 3; n++) {
      await deliver(bot.url)
      await immediate()
    }
    expect(bot.deliveries.length).toBe(3)
    expect(new Set(bot.deliveries.map(({ connection }) => connection)).size).toBeLessThan(3)
  })

  test('is made anew at once when the bot had closed that connection', async () => {
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
})

describe('a connection that the bot keeps', () => {
  /** Answers the first request on each connection, and resets that at any other. */
  const forgetful = async (isNew: () => boolean) =>
    await openRaw((socket) => {
      if (!isNew()) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n')
    })

  test('is replaced once: when the new one fails too, the delivery has failed', async () => {
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

  test('is not waited for while a body goes by on it', async () => {
    const bot = await openBot((_delivery, response) => void response.writeHead(200).write('more'))
    const deliver = deliverer()
    for (let n = 0; n < 3; n++) expect((await deliver(bot.url)).kind).toBe('delivered')
    expect(new Set(bot.deliveries.map(({ connection }) => connection)).size).toBe(3)
  })
})

describe('the addresses of a host', () => {
  test('are called in order until one answers', async () => {
    const bot = await openBot()
    const deliver = deliverer({ hosts: { bot: ['::1', '127.0.0.2', '127.0.0.1'] } })
    expect((await deliver(`http://bot:${bot.port}/`)).kind).toBe('delivered')
    expect(bot.deliveries[0]?.headers.host).toBe(`bot:${bot.port}`)
  })

  test('are not called again after one accepted the update and failed', async () => {
    const bot = await openBot((_delivery, response) => void response.socket?.resetAndDestroy())
    const deliver = deliverer({ hosts: { bot: ['127.0.0.1', '127.0.0.1'] } })
    expect((await deliver(`http://bot:${bot.port}/`)).kind).toBe('unreachable')
    expect(bot.deliveries.length).toBe(1)
  })

  test('are asked for once a delivery, and only what was checked is called', async () => {
    const bot = await openBot()
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']]
    const made = new WebhookClient({
      allowHosts: null,
      clock: REAL_CLOCK,
      resolve: () => Promise.resolve(answers.shift() ?? []),
    })
    onTestFinished(() => made[Symbol.dispose]())
    const { signal } = new AbortController()
    const deliver = () =>
      made.deliver({ url: `http://rebound:${bot.port}/`, secret: null, body: '{}', signal })
    expect((await deliver()).kind).toBe('delivered')
    expect((await deliver()).kind).toBe('not-allowed')
    expect((await deliver()).kind).toBe('delivered')
    expect((await deliver()).kind).toBe('not-allowed')
    expect(bot.deliveries.length).toBe(2)
  })
})

describe('a bot that does not answer properly', () => {
  test('nobody listens', async () => {
    const { port, close } = await openBot()
    await close()
    expect(await deliverer()(`http://127.0.0.1:${port}/`)).toEqual({
      kind: 'unreachable',
      message: 'the connection failed: ECONNREFUSED',
    })
  })

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', 'unreadable'],
    ['a connection that ends within the headers', 'HTTP/1.1 200 OK\r\nx: ', 'unreachable'],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      'unreadable',
    ],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'refused',
    ],
    ['another protocol, unnamed', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'refused'],
    // undici gives up an answer whose first part is this, though it was not asked for
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'refused'],
    ['a status that is none', 'HTTP/1.1 000 None\r\ncontent-length: 0\r\n\r\n', 'unreadable'],
    [
      'headers that are too long',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`,
      'unreadable',
    ],
    ['headers without end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}`, 'unreadable'],
  ])('%s', async (_what, bytes, kind) => {
    const raw = await openRaw((socket) => void socket.end(bytes))
    expect((await deliverer()(raw.url)).kind).toBe(kind)
  })

  test('a body without end is not read to its end', async () => {
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

  test('a body that does not end in time ends its connection', async () => {
    const ended = Promise.withResolvers<void>()
    const bot = await openBot((_delivery, response) => {
      response.on('close', ended.resolve).writeHead(200).write('more')
    })
    expect((await deliverer()(bot.url)).kind).toBe('delivered')
    await ended.promise
  })

  test('hints before the answer are not the answer', async () => {
    const bot = await openBot((_delivery, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.writeHead(204).end()
    })
    expect(await deliverer()(bot.url)).toEqual({ kind: 'delivered', status: 204 })
  })

  test('no answer within ten seconds is a failure, which ends the connection', async () => {
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

  test('half an answer within ten seconds is one too', async () => {
    const clock = new TenSeconds()
    const raw = await openRaw((socket) => void socket.write('HTTP/1.1 200 O'))
    const outcome = deliverer({ clock })(raw.url)
    await expect.poll(() => raw.connections.length).toBe(1)
    clock.waits[0]?.end()
    expect((await outcome).kind).toBe('late')
  })

  test('so is a resolver that does not answer', async () => {
    const clock = new TenSeconds()
    const made = new WebhookClient({
      allowHosts: null,
      clock,
      resolve: () => new Promise(() => {}),
    })
    onTestFinished(() => made[Symbol.dispose]())
    const { signal } = new AbortController()
    const outcome = made.deliver({ url: 'http://bot/', secret: null, body: '{}', signal })
    clock.waits[0]?.end()
    expect((await outcome).kind).toBe('late')
  })

  test('what is given up from our side is no failure of the bot', async () => {
    const giveUp = new AbortController()
    const bot = await openBot(() => giveUp.abort())
    expect((await deliverer()(bot.url, { signal: giveUp.signal })).kind).toBe('abandoned')
    expect((await deliverer()(bot.url, { signal: AbortSignal.abort() })).kind).toBe('abandoned')
  })
})

describe('the end of the client', () => {
  const silent = () => {}

  const begun = async (url: (port: number) => string, answer: (socket: Socket) => void) => {
    const raw = await openRaw(answer)
    const client = new WebhookClient({
      allowHosts: null,
      clock: REAL_CLOCK,
      resolve: () => Promise.resolve([]),
    })
    const { signal } = new AbortController()
    const delivery = { url: url(raw.port), secret: null, body: '{}', signal }
    const outcome = client.deliver(delivery)
    await expect.poll(() => raw.connections[0]?.bytesRead).toBeGreaterThan(0)
    return { raw, client, outcome }
  }

  test.each([
    ['that waits for an answer', 'http', silent],
    ['that is being made', 'https', silent],
  ])('ends a connection %s', async (_what, scheme, answer) => {
    const { raw, client, outcome } = await begun((port) => `${scheme}://127.0.0.1:${port}/`, answer)
    client[Symbol.dispose]()
    expect((await outcome).kind).toBe('unreachable')
    // Sooner than undici gives up a connection by itself.
    await expect.poll(() => raw.connections[0]?.destroyed, { timeout: 5000 }).toBe(true)
  })

  test('ends a connection that is kept', async () => {
    const { raw, client, outcome } = await begun(
      (port) => `http://127.0.0.1:${port}/`,
      (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    )
    expect((await outcome).kind).toBe('delivered')
    expect(raw.connections[0]?.destroyed).toBe(false)
    client[Symbol.dispose]()
    await expect.poll(() => raw.connections[0]?.destroyed).toBe(true)
  })
})
