export type RecordKey = string | number

/** A kind of record, and how its values are stored. */
export interface RecordKind<V> {
  /** Its name in the file. */
  name: string
  /** Gives JSON or bytes. What is left out here is made anew by `read`. */
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
 * Where a world is stored: in memory alone, or in a file too. All state of the service lives in
 * maps from here, so every change reaches the file.
 */
export interface Persistence extends AsyncDisposable {
  /**
   * The map of a kind, with the entries that were stored before.
   * @param owner tells apart several maps of the same kind
   */
  map<K extends RecordKey, V>(kind: RecordKind<V>, owner?: RecordKey): Map<K, V>
  /** Writes all changes so far in one transaction, and from now on each change soon. */
  start(): Promise<void>
  /**
   * Resolves when all changes so far are written and survive the death of this process.
   * @throws OperatorError when they could not be written; the next call tries again
   */
  flush(): Promise<void>
  /** Every record as it is now; later changes of the maps do not reach these rows. */
  rows(): RecordRow[]
  /**
   * Makes the persistence of a world that takes this one's place and begins with these rows. Its
   * `start` replaces everything that was stored by what its maps hold, in one transaction; from then
   * on, changes of this one's maps are written nowhere. When that fails, this one goes on.
   */
  successor(rows: readonly RecordRow[]): Persistence
}

/** A kind whose values are stored as they are. */
export function plainKind<V>(name: string): RecordKind<V> {
  return { name, write: (value) => value, read: (stored) => stored as V }
}
