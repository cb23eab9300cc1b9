import { OperatorError } from '../errors.ts'
import type { Engine, UnlockedKey } from '../pgp/engine.ts'
import type { Store } from '../store/store.ts'

/** `pending` is made and safe on disk, `active` is published, `retired` opens what is late. */
export type KeyState = 'pending' | 'active' | 'retired'

/** One of the bot's own keys, unlocked. Times are ms since the epoch. */
export interface OwnKeyRecord {
  fingerprint: string
  state: KeyState
  createdAtMs: number
  publishedAtMs: number | null
  retiredAtMs: number | null
  certificate: string
  unlocked: UnlockedKey
}

const FIRST_PUBLISHED = 'first_published_at'
/** Keys are dated back, so that a phone whose clock is behind takes them. */
const BACKDATE_MS = 300_000

/** The bot's own keys: everything we can open with, and the one we sign with. */
export class Keyring {
  readonly #store: Store
  readonly #engine: Engine
  #keys: OwnKeyRecord[] = []
  #firstPublishedAtMs: number | null = null

  private constructor(store: Store, engine: Engine) {
    this.#store = store
    this.#engine = engine
  }

  /**
   * Reads and unlocks every key in the store.
   * @throws OperatorError `store-locked` when a key does not open with the store's passphrase
   */
  static async load(store: Store, engine: Engine): Promise<Keyring> {
    const ring = new Keyring(store, engine)
    const rows = await store.read((db) =>
      db.selectFrom('own_keys').selectAll().orderBy('created_at', 'desc').execute(),
    )
    for (const row of rows) {
      ring.#keys.push({
        fingerprint: row.fingerprint,
        state: row.state,
        createdAtMs: row.created_at,
        publishedAtMs: row.published_at,
        retiredAtMs: row.retired_at,
        certificate: row.certificate,
        unlocked: await ring.#unlock(row.locked),
      })
    }
    const flag = await store.read((db) =>
      db.selectFrom('flags').select('value').where('name', '=', FIRST_PUBLISHED).executeTakeFirst(),
    )
    ring.#firstPublishedAtMs = flag === undefined ? null : Number(flag.value)
    return ring
  }

  /** The published key, which signs; undefined before the first publication. */
  get active(): OwnKeyRecord | undefined {
    return this.#keys.find(({ state }) => state === 'active')
  }

  /** The key that waits for its publication. */
  get pending(): OwnKeyRecord | undefined {
    return this.#keys.find(({ state }) => state === 'pending')
  }

  /** Newest first. */
  get all(): readonly OwnKeyRecord[] {
    return this.#keys
  }

  /** What messages are opened with, the likeliest first. */
  get unlocked(): UnlockedKey[] {
    return this.#keys.map(({ unlocked }) => unlocked)
  }

  /** When any key of ours was first published: from then on private chats are protected. */
  get firstPublishedAtMs(): number | null {
    return this.#firstPublishedAtMs
  }

  find(fingerprint: string): OwnKeyRecord | undefined {
    return this.#keys.find((key) => key.fingerprint === fingerprint.toLowerCase())
  }

  /**
   * Makes a key and gives it once it is on disk.
   * @param userId free text in the certificate, the bot's name
   * @throws Refusal `postern_store_unwritable`
   */
  async makePending(userId: string): Promise<OwnKeyRecord> {
    const createdAtMs = Date.now()
    const passphrase = this.#store.masterSecret
    if (passphrase === null) {
      throw new OperatorError(
        'store-locked',
        'there is no passphrase to lock a new key under',
        'set key.passphrase (POSTERN_KEY_PASSPHRASE_FILE)',
      )
    }
    const made = await this.#engine.generate({
      userId,
      createdMs: createdAtMs - BACKDATE_MS,
      passphrase,
    })
    const unlocked = await this.#unlock(made.locked)
    await this.#store.write((db) =>
      db
        .insertInto('own_keys')
        .values({
          fingerprint: made.fingerprint,
          state: 'pending',
          created_at: createdAtMs,
          published_at: null,
          retired_at: null,
          certificate: made.certificate,
          locked: made.locked,
        })
        .execute(),
    )
    const record: OwnKeyRecord = {
      fingerprint: made.fingerprint,
      state: 'pending',
      createdAtMs,
      publishedAtMs: null,
      retiredAtMs: null,
      certificate: made.certificate,
      unlocked,
    }
    this.#keys = [record, ...this.#keys]
    return record
  }

  /** Makes a confirmed key the active one; the one before it retires. On disk when it resolves. */
  async promote(fingerprint: string): Promise<void> {
    const nowMs = Date.now()
    const first = this.#firstPublishedAtMs ?? nowMs
    await this.#store.write(async (db) => {
      await db
        .updateTable('own_keys')
        .set({ state: 'retired', retired_at: nowMs })
        .where('state', '=', 'active')
        .where('fingerprint', '!=', fingerprint)
        .execute()
      await db
        .updateTable('own_keys')
        .set({ state: 'active', published_at: nowMs, retired_at: null })
        .where('fingerprint', '=', fingerprint)
        .execute()
      await db
        .insertInto('flags')
        .values({ name: FIRST_PUBLISHED, value: String(first) })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    })
    this.#firstPublishedAtMs = first
    this.#keys = this.#keys.map((key) => afterPromotion(key, fingerprint, nowMs))
  }

  async #unlock(locked: string): Promise<UnlockedKey> {
    try {
      return await this.#engine.unlock(locked, this.#store.masterSecret ?? '')
    } catch (cause) {
      throw new OperatorError(
        'store-locked',
        'a secret key in the store does not open with this passphrase',
        'give the passphrase that the store was made with; nothing was changed',
        { cause },
      )
    }
  }
}

function afterPromotion(key: OwnKeyRecord, promoted: string, nowMs: number): OwnKeyRecord {
  if (key.fingerprint === promoted) {
    return { ...key, state: 'active', publishedAtMs: nowMs, retiredAtMs: null }
  }
  return key.state === 'active' ? { ...key, state: 'retired', retiredAtMs: nowMs } : key
}
