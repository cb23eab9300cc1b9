import type { EventBody } from '../events/event.ts'
import type { PhoneConnection } from './connection.ts'
import type { ReceivedEvent } from './memory.ts'

/** The person whose phone it is, and its connection. */
interface Receiver {
  userId: number
  connection: PhoneConnection
}

/** What a phone receives of an event of the world; null when it shows nothing of it. */
export function receivedOf(
  event: EventBody,
  { userId, connection }: Receiver,
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
