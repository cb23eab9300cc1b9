import { EMPTY, type BotPolls } from '../../updates/bot-polls.ts'
import { queryOf } from '../params.ts'
import { admitted, isGone, relay, whileConnected } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

/**
 * `GET /updates`: the long poll of the bot is passed on, and that of a client waits for the shared
 * reading (`updates/bot-polls.ts`). A hang-up on either side ends the other. While the sidecar stops,
 * polls end with an empty list, which confirms nothing.
 *
 * @param polls answers them, and is called back once an answer has left
 */
export const updateRoutes =
  (polls: Pick<BotPolls, 'answer'>): DoorRoute =>
  (app, { stopping }) => {
    app.get('/updates', async (request, reply) => {
      const caller = { client: request.client, stillMay: admitted(request) }
      const signal = AbortSignal.any([whileConnected(reply), stopping])
      try {
        const query = queryOf(request).slice(1)
        const [answer, onLeft] = await polls.answer(caller, query, signal)
        reply.raw.once('finish', onLeft)
        return await relay(reply, answer)
      } catch (error) {
        if (isGone(reply)) return reply.hijack()
        if (stopping.aborted) return await relay(reply, EMPTY)
        throw error
      }
    })
  }
