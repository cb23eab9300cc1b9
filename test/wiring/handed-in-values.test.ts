/**
 * Each value that `src/wiring` gives to outbox, approvals and updates: a row for each, and the compiler
 * asks for the row of a new one. A bot is made twice: alone with its store, and beside other sidecars.
 */
import { expect, onTestFinished, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { Approvals, type ApprovalParts } from '../../src/kernel/wall/approvals.ts'
import { Guard, type GuardParts } from '../../src/kernel/wall/guard.ts'
import { OutboxEntries, type OutboxEntriesParts } from '../../src/outbox/entries.ts'
import { Edits } from '../../src/outbox/edits.ts'
import * as giving from '../../src/outbox/give.ts'
import { createHearing, type HearParts } from '../../src/outbox/hear.ts'
import { Outbox, type OutboxParts } from '../../src/outbox/outbox.ts'
import { PROVEN_MS } from '../../src/store/postgres/times.ts'
import { Consumers, type ConsumersParts } from '../../src/updates/consumers.ts'
import { DeliveryLoop, type DeliveryLoopParts } from '../../src/updates/delivery-loop.ts'
import { DeliveryTurns } from '../../src/updates/delivery-turns.ts'
import { BotPolls, type BotPollsParts } from '../../src/updates/bot-polls.ts'
import { QueueReader, type QueueReaderParts } from '../../src/updates/queue-reader.ts'
import { UpdatePoller, type UpdatePollerParts } from '../../src/updates/update-poller.ts'
import { WebhookClient } from '../../src/updates/webhook-client.ts'
import { Webhook, type WebhookParts } from '../../src/updates/webhook.ts'
import { REAL_CLOCK, SYSTEM_TIME } from '../../src/util/clock.ts'
import { createBot } from '../../src/wiring/bot.ts'
import { createLink } from '../../src/wiring/link.ts'
import { FREE } from '../outbox/support.ts'
import { temporary } from '../store/support.ts'
import { watchedLog } from '../support/watched-log.ts'
import { ALICE, CHAT, storeWith, useCore } from './core-scene.ts'
import { PlayedStore } from './played-store.ts'
import { Registration } from '../../src/updates/registration.ts'

const { engine } = useCore()
const HOUR_MS = 3_600_000
const HOOK = 'https://bot.example/hook'
const ARCHIVE = 'https://archive.example/hook'
const DELIVERED = { updateId: 4, mark: 'm' }
const SETTINGS = {
  upstream: { url: 'http://127.0.0.1:9' },
  approve: [{ chats: [CHAT], by: [ALICE], within: '2h' }],
  cache: { keyListSeconds: 17, chatSeconds: 23 },
  clients: { only: true },
  consumers: [{ name: 'archive', url: ARCHIVE }],
  outbox: { maxAgeHours: 5, updates: true, coalesceEdits: true },
  readableGroups: 'refuse' as const,
  webhook: { allowHosts: ['bot.example'] },
}

vi.mock('../../src/outbox/outbox.ts', { spy: true })
vi.mock('../../src/outbox/give.ts', { spy: true })
vi.mock('../../src/outbox/hear.ts', { spy: true })
vi.mock('../../src/kernel/wall/approvals.ts', { spy: true })
vi.mock('../../src/kernel/wall/guard.ts', { spy: true })
vi.mock('../../src/updates/consumers.ts', { spy: true })
vi.mock('../../src/updates/delivery-loop.ts', { spy: true })
vi.mock('../../src/updates/delivery-turns.ts', { spy: true })
vi.mock('../../src/updates/update-poller.ts', { spy: true })
vi.mock('../../src/updates/queue-reader.ts', { spy: true })
vi.mock('../../src/updates/bot-polls.ts', { spy: true })
vi.mock('../../src/updates/webhook.ts', { spy: true })

/** In place of loops: it reads nothing. */
class Idle {
  stop = async (): Promise<void> => {}
}

async function botOf(isShared: boolean) {
  vi.clearAllMocks()
  for (const made of [DeliveryLoop, DeliveryTurns])
    vi.mocked(made).mockImplementation(Idle as never)
  const entriesLoad = vi.spyOn(OutboxEntries, 'load')
  const secrets = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
  const own = await storeWith('active')
  const delivered = { delivered_id: DELIVERED.updateId, delivered_mark: DELIVERED.mark }
  await (await Registration.load(own)).set({ url: HOOK, secret: null })
  await own.write((db) => db.updateTable('webhook').set(delivered).execute())
  const played = new PlayedStore(own)
  const fresh = vi.fn(async () => {})
  played.onFresh = fresh
  if (!isShared) vi.spyOn(own, 'fresh').mockImplementation(fresh)
  const store = isShared ? played.shared : own
  const log = watchedLog()
  const settings = settingsFrom({ ...SETTINGS, dataDir: temporary() })
  const time = { ...SYSTEM_TIME, nowMs: () => Date.now() + 7 * HOUR_MS }
  const clock = { ...REAL_CLOCK, now: () => 1_234_567 }
  const real = createLink(settings, secrets, { log, ways: [], time })
  const limits = { ...real.limits(), textMax: 100 }
  const link = { ...real, limits: () => limits }
  const resolveHost = async () => ['127.0.0.1']
  const parts = { link, store, engine, clock, resolveHost }
  const bot = await createBot({ settings, secrets, log, parts })
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await bot[Symbol.asyncDispose]()
    await real[Symbol.asyncDispose]()
  })
  bot.updates.webhook.start()
  bot.updates.consumers.start()
  /** Whether a call asks the store for what other sidecars have written. */
  const readsStore = async (call: () => Promise<unknown>): Promise<boolean> => {
    const before = fresh.mock.calls.length
    await call()
    return fresh.mock.calls.length > before
  }
  const { core, updates } = bot
  const { known } = core
  const handed = { link, limits, clock, time, store, resolveHost }
  return { ...handed, bot, core, known, updates, entriesLoad, readsStore, isShared }
}
type Scene = Awaited<ReturnType<typeof botOf>>

