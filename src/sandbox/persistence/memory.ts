import type { Persistence, RecordKey, RecordKind } from './persistence.ts'
import { RecordMaps, type Row } from './record-maps.ts'

/** Holds a world in memory alone. */
export class MemoryPersistence implements Persistence {
  readonly #maps: RecordMaps

  constructor(rows: readonly Row[] = []) {
    this.#maps = new RecordMaps(rows)
  }

  map<K extends RecordKey, V>(kind: RecordKind<V>, owner: RecordKey = ''): Map<K, V> {
    return this.#maps.open<K, V>({ kind, owner }, (entries) => new Map(entries))
  }

  rows(): Row[] {
    return this.#maps.rows()
  }

  successor(rows: readonly Row[]): Persistence {
    return new MemoryPersistence(rows)
  }

  start(): Promise<void> {
    return Promise.resolve()
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}
