/** Threads for what is computed for many at once, and which work goes first on them. */
import { Mutex } from '../../util/scheduling.ts'
import type { UnlockedKey } from '../engine.ts'
import type { ArmoredPackets } from '../format/armor-writer.ts'
import { Pool, type PoolEvents, type ThreadLoad } from '../pool.ts'
import type { CertificateInfo } from './certificate-info.ts'
import { unpackRecord } from './record-table.ts'
import type { NativeJobs } from './worker.ts'
import type { WrapJob } from './wrap-session-key.ts'

/** Far more than any step takes, however busy the machine is. */
const DEADLINE_MS = 20_000

export class Threads implements AsyncDisposable {
  readonly #pool: Pool<NativeJobs>
  /** How many there are at most. */
  readonly count: number

  constructor(count: number, events?: PoolEvents) {
    this.count = count
    this.#pool = new Pool('native/worker', count, events)
  }

  /**
   * Has a thread make recipient packets, so many blocks of them at most.
   * @returns whether there may be more to do
   * @throws JobKilled when the thread died, EngineUnavailableError when none could be had; Error
   *   when one cannot be sealed to
   */
  async wrap(job: WrapJob, blocks: number): Promise<boolean> {
    return await this.#pool.run('wrap', [job, blocks], DEADLINE_MS)
  }

  /** Puts recipient packets into armor. @throws JobKilled as `wrap` */
  async armor(packets: Uint8Array[]): Promise<ArmoredPackets> {
    return await this.#pool.run('armor', [packets], DEADLINE_MS)
  }

  /** Makes pairs ahead, in one of the threads. @returns whether it has room for more */
  async refillEphemerals(): Promise<boolean> {
    return await this.#pool.run('refillEphemerals', [], DEADLINE_MS)
  }

  /** Reads certificates; null for those that are not of the common shape. */
  async read(certificates: string[], atMs: number): Promise<(CertificateInfo | null)[]> {
    const records = await this.#pool.run('read', [certificates, atMs], DEADLINE_MS)
    return records.map((record) => record && unpackRecord(Buffer.from(record), 0))
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

/** Lets work that somebody waits for go before work that is done ahead of time. */
export class WorkPriority {
  #urgent = 0
  #waiting: (() => void)[] = []
  readonly #background = new Mutex()

  /** Does work that goes first. */
  async urgent<T>(work: () => Promise<T>): Promise<T> {
    this.#urgent++
    try {
      return await work()
    } finally {
      this.#urgent--
      if (this.#urgent === 0) for (const go of this.#waiting.splice(0)) go()
    }
  }

  /** Does a piece of work ahead of time, when nothing goes first and no other piece is done. */
  async background<T>(work: () => Promise<T>): Promise<T> {
    return await this.#background.run(async () => {
      await this.#free()
      return await work()
    })
  }

  /** Resolves when nothing goes first. */
  async #free(): Promise<void> {
    while (this.#urgent > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
