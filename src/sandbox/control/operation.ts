import type { z } from 'zod'
import { PosternError } from '../../errors.ts'
import { operationsOn, type Operation } from '../../rpc/operation.ts'
import type { Phones } from '../phone-book.ts'
import type { BotState, ChatState, PersonState, StoredMessage } from '../state.ts'
import type { Story } from '../seed/story.ts'
import type { World } from '../world.ts'

/** What an operation works on. */
export interface Backstage {
  world: World
  phones: Phones
  story: Story
}

/**
 * Describes something that the people around a bot, its owner or a tester can do to the sandbox. Its
 * input is an object, which a seed file can spell.
 */
export const operation: <I extends z.ZodObject, R>(
  description: string,
  input: I,
  run: Operation<Backstage, I, R>['run'],
) => Operation<Backstage, I, R> = operationsOn<Backstage>()

/** What was asked of the sandbox cannot be: nobody of that id, a handle taken, and the like. */
export class ControlError extends PosternError {
  readonly code = 'bad_control'
}

/** The changes that were given, without those that were left out. */
export function given<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
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

/** @throws ControlError unless the person can write there: seated, not gone, not blocking */
export function demandAbleToWrite(on: Backstage, o: { userId: number; chatId: number }): ChatState {
  const chat = theChat(on, o.chatId)
  const person = thePerson(on, o.userId)
  demandSeat(chat, o.userId)
  const blocked = [...chat.seats.keys()].some((id) => person.blocked.includes(id))
  if (person.gone || (chat.kind === 'private' && blocked)) {
    throw new ControlError(`${o.userId} cannot write there`)
  }
  return chat
}

function missing(what: string, id: number): never {
  throw new ControlError(`no ${what} has the id ${id}`)
}
