/** The bot's own webhook in the store, and the state of deliveries to it. */
import { Refusal } from '../errors.ts'
import { findRow, upsert } from '../store/records/rows.ts'
import { ConfirmedRows } from '../store/records/confirmed.ts'
import type { Reread, Store } from '../store/store.ts'
import type { OwnWebhook } from '../translate/bot-view.ts'
import { Listeners } from '../util/listeners.ts'
import type { Delivered } from './update-batch.ts'

const ROW = 1
const SECRET = 'webhook'
/** Of a webhook whose last delivery worked. */
export const NO_FAILURES = { failures: 0, lastError: null, nextAttemptAt: null } as const
/** In place of the url where it rests sealed, with the secret. */
const SEALED = ''

export class Registration {
  readonly #store: Store
  readonly #changes = new Listeners()
  /** Calls back when another sidecar of this store has set or removed the webhook. */
  readonly onChangedElsewhere = this.#changes.add
  #webhook: OwnWebhook | null = null
  #delivered: Delivered | null = null

  private constructor(store: Store) {
    this.#store = store
  }

  /** @throws OperatorError `store-corrupt` when the sealed secret was changed */
  static async load(store: Store): Promise<Registration> {
    const registration = new Registration(store)
    store.follow('webhook', async (db) => {
      const before = registration.#webhook
      await registration.#read(db)
      if (isSetAnew(before, registration.#webhook)) registration.#changes.emit()
    })
    await store.read((db) => registration.#read(db))
    return registration
  }

  async #read(db: Parameters<Reread>[0]): Promise<void> {
    const row = await findRow(db, 'webhook', { id: ROW })
    const sealed = await findRow(db, 'secrets', { name: SECRET })
    if (row === undefined) return
    const { failures, last_error: lastError, delivered_id: id, delivered_mark: mark } = row
    const target = this.#targetIn(row.url, sealed?.sealed)
    this.#webhook = target && { ...target, failures, lastError, nextAttemptAt: null }
    this.#delivered = id === null || mark === null ? null : { updateId: id, mark }
  }

  /** A url in the clear is the bot's only in a store that seals nothing. */
  #targetIn(url: string | null, sealed?: Uint8Array) {
    if (url === SEALED && sealed !== undefined) {
      return JSON.parse(this.#store.unseal(SECRET, sealed).toString())
    }
    return url === null || this.#store.method !== null ? null : { url, secret: null }
  }

  /** Null when none is set. */
  get webhook(): Readonly<OwnWebhook> | null {
    return this.#webhook
  }

  /** The update delivered last, to this webhook or an earlier one. */
  get delivered(): Delivered | null {
    return this.#delivered
  }

  /**
   * Sets or replaces the webhook; its failures begin anew.
   * @throws Refusal `postern_locked` when there is a secret and no protection to seal it under,
   *   `postern_store_unwritable`
   */
  async set({ url, secret }: { url: string; secret: string | null }): Promise<void> {
    await this.#write(url, secret)
    this.#webhook = { url, secret, ...NO_FAILURES }
  }

  /** Forgets the webhook, but not the last delivery. @throws Refusal `postern_store_unwritable` */
  async remove(): Promise<void> {
    await this.#write(null, null)
    this.#webhook = null
  }

  async #write(url: string | null, secret: string | null): Promise<void> {
    await this.#store.write(async (db) => {
      const isSealed = url !== null && (secret !== null || this.#store.method !== null)
      const state = { url: isSealed ? SEALED : url, failures: 0, last_error: null }
      await upsert(db, 'webhook', 'id', { id: ROW, ...state })
      await db.deleteFrom('secrets').where('name', '=', SECRET).execute()
      if (!isSealed) return
      const sealed = this.#store.seal(SECRET, Buffer.from(JSON.stringify({ url, secret })))
      await db.insertInto('secrets').values({ name: SECRET, sealed }).execute()
    })
  }

  /** Records a delivery as `afterAttempt` does. If unwritten, it is known until the next start. */
  async recordAttempt(failure: FailedAttempt | null): Promise<void> {
    if (this.#webhook === null) return
    this.#webhook = afterAttempt(this.#webhook, failure)
    const { failures, lastError } = this.#webhook
    const change = { failures, last_error: lastError }
    await this.#store
      .write((db) => db.updateTable('webhook').set(change).execute())
      .catch(() => undefined)
  }

  /**
   * An update was delivered, and is not delivered again; on disk when this resolves.
   * @param mayRecord asked last: false when another sidecar may have delivered since
   * @param o `isAlone`: false where others may still have to get it
   * @throws Refusal `postern_store_unwritable`; it is then known until the next start
   */
  async recordDelivered(
    delivered: Delivered,
    mayRecord: () => boolean,
    { isAlone = true }: { isAlone?: boolean } = {},
  ): Promise<void> {
    this.#delivered = delivered
    const { updateId, mark } = delivered
    await this.#store.write(async (db) => {
      if (!mayRecord()) throw new Refusal('postern_store_unwritable', 'another sidecar delivers')
      await db
        .updateTable('webhook')
        .set({ delivered_id: updateId, delivered_mark: mark })
        .execute()
      if (isAlone) await new ConfirmedRows(db, this.#store.rowSeal).settle(updateId + 1)
    })
  }
}

/** What a failed delivery leaves. */
type FailedAttempt = Pick<OwnWebhook, 'lastError' | 'nextAttemptAt'>

/** A webhook after a delivery that failed, or, with null, that ends failures in a row. */
export function afterAttempt(webhook: OwnWebhook, failure: FailedAttempt | null): OwnWebhook {
  if (failure === null) return { ...webhook, ...NO_FAILURES }
  return { ...webhook, ...failure, failures: webhook.failures + 1 }
}

/** Not merely served: another url or secret, or failures that were forgotten. */
function isSetAnew(before: OwnWebhook | null, now: OwnWebhook | null): boolean {
  if (before === null || now === null) return before !== now
  const isSame = before.url === now.url && before.secret === now.secret
  return !isSame || (before.failures > 0 && now.failures === 0)
}
