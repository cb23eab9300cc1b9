import type { ChatState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import { mayWrite, membershipOf } from './memberships.ts'

/**
 * Why a person cannot write into a chat with their phone, or null: a restricted member and a
 * subscriber of a channel may not, nor who closed the account or, in a private chat, blocked the bot.
 */
export function writingProblem(world: World, chat: ChatState, userId: number): string | null {
  const problem = presenceProblem(world, chat, userId)
  if (problem !== null) return problem
  const member = membershipOf(world, chat, userId)
  if (mayWrite(chat, member)) return null
  return member?.status === 'restricted' ? 'they are restricted' : 'they only read this channel'
}

/**
 * Why a person cannot press a button below a message, or null. A reader of a message may press its
 * buttons, also when restricted or as a subscriber; its bot must still be in the chat.
 */
export function pressingProblem(
  world: World,
  o: { chat: ChatState; message: StoredMessage; userId: number },
): string | null {
  const problem = presenceProblem(world, o.chat, o.userId)
  if (problem !== null || o.chat.members.has(o.message.fromId)) return problem
  return 'the bot is not in the chat any more'
}

function presenceProblem(world: World, chat: ChatState, userId: number): string | null {
  const person = world.people.get(userId)
  if (person === undefined || !chat.members.has(userId)) return `they are not in chat ${chat.id}`
  if (person.gone) return 'they closed their account'
  const isBlocked = [...chat.members.keys()].some((id) => person.blocked.includes(id))
  return chat.kind === 'private' && isBlocked ? 'they blocked the bot' : null
}
