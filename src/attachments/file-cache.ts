/** Files that stay for a while after they were opened, and for as long as somebody reads them. */
import { BoundedCache } from '../util/caches.ts'
import { onlyOnce } from '../util/scheduling.ts'

/** A file that occupies disk space until it is closed. */
export interface Cacheable {
  file: { readonly restingBytes: number; close(): Promise<void> }
}

/** The right to read a cached file until it is released. */
export interface ReadHandle<T> {
  readonly value: T
  /** May be called more than once. */
  readonly release: () => void
}

/** A file while it is cached or read. */
export class CacheEntry<T extends Cacheable> {
  readonly value: T
  #readers = 0
  #isDropped = false

  constructor(value: T) {
    this.value = value
  }

  /** The right to read it; null when it is gone already. */
  acquire(): ReadHandle<T> | null {
    if (this.#isDropped && this.#readers === 0) return null
    this.#readers++
    const release = onlyOnce(() => {
      this.#readers--
      this.#closeIfDone()
    })
    return { value: this.value, release }
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
export class FileCache<T extends Cacheable> implements Disposable {
  readonly #entries: BoundedCache<string, CacheEntry<T>>

  constructor(bounds: { maxBytes: number; maxFiles: number; maxAgeMs: number }) {
    this.#entries = new BoundedCache(bounds.maxFiles, {
      maxSize: bounds.maxBytes,
      ttl: bounds.maxAgeMs,
      ttlAutopurge: true,
      sizeCalculation: ({ value }) => Math.max(1, value.file.restingBytes),
      dispose: (entry) => entry.drop(),
    })
  }

  /** Adds a file. One that is too large for the cache stays until its reader is done. */
  add(key: string, value: T): CacheEntry<T> {
    const entry = new CacheEntry(value)
    const first = entry.acquire()
    this.#entries.set(key, entry)
    if (!this.#entries.has(key)) entry.drop()
    // Requests that wait for the file acquire it before that.
    setImmediate(() => first?.release())
    return entry
  }

  /** The right to read a cached file; null when there is none under this key. */
  get(key: string): ReadHandle<T> | null {
    return this.#entries.get(key)?.acquire() ?? null
  }

  /** Forgets a file; it is closed once nobody reads it. */
  drop(key: string): void {
    this.#entries.delete(key)
  }

  [Symbol.dispose](): void {
    this.#entries.clear()
  }
}
