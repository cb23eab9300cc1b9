import type { IncomingMessage } from 'node:http'
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
    const answer = lastWrite(reply)
    reply.raw.once('close', () => {
      const { writableFinished, statusCode } = reply.raw
      onExchange({
        kind: 'call',
        method: request.method,
        path: withoutCapability(request.url),
        request: request.body === undefined ? '' : stringify(request.body),
        status: writableFinished ? statusCode : 0,
        answer: answer(),
      })
    })
    done()
  })
}

/** A call that is turned away before any routing, such as one under an unknown Host. */
export function turnedAway(request: IncomingMessage, { status, body }: FailureAnswer): BotExchange {
  const { method = '', url = '' } = request
  const path = withoutCapability(url)
  return { kind: 'call', method, path, request: '', status, answer: body.toString() }
}

/** Gives the last write of an answer: the whole of an envelope, and nothing of a file. */
function lastWrite({ raw }: FastifyReply): () => string {
  let written = ''
  const end = raw.end.bind(raw) as (...args: unknown[]) => FastifyReply['raw']
  raw.end = (...args: unknown[]) => {
    const [chunk] = args
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) written = chunk.toString()
    return end(...args)
  }
  return () => written
}

/** Removes the query of a file's url, which is a capability for the file. */
const withoutCapability = (url: string): string =>
  url.startsWith('/media/') ? (url.split('?', 1)[0] ?? url) : url
