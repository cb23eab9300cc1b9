import type { FastifyRequest } from 'fastify'
import type { Limits } from '../../api/limits.ts'
import { readEdit, readSend, type DraftRules } from '../../translate/draft.ts'
import type { Messages } from '../../translate/messages.ts'
import type { Answer } from '../../upstream/client.ts'
import { idParam } from '../params.ts'
import { relay } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

export interface MessageRouteParts {
  messages: Messages<Answer>
  limits: () => Limits
  /** False when the bot may do its own sealing (`key.publish: false`). */
  sealsForBot: boolean
}

/**
 * `POST /messages` and `PATCH /messages/{messageId}`. A bot that hangs up does not undo a send
 * under way: it is made once in any case.
 */
export function messageRoutes({ messages, limits, sealsForBot }: MessageRouteParts): DoorRoute {
  const rules = (): DraftRules => ({ textMax: limits().textMax, sealsForBot })
  return (app) => {
    app.post('/messages', async (request, reply) =>
      relay(reply, await messages.deliver(readSend(request.body, rules()))),
    )
    app.patch('/messages/:messageId', async (request: FastifyRequest, reply) => {
      const draft = readEdit(idParam(request, 'messageId'), request.body, rules())
      return relay(reply, await messages.deliver(draft))
    })
  }
}
