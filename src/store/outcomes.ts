import type { Transaction } from 'kysely'
import { countedCache } from '../util/caches.ts'
import { inSlices } from '../util/scheduling.ts'
import { chunksOf, findRow, upsert } from './records/rows.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** The outcome of one Message of an update, without its text. Times are ms since the epoch. */
export interface MessageOutcome {
  updateId: number
  atMs: number
  /** ms for opening and judging it; null once it was read from the disk. */
  tookMs: number | null
  chatId: number | null
  messageId: number | null
  userId: number | null
  /** One of `VERDICTS`. */
  verdict: string
  reason: string | null
  /** Its text was given to the bot. */
  delivered: boolean
  /** Fingerprint of our key that opened it. */
  openedWith: string | null
  /** Fingerprint of the certificate that verified it. */
  signer: string | null
}

/** The outcome of one message of the bot's. */
export interface SendOutcome {
  messageId: number
  atMs: number
  chatId: number
  /** People sealed to. */
  recipients: number
  skipped: { userId: number; reason: string }[]
}

/** How much is remembered, in memory and on disk. */
const KEPT = 50_000
export const KEPT_MS = 10 * 86_400_000
const FLUSH_MS = 2000
/** Rows written at once; other writes may run between batches. */
const ROWS_AT_ONCE = 50

/**
 * Keeps outcomes of messages for a while, for `postern explain`. Writes a little later, in
 * batches: nothing waits for it, and a crash loses explanations only.
 */
export class Outcomes implements AsyncDisposable {
  readonly #store: Store
  readonly #kept: number
  /** By update; one that was delivered again counts once. */
  #received = new Map<number, MessageOutcome[]>()
  /** By message; one that was sent again under its number counts as it was sent last. */
  #sent = new Map<number, SendOutcome>()
  #timer: NodeJS.Timeout | null = null
  /** Recent outcomes, so that `explain` works while the disk is full. */
  readonly #recent = countedCache<string, MessageOutcome[] | SendOutcome>(5000)

  /** @param kept how many are remembered of each kind */
  constructor(store: Store, kept = KEPT) {
    this.#store = store
    this.#kept = kept
  }

  /** Records the outcomes of an answer's Messages. */
  received(outcomes: readonly MessageOutcome[]): void {
    for (const [updateId, ones] of Map.groupBy(outcomes, (one) => one.updateId)) {
      this.#recent.set(`u${updateId}`, ones)
      this.#writeSoon(this.#received, updateId, ones)
    }
  }

  /** Records the recipients of a message of the bot's. */
  sent(sent: SendOutcome): void {
    this.#recent.set(`m${sent.messageId}`, sent)
    this.#writeSoon(this.#sent, sent.messageId, sent)
  }

