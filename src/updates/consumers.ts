/** Who reads updates beside the bot: clients that poll, and webhooks of the settings. */
import { isObject } from '../api/common.ts'
import type { OwnWebhook } from '../translate/bot-view.ts'
import type { Clients } from '../clients/clients.ts'
import type { StillMay } from '../clients/may-client.ts'
import type { Client } from '../clients/records.ts'
import { BOT } from './cursors.ts'
import { GRACE_MS, type DeliveryLoop, type DeliveryLoopParts } from './delivery-loop.ts'
import { afterAttempt, NO_FAILURES, type Registration } from './registration.ts'
import type { AskedPoll } from './queue-reader.ts'
import { SharedQueue, type Consumer, type SharedQueueParts } from './shared-queue.ts'
import type { Delivered } from './update-batch.ts'
import type { PendingUpdate, UpdatePoller } from './update-poller.ts'

/** A consumer of the settings. */
export interface GivenConsumer {
  /** Null: the client of its name, which polls. */
  url: string | null
  secret: string | null
  /** Null: every kind of update. */
  kinds: readonly string[] | null
  /** What it may read; its name is the consumer's. */
  reader: Client
}

export interface ConsumersParts extends Omit<SharedQueueParts, 'consumerOf' | 'stopping'> {
  poller: UpdatePoller
  given: readonly GivenConsumer[]
  clients: Pick<Clients, 'named' | 'reader'>
  /** False: the bot's own token opens nothing, and it has no webhook. */
  hasBot: () => boolean
  makeLoop: (own: Pick<DeliveryLoopParts, 'poller' | 'registration'>) => Pick<DeliveryLoop, 'stop'>
}

/** Who polls. */
export interface PollCaller {
  /** Null: the bot, while others read too. */
  client: Client | null
  stillMay: StillMay
}

/** The shortest poll: within this the service has answered what it has. */
const LEAST_MS = 1000
/** Before another try, where the store cannot be read. */
const AGAIN_MS = 1000

export class Consumers implements AsyncDisposable {
  readonly queue: SharedQueue
  readonly #parts: ConsumersParts
  readonly #stopping = new AbortController()
  readonly #polls = new Map<string, AbortController>()
  #loops: Pick<DeliveryLoop, 'stop'>[] = []

