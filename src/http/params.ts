import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../api/error-codes.ts'
import { Refusal } from '../errors.ts'

const ID = /^(0|-?[1-9]\d{0,18})$/

/** The code for an id that is no number, by its parameter (spec, Endpoints). */
const NOTHING = {
  chatId: 'chat_not_found',
  messageId: 'message_not_found',
  userId: 'user_not_found',
} as const satisfies Record<string, ErrorCode>

/**
 * A numeric id in a path, unchanged: the service's ids can exceed JavaScript's safe integers. Any
 * other text names nothing, leading zeros too, so such a path is never sent on.
 * @throws Refusal with the service's code for a missing object, naming the parameter
 */
export function idParam(request: FastifyRequest, name: string): string {
  const value = textParam(request, name)
  if (ID.test(value)) return value
  const isMember = name === 'userId' && request.routeOptions.url?.includes('/members/') === true
  const code = isMember ? 'member_not_found' : NOTHING[name as keyof typeof NOTHING]
  throw new Refusal(code, `${name}: is no integer`)
}

/** A parameter of the path, decoded; encode it again before it becomes part of another path. */
export const textParam = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string | undefined>)[name] ?? ''

/** The query unchanged, with its question mark; empty when there is none. */
export function queryOf(request: FastifyRequest): string {
  const { url = '' } = request.raw
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start)
}

/**
 * The chat in the path or else in the body; null where it is not sure which, since the query or the
 * body may name another.
 */
export function chatOf(request: FastifyRequest): number | null {
  const query = queryOf(request)
  const names = [...new URLSearchParams(query).keys()]
  if (query !== '' && (request.method !== 'GET' || names.some((name) => /chat/i.test(name)))) {
    return null
  }
  const named = textParam(request, 'chatId')
  const { chatId = null } = (request.body ?? {}) as { chatId?: unknown }
  if (named !== '' && chatId !== null) return null
  const id = named === '' ? chatId : Number(named)
  return Number.isSafeInteger(id) ? (id as number) : null
}
