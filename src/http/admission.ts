import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { browserProblem, doorProblem } from '../util/local-door.ts'
import { Refusal } from '../errors.ts'
import type { StillMay } from '../clients/may-client.ts'
import type { Client } from '../clients/records.ts'
import { requireReadable } from './body.ts'
import type { DoorBounds } from './bounds.ts'
import { failureAnswer } from './error-handler.ts'
import { pathProblem } from './request-path.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route answers without a token. */
    anonymous?: boolean
  }
  interface FastifyRequest {
    /** The client that calls; null: the bot itself, or nobody in particular. */
    client: Client | null
    /** The right to its call, asked again before an answer is given; null: nobody was admitted. */
    stillMay: StillMay | null
  }
}

/** Which requests a door admits. */
export interface AdmissionOptions {
  bounds: DoorBounds
  /** From `hostNames`. */
  hosts: ReadonlySet<string>
  /** Paths that may be asked for under any Host. */
  anyHost: ReadonlySet<string>
  /**
   * Whose token it is: a client's, or null for the bot's own. Not called on `anonymous` routes.
   * @throws Refusal when the caller is not authorized
   */
  authorize: (request: IncomingMessage) => Client | null
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Checks a request before any routing: whether its caller may be there, and whether every parser
 * reads the request line alike. @returns null when it may be routed, else its answer
 */
export function checkRequest(request: IncomingMessage, options: AdmissionOptions) {
  const { rawHeaders, headers, url = '' } = request
  const { bounds } = options
  const door = options.anyHost.has(url.split('?', 1)[0] ?? '')
    ? browserProblem(rawHeaders)
    : doorProblem(rawHeaders, options.hosts)
  if (door !== null) return failureAnswer(door)
  const problem = pathProblem(url, bounds.pathChars) ?? headersProblem(rawHeaders, headers, bounds)
  return problem === null
    ? null
    : failureAnswer({ status: 400, code: 'bad_request', message: problem })
}

/**
 * Checks a request that has a route: its method, its token, and the headers of its body.
 * @throws Refusal unless it may be read
 */
export function requireRouted(request: FastifyRequest, options: AdmissionOptions): void {
  if (!METHODS.has(request.method)) throw new Refusal('not_found', 'no such path')
  if (request.routeOptions.config.anonymous !== true) {
    request.client = options.authorize(request.raw)
  }
  requireReadable(request, options.bounds.bodyBytes)
}

function headersProblem(
  rawHeaders: readonly string[],
  { upgrade, expect }: IncomingMessage['headers'],
  bounds: DoorBounds,
): string | null {
  if (rawHeaders.length / 2 > bounds.headerLines) return 'the request has too many headers'
  // Some clients offer h2c on every request, and accept that it is ignored (RFC 9110, 7.8).
  if (upgrade !== undefined && upgrade.toLowerCase() !== 'h2c')
    return 'there is nothing to upgrade to'
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return 'Expect: only 100-continue is known'
  }
  return null
}
