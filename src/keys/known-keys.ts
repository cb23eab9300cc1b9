import { createHash } from 'node:crypto'
import { countedCache } from '../counted-cache.ts'
import { TimeSlice } from '../util/time-slice.ts'
import type { Store } from '../store/store.ts'

/** Pairs of key and person that are remembered; a service that invents people adds no more. */
const KEPT = 500_000
/** Lists whose digest is kept in memory, so that an unchanged one costs no read of the disk. */
const LISTS = 10_000
/** Far fewer variables than SQLite takes in one statement. */
const AT_ONCE = 500

/** A person with the keys that their certificate lists to be encrypted to. */
interface ListedKeys {
  userId: number
  certificateStatus: { encryptionKeys: readonly string[] }
}

/** Key ids that people's certificates were ever seen to list: who reads what is sealed to them. */
export class KnownKeys {
  readonly #store: Store
  readonly #digests = countedCache<string, string>(LISTS)

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Remembers the keys of people whom the service lists.
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
    const slice = new TimeSlice()
    await this.#store.note(async (db) => {
      const { count } = await db
        .selectFrom('encryption_keys')
        .select((row) => row.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      if (count >= KEPT) return
      for (let at = 0; at < pairs.length; at += AT_ONCE) {
        await slice.yieldIfOver()
        await db
          .insertInto('encryption_keys')
          .values(pairs.slice(at, at + AT_ONCE).map((pair) => ({ ...pair, since })))
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }
    })
    this.#digests.set(source, digest)
  }

  /**
   * Who was ever listed with each of these keys, and since when; a key that nobody was seen with is
   * missing.
   * @param keyIds 16 lower-case hexadecimal characters each
   * @returns by key id, by person: ms since the epoch, 0 where that was not noted yet
   */
  async ownersOf(keyIds: readonly string[]): Promise<Map<string, Map<number, number>>> {
    const owners = new Map<string, Map<number, number>>()
    for (let at = 0; at < keyIds.length; at += AT_ONCE) {
      const rows = await this.#store.read((db) =>
        db
          .selectFrom('encryption_keys')
          .selectAll()
          .where('key_id', 'in', keyIds.slice(at, at + AT_ONCE))
          .execute(),
      )
      for (const { key_id: keyId, user_id: userId, since } of rows) {
        owners.set(keyId, (owners.get(keyId) ?? new Map()).set(userId, since))
      }
    }
    return owners
  }
}

/** The key id of a version 4 fingerprint (RFC 9580, 5.5.4.2). */
export function keyIdOf(fingerprint: string): string {
  return fingerprint.slice(-16)
}
