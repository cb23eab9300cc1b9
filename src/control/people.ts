/** Operations on everything that is known of a person. */
import { refusedError } from '../errors.ts'
import type { OutboxEntry } from '../outbox/entries.ts'
import { describeStays } from '../trust/forgotten.ts'
import { operation, PersonInput } from './operation.ts'

/** The effect of an erasure, for people. */
export type ForgottenRow = Awaited<ReturnType<typeof PEOPLE.personForget.run>>

export const PEOPLE = {
  /** Erases everything that is known of a person. */
  personForget: operation(PersonInput, async (parts, { userId }) => {
    const { forgotten, journal, memory, names, outbox, outcomes, knownChats, directory } = parts
    const chats = new Set(
      knownChats.all.filter(({ personId }) => personId === userId).map(({ id }) => id),
    )
    const calls = outbox.all.filter((one) => chats.has(one.chatId) || isAsked(one, userId))
    const open = calls.filter(({ settledAtMs }) => settledAtMs === null)
    if (open.length > 0) {
      throw refusedError(
        `${open.length} calls wait in the outbox that go to this person, or need their word`,
        'wait for them, or remove them: `postern outbox list`, `postern outbox drop`',
      )
    }
    await outcomes.forgetRecent()
    const report = await forgotten.forget(userId, { memory, journal })
    for (const { id } of calls) await outbox.drop(id)
    names.forgetRecent()
    await outcomes.forgetRecent()
    directory.forgetAll()
    const clients = parts.clients.all.filter(({ persons }) => persons.includes(userId))
    const { rows, entries, chats: privateChats, alias, isScrubbed } = report
    return {
      alias,
      rows: { ...rows, outbox: calls.length },
      entries,
      chats: privateChats,
      isScrubbed,
      /** What stays, and why; for people. */
      stays: describeStays(report, {
        clients: clients.map(({ name }) => name),
        copies: parts.storeCopies(),
        isShared: parts.store.isShared,
      }),
    }
  }),
}

function isAsked({ approval }: OutboxEntry, userId: number): boolean {
  const asked = approval?.requests.some((request) => request.userId === userId) ?? false
  return asked || approval?.decision?.userId === userId
}
