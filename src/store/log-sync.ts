import { open, type FileHandle } from 'node:fs/promises'
import { errnoOf } from './files.ts'

/**
 * Brings the write-ahead log to the disk without holding anything else up: what was committed
 * without waiting for it (synchronous=NORMAL) is there when this is done (sqlite.org/wal.html).
 */
export class LogSync implements AsyncDisposable {
  readonly #file: string
  #handle: FileHandle | null = null
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null

  /** @param file where the log lies; it need not be there yet */
  constructor(file: string) {
    this.#file = file
  }

  /**
   * Resolves when all that was written before the call is on the disk. Who asks while one is under
   * way shares the one after it with all others who do.
   * @throws an error of node:fs
   */
  async sync(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = null
        this.#running = this.#bring()
        return this.#running
      })
    await this.#next
  }

  async #bring(): Promise<void> {
    try {
      this.#handle ??= await open(this.#file, 'r')
    } catch (error) {
      // Nothing was ever written: there is no log yet.
      if (errnoOf(error) === 'ENOENT') return
      throw error
    }
    await this.#handle.datasync()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.catch(() => {})
    await this.#handle?.close()
    this.#handle = null
  }
}
