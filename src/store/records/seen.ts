import { sql } from 'kysely'
import type { Expression, ExpressionBuilder, InsertObject, Kysely } from 'kysely'
import type { ForgettingRange, ForgottenSlice } from '../../kernel/index.ts'
import type { NewSeen, SeenRecord, SeenRecords } from '../../kernel/index.ts'
import type { SignatureRepeatRule } from '../../kernel/index.ts'
import { OvertakenError } from '../../errors.ts'
import type { Schema } from '../schema.ts'
import { Rows, chunksOf, readFlag, writeFlag } from './rows.ts'

/** The flag of the time before which rows may be missing, because they were deleted. */
const PRUNED_BEFORE = 'seen_pruned_before'

/** Rows that one transaction deletes, in a few ms. */
const FORGOTTEN_AT_ONCE = 100
/** Far below SQLite's limit of variables in one statement. */
const ROWS_AT_ONCE = 500

const keyOf = (digest: Uint8Array): string => Buffer.from(digest).toString('latin1')

type SeenExpression = ExpressionBuilder<Schema, 'seen'>

/** Sealed data and signatures that were met. */
export class SeenRows extends Rows implements SeenRecords {
  /** As of this transaction, by digest; null: there is none. Without those that are due. */
  readonly #known = new Map<string, SeenRecord | null>()
  /** New rows, by digest, that one statement writes. */
  readonly #due = new Map<string, NewSeen>()
  #heldBelow = 0
  /** Without rows, as is checked when the first of them is written; null: they were read. */
  #supposed: readonly Uint8Array[] | null = null
  readonly #updates: { updateId: number; isCountedAnew: boolean }[] = []

