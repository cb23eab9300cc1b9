import type { KeyChange, KnownChange, Memory, ToldWith } from '../memory.ts'

/** The last change of each person's certificate, until the bot was told and after. */
export class KeyChanges {
  readonly #memory: Memory
  readonly #changes = new Map<number, KnownChange>()

  private constructor(memory: Memory) {
    this.#memory = memory
  }

  static async load(memory: Memory): Promise<KeyChanges> {
    const changes = new KeyChanges(memory)
    await memory.keep('key_changes', async ({ keyChanges }, userIds) => {
      for (const change of await keyChanges.of(userIds)) changes.#changes.set(change.userId, change)
    })
    return changes
  }

  /** Remembers a change of which the bot was told nothing, once it is on disk. */
  saved({ userId, from, to }: KeyChange): void {
    this.#changes.set(userId, { userId, from, to, message: null, send: null })
  }

  /**
   * The changes of people that the bot is told of now. Each is told once with a message and once
   * with a send; with the same update or send again when that is asked for again. What cannot be
   * written is told all the same, and after a restart once more.
   * @param key which update, or which send
   */
  async tell(userIds: Iterable<number>, by: ToldWith, key: string): Promise<KeyChange[]> {
    if (this.#changes.size === 0) return []
    const known = [...new Set(userIds)].flatMap((userId) => this.#changes.get(userId) ?? [])
    const told = known.filter((change) => change[by] === null || change[by] === key)
    const fresh = told.filter((change) => change[by] === null)
    for (const change of fresh) change[by] = key
    if (fresh.length > 0) await this.#write(fresh, by, key).catch(() => undefined)
    return told.map(({ userId, from, to }) => ({ userId, from, to }))
  }

  async #write(changes: readonly KnownChange[], by: ToldWith, key: string): Promise<void> {
    await this.#memory.note(async ({ keyChanges }) => {
      for (const change of changes) await keyChanges.setTold(change, by, key)
    })
  }
}
