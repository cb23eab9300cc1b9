import type { z } from 'zod'
import { firstProblem } from '../../api/common.ts'
import { apiError } from '../api-error.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'

/** One authenticated call of a bot. */
export interface BotCall {
  world: World
  bot: BotState
  params: Record<string, string>
  query: unknown
  /** Parsed JSON; undefined when there was no body. */
  body: unknown
  /** Aborted when the caller closes the connection. */
  hangUp: AbortSignal
}

/** The `result` of the answer's envelope, and its status: 200 when absent. */
export interface RouteResult {
  result: unknown
  status?: 200 | 201
}

export type RouteHandler = (call: BotCall) => RouteResult | Promise<RouteResult>

/** Parses a body or a query with its schema. @throws SandboxApiError `bad_request` that names the field */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw apiError('bad_request', firstProblem(parsed.error))
  return parsed.data
}
