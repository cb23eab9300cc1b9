import type { ChatMode } from '../../api/chat.ts'
import type { BotState, ChatState, PersonState } from '../state.ts'
import type { World } from '../world.ts'
import { botsIn, peopleIn } from './find.ts'

/** The two members of a private chat. @throws Error when the chat is not private */
export function parties(world: World, chat: ChatState): { person: PersonState; bot: BotState } {
  const [person] = peopleIn(world, chat)
  const [bot] = botsIn(world, chat)
  if (chat.kind !== 'private' || person === undefined || bot === undefined) {
    throw new Error(`chat ${chat.id} is not a person's private chat with a bot`)
  }
  return { person, bot }
}

/** The mode that the service claims and applies: the true one, unless the fault `claim-mode` is set. */
export function modeOf(world: World, chat: ChatState): ChatMode {
  return world.faults.activeRule('claim-mode', chat.id)?.mode ?? trueMode(world, chat)
}

/**
 * A private chat is encrypted when its bot has a key. A group or channel is readable when its
 * history is open, and encrypted otherwise (spec, What the service does, 4).
 */
export function trueMode(world: World, chat: ChatState): ChatMode {
  if (chat.kind === 'private') {
    return parties(world, chat).bot.key === null ? 'open' : 'protected'
  }
  return chat.historyVisible ? 'open' : 'protected'
}
