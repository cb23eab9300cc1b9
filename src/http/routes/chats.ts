import type { KnownChats } from '../../kernel/index.ts'
import type { Modes } from '../../service/lookups/modes.ts'
import { Refusal } from '../../errors.ts'
import { monotonicNow } from '../../util/clock.ts'
import { chatView, objectResult } from '../../translate/bot-view.ts'
import type { Upstream } from '../../service/client.ts'
import { idParam } from '../params.ts'
import { relay, relayGet, relayView } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

export interface ChatRouteParts {
  upstream: Upstream
  knownChats: KnownChats
  modes: Modes
  /** False: answers pass unchanged (`key.publish: false`). */
  translates: boolean
}

/** `GET /chats/{chatId}` and `GET /chats/{chatId}/keys`: every chat is a readable one. */
export const chatRoutes =
  ({ upstream, knownChats, modes, translates }: ChatRouteParts): DoorRoute =>
  (app) => {
    app.get('/chats/:chatId', (...call) => {
      const id = idParam(call[0], 'chatId')
      const askedAtMs = monotonicNow()
      return relayView(upstream, `/chats/${id}`, call, async (answer) => {
        const { result } = await modes.observe(Number(id), answer, askedAtMs)
        if (!translates) return null
        const latched = knownChats.isLatched(Number(id))
        return chatView(objectResult(result, 'a chat'), { latched })
      })
    })
    app.get('/chats/:chatId/keys', async (request, reply) => {
      const path = `/chats/${idParam(request, 'chatId')}/keys`
      const answer = await relayGet(upstream, path, [request, reply])
      const { envelope } = answer
      const isKeyless = !envelope.ok && envelope.error.code === 'no_user_key'
      if (!translates || (!envelope.ok && !isKeyless)) return await relay(reply, answer)
      throw new Refusal('chat_is_open', 'the chat is readable: it has no keys')
    })
  }
