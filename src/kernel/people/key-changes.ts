import type { KeyChange, KnownChange, Memory, Records, ToldWith } from '../memory.ts'

/** The last change of each person's certificate. */
export class KeyChanges {
  readonly #memory: Memory
  readonly #changes = new Map<number, KnownChange>()

  private constructor(memory: Memory) {
    this.#memory = memory
  }

  static async load(memory: Memory): Promise<KeyChanges> {
    const changes = new KeyChanges(memory)
    await memory.keep('key_changes', async ({ keyChanges }, userIds) => {
      const found = await keyChanges.of(userIds)
      for (const userId of userIds ?? []) changes.#changes.delete(Number(userId))
      for (const change of found) changes.#changes.set(change.userId, change)
    })
    return changes
  }

  /** Remembers a change that is on disk. */
  saved({ userId, from, to }: KeyChange): void {
    this.#changes.set(userId, { userId, from, to, message: null, send: null })
  }

  /**
   * The changes of people to inform the bot of now: once with a message and once with a send, and
   * again with the same ones. A failed write may repeat one after a restart.
   * @param key of the update or the send
   */
  async tell(userIds: Iterable<number>, by: ToldWith, key: string): Promise<KeyChange[]> {
    if (this.#changes.size === 0) return []
    const known = [...new Set(userIds)].flatMap((userId) => this.#changes.get(userId) ?? [])
    const told = known.filter((change) => change[by] === null || change[by] === key)
    const fresh = told.filter((change) => change[by] === null)
    for (const change of fresh) change[by] = key
    const write = async ({ keyChanges }: Records): Promise<void> => {
      for (const change of fresh) await keyChanges.setTold(change, by, key)
    }
    if (fresh.length > 0) await this.#memory.note(write).catch(() => undefined)
    return told.map(({ userId, from, to }) => ({ userId, from, to }))
  }
}
