/** Operations on the outbox. Times are ISO 8601 in UTC. */
import { z } from 'zod'
import { refusedError } from '../errors.ts'
import type { OutboxEntries, OutboxEntry } from '../outbox/entries.ts'
import { iso, nothing, operation } from './operation.ts'

/** An entry, without its words. */
export type OutboxRow = ReturnType<typeof outboxRow>

const chosen = z.strictObject({ id: z.string().max(64) })

export const OUTBOX = {
  outboxList: operation(
    'What is sent later, in the order in which it was given, and what became of it.',
    nothing,
    ({ outbox }) => outbox.all.map(outboxRow),
  ),
  outboxDrop: operation('Removes an entry, with its words.', chosen, async ({ outbox }, { id }) => {
    await outbox.drop(unsent(outbox, id).id)
    return { message: 'removed; nobody gets these words' }
  }),
  outboxRetry: operation(
    'Lets an entry that was refused or is held wait again; `readable`: it may leave readable.',
    chosen.extend({ readable: z.boolean() }),
    async ({ outbox, journal }, { id, readable }) => {
      const { state, chatId, isForSealed } = unsent(outbox, id)
      if (state === 'waiting') throw refusedError('it waits already', SHOWN)
      if (state === 'held' && !readable) {
        throw refusedError(
          `chat ${chatId} has become readable since these words were given`,
          '`--readable` lets them leave readable, `postern outbox drop` removes them',
        )
      }
      if (readable) await journal.record([{ kind: 'outbox-readable', chatId, detail: { id } }])
      await outbox.wait(id, { isForSealed: isForSealed && !readable })
      return { message: 'it waits for its turn' }
    },
  ),
}

const SHOWN = '`postern outbox list` shows what is sent later'

/** @throws OperatorError `refused` */
function unsent(outbox: OutboxEntries, id: string): OutboxEntry {
  const entry = outbox.get(id)
  if (entry !== undefined && entry.state !== 'sent') return entry
  throw refusedError(entry === undefined ? `there is no entry ${id}` : 'it was sent', SHOWN)
}

function outboxRow(entry: OutboxEntry) {
  const { id, state, chatId, messageId, client, createdAtMs, dueAtMs, bytes, code, sentId } = entry
  return {
    id,
    state,
    chatId,
    /** The message that is edited; null: a send. */
    edits: messageId,
    client,
    createdAt: iso(createdAtMs),
    deliverAt: iso(dueAtMs),
    settledAt: iso(entry.settledAtMs),
    bytes,
    code,
    messageId: sentId,
  }
}
