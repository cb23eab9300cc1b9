/** Polls at the bot's door: the bot's own, which are passed on, and those that share one reading. */
import { setTimeout as elapsed } from 'node:timers/promises'
import { isOwnFailure, Refusal, type RawAnswer } from '../errors.ts'
import { OWN_CALL } from '../clients/may-client.ts'
import { withUpdates } from '../translate/bot-view.ts'
import { monotonicNow } from '../util/clock.ts'
import type { Consumers, PollCaller } from './consumers.ts'
import type { LoopNews } from './delivery-loop.ts'
import { isNonsense, type AskedPoll, type QueueReader, type QueueReading } from './queue-reader.ts'
import type { Webhook } from './webhook.ts'

export interface BotPollsParts {
  reader: Pick<QueueReader, 'begin' | 'drop' | 'read' | 'most'>
  webhook: Pick<Webhook, 'own' | 'refusePoll' | 'pollsEnd'>
  consumers: Pick<Consumers, 'poll'> & { queue: Pick<Consumers['queue'], 'isShared'> }
  news: LoopNews
}

type Answered = [RawAnswer, onLeft: () => void]

/** The result of a poll of the bot's; `changed`: its updates differ from those in the answer. */
type Found = { answer: RawAnswer } & Pick<QueueReading, 'updates' | 'changed'>

/**
 * Pause after a failure: parsing megabytes of invalid JSON delays all other work, and so does
 * opening updates that then cannot be recorded.
 */
const HELD_BACK_MS = 1000
/** How long a poll that one of another replica has ended leaves that one alone. */
const GIVE_WAY_MS = 2000
/** News end no more polls than one in so long. */
const NEWS_EVERY_S = 1

export const EMPTY = {
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Buffer.from('{"ok":true,"result":[]}'),
}

export class BotPolls {
  readonly #parts: BotPollsParts
  #toldAtMs = -Infinity

  constructor(parts: BotPollsParts) {
    this.#parts = parts
  }

  /**
   * A poll of the bot's is passed on with its query untouched, and ends with an empty list, which
   * confirms nothing, when the bot sets a webhook, and when a poll reaches another sidecar, which is
   * left alone for two seconds first. While a webhook is set, and while the store's database is out of
   * reach, polls are refused.
   * @param query without the question mark
   * @returns the answer, and a callback for the time at which it has left
   * @throws NoResponseError; Refusal `bad_request`, `webhook_active`, `postern_store_unwritable`
   */
  async answer(caller: PollCaller, query: string, signal: AbortSignal): Promise<Answered> {
    const { client } = caller
    const { reader, webhook, consumers } = this.#parts
    const asked = this.#asked(query)
    const isAlone = client === null && webhook.own === null && !consumers.queue.isShared
    using _ = { [Symbol.dispose]: () => reader.drop() }
    // afterwards changes by other sidecars are known
    const lost = await reader.begin(isAlone ? asked.below : null)
    const refused = client === null ? await webhook.refusePoll(signal) : null
    if (refused !== null) return [refused, nothing]
    const set = client === null ? webhook.pollsEnd : new AbortController().signal
    const ends = AbortSignal.any([signal, lost, set])
    try {
      const answered: Answered =
        client === null
          ? await this.#answerBot(asked, ends)
          : [await withUpdates(EMPTY, await this.#share(caller, asked, ends)), nothing]
      requireReach(lost)
      return set.aborted ? [EMPTY, nothing] : answered
    } catch (error) {
      if (set.aborted) return [EMPTY, nothing]
      requireReach(lost, error)
      throw error
    }
  }

  async #share(caller: PollCaller, asked: AskedPoll, signal: AbortSignal): Promise<unknown[]> {
    this.#requireValid(asked)
    return await this.#parts.consumers.poll(caller, asked, signal)
  }

  /** What the service has and what news there are: neither waits for all of the other. */
  async #answerBot(asked: AskedPoll, signal: AbortSignal): Promise<Answered> {
    const { news } = this.#parts
    const isSoon = monotonicNow() - this.#toldAtMs < NEWS_EVERY_S * 1000
    const pending = () => news.after(Math.max(0, asked.below - 1))
    const finding =
      isSoon || news.signal.aborted
        ? this.#find(shorter(asked, isSoon ? NEWS_EVERY_S : 0), signal)
        : this.#find(asked, AbortSignal.any([signal, news.signal]))
    const { answer, updates, changed } = await finding.catch((error: unknown): Found => {
      if (signal.aborted || pending().length === 0) throw error
      return { answer: EMPTY, updates: [], changed: true }
    })
    const told = pending()
    if (told.length === 0) return [changed ? await withUpdates(answer, updates) : answer, nothing]
    this.#toldAtMs = monotonicNow()
    const limit = Math.max(1, asked.limit)
    const share = Math.floor((limit + (isSoon ? 0 : 1)) / 2)
    const heard = told.slice(0, Math.max(share, limit - updates.length))
    const all = [...heard.map(({ update }) => update), ...updates].slice(0, limit)
    return [await withUpdates(EMPTY, all), () => void news.heard(heard.map(({ id }) => id))]
  }

