import type { RecordRow, WorldFile } from './file.ts'

export type { RecordRow } from './file.ts'

/** A kind of record, and how its values are stored. */
export interface RecordKind<V> {
  /** Its name in the file. */
  name: string
  /** Gives JSON or bytes. `read` recreates the fields that are left out here. */
  write: (value: V) => unknown
  read: (stored: unknown) => V
}

/** An entry that differs from what the file has. */
interface PendingWrite {
  id: Omit<RecordRow, 'value'>
  /** The row to write; undefined when the entry was deleted. */
  row(): RecordRow | undefined
  /** It was deleted; when it is added again, it is the last of its map. */
  wasDeleted: boolean
}

/**
 * Holds a world in memory, and stores it in a file where it has one. All state of the service lives
 * in maps from here, so every change reaches the file.
 */
export class Persistence implements AsyncDisposable {
  readonly #file: WorldFile | null
  /** What this one replaces when it starts; null from then on, so that it can be freed. */
  #before: Persistence | null
  /** The rows of maps that are not opened yet. */
  readonly #unopened: Map<string, RecordRow[]>
  readonly #opened = new Map<string, () => RecordRow[]>()
  readonly #pending = new Map<string, PendingWrite>()
  #state: 'new' | 'started' | 'replaced' = 'new'
  #isWriteScheduled = false

  /** @param rows records to begin with. @param file absent: in memory alone. @param before see `successor` */
  constructor(
    rows: readonly RecordRow[] = [],
    file: WorldFile | null = null,
    before: Persistence | null = null,
  ) {
    this.#file = file
    this.#before = before
    this.#unopened = Map.groupBy(rows, ({ kind, owner }) => `${kind}\0${owner}`)
  }

  /**
   * The map of a kind, with the entries that were stored before. Each is opened once.
   * @param as a kind, or the name of one whose values are stored as they are
   * @param of distinguishes several maps of the same kind
   */
  map<K extends RecordKey, V>(as: RecordKind<V> | string, of: RecordKey = ''): Map<K, V> {
    const plain = { write: (value: V): unknown => value, read: (stored: unknown) => stored as V }
    const { name: kind, write, read } = typeof as === 'string' ? { name: as, ...plain } : as
    const owner = String(of)
    const name = `${kind}\0${owner}`
    const entries = this.#unopened
      .get(name)
      ?.map(({ key, value }): [K, V] => [
        JSON.parse(key) as K,
        read(typeof value === 'string' ? JSON.parse(value) : value),
      ])
    this.#unopened.delete(name)
    const idOf = (key: K) => ({ kind, owner, key: JSON.stringify(key) })
    const rowOf = (key: K): RecordRow => {
      const written = write(map.get(key) as V)
      const value = written instanceof Uint8Array ? written : JSON.stringify(written)
      return { ...idOf(key), value }
    }
    const onChange = (key: K, isDeleted: boolean): void => {
      const row = (): RecordRow | undefined => (map.has(key) ? rowOf(key) : undefined)
      this.#addPending({ id: idOf(key), row, wasDeleted: isDeleted })
    }
    const map = this.#file === null ? new Map(entries) : new ObservedMap(entries ?? [], onChange)
    this.#opened.set(name, () => Array.from(map.keys(), rowOf))
    return map
  }

  #addPending(write: PendingWrite): void {
    if (this.#state === 'replaced') return
    const name = Object.values(write.id).join('\0')
    const wasDeleted = write.wasDeleted || this.#pending.get(name)?.wasDeleted === true
    this.#pending.set(name, { ...write, wasDeleted })
    if (this.#isWriteScheduled) return
    this.#isWriteScheduled = true
    setImmediate(() => {
      this.#isWriteScheduled = false
      void this.flush().catch(() => undefined)
    })
  }

  /** Every record as it is now; later changes of the maps do not reach these rows. */
  rows(): RecordRow[] {
    const opened = [...this.#opened.values()].flatMap((rowsOf) => rowsOf())
    return [...opened, ...[...this.#unopened.values()].flat()]
  }

  /**
   * Makes the persistence of this world's successor, which begins with these rows. Its `start`
   * replaces all stored rows by those of its maps, in one transaction; from then on, changes of
   * this one's maps are not written. When that fails, this one continues.
   */
  successor(rows: readonly RecordRow[]): Persistence {
    return new Persistence(rows, this.#file, this)
  }

  /** Writes all changes so far in one transaction, and from now on each change soon. */
  async start(): Promise<void> {
    if (this.#before !== null) {
      this.#pending.clear()
      this.#file?.write('all', this.rows())
      this.#before.#state = 'replaced'
      this.#before.#pending.clear()
      this.#before = null
    }
    this.#state = 'started'
    await this.flush()
  }

  /**
   * Resolves when all changes so far are written and survive the death of this process.
   * @throws OperatorError when they could not be written; the next call tries again
   */
  async flush(): Promise<void> {
    if (this.#state === 'new' || this.#pending.size === 0) return
    const changes = Array.from(this.#pending.values(), (write) => ({ ...write, row: write.row() }))
    const rows = changes.flatMap(({ row }) => row ?? [])
    const deleted = changes.filter(({ wasDeleted, row }) => wasDeleted || row === undefined)
    const ids = deleted.map(({ id }) => id)
    this.#file?.write(ids, rows)
    this.#pending.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The file belongs to another persistence: the former one, or the successor.
    if (this.#before !== null || this.#state === 'replaced') return
    try {
      await this.flush()
    } finally {
      this.#file?.close()
    }
  }
}

type RecordKey = string | number

/** Called after an entry was added or changed, and before one is deleted. */
type MapListener<K> = (key: K, isDeleted: boolean) => void

/**
 * A map that reports every change, also when a field of one of its values is set. It observes the
 * values that `get` gives: to change a value after adding it, get it back first.
 */
class ObservedMap<K extends RecordKey, V> extends Map<K, V> {
  readonly #listener: MapListener<K>

  /** @param entries the first entries, which are not reported */
  constructor(entries: Iterable<[K, V]>, listener: MapListener<K>) {
    super()
    this.#listener = listener
    for (const [key, value] of entries) this.#add(key, value)
  }

  override set(key: K, value: V): this {
    this.#add(key, value)
    this.#listener(key, false)
    return this
  }

  #add(key: K, value: V): void {
    const onChange = (): void => this.#listener(key, false)
    super.set(key, observed(value, onChange))
  }

  override delete(key: K): boolean {
    if (!this.has(key)) return false
    this.#listener(key, true)
    return super.delete(key)
  }

  override clear(): void {
    for (const key of this.keys()) this.#listener(key, true)
    super.clear()
  }
}

/** Wraps a plain object so that setting a field calls back; gives any other value as it is. */
function observed<V>(value: V, onChange: () => void): V {
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return new Proxy(value, {
    set: (target, name, next) => {
      onChange()
      return Reflect.set(target, name, next)
    },
  })
}
