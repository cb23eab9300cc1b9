/** Operations on the outbox. Times are ISO 8601 in UTC. */
import { z } from 'zod'
import { refusedError, type OperatorError } from '../errors.ts'
import { decide } from '../outbox/hear.ts'
import { isOpen, isOver, type OutboxEntries, type OutboxEntry } from '../outbox/entries.ts'
import { iso, nothing, operation } from './operation.ts'

/** An entry, without its words. */
export type OutboxRow = ReturnType<typeof outboxRow>

const chosen = z.strictObject({ id: z.string().max(64) })

const RetryInput = chosen.extend({ readable: z.boolean() })

export const OUTBOX = {
  /** Calls that are made later, in their order, and the outcome of each. */
  outboxList: operation(nothing, ({ outbox }) => outbox.all.map(outboxRow)),
  /** Removes an entry, with its words. */
  outboxDrop: operation(chosen, async ({ outbox }, { id }) => {
    const dropped = (await outbox.drop(id)) ?? unsent(outbox, id)
    return { message: `removed; ${dropped.call === 'open' ? MAY_BE_SENT : 'its call is not made'}` }
  }),
  /** Lets an entry that was refused or is held wait again, for a person’s word where it needs one; `readable`: it may leave readable. */
  outboxRetry: operation(RetryInput, async ({ outbox, journal }, { id, readable }) => {
    const { state, chatId, isForSealed, code } = unsent(outbox, id)
    if (isOpen({ state })) throw waits()
    if (state === 'held' && code !== RESTORED && !readable) {
      throw refusedError(
        `chat ${chatId} has become readable since these words were given`,
        '`--readable` lets them leave readable, `postern outbox drop` removes them',
      )
    }
    if (readable) await journal.record([{ kind: 'outbox-readable', chatId, detail: { id } }])
    const how = { isForSealed: isForSealed && !readable, nowMs: Date.now() }
    if (!(await outbox.wait(id, how))) {
      unsent(outbox, id)
      throw waits()
    }
    const isAsked = outbox.get(id)?.state === 'asked'
    return { message: isAsked ? 'a person is asked anew' : 'it waits for its turn' }
  }),
  /** Refuses a call that waits for a person’s word; a later word does not count. */
  approveRefuse: operation(chosen, async ({ outbox }, { id }) => {
    const code = unsent(outbox, id).approval?.code ?? ''
    const by = { userId: null, messageId: null, fingerprint: null, atMs: Date.now() }
    const isRefused = await decide(outbox, { id, code, isApproved: false, ...by })
    if (isRefused) return { message: 'refused; nothing leaves' }
    throw refusedError('it waits for no word', '`postern approve list` shows those that do')
  }),
}

/** The code of entries that are held since a backup was restored. */
export const RESTORED = 'postern_outbox_restored'

const SHOWN = '`postern outbox list` shows what is sent later'
const MAY_BE_SENT =
  'its call is under way or its answer was lost: the service may have these words, and is not given them again'

const waits = (): OperatorError => refusedError('it waits already', SHOWN)

/** @throws OperatorError `refused` */
function unsent(outbox: OutboxEntries, id: string): OutboxEntry {
  const entry = outbox.get(id)
  if (entry === undefined) throw refusedError(`there is no entry ${id}`, SHOWN)
  if (!isOver(entry)) return entry
  throw refusedError(`it was ${entry.state}`, SHOWN)
}

function outboxRow(entry: OutboxEntry) {
  const { id, state, chatId, messageId: edits, client, code, sentId: messageId, approval } = entry
  return {
    id,
    state,
    chatId,
    /** The message that is edited; null: a send. */
    edits,
    client,
    createdAt: iso(entry.createdAtMs),
    deliverAt: iso(entry.dueAtMs),
    settledAt: iso(entry.settledAtMs),
    bytes: entry.bytes,
    /** The service may have its words: its call is under way, or its answer was lost. */
    mayBeSent: state !== 'sent' && entry.call === 'open',
    code,
    /** The entry of the newer edit that is made in its place. */
    replacedBy: entry.replacedBy,
    messageId,
    /** The person's word, with times in ms; null: it needs none. */
    approval,
  }
}
