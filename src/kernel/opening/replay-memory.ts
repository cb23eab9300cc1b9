import { createHmac } from 'node:crypto'
import { OvertakenError } from '../../errors.ts'
import type { Gap, Memory, NewSeen, Records } from '../memory.ts'
import { Listeners } from '../../util/listeners.ts'
import type { JudgingClock } from '../lookups.ts'
import {
  REPEATS,
  isSamePlace,
  isSameThing,
  mayRepeat,
  repeatRule,
  type Recognition,
  type Rememberable,
  type ReplayCheck,
  type Sighting,
  type Thing,
} from './seen-rules.ts'
import { ConfirmedUpdates } from './confirmed-updates.ts'

const DAY_MS = 86_400_000
/** How long signatures are remembered, in ms; an older one counts as replayed. */
export const SEEN_FOR_MS = 30 * DAY_MS
/** Rows outlive their use: a signature may be dated ahead of our clock, and clocks are set. */
const MARGIN_MS = DAY_MS

export interface ReplayMemoryParts {
  key: Buffer
  gaps: readonly Gap[]
  clock: JudgingClock
}

/**
 * The memory against replays, under keyed hashes (DESIGN: Opening). Data belongs to one chat, sender,
 * message and update, and opens again until that update is confirmed. A signature belongs to one chat
 * and sender, and may repeat on other data twice within a minute, since Ed25519 signs the same words
 * within a second alike.
 */
export class ReplayMemory {
  readonly #memory: Memory
  readonly #parts: ReplayMemoryParts
  #prunedBeforeMs = -Infinity
  readonly confirmed: ConfirmedUpdates
  readonly #idsBack = new Listeners<{ updateId: number }>()
  /** Calls back when update ids went back: new data arrives under confirmed ids. */
  readonly onIdsWentBack = this.#idsBack.add
  #isCountedAnew = false

  private constructor(memory: Memory, parts: ReplayMemoryParts) {
    this.#memory = memory
    this.#parts = parts
    this.confirmed = new ConfirmedUpdates(memory)
  }

  static async load(memory: Memory, parts: ReplayMemoryParts): Promise<ReplayMemory> {
    const replays = new ReplayMemory(memory, parts)
    await memory.keep('flags', async ({ seen }) => {
      replays.#prunedBeforeMs = await seen.prunedBeforeMs()
    })
    return replays
  }

  /**
   * Whether memory reaches back to a signature of this date.
   * @param nowMs by the clock that dated it: ours, or that by which words are judged
   */
  reaches(createdMs: number, nowMs = this.#parts.clock.nowMs()): boolean {
    if (createdMs < Math.max(nowMs - SEEN_FOR_MS, this.#prunedBeforeMs + MARGIN_MS)) return false
    return !this.#parts.gaps.some(({ fromMs, toMs }) => createdMs >= fromMs && createdMs <= toMs)
  }

  /** Whether sealed data of anybody but the bot was opened in a chat. */
  async hasOpened(chatId: number, botId: number | null): Promise<boolean> {
    return await this.#memory.read(({ seen }) => seen.hasOpened(chatId, botId ?? -1))
  }

  /** Runs a batch in one write. @throws Refusal `postern_store_unwritable`, with nothing remembered */
  async batch<T>(judge: (check: ReplayCheck) => Promise<T>): Promise<T> {
    return await this.#memory.note(async (records) => {
      return await judge({
        recognize: (sighting, claims) => this.#recognize(records, sighting, claims),
        remember: (sighting, as) => this.#remember(records, sighting, as),
      })
    })
  }

  /** Remembers own data before it leaves. @throws Refusal `postern_store_unwritable` */
  async rememberOwn(sighting: Sighting): Promise<void> {
    const known = this.#seenIn(sighting)
    await this.#memory.note(({ seen }) => seen.addOwn(known), { isSingle: true })
  }