  async expect(digests: readonly Uint8Array[]): Promise<void> {
    const unread = digests.filter((digest) => !this.#known.has(keyOf(digest)))
    for (const some of chunksOf(unread, ROWS_AT_ONCE)) {
      const rows = await this.db
        .selectFrom('seen')
        .select(['digest', 'kind', 'chat_id as chatId', 'message_id as messageId', 'repeats'])
        .select(['update_id as updateId', 'media_id as mediaId', 'user_id as userId'])
        .select(['seen_at as seenAtMs', 'dated_at as datedAtMs', 'is_signed', 'counted_anew'])
        .where('digest', 'in', some)
        .execute()
      for (const digest of some) this.#known.set(keyOf(digest), null)
      for (const { is_signed, counted_anew, ...row } of rows) {
        const record = { ...row, isSigned: is_signed === 1, isCountedAnew: counted_anew === 1 }
        this.#known.set(keyOf(row.digest), record)
      }
    }
  }

  suppose(digests: readonly Uint8Array[]): boolean {
    if (digests.length === 0 || digests.length > ROWS_AT_ONCE) return false
    this.#supposed = digests
    for (const digest of digests) this.#known.set(keyOf(digest), null)
    return true
  }

  async find(digests: readonly Uint8Array[]): Promise<SeenRecord[]> {
    if (digests.some((digest) => this.#due.has(keyOf(digest)))) await this.#writeDue()
    await this.expect(digests)
    return digests.flatMap((digest) => this.#known.get(keyOf(digest)) ?? [])
  }

  async addOwn(seen: readonly NewSeen[]): Promise<void> {
    await this.db
      .insertInto('seen')
      .values(seen.map((one) => rowOf(one, sql.lit(0))))
      .onConflict((conflict) => conflict.column('digest').doUpdateSet(oneRepeatMore))
      .execute()
  }

  async add(
    seen: readonly NewSeen[],
    { rule, heldBelow }: { rule: SignatureRepeatRule; heldBelow: number },
  ): Promise<void> {
    this.#heldBelow = heldBelow
    const isNew = ({ digest }: NewSeen): boolean =>
      this.#known.get(keyOf(digest)) === null && !this.#due.has(keyOf(digest))
    if (seen.every(isNew)) return seen.forEach((one) => this.#due.set(keyOf(one.digest), one))
    await this.#writeDue()
    await this.#insert(seen, rule)
  }

  async finish(): Promise<{ updateId: number; isCountedAnew: boolean }[]> {
    await this.#writeDue()
    if (this.#supposed !== null) throw new OvertakenError()
    return this.#updates
  }

  async #writeDue(): Promise<void> {
    const due = [...this.#due.values()]
    this.#due.clear()
    if (due.length > 0 && due.length <= ROWS_AT_ONCE && this.#supposed !== null) {
      return await this.#insertSupposed(due, this.#supposed)
    }
    for (const some of chunksOf(due, ROWS_AT_ONCE)) await this.#insert(some, null)
  }

  /** Fails, and the transaction with it, where there are rows, or their updates are confirmed. */
  async #insertSupposed(due: NewSeen[], supposed: readonly Uint8Array[]): Promise<void> {
    const ids = due.flatMap(({ updateId, kind }) => (kind === 'data' ? (updateId ?? []) : []))
    const firstId = Math.min(...ids, Number.MAX_SAFE_INTEGER)
    if (firstId < this.#heldBelow) throw new OvertakenError()
    const seen = this.db.selectFrom('seen').select('digest').where('digest', 'in', supposed)
    const confirmed = this.db.selectFrom('confirmed').select('id').where('below', '>', firstId)
    const nothing = sql<number>`0 / (CASE WHEN EXISTS (${seen}) OR EXISTS (${confirmed}) THEN 0 ELSE 1 END)`
    const rows = due.map((one, at) => rowOf(one, at === 0 ? nothing : sql.lit(0)))
    await this.db.insertInto('seen').values(rows).execute()
    this.#supposed = null
    for (const { digest } of due) this.#known.delete(keyOf(digest))
    for (const updateId of ids) this.#updates.push({ updateId, isCountedAnew: false })
  }

  /** @param rule null: each must be new */
  async #insert(seen: readonly NewSeen[], rule: SignatureRepeatRule | null): Promise<void> {
    const kept = await this.db
      .insertInto('seen')
      .values(seen.map((one) => rowOf(one, countsAnew(this.db, one, this.#heldBelow))))
      .onConflict((conflict) =>
        rule === null
          ? conflict.doNothing()
          : conflict
              .column('digest')
              .doUpdateSet(oneRepeatMore)
              .where((row) => mayRepeat(row, rule)),
      )
      .returning(['update_id as updateId', 'counted_anew'])
      .execute()
    if (kept.length < seen.length) throw new OvertakenError()
    for (const { digest } of seen) this.#known.delete(keyOf(digest))
    for (const { updateId, counted_anew } of kept) {
      if (updateId !== null) this.#updates.push({ updateId, isCountedAnew: counted_anew === 1 })
    }
  }

  async bind(
    digest: Uint8Array,
    { messageId, updateId }: { messageId: number | null; updateId: number | null },
  ): Promise<SeenRecord | undefined> {
    await this.#writeDue()
    this.#known.delete(keyOf(digest))
    const numbers = { message_id: messageId, update_id: updateId }
    for (const column of ['message_id', 'update_id'] as const) {
      if (numbers[column] === null) continue
      await this.db
        .updateTable('seen')
        .set({ [column]: numbers[column] })
        .where('digest', '=', digest)
        .where(column, 'is', null)
        .execute()
    }
    return (await this.find([digest]))[0]
  }

  async hasOpened(chatId: number, exceptUserId: number): Promise<boolean> {
    const found = await this.db
      .selectFrom('seen')
      .select('chat_id')
      .where('chat_id', '=', chatId)
      .where('kind', '=', 'data')
      .where('user_id', '!=', exceptUserId)
      .executeTakeFirst()
    return found !== undefined
  }

  async forgetSome({ fromMs, signedMs, allMs }: ForgettingRange): Promise<ForgottenSlice> {
    const inRange = this.db
      .selectFrom('seen')
      .select('seen_at')
      .where('seen_at', '>=', fromMs)
      .where('seen_at', '<', signedMs)
    const last = await inRange
      .orderBy('seen_at')
      .offset(FORGOTTEN_AT_ONCE - 1)
      .limit(1)
      .execute()
    const endMs = (last[0]?.seen_at ?? signedMs - 1) + 1
    const { numDeletedRows } = await this.db
      .deleteFrom('seen')
      .where('seen_at', '>=', fromMs)
      .where('seen_at', '<', endMs)
      .where((row) => row.or([row('is_signed', '=', 1), row('seen_at', '<', allMs)]))
      .executeTakeFirstOrThrow()
    return { isAny: numDeletedRows > 0n, nextMs: endMs }
  }

  async prunedBeforeMs(): Promise<number> {
    return Number((await readFlag(this.db, PRUNED_BEFORE)) ?? -Infinity)
  }

  async setPrunedBeforeMs(atMs: number): Promise<void> {
    await writeFlag(this.db, PRUNED_BEFORE, String(atMs))
  }
}

const oneRepeatMore = (row: SeenExpression) => ({ repeats: row('seen.repeats', '+', 1) })

function mayRepeat(row: SeenExpression, rule: SignatureRepeatRule) {
  const { chatId, userId, isFile, fewerThan, within } = rule
  const around = (column: 'seen.dated_at' | 'seen.seen_at', atMs: number, ms: number) => [
    row(column, '>=', atMs - ms),
    row(column, '<=', atMs + ms),
  ]
  const times =
    within === null
      ? []
      : [
          ...around('seen.dated_at', within.datedAtMs, within.ms),
          ...around('seen.seen_at', within.seenAtMs, within.ms),
        ]
  return row.and([
    row('seen.kind', '=', 'signature'),
    row('seen.repeats', '<', fewerThan),
    row('seen.chat_id', '=', chatId),
    userId === null ? row('seen.user_id', 'is', null) : row('seen.user_id', '=', userId),
    row('seen.media_id', isFile ? 'is not' : 'is', null),
    ...times,
  ])
}

/** Asks no question of its own. */
function countsAnew(db: Kysely<Schema>, { kind, updateId }: NewSeen, heldBelow: number) {
  if (updateId === null || kind === 'signature') return sql.lit(0)
  if (updateId < heldBelow) return sql.lit(1)
  return db
    .selectFrom('confirmed')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('below', '>', updateId)
    .$asScalar()
}

const rowOf = (seen: NewSeen, countedAnew: Expression<number>): InsertObject<Schema, 'seen'> => ({
  digest: seen.digest,
  kind: seen.kind,
  chat_id: seen.chatId,
  message_id: seen.messageId,
  update_id: seen.updateId,
  media_id: seen.mediaId,
  user_id: seen.userId,
  seen_at: seen.seenAtMs,
  dated_at: seen.datedAtMs,
  repeats: seen.repeats,
  is_signed: seen.isSigned ? 1 : 0,
  counted_anew: countedAnew,
})
