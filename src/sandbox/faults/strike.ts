import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ActiveFault } from './faults.ts'
import type { FaultName } from './table.ts'

/** A call that faults can strike. */
interface FaultyCall {
  request: FastifyRequest
  reply: FastifyReply
}

/** A call whose response body is ready to be sent. */
type AnsweredCall = FaultyCall & { body: Buffer }

const PROXY_PAGE = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'

type Strike<Call, Result> = (call: Call & { fault: ActiveFault }) => Result

/** What each fault does before the request is handled. All but `delay` end the call. */
const BEFORE: Partial<Record<FaultName, Strike<FaultyCall, void | Promise<void>>>> = {
  cut: ({ request, reply }) => {
    reply.hijack()
    request.raw.socket.destroy()
  },
  hang: ({ reply }) => void reply.hijack(),
  delay: ({ fault }) => pause(fault.delayMs ?? 0, undefined, { ref: false }),
  error: ({ fault, reply }) => {
    const { status = 500, code = 'internal', retryAfter, expected, retryAfterHeader } = fault
    const error = { status, code, message: 'a fault was set', retryAfter, expected }
    const header = retryAfterHeader ?? retryAfter?.toString()
    if (header !== undefined) reply.header('retry-after', header)
    void reply.code(status).send({ ok: false, error })
  },
  answer: ({ fault: { status = 200, headers = {}, body = '' }, reply }) =>
    void reply.code(status).type('application/json').headers(headers).send(body),
  html: ({ fault: { status = 502 }, reply }) =>
    void reply.code(status).type('text/html').send(PROXY_PAGE),
  redirect: ({ fault: { status = 302, location = 'https://elsewhere.invalid/' }, reply }) =>
    void reply.code(status).header('location', location).send(''),
}

/** What each fault does to a response once the request was handled; gives the body to send. */
const AFTER: Partial<Record<FaultName, Strike<AnsweredCall, Buffer | Readable>>> = {
  'lost-answer': ({ request, body }) => {
    request.raw.socket.destroy()
    return body
  },
  'half-answer': ({ request, reply, body }) => {
    reply.header('content-length', body.length)
    return Readable.from(firstHalf(body, request))
  },
  'slow-body': ({ fault, reply, body }) => {
    reply.header('content-length', body.length)
    return Readable.from(byteByByte(body, fault.delayMs ?? 1000))
  },
  'giant-body': ({ fault, body }) =>
    Buffer.concat([body, Buffer.alloc(fault.bytes ?? 64 * 1024 * 1024, ' ')]),
  'invalid-json': ({ body }) => body.subarray(0, -1),
}

/** Lets faults strike a call that is not handled yet. Gives false when one of them ended it. */
export async function strikeBefore(faults: ActiveFault[], call: FaultyCall): Promise<boolean> {
  for (const fault of faults) {
    const strike = BEFORE[fault.name]
    await strike?.({ fault, ...call })
    if (strike !== undefined && fault.name !== 'delay') return false
  }
  return true
}

/** Applies faults to a response. Gives the body or the stream to send. */
export function strikeAfter(faults: ActiveFault[], call: AnsweredCall): Buffer | Readable {
  const [fault] = faults
  return (fault && AFTER[fault.name]?.({ fault, ...call })) ?? call.body
}

async function* firstHalf(body: Buffer, request: FastifyRequest): AsyncGenerator<Buffer> {
  yield body.subarray(0, body.length >> 1)
  await pause(1)
  request.raw.socket.destroy()
}

async function* byteByByte(body: Buffer, delayMs: number): AsyncGenerator<Buffer> {
  for (const byte of body) {
    await pause(delayMs, undefined, { ref: false })
    yield Buffer.of(byte)
  }
}
