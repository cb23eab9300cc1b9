/** One bot of a process before a played service: start, reports, stop. */
import { createServer } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LIMITS } from '../../src/api/limits.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { REAL_CLOCK } from '../../src/util/clock.ts'
import { createBot } from '../../src/wiring/bot.ts'
import type { BotOptions } from '../../src/wiring/link.ts'
import { open, temporary } from '../store/support.ts'
import { listening } from '../support/listening.ts'
import { bot as keys } from '../support/openpgp-people.ts'
import { watchedLog } from '../support/watched-log.ts'
import { BOT, storeWith, useCore } from './core-scene.ts'
import { Registration } from '../../src/updates/registration.ts'

const { engine } = useCore()
const WEBHOOK = { id: 1, url: 'https://bot.example/hook', failures: 0, last_error: null }
const SECRETS = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
const { fingerprint } = keys.unlocked

/** A service that shows this key of the bot, and keeps what it is asked. */
async function serve(shown: string | null) {
  const asked: string[] = []
  const service = { status: 200, polls: 0 }
  const server = createServer((request, response) => {
    const route = `${request.method} ${request.url?.replace(/\?.*/, '')}`
    asked.push(route)
    if (route.endsWith('/updates')) {
      // it waits for updates, and none comes
      service.polls++
      response.once('close', () => service.polls--)
      return
    }
    const me = { id: BOT, username: 'x', mode: 'open', fingerprint: shown, limits: LIMITS }
    const { status } = service
    const error = { status, code: 'unauthorized', message: 'no' }
    const result = route.endsWith('/me') ? me : []
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(status === 200 ? { ok: true, result } : { ok: false, error }))
  })
  return { asked, service, url: await listening(server) }
}

interface Scene extends Partial<BotOptions> {
  key?: 'active' | null
  dataDir?: string
  admin?: { updatesWaiting: 'warn' | 'unready' }
}

/** A bot that is not started; its store, engine and link are those of the settings where none is given. */
async function scene({ key = 'active', dataDir = temporary(), admin, ...o }: Scene = {}) {
  const served = await serve(key === null ? null : fingerprint)
  const lines: Record<string, unknown>[] = []
  const log = watchedLog((line) => lines.push(line))
  const { url } = served
  const key_ = { protection: 'none' } as const
  const settings = settingsFrom({ upstream: { url }, dataDir, key: key_, ...(admin && { admin }) })
  const bot = await createBot({ settings, secrets: SECRETS, log, ...o })
  onTestFinished(() => bot[Symbol.asyncDispose]())
  const reasons = () => bot.link.health.all().map(({ code }) => code)
  const said = () => lines.map(({ msg }) => msg)
  return { ...served, bot, reasons, said }
}

/** Parts of a bot that has a key, and whose webhook waits for updates. */
async function partsOf(key: 'active' | null = 'active', failures = 0) {
  const store = await storeWith(key)
  await (await Registration.load(store)).set({ url: WEBHOOK.url, secret: null })
  await store.write((db) => db.updateTable('webhook').set({ failures }).execute())
  const waits: number[] = []
  const wait: typeof REAL_CLOCK.wait = async (ms, signal) => {
    waits.push(ms)
    await REAL_CLOCK.wait(ms, signal)
  }
  const generate = vi.fn(() => Promise.reject(new Error('no key today')))
  const parts = { store, engine: { ...engine, generate }, clock: { ...REAL_CLOCK, wait } }
  return { parts, waits, generate }
}

const HOUR_MS = 3_600_000

test.each([
  ['one of several, without messages', 'x', null, true],
  ['one of several, whose last message was an hour ago', 'x', HOUR_MS, true],
  ['one of several, whose last message was sooner', 'x', HOUR_MS - 60_000, false],
  ['one of several, before whose last message the clock was set back', 'x', -HOUR_MS, false],
  ['one alone', undefined, null, false],
])('a bot at its start: %s', async (_which, name, agoMs, isAtRest) => {
  const { parts } = await partsOf()
  const row = { message_id: 1, chat_id: 1, recipients: 1, skipped: '[]' }
  const at = Date.now() - (agoMs ?? 0)
  if (agoMs !== null)
    await parts.store.write((db) =>
      db
        .insertInto('sent')
        .values({ ...row, at })
        .execute(),
    )
  const { bot } = await scene({ parts, ...(name !== undefined && { name }) })
  expect(bot.link.watch.isAtRest()).toBe(isAtRest)
})

