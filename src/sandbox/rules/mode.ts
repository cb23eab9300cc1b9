import type { ChatMode } from '../../api/chat.ts'
import type { BotState, ChatState, PersonState } from '../state.ts'
import type { World } from '../world.ts'

/** The two sides of a private chat. @throws Error when the chat is not private */
export function parties(world: World, chat: ChatState): { person: PersonState; bot: BotState } {
  const ids = [...chat.seats.keys()]
  const person = ids.map((id) => world.people.get(id)).find((found) => found !== undefined)
  const bot = ids.map((id) => world.bots.get(id)).find((found) => found !== undefined)
  if (chat.kind !== 'private' || person === undefined || bot === undefined) {
    throw new Error(`chat ${chat.id} is not a person's private chat with a bot`)
  }
  return { person, bot }
}

/** What the service says and goes by: the truth, unless the fault `claim-mode` stands. */
export function modeOf(world: World, chat: ChatState): ChatMode {
  return world.faults.standing('claim-mode', chat.id)?.mode ?? trueMode(world, chat)
}

/**
 * A private chat is encrypted when its bot has a key; a group with open history is readable, any
 * other group is encrypted (spec, What the service does, 4). Channels follow the groups' rule.
 */
export function trueMode(world: World, chat: ChatState): ChatMode {
  if (chat.kind === 'private') {
    return parties(world, chat).bot.key === null ? 'open' : 'protected'
  }
  return chat.historyVisible ? 'open' : 'protected'
}
