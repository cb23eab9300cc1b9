import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from '../../api/common.ts'
import { strikeAfter } from '../faults/strike.ts'
import { applyLie } from '../faults/lies.ts'
import type { CallRecorder } from '../transcript.ts'
import type { World } from '../world.ts'

/** A response before it is sent. A test that plays a hostile service changes it in place. */
export interface OutgoingResponse {
  route: string
  method: string
  path: string
  params: Record<string, string>
  botId: number | undefined
  /** The request's body, parsed. */
  request: unknown
  status: number
  headers: Record<string, string>
  /** The envelope, parsed; set it to anything. */
  body: unknown
}

/** Changes a response in place, once the request was handled. */
export type ResponseRewrite = (response: OutgoingResponse) => void

interface ResponseCall {
  route: string
  botId: number | undefined
  record: CallRecorder
  request: FastifyRequest
  reply: FastifyReply
  payload: unknown
  rewrites: ReadonlySet<ResponseRewrite>
}

/** Applies lies, rewrites and faults to a response, records it, and gives the payload to send. */
export function finishResponse(world: World, call: ResponseCall): unknown {
  const { reply, record, payload } = call
  // A fault may have set another date.
  if (!reply.hasHeader('date')) reply.header('date', new Date(world.clock.now()).toUTCString())
  const sent = typeof payload === 'string' ? applyRewrites(world, call, payload) : payload
  record.answered(reply.statusCode, typeof sent === 'string' ? sent : '')
  const faults = world.faults.take('after', call)
  if (faults.length === 0 || !(typeof sent === 'string' || Buffer.isBuffer(sent))) return sent
  return strikeAfter(faults, { ...call, body: Buffer.from(sent) })
}

function applyRewrites(world: World, call: ResponseCall, payload: string): string {
  const lies = world.faults.take('lie', call)
  if (lies.length === 0 && call.rewrites.size === 0) return payload
  const response = toOutgoingResponse(call, payload)
  if (response === null) return payload
  for (const lie of lies) {
    if (isObject(response.body) && response.body['ok'] === true) {
      applyLie(response.body['result'], lie, { route: call.route, params: response.params })
    }
  }
  for (const rewrite of call.rewrites) rewrite(response)
  call.reply.code(response.status).headers(response.headers)
  return JSON.stringify(response.body)
}

function toOutgoingResponse(
  { route, botId, request, reply }: ResponseCall,
  payload: string,
): OutgoingResponse | null {
  try {
    return {
      route,
      botId,
      method: request.method,
      path: request.url,
      params: { ...(request.params as Record<string, string>) },
      request: request.body,
      status: reply.statusCode,
      headers: {},
      body: JSON.parse(payload),
    }
  } catch {
    return null
  }
}

/** A signal that is aborted when the caller closes the connection before it has the whole answer. */
export function hangUpSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
