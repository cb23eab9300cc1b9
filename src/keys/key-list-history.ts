import { createHash } from 'node:crypto'
import { countedCache } from '../counted-cache.ts'
import type { Store } from '../store/store.ts'
import type { Journal, TrustChange } from './journal.ts'

/** Digests kept in memory, so that an unchanged list costs no read of the disk. */
const REMEMBERED = 10_000
/** People named in one entry, each way. */
const NAMED = 100
/** In this time a list must lose half of its people, and two at least, to have shrunk. */
const SHRINKING_MS = 86_400_000

/** Who was on a chat's key list, with which fingerprint (empty where nothing could be parsed). */
type ListedPeople = [userId: number, fingerprint: string][]

/** Keeps each chat's last key list, and writes every change to the journal. */
export class KeyListHistory {
  readonly #store: Store
  readonly #journal: Journal
  readonly #digests = countedCache<number, string>(REMEMBERED)
  readonly #contradictions = countedCache<number, string>(REMEMBERED)
  /** The most people that a list had lately, so that one that goes a step at a time is seen too. */
  readonly #largest = countedCache<number, number>(REMEMBERED, { ttlMs: SHRINKING_MS })

  constructor(store: Store, journal: Journal) {
    this.#store = store
    this.#journal = journal
  }

  /**
   * Records a chat's key list. The first one of a chat makes no journal entry.
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(
    chatId: number,
    people: readonly { userId: number; fingerprint: string | null }[],
  ): Promise<void> {
    const now = listedOf(people)
    const text = JSON.stringify(now)
    const digest = createHash('sha256').update(text).digest('base64')
    if (this.#digests.get(chatId) === digest) return
    const kept = await this.#store.read((db) =>
      db.selectFrom('lists').select('people').where('chat_id', '=', chatId).executeTakeFirst(),
    )
    if (kept?.people !== text) await this.#changed(chatId, { now, text, before: kept?.people })
    this.#digests.set(chatId, digest)
    this.#contradictions.delete(chatId)
  }

  /**
   * Records that a chat's key list contradicts itself, once for each contradiction.
   * @param detail `stranger` is who else it names in somebody's private chat
   * @throws Refusal `postern_store_unwritable`
   */
  async contradicts(chatId: number, detail: { why: string; stranger?: number }): Promise<void> {
    const { why } = detail
    if (this.#contradictions.get(chatId) === why) return
    await this.#journal.record([{ kind: 'list-contradicts', chatId, detail }])
    this.#contradictions.set(chatId, why)
  }

  async #changed(
    chatId: number,
    { now, text, before }: { now: ListedPeople; text: string; before: string | undefined },
  ): Promise<void> {
    const changes =
      before === undefined ? [] : this.#changesOf(chatId, JSON.parse(before) as ListedPeople, now)
    await this.#journal.record(changes, async (db) => {
      await db
        .insertInto('lists')
        .values({ chat_id: chatId, people: text })
        .onConflict((conflict) => conflict.column('chat_id').doUpdateSet({ people: text }))
        .execute()
    })
  }

  #changesOf(chatId: number, before: ListedPeople, now: ListedPeople): TrustChange[] {
    const changed: TrustChange = {
      kind: 'recipients-changed',
      chatId,
      detail: difference(before, now),
    }
    const from = Math.max(before.length, this.#largest.get(chatId) ?? 0)
    const to = now.length
    if (to <= from / 2 && from - to > 1) {
      this.#largest.delete(chatId)
      return [changed, { kind: 'list-shrank', chatId, detail: { from, to } }]
    }
    if (this.#largest.get(chatId) !== from) this.#largest.set(chatId, from)
    return [changed]
  }
}

function listedOf(people: readonly { userId: number; fingerprint: string | null }[]): ListedPeople {
  const byPerson = new Map(people.map(({ userId, fingerprint }) => [userId, fingerprint ?? '']))
  return [...byPerson].sort(([a], [b]) => a - b)
}

function difference(before: ListedPeople, now: ListedPeople) {
  const [old, fresh] = [new Map(before), new Map(now)]
  return {
    count: now.length,
    added: now.flatMap(([userId]) => (old.has(userId) ? [] : [userId])).slice(0, NAMED),
    removed: before.flatMap(([userId]) => (fresh.has(userId) ? [] : [userId])).slice(0, NAMED),
    changed: now
      .filter(([userId, fingerprint]) => (old.get(userId) ?? fingerprint) !== fingerprint)
      .map(([userId]) => userId)
      .slice(0, NAMED),
  }
}
