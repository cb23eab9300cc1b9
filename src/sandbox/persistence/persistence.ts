/**
 * Where the world is kept: in memory alone, or in a file too. Everything that the service
 * remembers stands in maps that a persistence hands out, so nothing can be forgotten to be written.
 */
export type RecordKey = string | number

/** How the values of a map are written down. */
export interface RecordKind<V> {
  /** Its name in the file. */
  name: string
  /** JSON or octets; what is not in it is made again by `read`. */
  write(value: V): unknown
  read(stored: unknown): V
}

export interface Persistence extends AsyncDisposable {
  /** A map of that kind, `owner` telling it from others of the same; with what was kept of it. */
  map<K extends RecordKey, V>(kind: RecordKind<V>, owner?: RecordKey): Map<K, V>
  /** Writes down what was done so far, in one piece, and from now on everything at once. */
  begin(): Promise<void>
  /**
   * Resolves when everything that was changed so far is on its way to disk and safe from the
   * death of this process. @throws OperatorError when it could not be written; it is tried again next time
   */
  flush(): Promise<void>
}

/** A kind whose values are written as they are. */
export function plainKind<V>(name: string): RecordKind<V> {
  return { name, write: (value) => value, read: (stored) => stored as V }
}

/** Keeps nothing beyond this process. */
export const IN_MEMORY: Persistence = {
  map: () => new Map(),
  begin: () => Promise.resolve(),
  flush: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}
