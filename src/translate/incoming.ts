/** From the service's updates to the bot's: opened concurrently, answered in order. */
import { setTimeout as elapsed } from 'node:timers/promises'
import type { MessageOutcome } from '../store/outcomes.ts'
import { delivers, finalOf, Freshness, settle, stillStanding } from '../kernel/index.ts'
import { strangerIn, unexamined } from '../kernel/index.ts'
import type { ExamineParts, FoundMessage, JudgedMessage, KeyChange } from '../kernel/index.ts'
import type { MessagesOfUpdate, Presses, ReplayMemory, SeenUpdates } from '../kernel/index.ts'
import type { Sightings, UpdateHead, VerifyPolicy } from '../kernel/index.ts'
import { isObject } from '../api/common.ts'
import { LIMITS } from '../api/limits.ts'
import { Listeners } from '../util/listeners.ts'
import { TimeSlice } from '../util/scheduling.ts'
import { isOwnFailure, Refusal } from '../errors.ts'
import { monotonicNow } from '../util/clock.ts'
import type { KeyChanges } from './key-changes.ts'
import { Batches, type BatchRequest } from './batch.ts'
import type { Directory } from '../service/lookups/directory.ts'
import type { Modes } from '../service/lookups/modes.ts'
import { LeftUpdate, type LeavingEvent, type LeftAt } from './deferral.ts'
import type { MediaUrls } from '../attachments/media-urls.ts'
import { outcomesOf, pauseAfterMs } from './outcome.ts'
import { writeFinding } from './write-finding.ts'

export interface IncomingParts extends ExamineParts {
  directory: Directory
  modes: Modes
  /** Updates the memory with the changes of all sidecars (`Store.fresh`). */
  fresh: () => Promise<void>
  replayMemory: ReplayMemory
  keyChanges: Pick<KeyChanges, 'tell'>
  /** Setting `open.verify`. */
  verify: VerifyPolicy
  /** Setting `open.normalizeText`. */
  normalizeText: boolean
  urls: MediaUrls
  presses: Pick<Presses, 'saw'>
  /**
   * Records people's words on calls that wait for one, and gives the Messages as the bot may have them.
   * @throws Refusal `postern_store_unwritable`
   */
  hear: (update: unknown, messages: readonly JudgedMessage[]) => Promise<JudgedMessage[]>
  sightings: Pick<Sightings, 'sawUpdates'>
}

/** Updates that are opened at once: a short batch is legal. */
const LARGEST_BATCH = LIMITS.pollLimitMax

export class Incoming {
  /** Traces put a span around these calls, and replace no other method. */
  static readonly traced = ['open'] as const
  readonly #parts: IncomingParts
  readonly #batches: Batches
  readonly #judgements = new Listeners<MessageOutcome[]>()
  /** Calls back with every Message of an answer that got a verdict, in order. */
  readonly onJudged = this.#judgements.add
  readonly #strangers = new Listeners<{ chatId: number; userId: number }>()
  /** Calls back when somebody writes or presses in a private chat that is another person's. */
  readonly onStranger = this.#strangers.add
  readonly #leavings = new Listeners<LeavingEvent>()
  /** Calls back each time that an update is left at the service, and when a poll gives it again. */
  readonly onLeaving = this.#leavings.add
  readonly #left = new LeftUpdate()
  readonly #names = new Listeners<{ userId: number; username: string }[]>()
  /** Calls back with the senders of an answer's Messages and the service's handles for them. */
  readonly onNamed = this.#names.add

  constructor(parts: IncomingParts) {
    this.#parts = parts
    this.#batches = new Batches(parts)
  }

