import type { FastifyRequest } from 'fastify'
import type { Limits } from '../../api/limits.ts'
import { isOwn, Refusal } from '../../errors.ts'
import type { Clients } from '../../kernel/index.ts'
import { readEdit, readSend, type Draft, type DraftRules } from '../../translate/draft.ts'
import type { Messages } from '../../translate/messages.ts'
import type { Answer } from '../../upstream/client.ts'
import { idParam } from '../params.ts'
import { relay } from '../relay.ts'
import type { DoorRoute } from '../server.ts'
import { answerLater, isForLater, type OutboxDoor } from './outbox.ts'

export interface MessageRouteParts {
  messages: Messages<Answer>
  limits: () => Limits
  /** False when the bot may do its own sealing (`key.publish: false`). */
  sealsForBot: boolean
  clients: Pick<Clients, 'seesPeople'>
  outbox: OutboxDoor
}

/**
 * `POST /messages` and `PATCH /messages/{messageId}`, now or by the outbox. A bot that hangs up does not undo a send
 * under way: it is made once in any case.
 */
export function messageRoutes(parts: MessageRouteParts): DoorRoute {
  const { messages, limits, sealsForBot, clients, outbox } = parts
  const rules = (): DraftRules => ({ textMax: limits().textMax, sealsForBot })
  const deliver = async (request: FastifyRequest, draft: Draft): Promise<Answer> => {
    const seesPeople = clients.seesPeople(request.client, draft.chatId)
    try {
      return await messages.deliver(draft, { seesPeople })
    } catch (error) {
      // the detail may name people
      if (seesPeople || !(error instanceof Refusal) || !isOwn(error.code)) throw error
      throw new Refusal(error.code, '', { extra: error.extra })
    }
  }
  return (app) => {
    app.post('/messages', async (request: FastifyRequest, reply) => {
      const { body, client } = request
      if (isForLater(request)) {
        return answerLater(reply, await outbox.give({ body, messageId: null, client }))
      }
      return relay(reply, await deliver(request, readSend(body, rules())))
    })
    app.patch('/messages/:messageId', async (request: FastifyRequest, reply) => {
      const messageId = idParam(request, 'messageId')
      const { body, client } = request
      if (isForLater(request)) {
        return answerLater(reply, await outbox.give({ body, messageId, client }))
      }
      const draft = readEdit(messageId, body, rules())
      return relay(reply, await deliver(request, draft))
    })
  }
}
