/** One bot of a process before a service that a test plays: its start, its work and its end. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LIMITS } from '../../src/api/limits.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { REAL_CLOCK, SYSTEM_TIME } from '../../src/util/clock.ts'
import { createBot } from '../../src/wiring/bot.ts'
import { createLink, type BotOptions } from '../../src/wiring/link.ts'
import { open, put, temporary } from '../store/support.ts'
import { bot as keys } from '../support/openpgp-people.ts'
import { watchedLog } from '../support/watched-log.ts'
import { BOT, storeWith, useCore } from './core-scene.ts'

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { asked, service, url: `http://127.0.0.1:${port}` }
}

interface Scene extends Partial<BotOptions> {
  key?: 'active' | null
  dataDir?: string
  hasLink?: boolean
}

/** A bot that is not started; its store, engine and link are those of the settings where none is given. */
async function scene({ key = 'active', dataDir = temporary(), hasLink = false, ...o }: Scene = {}) {
  const served = await serve(key === null ? null : fingerprint)
  const lines: Record<string, unknown>[] = []
  const log = watchedLog((line) => lines.push(line))
  const { url } = served
  const settings = settingsFrom({ upstream: { url }, dataDir, key: { protection: 'none' } })
  const link = createLink(settings, SECRETS, { log, ways: [] })
  onTestFinished(() => link[Symbol.asyncDispose]())
  const parts = o.parts && { ...o.parts, ...(hasLink && { link }) }
  const bot = await createBot({ settings, secrets: SECRETS, log, ...o, ...(parts && { parts }) })
  onTestFinished(() => bot[Symbol.asyncDispose]())
  const reasons = () => bot.link.health.all().map(({ code }) => code)
  const said = () => lines.map(({ msg }) => msg)
  return { ...served, bot, reasons, said, handedIn: link }
}

/** Parts of a bot that has a key, and whose webhook waits for updates. */
async function partsOf(key: 'active' | null = 'active') {
  const store = await storeWith(key)
  await store.write((db) =>
    db
      .insertInto('webhook')
      .values({ ...WEBHOOK, delivered_id: null, delivered_mark: null })
      .execute(),
  )
  const waits: number[] = []
  const wait: typeof REAL_CLOCK.wait = async (ms, signal) => {
    waits.push(ms)
    await REAL_CLOCK.wait(ms, signal)
  }
  const generate = vi.fn(() => Promise.reject(new Error('no key today')))
  const parts = { store, engine: { ...engine, generate }, clock: { ...REAL_CLOCK, wait } }
  return { parts, waits, generate, store }
}

const settled = () => new Promise(setImmediate)

test('a bot asks the service for nothing, and delivers nothing, before it is started', async () => {
  const { parts, waits } = await partsOf()
  const { bot, asked, reasons, said } = await scene({ parts })
  await settled()
  expect([asked, waits]).toEqual([[], []])
  expect(reasons()).toEqual(['starting'])
  bot.start()
  await expect.poll(() => bot.link.health.ready).toBe(true)
  await expect.poll(() => asked).toContain('GET /bot/v1/updates')
  expect(waits).toContain(60_000)
  expect(said()).toContain('ready')
})

test('a bot without a key begins with one once it is started, and is not ready before', async () => {
  const { parts, generate } = await partsOf(null)
  const { bot, reasons } = await scene({ key: null, parts })
  await settled()
  expect(generate).not.toHaveBeenCalled()
  expect(reasons()).toEqual(['starting', 'key-unpublished'])
  bot.start()
  await expect.poll(() => generate.mock.calls.length).toBe(1)
})

test('a bot that publishes no key starts without one', async () => {
  const { url, asked } = await serve(null)
  const { parts } = await partsOf(null)
  const settings = settingsFrom({
    upstream: { url },
    dataDir: temporary(),
    key: { publish: false },
  })
  await using bot = await createBot({ settings, secrets: SECRETS, log: watchedLog(), parts })
  bot.start()
  await expect.poll(() => bot.link.health.ready).toBe(true)
  await expect.poll(() => asked).toContain('GET /bot/v1/updates')
})

test('a bot that stops is not ready, gives its door the time to drain, and then ends its calls', async () => {
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

test('a link that is handed in works after the stop, and so does a store after the end', async () => {
  const { parts, store } = await partsOf()
  const { bot, handedIn } = await scene({ parts, hasLink: true })
  expect(bot.link).toBe(handedIn)
  await bot.stop(async () => {})
  await bot[Symbol.asyncDispose]()
  expect((await handedIn.calls.me()).id).toBe(BOT)
  await put(store, 'after', 'the end')
})

test('a bot has time and metrics as they are handed in, and all else by the settings', async () => {
  const metrics = new Metrics()
  const time = { ...SYSTEM_TIME }
  const { parts } = await partsOf()
  const other = await scene({ parts: { ...parts, metrics, time } })
  expect([other.bot.link.metrics === metrics, other.bot.link.time === time]).toEqual([true, true])
  const dataDir = temporary()
  const { bot } = await scene({ dataDir, key: null })
  expect(bot.core.store.method).toBe('none')
  await expect(open(dataDir)).rejects.toMatchObject({ code: 'store-in-use' })
  await bot[Symbol.asyncDispose]()
  expect((await open(dataDir, { mode: 'existing' })).method).toBe('none')
  await expect(bot.link.calls.me()).rejects.toMatchObject({ code: 'postern_upstream_timeout' })
})

test('a bot does not run on a restored store that nobody has accepted', async () => {
  const { parts, store } = await partsOf()
  await put(store, 'backup_taken_at', '2026-01-01T00:00:00Z')
  await expect(scene({ parts })).rejects.toMatchObject({ code: 'store-restored' })
})

test('health follows the service, the engine and the webhook, until the end', async () => {
  const { parts } = await partsOf()
  const engines = new Set<() => void>()
  const onDifference = (listener: () => void) => {
    engines.add(listener)
    return () => void engines.delete(listener)
  }
  const { bot, reasons, service } = await scene({
    parts: { ...parts, engine: { ...parts.engine, onDifference } },
  })
  service.status = 401
  await expect(bot.link.calls.me()).rejects.toMatchObject({ status: 401 })
  expect(reasons()).toContain('token')
  bot.updates.notePoll('webhook_active')
  expect(reasons()).toContain('webhook-at-service')
  for (const listener of engines) listener()
  expect(reasons()).toContain('engine-differs')
  await bot[Symbol.asyncDispose]()
  expect(engines.size).toBe(0)
})

test('operations and door are over the parts of the bot', async () => {
  const { parts } = await partsOf()
  const { bot, reasons } = await scene({ parts })
  const { webhook, key } = await bot.operations.status()
  expect([webhook?.origin, key?.fingerprint]).toEqual(['https://bot.example', fingerprint])
  expect([bot.door.upstream, bot.door.guard]).toEqual([bot.link.upstream, bot.core.guard])
  expect([bot.door.routes.length, bot.door.outside.length]).toEqual([5, 2])
  bot.door.onTokenRevoked()
  expect(reasons()).toContain('token')
})
