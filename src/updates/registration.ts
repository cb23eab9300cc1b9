/** The bot's own webhook as it rests in the store, and how deliveries to it stand. */
import type { Store } from '../store/store.ts'
import type { Delivered } from './update-batch.ts'

/** A webhook that is set. */
export interface OwnWebhook {
  /** As the bot gave it. */
  url: string
  secret: string | null
  /** Failed deliveries in a row, and what the last of them failed for. */
  failures: number
  lastError: string | null
  /** When the next delivery is tried, ms since epoch; null when none is waiting for its time. */
  nextAttemptAt: number | null
}

const ROW = 1
const SECRET = 'webhook'

export class Registration {
  readonly #store: Store
  #webhook: OwnWebhook | null
  #delivered: Delivered | null

  private constructor(store: Store, webhook: OwnWebhook | null, delivered: Delivered | null) {
    this.#store = store
    this.#webhook = webhook
    this.#delivered = delivered
  }

  /** @throws OperatorError `store-corrupt` when the sealed secret was changed */
  static async load(store: Store): Promise<Registration> {
    const row = await store.read((db) => db.selectFrom('webhook').selectAll().executeTakeFirst())
    const sealed = await store.read((db) =>
      db.selectFrom('secrets').select('sealed').where('name', '=', SECRET).executeTakeFirst(),
    )
    if (row === undefined) return new Registration(store, null, null)
    const { url, failures, last_error: lastError, delivered_id: id, delivered_mark: mark } = row
    const secret = sealed === undefined ? null : store.unseal(SECRET, sealed.sealed).toString()
    return new Registration(
      store,
      url === null ? null : { url, secret, failures, lastError, nextAttemptAt: null },
      id === null || mark === null ? null : { updateId: id, mark },
    )
  }

  /** Null when none is set. */
  get webhook(): Readonly<OwnWebhook> | null {
    return this.#webhook
  }

  /** What was delivered last, to this webhook or one before it. */
  get delivered(): Delivered | null {
    return this.#delivered
  }

  /**
   * Sets or replaces the webhook; its failures begin anew.
   * @throws Refusal `postern_locked` when there is a secret and no protection to seal it under,
   *   `postern_store_unwritable`
   */
  async set({ url, secret }: { url: string; secret: string | null }): Promise<void> {
    const state = { url, failures: 0, last_error: null }
    await this.#store.write(async (db) => {
      await db
        .insertInto('webhook')
        .values({ id: ROW, delivered_id: null, delivered_mark: null, ...state })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(state))
        .execute()
      await db.deleteFrom('secrets').where('name', '=', SECRET).execute()
      if (secret === null) return
      const sealed = this.#store.seal(SECRET, Buffer.from(secret))
      await db.insertInto('secrets').values({ name: SECRET, sealed }).execute()
    })
    this.#webhook = { url, secret, failures: 0, lastError: null, nextAttemptAt: null }
  }

  /** Forgets the webhook, not what was delivered. @throws Refusal `postern_store_unwritable` */
  async remove(): Promise<void> {
    await this.#store.write(async (db) => {
      const state = { url: null, failures: 0, last_error: null }
      await db.updateTable('webhook').set(state).execute()
      await db.deleteFrom('secrets').where('name', '=', SECRET).execute()
    })
    this.#webhook = null
  }

  /** A delivery failed. What cannot be recorded is known until the next start. */
  async recordFailure(lastError: string, nextAttemptAt: number): Promise<void> {
    if (this.#webhook === null) return
    const failures = this.#webhook.failures + 1
    this.#webhook = { ...this.#webhook, failures, lastError, nextAttemptAt }
    const change = { failures, last_error: lastError }
    await this.#store
      .write((db) => db.updateTable('webhook').set(change).execute())
      .catch(() => undefined)
  }

  /**
   * An update was delivered; on disk when this resolves.
   * @throws Refusal `postern_store_unwritable`; it is then known until the next start
   */
  async recordDelivered(delivered: Delivered): Promise<void> {
    this.#delivered = delivered
    if (this.#webhook !== null) {
      this.#webhook = { ...this.#webhook, failures: 0, lastError: null, nextAttemptAt: null }
    }
    await this.#store.write((db) =>
      db
        .updateTable('webhook')
        .set({
          failures: 0,
          last_error: null,
          delivered_id: delivered.updateId,
          delivered_mark: delivered.mark,
        })
        .execute(),
    )
  }
}