  /**
   * Forgets signed data beyond the reach, and unsigned data that no key can open any more. Does nothing
   * while the clocks disagree: a clock that jumped ahead would forget too much.
   * @param keysSinceMs when the oldest key was made that still opens; null: keep all unsigned data
   */
  async prune(keysSinceMs: number | null): Promise<void> {
    const signedMs = this.#parts.clock.nowMs() - SEEN_FOR_MS - MARGIN_MS
    const range = { fromMs: 0, signedMs, allMs: Math.min(signedMs, keysSinceMs ?? 0) }
    while (range.fromMs < signedMs && this.#parts.clock.agree()) {
      const { isAny, nextMs } = await this.#memory.note(async ({ seen }) => {
        const slice = await seen.forgetSome(range)
        if (slice.isAny && this.#prunedBeforeMs < signedMs) await seen.setPrunedBeforeMs(signedMs)
        return slice
      })
      if (isAny) this.#prunedBeforeMs = Math.max(signedMs, this.#prunedBeforeMs)
      range.fromMs = nextMs
    }
  }

  async #recognize(
    records: Records,
    thing: Thing,
    claims: readonly string[],
  ): Promise<Recognition> {
    const data = this.#keyed('data', thing.dataDigest)
    const signatures = [...new Set(claims)].map((claim) => this.#keyed('signature', claim))
    const found = await records.seen.find([data, ...signatures])
    if (!found.every((seen) => isSamePlace(seen, thing))) return 'replayed'
    const known = found.find(({ kind }) => kind === 'data')
    if (known !== undefined) {
      if (!isSameThing(known, thing, this.#parts.clock.expiryNowMs())) return 'replayed'
      const { updateId } = thing
      if (updateId === null || known.isCountedAnew) return 'again'
      return (await this.confirmed.includes(records, updateId)) ? 'confirmed' : 'again'
    }
    const rule = repeatRule(thing, this.#memory.nowMs())
    return found.every((seen) => mayRepeat(seen, rule)) ? 'new' : 'replayed'
  }

  async #remember(records: Records, sighting: Sighting, as: Rememberable): Promise<void> {
    if (as === 'again') {
      return await this.#bind(records, this.#keyed('data', sighting.dataDigest), sighting)
    }
    const seen = this.#seenIn(sighting)
    const rule = repeatRule(sighting, this.#memory.nowMs())
    const kept = await records.seen.add(seen, { rule, heldBelow: this.confirmed.heldBelow })
    if (kept.length < seen.length) throw new OvertakenError()
    if (sighting.updateId === null) return
    const isAnew = kept.some(({ isCountedAnew }) => isCountedAnew)
    if (isAnew) await records.confirmed.noteCountedAnew()
    if (isAnew && !this.#isCountedAnew) this.#idsBack.emit({ updateId: sighting.updateId })
    this.#isCountedAnew = isAnew
  }

  /** Numbers data that has no number yet. @throws OvertakenError when another transaction has */
  async #bind({ seen }: Records, digest: Buffer, sighting: Sighting): Promise<void> {
    const bound = await seen.bind(digest, sighting)
    if (bound === undefined || !isSameThing(bound, sighting, this.#parts.clock.expiryNowMs()))
      throw new OvertakenError()
  }

  #seenIn(sighting: Sighting): NewSeen[] {
    const { chatId, userId, messageId, updateId, dateMs, dataDigest, signatureDigest } = sighting
    const common = {
      chatId,
      messageId,
      updateId,
      mediaId: sighting.mediaId ?? null,
      userId,
      seenAtMs: this.#parts.clock.expiryNowMs(),
      datedAtMs: dateMs,
      // a repeat counts by our own clock alone
      repeats: this.#parts.clock.isOurs() ? 0 : REPEATS,
      isSigned: signatureDigest !== null,
    }
    const data = { ...common, kind: 'data' as const, digest: this.#keyed('data', dataDigest) }
    if (signatureDigest === null) return [data]
    const digest = this.#keyed('signature', signatureDigest)
    return [data, { ...common, kind: 'signature', digest }]
  }

  #keyed(kind: string, digest: string): Buffer {
    return createHmac('sha256', this.#parts.key).update(`${kind}:${digest}`).digest()
  }
}
