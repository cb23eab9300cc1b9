/** Delivery of updates to the bot: its webhook, the turns of sidecars, and the queue's state. */
import { isObject } from '../api/common.ts'
import { givenConsumers } from '../config/client-entry.ts'
import type { Settings } from '../config/settings.ts'
import type { BotExchange } from '../api/envelope.ts'
import { Backlog } from '../updates/backlog.ts'
import { BotPolls } from '../updates/bot-polls.ts'
import { REAL_CLOCK, type Clock } from '../util/clock.ts'
import { WebhookClient, type Delivery } from '../updates/webhook-client.ts'
import { outboxNews, type OutboxNews } from '../outbox/news.ts'
import { PollTurn, type Turn } from '../updates/poll-turn.ts'
import { PollWatch } from '../updates/poll-watch.ts'
import { QueueReader } from '../updates/queue-reader.ts'
import { Consumers } from '../updates/consumers.ts'
import { Cursors } from '../updates/cursors.ts'
import { DeliveryTurns } from '../updates/delivery-turns.ts'
import { DeliveryLoop, NO_NEWS, type DeliveryLoopParts } from '../updates/delivery-loop.ts'
import { Registration } from '../updates/registration.ts'
import { UpdatePoller, type UpdatePollerParts } from '../updates/update-poller.ts'
import type { Delivered } from '../updates/update-batch.ts'
import { resolveHost } from '../updates/target.ts'
import { Webhook } from '../updates/webhook.ts'
import { Listeners } from '../util/listeners.ts'
import type { Core } from './core.ts'
import type { Link, HandedInParts } from './link.ts'

const PEEK_MS = 4000

/** Listeners to events of updates. */
class UpdateEvents {
  readonly polled = new Listeners<string | null>()
  readonly serviceWebhooks = new Listeners<string | null>()
  readonly deliveries = new Listeners<Parameters<DeliveryLoopParts['onDelivered']>[0]>()
  readonly failures = new Listeners<Parameters<DeliveryLoopParts['onFailed']>[0]>()
  readonly readFailures = new Listeners<Parameters<UpdatePollerParts['onReadFailed']>[0]>()
  readonly consumerFailures = new Listeners<Parameters<DeliveryLoopParts['onFailed']>[0]>()
  readonly errors = new Listeners<unknown>()
}

/** Their listeners are in `subscriptions.ts`. */
export type Updates = Awaited<ReturnType<typeof createUpdates>>

/** @throws OperatorError `store-corrupt` */
export async function createUpdates(
  { settings, parts = {} }: { settings: Settings; parts?: HandedInParts },
  link: Link,
  core: Core,
) {
  const { clock = REAL_CLOCK } = parts
  const { store } = core
  const rules = rulesOf(settings, parts)
  const registration = await Registration.load(store)
  const client = new WebhookClient({ ...rules, clock })
  const polls = new PollWatch(clock)
  const turns = store.isShared ? new PollTurn(store) : null
  const backlog = createBacklog(link, core, { clock, polls, turns, registration })
  const fresh = (): Promise<void> => store.fresh()
  const events = new UpdateEvents()
  const { sightings } = core.known
  const onPolled = events.polled.emit
  const reader = new QueueReader({ ...link, ...core, sightings, polls, backlog, turns, onPolled })
  const poller = { reader, clock, limits: link.limits }
  const news = outboxNews(core.outbox, { isOn: settings.outbox.updates })
  const loops = createLoops({ poller, registration, client, parts, events, news })
  const inTurns = (makeLoop: (turn: Turn | null) => DeliveryLoop) =>
    turns === null ? makeLoop(null) : new DeliveryTurns({ turns, clock, fresh, makeLoop })
  const consumers = new Consumers({
    ...consumersOf(settings, registration),
    cursors: await Cursors.load(store),
    poller: loops.poller(null),
    clock,
    turns,
    clients: core.known.clients,
    makeLoop: (own) => inTurns((turn) => loops.ofConsumer(turn, own)),
  })
  const webhook = new Webhook({
    upstream: link.upstream,
    registration,
    rules,
    polls,
    reader,
    fresh,
    makeLoop: () => inTurns((turn) => loops.ofBot(turn, consumers)),
  })
  return {
    webhook,
    consumers,
    news,
    polls,
    backlog,
    reader,
    botPolls: new BotPolls({ reader, webhook, consumers, news }),
    /** Null where no other sidecar can poll. */
    turns,
    ...listening(events, backlog),
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([webhook[Symbol.asyncDispose](), consumers[Symbol.asyncDispose]()])
      backlog[Symbol.dispose]()
      polls[Symbol.dispose]()
      client[Symbol.dispose]()
    },
  }
}

const rulesOf = ({ webhook }: Settings, parts: HandedInParts) => ({
  allowHosts: webhook.allowHosts ?? null,
  resolve: parts.resolveHost ?? resolveHost,
})

