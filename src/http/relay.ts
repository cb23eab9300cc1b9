import type { FastifyReply } from 'fastify'
import type { Envelope } from '../api/envelope.ts'
import type { RawAnswer } from '../errors.ts'

/** An answer with the name of its failure, as the upstream client or the error handler gives it. */
export type Relayed = RawAnswer & { code?: string; envelope?: Envelope }

/**
 * Answers with what somebody else said: status, headers and body byte for byte. Which headers may
 * be handed on was decided where the answer was made.
 */
export function relay(reply: FastifyReply, answer: Relayed): FastifyReply {
  const { status, headers, body, envelope } = answer
  reply.request.failedWith =
    answer.code ?? (envelope?.ok === false ? envelope.error.code : undefined)
  return reply.code(status).headers(headers).send(body)
}

/** True when the caller hung up, so that there is nobody to answer. */
export function isGone(reply: FastifyReply): boolean {
  return reply.raw.destroyed || reply.raw.closed
}

/**
 * Aborts when the caller hangs up before the answer is out, and never otherwise. Fastify's own
 * `request.signal` does not serve: it aborts as soon as a body has been read.
 */
export function whileConnected(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (isGone(reply)) gone.abort()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return gone.signal
}
