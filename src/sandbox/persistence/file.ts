import { Kysely } from 'kysely'
import type { Persistence, RecordKey, RecordKind } from './persistence.ts'
import { ObservedMap } from './observed-map.ts'
import { openDatabase, toOperatorError, type Row, type WorldDatabase } from './database.ts'

/** An entry that differs from what the file has. */
interface PendingWrite {
  kind: string
  owner: string
  key: string
  /** The value to write: JSON, bytes, or undefined when the entry was deleted. */
  current(): string | Uint8Array | undefined
  /** It was deleted; when it is added again, it is the last of its map. */
  wasDeleted: boolean
}

const ROWS_AT_ONCE = 500

/** Stores a world in a SQLite file that one process has to itself. */
export class FilePersistence implements Persistence {
  readonly #file: string
  readonly #db: Kysely<WorldDatabase>
  readonly #loaded: Map<string, Row[]>
  #pending = new Map<string, PendingWrite>()
  #writing: Promise<void> | null = null
  #isStarted = false

  #isWriteScheduled = false

  private constructor(file: string, db: Kysely<WorldDatabase>, loaded: Map<string, Row[]>) {
    this.#file = file
    this.#db = db
    this.#loaded = loaded
  }

  /**
   * Opens a file, or creates it (mode 0600).
   * @throws OperatorError when it is in use, corrupt, another program's or a newer version's; the
   *   file is not changed then
   */
  static async open(file: string): Promise<FilePersistence> {
    const { db, rows } = await openDatabase(file)
    return new FilePersistence(
      file,
      db,
      Map.groupBy(rows, ({ kind, owner }) => mapName(kind, owner)),
    )
  }

  map<K extends RecordKey, V>(kind: RecordKind<V>, owner: RecordKey = ''): Map<K, V> {
    const name = mapName(kind.name, String(owner))
    const rows = this.#loaded.get(name) ?? []
    this.#loaded.delete(name)
    const entries = rows.map(({ key, value }): [K, V] => [
      JSON.parse(key) as K,
      kind.read(typeof value === 'string' ? JSON.parse(value) : value),
    ])
    const addPending = (key: K, isDeleted: boolean): void => {
      this.#scheduleWrite()
      const written = JSON.stringify(key)
      const known = this.#pending.get(`${name}\0${written}`)
      this.#pending.set(`${name}\0${written}`, {
        kind: kind.name,
        owner: String(owner),
        key: written,
        wasDeleted: isDeleted || known?.wasDeleted === true,
        current: () => (map.has(key) ? encoded(kind.write(map.get(key) as V)) : undefined),
      })
    }
    const map = new ObservedMap<K, V>(entries, {
      onChange: (key) => addPending(key, false),
      onDelete: (key) => addPending(key, true),
    })
    return map
  }

  #scheduleWrite(): void {
    if (this.#isWriteScheduled) return
    this.#isWriteScheduled = true
    setImmediate(() => {
      this.#isWriteScheduled = false
      void this.flush().catch(() => undefined)
    })
  }

  async start(): Promise<void> {
    this.#isStarted = true
    await this.flush()
  }

  async flush(): Promise<void> {
    if (!this.#isStarted) return
    while (this.#writing !== null || this.#pending.size > 0) {
      this.#writing ??= this.#write().finally(() => (this.#writing = null))
      await this.#writing
    }
  }

  /** Writes all pending changes in one transaction. */
  async #write(): Promise<void> {
    const pending = this.#pending
    this.#pending = new Map()
    const changes = [...pending.values()].map((write) => ({ ...write, value: write.current() }))
    const deleted = changes.filter(({ wasDeleted, value }) => wasDeleted || value === undefined)
    const rows = changes.flatMap(({ kind, owner, key, value }) =>
      value === undefined ? [] : [{ kind, owner, key, value }],
    )
    try {
      await this.#db.transaction().execute(async (db) => {
        for (const [one, ...more] of chunksOf(deleted)) {
          await db
            .deleteFrom('records')
            .where('kind', '=', one.kind)
            .where('owner', '=', one.owner)
            .where(
              'key',
              'in',
              [one, ...more].map(({ key }) => key),
            )
            .execute()
        }
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
          await db
            .insertInto('records')
            .values(rows.slice(at, at + ROWS_AT_ONCE))
            .onConflict((conflict) =>
              conflict
                .columns(['kind', 'owner', 'key'])
                .doUpdateSet((excluded) => ({ value: excluded.ref('excluded.value') })),
            )
            .execute()
        }
      })
    } catch (error) {
      for (const [name, write] of this.#pending) {
        write.wasDeleted ||= pending.get(name)?.wasDeleted === true
        pending.set(name, write)
      }
      this.#pending = pending
      throw toOperatorError(error, this.#file)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.flush()
    } finally {
      await this.#db.destroy()
    }
  }
}

const mapName = (kind: string, owner: string): string => `${kind}\0${owner}`

/** Groups entries by map, in lists that fit into one statement. */
function chunksOf<E extends Pick<Row, 'kind' | 'owner'>>(entries: E[]): [E, ...E[]][] {
  const chunks: [E, ...E[]][] = []
  for (const some of Map.groupBy(entries, ({ kind, owner }) => mapName(kind, owner)).values()) {
    for (let at = 0; at < some.length; at += ROWS_AT_ONCE) {
      const [first, ...rest] = some.slice(at, at + ROWS_AT_ONCE)
      if (first !== undefined) chunks.push([first, ...rest])
    }
  }
  return chunks
}

function encoded(written: unknown): string | Uint8Array {
  return written instanceof Uint8Array ? written : JSON.stringify(written)
}
