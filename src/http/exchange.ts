import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { stringify } from '../util/exact-json.ts'
import type { BotExchange } from '../api/envelope.ts'
import type { FailureAnswer } from './error-handler.ts'

/**
 * Calls back with each call of the bot once it is answered. Its words are among it: `run` never asks
 * for that.
 */
export function observeExchanges(
  app: FastifyInstance,
  onExchange: (exchange: BotExchange) => void,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const answer = watchAnswer(reply)
    const startMs = performance.now()
    reply.raw.once('close', () => {
      const { writableFinished, statusCode } = reply.raw
      onExchange({
        kind: 'call',
        method: request.method,
        path: withoutCapability(request.url),
        request: request.body === undefined ? '' : stringify(request.body),
        status: writableFinished ? statusCode : 0,
        answer: answer.written,
        caller: request.client?.name,
        headers: withoutSecrets(request.raw.rawHeaders),
        answerHeaders: Object.entries(answer.headers).flat().map(String),
        ms: Math.round(performance.now() - startMs),
      })
    })
    done()
  })
}

/** A call that is turned away before any routing, such as one under an unknown Host. */
export function turnedAway(request: IncomingMessage, { status, body }: FailureAnswer): BotExchange {
  const { method = '', url = '' } = request
  const path = withoutCapability(url)
  const headers = withoutSecrets(request.rawHeaders)
  return { kind: 'call', method, path, request: '', status, answer: body.toString(), headers }
}

/** Names and values of headers in turn, with a mark in place of a secret. */
const withoutSecrets = (headers: readonly string[]): string[] =>
  headers.map((value, at) =>
    at % 2 === 1 && /auth|cookie|secret|token/i.test(headers[at - 1] ?? '') ? '…' : value,
  )

/** The headers and the last write of an answer: the whole of an envelope, and nothing of a file. */
function watchAnswer({ raw }: FastifyReply) {
  const seen: { written: string; headers: OutgoingHttpHeaders } = { written: '', headers: {} }
  const end = raw.end.bind(raw) as (...args: unknown[]) => FastifyReply['raw']
  const writeHead = raw.writeHead.bind(raw) as (...args: unknown[]) => FastifyReply['raw']
  raw.end = (...args: unknown[]) => {
    const [chunk] = args
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) seen.written = chunk.toString()
    return end(...args)
  }
  raw.writeHead = (...args: unknown[]) => {
    seen.headers = { ...raw.getHeaders(), ...(args[1] as OutgoingHttpHeaders | undefined) }
    return writeHead(...args)
  }
  return seen
}

/** Removes the query of a file's url, which is a capability for the file. */
const withoutCapability = (url: string): string =>
  url.startsWith('/media/') ? (url.split('?', 1)[0] ?? url) : url
