import { ControlError } from '../api-error.ts'
import { writingProblem } from '../rules/memberships.ts'
import type { BotState, ChatState, PersonState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'

/** A person and a chat, as operations name them. */
type PersonInChat = Record<'userId' | 'chatId', number>

export type Finder = ReturnType<typeof finderIn>

/** Finds whom and what operations name. Each function throws a ControlError for an id that nobody has. */
export function finderIn(world: World) {
  const person = (id: number): PersonState => world.people.get(id) ?? missing('person', id)
  const chat = (id: number): ChatState => world.chats.get(id) ?? missing('chat', id)
  /** @throws ControlError also unless the person is in the chat */
  const chatOf = ({ userId, chatId }: PersonInChat): ChatState => {
    const found = chat(chatId)
    requireMember(found, person(userId).id)
    return found
  }
  return {
    person,
    chat,
    chatOf,
    bot: (id: number): BotState => world.bots.get(id) ?? missing('bot', id),
    /** @throws ControlError also for a person who closed the account */
    presentPerson: (id: number): PersonState => {
      const found = person(id)
      if (found.gone) throw new ControlError(`${id} closed their account`)
      return found
    },
    /** A group or channel. @throws ControlError also for a private chat */
    room: (id: number): ChatState => {
      const found = chat(id)
      if (found.kind !== 'private') return found
      throw new ControlError('in a private chat nobody joins, leaves or has another status')
    },
    /** @throws ControlError also unless the person is in the chat and could write there with a phone */
    writableChat: (named: PersonInChat): ChatState => {
      const found = chatOf(named)
      const problem = writingProblem(world, found, named.userId)
      if (problem === null) return found
      throw new ControlError(`${named.userId} cannot write there: ${problem}`)
    },
  }
}

export const messageIn = (chat: ChatState, id: number): StoredMessage =>
  chat.messages.get(id) ?? missing('message', id)

/** @throws ControlError unless the account is a member of the chat */
export function requireMember(chat: ChatState, userId: number): void {
  if (!chat.members.has(userId)) throw new ControlError(`${userId} is not in chat ${chat.id}`)
}

/** @throws ControlError when no such message was ever in the chat; one that was deleted may be named */
export function requireQuoted(chat: ChatState, replyTo: number | undefined): void {
  if (replyTo === undefined) return
  if (replyTo < 1 || replyTo >= chat.nextMessageId) missing('message', replyTo)
}

function missing(what: string, id: number): never {
  throw new ControlError(`no ${what} has the id ${id}`)
}