  constructor(parts: ConsumersParts) {
    this.#parts = parts
    const consumerOf = (name: string): Consumer | null => this.#consumerOf(name)
    this.queue = new SharedQueue({ ...parts, consumerOf, stopping: this.#stopping.signal })
  }

  /** The bot as one of several. */
  get bot(): Consumer {
    return { name: BOT, sees: () => true }
  }

  /** Delivers to the webhooks of the settings; also again after `hold`. */
  start(): void {
    if (this.#loops.length > 0) return
    for (const { url, secret, reader } of this.#parts.given) {
      const name = cursorOf({ url, reader })
      const consumer = this.#consumerOf(name)
      if (url === null || consumer === null) continue
      const record = (delivered: Delivered) => this.queue.record(name, delivered)
      const registration = keptWebhook({ url, secret }, record)
      this.#loops.push(this.#parts.makeLoop({ poller: this.sourceOf(consumer), registration }))
    }
  }

  /** Asks nothing of the service any more: its token was burnt. */
  hold(): void {
    // oxlint-disable-next-line typescript/no-floating-promises -- the loops report their own errors
    for (const loop of this.#loops.splice(0)) void loop.stop({ graceMs: GRACE_MS, confirms: false })
  }

  /** A consumer's part of the queue; the record of a delivery moves its cursor. */
  sourceOf(consumer: Consumer): DeliveryLoopParts['poller'] {
    const { queue } = this
    const { poller, clock } = this.#parts
    const next = (stop: AbortSignal): Promise<PendingUpdate[]> =>
      queue.next(consumer, stop).catch(async () => {
        await clock.wait(AGAIN_MS, stop)
        return []
      })
    return {
      next,
      markDelivered() {},
      confirm: () => queue.confirm(),
      set confirmsEach(confirmsEach: boolean) {
        poller.confirmsEach = confirmsEach
      },
    }
  }

  /** The bot's webhook as one of several: what it has, others may still have to get. */
  ofBot(registration: Registration): DeliveryLoopParts['registration'] {
    const { queue } = this
    return {
      get webhook() {
        return registration.webhook
      },
      recordAttempt: (failure) => registration.recordAttempt(failure),
      recordDelivered: async (delivered, mayRecord) => {
        await registration.recordDelivered(delivered, mayRecord, { isAlone: false })
        await queue.record(BOT, delivered)
      },
    }
  }

  /**
   * A poll of a client, or of the bot while others read too. Another poll of the same caller ends it,
   * and so does the end of its credential.
   * @returns updates; a client's are numbered one by one, so that no number shows what others got
   * @throws Refusal `postern_store_unwritable`, and as `StillMay.ask`
   */
  async poll(
    { client, stillMay }: PollCaller,
    asked: Pick<AskedPoll, 'below' | 'limit' | 'timeoutSeconds'>,
    stop: AbortSignal,
  ): Promise<unknown[]> {
    const { queue } = this
    const consumer = this.#consumerOf(client?.name ?? BOT)
    if (consumer === null) return []
    const ended = AbortSignal.timeout(Math.max(asked.timeoutSeconds * 1000, LEAST_MS))
    const ends = AbortSignal.any([stop, ended, stillMay.ended, this.#alone(consumer.name)])
    // the numbers of a client that has lost its cursor go on
    await queue.join(consumer.name, client === null ? 0 : Math.max(0, asked.below - 1))
    if (client === null) {
      let found: PendingUpdate[]
      // what it has is known once the queue was read
      do {
        await queue.recordBelow(consumer, asked.below)
        found = await queue.next(consumer, ends)
      } while (await queue.recordBelow(consumer, asked.below))
      return found.slice(0, asked.limit).map(({ update }) => update)
    }
    await queue.recordGiven(consumer.name, asked.below)
    const found = await queue.next(consumer, ends)
    await stillMay.ask()
    // by the rights of now: a chat may be bound to somebody else meanwhile
    const shown = found.filter(({ update }) => consumer.sees(update)).slice(0, asked.limit)
    if (shown.length === 0) return []
    const ids = shown.map(({ delivered }) => delivered)
    const first = await this.#parts.cursors.show(consumer.name, ids)
    if (first === null) return []
    return shown.map(({ update }, at) => shownTo(client, update, first + at))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.#loops.map((loop) => loop.stop({ graceMs: GRACE_MS }))
    await Promise.all(stopped)
    this.#stopping.abort()
  }

  #consumerOf(name: string): Consumer | null {
    const { clients, given, hasBot } = this.#parts
    if (name === BOT) return hasBot() ? this.bot : null
    const { url = null, kinds = null, reader } = given.find((one) => cursorOf(one) === name) ?? {}
    const client = clients.named(name)
    if (url === null && client === null) return null
    // an entry without a url narrows what its client reads
    const all = [client, reader].flatMap((one) => (one ? [clients.reader(one)] : []))
    const readers = all.filter((reads) => reads !== null)
    if (readers.length < all.length) return null
    return {
      name,
      sees: (update) => isOfKind(update, kinds) && readers.every((reads) => reads(update)),
    }
  }

  #alone(name: string): AbortSignal {
    this.#polls.get(name)?.abort()
    const poll = new AbortController()
    this.#polls.set(name, poll)
    return poll.signal
  }
}

/** A webhook of the settings; its failures are known until the next start. */
export function keptWebhook(
  hook: Pick<OwnWebhook, 'url' | 'secret'>,
  recordDelivered: (delivered: Delivered) => Promise<void>,
): DeliveryLoopParts['registration'] {
  let webhook: OwnWebhook = { ...hook, ...NO_FAILURES }
  return {
    get webhook() {
      return webhook
    },
    recordDelivered,
    recordAttempt: async (failure) => void (webhook = afterAttempt(webhook, failure)),
  }
}

/** The name of a consumer's cursor; a client and a webhook may be named alike, and no client has a slash. */
const cursorOf = ({ url, reader }: Pick<GivenConsumer, 'url' | 'reader'>): string =>
  url === null ? reader.name : `webhook/${reader.name}`

const isOfKind = (update: unknown, kinds: readonly string[] | null): boolean =>
  kinds === null || (isObject(update) && kinds.includes(String(update['kind'])))

/**
 * An update as a client sees it: by its own number, and with no right to files in their urls, since
 * a url works for ever, and a client does not.
 */
function shownTo({ files }: Client, update: unknown, updateId: number): unknown {
  const shown = withMedia(update, files ? withoutRight : () => [])
  return isObject(shown) ? { ...shown, updateId } : shown
}

const withMedia = (value: unknown, change: (media: unknown) => unknown): unknown =>
  mapped(value, (inner, name) => (name === 'media' ? change(inner) : withMedia(inner, change)))

function withoutRight(value: unknown): unknown {
  if (typeof value !== 'string') return mapped(value, withoutRight)
  return value.startsWith('/media/') ? value.split('?', 1)[0] : value
}

/** A copy with each value inside changed. */
function mapped(value: unknown, change: (inner: unknown, name: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((inner) => change(inner, ''))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, change(inner, name)]),
  )
}
