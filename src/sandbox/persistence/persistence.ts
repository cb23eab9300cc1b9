export type RecordKey = string | number

/** A kind of record, and how its values are stored. */
export interface RecordKind<V> {
  /** Its name in the file. */
  name: string
  /** Gives JSON or bytes. `read` recreates the fields that are left out here. */
  write(value: V): unknown
  read(stored: unknown): V
}

/** A record of any kind, detached from its map. Rows of one map are in the order of its entries. */
export interface RecordRow {
  kind: string
  owner: string
  /** JSON. */
  key: string
  /** JSON, or bytes. */
  value: string | Uint8Array
}

/**
 * Holds a world in memory alone; `FilePersistence` stores it in a file too. All state of the service
 * lives in maps from here, so every change reaches the file.
 */
export class Persistence implements AsyncDisposable {
  /** The rows of maps that are not opened yet. */
  readonly #unopened: Map<string, RecordRow[]>
  readonly #opened = new Map<string, () => RecordRow[]>()

  constructor(rows: readonly RecordRow[] = []) {
    this.#unopened = Map.groupBy(rows, ({ kind, owner }) => `${kind}\0${owner}`)
  }

  /**
   * The map of a kind, with the entries that were stored before. Each is opened once.
   * @param as a kind, or the name of one whose values are stored as they are
   * @param of distinguishes several maps of the same kind
   */
  map<K extends RecordKey, V>(as: RecordKind<V> | string, of: RecordKey = ''): Map<K, V> {
    const kind = typeof as === 'string' ? plainKind<V>(as) : as
    const owner = String(of)
    const name = `${kind.name}\0${owner}`
    const rows = this.#unopened.get(name) ?? []
    this.#unopened.delete(name)
    const entries = rows.map(({ key, value }): [K, V] => [
      JSON.parse(key) as K,
      kind.read(typeof value === 'string' ? JSON.parse(value) : value),
    ])
    const map = this.makeMap({ kind, owner }, entries)
    this.#opened.set(name, () =>
      Array.from(map, ([key, value]) => ({
        kind: kind.name,
        owner,
        key: JSON.stringify(key),
        value: encode(kind.write(value)),
      })),
    )
    return map
  }

  /** Makes the map of a kind and owner with these entries. */
  protected makeMap<K extends RecordKey, V>(
    _of: { kind: RecordKind<V>; owner: string },
    entries: readonly [K, V][],
  ): Map<K, V> {
    return new Map(entries)
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
    return new Persistence(rows)
  }

  /** Writes all changes so far in one transaction, and from now on each change soon. */
  async start(): Promise<void> {}

  /**
   * Resolves when all changes so far are written and survive the death of this process.
   * @throws OperatorError when they could not be written; the next call tries again
   */
  async flush(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

function plainKind<V>(name: string): RecordKind<V> {
  return { name, write: (value) => value, read: (stored) => stored as V }
}

/** A value as a row holds it. @param written what its kind's `write` gave */
export function encode(written: unknown): string | Uint8Array {
  return written instanceof Uint8Array ? written : JSON.stringify(written)
}
