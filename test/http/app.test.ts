/** Doors with a route of a test's own: what is logged, watched, waited for and cut. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as immediate } from 'node:timers/promises'
import { fastify, type FastifyInstance } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { createAppBehind } from '../../src/http/app.ts'
import { takeOnlyJson } from '../../src/http/body.ts'
import { DOOR_BOUNDS, type DoorBounds } from '../../src/http/bounds.ts'
import type { BotExchange } from '../../src/api/envelope.ts'
import type { RequestLine } from '../../src/http/request-log.ts'
import { buildBotRoutes, type BotDoorParts } from '../../src/http/server.ts'
import { watchedLog } from '../support/watched-log.ts'
import { call, head, openDoor, outcome, raw, TOKEN, NO_CLIENTS } from './support.ts'

/** A server before a listener. */
async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  onTestFinished(() => void server.close())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('routes behind a door', () => {
  async function scene(bounds: Partial<DoorBounds> = {}) {
    const lines: RequestLine[] = []
    const { app, answer, drain, stopping } = createAppBehind({
      log: watchedLog(),
      level: 'info',
      bounds: { ...DOOR_BOUNDS, ...bounds },
      hosts: new Set(),
      anyHost: new Set(),
      authorize: () => null,
      onAnswered: (line) => lines.push(line),
    })
    const held = Promise.withResolvers<object>()
    const reached = Promise.withResolvers<void>()
    app.get('/held', () => {
      reached.resolve()
      return held.promise
    })
    await app.ready()
    const url = await listening(answer)
    return { url, drain, stopping, reached, held, lines }
  }

  test('wait for what is under way when they close, and report that they do', async () => {
    const { url, drain, stopping, reached, held } = await scene()
    const asked = fetch(`${url}/held`)
    await reached.promise
    let isOver = false
    const drained = drain().then(() => (isOver = true))
    await expect.poll(() => stopping.aborted).toBe(true)
    await immediate()
    expect(isOver).toBe(false)
    held.resolve({ a: 1 })
    expect(await (await asked).json()).toEqual({ a: 1 })
    await drained
  })

  test('cut what takes longer than their time', async () => {
    const { url, drain, reached, lines } = await scene({ drainMs: 20 })
    const asked = fetch(`${url}/held`).catch(() => 'cut')
    await reached.promise
    await drain()
    expect(await asked).toBe('cut')
    await expect
      .poll(() => lines.map(({ route, status }) => [route, status]))
      .toContainEqual(['/held', 0])
  })
})

test('routes of one of several bots ask for its token, and are there once they are built', async () => {
  const lines: RequestLine[] = []
  const parts: Partial<BotDoorParts> = {
    log: watchedLog(),
    onAnswered: (line) => lines.push(line),
    expectedToken: () => TOKEN,
    rereadToken: () => false,
    allowedHosts: [],
    allowUnknown: false,
    managesKey: true,
    clients: NO_CLIENTS,
    routes: [(app) => void app.get('/own', () => ({ own: true }))],
    outside: [(app) => void app.get('/outside', () => ({ own: false }))],
  }
  const { answer, drain } = buildBotRoutes(parts as BotDoorParts)
  const url = await listening(answer)
  const get = async (path: string, token = TOKEN) =>
    (await call({ url }, 'GET', path, { token })).json as object
  expect(await get('/bot/v1/own')).toEqual({ own: true })
  expect(await get('/outside')).toEqual({ own: false })
  expect(await get('/outside', 'none')).toMatchObject({ error: { code: 'unauthorized' } })
  await drain()
  await expect
    .poll(() => lines.map(({ route }) => route))
    .toEqual(['/bot/v1/own', '/outside', '/outside'])
})

