import type { Persistence, RecordKey, RecordKind, RecordRow } from './persistence.ts'

/** The maps of a world by kind and owner, and the rows from which none was opened yet. */
export class RecordMaps {
  readonly #unopened: Map<string, RecordRow[]>
  readonly #open = new Map<string, () => RecordRow[]>()

  constructor(rows: readonly RecordRow[]) {
    this.#unopened = Map.groupBy(rows, ({ kind, owner }) => mapName(kind, owner))
  }

  /**
   * Opens a map with the entries of its rows. Each is opened once.
   * @param make gives the map that holds these entries
   */
  open<K extends RecordKey, V>(
    { kind, owner }: { kind: RecordKind<V>; owner: RecordKey },
    make: (entries: [K, V][]) => Map<K, V>,
  ): Map<K, V> {
    const name = mapName(kind.name, String(owner))
    const rows = this.#unopened.get(name) ?? []
    this.#unopened.delete(name)
    const map = make(
      rows.map(({ key, value }): [K, V] => [
        JSON.parse(key) as K,
        kind.read(typeof value === 'string' ? JSON.parse(value) : value),
      ]),
    )
    this.#open.set(name, () =>
      [...map].map(([key, value]) => ({
        kind: kind.name,
        owner: String(owner),
        key: JSON.stringify(key),
        value: encodeValue(kind.write(value)),
      })),
    )
    return map
  }

  /** Every record as it is now. */
  rows(): RecordRow[] {
    const opened = [...this.#open.values()].flatMap((rowsOf) => rowsOf())
    return [...opened, ...[...this.#unopened.values()].flat()]
  }
}

/** The name of a map, which no other has. */
export const mapName = (kind: string, owner: string): string => `${kind}\0${owner}`

/** A value as a row holds it. @param written what its kind's `write` gave */
export function encodeValue(written: unknown): string | Uint8Array {
  return written instanceof Uint8Array ? written : JSON.stringify(written)
}

/** Holds a world in memory alone. */
export class MemoryPersistence implements Persistence {
  readonly #maps: RecordMaps

  constructor(rows: readonly RecordRow[] = []) {
    this.#maps = new RecordMaps(rows)
  }

  map<K extends RecordKey, V>(kind: RecordKind<V>, owner: RecordKey = ''): Map<K, V> {
    return this.#maps.open<K, V>({ kind, owner }, (entries) => new Map(entries))
  }

  rows(): RecordRow[] {
    return this.#maps.rows()
  }

  successor(rows: readonly RecordRow[]): Persistence {
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
