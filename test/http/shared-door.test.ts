/** One door for several bots: to whom a request goes, and in which order. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { BotTokens } from '../../src/http/bot-tokens.ts'
import { buildSharedDoor, createDoorQueues, SharedBot } from '../../src/http/shared-door.ts'
import type { RequestLine } from '../../src/http/request-log.ts'
import { until } from '../support/sidecar.ts'
import { watchedLog } from '../support/watched-log.ts'
import { call, head, opened, outcome, raw } from './support.ts'

interface Held {
  request: IncomingMessage
  response: ServerResponse
}

/** Calls are held for as long as a test takes: none makes room for the next one. */
const NEVER = { roomAfterMs: Infinity }

const openShared = (...names: string[]) => openDoor(names, NEVER)

/** A door before bots whose routes hold each request until they are told to answer. */
async function openDoor(
  names: string[],
  how: { roomAfterMs?: number; onRequest?: (held: Held) => void },
) {
  const held = new Map<string, Held[]>()
  const lines: RequestLine[] = []
  const queues = createDoorQueues(how)
  const bots = new BotTokens<SharedBot>(() => {})
  const set = (name: string, isDown = false): void => {
    const mine: Held[] = []
    held.set(name, mine)
    const routes = {
      answer: (request: IncomingMessage, response: ServerResponse) => {
        mine.push({ request, response })
        how.onRequest?.({ request, response })
      },
    }
    const expected = () => `token-${name}`
    const token = { expected, reread: () => {}, hasClient: () => false }
    bots.set(name, new SharedBot(isDown ? null : routes, queues.lanes()), token)
  }
  for (const name of names) set(name)
  const door = buildSharedDoor({
    log: watchedLog(),
    onAnswered: (line) => lines.push(line),
    allowedHosts: [],
    bots,
    strangers: queues.strangers,
  })
  onTestFinished(() => door.drain())
  const url = await door.listen({ setting: 'listen', host: '127.0.0.1', port: 0 })
  const at = (name: string): Held[] => held.get(name) ?? []
  /** Answers the oldest request that is held for a bot. */
  const answer = (name: string): void =>
    void at(name).shift()?.response.end('{"ok":true,"result":{}}')
  onTestFinished(() => {
    for (const name of held.keys()) while (at(name).length > 0) answer(name)
  })
  const ask = (name: string, path = '/bot/v1/commands') =>
    call({ url }, 'GET', path, { token: `token-${name}` })
  return { url, at, answer, ask, lines, set, queues, port: Number(new URL(url).port) }
}

test('a flooded bot’s calls wait behind each other, and a call of another bot does not wait', async () => {
  const { at, answer, ask } = await openShared('flooded', 'quiet')
  const flood = Array.from({ length: 40 }, () => ask('flooded'))
  await until(() => at('flooded').length === 8, 'eight at work')
  const quiet = ask('quiet')
  await until(() => at('quiet').length === 1, 'the quiet one at work')
  expect(at('flooded')).toHaveLength(8)
  for (let n = 0; n < 8; n++) answer('flooded')
  await until(() => at('flooded').length === 1, 'one at work beside the quiet one')
  answer('quiet')
  expect((await quiet).status).toBe(200)
  for (let n = 0; n < 32; n++) {
    await until(() => at('flooded').length > 0, 'the next one')
    expect(at('flooded').length).toBeLessThanOrEqual(8)
    answer('flooded')
  }
  expect((await Promise.all(flood)).every(({ status }) => status === 200)).toBe(true)
})

test('a flooded bot’s calls start one by one while a call of another bot is running', async () => {
  const { at, answer, ask } = await openShared('flooded', 'quiet')
  const quiet = ask('quiet')
  await until(() => at('quiet').length === 1, 'the quiet one at work')
  const flood = Array.from({ length: 9 }, (_, n) => ask('flooded', `/bot/v1/${n}`))
  for (let n = 0; n < 9; n++) {
    await until(() => at('flooded').length > 0, 'the next one')
    expect(at('flooded')).toHaveLength(1)
    answer('flooded')
  }
  answer('quiet')
  expect((await Promise.all([...flood, quiet])).every(({ status }) => status === 200)).toBe(true)
})

