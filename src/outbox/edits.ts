/**
 * Edits of one message that follow each other quickly, as of an answer that streams (setting
 * `outbox.coalesceEdits`): one call at a time, at a pace for which the service's windows have room.
 */
import type { Limits } from '../api/limits.ts'
import type { KnownChats } from '../kernel/index.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import type { Clock } from '../util/clock.ts'
import { Mutex } from '../util/scheduling.ts'
import { parseBody } from '../util/exact-json.ts'
import type { OutboxEntries } from './entries.ts'
import { isTimed, type OutboxEntry } from './entry.ts'

/** A message of a caller; `messageId` null: it is not sent yet. */
export type EditPlace = Pick<OutboxEntry, 'credential' | 'chatId' | 'messageId'>

type Entries = Pick<OutboxEntries, 'waiting' | 'words' | 'change'>

export interface EditsParts {
  /** Setting `outbox.coalesceEdits`. */
  isOn: boolean
  limits: () => Limits
  knownChats: Pick<KnownChats, 'get'>
  clock: Pick<Clock, 'monotonicNow'>
}

/** Messages that were edited lately. */
const KEPT = 4096
/** Between two edits of a message at least, where the windows have room for more. */
const LEAST_MS = 1000
/** After so long without a newer edit, the pace may use the room that it keeps. */
const QUIET_MS = 1500

export const keyOf = ({ credential, chatId, messageId }: EditPlace): string =>
  `${credential} ${chatId} ${messageId}`

/** Whether an entry may replace another, and be replaced. */
const mayCoalesce = ({ messageId, state, approval, call, ...times }: OutboxEntry): boolean =>
  messageId !== null &&
  state === 'waiting' &&
  approval === null &&
  call !== 'open' &&
  !isTimed(times)

const fieldsOf = (words: Buffer | null): string[] => Object.keys(Object(parseBody(words ?? EMPTY)))
const EMPTY = Buffer.from('{}')

const untouched = () => ({ order: new Mutex(), open: 0, acceptedMs: -Infinity })

export class Edits {
  readonly isOn: boolean
  readonly #parts: EditsParts
  /** Those at the door by message, and when the service accepted the last. */
  readonly #messages = new BoundedMap<string, ReturnType<typeof untouched>>(KEPT)

  constructor(parts: EditsParts) {
    this.isOn = parts.isOn
    this.#parts = parts
  }

  #of(place: EditPlace) {
    const message = this.#messages.get(keyOf(place)) ?? untouched()
    if (this.isOn && place.messageId !== null) this.#messages.set(keyOf(place), message)
    return message
  }

  /**
   * Runs the edits of a message one after the other, in the order of the calls.
   * @param edit `isBehind`: it waited for another
   */
  async inOrder<T>(place: EditPlace, edit: (isBehind: boolean) => Promise<T>): Promise<T> {
    const message = this.#of(place)
    const isBehind = message.open++ > 0
    return await message.order.run(() => edit(isBehind)).finally(() => message.open--)
  }

  /**
   * Replaces the waiting edits of the same message and caller whose every field a newer one has too.
   * @returns their ids
   */
  async replaceOlder(newer: OutboxEntry, entries: Entries): Promise<string[]> {
    const replaced: string[] = []
    if (!this.isOn || !mayCoalesce(newer)) return replaced
    const fields = new Set(fieldsOf(await entries.words(newer.id)))
    const end = { replacedBy: newer.id, settledAtMs: newer.createdAtMs, isHeard: false }
    const how = { state: 'replaced', ...end } as const
    for (const { id, number, ...older } of entries.waiting) {
      if (number >= newer.number || keyOf(older) !== keyOf(newer)) continue
      if (!fieldsOf(await entries.words(id)).every((name) => fields.has(name))) continue
      if (await entries.change(id, (now) => (mayCoalesce(now) ? how : null))) replaced.push(id)
    }
    return replaced
  }

  /** Records the answer to a call. @returns whether it is an edit that the service's rate refuses */
  answered(place: EditPlace, { status }: { status: number }): boolean {
    if (status < 300) this.#of(place).acceptedMs = this.#parts.clock.monotonicNow()
    return this.isOn && place.messageId !== null && status === 429
  }

  /**
   * How long an edit still waits for the pace of its message, in ms; at most 0: no more.
   * @param waitedMs since it was given
   */
  untilFreeMs(place: EditPlace, waitedMs: number): number {
    const { acceptedMs } = this.#messages.get(keyOf(place)) ?? {}
    if (acceptedMs === undefined) return 0
    const { limits, knownChats, clock } = this.#parts
    const { sendsPerPrivatePerSecond, sendsPerGroupPerMinute } = limits()
    const isPrivate = knownChats.get(place.chatId)?.kind === 'private'
    const evenMs = isPrivate ? 1000 / sendsPerPrivatePerSecond : 60_000 / sendsPerGroupPerMinute
    const sinceMs = clock.monotonicNow() - acceptedMs
    const leastMs = Math.min(evenMs, LEAST_MS) - sinceMs
    return Math.max(leastMs, Math.min(evenMs - sinceMs, QUIET_MS - waitedMs))
  }
}
