/** Threads for batches of work: their priorities, and the certificates that they read. */
import { Mutex } from '../../util/scheduling.ts'
import { bufferOf } from '../bytes.ts'
import type { Pool } from '../pool.ts'
import { readCommonCertificate } from './common-certificate.ts'
import { unpackRecord } from './certificate-record.ts'
import type { NativeJobs } from './worker.ts'
import type { CertificateInfo } from '../certificate-info.ts'

export type Threads = Pick<Pool<NativeJobs>, 'run' | 'size'>

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
      while (this.#urgent > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      return await work()
    })
  }
}

interface PendingRead {
  armored: string
  resolve: (info: CertificateInfo | null) => void
}

/** Up to as many certificates are read on this thread; each needs a quarter of a millisecond. */
const FEW = 3
/** Certificates given to one thread at a time. */
const CHUNK = 16

/** Batches the requests of one turn, and gives them to threads in pieces. */
export class CertificateReader {
  readonly #threads: Threads
  readonly #nowMs: () => number
  #asked: PendingRead[] = []

  constructor(threads: Threads, nowMs = (): number => Date.now()) {
    this.#threads = threads
    this.#nowMs = nowMs
  }

  /** Info of a certificate; null when it is not of the common shape, or no thread is available. */
  read(armored: string): Promise<CertificateInfo | null> {
    return new Promise((resolve) => {
      if (this.#asked.push({ armored, resolve }) === 1) queueMicrotask(() => this.#flush())
      if (this.#asked.length === CHUNK) this.#flush()
    })
  }

  #flush(): void {
    const all = this.#asked
    this.#asked = []
    const nowMs = this.#nowMs()
    if (all.length > FEW) return void this.#send(all, nowMs)
    for (const { armored, resolve } of all) resolve(readCommonCertificate(armored, nowMs))
  }

  async #send(chunk: PendingRead[], nowMs: number): Promise<void> {
    const texts = chunk.map(({ armored }) => armored)
    const records = await this.#threads.run('read', [texts, nowMs]).catch(() => [])
    for (const [index, { resolve }] of chunk.entries()) {
      const record = records[index]
      resolve(record == null ? null : unpackRecord(bufferOf(record)))
    }
  }
}
