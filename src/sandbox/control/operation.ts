import { z } from 'zod'
import type { AnyOperation, Operation } from '../../rpc/operation.ts'
import { ControlError } from '../api-error.ts'
import type { EventLog } from '../events/log.ts'
import type { Phones } from '../phone/phones.ts'
import { writingProblem } from '../rules/people.ts'
import type { BotState, ChatState, PersonState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import type { WorldHost, WorldList } from './hosting.ts'
import type { FailedStep, NumberedFailedStep } from './results.ts'

export { ControlError }

/** A step of a seed's schedule that failed; `action` is the operation that it named. */
export type StepError = z.output<typeof FailedStep>

/** What an operation works on. */
export interface ControlContext {
  world: World
  host: WorldHost
  /** All worlds of the sandbox. */
  worlds: WorldList
  phones: Phones
  schedule: {
    /** How many steps are left. */
    readonly left: number
    readonly errors: readonly z.output<typeof NumberedFailedStep>[]
  }
  /** What happened, newest last. */
  events: EventLog
  /** Aborted when the caller of this operation hangs up; undefined for one in this process. */
  hangUp?: AbortSignal
}

/** An operation of the control, with the schema of its result. */
export interface ControlOperation<I extends z.ZodObject, R> extends Operation<
  ControlContext,
  I,
  R
> {
  output: z.ZodType<R>
}

/** A control operation of any input and result, for code that iterates over the table. */
export interface AnyControlOperation extends AnyOperation<ControlContext, z.ZodObject> {
  output: z.ZodType
}

/**
 * Describes something that the people around a bot, its owner or a tester can do to the sandbox. Its
 * input is an object, which a seed file can spell. What `run` gives fits `output`.
 */
export function operation<I extends z.ZodObject, R>(
  description: string,
  input: I,
  output: z.ZodType<R>,
  run: (on: ControlContext, input: z.output<I>) => NoInfer<R> | Promise<NoInfer<R>>,
): ControlOperation<I, R> {
  return { description, input, output, run }
}

/** An operation that always gives the same, as proof that it is done. */
export function action<I extends z.ZodObject, const R extends Record<string, string | boolean>>(
  description: string,
  input: I,
  result: R,
  run: (on: ControlContext, input: z.output<I>) => unknown,
): ControlOperation<I, R> {
  const fields = Object.entries(result).map(([name, value]) => [name, z.literal(value)])
  const output = z.object(Object.fromEntries(fields) as z.ZodRawShape) as unknown as z.ZodType<R>
  return {
    description,
    input,
    output,
    run: async (on, given) => {
      await run(on, given)
      return result
    },
  }
}

/** The fields that are not undefined. */
export function definedFields<T extends object>(
  changes: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

export function requirePerson({ world }: ControlContext, id: number): PersonState {
  return world.people.get(id) ?? missing('person', id)
}

/** @throws ControlError unless there is such a person, who did not close the account */
export function requirePresentPerson(context: ControlContext, id: number): PersonState {
  const person = requirePerson(context, id)
  if (person.gone) throw new ControlError(`${id} closed their account`)
  return person
}

export function requireBot({ world }: ControlContext, id: number): BotState {
  return world.bots.get(id) ?? missing('bot', id)
}

export function requireChat({ world }: ControlContext, id: number): ChatState {
  return world.chats.get(id) ?? missing('chat', id)
}

export function requireMessage(chat: ChatState, id: number): StoredMessage {
  return chat.messages.get(id) ?? missing('message', id)
}

/** @throws ControlError unless the account is a member of the chat */
export function requireMember(chat: ChatState, userId: number): void {
  if (!chat.members.has(userId)) throw new ControlError(`${userId} is not in chat ${chat.id}`)
}

/** @throws ControlError unless the person is in the chat and could write there with a phone */
export function requireWriter(
  on: ControlContext,
  o: { userId: number; chatId: number },
): ChatState {
  const chat = requireChat(on, o.chatId)
  requirePerson(on, o.userId)
  requireMember(chat, o.userId)
  const problem = writingProblem(on.world, chat, o.userId)
  if (problem !== null) throw new ControlError(`${o.userId} cannot write there: ${problem}`)
  return chat
}

/** @throws ControlError when no such message was ever in the chat; one that was deleted may be named */
export function requireQuoted(chat: ChatState, replyTo: number | undefined): void {
  if (replyTo === undefined) return
  if (replyTo < 1 || replyTo >= chat.nextMessageId) missing('message', replyTo)
}

function missing(what: string, id: number): never {
  throw new ControlError(`no ${what} has the id ${id}`)
}

/** A `StepError` by its former names, as `onMishap` and the operation `story` give it. */
export interface Mishap {
  atMs: number
  deed: string
  why: string
}

export function toMishap({ atMs, action: deed, reason: why }: StepError): Mishap {
  return { atMs, deed, why }
}
