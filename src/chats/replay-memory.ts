import { createHmac } from 'node:crypto'
import type { ExpressionBuilder, Insertable, Kysely, Transaction } from 'kysely'
import { FIXED_LIMITS } from '../api/limits.ts'
import { memoryGaps, type Gap } from '../store/restored.ts'
import type { Schema, SeenTable } from '../store/schema.ts'
import { OvertakenError, type Store } from '../store/store.ts'
import type { JudgingClock } from '../util/wall-clock.ts'

const DAY_MS = 86_400_000
/** How long what was signed is remembered, in ms; an older signature counts as replayed. */
export const SEEN_FOR_MS = 30 * DAY_MS
/** A signature may be dated ahead of our clock, and clocks are set: rows outlive their use. */
const MARGIN_MS = DAY_MS
/**
 * How often one person may sign the same words anew in one chat, and within which time: by the dates
 * of the Messages, and by when we saw them.
 */
const REPEATS = 2
const REPEATS_WITHIN_MS = 60_000
/** How long after it was seen as a quotation alone the update may come that brings a Message. */
const BROUGHT_WITHIN_MS = FIXED_LIMITS.retentionMs + MARGIN_MS
const SECRET = 'seen'
/** The flag of the time before which rows may be missing, because they were deleted. */
const PRUNED_BEFORE = 'seen_pruned_before'

/** A message or an attachment as what was opened claims to be. */
export interface Sighting {
  chatId: number
  /**
   * The update that brought it as its own Message; null for what another Message carries, for an
   * attachment, and for what we sealed.
   */
  updateId: number | null
  /** Null for a quotation that names no message, and for what we sealed, not numbered yet. */
  messageId: number | null
  /** Of an attachment, whichever message it came with; absent for a message. */
  mediaId?: string
  userId: number | null
  /** When the Message says that it was written, ms since the epoch; null for an attachment. */
  dateMs: number | null
  /** SHA-256 of the de-framed encrypted data, hex. */
  dataDigest: string
  /** Digest of the statement that was verified, hex; null when nothing was. */
  signatureDigest: string | null
}

/**
 * `again`: the same was seen before, and is asked for again or quoted. `replayed`: its data or a
 * signature of it was seen as something else. `new`: neither.
 */
export type Recognition = 'new' | 'again' | 'replayed'

/** Used within a batch's one transaction, in the order of its messages. */
export interface ReplayCheck {
  /** @param signatureDigests of all statements that it claims to carry, hex */
  recognize(sighting: Thing, signatureDigests: readonly string[]): Promise<Recognition>
  /** Remembers it as delivered. @param as the answer of `recognize` */
  remember(sighting: Sighting, as: Exclude<Recognition, 'replayed'>): Promise<void>
}

/**
 * What was opened before, under keyed hashes: the memory against replays (DESIGN: Opening). A
 * Message happens once: data belongs to one chat, sender, message and update. A signature belongs
 * to one chat and sender, and may stand on other data twice more within a minute, by the dates and by
 * our own clock, since Ed25519 signs the same words within a second alike.
 */
export class ReplayMemory {
  readonly #store: Store
  readonly #key: Buffer
  readonly #gaps: readonly Gap[]
  readonly #clock: JudgingClock
  #prunedBeforeMs = -Infinity

