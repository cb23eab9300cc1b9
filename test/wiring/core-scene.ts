/** The core over a real store and engine, before a service that is played. */
import { afterAll, onTestFinished } from 'vitest'
import { LIMITS } from '../../src/api/limits.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import type { Outbound } from '../../src/kernel/index.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import type { Store } from '../../src/store/store.ts'
import { readSend } from '../../src/translate/draft.ts'
import { createCore } from '../../src/wiring/core.ts'
import type { BotOptions } from '../../src/wiring/link.ts'
import type { Purpose } from '../../src/wiring/stores.ts'
import { addKey, open, temporary } from '../store/support.ts'
import { cleared } from '../support/approvals.ts'
import { alice, bot } from '../support/openpgp-people.ts'
import { unseen } from '../support/unseen.ts'
import { PlayedParts } from './played-parts.ts'

export const BOT = 1
export const ALICE = 5
export const CHAT = 50
const PERSON = { userId: ALICE, publicKey: alice.certificate }
const RULES = { textMax: 10_000_000, sealsForBot: true }

/** An engine for all tests of a file, to which any locked key is the bot's of the tests. */
export function useCore() {
  const real = createEngine()
  afterAll(() => real[Symbol.asyncDispose]())
  const unlock = async () => ({ ...bot.unlocked, bytes: bot.unlocked.bytes.slice() })
  const engine: MeasuredEngine = { ...real, unlock }
  return { engine, scene: (o: Scene = {}) => scene({ ...o, parts: { engine, ...o.parts } }) }
}

/** A store with the key of `bot` in a state, or without any. */
export async function storeWith(state: 'active' | 'retired' | null, dataDir = temporary()) {
  const store = await open(dataDir, { protection: 'none', isRequired: true })
  const { certificate } = bot
  const dates = { published_at: 2, retired_at: state === 'retired' ? Date.now() : null }
  if (state !== null)
    await addKey(store, bot.unlocked.fingerprint, { state, certificate, ...dates })
  return store
}

/** A service that knows one chat of the bot and Alice; a test changes it. */
export function serve() {
  const parts = new PlayedParts()
  const service = {
    chat: { id: CHAT, kind: 'private', mode: 'protected', memberCount: 2, historyVisible: true },
    /** Time that has passed beside that of the machine, ms. */
    passedMs: 0,
    /** Runs before each answer about the chat. */
    onChat: () => {},
  }
  const sent: Record<string, unknown>[] = []
  const deliver = async (outbound: Outbound) => {
    await outbound.ground.renew()
    outbound.ground.require()
    const body = JSON.parse(outbound.body.toString()) as Record<string, unknown>
    sent.push(body)
    const result = new Unseen({ id: 9, ...body })
    return { status: 201, headers: {}, body: Buffer.from('{}'), envelope: { ok: true, result } }
  }
  const me = async () => ({
    id: BOT,
    username: 'x',
    mode: 'protected',
    fingerprint: bot.unlocked.fingerprint,
  })
  const link: Parameters<typeof createCore>[1] = parts.part('link', {
    time: {
      nowMs: () => Date.now() + service.passedMs,
      monotonicMs: () => performance.now() + service.passedMs,
    },
    botId: () => BOT,
    limits: () => LIMITS,
    watch: { skewMs: 0 },
    calls: parts.part('calls', {
      me,
      chat: unseen(async () => {
        service.onChat()
        return service.chat
      }),
      chatKeys: unseen(async () => ({ keys: [PERSON], memberCount: 2 })),
      userKey: unseen(async () => PERSON),
    }),
    upstream: parts.part('upstream', { send: deliver }),
  })
  return { parts, link, service, sent }
}

interface Scene extends Partial<Omit<BotOptions, 'settings' | 'secrets' | 'log'>> {
  settings?: Partial<Parameters<typeof settingsFrom>[0]>
  key?: 'active' | 'retired' | null
  store?: Store
  purpose?: Purpose
}

/** A core, with the bot's key published where it is active. */
async function scene(o: Scene) {
  const { settings, key = 'active', purpose = 'run', parts, store: given, ...more } = o
  const store = given ?? (await storeWith(key))
  const served = serve()
  const log: BotOptions['log'] = served.parts.part('log')
  const core = await createCore(
    {
      settings: settingsFrom({ upstream: { url: 'http://x' }, dataDir: temporary(), ...settings }),
      secrets: { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null },
      log,
      parts: { store, ...parts },
      ...more,
    },
    served.link,
    purpose,
  )
  onTestFinished(() => core[Symbol.asyncDispose]())
  if (key === 'active') await core.publication?.compareNow()
  const send = (text: string) => {
    const draft = readSend({ chatId: CHAT, text }, RULES)
    return core.messages.deliver(draft, {
      seesPeople: true,
      clearance: cleared(draft),
      stillMay: OWN_CALL,
    })
  }
  return { ...served, core, store, send }
}
