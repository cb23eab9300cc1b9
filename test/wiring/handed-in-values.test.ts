/**
 * Each value that `src/wiring` gives to outbox, approvals and updates: a row for each, and the compiler
 * asks for the row of a new one. A bot is made twice: alone with its store, and beside other sidecars.
 */
import { expect, onTestFinished, test, vi } from 'vitest'
import { tokenHashOf } from '../../src/api/bot.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { messageRoutes, type MessageRouteParts } from '../../src/http/routes/messages.ts'
import { outboxRoute, type OutboxDoor } from '../../src/http/routes/outbox.ts'
import { updateRoutes, type UpdateRouteParts } from '../../src/http/routes/updates.ts'
import { Approvals, type ApprovalParts } from '../../src/kernel/wall/approvals.ts'
import { Clients, type ClientsParts } from '../../src/kernel/wall/clients.ts'
import { Guard, type GuardParts } from '../../src/kernel/wall/guard.ts'
import { OutboxEntries, type OutboxEntriesParts } from '../../src/outbox/entries.ts'
import * as give from '../../src/outbox/give.ts'
import { createHearing, type HearParts } from '../../src/outbox/hear.ts'
import { OutboxNews } from '../../src/outbox/news.ts'
import { Outbox, type OutboxParts } from '../../src/outbox/outbox.ts'
import { PROVEN_MS } from '../../src/replicas/times.ts'
import { JournalHeads, type JournalHeadsParts } from '../../src/trust/journal-heads.ts'
import { Backlog, type BacklogParts } from '../../src/updates/backlog.ts'
import { Consumers, type ConsumersParts } from '../../src/updates/consumers.ts'
import { DeliveryLoop, NO_NEWS, type DeliveryLoopParts } from '../../src/updates/delivery-loop.ts'
import { DeliveryTurns, type DeliveryTurnsParts } from '../../src/updates/delivery-turns.ts'
import { UpdatePoller, type UpdatePollerParts } from '../../src/updates/update-poller.ts'
import { WebhookClient } from '../../src/updates/webhook-client.ts'
import { Webhook, type WebhookParts } from '../../src/updates/webhook.ts'
import { REAL_CLOCK, SYSTEM_TIME } from '../../src/util/clock.ts'
import { createBot } from '../../src/wiring/bot.ts'
import { createLink } from '../../src/wiring/link.ts'
import { temporary } from '../store/support.ts'
import { watchedLog } from '../support/watched-log.ts'
import { ALICE, CHAT, storeWith, useCore } from './core-scene.ts'
import { PlayedStore } from './played-store.ts'

const { engine } = useCore()
const HOUR_MS = 3_600_000
const WEBHOOK = { id: 1, url: 'https://bot.example/hook', failures: 0, last_error: null }
const DELIVERED = { updateId: 4, mark: 'm' }
const SETTINGS = {
  approve: [{ chats: [CHAT], by: [ALICE], within: '2h' }],
  cache: { keyListSeconds: 17, chatSeconds: 23 },
  clients: {
    only: true,
    list: [{ name: 'given', may: ['read' as const], tokenHash: tokenHashOf('t') }],
  },
  consumers: [{ name: 'archive', url: 'https://archive.example/hook' }],
  outbox: { maxAgeHours: 5, updates: true },
  readableGroups: 'refuse' as const,
  webhook: { allowHosts: ['bot.example'] },
}

vi.mock('../../src/outbox/outbox.ts', { spy: true })
vi.mock('../../src/outbox/give.ts', { spy: true })
vi.mock('../../src/outbox/hear.ts', { spy: true })
vi.mock('../../src/outbox/news.ts', { spy: true })
vi.mock('../../src/kernel/wall/approvals.ts', { spy: true })
vi.mock('../../src/kernel/wall/guard.ts', { spy: true })
vi.mock('../../src/trust/journal-heads.ts', { spy: true })
vi.mock('../../src/updates/backlog.ts', { spy: true })
vi.mock('../../src/updates/consumers.ts', { spy: true })
vi.mock('../../src/updates/delivery-loop.ts', { spy: true })
vi.mock('../../src/updates/delivery-turns.ts', { spy: true })
vi.mock('../../src/updates/update-poller.ts', { spy: true })
vi.mock('../../src/updates/webhook.ts', { spy: true })
vi.mock('../../src/http/routes/messages.ts', { spy: true })
vi.mock('../../src/http/routes/outbox.ts', { spy: true })
vi.mock('../../src/http/routes/updates.ts', { spy: true })

