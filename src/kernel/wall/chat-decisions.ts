/**
 * The operator's decisions on chats, which alone loosen the memory of them. All calls throw Refusal
 * `postern_store_unwritable`.
 */
import type { KnownChats } from './known-chats.ts'

/** Names the person of a private chat. @returns whether it is a private chat, and known */
export async function bindPerson(
  knownChats: KnownChats,
  { chatId, userId }: { chatId: number; userId: number },
): Promise<boolean> {
  if (!knownChats.isPrivate(chatId)) return false
  await knownChats.edit([chatId], {
    change: (known) => ({ ...known, personId: userId }),
    journal: ({ personId: before }) => [
      { kind: 'person-bound', chatId, userId, detail: { before } },
    ],
  })
  return true
}

/**
 * Corrects the kind of a chat, and forgets its person; the latch stays.
 * @returns the kind before; null when nothing is known of the chat
 */
export async function correctKind(
  knownChats: KnownChats,
  { chatId, to }: { chatId: number; to: 'group' | 'channel' },
): Promise<string | null> {
  if (knownChats.get(chatId) === undefined) return null
  let from = to as string
  await knownChats.edit([chatId], {
    change: (known) => {
      from = known.kind
      return known.kind === to ? null : { ...known, kind: to, personId: null }
    },
    journal: (before) => [{ kind: 'kind-corrected', chatId, detail: { from: before.kind, to } }],
  })
  return from
}

/**
 * Lifts latches; the next sighting of `protected` latches again.
 * @returns the chats that were latched or refused
 */
export async function liftLatches(
  knownChats: KnownChats,
  chatIds: readonly number[],
): Promise<number[]> {
  const known = chatIds.filter((chatId) => knownChats.get(chatId) !== undefined)
  return await knownChats.edit(known, {
    change: (chat) =>
      chat.latchedAtMs === null && chat.refusedAtMs === null
        ? null
        : { ...chat, latchedAtMs: null, refusedAtMs: null },
    journal: ({ id, latchedAtMs }) =>
      latchedAtMs === null ? [] : [{ kind: 'latch-lifted', chatId: id, detail: {} }],
    isLift: true,
  })
}

/** Makes private chats readable, and lifts their latches. @returns as `liftLatches` */
export async function liftPrivateChats(knownChats: KnownChats): Promise<number[]> {
  await knownChats.setPrivateReadable({ readable: true })
  const all = knownChats.all.flatMap(({ id, kind }) => (kind === 'private' ? [id] : []))
  return await liftLatches(knownChats, all)
}
