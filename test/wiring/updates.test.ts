/** Delivery of updates over a real store, before a played service. Whole sidecars are in `test/updates`. */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { settingsFrom } from '../../src/config/settings.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { Registration } from '../../src/updates/registration.ts'
import type { Store } from '../../src/store/store.ts'
import { REAL_CLOCK } from '../../src/util/clock.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { HandedInParts, Link } from '../../src/wiring/link.ts'
import { createUpdates } from '../../src/wiring/updates.ts'
import { listening } from '../support/listening.ts'
import { sightingsOf } from '../support/unseen.ts'
import { open, temporary } from '../store/support.ts'
import { PlayedParts } from './played-parts.ts'
import { playedOver } from './played-store.ts'

const NOW_MS = Date.parse('2026-06-01T00:00:00Z')
const update = (updateId: number, dateMs = NOW_MS) => ({
  updateId,
  kind: 'message',
  message: { id: 1, date: dateMs, chat: { id: 3 } },
})

const never = new AbortController().signal

interface Scene {
  isShared?: boolean
  parts?: HandedInParts
  webhook?: string
}

/** Updates of a bot. `polls` is what the service gives, one after the other, and then nothing. */
async function scene(o: Scene = {}) {
  const parts = new PlayedParts()
  const own = await open(temporary(), { protection: 'none', isRequired: true })
  if (o.webhook !== undefined) {
    await (await Registration.load(own)).set({ url: o.webhook, secret: 's' })
  }
  const turn = { isHeld: true, isLostAtPoll: false, isTaken: false, tried: 0, released: 0 }
  const played: Partial<Store> = {
    isShared: o.isShared ?? false,
    tryLock: async () => {
      turn.tried += 1
      if (turn.isTaken) return null
      return {
        get isHeld() {
          return turn.isHeld
        },
        signal: never,
        asked: never,
        [Symbol.asyncDispose]: async () => void (turn.released += 1),
      }
    },
  }
  const store = playedOver(own, played)
  const polls: (unknown[] | string)[] = []
  const asked: string[] = []
  const poll = async ({ query, whose, timeoutSeconds, signal }: Record<string, unknown>) => {
    asked.push([query, whose, timeoutSeconds].join(' '))
    if (turn.isLostAtPoll) turn.isHeld = false
    const next = polls.shift()
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
    limits: () => ({ pollTimeoutMaxS: 50, pollLimitMax: 100, apiCallsPerMinute: 600 }),
  })
  const core: Core = parts.part('core', {
    store,
    incoming: null,
    recordConfirmed: async () => {},
    expectConfirmed: () => {},
    outbox: { onChange: () => {}, all: [] },
    known: { sightings: sightingsOf({}) },
  })
  const upstream = { url: 'http://127.0.0.1:9' }
  const settings = settingsFrom({ upstream, dataDir: temporary() })
  const clock = { ...REAL_CLOCK, now: () => NOW_MS }
  const updates = await createUpdates({ settings, parts: { clock, ...o.parts } }, link, core)
  onTestFinished(() => updates[Symbol.asyncDispose]())
  const heard: string[] = []
  const hear = (name: string) => (event: unknown) => void heard.push(`${name} ${String(event)}`)
  updates.onPolled(hear('polled'))
  updates.onServiceWebhook(hear('service'))
  updates.onDelivered(({ updateId, after }) => hear('delivered')(`${updateId} after ${after}`))
  return { updates, polls, asked, heard, turn }
}

describe('the queue and the webhook at the service', () => {
  test('a malformed report about the webhook at the service is ignored, and others reach listeners', async () => {
    const { updates, heard, polls } = await scene()
    for (const said of [null, 'x', {}, { url: 7, pending: 'x' }]) updates.noteServiceWebhook(said)
    expect([heard, updates.backlog.state.pending]).toEqual([[], null])
    updates.noteServiceWebhook({ url: 'https://other.example', pending: 0 })
    updates.noteServiceWebhook({ url: null })
    const asked = { query: '', below: 0, limit: 1, timeoutSeconds: 0 }
    polls.push('webhook_active', [])
    for (let n = 0; n < 2; n++) await updates.reader.read(asked, { signal: never })
    expect(heard).toEqual([
      'service https://other.example',
      'service null',
      'polled webhook_active',
      'polled null',
    ])
    expect(updates.backlog.state.pending).toBe(0)
  })

  test('the age of the backlog is the age of its oldest update, corrected by the clock skew', async () => {
    const { updates, polls, asked } = await scene()
    polls.push([update(5, NOW_MS - 61_000)])
    updates.noteServiceWebhook({ pending: 5 })
    expect(updates.backlog.state).toMatchObject({ pending: 5, oldestMs: 0 })
    await expect.poll(() => updates.backlog.state.oldestMs).toBe(60_000)
    expect(asked).toEqual(['limit=1&timeout=0 own 0'])
  })

  test('the oldest update is not read while the bot polls, or has a webhook', async () => {
    const [polling, delivering] = [await scene(), await scene({ webhook: 'http://127.0.0.1:9/x' })]
    polling.updates.polls.begin(0)
    for (const { updates, asked } of [polling, delivering]) {
      updates.noteServiceWebhook({ pending: 5 })
      await new Promise(setImmediate)
      expect([asked, updates.backlog.state.oldestMs]).toEqual([[], 0])
    }
  })

  test('a sidecar among several reads the oldest update only in its turn, and never from a refusal', async () => {
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

  test('a backlog marked as behind calls `/me` once a minute', async () => {
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

test.each([
  ['waits for its turn while another sidecar delivers', { isTaken: true }, []],
  ['delivers nothing in a turn that it loses during its poll', { isLostAtPoll: true }, []],
  ['delivers an update in its turn', {}, [update(5)]],
])('a sidecar among several %s', async (_what, turn, expected) => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()))
    request.on('end', () => response.end('{}'))
  })
  const shared = await scene({ isShared: true, webhook: `${await listening(server)}/hook` })
  Object.assign(shared.turn, turn)
  shared.polls.push([update(5)])
  shared.updates.webhook.start()
  await expect.poll(() => shared.turn.tried).toBeGreaterThan(0)
  // a delivery that is wrong takes a few milliseconds
  if (expected.length === 0) await pause(50)
  else await expect.poll(() => shared.heard).toContain('delivered 5 after 0')
  expect(bodies.map((body) => JSON.parse(body) as object)).toEqual(expected)
})
