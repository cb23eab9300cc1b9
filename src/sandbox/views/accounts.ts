import type { z } from 'zod'
import type { ACCOUNT_FIELDS } from '../control/results.ts'
import type { ChatState } from '../state.ts'
import type { World } from '../world.ts'

type AccountView = z.output<z.ZodObject<typeof ACCOUNT_FIELDS>>

/** A person or a bot. @throws Error when nobody has the id */
export function accountView(world: World, id: number): AccountView {
  const person = world.people.get(id)
  if (person !== undefined) {
    const { username, firstName, lastName } = person
    return { id, username, firstName, lastName, isBot: false }
  }
  const bot = world.bots.get(id)
  if (bot === undefined) throw new Error(`nobody has the id ${id}`)
  return { id, username: bot.username, firstName: bot.name, lastName: null, isBot: true }
}

/** Ids of the bots in a chat. */
export function botIds(world: World, chat: ChatState): number[] {
  return [...chat.members.keys()].filter((id) => world.bots.has(id))
}

/** Ids of the people in a chat. */
export function personIds(world: World, chat: ChatState): number[] {
  return [...chat.members.keys()].filter((id) => world.people.has(id))
}
