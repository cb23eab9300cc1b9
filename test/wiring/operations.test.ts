/** Operations over parts that are played: what they report, and the parts that they are given. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { VERSION } from '../../src/config/version.ts'
import { OperatorError } from '../../src/errors.ts'
import type { CheckLine } from '../../src/doctor/check-line.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { Link } from '../../src/wiring/link.ts'
import {
  buildOperations,
  buildOperationsWithoutStore,
  checkSettings,
  describeStatus,
} from '../../src/wiring/operations.ts'
import type { Updates } from '../../src/wiring/updates.ts'
import { temporary } from '../store/support.ts'
import { PlayedParts } from './played-parts.ts'

const URL_OF_SERVICE = 'http://127.0.0.1:9/base'
const ACTIVE = { fingerprint: 'a', state: 'active', publishedAtMs: 0, certificate: 'A' }
const PENDING = { fingerprint: 'p', state: 'pending', publishedAtMs: null, certificate: 'P' }
const ROTATION = { phase: 'done', startedAtMs: 0, endedAtMs: 1, nextAttemptAtMs: null }
const CHATS = [
  { id: 1, kind: 'group', personId: null, latchedAtMs: 0, refusedAtMs: null },
  { id: 2, kind: 'group', personId: null, latchedAtMs: 5, refusedAtMs: 0 },
  { id: 3, kind: 'group', personId: null, latchedAtMs: null, refusedAtMs: null },
]
const BOT = { id: 7, username: 'x', mode: 'open', fingerprint: 'ABC' }

interface Scene {
  bot?: object | null
  keyring?: object
  publication?: object | null
  engine?: object
  trust?: object
}

function scene(o: Scene = {}) {
  const { bot = BOT, publication = null } = o
  const parts = new PlayedParts()
  const dataDir = temporary()
  mkdirSync(dataDir, { recursive: true })
  const settings = settingsFrom({ upstream: { url: URL_OF_SERVICE }, dataDir })
  const secrets = {
    botToken: SecretSource.fromValue('token'),
    clientToken: null,
    passphrase: SecretSource.fromValue('secret'),
  }
  const link: Link = parts.part('link', {
    bot: () => bot,
    calls: {
      me: () => (bot === null ? Promise.reject(new Error('no answer')) : Promise.resolve(bot)),
    },
    limits: () => ({}),
    ownCalls: () => ({ usedLastMinute: 2, limit: 30 }),
    health: parts.part('health', {
      ready: false,
      all: () => [{ code: 'store', message: 'm', hint: 'h', sinceMs: 5 }],
    }),
    warnings: { all: () => [{ code: 'key-ending', message: 'm', hint: 'h', sinceMs: 5 }] },
    watch: { reachable: true, skewMs: 180_000 },
  })
  const core: Core = parts.part('core', {
    store: parts.part('store', { method: 'passphrase' }),
    keyring: parts.part('keyring', {
      all: [],
      active: undefined,
      pending: undefined,
      ...o.keyring,
    }),
    engine: parts.part('engine', o.engine),
    guard: { mustSeal: (chatId: number) => chatId === 2 },
    publication,
    knownChats: { all: CHATS },
    known: {
      knownChats: parts.part('knownChats', { all: CHATS, get: () => CHATS[0] }),
      trust: parts.part('trust', { all: [], policies: { bot: 'open' }, ...o.trust }),
      modes: parts.part('modes', { peek: () => null }),
    },
  })
  const options = { settings, secrets }
  const operations = () => buildOperations(options, { link, core, updates: null })
  return { parts, dataDir, settings, options, link, core, operations }
}

describe('the status', () => {
  const of = (o: Scene = {}, updates: object | null = null) => {
    const { settings, link, core } = scene(o)
    return describeStatus(settings, {
      link,
      core,
      updates: updates as Updates | null,
      startedAt: 'then',
    })
  }

  test('says what each part says', () => {
    const status = of({
      keyring: { active: ACTIVE, pending: PENDING },
      publication: { rotation: ROTATION },
    })
    expect(status).toEqual({
      version: VERSION,
      pid: process.pid,
      startedAt: 'then',
      ready: false,
      reasons: [{ code: 'store', message: 'm', hint: 'h', sinceMs: 5 }],
      warnings: [{ code: 'key-ending', message: 'm', hint: 'h', sinceMs: 5 }],
      bot: { id: 7, username: 'x', mode: 'open', fingerprint: 'abc' },
      key: { fingerprint: 'a', state: 'active', publishedAt: '1970-01-01T00:00:00.000Z' },
      rotation: {
        phase: 'done',
        startedAt: '1970-01-01T00:00:00.000Z',
        endedAt: '1970-01-01T00:00:00.001Z',
        nextAttemptAt: null,
      },
      upstream: { url: URL_OF_SERVICE, reachable: true },
      chats: { known: 3, latched: 2, refused: 1 },
      webhook: null,
      updates: { waiting: null, oldestSeconds: null },
      calls: { usedLastMinute: 2, limit: 30 },
    })
  })

  test('says what is not known yet, and a key that waits', () => {
    expect(of({ bot: null })).toMatchObject({ bot: null, key: null, rotation: null })
    const nameless = { ...BOT, username: null, fingerprint: null }
    expect(of({ bot: nameless }).bot).toEqual({ ...BOT, username: '', fingerprint: null })
    const key = { fingerprint: 'p', state: 'pending', publishedAt: null }
    expect(of({ keyring: { pending: PENDING } }).key).toEqual(key)
  })

  test('says how updates wait, and the webhook without its path', () => {
    const own = {
      url: 'https://bot.example/secret',
      failures: 2,
      lastError: 'gone',
      nextAttemptAt: 0,
    }
    const updates = (webhook: object | null, state: object) => ({
      webhook: { own: webhook },
      backlog: { state },
    })
    expect(of({}, updates(own, { pending: 3, oldestMs: 2600 }))).toMatchObject({
      webhook: {
        origin: 'https://bot.example',
        failures: 2,
        lastError: 'gone',
        nextAttemptAt: '1970-01-01T00:00:00.000Z',
      },
      updates: { waiting: 3, oldestSeconds: 3 },
    })
    const idle = updates({ ...own, nextAttemptAt: null }, { pending: 0, oldestMs: null })
    expect(of({}, idle).webhook?.nextAttemptAt).toBeNull()
    expect(of({}, updates(null, { pending: 0, oldestMs: null }))).toMatchObject({
      webhook: null,
      updates: { waiting: 0, oldestSeconds: null },
    })
  })
})

describe('opening a message', () => {
  const OPENED = { outcome: 'opened', text: 'words', signed: 'S', signatures: [{}] }
  const open = async (opened: object, o: { valid?: string; keyring?: object } = {}) => {
    const verified: string[] = []
    const engine = {
      open: async () => opened,
      verify: async (signed: string, certificate: string) => {
        verified.push(`${signed} ${certificate}`)
        return certificate === o.valid ? ['damaged', 'valid'] : ['damaged']
      },
    }
    const { operations } = scene({ engine, keyring: { all: [PENDING, ACTIVE], unlocked: [] } })
    return { ...(await operations().open({ armored: 'a' })), verified }
  }

  test.each([
    [{ outcome: 'not-encrypted' }, { verdict: 'damaged', reason: 'not-encrypted' }],
    [
      { outcome: 'not-encrypted', reason: 'structure' },
      { verdict: 'damaged', reason: 'structure' },
    ],
    [{ outcome: 'not-recipient' }, { verdict: 'not-recipient', reason: 'not-recipient' }],
    [
      { outcome: 'damaged', reason: 'mdc' },
      { verdict: 'damaged', reason: 'mdc' },
    ],
  ])('that is %j', async (opened, report) => {
    expect(await open(opened)).toEqual({ opened: false, ...report, verified: [] })
  })

  test('names the signer only where it is one of our keys', async () => {
    const common = { opened: true, text: 'words' }
    expect(await open({ ...OPENED, signatures: [] })).toEqual({
      ...common,
      verdict: 'unsigned',
      verified: [],
    })
    expect(await open(OPENED, { valid: 'P' })).toEqual({
      ...common,
      verdict: 'verified',
      signer: 'p',
      verified: ['S P'],
    })
    expect(await open(OPENED, { valid: 'A' })).toMatchObject({ signer: 'a' })
    expect(await open({ ...OPENED, signatures: [{ issuerKeyId: '1234' }] })).toEqual({
      ...common,
      verdict: 'unknown-signer',
      reason: 'signed by key 1234',
      verified: ['S P', 'S A'],
    })
    expect(await open({ ...OPENED, signatures: [{ issuerKeyId: null }] })).toMatchObject({
      reason: 'signed by key nobody',
    })
  })

  test('asks the engine with our keys', async () => {
    const engine = { open: vi.fn(async () => ({ outcome: 'not-recipient' })) }
    const { operations } = scene({ engine, keyring: { unlocked: ['K'] } })
    await operations().open({ armored: 'a' })
    expect(engine.open.mock.calls).toEqual([['a', ['K']]])
  })
})

describe('every operation', () => {
  test('works on what all sidecars have written, or on what was read last', async () => {
    const { operations, parts } = scene()
    const { chatList } = operations()
    const sealed = [false, true, false]
    expect((await chatList()).map((chat) => chat.sealed)).toEqual(sealed)
    expect(parts.calls()[0]).toBe('store.fresh')
    parts.results.set('store.fresh', () => Promise.reject(new Error('out of reach')))
    expect((await chatList()).map((chat) => chat.sealed)).toEqual(sealed)
  })

  test('is of this sidecar: its start, its copies of the store, its health', async () => {
    const old = { ...ACTIVE, state: 'retired', createdAtMs: 0, retiredAtMs: 0, destroyedAtMs: null }
    const { operations, dataDir, parts, core } = scene({
      keyring: {
        find: () => old,
        clocks: { earliestMs: () => Infinity },
        opensUntilMs: () => 0,
        opens: () => false,
      },
    })
    Object.assign(core, { keyUsage: { of: () => ({ messages: 0, media: 0, lastAtMs: null }) } })
    const own = operations()
    expect(Date.now() - Date.parse((await own.status()).startedAt)).toBeLessThan(60_000)
    writeFileSync(join(dataDir, 'postern.v3.db'), '')
    const { unsure } = await own.keyDeletion({ fingerprint: 'a' })
    expect(unsure[0]).toMatch(/^postern.v3.db in dataDir/)
    parts.results.set('knownChats.edit', () => Promise.resolve([]))
    await own.chatAllowReadable({ private: true })
    expect(parts.calls()).toContain('health.clear "bot-unprotected"')
  })

  test('asks the service for the key that it shows now', async () => {
    const { operations, parts } = scene({ keyring: { find: (name: string) => ({ state: name }) } })
    parts.results.set('store.read', () => Promise.resolve('2026-01-01T00:00:00Z'))
    const { message } = await operations().backupAccept({ isLatest: true })
    expect(message).toBe('the service shows abc, which is in the backup (abc)')
  })
})

describe('the doctor', () => {
  const PROBLEM = new OperatorError('store-missing', 'there is none', 'make one')
  const named = (lines: CheckLine[]) => new Set(lines.map(({ name }) => name))

  test('finds what is wrong in the store, or in everything', async () => {
    const { operations } = scene()
    const { check } = operations()
    const store = await check({ about: 'store' })
    expect(store).toContainEqual(expect.objectContaining({ message: 'opens, with 0 of our keys' }))
    const all = await check({ about: 'everything' })
    expect(named(all).size).toBeGreaterThan(named(store).size)
    expect(JSON.stringify(all)).toContain('180')
  })

  test('works without a store, where every other operation is refused', async () => {
    const { options, link, dataDir } = scene({ bot: null })
    const without = (problem = PROBLEM) => buildOperationsWithoutStore(options, link, problem)
    await expect(without().status()).rejects.toBe(PROBLEM)
    const first = 'there is none yet; `postern run` makes one'
    const messages = async (problem?: OperatorError) =>
      (await without(problem).check({ about: 'store' })).map(({ message }) => message)
    expect(await messages()).toContain(first)
    expect(await messages(new OperatorError('store-in-use', 'in use', 'wait'))).toContain('in use')
    writeFileSync(join(dataDir, 'store.json'), '')
    expect(await messages()).toContain('there is none')
  })

  test('checks settings alone while another process has the store', async () => {
    const { options, link } = scene()
    const lines = await checkSettings(options, link)
    expect(JSON.stringify(lines)).toContain('180')
    expect([...named(lines)]).not.toContain('store')
  })
})
