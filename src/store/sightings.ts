import { Mutex } from '../util/scheduling.ts'
import type { Change, DueSightings } from './store.ts'

/** Runs a transaction; `onWritten` once it is on disk, before any other write begins. */
type OrderedWrite = <T>(change: Change<T>, onWritten: (result: T) => void) => Promise<T>

/** How long after a failed write the next one is tried. */
const RETRY_MS = 1000

/** Sightings of all classes, written before anything else is, and again until that works. */
export class SightingWriter {
  readonly #write: OrderedWrite
  readonly #sightings: DueSightings[] = []
  readonly #mutex = new Mutex()
  #retry: NodeJS.Timeout | null = null
  #isFinished = false

  constructor(write: OrderedWrite) {
    this.#write = write
  }

  add(sightings: DueSightings): void {
    this.#sightings.push(sightings)
  }

  get isDue(): boolean {
    return this.#sightings.some((one) => one.isDue())
  }

  /**
   * Resolves when everything that was observed before the call is on disk; concurrent calls share
   * one transaction.
   * @throws the error of the write, which is then repeated every second
   */
  async settle(): Promise<void> {
    if (!this.isDue) return
    try {
      await this.#mutex.run(() => this.#writeDue())
    } catch (error) {
      this.#retryLater()
      throw error
    }
  }

  /** Repeats failed writes at once. */
  retry(): void {
    void this.settle().catch(() => undefined)
  }

  async #writeDue(): Promise<void> {
    const due = this.#sightings.filter((one) => one.isDue())
    if (due.length === 0) return
    await this.#write(
      async (db) => {
        const written: (() => void)[] = []
        for (const sightings of due) written.push(await sightings.save(db))
        return written
      },
      (written) => written.forEach((onWritten) => onWritten()),
    )
  }

  #retryLater(): void {
    if (this.#retry !== null || this.#isFinished) return
    this.#retry = setTimeout(() => {
      this.#retry = null
      this.retry()
    }, RETRY_MS).unref()
  }

  /** Writes due sightings a last time, before the store is closed. */
  async finish(): Promise<void> {
    this.#isFinished = true
    if (this.#retry !== null) clearTimeout(this.#retry)
    await this.settle().catch(() => undefined)
  }
}
