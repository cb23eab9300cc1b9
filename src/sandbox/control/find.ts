import { ControlError } from '../api-error.ts'
import { writingProblem } from '../rules/memberships.ts'
import type { BotState, ChatState, PersonState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'

/** A person and a chat, as operations name them. */
interface PersonInChat {
  userId: number
  chatId: number
}

/** Finds whom and what operations name. Each method throws a ControlError for an id that nobody has. */
export class Finder {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  person(id: number): PersonState {
    return this.#world.people.get(id) ?? missing('person', id)
  }

  /** @throws ControlError also for a person who closed the account */
  presentPerson(id: number): PersonState {
    const person = this.person(id)
    if (person.gone) throw new ControlError(`${id} closed their account`)
    return person
  }

  bot(id: number): BotState {
    return this.#world.bots.get(id) ?? missing('bot', id)
  }

  chat(id: number): ChatState {
    return this.#world.chats.get(id) ?? missing('chat', id)
  }

  /** A group or channel. @throws ControlError also for a private chat */
  room(id: number): ChatState {
    const chat = this.chat(id)
    if (chat.kind !== 'private') return chat
    throw new ControlError('in a private chat nobody joins, leaves or has another status')
  }

  /** @throws ControlError also unless the person is in the chat */
  chatOf({ userId, chatId }: PersonInChat): ChatState {
    const chat = this.chat(chatId)
    requireMember(chat, this.person(userId).id)
    return chat
  }

  /** @throws ControlError also unless the person is in the chat and could write there with a phone */
  writableChat(named: PersonInChat): ChatState {
    const chat = this.chatOf(named)
    const problem = writingProblem(this.#world, chat, named.userId)
    if (problem === null) return chat
    throw new ControlError(`${named.userId} cannot write there: ${problem}`)
  }
}

export function messageIn(chat: ChatState, id: number): StoredMessage {
  return chat.messages.get(id) ?? missing('message', id)
}

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
