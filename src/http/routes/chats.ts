import type { FastifyRequest } from 'fastify'
import type { KnownChats } from '../../kernel/wall/known-chats.ts'
import type { Modes } from '../../lookups/modes.ts'
import { Refusal } from '../../errors.ts'
import { monotonicNow } from '../../util/clock.ts'
import { chatView, objectResult, withResult } from '../../translate/bot-view.ts'
import type { Upstream } from '../../upstream/client.ts'
import { idParam, queryOf } from '../params.ts'
import type { DoorRoute } from '../server.ts'

export interface ChatRouteParts {
  upstream: Upstream
  knownChats: KnownChats
  modes: Modes
  /** False: answers pass as they came (`key.publish: false`). */
  translates: boolean
}

/** `GET /chats/{chatId}` and `GET /chats/{chatId}/keys`: every chat is a readable one. */
export function chatRoutes(parts: ChatRouteParts): DoorRoute {
  return (app, tools) => {
    app.get('/chats/:chatId', async (request: FastifyRequest, reply) => {
      const id = idParam(request, 'chatId')
      const askedAtMs = monotonicNow()
      const answer = await parts.upstream.relay({
        method: 'GET',
        path: `/chats/${id}${queryOf(request)}`,
        signal: tools.whileConnected(reply),
      })
      if (!answer.envelope.ok) return tools.relay(reply, answer)
      const { result } = answer.envelope
      await parts.modes.observe(Number(id), result, askedAtMs)
      if (!parts.translates) return tools.relay(reply, answer)
      const latched = parts.knownChats.isLatched(Number(id))
      const view = chatView(objectResult(result, 'a chat'), { latched })
      return tools.relay(reply, withResult(answer, view))
    })
    app.get('/chats/:chatId/keys', async (request: FastifyRequest, reply) => {
      const path = `/chats/${idParam(request, 'chatId')}/keys${queryOf(request)}`
      const signal = tools.whileConnected(reply)
      const answer = await parts.upstream.relay({ method: 'GET', path, signal })
      const { envelope } = answer
      const isKeyless = !envelope.ok && envelope.error.code === 'no_user_key'
      if (!parts.translates || (!envelope.ok && !isKeyless)) return tools.relay(reply, answer)
      throw new Refusal('chat_is_open', 'the chat is readable: it has no keys')
    })
  }
}