/** A row for each part: whether it is the right one. */
type Rows<P> = { [Name in keyof P]-?: (value: P[Name], scene: Scene) => boolean | Promise<boolean> }

/** Rows of parts that the scene has under the same names. */
const of = <Name extends string>(where: 'core' | 'known' | 'updates' | 'own', ...names: Name[]) => {
  const row = (name: Name) => (value: unknown, scene: Scene) =>
    value !== undefined && value === Reflect.get(where === 'own' ? scene : scene[where], name)
  return Object.fromEntries(names.map((name) => [name, row(name)])) as Record<
    Name,
    ReturnType<typeof row>
  >
}

const table = <P extends object>(
  name: string,
  read: (scene: Scene) => P | undefined,
  rows: Rows<P>,
): [name: string, wrong: (scene: Scene) => Promise<string[]>] => [
  name,
  async (scene) => {
    const parts = read(scene)
    if (parts === undefined) return ['nothing was made']
    const names = Object.keys(rows) as (keyof P & string)[]
    const isRight = (one: keyof P & string) => rows[one](parts[one], scene)
    const checked = names.map(async (one) => ((await isRight(one)) ? [] : [one]))
    return (await Promise.all(checked)).flat()
  },
]

/** The first argument of the first call of a spy. */
const partsOf = (spy: { mock: { calls: readonly (readonly unknown[])[] } }): never =>
  spy.mock.calls[0]?.[0] as never

/** Whether `report` calls the listeners of `on`, once and with its event. */
function reports<E>(on: (listener: (event: E) => void) => unknown, report: (event: E) => void) {
  const heard: E[] = []
  on((event) => heard.push(event))
  const event = { ...DELIVERED, ms: 1, failures: 1, waitMs: 1, failure: { kind: 'late' } } as E
  report(event)
  return heard.length === 1 && heard[0] === event
}