test('a call that waits long for the service delays no other call of its bot', async () => {
  const { at, answer, ask } = await openDoor(['slow', 'quiet'], {})
  const quiet = ask('quiet')
  await until(() => at('quiet').length === 1, 'the quiet one at work')
  const calls = Array.from({ length: 3 }, () => ask('slow'))
  await until(() => at('slow').length === 3, 'all of them, and none is answered yet')
  for (const name of ['slow', 'slow', 'slow', 'quiet']) answer(name)
  await Promise.all([...calls, quiet])
})

test('polls through a shared listener neither wait for other calls nor delay them', async () => {
  const { at, ask, answer } = await openShared('one')
  const waiting = Array.from({ length: 20 }, () => ask('one', '/bot/v1/updates?timeout=50'))
  await until(() => at('one').length === 20, 'all of them')
  const other = ask('one')
  await until(() => at('one').length === 21, 'a call beside them')
  for (let n = 0; n < 21; n++) answer('one')
  await Promise.all([...waiting, other])
})

test('two files of a bot are served at once, beside its calls', async () => {
  const { at, ask, answer } = await openShared('one')
  const files = Array.from({ length: 6 }, () => ask('one', '/media/abc'))
  await until(() => at('one').length === 2, 'two files')
  const other = ask('one')
  await until(() => at('one').length === 3, 'a call beside them')
  expect(at('one').filter(({ request }) => request.url === '/media/abc')).toHaveLength(2)
  for (let n = 0; n < 7; n++) {
    await until(() => at('one').length > 0, 'the next one')
    answer('one')
  }
  await Promise.all([...files, other])
})

test('a shared listener yields to the event loop between files that are answered at once', async () => {
  const begun: number[] = []
  let turns = 0
  let isHeld = true
  const { at, ask } = await openDoor(['one'], {
    ...NEVER,
    onRequest: ({ response }) => {
      if (isHeld) return
      begun.push(turns)
      response.end()
    },
  })
  const files = Array.from({ length: 12 }, () => ask('one', '/media/abc').catch(() => null))
  await until(() => at('one').length === 2, 'two of them')
  const count = (): void => {
    turns++
    if (begun.length < 10) setImmediate(count)
  }
  count()
  isHeld = false
  for (const { response } of at('one').splice(0)) response.end()
  await Promise.all(files)
  const inOneTurn = begun.map((turn) => begun.filter((other) => other === turn).length)
  expect(Math.max(...inOneTurn)).toBeLessThanOrEqual(2)
})

test('files that wait for the service delay no other file', async () => {
  const { at, ask, answer } = await openDoor(['one'], {})
  const files = Array.from({ length: 6 }, () => ask('one', '/media/abc'))
  await until(() => at('one').length === 6, 'all of them, and none is answered yet')
  for (let n = 0; n < 6; n++) answer('one')
  await Promise.all(files)
})

test('requests without a known bot wait behind each other', async () => {
  const { ask, queues } = await openShared('one')
  const ends: (() => void)[] = []
  const held = () => new Promise<void>((resolve) => ends.push(resolve))
  for (let n = 0; n < 2; n++) void queues.strangers.run(held)
  const stranger = ask('nobody')
  await until(() => queues.strangers.waiting === 1, 'the stranger in its turn')
  for (const end of ends) end()
  expect((await stranger).status).toBe(401)
})

