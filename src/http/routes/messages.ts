import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Limits } from '../../api/limits.ts'
import { isOwn, Refusal } from '../../errors.ts'
import type { Clients } from '../../clients/clients.ts'
import { readEdit, readSend, type DraftRules } from '../../translate/draft.ts'
import type { Messages } from '../../translate/messages.ts'
import type { Answer } from '../../service/client.ts'
import { isForLater } from '../client-calls.ts'
import { idParam } from '../params.ts'
import { admitted, relay } from '../relay.ts'
import type { DoorRoute } from '../server.ts'
import { answerLater, type OutboxDoor } from './outbox.ts'

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
  const make = async (request: FastifyRequest, reply: FastifyReply, messageId: string | null) => {
    const { body, client } = request
    const call = { body, messageId, client }
    if (isForLater(request)) return answerLater(reply, await outbox.give(call))
    const draft = messageId === null ? readSend(body, rules()) : readEdit(messageId, body, rules())
    const { chatId, fields } = draft
    const stillMay = admitted(request)
    const clearance = await outbox.clear({ chatId, messageId, client, sendId: fields['sendId'] })
    if (clearance === null) return answerLater(reply, await outbox.give(call))
    const seesPeople = clients.seesPeople(client, chatId)
    try {
      const answered = await messages.deliver(draft, { seesPeople, clearance, stillMay })
      return await relay(reply, answered)
    } catch (error) {
      // the detail may name people
      if (seesPeople || !(error instanceof Refusal) || !isOwn(error.code)) throw error
      throw new Refusal(error.code, '', { extra: error.extra })
    }
  }
  return (app) => {
    app.post('/messages', (request: FastifyRequest, reply) => make(request, reply, null))
    app.patch('/messages/:messageId', async (request: FastifyRequest, reply) =>
      make(request, reply, idParam(request, 'messageId')),
    )
  }
}
