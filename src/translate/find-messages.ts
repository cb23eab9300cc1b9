import { isObject } from '../api/common.ts'
import { isOrdinary } from '../api/message.ts'

/** A Message inside an update, with what it says of its place. Nothing in it is proven. */
export interface FoundMessage {
  /** The object inside the parsed update, to be changed in place. */
  message: Record<string, unknown>
  chatId: number | null
  chatKind: string | null
  /** The chat of what quotes it, where it says that it is from another one. */
  quotedIn: number | null
  messageId: number | null
  fromId: number | null
  dateMs: number | null
  isOrdinary: boolean
}

/** As deep as an answer may be at all (json.ts). */
const MAX_DEPTH = 128
/** Messages that are looked at in one update: a message, what it quotes, and plenty of room. */
const MAX_MESSAGES = 100

/**
 * Finds every Message in an update by its shape, quoted and pressed ones too (spec, Open points):
 * an object with `armored`, or with `text` and any mark of a message. A quotation without a chat
 * is in the chat of what quotes it. Whatever stands under our own name is taken out, and
 * `cleaned` says so. What is beyond the number that is looked at is in `surplus`.
 */
export function findMessages(update: unknown): Collected {
  const found: Collected = { messages: [], surplus: [], cleaned: false }
  collect(update, { chat: null, quotedBy: null, key: '', depth: 0 }, found)
  return found
}

/** The Messages of one update. */
export interface Collected {
  messages: FoundMessage[]
  surplus: Record<string, unknown>[]
  cleaned: boolean
}

interface Place {
  chat: Record<string, unknown> | null
  /** Chat of the Message around. */
  quotedBy: number | null
  key: string
  depth: number
}

function collect(value: unknown, place: Place, found: Collected): void {
  if (typeof value !== 'object' || value === null || place.depth > MAX_DEPTH) return
  let { chat, quotedBy } = place
  if (isObject(value)) {
    if ('postern' in value) found.cleaned = delete value['postern']
    if (isObject(value['chat'])) chat = value['chat']
    if (isMessage(value, place.key)) {
      const message = describe(value, { chat, quotedBy })
      if (found.messages.length < MAX_MESSAGES) found.messages.push(message)
      else found.surplus.push(value)
      quotedBy = message.chatId ?? quotedBy
    }
  }
  for (const [key, inner] of Object.entries(value)) {
    collect(inner, { chat, quotedBy, key, depth: place.depth + 1 }, found)
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
  { chat, quotedBy }: Pick<Place, 'chat' | 'quotedBy'>,
): FoundMessage {
  const from = message['from']
  const chatId = integer(chat?.['id'])
  return {
    message,
    chatId,
    quotedIn: quotedBy === chatId ? null : quotedBy,
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
