/** Doors with a route of a test's own: what is logged, watched, waited for and cut. */
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { expect, test } from 'vitest'
import { createAppBehind } from '../../src/http/app.ts'
import type { BotExchange } from '../../src/api/envelope.ts'
import type { RequestLine } from '../../src/http/request-log.ts'
import { listening } from '../support/listening.ts'
import { watchedLog } from '../support/watched-log.ts'
import { call, head, openDoor, raw } from './support.ts'

test('a bot’s routes that drain abort a call that exceeds `drainMs`', async () => {
  const lines: RequestLine[] = []
  const { app, answer, drain } = createAppBehind({
    log: watchedLog(),
    level: 'info',
    bounds: { drainMs: 20 },
    allowedHosts: [],
    authorize: () => null,
    onAnswered: (line) => lines.push(line),
  })
  const reached = Promise.withResolvers<void>()
  app.get('/held', () => {
    reached.resolve()
    return new Promise(() => {})
  })
  await app.ready()
  const asked = fetch(`${await listening(createServer(answer))}/held`).catch(() => 'cut')
  await reached.promise
  await drain()
  expect(await asked).toBe('cut')
  await expect
    .poll(() => lines.map(({ route, status }) => [route, status]))
    .toContainEqual(['/held', 0])
})

const route = (add: (app: FastifyInstance) => unknown) => ({
  routes: [(app: FastifyInstance) => void add(app)],
})

test('a route that fails after its answer has begun has the answer ended, and the log has the failure without its text', async () => {
  const world = await openDoor({
    parts: route((app) =>
      app.get('/begun', (_request, reply) => {
        reply.raw.writeHead(200, { connection: 'close' })
        reply.raw.write('some ')
        setImmediate(() => reply.raw.end('more'))
        throw new Error('canary')
      }),
    ),
  })
  const text = await raw(world.port, head('GET /bot/v1/begun'))
  expect(text).toMatch(/^HTTP\/1\.1 200 OK/)
  expect(text).toContain('more')
  await expect.poll(() => world.lines.length).toBe(2)
  expect(world.lines).toMatchObject([
    { msg: 'a call failed unexpectedly', error: 'Error' },
    { msg: 'request', status: 200 },
  ])
  expect(JSON.stringify(world.lines)).not.toContain('canary')
})

test('a listener closes the connection of a refused body that may be long, and keeps it for a short one', async () => {
  const { port } = await openDoor({ parts: { bounds: { bodyBytes: 100 } } })
  const typed = 'Content-Type: application/json'
  const post = (...lines: string[]) => head('POST /bot/v1/chats/5/typing', ...lines)
  for (const lines of [['Content-Length: 101'], ['Transfer-Encoding: chunked', 'Origin: x']]) {
    const text = await raw(port, post(typed, ...lines))
    expect(text.toLowerCase()).toContain('connection: close')
  }
  const short = `${post('Content-Type: text/plain', 'Content-Length: 2')}{}`
  const text = await raw(port, short, head('GET /bot/v1/commands', 'Connection: close'))
  expect(text).toMatch(/^HTTP\/1\.1 400 [^]*HTTP\/1\.1 200 /)
})

test('`onExchange` receives each call and its answer, without the bytes of files and the query of their urls', async () => {
  const seen: BotExchange[] = []
  const world = await openDoor({
    parts: {
      onExchange: (exchange) => seen.push(exchange),
      outside: [
        (app) =>
          void app.get('/media/:id', (_request, reply) => reply.send(Readable.from(['a', 'b']))),
      ],
    },
  })
  const answered = await call(world, 'DELETE', '/bot/v1/messages/5', { body: { chatId: 7 } })
  await call(world, 'GET', '/media/abc?key=secret')
  await raw(world.port, head('GET /bot/v1/me?a=1', 'Origin: x'))
  await call(world, 'GET', '/bot/v1/commands', { token: 'none' })
  await expect.poll(() => seen.length).toBe(4)
  const common = { kind: 'call', request: '' }
  expect(seen).toMatchObject([
    {
      kind: 'call',
      method: 'DELETE',
      path: '/bot/v1/messages/5',
      request: '{"chatId":7}',
      status: 200,
      answer: '{"ok":true,"result":{}}',
    },
    { ...common, method: 'GET', path: '/media/abc', status: 200, answer: '' },
    { ...common, method: 'GET', path: '/bot/v1/me?a=1', status: 403 },
    { ...common, method: 'GET', path: '/bot/v1/commands', status: 401 },
  ])
  const { headers, answerHeaders, ms } = seen[0] ?? {}
  expect(headers?.join(' ')).toMatch(/authorization …/i)
  expect(headers?.join(' ')).not.toMatch(/bearer/i)
  expect(headers).toContain('application/json')
  expect(answerHeaders).toContain(answered.headers.get('content-type'))
  expect(ms).toBeGreaterThanOrEqual(0)
  expect(seen[2]?.answer).toContain('postern_browser_refused')
  expect(seen[3]?.answer).toContain('unauthorized')
})
