import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import { countedCache } from '../util/caches.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { TimeSlice } from '../util/scheduling.ts'

/** Pairs of key and person that are remembered; a service that invents people adds no more. */
const KEPT = 500_000
/** Lists whose digest is kept in memory, so that an unchanged one costs no read of the disk. */
const LISTS = 10_000
/** Keys that are kept in memory until they can be written. */
const UNWRITTEN = 50_000
/** Far fewer variables than SQLite takes in one statement. */
const AT_ONCE = 500

/** A person with the keys that their certificate lists to be encrypted to. */
interface ListedKeys {
  userId: number
  certificateStatus: { encryptionKeys: readonly string[] }
}

/** A row of the table `encryption_keys`. */
interface KnownKey {
  key_id: string
  user_id: number
  since: number
}

/** Key ids that people's certificates were ever seen to list: who reads what is sealed to them. */
export class KnownKeys {
  readonly #store: Store
  readonly #digests = countedCache<string, string>(LISTS)
  /** Those that are not on disk yet, by key id and person. */
  readonly #unwritten = new Map<string, KnownKey>()

  constructor(store: Store) {
    this.#store = store
    const unwritten = this.#unwritten
    store.writeFirst({
      get isDue() {
        return unwritten.size > 0
      },
      save: async (db) => {
        const keys = [...unwritten.values()]
        await insert(db, keys)
        return () => keys.forEach((key) => unwritten.delete(idOf(key)))
      },
    })
  }

  /**
   * Remembers the keys of people whom the service lists, from the call on, also when it rejects.
   * @param source the list that they are from, by a name of its own
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(source: string, people: readonly ListedKeys[]): Promise<void> {
    const pairs = people.flatMap(({ userId, certificateStatus }) =>
      certificateStatus.encryptionKeys.map((fingerprint) => ({
        key_id: keyIdOf(fingerprint),
        user_id: userId,
      })),
    )
    if (pairs.length === 0) return
    const digest = createHash('sha256').update(JSON.stringify(pairs)).digest('base64')
    if (this.#digests.get(source) === digest) return
    const since = Date.now()
    const keys = pairs.map((pair) => ({ ...pair, since }))
    try {
      await this.#store.note((db) => insert(db, keys))
    } catch (error) {
      for (const key of keys) this.#hold(key)
      throw error
    }
    this.#digests.set(source, digest)
  }

  #hold(key: KnownKey): void {
    const isKnown = this.#unwritten.has(idOf(key))
    if (!isKnown && this.#unwritten.size < UNWRITTEN) this.#unwritten.set(idOf(key), key)
  }

  /**
   * Who was ever listed with each of these keys, and since when; a key that nobody was seen with is
   * missing.
   * @param keyIds 16 lower-case hexadecimal characters each
   * @returns by key id, by person: ms since the epoch, 0 where that was not noted yet
   */
  async ownersOf(keyIds: readonly string[]): Promise<Map<string, Map<number, number>>> {
    const owners = new Map<string, Map<number, number>>()
    const note = ({ key_id: keyId, user_id: userId, since }: KnownKey): void => {
      owners.set(keyId, (owners.get(keyId) ?? new Map()).set(userId, since))
    }
    const wanted = new Set(keyIds)
    for (const key of this.#unwritten.values()) if (wanted.has(key.key_id)) note(key)
    for (let at = 0; at < keyIds.length; at += AT_ONCE) {
      const rows = await this.#store.read((db) =>
        db
          .selectFrom('encryption_keys')
          .selectAll()
          .where('key_id', 'in', keyIds.slice(at, at + AT_ONCE))
          .execute(),
      )
      for (const row of rows) note(row)
    }
    return owners
  }
}

const idOf = ({ key_id: keyId, user_id: userId }: KnownKey): string => `${keyId} ${userId}`

/** Writes keys that are not there yet, while there is room. */
async function insert(db: Transaction<Schema>, keys: readonly KnownKey[]): Promise<void> {
  const { count } = await db
    .selectFrom('encryption_keys')
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= KEPT) return
  const slice = new TimeSlice()
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    await slice.yieldIfOver()
    await db
      .insertInto('encryption_keys')
      .values(keys.slice(at, at + AT_ONCE))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

/** The key id of a version 4 fingerprint (RFC 9580, 5.5.4.2). */
export function keyIdOf(fingerprint: string): string {
  return fingerprint.slice(-16)
}
