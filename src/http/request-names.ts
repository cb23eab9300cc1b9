/**
 * Names in requests: each is read alike by every parser, so that the service makes the call that
 * was judged here, in the same chat.
 */
import type { FastifyRequest } from 'fastify'
import { isObject } from '../api/common.ts'
import type { EndpointName } from '../api/endpoints.ts'
import { REQUEST_NAMES } from '../api/judged-names.ts'
import { Refusal } from '../errors.ts'
import { queryOf } from './params.ts'

/** The names that the specification lists for the query of a call; none for any other. */
const QUERY_NAMES: Partial<Record<EndpointName, readonly string[]>> = {
  getUpdates: ['offset', 'limit', 'timeout'],
  getCommands: ['scope'],
  deleteCommands: ['scope'],
  deleteMessage: ['chatId'],
}

/**
 * @param call null for a path that the specification does not list, whose query is not judged: the
 *   bot alone may call it
 * @throws Refusal `bad_request`, which names the field or the parameter: one of the body that folds to
 *   a name of the specification without being it, and one of the query that is not listed, or twice
 */
export function requireKnownNames(request: FastifyRequest, call: EndpointName | null): void {
  const impostor = impostorIn(request.body)
  if (impostor !== null) {
    const hint = 'another name of the specification is read from it'
    throw new Refusal('bad_request', `${shown(impostor)}: no such field: ${hint}`)
  }
  const query = queryOf(request)
  if (call === null || query === '') return
  const listed = QUERY_NAMES[call] ?? []
  const names = [...new URLSearchParams(query).keys()]
  const wrong = names.find((name, at) => !listed.includes(name) || names.indexOf(name) !== at)
  if (wrong === undefined) return
  const expected = listed.length === 0 ? 'the call has none' : `once each: ${listed.join(', ')}`
  throw new Refusal('bad_request', `${shown(wrong)}: no such parameter of the query; ${expected}`)
}

/** At any depth, which is bounded (`parseBody`). */
function impostorIn(value: unknown): string | null {
  if (Array.isArray(value)) return firstOf(value)
  if (!isObject(value)) return null
  return (
    Object.keys(value).find((name) => REQUEST_NAMES.isImpostor(name)) ??
    firstOf(Object.values(value))
  )
}

const firstOf = (values: readonly unknown[]): string | null =>
  values.map(impostorIn).find((found) => found !== null) ?? null

const shown = (name: string): string => name.slice(0, 128)
