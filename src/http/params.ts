import type { FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'

const ID = /^-?\d{1,19}$/

/**
 * A numeric id in a path, in the spelling in which it came: the service's ids can be greater than
 * JavaScript counts.
 * @throws Refusal `bad_request` naming the parameter
 */
export function idParam(request: FastifyRequest, name: string): string {
  const value = textParam(request, name)
  if (!ID.test(value)) throw new Refusal('bad_request', `${name}: must be an integer`)
  return value
}

/** A parameter of the path, decoded; to be encoded again before it stands in another path. */
export function textParam(request: FastifyRequest, name: string): string {
  return (request.params as Record<string, string | undefined>)[name] ?? ''
}

/** The query as it came, with its question mark; empty when there is none. */
export function queryOf(request: FastifyRequest): string {
  const { url = '' } = request.raw
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start)
}