describe('a door', () => {
  const route = (add: (app: FastifyInstance) => unknown) => ({
    routes: [(app: FastifyInstance) => void add(app)],
  })

  test('ends an answer that has begun when its route fails, and reports the failure alone', async () => {
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

  test('closes a connection on which the rest of a refused body may be long', async () => {
    const { port } = await openDoor({ parts: { bounds: { bodyBytes: 100 } } })
    const typed = 'Content-Type: application/json'
    const post = (...lines: string[]) => head('POST /bot/v1/chats/5/typing', ...lines)
    for (const lines of [['Content-Length: 101'], ['Transfer-Encoding: chunked', 'Origin: x']]) {
      const text = await raw(port, post(typed, ...lines))
      expect(text.toLowerCase()).toContain('connection: close')
    }
    const short = `${post('Content-Type: text/plain', 'Content-Length: 2')}{}`
    const text = await raw(port, short, head('GET /bot/v1/commands', 'Connection: close'))
    expect(text).toMatch(/^HTTP\/1\.1 415 [^]*HTTP\/1\.1 200 /)
  })

  test('asks for a body that waits only once its call is let in', async () => {
    const { port } = await openDoor()
    const waits = ['Expect: 100-continue', 'Connection: close', 'Content-Length: 0']
    const post = head('POST /bot/v1/chats/5/typing', ...waits)
    expect(await raw(port, post)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
    const stranger = await raw(port, post.replace(TOKEN, 'none'))
    expect(outcome(stranger)).toEqual({ status: 401, code: 'unauthorized' })
  })

  test('gives each refusal of its own an id, and no refusal of the service', async () => {
    const world = await openDoor({
      parts: route((app) => {
        app.get('/refused', () => Promise.reject(new Refusal('chat_not_found')))
        app.get('/odd', () => Promise.reject(new Refusal('postern_busy', '', { extra: {} })))
      }),
    })
    const refused = await call(world, 'GET', '/bot/v1/refused')
    await expect.poll(() => world.lines.length).toBe(1)
    expect(world.lines).toMatchObject([
      { requestId: refused.headers.get('postern-request-id'), code: 'chat_not_found' },
    ])
    expect(refused.headers.get('cache-control')).toBe('no-store')
  })

  test('is watched call by call, without the bytes of files and what opens them', async () => {
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
    await call(world, 'DELETE', '/bot/v1/messages/5?a=1', { body: { chatId: 7 } })
    await call(world, 'GET', '/media/abc?key=secret')
    await raw(world.port, head('GET /bot/v1/me?a=1', 'Origin: x'))
    await call(world, 'GET', '/bot/v1/commands', { token: 'none' })
    await expect.poll(() => seen.length).toBe(4)
    const common = { kind: 'call', request: '' }
    expect(seen).toMatchObject([
      {
        kind: 'call',
        method: 'DELETE',
        path: '/bot/v1/messages/5?a=1',
        request: '{"chatId":7}',
        status: 200,
        answer: '{"ok":true,"result":{}}',
      },
      { ...common, method: 'GET', path: '/media/abc', status: 200, answer: '' },
      { ...common, method: 'GET', path: '/bot/v1/me?a=1', status: 403 },
      { ...common, method: 'GET', path: '/bot/v1/commands', status: 401 },
    ])
    expect(seen[2]?.answer).toContain('postern_browser_refused')
    expect(seen[3]?.answer).toContain('unauthorized')
  })
})

test('an app that reads JSON alone refuses any other body, and drops those of a GET', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  takeOnlyJson(app)
  app.setErrorHandler((error, _request, reply) => {
    const { status, message } = error as Refusal
    return reply.code(status).send({ message })
  })
  const answer = (request: { body: unknown }) => ({ body: request.body ?? null })
  app.route({ method: ['GET', 'POST'], url: '/', handler: (request) => answer(request) })
  app.post('/ignored', { config: { takesBody: false } }, (request) => answer(request))
  const send = async (method: 'GET' | 'POST', url: string, type: string, payload: string) => {
    const { statusCode, json } = await app.inject({
      method,
      url,
      headers: { 'content-type': type },
      payload,
    })
    return [statusCode, json<object>()]
  }
  const refused = [415, { message: 'Content-Type: must be application/json' }]
  expect(await send('POST', '/', 'application/json', '{"a":1}')).toEqual([200, { body: { a: 1 } }])
  expect(await send('POST', '/', 'application/json', '')).toEqual([200, { body: null }])
  expect(await send('POST', '/', 'text/plain', 'x')).toEqual(refused)
  expect(await send('GET', '/', 'text/plain', 'x')).toEqual([200, { body: null }])
  expect(await send('POST', '/ignored', 'text/plain', 'x')).toEqual([200, { body: null }])
})