  /**
   * Opens the updates of one answer in place. Gives the longest prefix that was ready in time and is
   * recorded; nothing is dropped, and the order is kept.
   * @param unseen oldest first; those beyond a batch wait for the next poll
   * @param request the requester's signal, and whether more may wait at the service; the result is
   *   empty when the requester is gone, and while the first update waits for the service's answer
   *   about its sender
   * @returns the updates to answer, and whether any differs from the service's answer
   * @throws Refusal (`isOwnFailure`) when the first update cannot be opened, judged or recorded for
   *   a failure of our own: all updates stay at the service
   */
  async open(
    unseen: readonly UpdateHead[],
    { gone, hasMore = false }: BatchRequest = {},
  ): Promise<{ updates: unknown[]; changed: boolean }> {
    const startedAtMs = monotonicNow()
    const ending: { left: LeftAt | null } = { left: null }
    let found: readonly MessagesOfUpdate[] = []
    const leave: Leave = ({ index, why }) => {
      const chatId = found[index]?.updateChatId ?? null
      ending.left = { updateId: unseen[index]?.updateId ?? 0, chatId, why }
    }
    const request = { gone, hasMore: hasMore || unseen.length > LARGEST_BATCH, onLeft: leave }
    const opening = async () => {
      const { freshness, ...seen } = await this.#see(unseen)
      found = seen.found
      if (seen.recorded === 0 && seen.failure !== undefined) throw seen.failure
      return { ...seen, ...(await this.#writeAll(seen, freshness, request)) }
    }
    const { updates, prefix, renamed } = await opening().catch((error: unknown) => {
      if (isOwnFailure(error) && unseen.length > 0) {
        leave({ index: 0, why: 'ours' })
        this.#tellLeaving([], ending.left)
      }
      throw error
    })
    const given = updates.slice(0, prefix.length)
    this.#tellLeaving(given.map(idOf), ending.left)
    const judged = prefix.flat()
    const outcomes = judged.flatMap((one) => outcomesOf(one, this.#parts.verify))
    this.#judgements.emit(outcomes)
    this.#names.emit(judged.flatMap((one) => namedSender(one.found)))
    await this.#parts.presses.saw(
      given.map((update, index) => ({ update, chatId: found[index]?.updateChatId ?? null })),
    )
    const touched = judged.some(({ finding }) => finding.kind !== 'untouched')
    const cleaned = found.some((one) => one.cleaned || one.surplus.length > 0)
    const changed = touched || cleaned || renamed || given.length < unseen.length
    const restMs = pauseAfterMs(outcomes, monotonicNow() - startedAtMs)
    if (restMs > 0) await elapsed(restMs, undefined, { signal: gone }).catch(() => undefined)
    return { updates: given, changed }
  }

  /** Records the facts in updates about chats, before anything of them is used. */
  async #see(unseen: readonly UpdateHead[]): Promise<SeenUpdates & { freshness: Freshness }> {
    const { clock, time, fresh, sightings, botId } = this.#parts
    if (!clock.isKnown()) throw new Refusal('postern_clock_wrong')
    const freshness = new Freshness(fresh, time)
    const how = { most: LARGEST_BATCH, freshness, botId: botId() }
    return { ...(await sightings.sawUpdates(unseen, how)), freshness }
  }

  /**
   * Records the updates to deliver, then writes their findings into them; announces none yet.
   * @returns those to answer; `renamed`: urls in them differ from the service's
   */
  async #writeAll(
    seen: SeenUpdates,
    freshness: Freshness,
    request: BatchRequest & { onLeft: Leave },
  ): Promise<{ prefix: JudgedMessage[][]; renamed: boolean }> {
    const { updates, found } = seen
    const settled = await this.#settleAll(seen, freshness, request)
    const prefix: JudgedMessage[][] = []
    for (const one of settled) prefix.push(await this.#parts.hear(updates[prefix.length], one))
    const answered = found.slice(0, prefix.length)
    for (const [index, { surplus, restore }] of answered.entries()) {
      const judged = prefix[index] ?? []
      await this.#write(judged, surplus)
      const withVerdict = judged.filter(({ final }) => final !== null)
      restore(new Set([...withVerdict.map((one) => one.found.message), ...surplus]))
    }
    const { changed: renamed, count } = await this.#parts.urls.rewrite(
      answered.map(({ updateChatId }, index) => ({ update: updates[index], chatId: updateChatId })),
    )
    if (count < answered.length) request.onLeft({ index: count, why: 'ours' })
    return { prefix: prefix.slice(0, count), renamed }
  }

  /** Examines updates concurrently and records those to deliver; none of them is changed yet. */
  async #settleAll(
    { updates, found, recorded }: SeenUpdates,
    freshness: Freshness,
    request: BatchRequest & { onLeft: Leave },
  ): Promise<JudgedMessage[][]> {
    const learned = found.slice(0, recorded).map(({ messages }) => messages)
    this.#learn(learned.flat())
    if (recorded < found.length) request.onLeft({ index: recorded, why: 'ours' })
    const hasMore = request.hasMore === true || recorded < found.length
    const finished = await this.#batches.examine(learned, { ...request, hasMore })
    await freshness.renew()
    const prefix = stillStanding(finished, this.#parts).map((messages, index) =>
      messages.map((one) => ({ ...one, updateId: idOf(updates[index]) })),
    )
    const slice = new TimeSlice()
    const settled = await settle(prefix, this.#parts, () => slice.yieldIfOver())
    const { length } = settled
    if (length < prefix.length) request.onLeft({ index: length, why: 'ours' })
    return settled
  }

  #tellLeaving(answered: number[], left: LeftAt | null): void {
    for (const event of this.#left.record(answered, left)) this.#leavings.emit(event)
  }

  /**
   * The changed certificate to report in a Message, the first of its person that is delivered or withheld
   * for that change: a forged Message, which a bot ignores, does not use up the report.
   */
  async #keyChanged({ found, final, updateId }: JudgedMessage): Promise<KeyChange[]> {
    const { fromId, chatId, position } = found
    if (fromId === null || chatId === null || position !== 'top' || final === null) return []
    if (!delivers(final, this.#parts.verify) && final.reason !== 'key-changed') return []
    const about = { chatId, by: 'message', key: String(updateId) } as const
    return await this.#parts.keyChanges.tell([fromId], about)
  }

  /** Applies notices in updates: a notice makes lists and modes of its chat stale. */
  #learn(found: FoundMessage[]): void {
    const { directory, modes } = this.#parts
    for (const one of found) {
      const { chatId, fromId, isOrdinary } = one
      if (chatId === null) continue
      const userId = isOrdinary ? strangerIn(one, this.#parts) : null
      if (userId !== null) this.#strangers.emit({ chatId, userId })
      if (!isOrdinary) modes.forget(chatId)
      if (!isOrdinary || (fromId !== null && fromId !== this.#parts.botId())) {
        directory.sawPerson(chatId, isOrdinary ? fromId : null)
      }
    }
  }

  /** Writes the findings of an update into it. @param surplus those that were not examined */
  async #write(messages: JudgedMessage[], surplus: MessagesOfUpdate['surplus']): Promise<void> {
    const { verify, normalizeText } = this.#parts
    for (const one of messages) {
      const keyChanged = await this.#keyChanged(one)
      writeFinding(one.found.message, one, { verify, normalizeText, keyChanged })
    }
    for (const message of surplus) {
      const finding = unexamined(message, 'too-many-messages')
      const judged = { finding, final: finalOf(finding, undefined) }
      writeFinding(message, judged, { verify, normalizeText })
    }
  }
}

type Leave = NonNullable<BatchRequest['onLeft']>

function idOf(update: unknown): number {
  const id = isObject(update) ? update['updateId'] : null
  return Number.isSafeInteger(id) ? (id as number) : 0
}

function namedSender({ fromId, position, message }: FoundMessage) {
  const { from } = message
  if (fromId === null || position !== 'top' || !isObject(from)) return []
  const { username } = from
  return typeof username === 'string' ? [{ userId: fromId, username }] : []
}
