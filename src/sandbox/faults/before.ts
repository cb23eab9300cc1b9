import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FaultName } from './table.ts'
import type { Fault } from './faults.ts'

interface Struck {
  fault: Fault
  request: FastifyRequest
  reply: FastifyReply
}

/** What each fault does before the deed. All but `delay` end the call. */
const BEFORE: Partial<Record<FaultName, (struck: Struck) => void | Promise<void>>> = {
  cut: ({ request, reply }) => {
    reply.hijack()
    request.raw.socket.destroy()
  },
  hang: ({ reply }) => {
    reply.hijack()
  },
  delay: async ({ fault }) => {
    await pause(fault.delayMs ?? 0, undefined, { ref: false })
  },
  error: ({ fault, reply }) => {
    const { status = 500, code = 'internal', retryAfter, expected, retryAfterHeader } = fault
    const error = { status, code, message: 'a fault was set', retryAfter, expected }
    const header = retryAfterHeader ?? retryAfter?.toString()
    if (header !== undefined) reply.header('retry-after', header)
    void reply.code(status).send({ ok: false, error })
  },
  answer: ({ fault, reply }) => {
    void reply
      .code(fault.status ?? 200)
      .type('application/json')
      .headers(fault.headers ?? {})
      .send(fault.body ?? '')
  },
  html: ({ fault, reply }) => {
    const page = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'
    void reply
      .code(fault.status ?? 502)
      .type('text/html')
      .send(page)
  },
  redirect: ({ fault, reply }) => {
    const location = fault.location ?? 'https://elsewhere.invalid/'
    void reply
      .code(fault.status ?? 302)
      .header('location', location)
      .send('')
  },
}

/** Lets faults strike a call that nothing was done for yet. Gives false when one ended it. */
export async function strikeBefore(
  faults: Fault[],
  call: { request: FastifyRequest; reply: FastifyReply },
): Promise<boolean> {
  for (const fault of faults) {
    const strike = BEFORE[fault.name]
    await strike?.({ fault, ...call })
    if (strike !== undefined && fault.name !== 'delay') return false
  }
  return true
}
