import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Limits } from '../../api/limits.ts'
import { isOwn, Refusal, ServiceError } from '../../errors.ts'
import type { Clients } from '../../clients/clients.ts'
import { readEdit, readSend, type DraftRules } from '../../translate/draft.ts'
import type { Messages } from '../../translate/messages.ts'
import type { Answer } from '../../service/client.ts'
import { isForLater } from '../client-calls.ts'
import type { EditPlace } from '../../outbox/edits.ts'
import { chatOf, idParam } from '../params.ts'
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

type RouteCall = [FastifyRequest, FastifyReply]

/**
 * `POST /messages` and `PATCH /messages/{messageId}`, now or by the outbox. A bot that hangs up does not undo a send
 * under way: it is made once in any case.
 */
export function messageRoutes(parts: MessageRouteParts): DoorRoute {
  const { messages, limits, sealsForBot, clients, outbox } = parts
  const rules = (): DraftRules => ({ textMax: limits().textMax, sealsForBot })
  const { edits } = outbox
  const make = async ([request, reply]: RouteCall, place: EditPlace, isBehind: boolean) => {
    const { body, client } = request
    const { messageId } = place
    const later = async () => answerLater(reply, await outbox.give({ body, messageId, client }))
    if (isBehind || isForLater(request)) return await later()
    const draft = messageId === null ? readSend(body, rules()) : readEdit(messageId, body, rules())
    const { chatId, fields } = draft
    const stillMay = admitted(request)
    const clearance = await outbox.clear({ chatId, messageId, client, sendId: fields['sendId'] })
    if (clearance === null) return await later()
    const seesPeople = clients.seesPeople(client, chatId)
    try {
      const answer = await messages.deliver(draft, { seesPeople, clearance, stillMay })
      return edits.answered(place, answer) ? await later() : await relay(reply, answer)
    } catch (error) {
      if (error instanceof ServiceError && edits.answered(place, error)) return await later()
      // the detail may name people
      if (seesPeople || !(error instanceof Refusal) || !isOwn(error.code)) throw error
      throw new Refusal(error.code, '', { extra: error.extra })
    }
  }
  const handle = async ([request, reply]: RouteCall, messageId: string | null) => {
    const credential = request.client?.credential ?? null
    const place = { credential, chatId: chatOf(request) ?? 0, messageId }
    return await edits.inOrder(place, (isBehind) => make([request, reply], place, isBehind))
  }
  return (app) => {
    app.post('/messages', (...call) => handle(call, null))
    app.patch('/messages/:messageId', async (...call) =>
      handle(call, idParam(call[0], 'messageId')),
    )
  }
}
