import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from '../../api/common.ts'
import { resultOr } from '../../errors.ts'
import { strikeAfter } from '../faults/strike.ts'
import { applyLie } from '../faults/lies.ts'
import type { CallRecorder } from '../transcript.ts'
import type { World } from '../world.ts'

interface ResponseCall {
  route: string
  botId: number | undefined
  record: CallRecorder
  request: FastifyRequest
  reply: FastifyReply
  payload: unknown
}

/** Applies lies and faults to a response, records it, and gives the payload to send. */
export function finishResponse(world: World, call: ResponseCall): unknown {
  const { reply, record, payload } = call
  // A fault may have set another date.
  if (!reply.hasHeader('date')) reply.header('date', new Date(world.clock.now()).toUTCString())
  const sent = typeof payload === 'string' ? applyLies(world, call, payload) : payload
  const headers = Object.entries(reply.getHeaders()).flat().map(String)
  record.answered(reply.statusCode, typeof sent === 'string' ? sent : '', headers)
  const faults = world.faults.take('after', call)
  if (faults.length === 0 || !(typeof sent === 'string' || Buffer.isBuffer(sent))) return sent
  return strikeAfter(faults, { ...call, body: Buffer.from(sent) })
}

/** Gives the payload of a success with a changed result, and any other payload as it is. */
function applyLies(world: World, call: ResponseCall, payload: string): string {
  const lies = world.faults.take('lie', call)
  const body = lies.length === 0 ? null : resultOr(() => JSON.parse(payload) as unknown, null)
  if (!isObject(body) || body['ok'] !== true) return payload
  const params = call.request.params as Record<string, string>
  for (const lie of lies) applyLie(body['result'], lie, { route: call.route, params })
  return JSON.stringify(body)
}

/** A signal that is aborted when the caller closes the connection before it has the whole answer. */
export function hangUpSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
