/** Which bot a request of the shared door goes to, and its turn, over routes that are played. */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { busyRefusal } from '../../src/errors.ts'
import type { BotTokens } from '../../src/http/bot-tokens.ts'
import type { RequestLine } from '../../src/http/request-log.ts'
import {
  buildSharedDoor,
  DoorQueues,
  SharedBot,
  type DoorCaller,
  type DoorLanes,
} from '../../src/http/shared-door.ts'
import { watchedLog } from '../support/watched-log.ts'
import { call } from './support.ts'

/** A bot whose routes answer only when a test closes the response. */
function playedBot(lanes: DoorLanes = new DoorQueues().lanes()) {
  const answered: string[] = []
  const routes = { answer: (request: IncomingMessage) => void answered.push(request.url ?? '') }
  const bot = new SharedBot(routes, lanes)
  const take = (url: string, caller: DoorCaller = 'token') => {
    const response = Object.assign(new EventEmitter(), { destroyed: false })
    bot.take(caller, { url } as IncomingMessage, response as unknown as ServerResponse)
    const close = async () => {
      response.emit('close')
      await immediate()
      await immediate()
    }
    return { response, close }
  }
  return { bot, take, answered, lanes }
}

describe('one of several bots', () => {
  test('that cannot be served refuses every caller for five seconds, and answers nothing', () => {
    const lanes = new DoorQueues().lanes()
    const bot = new SharedBot(null, lanes)
    for (const caller of ['token', 'url'] as const) {
      const down = { code: 'postern_bot_down', extra: { retryAfter: 5 } }
      expect(bot.refusal(caller)).toMatchObject(down)
      bot.take(caller, {} as IncomingMessage, new EventEmitter() as ServerResponse)
    }
    expect([lanes.calls.busy, lanes.files.busy]).toEqual([0, 0])
  })

  test.each([
    ['token', 'url'],
    ['url', 'token'],
  ] as const)('has room for 256 requests by %s, beside those by %s', async (caller, other) => {
    const { bot, take } = playedBot()
    const taken = Array.from({ length: 255 }, () => take('/bot/v1/updates', caller))
    expect(bot.refusal(caller)).toBeNull()
    taken.push(take('/bot/v1/updates', caller))
    expect(bot.refusal(caller)).toMatchObject({
      code: 'postern_busy',
      detail: 'the bot has too many calls under way',
      extra: { retryAfter: 1 },
    })
    expect(bot.refusal(other)).toBeNull()
    await taken[0]?.close()
    expect(bot.refusal(caller)).toBeNull()
  })

  test.each([
    ['/bot/v1/updates?timeout=50', [0, 0]],
    ['/bot/v1/updates', [0, 0]],
    ['/bot/v1/updates/more', [1, 0]],
    ['/bot/v1/me?x=/media/', [1, 0]],
    ['/media', [1, 0]],
    ['/media/abc?bot=one', [0, 1]],
    ['/media/', [0, 1]],
  ])('takes %s in its turn among calls and files: %j', async (url, busy) => {
    const { take, answered, lanes } = playedBot()
    const { close } = take(url)
    expect([answered, lanes.calls.busy, lanes.files.busy]).toEqual([[url], ...busy])
    await close()
    expect([lanes.calls.busy, lanes.files.busy]).toEqual([0, 0])
  })

  test('begins the next call a turn of the loop after one has closed, and none whose caller is gone', async () => {
    const { take, answered, lanes } = playedBot(new DoorQueues({ roomAfterMs: Infinity }).lanes())
    const first = Array.from({ length: 8 }, (_, n) => take(`/${n}`))
    const gone = take('/gone')
    gone.response.destroyed = true
    const last = take('/last')
    expect([answered.length, lanes.calls.waiting]).toEqual([8, 2])
    for (const { response } of first.slice(0, 2)) response.emit('close')
    for (let jobs = 0; jobs < 20; jobs += 1) await Promise.resolve()
    expect(answered.length).toBe(8)
    for (const { close } of [...first, last]) await close()
    expect(answered.slice(8)).toEqual(['/last'])
  })

  test.each([
    ['/bot/v1/me', 1, 250],
    ['/media/abc', 2, 20],
  ])('has %s, %i at once beside another’s, wait for %i ms', (url, atOnce, roomAfterMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const queues = new DoorQueues()
    const other = playedBot(queues.lanes())
    other.take(url)
    const { take, answered } = playedBot(queues.lanes())
    for (let n = 0; n < 9; n++) take(url)
    expect(answered.length).toBe(atOnce)
    vi.advanceTimersByTime(roomAfterMs - 1)
    expect(answered.length).toBe(atOnce)
    vi.advanceTimersByTime(1)
    expect(answered.length).toBeGreaterThan(atOnce)
  })

  test.each([
    ['/bot/v1/me', 8],
    ['/media/abc', 2],
  ])('alone has %s, %i at once', (url, atOnce) => {
    const { take, answered } = playedBot(new DoorQueues({ roomAfterMs: Infinity }).lanes())
    for (let n = 0; n < 9; n++) take(url)
    expect(answered.length).toBe(atOnce)
  })
})

