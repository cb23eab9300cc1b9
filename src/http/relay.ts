import { pipeline, type Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { OWN_CALL, type StillMay } from '../clients/may-client.ts'
import type { Unseen } from '../kernel/index.ts'
import type { AnswerEnvelope } from '../service/attempt.ts'
import { Refusal, type RawAnswer } from '../errors.ts'
import { withResult } from '../translate/bot-view.ts'
import type { Answer, Upstream } from '../service/client.ts'
import type { Abortable } from '../service/exchange.ts'
import { queryOf } from './params.ts'

/** An answer with the name of its failure, as the upstream client or the error handler gives it. */
export type Relayed = RawAnswer & { code?: string; envelope?: AnswerEnvelope }

/**
 * Node writes a text together with the headers, bytes after them, which costs as much again; each
 * character of Latin-1 is one byte.
 */
const ONE_WRITE_BYTES = 16_384

/**
 * Gives a caller an answer, once it was asked again whether it may make its call still.
 * @throws Refusal as `StillMay.ask`
 */
export async function relay(reply: FastifyReply, answer: Relayed): Promise<FastifyReply> {
  const stillMay = admitted(reply.request)
  try {
    if (stillMay !== OWN_CALL) await stillMay.ask()
  } catch (error) {
    answer.stream?.destroy()
    throw error
  }
  return writeAnswer(reply, answer)
}

/** @throws Refusal `internal` where nobody admitted the call: a defect */
export function admitted({ stillMay }: FastifyRequest): StillMay {
  if (stillMay === null) throw new Refusal('internal', 'nobody admitted this call')
  return stillMay
}

/**
 * Answers with somebody else's answer: status, headers and body byte for byte. Which headers may
 * be handed on was decided where the answer was made. No cache keeps it: it may hold opened words.
 */
export function writeAnswer(reply: FastifyReply, answer: Relayed): FastifyReply {
  const { status, headers, body, stream, envelope } = answer
  reply.request.failedWith =
    answer.code ?? (envelope?.ok === false ? envelope.error.code : undefined)
  const { raw } = reply
  // The last resort in `app.ts` has already answered a request that exceeded its time.
  if (raw.headersSent) {
    stream?.destroy()
    return reply
  }
  // The length of an answer to HEAD would be that of the body of a GET (RFC 9110, 8.6).
  const hasLength = body.length > 0 || (stream === undefined && reply.request.method !== 'HEAD')
  const length = hasLength && { 'content-length': body.length }
  raw.writeHead(status, { ...headers, 'cache-control': 'no-store', ...length })
  // Fastify would write its own idea of the content type.
  reply.hijack()
  if (stream !== undefined) sendStream(reply, stream)
  else if (body.length > ONE_WRITE_BYTES) raw.end(body)
  else raw.end(body.toString('latin1'), 'latin1')
  return reply
}

/** Where the stream ends early, the caller's connection does: the answer has no end then. */
function sendStream({ request, raw }: FastifyReply, stream: Readable): void {
  stream.once('error', (error) => {
    if (error instanceof Refusal) request.failedWith = error.code
  })
  pipeline(stream, raw, () => {})
}

/** True when the caller hung up, so that there is nobody to answer. */
export const isGone = (reply: FastifyReply): boolean => reply.raw.destroyed || reply.raw.closed

/**
 * Aborts when the caller hangs up before the answer is out, and never otherwise. Fastify's own
 * `request.signal` does not serve: it aborts as soon as a body has been read.
 */
export function whileConnected(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (isGone(reply)) gone.abort()
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return gone.signal
}

/** The same, for one call to the service. */
export const hangUp = (reply: FastifyReply): Abortable => ({
  get aborted() {
    return isGone(reply) && !reply.raw.writableFinished
  },
  addEventListener: (_abort, listener) => void reply.raw.on('close', listener),
  removeEventListener: (_abort, listener) => void reply.raw.off('close', listener),
})

/** Passes a GET of the bot's on, with its query; it ends when the bot hangs up. */
export async function relayGet(
  upstream: Pick<Upstream, 'relay'>,
  path: string,
  [request, reply]: [FastifyRequest, FastifyReply],
): Promise<Answer> {
  const signal = hangUp(reply)
  return await upstream.relay({ method: 'GET', path: `${path}${queryOf(request)}`, signal })
}

/**
 * Answers a GET as the service does, but for a result that the bot is to see otherwise.
 * @param view gives the bot's version of the result; null: the answer passes unchanged
 */
export async function relayView(
  upstream: Pick<Upstream, 'relay'>,
  path: string,
  call: [FastifyRequest, FastifyReply],
  view: (result: Unseen) => Promise<object | null> | object | null,
): Promise<FastifyReply> {
  const answer = await relayGet(upstream, path, call)
  const shown = answer.envelope.ok ? await view(answer.envelope.result) : null
  return await relay(call[1], shown === null ? answer : withResult(answer, shown))
}
