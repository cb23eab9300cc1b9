import { WorldFile } from './database.ts'
import { ObservedMap } from './observed-map.ts'
import {
  encode,
  Persistence,
  type RecordKey,
  type RecordKind,
  type RecordRow,
} from './persistence.ts'

/** An entry that differs from what the file has. */
interface PendingWrite {
  kind: string
  owner: string
  key: string
  /** The value to write: JSON, bytes, or undefined when the entry was deleted. */
  current(): RecordRow['value'] | undefined
  /** It was deleted; when it is added again, it is the last of its map. */
  wasDeleted: boolean
}

/** Stores a world in a SQLite file that one process has to itself. */
export class FilePersistence extends Persistence {
  readonly #file: WorldFile
  /** What this one replaces when it starts; null from then on, so that it can be freed. */
  #before: FilePersistence | null
  readonly #pending = new Map<string, PendingWrite>()
  #state: 'new' | 'started' | 'replaced' = 'new'
  #isWriteScheduled = false

  private constructor(
    file: WorldFile,
    rows: readonly RecordRow[],
    before: FilePersistence | null = null,
  ) {
    super(rows)
    this.#file = file
    this.#before = before
  }

  /**
   * Opens a file, or creates it (mode 0600).
   * @throws OperatorError when it is in use, corrupt, another program's or a newer version's; the
   *   file is not changed then
   */
  static open(path: string): FilePersistence {
    const { file, rows } = WorldFile.open(path)
    return new FilePersistence(file, rows)
  }

  protected override makeMap<K extends RecordKey, V>(
    { kind, owner }: { kind: RecordKind<V>; owner: string },
    entries: readonly [K, V][],
  ): Map<K, V> {
    const addPending = (key: K, isDeleted: boolean): void => {
      if (this.#state === 'replaced') return
      this.#scheduleWrite()
      const id = { kind: kind.name, owner, key: JSON.stringify(key) }
      const name = Object.values(id).join('\0')
      this.#pending.set(name, {
        ...id,
        wasDeleted: isDeleted || this.#pending.get(name)?.wasDeleted === true,
        current: () => (map.has(key) ? encode(kind.write(map.get(key) as V)) : undefined),
      })
    }
    const map = new ObservedMap<K, V>(entries, {
      onChange: (key) => addPending(key, false),
      onDelete: (key) => addPending(key, true),
    })
    return map
  }

  override successor(rows: readonly RecordRow[]): Persistence {
    return new FilePersistence(this.#file, rows, this)
  }

  #scheduleWrite(): void {
    if (this.#isWriteScheduled) return
    this.#isWriteScheduled = true
    setImmediate(() => {
      this.#isWriteScheduled = false
      void this.flush().catch(() => undefined)
    })
  }

  override async start(): Promise<void> {
    if (this.#before !== null) {
      this.#pending.clear()
      this.#file.write('all', this.rows())
      this.#before.#state = 'replaced'
      this.#before.#pending.clear()
      this.#before = null
    }
    this.#state = 'started'
    await this.flush()
  }

  override async flush(): Promise<void> {
    if (this.#state === 'new' || this.#pending.size === 0) return
    const changes = Array.from(this.#pending.values(), (write) => {
      return { ...write, value: write.current() }
    })
    const rows = changes.flatMap(({ kind, owner, key, value }) =>
      value === undefined ? [] : [{ kind, owner, key, value }],
    )
    const deleted = changes.filter(({ wasDeleted, value }) => wasDeleted || value === undefined)
    this.#file.write(deleted, rows)
    this.#pending.clear()
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // The file belongs to another persistence: the former one, or the successor.
    if (this.#before !== null || this.#state === 'replaced') return
    try {
      await this.flush()
    } finally {
      this.#file.close()
    }
  }
}