describe('a request of the shared door', () => {
  async function scene({ isBusy = false } = {}) {
    const taken: string[] = []
    const lines: RequestLine[] = []
    const { strangers } = new DoorQueues()
    const botOf = (name: string) => ({
      refusal: (caller: DoorCaller) => (isBusy ? busyRefusal(`${name} by ${caller}`, 1) : null),
      take: (caller: DoorCaller, _request: IncomingMessage, response: ServerResponse) => {
        taken.push(`${name} by ${caller}`)
        response.end('{}')
      },
    })
    const bots = new Map(['one', 'two'].map((name) => [name, botOf(name)]))
    const tokens = {
      get: (name: string) => bots.get(name) ?? null,
      find: ({ rawHeaders }: IncomingMessage) =>
        rawHeaders.includes('Bearer token-one') ? bots.get('one') : null,
    } as unknown as BotTokens<SharedBot>
    const door = buildSharedDoor({
      log: watchedLog(),
      onAnswered: (line) => lines.push(line),
      allowedHosts: ['known'],
      bots: tokens,
      strangers,
    })
    onTestFinished(() => door.drain())
    const url = await door.listen({ setting: 'listen', host: '127.0.0.1', port: 0 })
    const ask = (path: string, token: string) => call({ url }, 'GET', path, { token })
    return { ask, taken, lines }
  }

  test.each([
    ['/bot/v1/me', 'token-one', 'one by token'],
    ['/bot/v1/me?bot=two', 'token-one', 'one by token'],
    ['/media/x', 'token-one', 'one by token'],
    ['/media/x?bot=one', 'token-one', 'one by token'],
    ['/media/x?bot=two', 'token-one', 'two by url'],
    ['/media/x?bot=two', 'none', 'two by url'],
    ['/media/x?a=1&bot=two&c=2', 'none', 'two by url'],
    ['/media/x?bot=one&bot=two', 'token-one', 'one by token'],
    ['/media/x?bot=three', 'none', null],
    ['/media/x?bot=one&bot=two', 'none', null],
    ['/bot/v1/me?bot=two', 'none', null],
    ['/media/x', 'none', null],
  ])('%s with %s goes to %s', async (path, token, to) => {
    const { ask, taken, lines } = await scene()
    const { status } = await ask(path, token)
    expect([status, taken]).toEqual(to === null ? [401, []] : [200, [to]])
    await expect.poll(() => lines.map((line) => line.status)).toEqual(to === null ? [401] : [])
  })

  test('that its bot has no room for is refused with the reason, and a stranger as before', async () => {
    const { ask, taken } = await scene({ isBusy: true })
    const { status, json } = await ask('/media/x?bot=two', 'token-one')
    expect([status, json.error]).toMatchObject([503, { code: 'postern_busy', retryAfter: 1 }])
    expect(json.error?.message).toContain('two by url')
    expect([(await ask('/bot/v1/me', 'none')).status, taken]).toEqual([401, []])
  })
})
