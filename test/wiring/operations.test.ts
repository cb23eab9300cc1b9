/** Operations over played parts. Whole sidecars are in `test/operators`, `test/cli` and `test/operators/doctor`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { VERSION } from '../../src/config/version.ts'
import { OperatorError } from '../../src/errors.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { Link } from '../../src/wiring/link.ts'
import {
  buildOperations,
  buildOperationsWithoutStore,
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
}

function scene(o: Scene = {}) {
  const { bot = BOT, publication = null } = o
  const parts = new PlayedParts()
  const dataDir = temporary()
  mkdirSync(dataDir, { recursive: true })
  const settings = settingsFrom({ upstream: { url: URL_OF_SERVICE }, dataDir })
  const botToken = SecretSource.fromValue('token')
  const secrets = { botToken, clientToken: null, passphrase: SecretSource.fromValue('secret') }
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
      trust: parts.part('trust', { all: [], policies: { bot: 'open' } }),
      modes: parts.part('modes', { peek: () => null }),
    },
  })
  const options = { settings, secrets }
  const operations = () => buildOperations(options, { link, core, updates: null })
  return { parts, dataDir, settings, options, link, core, operations }
}

describe('the status of a sidecar', () => {
  const of = (o: Scene = {}, updates: object | null = null) => {
    const { settings, link, core } = scene(o)
    return describeStatus(settings, {
      link,
      core,
      updates: updates as Updates | null,
      startedAt: 'then',
    })
  }

  test('the status of a sidecar joins the reports of its parts', () => {
    const status = of({
      keyring: { active: ACTIVE, pending: PENDING },
      publication: { rotation: ROTATION },
    })
    expect(status).toMatchObject({
      version: VERSION,
      startedAt: 'then',
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

  test('the status shows null for an unknown bot or key, and a pending key', () => {
    expect(of({ bot: null })).toMatchObject({ bot: null, key: null, rotation: null })
    const nameless = { ...BOT, username: null, fingerprint: null }
    expect(of({ bot: nameless }).bot).toEqual({ ...BOT, username: '', fingerprint: null })
    const key = { fingerprint: 'p', state: 'pending', publishedAt: null }
    expect(of({ keyring: { pending: PENDING } }).key).toEqual(key)
  })

  test('the status shows waiting updates, and the webhook without its secret path', () => {
    const own = {
      url: 'https://bot.example/secret',
      failures: 2,
      lastError: 'gone',
      nextAttemptAt: 0,
    }
    const updates = { webhook: { own }, backlog: { state: { pending: 3, oldestMs: 2600 } } }
    expect(of({}, updates)).toMatchObject({
      webhook: {
        origin: 'https://bot.example',
        failures: 2,
        lastError: 'gone',
        nextAttemptAt: '1970-01-01T00:00:00.000Z',
      },
      updates: { waiting: 3, oldestSeconds: 3 },
    })
  })
})

describe('`postern open`', () => {
  const OPENED = { outcome: 'opened', text: 'words', signed: 'S', signatures: [{}] }
  const open = async (opened: object, o: { valid?: string } = {}) => {
    const verified: string[] = []
    const engine = {
      open: vi.fn(async (_armored: string, _keys: string[]) => opened),
      verify: async (signed: string, certificate: string) => {
        verified.push(`${signed} ${certificate}`)
        return certificate === o.valid ? ['damaged', 'valid'] : ['damaged']
      },
    }
    const { operations } = scene({ engine, keyring: { all: [PENDING, ACTIVE], unlocked: ['K'] } })
    const report = await operations().open({ armored: 'a' })
    expect(engine.open.mock.calls).toEqual([['a', ['K']]])
    return { ...report, verified }
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
  ])('the result %j of the engine is reported as %j', async (opened, report) => {
    expect(await open(opened)).toEqual({ opened: false, ...report, verified: [] })
  })

  test('`postern open` names the signer only where the signature is by a key of the bot', async () => {
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
})

test('an operation rereads the store first, and uses the last known state if the store is unreachable', async () => {
  const { operations, parts } = scene()
  const { chatList } = operations()
  const sealed = [false, true, false]
  expect((await chatList()).map((chat) => chat.sealed)).toEqual(sealed)
  expect(parts.calls()[0]).toBe('store.fresh')
  parts.results.set('store.fresh', () => Promise.reject(new Error('out of reach')))
  expect((await chatList()).map((chat) => chat.sealed)).toEqual(sealed)
})

test('`check` reports a store that does not open, and every other operation is refused', async () => {
  const { options, link, dataDir } = scene({ bot: null })
  const missing = new OperatorError('store-missing', 'there is none', 'make one')
  const without = (problem = missing) => buildOperationsWithoutStore(options, link, problem)
  await expect(without().status()).rejects.toBe(missing)
  const messages = async (problem?: OperatorError) =>
    (await without(problem).check({ about: 'store' })).map(({ message }) => message)
  expect(await messages()).toContain('there is none yet; `postern run` makes one')
  expect(await messages(new OperatorError('store-in-use', 'in use', 'wait'))).toContain('in use')
  writeFileSync(join(dataDir, 'store.json'), '')
  expect(await messages()).toContain('there is none')
})