/** Who reads beside the bot by the settings, and whether there is a bot that reads. */
const consumersOf = ({ consumers, clients }: Settings, registration: Registration) => ({
  given: givenConsumers(consumers),
  hasBot: () => !clients.only || registration.webhook !== null,
  botHas: () => (registration.webhook === null ? null : registration.delivered),
})

/** How others report to the events, and listen to them. */
const listening = (events: UpdateEvents, backlog: Backlog) => ({
  /** Records the service's report of its own webhook. */
  noteServiceWebhook: (result: unknown): void => {
    if (!isObject(result)) return
    const { pending, url } = result
    if (typeof pending === 'number') backlog.recordPending(pending)
    if (url === null || typeof url === 'string') events.serviceWebhooks.emit(url)
  },
  /** Calls back with how a poll ended, the bot's or ours. */
  onPolled: events.polled.add,
  /** Calls back with the url of the service's own webhook each time that it is named; null: none. */
  onServiceWebhook: events.serviceWebhooks.add,
  onDelivered: events.deliveries.add,
  onDeliveryFailed: events.failures.add,
  /** The same of a consumer's webhook. */
  onConsumerFailed: events.consumerFailures.add,
  onReadFailed: events.readFailures.add,
  /** Calls back with an error of deliveries that is no Refusal. */
  onUnexpectedError: events.errors.add,
})

/** The queue's state at the service: by `/me`, and by the oldest update without polls. */
function createBacklog(
  { calls, upstream, watch }: Link,
  { known }: Core,
  o: { clock: Clock; polls: PollWatch; turns: PollTurn | null; registration: Registration },
): Backlog {
  const { clock, polls, turns, registration } = o
  return new Backlog({
    clock,
    skewMs: () => watch.skewMs,
    isDelivering: () => registration.webhook !== null,
    ask: calls.me,
    peek: async () => {
      if (polls.mayBeUnderWay || registration.webhook !== null) return null
      await using turn = await turns?.tryTake()
      if (turn === null) return null
      const signal = AbortSignal.timeout(PEEK_MS)
      const query = 'limit=1&timeout=0'
      const { envelope } = await upstream.poll({ query, timeoutSeconds: 0, signal, whose: 'own' })
      return envelope.ok ? known.sightings.readUpdates(envelope.result) : null
    },
  })
}

/** Makes loops that deliver to webhooks, each while its turn is held; null: without turns. */
function createLoops(o: {
  poller: Omit<UpdatePollerParts, `on${string}` & keyof UpdatePollerParts>
  registration: Registration
  client: WebhookClient
  parts: HandedInParts
  events: UpdateEvents
  news: OutboxNews
}) {
  const { registration, events, news, parts } = o
  const { onBotExchange } = parts
  const client = onBotExchange === undefined ? o.client : observed(o.client, onBotExchange)
  const onUnexpectedError = events.errors.emit
  /** @param last the update delivered last; null when unknown */
  const poller = (last: Delivered | null): UpdatePoller => {
    const polling = { ...o.poller, onReadFailed: events.readFailures.emit, onUnexpectedError }
    return new UpdatePoller(polling, last)
  }
  type Own = Omit<DeliveryLoopParts, 'client' | 'clock' | 'mayDeliver' | 'onUnexpectedError'>
  const make = (turn: Turn | null, own: Own): DeliveryLoop => {
    const mayDeliver = (): boolean => turn?.isHeld !== false
    const { clock } = o.poller
    return new DeliveryLoop({ ...own, client, clock, mayDeliver, onUnexpectedError })
  }
  return {
    poller,
    /** The bot's own: alone it reads the queue itself. */
    ofBot(turn: Turn | null, consumers: Consumers): DeliveryLoop {
      const { isShared } = consumers.queue
      return make(turn, {
        poller: isShared ? consumers.sourceOf(consumers.bot) : poller(registration.delivered),
        registration: isShared ? consumers.ofBot(registration) : registration,
        onDelivered: events.deliveries.emit,
        onFailed: events.failures.emit,
        last: () => registration.delivered,
        news,
      })
    },
    ofConsumer(turn: Turn | null, own: Pick<DeliveryLoopParts, 'poller' | 'registration'>) {
      const onFailed = events.consumerFailures.emit
      return make(turn, { ...own, onFailed, last: () => null, news: NO_NEWS, onDelivered() {} })
    },
  }
}

type Deliverer = Pick<WebhookClient, 'deliver'>

/** Calls back before and after each delivery. */
const observed = (client: Deliverer, onExchange: (exchange: BotExchange) => void): Deliverer => ({
  async deliver(delivery: Delivery) {
    const startedMs = performance.now()
    const begun = { method: 'POST', path: '', request: delivery.body, status: 0, answer: '' }
    onExchange({ ...begun, kind: 'deliveryStart' })
    const outcome = await client.deliver(delivery)
    const { kind } = outcome
    const end = kind === 'delivered' ? { status: outcome.status } : { answer: outcome.message }
    const ms = Math.round(performance.now() - startedMs)
    onExchange({ ...begun, kind: 'delivery', ms, ...end })
    return outcome
  },
})
