/** Files that are kept for a while after they were opened, and for as long as somebody reads them. */
import { LRUCache } from 'lru-cache'

/** What is kept: anything that takes room until it is closed. */
export interface Keepable {
  file: { readonly restingBytes: number; close(): Promise<void> }
}

/** The right to read a kept file until it is given back. */
export interface Lease<T> {
  readonly value: T
  /** May be called more than once. */
  release(): void
}

/** A file while it is kept or read. */
export class Entry<T extends Keepable> {
  readonly value: T
  #readers = 0
  #isDropped = false

  constructor(value: T) {
    this.value = value
  }

  /** The right to read it; null when it is gone already. */
  lease(): Lease<T> | null {
    if (this.#isDropped && this.#readers === 0) return null
    this.#readers++
    let isReleased = false
    return {
      value: this.value,
      release: () => {
        if (isReleased) return
        isReleased = true
        this.#readers--
        this.#closeIfDone()
      },
    }
  }

  drop(): void {
    this.#isDropped = true
    this.#closeIfDone()
  }

  #closeIfDone(): void {
    // A file that cannot be closed is gone with the process.
    if (this.#isDropped && this.#readers === 0) void this.value.file.close().catch(() => undefined)
  }
}

/** A cache bounded by size on the disk, by count and by age. */
export class Kept<T extends Keepable> implements Disposable {
  readonly #entries: LRUCache<string, Entry<T>>

  constructor(bounds: { maxOctets: number; maxFiles: number; maxAgeMs: number }) {
    this.#entries = new LRUCache({
      max: bounds.maxFiles,
      maxSize: bounds.maxOctets,
      ttl: bounds.maxAgeMs,
      ttlAutopurge: true,
      sizeCalculation: ({ value }) => Math.max(1, value.file.restingBytes),
      dispose: (entry) => entry.drop(),
    })
  }

  /** Keeps a file, unless it is too large to be kept: then it stays until its reader is done. */
  add(key: string, value: T): Entry<T> {
    const entry = new Entry(value)
    const first = entry.lease()
    this.#entries.set(key, entry)
    if (!this.#entries.has(key)) entry.drop()
    // Whoever waited for it takes it up before that.
    setImmediate(() => first?.release())
    return entry
  }

  /** The right to read what is kept; null when nothing is. */
  get(key: string): Lease<T> | null {
    return this.#entries.get(key)?.lease() ?? null
  }

  [Symbol.dispose](): void {
    this.#entries.clear()
  }
}
