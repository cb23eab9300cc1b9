import { PosternError } from '../../errors.ts'
import type { Phones } from '../phone-book.ts'
import type { BotState, ChatState, PersonState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import type { ObjectShape, Shaped } from './schema.ts'

/** What an operation works on. */
export interface Backstage {
  world: World
  phones: Phones
}

/** Something that the people around a bot, its owner or a tester can do to the sandbox. */
export interface Operation<P extends object, O extends object, R> {
  /** JSON Schema of the input. */
  input: ObjectShape<P, O>
  run: (on: Backstage, input: Shaped<ObjectShape<P, O>>) => R | Promise<R>
}

/** Any of them, for whoever walks the table. */
export type AnyOperation = Operation<object, object, unknown>

/** Ties an input's shape to what is done with it. */
export function operation<P extends object, O extends object, R>(
  input: ObjectShape<P, O>,
  run: Operation<P, O, R>['run'],
): Operation<P, O, R> {
  return { input, run }
}

/** What was asked of the sandbox cannot be: nobody of that id, a handle taken, and the like. */
export class ControlError extends PosternError {
  readonly code = 'bad_control'
}

export function thePerson({ world }: Backstage, id: number): PersonState {
  return world.people.get(id) ?? missing('person', id)
}

export function theBot({ world }: Backstage, id: number): BotState {
  return world.bots.get(id) ?? missing('bot', id)
}

export function theChat({ world }: Backstage, id: number): ChatState {
  return world.chats.get(id) ?? missing('chat', id)
}

export function theMessage(chat: ChatState, id: number): StoredMessage {
  return chat.messages.get(id) ?? missing('message', id)
}

/** @throws ControlError unless the account sits in the chat */
export function demandSeat(chat: ChatState, userId: number): void {
  if (!chat.seats.has(userId)) throw new ControlError(`${userId} is not in chat ${chat.id}`)
}

/** @throws ControlError unless the person can write into the chat: seated, not gone, not blocking */
export function demandAbleToWrite(on: Backstage, o: { userId: number; chatId: number }): ChatState {
  const chat = theChat(on, o.chatId)
  const person = thePerson(on, o.userId)
  demandSeat(chat, o.userId)
  const blocked = [...chat.seats.keys()].some((id) => person.blocked.has(id))
  if (person.gone || (chat.kind === 'private' && blocked)) {
    throw new ControlError(`${o.userId} cannot write there`)
  }
  return chat
}

function missing(what: string, id: number): never {
  throw new ControlError(`no ${what} has the id ${id}`)
}
