import { isObject } from '../api/common.ts'
import { isOrdinary } from '../api/message.ts'

/** A Message inside an update, with what it says of its place. Nothing in it is proven. */
export interface FoundMessage {
  /** The object inside the parsed update, to be changed in place. */
  message: Record<string, unknown>
  chatId: number | null
  chatKind: string | null
  messageId: number | null
  fromId: number | null
  dateMs: number | null
  isOrdinary: boolean
}

const MAX_DEPTH = 32

/**
 * Finds every Message in an update by its shape, quoted and pressed ones too (spec, Open points):
 * an object with `armored`, or with `text` and any mark of a message. A quotation without a chat
 * is in the chat of what quotes it. Whatever stands under our own name is taken out, and
 * `cleaned` says so.
 */
export function findMessages(update: unknown): { messages: FoundMessage[]; cleaned: boolean } {
  const found: Collected = { messages: [], cleaned: false }
  collect(update, { chat: null, key: '', depth: 0 }, found)
  return found
}

interface Collected {
  messages: FoundMessage[]
  cleaned: boolean
}

interface Place {
  chat: Record<string, unknown> | null
  key: string
  depth: number
}

function collect(value: unknown, place: Place, found: Collected): void {
  if (typeof value !== 'object' || value === null || place.depth > MAX_DEPTH) return
  let { chat } = place
  if (isObject(value)) {
    if ('postern' in value) found.cleaned = delete value['postern']
    if (isObject(value['chat'])) chat = value['chat']
    if (isMessage(value, place.key)) found.messages.push(describe(value, chat))
  }
  for (const [key, inner] of Object.entries(value)) {
    collect(inner, { chat, key, depth: place.depth + 1 }, found)
  }
}

function isMessage(value: Record<string, unknown>, key: string): boolean {
  if (typeof value['armored'] === 'string') return true
  const marked = 'chat' in value || 'from' in value || 'date' in value
  if (isObject(value['chat']) && 'id' in value && 'date' in value) return true
  const named = key === 'message' || key === 'replyTo'
  return (
    typeof value['text'] === 'string' &&
    (named || isObject(value['chat']) || ('id' in value && marked))
  )
}

function describe(
  message: Record<string, unknown>,
  chat: Record<string, unknown> | null,
): FoundMessage {
  const from = message['from']
  return {
    message,
    chatId: integer(chat?.['id']),
    chatKind: typeof chat?.['kind'] === 'string' ? chat['kind'] : null,
    messageId: integer(message['id']),
    fromId: isObject(from) ? integer(from['id']) : null,
    dateMs: integer(message['date']),
    isOrdinary: isOrdinary(message),
  }
}

function integer(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}