test('pipelined requests count against a bot’s limit only once they start', async () => {
  const { at, ask, answer, port } = await openShared('flooded', 'quiet')
  const lines = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`
  const poll = `${lines('/bot/v1/updates')}Authorization: Bearer token-flooded\r\n\r\n`
  const socket = await opened(port)
  socket.write(`${poll}${`${lines('/media/abc?bot=quiet')}\r\n`.repeat(300)}`)
  await until(() => at('flooded').length === 1, 'the poll before them')
  const other = ask('quiet')
  await until(() => at('quiet').length === 1, 'a call of the other bot')
  expect(at('quiet')[0]?.request.url).toBe('/bot/v1/commands')
  answer('quiet')
  expect((await other).status).toBe(200)
  socket.destroy()
})

test('a flood of file urls with a bot’s name leaves room for calls with the bot’s token', async () => {
  const { at, ask, answer, url } = await openDoor(['quiet'], {})
  const stop = new AbortController()
  const byUrl = () => fetch(`${url}/media/abc?bot=quiet`, { signal: stop.signal })
  const flood = Array.from({ length: 256 }, () => byUrl().catch(() => null))
  await until(() => at('quiet').length === 256, 'all of them')
  expect((await byUrl()).status).toBe(503)
  for (const path of ['/bot/v1/commands', '/media/abc?bot=quiet']) {
    const asked = ask('quiet', path)
    await until(() => at('quiet').length === 257, 'the bot itself')
    at('quiet').pop()?.response.end('{"ok":true,"result":{}}')
    expect((await asked).status).toBe(200)
  }
  stop.abort()
  await Promise.all(flood)
  while (at('quiet').length > 0) answer('quiet')
})

test('a bot with 256 calls under way is refused with `postern_busy`, and other bots are served', async () => {
  const { at, ask } = await openShared('flooded', 'quiet')
  const flood = Array.from({ length: 256 }, () =>
    ask('flooded', '/bot/v1/updates').catch(() => null),
  )
  await until(() => at('flooded').length === 256, 'all of them')
  const { status, json } = await ask('flooded')
  expect([status, json.error?.code, json.error?.retryAfter]).toEqual([503, 'postern_busy', 1])
  void ask('quiet')
  await until(() => at('quiet').length === 1, 'the quiet one')
  void flood
})

test('a bot that cannot be served is refused with `postern_bot_down`, and an unknown token with 401', async () => {
  const { ask, set } = await openShared('one')
  set('two', true)
  const { status, json } = await ask('two')
  expect([status, json.error]).toMatchObject([503, { code: 'postern_bot_down', retryAfter: 5 }])
  expect((await ask('three')).status).toBe(401)
})

test('a request refused before its bot is known has an answer in the envelope and a log line', async () => {
  const { port, at, lines } = await openShared('one')
  const request = head('GET /bot/v1/me', 'Authorization: Bearer token-one', 'Connection: close')
  expect(outcome(await raw(port, request))).toEqual({ status: 400, code: 'bad_request' })
  const foreign = ['GET /bot/v1/me HTTP/1.1', 'Host: evil.example', 'Connection: close', '', '']
  expect(outcome(await raw(port, foreign.join('\r\n'))).status).toBe(421)
  expect(at('one')).toEqual([])
  await until(() => lines.length === 2, 'two lines')
  expect(lines.map(({ status }) => status)).toEqual([400, 421])
})

test.each([
  ['/bot/v1/me', 'one', 'one'],
  ['/bot/v1/me?bot=two', 'one', 'one'],
  ['/media/x', 'one', 'one'],
  ['/media/x?bot=one', 'one', 'one'],
  ['/media/x?bot=two', 'one', 'two'],
  ['/media/x?bot=two', 'nobody', 'two'],
  ['/media/x?a=1&bot=two&c=2', 'nobody', 'two'],
  ['/media/x?bot=one&bot=two', 'one', 'one'],
  ['/media/x?bot=three', 'nobody', null],
  ['/media/x?bot=', 'nobody', null],
  ['/media/x?bot=one&bot=two', 'nobody', null],
  ['/bot/v1/me?bot=two', 'nobody', null],
  ['/media/x', 'nobody', null],
])('a request for %s with the token of %s reaches the bot %s', async (path, caller, to) => {
  const { ask, at } = await openDoor(['one', 'two'], {
    onRequest: ({ response }) => response.end('{}'),
  })
  expect((await ask(caller, path)).status).toBe(to === null ? 401 : 200)
  expect(['one', 'two'].filter((name) => at(name).length > 0)).toEqual(to === null ? [] : [to])
})