/** In place of loops: it reads nothing. */
class Idle {
  readonly unconfirmedCount = 0
  stop = async (): Promise<void> => {}
  wake = (): void => {}
}

/** The first argument of the only call of a spy. */
const partsOf = <P>(spy: { mock: { calls: readonly (readonly unknown[])[] } }): P => {
  const [[parts] = []] = spy.mock.calls
  return parts as P
}

async function botOf(isShared: boolean) {
  vi.clearAllMocks()
  for (const made of [DeliveryLoop, DeliveryTurns])
    vi.mocked(made).mockImplementation(Idle as never)
  const clientsLoad = vi.spyOn(Clients, 'load')
  const entriesLoad = vi.spyOn(OutboxEntries, 'load')
  const secrets = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
  const own = await storeWith('active')
  const { updateId: delivered_id, mark: delivered_mark } = DELIVERED
  await own.write((db) =>
    db
      .insertInto('webhook')
      .values({ ...WEBHOOK, delivered_id, delivered_mark })
      .execute(),
  )
  const played = new PlayedStore(own)
  const store = isShared ? played.shared : own
  const fresh = vi.fn(async () => {})
  played.onFresh = fresh
  if (!isShared) vi.spyOn(own, 'fresh').mockImplementation(fresh)
  const log = watchedLog()
  const settings = settingsFrom({
    upstream: { url: 'http://127.0.0.1:9' },
    dataDir: temporary(),
    ...SETTINGS,
  })
  const time = { ...SYSTEM_TIME, nowMs: () => Date.now() + 7 * HOUR_MS }
  const clock = { ...REAL_CLOCK, now: () => 1_234_567 }
  const link = createLink(settings, secrets, { log, ways: [], time })
  const limits = { ...link.limits(), textMax: 100 }
  const handed = { ...link, limits: () => limits, watch: link.watch }
  const resolveHost = async () => ['127.0.0.1']
  const parts = { link: handed, store, engine, clock, resolveHost }
  const bot = await createBot({ settings, secrets, log, parts })
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await bot[Symbol.asyncDispose]()
    await link[Symbol.asyncDispose]()
  })
  const { core, updates } = bot
  updates.webhook.start()
  updates.consumers.start()
  const loads = { clientsLoad, entriesLoad }
  /** Whether a call asks the store for what other sidecars have written. */
  const asksStore = async (call: () => Promise<unknown>): Promise<boolean> => {
    const before = fresh.mock.calls.length
    await call()
    return fresh.mock.calls.length > before
  }
  return {
    bot,
    core,
    updates,
    link: handed,
    limits,
    clock,
    time,
    store,
    resolveHost,
    loads,
    asksStore,
    isShared,
  }
}
type Scene = Awaited<ReturnType<typeof botOf>>

/** A row for each part: whether it is the right one. */
type Rows<P> = { [Name in keyof P]-?: (value: P[Name], scene: Scene) => boolean | Promise<boolean> }

const table = <P extends object>(
  name: string,
  read: (scene: Scene) => P | undefined | null,
  rows: Rows<P>,
): [name: string, wrong: (scene: Scene) => Promise<string[]>] => [
  name,
  async (scene) => {
    const parts = read(scene)
    if (parts === undefined) return ['nothing was made']
    if (parts === null) return []
    const names = Object.keys(rows) as (keyof P & string)[]
    const checked = await Promise.all(
      names.map(async (one) => ((await rows[one](parts[one], scene)) ? [] : [one])),
    )
    return checked.flat()
  },
]

/** Whether calling `report` is what makes a listener of `on` called with the event, and with nothing else. */
function reports<E>(on: (listener: (event: E) => void) => unknown, report: (event: E) => void) {
  const heard: E[] = []
  on((event) => heard.push(event))
  const event = { ...DELIVERED, ms: 1, failures: 1, waitMs: 1, failure: { kind: 'late' } } as E
  report(event)
  return heard.length === 1 && heard[0] === event
}

/** The loop for the bot or for a consumer, as it is made while a turn is held. */
function loopOf(scene: Scene, at: number, isHeld = true): DeliveryLoopParts | undefined {
  const made = vi.mocked(DeliveryLoop).mock
  if (!scene.isShared) return made.calls[at]?.[0]
  const turns = vi.mocked(DeliveryTurns).mock.calls[at]?.[0]
  turns?.makeLoop({ isHeld } as never)
  return made.calls.at(-1)?.[0]
}

