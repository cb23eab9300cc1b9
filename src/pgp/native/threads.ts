/** Threads for what is computed for many at once: none of it holds up the loop, or libuv's pool. */
import type { UnlockedKey } from '../engine.ts'
import { Pool, type ThreadLoad } from '../pool.ts'
import type { CertificateFacts } from './facts.ts'
import { readRecord } from './record.ts'
import type { SessionKey } from './session-key.ts'

/** Far more than any step takes, however busy the machine is. */
const DEADLINE_MS = 20_000

export class Threads implements AsyncDisposable {
  readonly #pool: Pool<'native/worker'>
  /** How many there are at most. */
  readonly count: number

  /** @param killed called with a job's name when a thread died of it */
  constructor(count: number, killed?: (job: string) => void) {
    this.count = count
    this.#pool = new Pool('native/worker', count, killed)
  }

  /**
   * Makes recipient packets for a few members.
   * @throws JobKilled when the threads are gone; Error when one cannot be sealed to
   */
  async pack(members: Uint8Array, { cipher, data }: SessionKey): Promise<Uint8Array> {
    const copy = new Uint8Array(data)
    try {
      const given = [new Uint8Array(members), { cipher, data: copy }] as const
      return await this.#pool.run('pack', [...given], DEADLINE_MS)
    } finally {
      copy.fill(0)
    }
  }

  /** Makes pairs ahead, in one of the threads. @returns whether it has room for more */
  async restock(): Promise<boolean> {
    return await this.#pool.run('restock', [], DEADLINE_MS)
  }

  /** Reads certificates; null for those that are not of the common shape. */
  async read(certificates: string[], atMs: number): Promise<(CertificateFacts | null)[]> {
    const records = await this.#pool.run('read', [certificates, atMs], DEADLINE_MS)
    return records.map((record) => record && readRecord(Buffer.from(record), 0))
  }

  /**
   * Unlocks a secret key of the bot's; null when it is not of the common forms.
   * @throws Error `wrong-passphrase`
   */
  async unlock(armored: string, passphrase: string): Promise<UnlockedKey | null> {
    return await this.#pool.run('unlock', [armored, passphrase], DEADLINE_MS)
  }

  get load(): ThreadLoad {
    return this.#pool.load
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]()
  }
}
