/** Operations on what is known of the bot's chats. */
import { z } from 'zod'
import type { KnownChats } from '../chats/known-chats.ts'
import { OperatorError } from '../errors.ts'
import { nothing, operation } from './operation.ts'

/** What is known of a chat. */
export interface ChatRow {
  id: number
  kind: string | null
  /** Whose private chat it is, once that was learned; null or absent for any other. */
  personId?: number | null | undefined
  /** As the service last said it. */
  mode: string | null
  latched: boolean
  /** Readable text for it was refused since it was last lifted. */
  refused: boolean
}

/** Which chats may take readable text again. */
const Lift = z.union([
  z.strictObject({ chatIds: z.array(z.int()).min(1).max(10_000) }),
  z.strictObject({ pending: z.literal(true) }),
  z.strictObject({ private: z.literal(true) }),
])
export type Lift = z.infer<typeof Lift>

export const CHATS = {
  chatList: operation('Every chat that was seen.', nothing, ({ knownChats, modes }): ChatRow[] =>
    knownChats.all.map(({ id, kind, personId, latchedAtMs, refusedAtMs }) => ({
      id,
      kind,
      personId: kind === 'private' ? personId : null,
      mode: modes.peek(id, 0)?.mode ?? null,
      latched: latchedAtMs !== null,
      refused: refusedAtMs !== null,
    })),
  ),
  chatAllowReadable: operation(
    'Lets readable text go to chats that were protected, until seen protected again.',
    Lift,
    async ({ knownChats, modes, publication, onPrivateReadable }, lift) => {
      const isPrivate = 'private' in lift
      const lifted = isPrivate
        ? await knownChats.setPrivateReadable({ readable: true })
        : await knownChats.lift('chatIds' in lift ? lift.chatIds : refusedChats(knownChats))
      for (const chatId of lifted) modes.forget(chatId)
      if (!isPrivate) return { lifted, message: describeLifted(lifted.length) }
      onPrivateReadable()
      const isPublished = publication?.state === 'published'
      return { lifted, message: isPublished ? STILL_ENCRYPTED : MAY_BE_READABLE }
    },
  ),
  chatBind: operation(
    'Says whose a private chat is, where the service had named the wrong person first.',
    z.strictObject({ chatId: z.int(), userId: z.int() }),
    async ({ knownChats, directory }, { chatId, userId }) => {
      if (!(await knownChats.setPerson(chatId, userId))) {
        throw new OperatorError(
          'refused',
          `chat ${chatId} is not known as a private chat`,
          '`postern chat list` shows the chats and their kinds',
        )
      }
      directory.forgetAll()
      return {
        message: `chat ${chatId} is the private chat of person ${userId}: nobody else is sealed to or believed there`,
      }
    },
  ),
}

const STILL_ENCRYPTED =
  'noted; the service still shows our key, so private chats stay encrypted until the owner removes it'
const MAY_BE_READABLE = 'private chats may be readable again, where the service says that they are'

function refusedChats(knownChats: KnownChats): number[] {
  return knownChats.all.flatMap(({ id, refusedAtMs }) => (refusedAtMs === null ? [] : [id]))
}

function describeLifted(count: number): string {
  if (count === 0) return 'no chat had to be lifted'
  return `${count === 1 ? 'one chat' : `${count} chats`} lifted; the next sign of protection latches again`
}
