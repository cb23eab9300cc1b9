import { createHmac } from 'node:crypto'
import type { InsertObject, Kysely, Transaction } from 'kysely'
import { ConfirmedUpdates, noteCountedAnew } from '../store/confirmed-updates.ts'
import { memoryGaps, type Gap } from '../store/restored.ts'
import type { Schema } from '../store/schema.ts'
import { OvertakenError, type Store } from '../store/store.ts'
import { Listeners } from '../util/listeners.ts'
import type { JudgingClock } from '../util/clock.ts'
import {
  REPEATS,
  isSamePlace,
  isSameThing,
  mayRepeat,
  mayStillRepeat,
  oneRepeatMore,
} from './seen-rules.ts'
import type { Recognition, Rememberable, ReplayCheck, Sighting, Thing } from './sighting.ts'

const DAY_MS = 86_400_000
/** How long what was signed is remembered, in ms; an older signature counts as replayed. */
export const SEEN_FOR_MS = 30 * DAY_MS
/** A signature may be dated ahead of our clock, and clocks are set: rows outlive their use. */
const MARGIN_MS = DAY_MS
const SECRET = 'seen'
/** The flag of the time before which rows may be missing, because they were deleted. */
const PRUNED_BEFORE = 'seen_pruned_before'

/**
 * What was opened before, under keyed hashes: the memory against replays (DESIGN: Opening). A
 * Message happens once: data belongs to one chat, sender, message and update, and opens again until
 * that update is confirmed. A signature belongs to one chat and sender, and may stand on other data
 * twice more within a minute, by the dates and by our own clock, since Ed25519 signs the same words
 * within a second alike.
 */
export class ReplayMemory {
  readonly #store: Store
  readonly #key: Buffer
  readonly #gaps: readonly Gap[]
  readonly #clock: JudgingClock
  #prunedBeforeMs = -Infinity
  readonly confirmed: ConfirmedUpdates
  readonly #idsBack = new Listeners<{ updateId: number }>()
  #isCountedAnew = false

  private constructor(
    store: Store,
    { key, gaps, clock }: { key: Buffer; gaps: readonly Gap[]; clock: JudgingClock },
  ) {
    this.#store = store
    this.#key = key
    this.#gaps = gaps
    this.#clock = clock
    this.confirmed = new ConfirmedUpdates(store)
  }

  /** Calls back when update ids went back: new data is remembered under ids that were confirmed. */
  onIdsWentBack(listener: (event: { updateId: number }) => void): void {
    this.#idsBack.add(listener)
  }

