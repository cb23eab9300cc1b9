import { z } from 'zod'
import { sizedCache } from '../../util/caches.ts'
import { named } from '../openapi/schemas.ts'
import { ChatMessage } from '../control/results.ts'
import type { StoredMessage } from '../state.ts'
import { readMessage, type MessageReader, type ReadMessage } from './read.ts'
import { READ_FIELDS, type InboxEntry } from './seen.ts'

/** What the service stores of a message and a phone shows, beside the text. */
const asStored = ChatMessage.omit({ id: true, text: true, armored: true }).shape

const ScreenMessage = named('ScreenMessage', {
  messageId: z.int(),
  ...asStored,
  replyTo: asStored.replyTo.describe('the quoted message, while it is there'),
  ...READ_FIELDS,
})
export type ScreenMessage = z.infer<typeof ScreenMessage>

/** What a phone shows of a chat now. */
export const ChatScreen = named('ChatScreen', {
  chatId: z.int(),
  typing: z.array(z.int()).describe('ids of the bots that are typing'),
  messages: z.array(ScreenMessage).describe('oldest first'),
})
export type ChatScreen = z.infer<typeof ChatScreen>

/** Characters of sealed text whose reading is remembered. */
const REMEMBERED_CHARACTERS = 8 * 1024 * 1024

/** Gives what reads the messages of a chat, those that the phone showed before only once. */
export function screenReader() {
  /** By author and sealed text. */
  const opened = sizedCache<ReadMessage>(REMEMBERED_CHARACTERS)

  const open = async (reader: MessageReader, message: StoredMessage): Promise<ReadMessage> => {
    const { fromId, armored } = message
    if (armored === null) return await readMessage(reader, message)
    const key = `${fromId} ${armored}`
    const read = opened.get(key) ?? (await readMessage(reader, message))
    opened.set(key, read, { size: key.length })
    return read
  }

  /** @param o a chat, or one message of it; `seen` what the phone showed */
  return async (
    o: { chatId: number; messageId: number | undefined; seen: readonly InboxEntry[] },
    reader: MessageReader,
  ): Promise<ChatScreen> => {
    const { chatId, messageId: only, seen } = o
    const { connection } = reader
    const inChat = seen.filter((one) => one.chatId === chatId)
    const newest = new Map(inChat.map((one) => [one.messageId, one]))
    const read: ScreenMessage[] = []
    for (const message of connection.messages(chatId)) {
      const { id: messageId, text: _text, armored: _armored, ...rest } = message
      if (only !== undefined && messageId !== only) continue
      const reading = readingIn(newest.get(messageId), message)
      read.push({ messageId, ...rest, ...(reading ?? (await open(reader, message))) })
    }
    // Some may have been deleted while others were opened.
    const ids = new Set(connection.messages(chatId).map(({ id }) => id))
    const messages = read
      .filter(({ messageId }) => ids.has(messageId))
      .map((one) => ({ ...one, replyTo: ids.has(one.replyTo ?? 0) ? one.replyTo : null }))
    return { chatId, typing: connection.typing(chatId), messages }
  }
}

/** What the phone read when it showed the message, unless that is older than the last edit. */
function readingIn(shown: InboxEntry | undefined, message: StoredMessage): ReadMessage | null {
  if (shown === undefined || shown.at < (message.editedAt ?? message.date)) return null
  const { text, verdict, signer } = shown
  return { text, verdict, signer }
}
