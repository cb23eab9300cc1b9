/**
 * Where the world is kept: in memory alone, or in a file too. Everything that the service
 * remembers stands in maps that a keep hands out, so nothing can be forgotten to be written.
 */
export type Key = string | number

/** How the values of a map are written down. */
export interface Kind<V> {
  /** Its name in the file. */
  name: string
  /** JSON or octets; what is not in it is made again by `read`. */
  write(value: V): unknown
  read(stored: unknown): V
}

export interface Keep extends AsyncDisposable {
  /** A map of that kind, `owner` telling it from others of the same; with what was kept of it. */
  map<K extends Key, V>(kind: Kind<V>, owner?: Key): Map<K, V>
  /** Writes down what was done so far, in one piece, and from now on everything at once. */
  begin(): Promise<void>
  /**
   * Resolves when everything that was changed so far is on its way to disk and safe from the
   * death of this process. @throws OperatorError when it could not be written; it is tried again next time
   */
  settled(): Promise<void>
}

/** A kind whose values are written as they are. */
export function plain<V>(name: string): Kind<V> {
  return { name, write: (value) => value, read: (stored) => stored as V }
}

/** Keeps nothing beyond this process. */
export const IN_MEMORY: Keep = {
  map: () => new Map(),
  begin: () => Promise.resolve(),
  settled: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}