  private constructor(
    store: Store,
    { key, gaps, clock }: { key: Buffer; gaps: readonly Gap[]; clock: JudgingClock },
  ) {
    this.#store = store
    this.#key = key
    this.#gaps = gaps
    this.#clock = clock
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
   */
  reaches(createdMs: number): boolean {
    if (createdMs < this.#clock.nowMs() - SEEN_FOR_MS) return false
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
    return await this.#store.note(async (db) =>
      judge({
        recognize: (sighting, claims) => this.#recognize(db, sighting, claims),
        remember: (sighting, as) => this.#remember(db, sighting, as),
      }),
    )
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
          .values(this.#rowsOf(sighting))
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
    if (known !== undefined)
      return isSameThing(known, thing, this.#clock.expiryNowMs()) ? 'again' : 'replayed'
    return found.every((row) => mayRepeat(row, thing)) ? 'new' : 'replayed'
  }

  async #remember(
    db: Transaction<Schema>,
    sighting: Sighting,
    as: Exclude<Recognition, 'replayed'>,
  ): Promise<void> {
    if (as === 'again') {
      return await this.#bind(db, this.#keyed('data', sighting.dataDigest), sighting)
    }
    const rows = this.#rowsOf(sighting)
    const kept = await db
      .insertInto('seen')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('digest')
          .doUpdateSet(oneRepeatMore)
          .where((row) => mayStillRepeat(row, sighting)),
      )
      .returning('digest')
      .execute()
    if (kept.length < rows.length) throw new OvertakenError()
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
  #rowsOf(sighting: Sighting): Insertable<SeenTable>[] {
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
    const data = { ...common, kind: 'data' as const, digest: this.#keyed('data', dataDigest) }
    if (signatureDigest === null) return [data]
    const digest = this.#keyed('signature', signatureDigest)
    return [data, { ...common, kind: 'signature', digest }]
  }

  #keyed(kind: string, digest: string): Buffer {
    return createHmac('sha256', this.#key).update(`${kind}:${digest}`).digest()
  }
}

type Thing = Omit<Sighting, 'signatureDigest'>
type SeenRow = Pick<
  SeenTable,
  'chat_id' | 'message_id' | 'update_id' | 'media_id' | 'user_id' | 'dated_at' | 'seen_at'
> & { repeats: number }

type SeenExpression = ExpressionBuilder<Schema, 'seen'>

const oneRepeatMore = (row: SeenExpression) => ({ repeats: row('seen.repeats', '+', 1) })

/** The rules of `isSamePlace` and `mayRepeat` for a signature, as the database applies them. */
function mayStillRepeat(row: SeenExpression, sighting: Sighting) {
  const { chatId, userId, dateMs, mediaId } = sighting
  const isFile = mediaId !== undefined
  const within = (column: 'seen.dated_at' | 'seen.seen_at', ms: number) => [
    row(column, '>=', ms - REPEATS_WITHIN_MS),
    row(column, '<=', ms + REPEATS_WITHIN_MS),
  ]
  const times =
    isFile || dateMs === null
      ? []
      : [...within('seen.dated_at', dateMs), ...within('seen.seen_at', Date.now())]
  return row.and([
    row('seen.kind', '=', 'signature'),
    row('seen.repeats', '<', isFile || dateMs !== null ? REPEATS : 0),
    row('seen.chat_id', '=', chatId),
    userId === null ? row('seen.user_id', 'is', null) : row('seen.user_id', '=', userId),
    row('seen.media_id', isFile ? 'is not' : 'is', null),
    ...times,
  ])
}

function isSamePlace(row: SeenRow, { chatId, userId, mediaId }: Thing): boolean {
  const isSameKind = (row.media_id === null) === (mediaId === undefined)
  return isSameKind && row.chat_id === chatId && row.user_id === userId
}

/** Of data that was seen in the same place. */
function isSameThing(
  row: SeenRow,
  { mediaId, messageId, updateId }: Thing,
  nowMs: number,
): boolean {
  if (mediaId !== undefined) return row.media_id === mediaId
  const isSameMessage = row.message_id === null || row.message_id === messageId
  // the update that brings a Message is queued before anything can quote it, and for so long alone
  const isTooLate = row.seen_at < nowMs - BROUGHT_WITHIN_MS
  const isOtherUpdate = updateId !== null && row.update_id !== updateId
  if (isOtherUpdate && (row.update_id !== null || isTooLate)) return false
  return isSameMessage
}

/** Whether a signature may be on other data than before: the same words, sent twice. */
function mayRepeat(row: SeenRow, { mediaId, dateMs }: Thing): boolean {
  if (row.repeats >= REPEATS) return false
  if (mediaId !== undefined) return true
  if (dateMs === null || row.dated_at === null) return false
  const isWithin = (oneMs: number, otherMs: number): boolean =>
    Math.abs(oneMs - otherMs) <= REPEATS_WITHIN_MS
  return isWithin(dateMs, row.dated_at) && isWithin(Date.now(), row.seen_at)
}
