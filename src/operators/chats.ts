/** Operations on the bot's chats in memory. */
import { bindPerson, correctKind, liftLatches, liftPrivateChats } from '../kernel/index.ts'
import { z } from 'zod'
import { OperatorError, refusedError } from '../errors.ts'
import { counted } from '../printable.ts'
import { ChatInput, nothing, operation } from './operation.ts'

/** One chat in memory. */
export type ChatRow = Awaited<ReturnType<typeof CHATS.chatList.run>>[number]

/** The preview of a message into a chat. */
export type ShownChat = Awaited<ReturnType<typeof CHATS.chatShow.run>>

/** Which chats may receive readable text again. */
const Lift = z.union([
  z.strictObject({ chatIds: z.array(z.int()).min(1).max(10_000) }),
  z.strictObject({ pending: z.literal(true) }),
  z.strictObject({ private: z.literal(true) }),
])
export type Lift = z.infer<typeof Lift>

const KindInput = ChatInput.extend({ kind: z.enum(['group', 'channel']) })
const BindInput = ChatInput.extend({ userId: z.int() })

export const CHATS = {
  /** Every known chat. */
  chatList: operation(nothing, ({ knownChats, modes, mustSeal }) =>
    knownChats.all.map(({ id, kind, personId, latchedAtMs, refusedAtMs }) => ({
      id,
      kind,
      /** Whose private chat it is, once that was learned; null or absent for any other. */
      personId: kind === 'private' ? personId : null,
      /** As the service last gave it. */
      mode: modes.peek(id, 0)?.mode ?? null,
      latched: latchedAtMs !== null,
      /** Readable text is forbidden: by the latch, or in a private chat by the bot's key. */
      sealed: mustSeal(id),
      /** Readable text for it was refused since it was last lifted. */
      refused: refusedAtMs !== null,
    })),
  ),
  /** The readers of a message into a chat, or the reason of its refusal, by the service’s present answers. */
  chatShow: operation(ChatInput, async ({ knownChats, publication, previewChat }, { chatId }) => {
    const known = knownChats.get(chatId)
    if (known === undefined) throw unknownChats([chatId])
    const isPublished = publication?.state === 'published'
    return { kind: known.kind, isPublished, ...(await previewChat(chatId)) }
  }),
  /** Allows readable text in chats that were protected, until they are seen protected again. */
  chatAllowReadable: operation(
    Lift,
    async ({ knownChats, modes, publication, onPrivateReadable }, lift) => {
      const isPrivate = 'private' in lift
      const named = 'chatIds' in lift ? lift.chatIds : null
      // mistyped ids, before any latch is lifted
      const unknown = named?.filter((id) => knownChats.get(id) === undefined) ?? []
      if (unknown.length > 0) throw unknownChats(unknown)
      const latched = knownChats.all.filter(({ latchedAtMs }) => latchedAtMs !== null)
      const ids = new Set(latched.map(({ id }) => id))
      const refused = knownChats.all.filter(({ refusedAtMs }) => refusedAtMs !== null)
      const changed = isPrivate
        ? await liftPrivateChats(knownChats)
        : await liftLatches(knownChats, named ?? refused.map(({ id }) => id))
      for (const chatId of changed) modes.forget(chatId)
      const lifted = changed.filter((chatId) => ids.has(chatId))
      if (!isPrivate) return { lifted, message: describeLifted(lifted.length) }
      onPrivateReadable()
      const isPublished = publication?.state === 'published'
      return { lifted, message: isPublished ? STILL_ENCRYPTED : MAY_BE_READABLE }
    },
  ),
  /** Corrects the kind of a chat that the service once named wrongly; its latch stays. */
  chatCorrectKind: operation(
    KindInput,
    async ({ knownChats, modes, directory }, { chatId, kind }) => {
      const from = await correctKind(knownChats, { chatId, to: kind })
      if (from === null) throw unknownChats([chatId])
      modes.forget(chatId)
      directory.forget(chatId)
      const message =
        from === kind
          ? `chat ${chatId} is a ${kind} already`
          : `chat ${chatId} counts as a ${kind}, and not as ${from} any more, until the service shows it as one of a stricter kind again`
      return { message }
    },
  ),
  /** Corrects whose private chat it is, when the service first named the wrong person. */
  chatBind: operation(BindInput, async ({ knownChats, directory }, { chatId, userId }) => {
    if (!(await bindPerson(knownChats, { chatId, userId }))) {
      throw refusedError(
        `chat ${chatId} is not known as a private chat`,
        '`postern chat list` shows the chats and their kinds',
      )
    }
    directory.forgetAll()
    return {
      message: `chat ${chatId} is the private chat of person ${userId}: nobody else is sealed to or trusted there`,
    }
  }),
}

const STILL_ENCRYPTED =
  'noted; the service still shows our key, so private chats stay encrypted until the owner removes it'
const MAY_BE_READABLE =
  'private chats may be readable again, where the service lists them as readable'

const unknownChats = (ids: readonly number[]): OperatorError =>
  refusedError(
    ids.length === 1 ? `chat ${ids[0]} is not known` : `chats ${ids.join(', ')} are not known`,
    '`postern chat list` shows the chats; Postern learns of one by its first update',
  )

function describeLifted(count: number): string {
  if (count === 0) return 'nothing to lift'
  return `${counted(count, 'chat')} lifted; the next sign of protection latches again`
}