const EVENT = { id: 'e' } as never
const WORDS = Buffer.from('{}')
const LOOP: Pick<Rows<DeliveryLoopParts>, 'client' | 'clock'> = {
  client: (client) => client instanceof WebhookClient,
  clock: (clock, scene) => clock === scene.clock,
}
const QUEUE = {
  upstream: (upstream, { link }) => upstream === link.upstream,
  sightings: (sightings, { core }) => sightings === core.known.sightings,
  incoming: (incoming, { core }) => incoming !== null && incoming === core.incoming,
  polls: (polls, { updates }) => polls === updates.polls,
  backlog: (backlog, { updates }) => backlog === updates.backlog,
  storeReach: (storeReach, { updates }) => storeReach === updates.storeReach,
  recordConfirmed: async (record, { store }) => {
    await record(7)
    const rows = await store.read((db) => db.selectFrom('confirmed').select('below').execute())
    return rows[0]?.below === 7
  },
} satisfies Omit<Rows<UpdatePollerParts>, `on${string}` | 'clock' | 'limits'>

const TABLES = [
  table<OutboxParts>('the outbox', () => partsOf(vi.mocked(Outbox)), {
    entries: (entries, { core }) => entries === core.outbox,
    store: (store, scene) => store === scene.store,
    clock: (clock, scene) => clock === scene.clock,
    send: async (send) => {
      vi.mocked(give.sendNow).mockResolvedValueOnce('sent' as never)
      const isSent = (await send(EVENT, WORDS)) === ('sent' as never)
      const [entry, words] = vi.mocked(give.sendNow).mock.lastCall ?? []
      return isSent && entry === EVENT && words === WORDS
    },
    maxAgeMs: (ms) => ms === 5 * HOUR_MS,
  }),
  table<give.GiveParts>('a call of the outbox', () => vi.mocked(give.sendNow).mock.lastCall?.[2], {
    entries: (entries, { core }) => entries === core.outbox,
    messages: (messages, { core }) => messages === core.messages,
    guard: (guard, { core }) => guard === core.guard,
    modes: (modes, { core }) => modes === core.modes,
    clients: (clients, { core }) => clients === core.known.clients,
    approvals: (approvals, { core }) => approvals === core.approvals,
    directory: (directory, { core }) => directory === core.known.directory,
    approverMaxAgeMs: (ms) => ms === 17_000,
    fresh: (fresh, { asksStore }) => asksStore(fresh),
    rules: (rules, { limits }) => {
      limits.textMax = 200
      const { textMax, sealsForBot } = rules()
      return textMax === 200 && sealsForBot
    },
    nowMs: (nowMs) => nowMs() === 1_234_567,
  }),
  table<OutboxDoor>('the route of the outbox', () => partsOf(vi.mocked(outboxRoute)), {
    entries: (entries, { core }) => entries === core.outbox,
    give: (call) => isGiven(vi.mocked(give.giveLater), call),
    clear: (call) => isGiven(vi.mocked(give.clearNow), call),
    refuseRequest: (call) => isGiven(vi.mocked(give.refuseRequest), call),
  }),
  table<OutboxEntriesParts>('the entries', ({ loads }) => loads.entriesLoad.mock.calls[0]?.[1], {
    approvals: (approvals, { core }) => approvals === core.approvals,
    journal: (journal, { core }) => journal === core.known.journal,
    textMax: (textMax, { limits }) => {
      limits.textMax = 300
      return textMax() === 300
    },
  }),
  table<{ isOn: boolean; entries: OutboxEntries }>(
    'the news',
    () => {
      const [[entries, o] = []] = vi.mocked(OutboxNews).mock.calls
      return entries && o && { entries, ...o }
    },
    { entries: (entries, { core }) => entries === core.outbox, isOn: (isOn) => isOn },
  ),
  table<HearParts>('the reader of replies', () => partsOf(vi.mocked(createHearing)), {
    entries: (entries, { core }) => entries === core.outbox,
    journal: (journal, { core }) => journal === core.known.journal,
    fresh: (fresh, { asksStore }) => asksStore(fresh),
    nowMs: (nowMs, { core }) => {
      const { clocks, time } = core.keyring
      const [byService, byMachine] = [clocks.expiryNowMs(), time.nowMs()]
      const later = vi.spyOn(clocks, 'expiryNowMs').mockReturnValue(byMachine + HOUR_MS)
      const isLater = nowMs() >= byMachine + HOUR_MS
      later.mockReturnValue(byService - 9 * HOUR_MS)
      const isOurs = nowMs() >= byMachine
      later.mockRestore()
      return isLater && isOurs
    },
  }),
  table<ApprovalParts>('the approvals', () => partsOf(vi.mocked(Approvals)), {
    rules: ([rule]) => rule?.withinMs === 2 * HOUR_MS && rule.by[0] === ALICE,
    knownChats: (knownChats, { core }) => knownChats === core.knownChats,
    trust: (trust, { core }) => trust === core.known.trust,
    people: (people, { core }) => people === core.known.people,
  }),
  table<GuardParts>('the guard', () => partsOf(vi.mocked(Guard)), {
    time: (time, scene) => time === scene.time,
    fresh: (fresh, { asksStore }) => asksStore(fresh),
    freshForMs: (ms, { isShared }) => ms === (isShared ? PROVEN_MS : Infinity),
    knownChats: (knownChats, { core }) => knownChats === core.knownChats,
    modes: (modes, { core }) => modes === core.modes,
    ownsKey: (ownsKey) => ownsKey(),
    sealsForBot: (sealsForBot) => sealsForBot,
    readableGroups: (readableGroups) => readableGroups === 'refuse',
    chatMaxAgeMs: (ms) => ms === 23_000,
  }),
  table<ClientsParts>('the clients', ({ loads }) => loads.clientsLoad.mock.calls[0]?.[0], {
    memory: (memory, { core }) => memory === core.memory,
    journal: (journal, { core }) => journal === core.known.journal,
    knownChats: (knownChats, { core }) => knownChats === core.knownChats,
    clock: (clock, { core }) => clock === core.keyring.clocks,
    given: (given) => given.map(({ name }) => name).join() === 'given',
  }),
  table<JournalHeadsParts>('the heads of the journal', () => partsOf(vi.mocked(JournalHeads)), {
    store: (store, scene) => store === scene.store,
    keyring: (keyring, { core }) => keyring === core.keyring,
    engine: (one, { core }) => one === core.engine,
    forgotten: (forgotten, { core }) => forgotten === core.known.forgotten,
    nowMs: (nowMs, { time }) => Math.abs(nowMs() - time.nowMs()) < HOUR_MS,
  }),
  table<Pick<MessageRouteParts, 'limits' | 'sealsForBot' | 'clients' | 'messages'>>(
    'the routes of messages',
    () => partsOf(vi.mocked(messageRoutes)),
    {
      messages: (messages, { core }) => messages === core.messages,
      limits: (limits, scene) => limits() === scene.limits,
      sealsForBot: (sealsForBot) => sealsForBot,
      clients: (clients, { core }) => clients === core.known.clients,
    },
  ),
  table<UpdateRouteParts>('the route of updates', () => partsOf(vi.mocked(updateRoutes)), {
    ...QUEUE,
    webhook: (webhook, { updates }) => webhook === updates.webhook,
    turns: (turns, { updates, isShared }) =>
      turns === updates.turns && (turns !== null) === isShared,
    news: (news, { updates }) => news === updates.news,
    consumers: (consumers, { updates }) => consumers === updates.consumers,
    onPolled: (onPolled, { updates }) => reports<string | null>(updates.onPolled, onPolled),
  }),
  table<UpdatePollerParts>('the reader of the queue', () => partsOf(vi.mocked(UpdatePoller)), {
    ...QUEUE,
    clock: (clock, scene) => clock === scene.clock,
    limits: (limits, scene) => limits() === scene.limits,
    onPolled: (onPolled, { updates }) => reports<string | null>(updates.onPolled, onPolled),
    onReadFailed: (failed, { updates }) => reports(updates.onReadFailed, failed),
    onUnexpectedError: (failed, { updates }) => reports(updates.onUnexpectedError, failed),
  }),
  table<BacklogParts>('the backlog', () => partsOf(vi.mocked(Backlog)), {
    clock: (clock, scene) => clock === scene.clock,
    skewMs: (skewMs, { link }) => {
      const skew = vi.spyOn(link.watch, 'skewMs', 'get').mockReturnValue(77)
      const isLinks = skewMs() === 77
      skew.mockRestore()
      return isLinks
    },
    isDelivering: (isDelivering) => isDelivering(),
    ask: (ask, { link }) => ask === link.calls.me,
    peek: async (peek) => (await peek()) === null,
  }),
  table<ConsumersParts>('the consumers', () => partsOf(vi.mocked(Consumers)), {
    poller: (poller) => poller instanceof UpdatePoller,
    given: ([given, ...more]) => given?.reader.name === 'archive' && more.length === 0,
    clients: (clients, { core }) => clients === core.known.clients,
    hasBot: (hasBot) => hasBot(),
    botHas: (botHas) => botHas()?.updateId === DELIVERED.updateId,
    cursors: (cursors, { updates }) =>
      cursors.all.length === 0 && !updates.consumers.queue.isShared,
    clock: (clock, scene) => clock === scene.clock,
    turns: (turns, { updates }) => turns === updates.turns,
    makeLoop: (_make, scene) => loopOf(scene, 1) !== undefined,
  }),
  table<WebhookParts>('the webhook', () => partsOf(vi.mocked(Webhook)), {
    upstream: (upstream, { link }) => upstream === link.upstream,
    registration: ({ webhook }) => webhook?.url === WEBHOOK.url,
    rules: ({ allowHosts, resolve }, { resolveHost }) =>
      allowHosts?.join() === 'bot.example' && resolve === resolveHost,
    polls: (polls, { updates }) => polls === updates.polls,
    fresh: (fresh, { asksStore }) => asksStore(fresh),
    makeLoop: (_make, scene) => loopOf(scene, 0) !== undefined,
  }),
  table<DeliveryTurnsParts>(
    'the turns of the bot',
    ({ isShared }) => (isShared ? partsOf(vi.mocked(DeliveryTurns)) : null),
    {
      turns: (turns, { updates }) => turns === updates.turns,
      clock: (clock, scene) => clock === scene.clock,
      fresh: (fresh, { asksStore }) => asksStore(fresh),
      makeLoop: (_make, scene) => loopOf(scene, 0) !== undefined,
    },
  ),
  table<DeliveryLoopParts>('the deliveries to the bot', (scene) => loopOf(scene, 0), {
    ...LOOP,
    poller: (poller) => poller instanceof UpdatePoller,
    registration: (registration, { updates }) => registration.webhook === updates.webhook.own,
    last: (last) => last()?.updateId === DELIVERED.updateId,
    news: (news, { updates }) => news === updates.news,
    mayDeliver: (mayDeliver, scene) =>
      mayDeliver() && (!scene.isShared || loopOf(scene, 0, false)?.mayDeliver() === false),
    onDelivered: (delivered, { updates }) => reports(updates.onDelivered, delivered),
    onFailed: (failed, { updates }) => reports(updates.onDeliveryFailed, failed),
    onUnexpectedError: (failed, { updates }) => reports(updates.onUnexpectedError, failed),
  }),
  table<DeliveryLoopParts>('the deliveries to a consumer', (scene) => loopOf(scene, 1), {
    ...LOOP,
    poller: (poller) => !(poller instanceof UpdatePoller),
    registration: ({ webhook }) => webhook?.url === SETTINGS.consumers[0]?.url,
    last: (last) => last() === null,
    news: (news) => news === NO_NEWS,
    mayDeliver: (mayDeliver, scene) =>
      mayDeliver() && (!scene.isShared || loopOf(scene, 1, false)?.mayDeliver() === false),
    onDelivered: (delivered, { updates }) => !reports(updates.onDelivered, delivered),
    onFailed: (failed, { updates }) => reports(updates.onConsumerFailed, failed),
    onUnexpectedError: (failed, { updates }) => reports(updates.onUnexpectedError, failed),
  }),
]

/** Whether a function of the door calls this one with its call, and the parts of every other call. */
async function isGiven(
  spy: {
    mockResolvedValueOnce: (value: never) => unknown
    mock: { lastCall?: unknown[] | undefined }
  },
  call: (input: never) => Promise<unknown>,
): Promise<boolean> {
  spy.mockResolvedValueOnce('done' as never)
  const isDone = (await call(EVENT)) === 'done'
  const [input, parts] = spy.mock.lastCall ?? []
  return isDone && input === EVENT && parts === vi.mocked(give.sendNow).mock.lastCall?.[2]
}

test.each([
  ['a bot that is alone has the right values in all of its parts', false],
  ['a bot beside other sidecars has the right values in all of its parts', true],
])('%s', async (_title, isShared) => {
  const scene = await botOf(isShared)
  const wrong: Record<string, string[]> = {}
  for (const [name, wrongOf] of TABLES) {
    const names = await wrongOf(scene)
    if (names.length > 0) wrong[name] = names
  }
  expect(wrong).toEqual({})
})
