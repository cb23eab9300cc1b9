import type { KnownKey, Memory } from '../memory.ts'
import { hash } from 'node:crypto'
import { BoundedMap } from '../../util/bounded-map.ts'

/** Digests of lists kept in memory, so that an unchanged list costs no read of the disk. */
const LISTS = 10_000
/** Keys of one message whose people are kept in memory; of so many messages. */
const FEW_KEYS = 16
const READS = 1000
/** Keys that are kept in memory until they can be written. */
const UNWRITTEN = 50_000

interface ListedKeys {
  userId: number
  certificateStatus: { encryptionKeys: readonly string[] }
}

/**
 * Key ids that people's certificates ever listed: the readers of data sealed to them. All calls throw
 * Refusal `postern_store_unwritable`.
 */
export class KnownKeys {
  readonly #memory: Memory
  readonly #digests = new BoundedMap<string, string>(LISTS)
  /** Has every list written again. */
  readonly forgetDigests = (): void => this.#digests.clear()
  /** By the epoch that it was read in, and the key ids. */
  readonly #reads = new BoundedMap<string, Promise<KnownKey[]>>(READS)
  /** How many more may be written before they are counted. */
  #room = 0
  /** Those that are not on disk yet, by key id and person. */
  readonly #unwritten = new Map<string, KnownKey>()

  constructor(memory: Memory) {
    this.#memory = memory
    const unwritten = this.#unwritten
    memory.writeFirst({
      isDue: () => unwritten.size > 0,
      save: async ({ encryptionKeys }) => {
        const keys = [...unwritten.values()]
        if (this.#room < keys.length) this.#room = await encryptionKeys.room()
        if (this.#room > 0) await encryptionKeys.add(keys)
        this.#room -= keys.length
        return () => keys.forEach((key) => unwritten.delete(idOf(key)))
      },
    })
  }

  /**
   * Remembers the keys of listed people, from the call on, also when it rejects.
   * @param source a name of the list
   */
  async saw(source: string, people: readonly ListedKeys[]): Promise<void> {
    const pairs = people.flatMap(({ userId, certificateStatus }) =>
      certificateStatus.encryptionKeys.map(keyIdOf).map((keyId) => ({ keyId, userId })),
    )
    if (pairs.length === 0) return
    const digest = hash('sha256', JSON.stringify(pairs), 'base64')
    if (this.#digests.get(source) === digest) return
    const sinceMs = this.#memory.nowMs()
    const isHeld = pairs.map((pair) => this.#hold({ ...pair, sinceMs })).every(Boolean)
    await this.#memory.settle()
    if (isHeld) this.#digests.set(source, digest)
  }

  #hold(key: KnownKey): boolean {
    const isKnown = this.#unwritten.has(idOf(key))
    if (!isKnown && this.#unwritten.size < UNWRITTEN) this.#unwritten.set(idOf(key), key)
    return this.#unwritten.has(idOf(key))
  }

  /**
   * Who was ever listed with each of these keys, and since when; an unknown key is missing.
   * @param keyIds 16 lower-case hexadecimal characters each
   * @returns by key id, by person: ms since the epoch
   */
  async ownersOf(keyIds: readonly string[]): Promise<Map<string, Map<number, number>>> {
    const owners = new Map<string, Map<number, number>>()
    const note = ({ keyId, userId, sinceMs }: KnownKey): void => {
      owners.set(keyId, (owners.get(keyId) ?? new Map()).set(userId, sinceMs))
    }
    const wanted = new Set(keyIds)
    for (const key of this.#unwritten.values()) if (wanted.has(key.keyId)) note(key)
    if (keyIds.length === 0) return owners
    for (const key of await this.#known(keyIds)) note(key)
    return owners
  }

  /** Those that are on disk, which are read once while nobody writes decisions. */
  async #known(keyIds: readonly string[]): Promise<KnownKey[]> {
    const { epoch } = this.#memory
    const name = `${epoch} ${keyIds.join()}`
    const read =
      this.#reads.get(name) ?? this.#memory.read(({ encryptionKeys }) => encryptionKeys.of(keyIds))
    read.catch(() => this.#reads.delete(name))
    if (epoch !== null && keyIds.length <= FEW_KEYS) this.#reads.set(name, read)
    return await read
  }
}

const idOf = ({ keyId, userId }: KnownKey): string => `${keyId} ${userId}`

/** The key id of a version 4 fingerprint (RFC 9580, 5.5.4.2). */
export const keyIdOf = (fingerprint: string): string => fingerprint.slice(-16)
