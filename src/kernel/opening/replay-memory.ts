import { createHmac } from 'node:crypto'
import type { Gap, Memory, NewSeen, Records } from '../memory.ts'
import { Listeners } from '../../util/listeners.ts'
import type { JudgingClock } from '../clocks.ts'
import { ConfirmedUpdates } from './confirmed-updates.ts'
import { REPEATS, replayCheck, type Met, type ReplayCheck, type Sighting } from './seen-rules.ts'

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
 * The memory against replays, under keyed hashes. Data belongs to one chat, sender, message and update,
 * and opens again until that update is confirmed. A signature belongs to one chat and sender, and may
 * repeat on other data twice within a minute, since Ed25519 signs the same words within a second alike.
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

  /**
   * Runs a batch in one write.
   * @param met those of which `judge` will ask, so that one question asks of all of them
   * @throws Refusal `postern_store_unwritable`, with nothing remembered
   */
  async batch<T>(judge: (check: ReplayCheck) => Promise<T>, met: readonly Met[] = []): Promise<T> {
    const parts = {
      ...this.#parts,
      confirmed: this.confirmed,
      rowsOf: (sighting: Sighting) => this.#rowsOf(sighting),
      digestsOf: (one: Met) => this.#digestsOf(one),
      nowMs: () => this.#memory.nowMs(),
    }
    const digests = met.flatMap((one) => this.#digestsOf(one))
    let isNew = this.#memory.isShared
    return await this.#memory.note(async (records) => {
      const isSupposed = isNew && records.seen.suppose(digests)
      isNew = false
      if (!isSupposed) await records.seen.expect(digests)
      const result = await judge(replayCheck(records, parts))
      await this.#finish(records)
      return result
    })
  }

  /** Remembers own data before it leaves. @throws Refusal `postern_store_unwritable` */
  async rememberOwn(sighting: Sighting): Promise<void> {
    const known = this.#rowsOf(sighting)
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

  async #finish({ seen, confirmed }: Records): Promise<void> {
    const updates = await seen.finish()
    if (updates.length === 0) return
    const anew = updates.find(({ isCountedAnew }) => isCountedAnew)
    if (anew !== undefined) await confirmed.noteCountedAnew()
    if (anew !== undefined && !this.#isCountedAnew) this.#idsBack.emit({ updateId: anew.updateId })
    this.#isCountedAnew = anew !== undefined
  }

  /** The data first. */
  #rowsOf(sighting: Sighting): [NewSeen, ...NewSeen[]] {
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

  /** Of the data, then of each statement. */
  #digestsOf({ dataDigest, signatures }: Met): Buffer[] {
    const claims = new Set(signatures.map(({ digest }) => digest))
    const ofSignatures = [...claims].map((claim) => this.#keyed('signature', claim))
    return [this.#keyed('data', dataDigest), ...ofSignatures]
  }

  #keyed(kind: string, digest: string): Buffer {
    return createHmac('sha256', this.#parts.key).update(`${kind}:${digest}`).digest()
  }
}
