/** Operations on everything that is known of a person. */
import { refusedError } from '../errors.ts'
import { counted } from '../printable.ts'
import { isOpen, type OutboxEntry } from '../outbox/entries.ts'
import { describeStays } from '../store/forgotten.ts'
import { operation, PersonInput } from './operation.ts'

/** The effect of an erasure, for people. */
export type ForgottenRow = Awaited<ReturnType<typeof PEOPLE.personForget.run>>

export const PEOPLE = {
  /** Erases everything that is known of a person. */
  personForget: operation(PersonInput, async (parts, { userId }) => {
    const { forgotten, journal, memory, names, outbox, outcomes, knownChats, directory } = parts
    const theirChats = knownChats.all.filter(({ personId }) => personId === userId)
    const ofThem = new Set(theirChats.map(({ id }) => id))
    const calls = outbox.all.filter((one) => ofThem.has(one.chatId) || isAsked(one, userId))
    const open = calls.filter(isOpen)
    if (open.length > 0) {
      throw refusedError(
        `the outbox holds ${counted(open.length, 'call')} to this person, or for their word`,
        'wait for them, or remove them: `postern outbox list`, `postern outbox drop`',
      )
    }
    await outcomes.forgetRecent()
    const report = await forgotten.forget(userId, { memory, journal })
    for (const { id } of calls) await outbox.drop(id)
    names.forgetRecent()
    await outcomes.forgetRecent()
    directory.forgetAll()
    const named = parts.clients.all.filter(({ persons }) => persons.includes(userId))
    const clients = named.map(({ name }) => name)
    const { rows, entries, chats, alias, isScrubbed } = report
    const copies = parts.storeCopies()
    const stays = describeStays(report, { clients, copies, isShared: parts.store.isShared })
    return { alias, rows: { ...rows, outbox: calls.length }, entries, chats, isScrubbed, stays }
  }),
}

function isAsked({ approval }: OutboxEntry, userId: number): boolean {
  const asked = approval?.requests.some((request) => request.userId === userId) ?? false
  return asked || approval?.decision?.userId === userId
}
