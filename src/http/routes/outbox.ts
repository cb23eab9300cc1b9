import type { FastifyReply } from 'fastify'
import { Refusal } from '../../errors.ts'
import { UNNAMED } from '../client-calls.ts'
import type { Clearance } from '../../kernel/index.ts'
import type { OutboxEntry } from '../../outbox/entries.ts'
import type { Edits } from '../../outbox/edits.ts'
import type { CallPlace, GivenEntry, LaterCall } from '../../outbox/give.ts'
import { withResult } from '../../translate/bot-view.ts'
import { parseExact } from '../../util/exact-json.ts'
import { textParam } from '../params.ts'
import { relay } from '../relay.ts'
import type { DoorRoute } from '../server.ts'
import type { PassParts } from './pass.ts'

/** What a route asks of the outbox. */
export type OutboxDoor = PassParts['outbox'] & {
  edits: Pick<Edits, 'inOrder' | 'answered'>
  give: (call: LaterCall) => Promise<GivenEntry>
  /** As `clearNow`. */
  clear: (call: CallPlace) => Promise<Clearance | null>
  /** The entry as any sidecar has written it. @throws Refusal `postern_store_unwritable` */
  find: (id: string) => Promise<OutboxEntry | undefined>
}

const PATH = '/postern/v1/outbox'
/** Answers a call that is made later; an edit as a SentMessage too, with the time at which it was given. */
export async function answerLater(reply: FastifyReply, entry: GivenEntry) {
  const { id, state, messageId, createdAtMs: date, replaces } = entry
  const headers = { 'preference-applied': 'respond-async', location: `${PATH}/${id}` }
  const sent = messageId === null ? {} : { id: parseExact(messageId), date }
  const outbox = { id, state, ...(replaces.length > 0 && { replaces }) }
  return await answer(reply, 202, { ...sent, postern: { outbox } }, headers)
}

/** `GET /postern/v1/outbox/{id}`: the state of a call, for its caller and for the bot. */
export const outboxRoute =
  ({ find }: OutboxDoor): DoorRoute =>
  (app, tools) => {
    app.get(`${PATH}/:id`, async (request, reply) => {
      await tools.admit(request, UNNAMED)
      const entry = await find(textParam(request, 'id'))
      const isOurs = request.client === null || entry?.credential === request.client.credential
      if (entry === undefined || !isOurs) throw new Refusal('not_found', 'no such entry')
      const { id, state, chatId, sentId: messageId, code, replacedBy } = entry
      const { createdAtMs: createdAt, dueAtMs: deliverAt, settledAtMs: settledAt } = entry
      const times = { createdAt, deliverAt, settledAt }
      return await answer(reply, 200, { id, state, chatId, messageId, code, replacedBy, ...times })
    })
  }

async function answer(
  reply: FastifyReply,
  status: number,
  result: object,
  headers: Record<string, string> = {},
): Promise<FastifyReply> {
  const type = { 'content-type': 'application/json; charset=utf-8' }
  const bare = { status, headers: { ...type, ...headers }, body: Buffer.alloc(0) }
  return await relay(reply, withResult(bare, result))
}
