import type { Journal, KeyChange, KnownChange, Memory } from '../kernel/index.ts'
import type { Policies, Records, ToldWith } from '../kernel/index.ts'

export interface KeyChangesParts {
  memory: Memory
  journal: Pick<Journal, 'onChange'>
  policies: Pick<Policies, 'for'>
}

/** The last change of each person's certificate, of which the bot is informed. */
export async function loadKeyChanges({ memory, journal, policies }: KeyChangesParts) {
  const changes = new Map<number, KnownChange>()
  journal.onChange((change) => {
    if (change.kind !== 'key-changed') return
    const { userId, detail } = change
    const { from, to } = detail
    changes.set(userId, { userId, from, to, message: null, send: null })
  })
  await memory.keep('key_changes', async ({ keyChanges }, userIds) => {
    const found = await keyChanges.of(userIds)
    for (const userId of userIds ?? []) changes.delete(Number(userId))
    for (const change of found) changes.set(change.userId, change)
  })

  /**
   * The changes of people to inform the bot of now: once with a message and once with a send, and
   * again with the same ones; none under the policy `pinned`, where the operator decides on each. A
   * failed write may repeat one after a restart.
   * @param o `key` of the update or the send
   */
  async function tell(
    userIds: Iterable<number>,
    { chatId, by, key }: { chatId: number; by: ToldWith; key: string },
  ): Promise<KeyChange[]> {
    if (changes.size === 0 || policies.for(chatId) === 'pinned') return []
    const known = [...new Set(userIds)].flatMap((userId) => changes.get(userId) ?? [])
    const told = known.filter((change) => change[by] === null || change[by] === key)
    const fresh = told.filter((change) => change[by] === null)
    for (const change of fresh) change[by] = key
    const write = async ({ keyChanges }: Records): Promise<void> => {
      for (const change of fresh) await keyChanges.setTold(change, by, key)
    }
    if (fresh.length > 0) await memory.note(write).catch(() => undefined)
    return told.map(({ userId, from, to }) => ({ userId, from, to }))
  }

  return { tell }
}

export type KeyChanges = Awaited<ReturnType<typeof loadKeyChanges>>
