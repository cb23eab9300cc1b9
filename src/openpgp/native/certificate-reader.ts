/** Reading certificates of the common shape: a few here, many in threads. */
import type { CertificateInfo } from './certificate-info.ts'
import { readCommonCertificate } from './common-certificate.ts'
import type { Threads } from './threads.ts'

interface PendingRead {
  armored: string
  resolve: (info: CertificateInfo | null) => void
}

/** As many as are read here; each takes a quarter of a millisecond. */
const FEW = 3
/** What one thread is given at a time. */
const CHUNK = 16

/** Takes in what is asked for in one turn, and gives it out in pieces: threads need not wait. */
export class CertificateReader {
  readonly #threads: Threads
  #asked: PendingRead[] = []

  constructor(threads: Threads) {
    this.#threads = threads
  }

  /** What is read of a certificate; null when it is not of the common shape, or nobody is there. */
  read(armored: string): Promise<CertificateInfo | null> {
    return new Promise((resolve) => {
      if (this.#asked.push({ armored, resolve }) === 1) queueMicrotask(() => this.#flush())
      if (this.#asked.length === CHUNK) this.#flush()
    })
  }

  #flush(): void {
    const all = this.#asked
    this.#asked = []
    const nowMs = Date.now()
    if (all.length > FEW) return void this.#send(all, nowMs)
    for (const { armored, resolve } of all) resolve(readCommonCertificate(armored, nowMs))
  }

  async #send(chunk: PendingRead[], nowMs: number): Promise<void> {
    const texts = chunk.map(({ armored }) => armored)
    const info = await this.#threads.read(texts, nowMs).catch(() => [])
    for (const [index, { resolve }] of chunk.entries()) resolve(info[index] ?? null)
  }
}
