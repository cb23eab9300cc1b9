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

export interface MessageRouteParts {
  messages: Messages<Answer>
  limits: () => Limits
  /** False when the bot may do its own sealing (`key.publish: false`). */
  sealsForBot: boolean
  clients: Pick<Clients, 'seesPeople'>
}

/**
 * `POST /messages` and `PATCH /messages/{messageId}`. A bot that hangs up does not undo a send
 * under way: it is made once in any case.
 */
export function messageRoutes(parts: MessageRouteParts): DoorRoute {
  const { messages, limits, sealsForBot, clients } = parts
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
    app.post('/messages', async (request, reply) =>
      relay(reply, await deliver(request, readSend(request.body, rules()))),
    )
    app.patch('/messages/:messageId', async (request: FastifyRequest, reply) => {
      const draft = readEdit(idParam(request, 'messageId'), request.body, rules())
      return relay(reply, await deliver(request, draft))
    })
  }
}
