import { Kysely } from 'kysely'
import type { Persistence, RecordKey, RecordKind } from './persistence.ts'
import { ObservedMap } from './observed-map.ts'
import { openDatabase, toOperatorError, type Row, type Schema } from './database.ts'

/** One entry that differs from what is written. */
interface Note {
  kind: string
  owner: string
  key: string
  /** What is to be written now: JSON, octets, or undefined when the entry is gone. */
  current(): string | Uint8Array | undefined
  /** It left and came again, and with that to the end of its map. */
  again: boolean
}

const ROWS_AT_ONCE = 500

/** A persistence in a SQLite file, which one process has to itself. */
export class FilePersistence implements Persistence {
  readonly #file: string
  readonly #db: Kysely<Schema>
  readonly #kept: Map<string, Row[]>
  #notes = new Map<string, Note>()
  #writing: Promise<void> | null = null
  #begun = false
  /** What nobody waits for is written soon, too. */
  #isSoon = false

  private constructor(file: string, db: Kysely<Schema>, kept: Map<string, Row[]>) {
    this.#file = file
    this.#db = db
    this.#kept = kept
  }

  /**
   * Opens a file, or makes it (mode 0600).
   * @throws OperatorError when it is in use, broken, another program's or a newer version's; then
   *   not a byte of it was changed
   */
  static async open(file: string): Promise<FilePersistence> {
    const { db, rows } = await openDatabase(file)
    return new FilePersistence(
      file,
      db,
      Map.groupBy(rows, ({ kind, owner }) => nameOf(kind, owner)),
    )
  }

  map<K extends RecordKey, V>(kind: RecordKind<V>, owner: RecordKey = ''): Map<K, V> {
    const name = nameOf(kind.name, String(owner))
    const rows = this.#kept.get(name) ?? []
    this.#kept.delete(name)
    const entries = rows.map(({ key, value }): [K, V] => [
      JSON.parse(key) as K,
      kind.read(typeof value === 'string' ? JSON.parse(value) : value),
    ])
    const note = (key: K, again: boolean): void => {
      this.#writeSoon()
      const written = JSON.stringify(key)
      const known = this.#notes.get(`${name}\0${written}`)
      this.#notes.set(`${name}\0${written}`, {
        kind: kind.name,
        owner: String(owner),
        key: written,
        again: again || known?.again === true,
        current: () => (map.has(key) ? encoded(kind.write(map.get(key) as V)) : undefined),
      })
    }
    const map = new ObservedMap<K, V>(entries, {
      changed: (key) => note(key, false),
      gone: (key) => note(key, true),
    })
    return map
  }

  #writeSoon(): void {
    if (this.#isSoon) return
    this.#isSoon = true
    setImmediate(() => {
      this.#isSoon = false
      void this.flush().catch(() => undefined)
    })
  }

  async begin(): Promise<void> {
    this.#begun = true
    await this.flush()
  }

  async flush(): Promise<void> {
    if (!this.#begun) return
    while (this.#writing !== null || this.#notes.size > 0) {
      this.#writing ??= this.#write().finally(() => (this.#writing = null))
      await this.#writing
    }
  }

  /** Everything that differs, in one transaction. */
  async #write(): Promise<void> {
    const notes = this.#notes
    this.#notes = new Map()
    const changes = [...notes.values()].map((note) => ({ ...note, value: note.current() }))
    const gone = changes.filter(({ again, value }) => again || value === undefined)
    const rows = changes.flatMap(({ kind, owner, key, value }) =>
      value === undefined ? [] : [{ kind, owner, key, value }],
    )
    try {
      await this.#db.transaction().execute(async (db) => {
        for (const [one, ...more] of chunksOf(gone)) {
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
      for (const [name, note] of this.#notes) {
        note.again ||= notes.get(name)?.again === true
        notes.set(name, note)
      }
      this.#notes = notes
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

const nameOf = (kind: string, owner: string): string => `${kind}\0${owner}`

/** Lists of entries of one map each, none of them too long for a statement. */
function chunksOf<E extends Pick<Row, 'kind' | 'owner'>>(entries: E[]): [E, ...E[]][] {
  const chunks: [E, ...E[]][] = []
  for (const some of Map.groupBy(entries, ({ kind, owner }) => nameOf(kind, owner)).values()) {
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