  async #find(asked: AskedPoll, signal: AbortSignal): Promise<Found> {
    const { reader, consumers } = this.#parts
    if (consumers.queue.isShared) {
      const updates = await this.#share(BOT_POLLS, asked, signal)
      return { answer: EMPTY, updates, changed: true }
    }
    const endsAtMs = monotonicNow() + asked.timeoutSeconds * 1000
    const read = await reader.read(asked, { signal }).catch(async (error: unknown) => {
      // a bot would repeat the poll in a tight loop
      if (isNonsense(error) || isOwnFailure(error)) {
        await elapsed(HELD_BACK_MS, undefined, { signal }).catch(nothing)
      }
      throw error
    })
    if (read.how !== 'replaced') return read
    // or two that poll would end each other's polls as fast as they can
    const leftMs = Math.max(0, endsAtMs - monotonicNow())
    await elapsed(Math.min(GIVE_WAY_MS, leftMs), undefined, { signal })
    return { answer: EMPTY, updates: [], changed: false }
  }

  /** A query that the service reads: its numbers are for our own bounds, by the highest of any reader. */
  #asked(query: string): AskedPoll {
    const { most } = this.#parts.reader
    const names = new URLSearchParams(query)
    const offsets = names.getAll('offset').map((one) => within(one || '0', Number.MAX_SAFE_INTEGER))
    return {
      query,
      below: Math.max(0, ...offsets.map(Math.floor)),
      limit: within(names.get('limit') ?? '', most.limit),
      timeoutSeconds: within(names.get('timeout') ?? '0', most.timeoutSeconds),
    }
  }

  /** By the rules of the service, which does not see this poll. @throws Refusal `bad_request` */
  #requireValid({ query }: AskedPoll): void {
    const { limit, timeoutSeconds } = this.#parts.reader.most
    const names = new URLSearchParams(query ?? '')
    for (const [name, least, most] of [
      ['offset', 0, Number.MAX_SAFE_INTEGER],
      ['limit', 1, limit],
      ['timeout', 0, timeoutSeconds],
    ] as const) {
      const text = names.get(name) ?? String(least)
      if (/^\d{1,16}$/.test(text) && Number(text) >= least && Number(text) <= most) continue
      throw new Refusal('bad_request', `${name}: expected a whole number from ${least} to ${most}`)
    }
  }
}

const nothing = (): void => {}
const BOT_POLLS = { client: null, stillMay: OWN_CALL }

/** The same poll, which waits no longer. */
function shorter(asked: AskedPoll, mostSeconds: number): AskedPoll {
  if (asked.timeoutSeconds <= mostSeconds) return asked
  const names = new URLSearchParams(asked.query ?? '')
  names.set('timeout', String(mostSeconds))
  return { ...asked, query: names.toString(), timeoutSeconds: mostSeconds }
}

/** @throws Refusal `postern_store_unwritable`: updates that cannot be opened now stay at the service */
function requireReach(lost: AbortSignal, cause?: unknown): void {
  if (!lost.aborted) return
  throw new Refusal('postern_store_unwritable', 'the database is out of reach', { cause })
}

/** Clamps a number for our own time limits; the service validates the query. */
function within(text: string, max: number): number {
  const asked = text === '' ? max : Number(text)
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), max) : 0
}
