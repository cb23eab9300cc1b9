/** Delivery of updates as it is joined: a real store and bot, and a service that is played. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { settingsFrom } from '../../src/config/settings.ts'
import { Refusal } from '../../src/errors.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { Registration } from '../../src/updates/registration.ts'
import { REAL_CLOCK } from '../../src/util/clock.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { HandedInParts, Link } from '../../src/wiring/link.ts'
import { createUpdates } from '../../src/wiring/updates.ts'
import { sightingsOf } from '../support/unseen.ts'
import { open, temporary } from '../store/support.ts'
import { PlayedParts } from './played-parts.ts'

const NOW_MS = Date.parse('2026-06-01T00:00:00Z')
const update = (updateId: number, dateMs = NOW_MS) => ({
  updateId,
  kind: 'message',
  message: { id: 1, date: dateMs, chat: { id: 3 } },
})

interface Scene {
  isShared?: boolean
  parts?: HandedInParts
  allowHosts?: string[]
  webhook?: string
}

/** Updates of a bot. `polls` is what the service gives, one after the other, and then nothing. */
async function scene(o: Scene = {}) {
  const parts = new PlayedParts()
  const own = await open(temporary(), { protection: 'none', isRequired: true })
  if (o.webhook !== undefined) {
    await (await Registration.load(own)).set({ url: o.webhook, secret: 's' })
  }
  const turn = { isHeld: true, isTaken: false, released: 0 }
  const played: Record<string, unknown> = {
    isShared: o.isShared ?? false,
    tryLock: async () =>
      turn.isTaken
        ? null
        : {
            isHeld: turn.isHeld,
            signal: new AbortController().signal,
            [Symbol.asyncDispose]: async () => void (turn.released += 1),
          },
  }
  const store = new Proxy(own, {
    get: (target, name) => {
      if (typeof name === 'string' && Object.hasOwn(played, name)) return played[name]
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const polls: (unknown[] | Error | string)[] = []
  const asked: string[] = []
  const poll = async ({ query, whose, timeoutSeconds, signal }: Record<string, unknown>) => {
    asked.push([query, whose, timeoutSeconds].join(' '))
    const next = polls.shift()
    if (next instanceof Error) throw next
    if (typeof next === 'string') {
      return { status: 409, headers: {}, envelope: { ok: false, error: { code: next } } }
    }
    if (next === undefined && timeoutSeconds !== 0) {
      await new Promise((resolve) => (signal as AbortSignal).addEventListener('abort', resolve))
    }
    return { status: 200, headers: {}, envelope: { ok: true, result: new Unseen(next ?? []) } }
  }
  const link: Link = parts.part('link', {
    upstream: parts.part('upstream', { poll }),
    watch: { skewMs: 1000 },
    calls: parts.part('calls', { me: async () => void asked.push('me') }),
    limits: () => ({ pollTimeoutMaxS: 50, apiCallsPerMinute: 600 }),
  })
  const core: Core = parts.part('core', {
    store,
    incoming: null,
    recordConfirmed: async () => {},
    outbox: { onChange: () => {}, all: [] },
    known: { sightings: sightingsOf({}) },
  })
  const settings = settingsFrom({
    upstream: { url: 'http://127.0.0.1:9' },
    dataDir: temporary(),
    ...(o.allowHosts && { webhook: { allowHosts: o.allowHosts } }),
  })
  const clock = { ...REAL_CLOCK, now: () => NOW_MS }
  const updates = await createUpdates({ settings, parts: { clock, ...o.parts } }, link, core)
  onTestFinished(() => updates[Symbol.asyncDispose]())
  const heard: string[] = []
  const hear = (name: string) => (event: unknown) => void heard.push(`${name} ${String(event)}`)
  updates.onPolled(hear('polled'))
  updates.onServiceWebhook(hear('service'))
  updates.onDelivered(({ updateId, after }) => hear('delivered')(`${updateId} after ${after}`))
  updates.onDeliveryFailed(({ updateId, failures }) => hear('failed')(`${updateId} ${failures}`))
  updates.onReadFailed(({ code }) => hear('unread')(code))
  updates.onUnexpectedError((error) => hear('error')((error as Error).message))
  return { updates, parts, polls, asked, heard, turn, store, link }
}

/** A bot's webhook. @returns its url, and the bodies that came */
async function bot({ status = 200 } = {}) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(chunks.join(''))
      response.writeHead(status).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, port, bodies }
}

describe('what the service says of its webhook and its queue', () => {
  test('is noted as far as it is said', async () => {
    const { updates, heard } = await scene()
    for (const said of [null, 'x', {}, { url: 7, pending: 'x' }]) updates.noteServiceWebhook(said)
    expect([heard, updates.backlog.state.pending]).toEqual([[], null])
    updates.noteServiceWebhook({ url: 'https://other.example', pending: 0 })
    updates.noteServiceWebhook({ url: null })
    updates.notePoll('webhook_active')
    updates.notePoll(null)
    expect(heard).toEqual([
      'service https://other.example',
      'service null',
      'polled webhook_active',
      'polled null',
    ])
    expect(updates.backlog.state.pending).toBe(0)
  })

  test('is dated by the oldest update, by our clock against the service’s', async () => {
    const { updates, polls, asked } = await scene()
    polls.push([update(5, NOW_MS - 61_000)])
    updates.noteServiceWebhook({ pending: 5 })
    expect(updates.backlog.state).toMatchObject({ pending: 5, oldestMs: 0 })
    await expect.poll(() => updates.backlog.state.oldestMs).toBe(60_000)
    expect(asked).toEqual(['limit=1&timeout=0 own 0'])
  })

  test('is not read while a poll may be under way, or a webhook is set', async () => {
    const [polling, delivering] = [await scene(), await scene({ webhook: 'http://127.0.0.1:9/x' })]
    polling.updates.polls.begin(0)
    for (const { updates, asked } of [polling, delivering]) {
      updates.noteServiceWebhook({ pending: 5 })
      await new Promise(setImmediate)
      expect([asked, updates.backlog.state.oldestMs]).toEqual([[], 0])
    }
  })

  test('is read in turn, and not out of a refusal', async () => {
    const { updates, polls, asked, turn } = await scene({ isShared: true })
    turn.isTaken = true
    updates.noteServiceWebhook({ pending: 5 })
    await new Promise(setImmediate)
    expect(asked).toEqual([])
    turn.isTaken = false
    polls.push('webhook_active', [update(5, NOW_MS - 61_000)])
    updates.noteServiceWebhook({ pending: 5 })
    await expect.poll(() => turn.released).toBe(1)
    expect([asked.length, updates.backlog.state.oldestMs]).toEqual([1, 0])
    updates.noteServiceWebhook({ pending: 5 })
    await expect.poll(() => updates.backlog.state.oldestMs).toBe(60_000)
    await expect.poll(() => turn.released).toBe(2)
  })

  test('waits for a bot longer where it is delivered', async () => {
    const levels: string[] = []
    for (const webhook of [undefined, 'http://127.0.0.1:9/x']) {
      const { updates } = await scene(webhook === undefined ? {} : { webhook })
      updates.noteServiceWebhook({ pending: 1000 })
      levels.push(updates.backlog.state.level)
    }
    expect(levels).toEqual(['noticed', 'waiting'])
  })

  test('is asked for once a minute while it is behind', async () => {
    const waits: number[] = []
    const ended = Promise.withResolvers<void>()
    const wait = async (ms: number) => {
      waits.push(ms)
      if (waits.length > 1) await ended.promise
    }
    const { updates, asked } = await scene({ parts: { clock: { ...REAL_CLOCK, wait } } })
    updates.backlog.markBehind()
    updates.backlog.start()
    await expect.poll(() => asked).toContain('me')
    expect(waits).toEqual([60_000, 60_000])
    ended.resolve()
  })
})

describe('turns', () => {
  test('are there where other sidecars can poll', async () => {
    const { updates } = await scene()
    expect(updates.turns).toBeNull()
    const shared = await scene({ isShared: true })
    expect(shared.updates.turns).not.toBeNull()
  })

  test('let one deliver at a time', async () => {
    const { url, bodies } = await bot()
    const { updates, polls, turn, heard } = await scene({ isShared: true, webhook: url })
    turn.isTaken = true
    polls.push([update(5)])
    updates.webhook.start()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([bodies, polls.length]).toEqual([[], 1])
    const late = await scene({ isShared: true, webhook: url })
    late.turn.isHeld = false
    late.polls.push([update(5)])
    late.updates.webhook.start()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(bodies).toEqual([])
    const first = await scene({ isShared: true, webhook: url })
    first.polls.push([update(5)])
    first.updates.webhook.start()
    await expect.poll(() => first.heard).toContain('delivered 5 after 0')
    expect([bodies.length, heard]).toEqual([1, []])
  })
})

describe('a delivery', () => {
  test('is made once, and told', async () => {
    const { url, bodies } = await bot()
    const exchanges: unknown[] = []
    const onBotExchange = (exchange: unknown) => void exchanges.push(exchange)
    const { updates, polls, heard, store } = await scene({ webhook: url, parts: { onBotExchange } })
    polls.push([update(5), update(6)])
    updates.webhook.start()
    await expect.poll(() => heard).toContain('delivered 6 after 0')
    expect(heard).toEqual(['polled null', 'delivered 5 after 0', 'delivered 6 after 0'])
    expect(bodies.map((body) => JSON.parse(body) as object)).toEqual([update(5), update(6)])
    expect(exchanges[0]).toEqual({
      kind: 'delivery',
      method: 'POST',
      path: '',
      request: bodies[0],
      status: 200,
      answer: '',
    })
    await expect
      .poll(async () => (await Registration.load(store)).delivered)
      .toMatchObject({ updateId: 6 })
  })

  test('fails with its cause', async () => {
    const { url } = await bot({ status: 500 })
    const exchanges: { status: number; answer: string }[] = []
    const onBotExchange = (one: unknown) => void exchanges.push(one as (typeof exchanges)[number])
    const { updates, polls, heard } = await scene({ webhook: url, parts: { onBotExchange } })
    polls.push([update(5)])
    updates.webhook.start()
    await expect.poll(() => heard).toContain('failed 5 1')
    expect(exchanges[0]).toMatchObject({ status: 0, answer: expect.stringContaining('500') })
  })

  test('is told when it cannot be read, or goes wrong', async () => {
    const { updates, polls, heard } = await scene({ webhook: 'http://127.0.0.1:9/x' })
    polls.push(new Refusal('postern_busy'), new Error('wrong'))
    updates.webhook.start()
    await expect.poll(() => heard).toContain('unread postern_busy')
    updates.webhook.wake()
    await expect
      .poll(() => heard)
      .toEqual(['unread postern_busy', 'error wrong', 'unread internal'])
  })

  test('goes to the addresses of the resolver, and to allowed hosts alone', async () => {
    const { port, bodies } = await bot()
    const url = `http://bot.example:${port}/`
    const hosts: string[] = []
    const resolveHost = async (host: string) => {
      hosts.push(host)
      return ['127.0.0.1']
    }
    const { updates, polls, heard } = await scene({ webhook: url, parts: { resolveHost } })
    polls.push([update(5)])
    updates.webhook.start()
    await expect.poll(() => heard).toContain('delivered 5 after 0')
    expect([bodies.length, hosts]).toEqual([1, ['bot.example']])
    const other = await scene({ webhook: url, parts: { resolveHost }, allowHosts: ['x.example'] })
    other.polls.push([update(5)])
    other.updates.webhook.start()
    await expect.poll(() => other.heard).toContain('failed 5 1')
    expect(bodies.length).toBe(1)
  })
})

test('all of them end together', async () => {
  const { updates } = await scene()
  const ends = [
    vi.spyOn(updates.webhook, Symbol.asyncDispose),
    vi.spyOn(updates.backlog, Symbol.dispose),
    vi.spyOn(updates.polls, Symbol.dispose),
  ]
  await updates[Symbol.asyncDispose]()
  expect(ends.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1])
})
