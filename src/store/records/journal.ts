import { hash, randomBytes } from 'node:crypto'
import type { JournalEntry, JournalRecords } from '../../kernel/index.ts'
import { CHAIN_START, hashAfter, hashUpTo, rowsBetween } from '../journal-chain.ts'
import { Rows, changeRows, upsert } from './rows.ts'

/** A service that changes keys all day cannot fill the disk: of each place the oldest go. */
export const KEPT_ENTRIES = 500_000
const PRUNE_EVERY = 1000
const SALT_BYTES = 16

/** Entries of one place push out no other's. */
export const PLACES = { decisions: 0, first: 1, rest: 2 }

/** A hash over the hashes of entries that stay, one after the other. */
export const keptWith = (kept: Uint8Array, entry: Uint8Array): Buffer =>
  hash('sha256', Buffer.concat([kept, entry]), 'buffer')

/** The append-only record of changes, chained; only the oldest go. */
export class JournalRows extends Rows implements JournalRecords {
  /** The hash of the last entry, once this transaction has read it. */
  #former: Uint8Array | null = null

  async append(entry: Parameters<JournalRecords['append']>[0]): Promise<void> {
    const { kind, userId, chatId, detail, isDecision } = entry
    this.#former ??= await hashUpTo(this.db, Number.MAX_SAFE_INTEGER)
    const content = { user_id: userId, chat_id: chatId, detail: JSON.stringify(detail) }
    const row = { at: Date.now(), kind, ...content, salt: randomBytes(SALT_BYTES), digest: null }
    this.#former = hashAfter(this.#former, row)
    const place = isDecision ? PLACES.decisions : await this.#placeOfFinding(userId)
    const sealed = this.seal.seal('journal', { hash: this.#former, place })
    const { id } = await this.db
      .insertInto('journal')
      .values({ ...row, ...sealed })
      .returning('id')
      .executeTakeFirstOrThrow()
    if (id % PRUNE_EVERY === 0) await this.#prune(id - KEPT_ENTRIES)
  }

  async #placeOfFinding(userId: number | null): Promise<number> {
    if (userId === null) return PLACES.rest
    const ofPerson = this.db.selectFrom('journal').select('id').where('user_id', '=', userId)
    const first = await ofPerson.where('place', '=', PLACES.first).executeTakeFirst()
    return first === undefined ? PLACES.first : PLACES.rest
  }

  /**
   * Removes entries up to an id, but decisions and people's first changes. The hash of the last of
   * them stays, for a head to be signed on it, with a hash over those that were kept.
   */
  async #prune(toId: number): Promise<void> {
    const up = this.db.selectFrom('journal').where('id', '<=', toId)
    const last = await up.select((row) => row.fn.max('id').as('id')).executeTakeFirst()
    const heads = this.db.selectFrom('journal_heads').select(['entry', 'hash', 'kept'])
    const before = await heads.where('kept', 'is not', null).executeTakeFirst()
    if (last?.id == null || last.id <= (before?.entry ?? 0)) return
    let [former, kept] = [before?.hash ?? CHAIN_START, before?.kept ?? CHAIN_START]
    const range = { afterId: before?.entry ?? 0, toId: last.id }
    for await (const rows of rowsBetween(this.db, range)) {
      for (const row of rows) {
        // somebody else may have changed its place
        if (row.place === PLACES.rest && !this.seal.isSound('journal', row)) return
        if (row.place !== PLACES.rest) {
          kept = keptWith(kept, row.hash)
          await changeRows(this.db, 'journal', { id: row.id }, { former })
        }
        former = row.hash
      }
    }
    const all = this.db.deleteFrom('journal').where('id', '<=', last.id)
    await all.where('place', '=', PLACES.rest).execute()
    for (const place of [PLACES.decisions, PLACES.first]) {
      const ids = up.select('id').where('place', '=', place).orderBy('id', 'desc')
      const oldest = await ids.offset(KEPT_ENTRIES).limit(1).executeTakeFirst()
      if (oldest === undefined) continue
      await all.where('place', '=', place).where('id', '<=', oldest.id).execute()
      kept = CHAIN_START
      for await (const rows of rowsBetween(this.db, { afterId: 0, toId: last.id })) {
        for (const row of rows) kept = keptWith(kept, row.hash)
      }
    }
    const head = this.seal.seal('journal_heads', { entry: last.id, hash: former, kept })
    await upsert(this.db, 'journal_heads', 'entry', { ...head, at: Date.now(), signed: null })
    await this.db.deleteFrom('journal_heads').where('entry', '<', last.id).execute()
  }

  async read(from: Parameters<JournalRecords['read']>[0]): Promise<JournalEntry[]> {
    const { client } = from
    let entries = this.db
      .selectFrom('journal')
      .select(['id', 'at as atMs', 'kind', 'user_id as userId', 'chat_id as chatId', 'detail'])
      .where('id', '>', from.afterId)
      .where('at', '>=', from.sinceMs)
      .orderBy('id')
      .limit(from.limit)
    if (client !== undefined) {
      const named = `${JSON.stringify({ client }).slice(0, -1)}%`
      entries = entries.where('kind', 'like', 'client-%').where('detail', 'like', named)
    }
    return (await entries.execute()).map((row) => ({ ...row, detail: JSON.parse(row.detail) }))
  }
}
