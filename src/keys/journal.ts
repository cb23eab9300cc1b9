import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { Listeners } from '../util/listeners.ts'

/** What can change about whom we seal to and whose words we believe. */
export type TrustChange =
  /** The service lists another certificate for a person than before. */
  | { kind: 'key-changed'; userId: number; detail: { from: string; to: string; standing: string } }
  /** The service lists none for a person any more. */
  | { kind: 'key-withdrawn'; userId: number; detail: { from: string; standing: string } }
  /** Several people are listed with one certificate; at most 100 are named. */
  | {
      kind: 'certificate-shared'
      detail: { fingerprint: string; people: number[]; owner: number | null }
    }
  /** A certificate that we know was revoked by its owner. */
  | { kind: 'key-revoked'; userId: number; detail: { fingerprint: string } }
  /** Who gets what is written into a chat; at most 100 people are named each way. */
  | {
      kind: 'recipients-changed'
      chatId: number
      detail: { count: number; added: number[]; removed: number[]; changed: number[] }
    }
  /**
   * The key list of a chat contradicts itself; nothing is sealed by it. `stranger` is who else it
   * names in somebody's private chat.
   */
  | { kind: 'list-contradicts'; chatId: number; detail: { why: string; stranger?: number } }
  /** The key list of a chat lost half of its people or more within a day. */
  | { kind: 'list-shrank'; chatId: number; detail: { from: number; to: number } }
  /** People are listed with a key of the bot's own; at most 100 are named. */
  | {
      kind: 'own-key-listed'
      userId: number
      detail: { chatId: number | null; people: number[] }
    }
  /** Somebody wrote or pressed in a private chat that is another person's. */
  | { kind: 'stranger'; chatId: number; userId: number; detail: Record<string, never> }
  /** The operator spoke. */
  | { kind: 'accepted' | 'verified'; userId: number; detail: { fingerprint: string } }
  | { kind: 'blocked'; userId: number; detail: Record<string, never> }
  | { kind: 'policy'; chatId: number | null; detail: { policy: string | null } }
  /** The service shows a chat as one of a stricter kind; the operator took that back. */
  | {
      kind: 'kind-tightened' | 'kind-corrected'
      chatId: number
      detail: { from: string; to: string }
    }
  /** The operator loosened what is known of a chat, or of all private chats. */
  | { kind: 'latch-lifted'; chatId: number; detail: Record<string, never> }
  | { kind: 'private-readable'; chatId: null; detail: Record<string, never> }
  | { kind: 'person-bound'; chatId: number; userId: number; detail: { before: number | null } }

/** A change as it was written down. `at` is ms since the epoch. */
export interface JournalEntry {
  id: number
  atMs: number
  kind: string
  userId: number | null
  chatId: number | null
  detail: Record<string, unknown>
}

/** A service that changes keys all day cannot fill the disk. */
const KEPT = 500_000

/** The append-only record of changes: nothing in it is ever rewritten; only the oldest go. */
export class Journal {
  readonly #store: Store
  readonly #changes = new Listeners<TrustChange>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Calls back with every change once it is on disk. */
  onChange(listener: (change: TrustChange) => void): void {
    this.#changes.add(listener)
  }

  /**
   * Writes changes down, together with what they change. Without any, it is noted: to know it
   * although this rejects does no harm.
   * @param change runs in the same transaction, first; what it gives is written down in place of
   *   `changes`, which were computed before what other sidecars wrote was known
   * @param onWritten called once changes are on disk, before any other write begins
   * @throws Refusal `postern_store_unwritable`; then nothing was changed
   */
  async record(
    changes: readonly TrustChange[],
    change: (db: Transaction<Schema>) => Promise<readonly TrustChange[] | void> = async () => {},
    onWritten = (): void => {},
  ): Promise<void> {
    const write = async (db: Transaction<Schema>): Promise<() => void> =>
      await this.append(db, (await change(db)) ?? changes)
    if (changes.length === 0) return (await this.#store.note(write, { isOrdered: true }))()
    await this.#store.write(write, (announce) => {
      onWritten()
      announce()
    })
  }

  /** Writes changes down within a write. @returns what calls the listeners, once it is on disk */
  async append(db: Transaction<Schema>, changes: readonly TrustChange[]): Promise<() => void> {
    const nowMs = Date.now()
    for (const one of changes) await append(db, one, nowMs)
    return () => changes.forEach((one) => this.#changes.emit(one))
  }

  /**
   * Entries in the order in which they were written.
   * @param from `afterId` gives what came later than that entry, `sinceMs` than that time;
   *   `limit` at most so many
   */
  async read(from: { afterId: number; sinceMs: number; limit: number }): Promise<JournalEntry[]> {
    const rows = await this.#store.read((db) =>
      db
        .selectFrom('journal')
        .selectAll()
        .where('id', '>', from.afterId)
        .where('at', '>=', from.sinceMs)
        .orderBy('id')
        .limit(from.limit)
        .execute(),
    )
    return rows.map((row) => ({
      id: row.id,
      atMs: row.at,
      kind: row.kind,
      userId: row.user_id,
      chatId: row.chat_id,
      detail: JSON.parse(row.detail) as Record<string, unknown>,
    }))
  }
}

async function append(db: Transaction<Schema>, change: TrustChange, nowMs: number): Promise<void> {
  const written = await db
    .insertInto('journal')
    .values({
      at: nowMs,
      kind: change.kind,
      user_id: 'userId' in change ? change.userId : null,
      chat_id: 'chatId' in change ? change.chatId : null,
      detail: JSON.stringify(change.detail),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (written.id % 1000 === 0) {
    await db
      .deleteFrom('journal')
      .where('id', '<=', written.id - KEPT)
      .execute()
  }
}
