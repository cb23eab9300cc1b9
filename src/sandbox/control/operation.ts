import { z } from 'zod'
import type { AnyOperation, Operation } from '../../util/operation.ts'
import { ControlError } from '../api-error.ts'
import type { EventLog } from '../events/log.ts'
import type { Phones } from '../phone/phones.ts'
import type { World } from '../world.ts'
import type { Finder } from './find.ts'
import type { WorldHost, WorldList } from './hosting.ts'
import type { FailedStep, NumberedFailedStep } from './results.ts'

export { ControlError }

/** A step of a seed's schedule that failed; `action` is the operation that it named. */
export type StepError = z.output<typeof FailedStep>

/** What an operation works on. */
export interface ControlContext {
  world: World
  /** Whom and what `world` has. */
  find: Finder
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

/** An operation of the control, with its effect in a sentence or two, and the schema of its result. */
export type ControlOperation<I extends z.ZodObject, R> = Operation<ControlContext, I, R> & {
  description: string
  output: z.ZodType<R>
}

/** A control operation of any input and result, for code that iterates over the table. */
export interface AnyControlOperation extends AnyOperation<ControlContext, z.ZodObject> {
  description: string
  output: z.ZodType
}

/**
 * Describes something that the people around a bot, its owner or a tester can do to the sandbox. Its
 * input is an object, which a seed file can spell. What `run` gives fits `output`.
 */
export const operation = <I extends z.ZodObject, R>(
  description: string,
  input: I,
  output: z.ZodType<R>,
  run: (on: ControlContext, input: z.output<I>) => NoInfer<R> | Promise<NoInfer<R>>,
): ControlOperation<I, R> => ({ description, input, output, run })

/** An operation that always gives the same, as proof that it is done. */
export function action<I extends z.ZodObject, const R extends Record<string, string | boolean>>(
  description: string,
  input: I,
  result: R,
  run: (on: ControlContext, input: z.output<I>) => unknown,
): ControlOperation<I, R> {
  const fields = Object.entries(result).map(([name, value]) => [name, z.literal(value)])
  const output = z.object(Object.fromEntries(fields) as z.ZodRawShape) as unknown as z.ZodType<R>
  return operation(description, input, output, async (on, given) => {
    await run(on, given)
    return result
  })
}

/** The fields that are not undefined. */
export function definedFields<T extends object>(changes: T) {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