  /** @throws Refusal `postern_locked` when the store has no protection */
  static async load(store: Store, clock: JudgingClock): Promise<ReplayMemory> {
    const [key, gaps] = [await store.secret(SECRET), await memoryGaps(store)]
    const memory = new ReplayMemory(store, { key, gaps, clock })
    store.follow('flags', (db) => memory.#readPruned(db))
    await store.read((db) => memory.#readPruned(db))
    return memory
  }

  async #readPruned(db: Kysely<Schema>): Promise<void> {
    const rows = db.selectFrom('flags').select('value').where('name', '=', PRUNED_BEFORE)
    this.#prunedBeforeMs = Number((await rows.executeTakeFirst())?.value ?? -Infinity)
  }

  /**
   * Whether a signature of this date would be remembered if it had been seen. What was deleted is
   * never within reach, whatever date the service gives.
   * @param nowMs by the clock that dated it: ours, or that by which words are judged
   */
  reaches(createdMs: number, nowMs = this.#clock.nowMs()): boolean {
    if (createdMs < nowMs - SEEN_FOR_MS) return false
    if (createdMs < this.#prunedBeforeMs + MARGIN_MS) return false
    return !this.#gaps.some(({ fromMs, toMs }) => createdMs >= fromMs && createdMs <= toMs)
  }

  /** Whether anything sealed of somebody's was opened in a chat, but for the bot's own. */
  async hasOpened(chatId: number, botId: number | null): Promise<boolean> {
    const found = await this.#store.read((db) =>
      db
        .selectFrom('seen')
        .select('chat_id')
        .where('chat_id', '=', chatId)
        .where('kind', '=', 'data')
        .where('user_id', '!=', botId ?? -1)
        .executeTakeFirst(),
    )
    return found !== undefined
  }

  /**
   * Runs one batch against the memory; what it remembers is on disk when this resolves.
   * @throws Refusal `postern_store_unwritable`, with nothing remembered
   */
  async batch<T>(judge: (check: ReplayCheck) => Promise<T>): Promise<T> {
    return await this.#store.note(async (db) => {
      return await judge({
        recognize: (sighting, claims) => this.#recognize(db, sighting, claims),
        remember: (sighting, as) => this.#remember(db, sighting, as),
      })
    })
  }

  /**
   * Remembers what the bot seals, before it leaves; on disk when it resolves.
   * @throws Refusal `postern_store_unwritable`
   */
  async rememberOwn(sighting: Sighting): Promise<void> {
    await this.#store.note(
      (db) =>
        db
          .insertInto('seen')
          .values(this.#rowsOf(db, sighting))
          .onConflict((conflict) => conflict.column('digest').doUpdateSet(oneRepeatMore))
          .execute(),
      { isSingle: true },
    )
  }

  /**
   * Forgets what was signed once its signatures count as replayed anyway, and unsigned data once no
   * key is left that could open it. Does nothing while the clocks disagree: one that has jumped
   * ahead would forget what is still needed.
   * @param keysSinceMs when the oldest key was made that still opens; null: keep all unsigned data
   */
  async prune(keysSinceMs: number | null): Promise<void> {
    if (!this.#clock.agree()) return
    const signedBefore = this.#clock.nowMs() - SEEN_FOR_MS - MARGIN_MS
    const unsignedBefore = Math.min(signedBefore, keysSinceMs ?? 0)
    const prunedBeforeMs = Math.max(signedBefore, this.#prunedBeforeMs)
    await this.#store.note(async (db) => {
      const { numDeletedRows } = await db
        .deleteFrom('seen')
        .where((row) =>
          row.or([
            row.and([row('seen_at', '<', signedBefore), row('is_signed', '=', 1)]),
            row('seen_at', '<', unsignedBefore),
          ]),
        )
        .executeTakeFirstOrThrow()
      if (numDeletedRows === 0n) return
      const flag = { name: PRUNED_BEFORE, value: String(prunedBeforeMs) }
      await db
        .insertInto('flags')
        .values(flag)
        .onConflict((conflict) => conflict.column('name').doUpdateSet(flag))
        .execute()
      this.#prunedBeforeMs = prunedBeforeMs
    })
  }

  async #recognize(
    db: Transaction<Schema>,
    thing: Thing,
    claims: readonly string[],
  ): Promise<Recognition> {
    const data = this.#keyed('data', thing.dataDigest)
    const signatures = [...new Set(claims)].map((claim) => this.#keyed('signature', claim))
    const found = await db
      .selectFrom('seen')
      .selectAll()
      .where('digest', 'in', [data, ...signatures])
      .execute()
    if (!found.every((row) => isSamePlace(row, thing))) return 'replayed'
    const known = found.find(({ kind }) => kind === 'data')
    if (known !== undefined) {
      if (!isSameThing(known, thing, this.#clock.expiryNowMs())) return 'replayed'
      const { updateId } = thing
      if (updateId === null || known.counted_anew === 1) return 'again'
      return (await this.confirmed.includes(db, updateId)) ? 'confirmed' : 'again'
    }
    return found.every((row) => mayRepeat(row, thing)) ? 'new' : 'replayed'
  }

  async #remember(db: Transaction<Schema>, sighting: Sighting, as: Rememberable): Promise<void> {
    if (as === 'again') {
      return await this.#bind(db, this.#keyed('data', sighting.dataDigest), sighting)
    }
    const rows = this.#rowsOf(db, sighting)
    const kept = await db
      .insertInto('seen')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('digest')
          .doUpdateSet(oneRepeatMore)
          .where((row) => mayStillRepeat(row, sighting)),
      )
      .returning('counted_anew')
      .execute()
    if (kept.length < rows.length) throw new OvertakenError()
    if (sighting.updateId === null) return
    const isAnew = kept.some(({ counted_anew: counts }) => counts === 1)
    if (isAnew) await noteCountedAnew(db)
    // the first of those that follow one another
    if (isAnew && !this.#isCountedAnew) this.#idsBack.emit({ updateId: sighting.updateId })
    this.#isCountedAnew = isAnew
  }

  /**
   * What was seen without a number of its own gets the first one that it comes under.
   * @throws OvertakenError when another transaction gave it another one since it was recognized
   */
  async #bind(db: Transaction<Schema>, digest: Buffer, sighting: Sighting): Promise<void> {
    const numbers = { message_id: sighting.messageId, update_id: sighting.updateId }
    for (const column of ['message_id', 'update_id'] as const) {
      const number = numbers[column]
      if (number === null) continue
      await db
        .updateTable('seen')
        .set({ [column]: number })
        .where('digest', '=', digest)
        .where(column, 'is', null)
        .execute()
    }
    const bound = await db
      .selectFrom('seen')
      .selectAll()
      .where('digest', '=', digest)
      .executeTakeFirst()
    if (bound === undefined || !isSameThing(bound, sighting, this.#clock.expiryNowMs()))
      throw new OvertakenError()
  }

  /** The row of its data, and that of its signature. */
  #rowsOf(db: Transaction<Schema>, sighting: Sighting): InsertObject<Schema, 'seen'>[] {
    const { chatId, userId, messageId, updateId, dateMs, dataDigest, signatureDigest } = sighting
    const common = {
      chat_id: chatId,
      message_id: messageId,
      update_id: updateId,
      media_id: sighting.mediaId ?? null,
      user_id: userId,
      seen_at: this.#clock.expiryNowMs(),
      dated_at: dateMs,
      // a repeat counts from a sighting by our own clock alone
      repeats: this.#clock.isOurs() ? 0 : REPEATS,
      is_signed: signatureDigest === null ? 0 : 1,
    }
    const data = {
      ...common,
      kind: 'data' as const,
      digest: this.#keyed('data', dataDigest),
      counted_anew: updateId === null ? 0 : this.confirmed.countsAnew(db, updateId),
    }
    if (signatureDigest === null) return [data]
    const digest = this.#keyed('signature', signatureDigest)
    return [data, { ...common, kind: 'signature', digest, counted_anew: 0 }]
  }

  #keyed(kind: string, digest: string): Buffer {
    return createHmac('sha256', this.#key).update(`${kind}:${digest}`).digest()
  }
}