/** The loop for the bot (0) or for a consumer (1), as it is made while a turn is held. */
function loopOf({ isShared }: Scene, at: number, isHeld = true): DeliveryLoopParts | undefined {
  const { calls } = vi.mocked(DeliveryLoop).mock
  if (!isShared) return calls[at]?.[0]
  vi.mocked(DeliveryTurns).mock.calls[at]?.[0].makeLoop({ isHeld } as never)
  return calls.at(-1)?.[0]
}
const EVENT = { id: 'e' } as never
const entries = (given: unknown, { core }: Scene) => given === core.outbox
const edits = (given: unknown) => given instanceof Edits && given.isOn
const fresh = (given: () => Promise<void>, { readsStore }: Scene) => readsStore(given)

const TABLES = [
  table<OutboxParts>('the outbox', () => partsOf(vi.mocked(Outbox)), {
    entries,
    ...of('own', 'store', 'clock'),
    edits,
    send: async (send) => {
      vi.mocked(giving.sendNow).mockResolvedValueOnce(EVENT)
      const [words, turn] = [Buffer.from('{}'), FREE]
      const isSent = (await send(EVENT, words, turn)) === EVENT
      const [entry, given] = vi.mocked(giving.sendNow).mock.lastCall ?? []
      return isSent && entry === EVENT && given?.words === words && given.turn === turn
    },
    maxAgeMs: (ms) => ms === 5 * HOUR_MS,
  }),
  table<giving.GiveParts>('a call', () => vi.mocked(giving.sendNow).mock.lastCall?.[2], {
    entries,
    fresh,
    edits,
    ...of('core', 'messages', 'guard', 'approvals', 'clientShares'),
    ...of('known', 'clients', 'directory'),
    approverMaxAgeMs: (ms) => ms === 17_000,
    rules: (rules, { limits }) => {
      limits.textMax = 200
      return rules().textMax === 200 && rules().sealsForBot
    },
    nowMs: (nowMs) => nowMs() === 1_234_567,
  }),
  table<OutboxEntriesParts>('the entries', ({ entriesLoad }) => entriesLoad.mock.calls[0]?.[1], {
    ...of('core', 'approvals'),
    ...of('known', 'journal', 'clients'),
    textMax: (textMax, { limits }) => {
      limits.textMax = 300
      return textMax() === 300
    },
  }),
  table<HearParts>('the reader of replies', () => partsOf(vi.mocked(createHearing)), {
    entries,
    fresh,
    ...of('known', 'journal'),
    nowMs: (nowMs, { core }) => {
      const { clocks, time } = core.keyring
      const byMachine = time.nowMs()
      const byService = vi.spyOn(clocks, 'expiryNowMs').mockReturnValue(byMachine + HOUR_MS)
      const isService = nowMs() >= byMachine + HOUR_MS
      byService.mockReturnValue(0)
      const isMachine = nowMs() >= byMachine
      byService.mockRestore()
      return isService && isMachine
    },
  }),
  table<ApprovalParts>('the approvals', () => partsOf(vi.mocked(Approvals)), {
    ...of('known', 'knownChats', 'trust', 'people'),
    rules: ([rule]) => rule?.withinMs === 2 * HOUR_MS && rule.by[0] === ALICE,
  }),
  table<GuardParts>('the guard', () => partsOf(vi.mocked(Guard)), {
    fresh,
    epoch: (epoch, { core }) => epoch?.() === core.memory.epoch,
    ...of('own', 'time'),
    ...of('core', 'knownChats', 'modes'),
    freshForMs: (ms, { isShared }) => ms === (isShared ? PROVEN_MS : Infinity),
    ownsKey: (ownsKey) => ownsKey(),
    sealsForBot: (sealsForBot) => sealsForBot,
    readableGroups: (readableGroups) => readableGroups === 'refuse',
    chatMaxAgeMs: (ms) => ms === 23_000,
  }),
  table<QueueReaderParts>('the reader of the queue', () => partsOf(vi.mocked(QueueReader)), {
    ...of('updates', 'polls', 'backlog', 'turns'),
    ...of('known', 'sightings'),
    ...of('core', 'incoming', 'recordConfirmed', 'expectConfirmed', 'store'),
    upstream: (upstream, { link }) => upstream === link.upstream,
    onPolled: (polled, { updates }) => reports<string | null>(updates.onPolled, polled),
    limits: (limits, scene) => limits() === scene.limits,
  }),
  table<BotPollsParts>('the polls at the door', () => partsOf(vi.mocked(BotPolls)), {
    ...of('updates', 'reader', 'webhook', 'consumers', 'news'),
  }),
  table<UpdatePollerParts>('polls of our own', () => partsOf(vi.mocked(UpdatePoller)), {
    ...of('updates', 'reader'),
    ...of('own', 'clock'),
    limits: (limits, scene) => limits() === scene.limits,
    onReadFailed: (failed, { updates }) => reports(updates.onReadFailed, failed),
    onUnexpectedError: (failed, { updates }) => reports(updates.onUnexpectedError, failed),
  }),
  table<ConsumersParts>('the consumers', () => partsOf(vi.mocked(Consumers)), {
    ...of('own', 'clock'),
    ...of('known', 'clients'),
    ...of('updates', 'turns'),
    poller: (poller) => poller instanceof UpdatePoller,
    given: ([given, ...more]) => given?.reader.name === 'archive' && more.length === 0,
    hasBot: (hasBot) => hasBot(),
    botHas: (botHas) => botHas()?.updateId === DELIVERED.updateId,
    cursors: ({ all }) => all.length === 0,
    makeLoop: (_make, scene) => loopOf(scene, 1) !== undefined,
  }),
  table<WebhookParts>('the webhook', () => partsOf(vi.mocked(Webhook)), {
    fresh,
    ...of('updates', 'polls', 'reader'),
    upstream: (upstream, { link }) => upstream === link.upstream,
    registration: ({ webhook }) => webhook?.url === HOOK,
    rules: ({ allowHosts, resolve }, { resolveHost }) =>
      allowHosts?.join() === 'bot.example' && resolve === resolveHost,
    makeLoop: (_make, scene) => loopOf(scene, 0) !== undefined,
  }),
  table<DeliveryLoopParts>('the deliveries to the bot', (scene) => loopOf(scene, 0), {
    ...of('own', 'clock'),
    client: (client) => client instanceof WebhookClient,
    mayDeliver: (may, scene) =>
      may() && (!scene.isShared || loopOf(scene, 0, false)?.mayDeliver() === false),
    onUnexpectedError: (failed, { updates }) => reports(updates.onUnexpectedError, failed),
    ...of('updates', 'news'),
    poller: (poller) => poller instanceof UpdatePoller,
    registration: ({ webhook }) => webhook?.url === HOOK,
    last: (last) => last()?.updateId === DELIVERED.updateId,
    onDelivered: (delivered, { updates }) => reports(updates.onDelivered, delivered),
    onFailed: (failed, { updates }) => reports(updates.onDeliveryFailed, failed),
  }),
]

test.each([
  ['a bot that is alone has the right values in all of its parts', false],
  ['a bot beside other sidecars has the right values in all of its parts', true],
])('%s', async (_title, isShared) => {
  const scene = await botOf(isShared)
  expect(scene.updates.turns !== null).toBe(isShared)
  const wrong: [name: string, parts: string[]][] = []
  for (const [name, wrongOf] of TABLES) wrong.push([name, await wrongOf(scene)])
  expect(wrong.filter(([, parts]) => parts.length > 0)).toEqual([])
})
