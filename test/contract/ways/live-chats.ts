import type { Client } from '../client.ts'
import type { Fields } from '../expect.ts'

/** Chats of the account that cases may write into. */
export interface LiveChats {
  private?: number
  group?: number
}

/**
 * Finds one private chat and one group that accept text: among the given ones, and those of waiting
 * updates. Confirms nothing.
 */
export async function findChats(bot: Client, named: readonly number[]): Promise<LiveChats> {
  const found: LiveChats = {}
  for (const id of new Set([...named, ...(await waiting(bot))])) {
    const { result } = (await bot.get(`/chats/${id}`)).json as { result?: Fields }
    const { kind, mode } = result ?? {}
    if (mode !== 'open' || (kind !== 'private' && kind !== 'group')) continue
    found[kind] ??= id
  }
  return found
}

async function waiting(bot: Client): Promise<number[]> {
  const { result } = (await bot.get('/updates')).json as { result?: Fields[] }
  return (result ?? []).flatMap(({ message }) => {
    const { chat } = (message ?? {}) as { chat?: { id?: number } }
    return chat?.id ?? []
  })
}