  /** The outcomes of an update's Messages; empty when none is kept. */
  async ofUpdate(updateId: number): Promise<MessageOutcome[]> {
    const recent = this.#recent.get(`u${updateId}`)
    if (Array.isArray(recent)) return recent
    const rows = await this.#store.read((db) =>
      db
        .selectFrom('outcomes')
        .select(['at as atMs', 'chat_id as chatId', 'message_id as messageId', 'user_id as userId'])
        .select(['verdict', 'reason', 'delivered', 'opened_with as openedWith', 'signer'])
        .where('update_id', '=', updateId)
        .execute(),
    )
    return rows.map((row) => ({ ...row, updateId, tookMs: null, delivered: row.delivered === 1 }))
  }

  /**
   * Counts of Messages withheld in the last ten days, by chat and reason, the latest first: when the
   * first and the last were, in ms since the epoch, and the update of the last.
   * @param limit how many lines at most
   */
  async withheld(limit: number) {
    await this.#flush()
    return await this.#store.read((db) =>
      db
        .selectFrom('outcomes')
        .select(['chat_id as chatId', 'verdict', 'reason'])
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.min<number>('at').as('firstAtMs'),
          fn.max<number>('at').as('lastAtMs'),
          fn.max<number>('update_id').as('lastUpdateId'),
        ])
        .where('delivered', '=', 0)
        .where('at', '>=', Date.now() - KEPT_MS)
        .groupBy(['chat_id', 'verdict', 'reason'])
        .orderBy('lastAtMs', 'desc')
        .limit(limit)
        .execute(),
    )
  }

  /** The outcome of a message of the bot's; null when none is kept. */
  async ofMessage(messageId: number): Promise<SendOutcome | null> {
    const recent = this.#recent.get(`m${messageId}`)
    if (recent !== undefined && !Array.isArray(recent)) return recent
    const row = await this.#store.read((db) => findRow(db, 'sent', { message_id: messageId }))
    if (row === undefined) return null
    const { at, chat_id: chatId, recipients } = row
    const skipped = JSON.parse(row.skipped) as SendOutcome['skipped']
    return { messageId, atMs: at, chatId, recipients, skipped }
  }

  /** Writes due outcomes, and empties the memory of recent ones. */
  async forgetRecent(): Promise<void> {
    await this.#flush()
    this.#recent.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#flush()
  }

  #writeSoon<T>(unwritten: Map<number, T>, id: number, one: T): void {
    if (unwritten.has(id) || unwritten.size < this.#kept) unwritten.set(id, one)
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      // oxlint-disable-next-line typescript/no-floating-promises -- #flush catches its errors
      void this.#flush()
    }, FLUSH_MS).unref()
  }

  /** A failed write is reported elsewhere; here it only costs an explanation. */
  async #flush(): Promise<void> {
    const [received, sent] = [this.#received, this.#sent]
    if (received.size + sent.size === 0) return
    this.#received = new Map()
    this.#sent = new Map()
    await this.#write(received, sent).catch(() => undefined)
  }

  async #write(
    received: ReadonlyMap<number, readonly MessageOutcome[]>,
    sent: ReadonlyMap<number, SendOutcome>,
  ): Promise<void> {
    for (const ids of chunksOf([...received.keys()], ROWS_AT_ONCE)) {
      const rows = chunksOf(
        ids.flatMap((id) => (received.get(id) ?? []).map(outcomeRow)),
        ROWS_AT_ONCE,
      )
      await this.#store.note(async (db) => {
        await db.deleteFrom('outcomes').where('update_id', 'in', ids).execute()
        for await (const some of inSlices(rows)) {
          await db.insertInto('outcomes').values(some).execute()
        }
      })
    }
    for await (const some of inSlices(chunksOf([...sent.values()].map(sentRow), ROWS_AT_ONCE))) {
      await this.#store.note((db) => upsert(db, 'sent', 'message_id', some))
    }
    await this.#store.note((db) => forgetOldest(db, this.#kept))
  }
}

/** When the last message that is remembered was received or sent, ms since the epoch; 0 for none. */
export async function lastMessageAtMs(store: Pick<Store, 'read'>): Promise<number> {
  const last = await store.read((db) => {
    const both = db.selectFrom('outcomes').select('at').unionAll(db.selectFrom('sent').select('at'))
    return both.orderBy('at', 'desc').limit(1).executeTakeFirst()
  })
  return last?.at ?? 0
}

async function forgetOldest(db: Transaction<Schema>, kept: number): Promise<void> {
  const before = Date.now() - KEPT_MS
  for (const table of ['outcomes', 'sent'] as const) {
    await db.deleteFrom(table).where('at', '<', before).execute()
    const oldest = db.selectFrom(table).select('at').orderBy('at', 'desc').offset(kept).limit(1)
    await db.deleteFrom(table).where('at', '<', oldest).execute()
  }
}

const outcomeRow = (one: MessageOutcome) => ({
  update_id: one.updateId,
  at: one.atMs,
  chat_id: one.chatId,
  message_id: one.messageId,
  user_id: one.userId,
  verdict: one.verdict,
  reason: one.reason,
  delivered: one.delivered ? 1 : 0,
  opened_with: one.openedWith,
  signer: one.signer,
})

const sentRow = (one: SendOutcome) => ({
  message_id: one.messageId,
  at: one.atMs,
  chat_id: one.chatId,
  recipients: one.recipients,
  skipped: JSON.stringify(one.skipped),
})
