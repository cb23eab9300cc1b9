import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from '../../api/common.ts'
import { strikeAfter } from '../faults/after.ts'
import { tell } from '../faults/lies.ts'
import type { CallRecord } from '../transcript.ts'
import type { World } from '../world.ts'

/** An answer on its way out, to be changed in place by a hostile service. */
export interface AnswerInHand {
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

/** Changes an answer in place, after the deed was done. */
export type Rewrite = (answer: AnswerInHand) => void

interface Finishing {
  route: string
  botId: number | undefined
  record: CallRecord
  request: FastifyRequest
  reply: FastifyReply
  payload: unknown
  rewrites: ReadonlySet<Rewrite>
}

/** Writes the answer down, lets lies, rewrites and faults have it, and gives what is sent. */
export function finishAnswer(world: World, call: Finishing): unknown {
  const { reply, record, payload } = call
  // A fault may have dated it otherwise.
  if (!reply.hasHeader('date')) reply.header('date', new Date(world.clock.now()).toUTCString())
  const sent = typeof payload === 'string' ? rewritten(world, call, payload) : payload
  record.answered(reply.statusCode, typeof sent === 'string' ? sent : '')
  const faults = world.faults.take('after', call)
  if (faults.length === 0 || !(typeof sent === 'string' || Buffer.isBuffer(sent))) return sent
  return strikeAfter(faults, { ...call, body: Buffer.from(sent) })
}

function rewritten(world: World, call: Finishing, payload: string): string {
  const lies = world.faults.take('lie', call)
  if (lies.length === 0 && call.rewrites.size === 0) return payload
  const answer = inHand(call, payload)
  if (answer === null) return payload
  for (const lie of lies) {
    if (isObject(answer.body) && answer.body['ok'] === true) {
      tell(answer.body['result'], lie, { route: call.route, params: answer.params })
    }
  }
  for (const rewrite of call.rewrites) rewrite(answer)
  call.reply.code(answer.status).headers(answer.headers)
  return JSON.stringify(answer.body)
}

function inHand({ route, botId, request, reply }: Finishing, payload: string): AnswerInHand | null {
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
