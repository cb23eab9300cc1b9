import { Kysely } from 'kysely'
import type { Persistence, RecordKey, RecordKind } from './persistence.ts'
import { ObservedMap } from './observed-map.ts'
import { openDatabase, toOperatorError, type WorldDatabase } from './database.ts'
import { RecordMaps, encodeValue, mapName } from './record-maps.ts'
import type { RecordRow } from './persistence.ts'

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
  readonly #maps: RecordMaps
  /** What this one replaces when it starts; null from then on, so that it can be freed. */
  #before: FilePersistence | null
  #pending = new Map<string, PendingWrite>()
  #writing: Promise<void> | null = null
  #state: 'new' | 'started' | 'replaced' = 'new'
  #isWriteScheduled = false

  private constructor(o: {
    file: string
    db: Kysely<WorldDatabase>
    rows: readonly RecordRow[]
    before: FilePersistence | null
  }) {
    this.#file = o.file
    this.#db = o.db
    this.#maps = new RecordMaps(o.rows)
    this.#before = o.before
  }

  /**
   * Opens a file, or creates it (mode 0600).
   * @throws OperatorError when it is in use, corrupt, another program's or a newer version's; the
   *   file is not changed then
   */
  static async open(file: string): Promise<FilePersistence> {
    const { db, rows } = await openDatabase(file)
    return new FilePersistence({ file, db, rows, before: null })
  }

  map<K extends RecordKey, V>(kind: RecordKind<V>, owner: RecordKey = ''): Map<K, V> {
    const name = mapName(kind.name, String(owner))
    const addPending = (key: K, isDeleted: boolean): void => {
      if (this.#state === 'replaced') return
      this.#scheduleWrite()
      const written = JSON.stringify(key)
      const known = this.#pending.get(`${name}\0${written}`)
      this.#pending.set(`${name}\0${written}`, {
        kind: kind.name,
        owner: String(owner),
        key: written,
        wasDeleted: isDeleted || known?.wasDeleted === true,
        current: () => (map.has(key) ? encodeValue(kind.write(map.get(key) as V)) : undefined),
      })
    }
    const map = this.#maps.open<K, V>({ kind, owner }, (entries) => {
      return new ObservedMap<K, V>(entries, {
        onChange: (key) => addPending(key, false),
        onDelete: (key) => addPending(key, true),
      })
    })
    return map
  }

  rows(): RecordRow[] {
    return this.#maps.rows()
  }

  successor(rows: readonly RecordRow[]): Persistence {
    return new FilePersistence({ file: this.#file, db: this.#db, rows, before: this })
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
    if (this.#before !== null) await this.#before.#giveWayTo(() => this.#writeAll())
    this.#before = null
    this.#state = 'started'
    await this.flush()
  }

  async flush(): Promise<void> {
    if (this.#state === 'new') return
    while (this.#writing !== null || this.#pending.size > 0) {
      this.#writing ??= this.#write().finally(() => (this.#writing = null))
      await this.#writing
    }
  }

  /** Lets a successor write, while changes of this one wait; they are dropped when it succeeds. */
  async #giveWayTo(write: () => Promise<void>): Promise<void> {
    while (this.#writing !== null) await this.#writing.catch(() => undefined)
    const replace = async (): Promise<void> => {
      await write()
      this.#state = 'replaced'
      this.#pending.clear()
    }
    const written = replace()
    this.#writing = written.catch(() => undefined).finally(() => (this.#writing = null))
    await written
  }

  /** Writes everything in the place of what was there, in one transaction. */
  async #writeAll(): Promise<void> {
    this.#pending.clear()
    const rows = this.rows()
    try {
      await this.#db.transaction().execute(async (db) => {
        await db.deleteFrom('records').execute()
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
          await db
            .insertInto('records')
            .values(rows.slice(at, at + ROWS_AT_ONCE))
            .execute()
        }
      })
    } catch (error) {
      throw toOperatorError(error, this.#file)
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
    // The file is another one's: of the one that goes on, or of the one that took over.
    if (this.#before !== null || this.#state === 'replaced') return
    try {
      await this.flush()
    } finally {
      await this.#db.destroy()
    }
  }
}

/** Groups entries by map, in lists that fit into one statement. */
function chunksOf<E extends Pick<RecordRow, 'kind' | 'owner'>>(entries: E[]): [E, ...E[]][] {
  const chunks: [E, ...E[]][] = []
  for (const some of Map.groupBy(entries, ({ kind, owner }) => mapName(kind, owner)).values()) {
    for (let at = 0; at < some.length; at += ROWS_AT_ONCE) {
      const [first, ...rest] = some.slice(at, at + ROWS_AT_ONCE)
      if (first !== undefined) chunks.push([first, ...rest])
    }
  }
  return chunks
}