const settled = () => new Promise(setImmediate)

test('a bot neither calls the service nor delivers updates before `start`', async () => {
  const { parts, waits } = await partsOf()
  const { bot, asked, reasons, said } = await scene({ parts })
  await settled()
  expect([asked, waits]).toEqual([[], []])
  expect(reasons()).toEqual(['starting'])
  bot.start()
  await expect.poll(() => bot.link.health.ready).toBe(true)
  await expect.poll(() => asked).toContain('GET /bot/v1/updates')
  expect(said()).toContain('ready')
})

test('a bot without a key generates its first key after `start`, and is not ready before', async () => {
  const { parts, generate } = await partsOf(null)
  const { bot, reasons } = await scene({ key: null, parts })
  await settled()
  expect(generate).not.toHaveBeenCalled()
  expect(reasons()).toEqual(['starting', 'key-unpublished'])
  bot.start()
  await expect.poll(() => generate.mock.calls.length).toBe(1)
})

test('a bot with `key.publish: false` polls without a key, and may have a webhook at the service', async () => {
  const { url, asked } = await serve(null)
  const { parts } = await partsOf(null)
  const key = { publish: false }
  const settings = settingsFrom({ upstream: { url }, dataDir: temporary(), key })
  await using bot = await createBot({ settings, secrets: SECRETS, log: watchedLog(), parts })
  bot.start()
  await expect.poll(() => bot.link.health.ready).toBe(true)
  await expect.poll(() => asked).toContain('GET /bot/v1/updates')
  bot.updates.noteServiceWebhook({ url: 'https://bot.example/hook' })
  expect(bot.link.health.ready).toBe(true)
})

test('a bot whose webhook failed ten times before has the reason `webhook-failing` at once', async () => {
  const { reasons } = await scene({ parts: (await partsOf('active', 10)).parts })
  expect(reasons()).toContain('webhook-failing')
})

test('a bot that stops is not ready, ends deliveries, drains its door, and ends its own calls last', async () => {
  const { parts } = await partsOf()
  const { bot, reasons, service } = await scene({ parts })
  bot.start()
  await expect.poll(() => service.polls).toBe(1)
  const watched = vi.spyOn(bot.link.watch, 'stop')
  const ended = vi.spyOn(bot.link, Symbol.asyncDispose)
  let isDrained = false
  await bot.stop(async () => {
    const stopping = bot.link.health.all().find(({ code }) => code === 'stopping')
    expect(stopping?.message).toBe('the sidecar is stopping')
    expect([watched, ended].map(({ mock }) => mock.calls.length)).toEqual([1, 0])
    await expect.poll(() => service.polls).toBe(0)
    bot.updates.webhook.start()
    await bot.link.calls.me()
    expect(service.polls).toBe(0)
    await settled()
    isDrained = true
  })
  expect([isDrained, ended.mock.calls.length, reasons()]).toEqual([true, 1, ['stopping']])
  await expect(bot.link.calls.me()).rejects.toMatchObject({ code: 'postern_upstream_timeout' })
})

test('the disposal of a bot closes its store, and ends its calls to the service', async () => {
  const dataDir = temporary()
  const { bot } = await scene({ dataDir, key: null })
  expect(bot.core.store.method).toBe('none')
  await expect(open(dataDir)).rejects.toMatchObject({ code: 'store-in-use' })
  await bot[Symbol.asyncDispose]()
  expect((await open(dataDir, { mode: 'existing' })).method).toBe('none')
  await expect(bot.link.calls.me()).rejects.toMatchObject({ code: 'postern_upstream_timeout' })
})

