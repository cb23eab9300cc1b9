/** Operations on what is known of the bot's chats. */
import { z } from 'zod'
import type { Facts } from '../chats/facts.ts'
import { nothing, operation } from './operation.ts'

/** What is known of a chat. */
export interface ChatRow {
  id: number
  kind: string | null
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
  chatList: operation('Every chat that was seen.', nothing, ({ facts, modes }): ChatRow[] =>
    facts.all.map(({ id, kind, latchedAtMs, refusedAtMs }) => ({
      id,
      kind,
      mode: modes.peek(id, 0)?.mode ?? null,
      latched: latchedAtMs !== null,
      refused: refusedAtMs !== null,
    })),
  ),
  chatAllowReadable: operation(
    'Lets readable text go to chats that were protected, until seen protected again.',
    Lift,
    async ({ facts, modes, publication, onPrivateReadable }, lift) => {
      const isPrivate = 'private' in lift
      const lifted = isPrivate
        ? await facts.setPrivateReadable({ readable: true })
        : await facts.lift('chatIds' in lift ? lift.chatIds : refusedChats(facts))
      for (const chatId of lifted) modes.forget(chatId)
      if (!isPrivate) return { lifted, message: describeLifted(lifted.length) }
      onPrivateReadable()
      const isPublished = publication?.state === 'published'
      return { lifted, message: isPublished ? STILL_ENCRYPTED : MAY_BE_READABLE }
    },
  ),
}

const STILL_ENCRYPTED =
  'noted; the service still shows our key, so private chats stay encrypted until the owner removes it'
const MAY_BE_READABLE = 'private chats may be readable again, where the service says that they are'

function refusedChats(facts: Facts): number[] {
  return facts.all.flatMap(({ id, refusedAtMs }) => (refusedAtMs === null ? [] : [id]))
}

function describeLifted(count: number): string {
  if (count === 0) return 'no chat had to be lifted'
  return `${count === 1 ? 'one chat' : `${count} chats`} lifted; the next sign of protection latches again`
}
