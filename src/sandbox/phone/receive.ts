import type { EventBody } from '../events/event.ts'
import type { PublishedKey, StoredMessage } from '../state.ts'
import type { PhoneConnection } from './connection.ts'
import { readMessage, type MessageReader } from './read.ts'
import type { InboxEntry, SeenEvent } from './seen.ts'

/** Something that a phone received, with the time of the sandbox's clock. */
export type ReceivedEvent = UnreadMessage | { seen: UnnumberedEvent }

/** A message that is not opened yet, as it was when received. */
export interface UnreadMessage {
  chatId: number
  message: StoredMessage
  edited: boolean
  /** The sender's key as it was published then, by which it is verified however late it is opened. */
  senderKey: PublishedKey | null
  at: number
}

/** What a phone shows, before it has its number. */
export type UnnumberedEvent = Unnumbered<SeenEvent>
type Unnumbered<E> = E extends unknown ? Omit<E, 'n'> : never

/** What a phone receives of an event of the world; null when it shows nothing of it. */
export function receivedOf(
  event: EventBody,
  { userId, connection }: { userId: number; connection: PhoneConnection },
): ReceivedEvent | null {
  const at = connection.nowMs()
  if (event.kind === 'message' || event.kind === 'edited') {
    const { chatId, messageId, fromId } = event
    const message = connection.received(chatId, messageId)
    if (fromId === userId || message === undefined) return null
    const senderKey = connection.publishedKeyOf(fromId)
    return { chatId, message: { ...message }, edited: event.kind === 'edited', senderKey, at }
  }
  if (event.kind === 'deleted') {
    return connection.isIn(event.chatId) ? { seen: { at, ...event } } : null
  }
  if (event.kind === 'typing') {
    const { botId, ...shown } = event
    return connection.isIn(event.chatId) ? { seen: { at, userId: botId, ...shown } } : null
  }
  if (event.kind === 'key') {
    return connection.hasCommonChatWith(event.userId) ? { seen: { at, ...event } } : null
  }
  if (event.kind !== 'answer' || event.userId !== userId) return null
  const { botId: _bot, userId: _user, ...shown } = event
  return { seen: { at, ...shown } }
}

/** Opens and verifies a message that was received, as the phone shows it. */
export async function openUnread(
  reader: MessageReader,
  { chatId, message, edited, senderKey, at }: UnreadMessage,
): Promise<Omit<InboxEntry, 'n'>> {
  const { id: messageId, fromId, kind } = message
  const read = await readMessage(reader, message, senderKey)
  const shown = kind !== 'user' ? kind : edited ? 'edited' : 'message'
  return { kind: shown, at, messageId, chatId, fromId, edited, ...read }
}