test('the end of `token`, `upstream` or `paused` wakes deliveries, and `token` also a key check', async () => {
  const { bot } = await scene({ parts: (await partsOf()).parts })
  const wake = vi.spyOn(bot.updates.reader, 'wake')
  const { publication } = bot.core
  if (publication === null) throw new Error('the bot manages no key')
  const suspect = vi.spyOn(publication, 'suspect')
  for (const code of ['token', 'upstream', 'paused', 'clock'] as const) {
    bot.link.health.set(code, '')
    bot.link.health.clear(code)
  }
  expect(wake).toHaveBeenCalledTimes(3)
  expect(suspect).toHaveBeenCalledOnce()
})

test.each([
  ['warn', false],
  ['unready', true],
] as const)(
  'waiting updates with `updatesWaiting: %s` are a reason: %s',
  async (updatesWaiting, isReason) => {
    const { parts } = await partsOf()
    const { bot, reasons } = await scene({ parts, admin: { updatesWaiting } })
    bot.updates.noteServiceWebhook({ pending: 150 })
    expect(bot.link.warnings.holds('updates-waiting')).toBe(true)
    expect(reasons().includes('updates-waiting')).toBe(isReason)
  },
)

test('a bot prunes its replay memory each hour, by its oldest key, until its disposal', async () => {
  const { parts } = await partsOf()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { bot } = await scene({ parts })
  const prune = vi.spyOn(bot.core.replayMemory ?? { prune: async () => {} }, 'prune')
  vi.advanceTimersByTime(3_600_000)
  expect(prune.mock.calls).toEqual([[bot.core.keyring.oldestMs]])
  await bot[Symbol.asyncDispose]()
  vi.advanceTimersByTime(3_600_000)
  expect(prune).toHaveBeenCalledOnce()
})

/** A bot whose engine reports what a test says. */
async function withEngineEvents() {
  const { parts } = await partsOf()
  const listeners = new Map<string, Set<(event: unknown) => void>>()
  const on = (name: string) => (listener: (event: never) => void) => {
    const all = listeners.get(name) ?? new Set()
    listeners.set(name, all.add(listener as (event: unknown) => void))
    return () => void all.delete(listener as (event: unknown) => void)
  }
  const names = ['onThreadKilled', 'onDisagreement', 'onCheck', 'onAvailable', 'onDifference']
  const events = Object.fromEntries(names.map((name) => [name, on(name)]))
  const made = await scene({ parts: { ...parts, engine: { ...parts.engine, ...events } } })
  const fire = (name: string, event?: unknown) =>
    listeners.get(name)?.forEach((listener) => listener(event))
  return { ...made, fire, listeners }
}

test.each([
  ['killed thread', 'onThreadKilled', 'open', 'postern_workers_killed_total 1', undefined],
  ['disagreement about a certificate', 'onDisagreement', undefined, '', /read differently/],
  [
    'check that found no difference',
    'onCheck',
    { work: 'seal', result: 'same' },
    'postern_engine_checks_total{work="seal",result="same"} 1',
    undefined,
  ],
])(
  'a %s of the OpenPGP engine is counted or logged',
  async (_what, name, event, metric, logged) => {
    const { bot, fire, said } = await withEngineEvents()
    fire(name, event)
    expect(await bot.link.metrics.registry.text()).toContain(metric)
    if (logged !== undefined) expect(said()).toContainEqual(expect.stringMatching(logged))
  },
)

test('the `/readyz` reasons of a bot follow the service, the engine and the webhook until its disposal', async () => {
  const { bot, reasons, service, fire, listeners } = await withEngineEvents()
  service.status = 401
  await expect(bot.link.calls.me()).rejects.toMatchObject({ status: 401 })
  expect(reasons()).toContain('token')
  bot.updates.noteServiceWebhook({ url: 'https://a.example' })
  expect(reasons()).toContain('webhook-at-service')
  fire('onDifference')
  expect(reasons()).toContain('engine-differs')
  fire('onAvailable', false)
  expect(reasons()).toContain('no-threads')
  fire('onAvailable', true)
  expect(reasons()).not.toContain('no-threads')
  await bot[Symbol.asyncDispose]()
  expect([...listeners].map(([name, all]) => `${name} ${all.size}`)).toEqual(
    expect.arrayContaining(['onAvailable 0', 'onDifference 0']),
  )
})
