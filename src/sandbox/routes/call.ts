import { firstProblem } from '../../api/common.ts'
import { no } from '../failure.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'

/** One authenticated call of a bot. */
export interface Call {
  world: World
  bot: BotState
  params: Record<string, string>
  query: unknown
  /** Parsed JSON; undefined when there was no body. */
  body: unknown
  /** Aborted when the caller hangs up. */
  hungUp: AbortSignal
}

/** What a call comes to: the `result` of the envelope and its status, 200 unless said. */
export interface Outcome {
  result: unknown
  status?: 200 | 201
}

export type Handler = (call: Call) => Outcome | Promise<Outcome>

/** What `src/api` writes its resources in, as far as it is used here. */
interface Schema<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: Parameters<typeof firstProblem>[0] }
}

/** A body, or a query, by its schema. @throws ServiceNo `bad_request` naming the field */
export function read<T>(schema: Schema<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw no('bad_request', firstProblem(parsed.error))
  return parsed.data
}
