import type { WorldEvent } from '../state.ts'
import type { PhoneConnection } from './connection.ts'
import type { ReceivedEvent, UnnumberedEvent } from './memory.ts'

/** The person whose phone it is, and its connection. */
interface Receiver {
  userId: number
  connection: PhoneConnection
}

/** What a phone receives of an event of the world; null when it shows nothing of it. */
export function receivedOf(
  event: WorldEvent,
  { userId, connection }: Receiver,
): ReceivedEvent | null {
  const at = connection.now()
  const seen = (one: UnnumberedEvent): ReceivedEvent => ({ seen: one })
  switch (event.kind) {
    case 'message':
    case 'edited': {
      const { chat, message, kind } = event
      if (message.fromId === userId || !connection.isIn(chat)) return null
      const senderKey = connection.publishedKeyOf(message.fromId)
      const edited = kind === 'edited'
      return { chatId: chat.id, message: { ...message }, edited, senderKey, at }
    }
    case 'deleted': {
      const { kind, chat, messageId } = event
      return connection.isIn(chat) ? seen({ kind, at, chatId: chat.id, messageId }) : null
    }
    case 'typing': {
      const { kind, chat, botId, typing } = event
      if (!connection.isIn(chat)) return null
      return seen({ kind, at, chatId: chat.id, userId: botId, typing })
    }
    case 'key': {
      const { kind, userId: ownerId, key } = event
      if (!connection.hasCommonChatWith(ownerId)) return null
      return seen({ kind, at, userId: ownerId, fingerprint: key?.fingerprint ?? null })
    }
    case 'answer': {
      const { kind, press, answer } = event
      if (press.userId !== userId) return null
      const { id: callbackId, chatId, messageId } = press
      return seen({ kind, at, callbackId, chatId, messageId, ...answer })
    }
    case 'queued':
    case 'delivered':
    case 'failed':
    case 'notice':
    case 'clock':
    case 'step':
      break
  }
  return null
}
