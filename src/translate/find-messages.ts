import { isObject } from '../api/common.ts'
import { isOrdinary } from '../api/message.ts'

/** A Message inside an update, with what it says of its place. Nothing in it is proven. */
export interface FoundMessage {
  /** The object inside the parsed update, to be changed in place. */
  message: Record<string, unknown>
  chatId: number | null
  chatKind: string | null
  /** The chat that its update speaks of: that of the outermost Message. */
  updateChatId: number | null
  /**
   * Where it is in its update: the Message that the update brings, one that another Message or a
   * press carries.
   */
  position: 'top' | 'carried'
  /** Who pressed the button, in a press. */
  pressedById: number | null
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
  const found: Collected = { messages: [], surplus: [], updateChatId: null, cleaned: false }
  const isPress = isObject(update) && update['kind'] === 'callback_query'
  collect(update, { ...OUTSIDE, isPress }, found)
  found.updateChatId = outermost(update, found.messages)?.chatId ?? null
  for (const message of found.messages) message.updateChatId = found.updateChatId
  return found
}

/** The Messages of one update. */
export interface Collected {
  messages: FoundMessage[]
  surplus: Record<string, unknown>[]
  /** The chat that the update speaks of: that of the outermost Message. */
  updateChatId: number | null
  cleaned: boolean
}

interface Place {
  chat: Record<string, unknown> | null
  position: FoundMessage['position']
  /** The update is a press; what it brings carries its Message. */
  isPress: boolean
  pressedById: number | null
  key: string
  depth: number
}

const OUTSIDE: Omit<Place, 'isPress'> = {
  chat: null,
  position: 'top',
  pressedById: null,
  key: '',
  depth: 0,
}

function collect(value: unknown, place: Place, found: Collected): void {
  if (typeof value !== 'object' || value === null || place.depth > MAX_DEPTH) return
  let { chat, position, pressedById } = place
  if (isObject(value)) {
    if ('postern' in value) found.cleaned = delete value['postern']
    if (isObject(value['chat'])) chat = value['chat']
    if (isMessage(value, place.key)) {
      const message = describe(value, { ...place, chat })
      if (found.messages.length < MAX_MESSAGES) found.messages.push(message)
      else found.surplus.push(value)
      position = 'carried'
    } else if (place.isPress && place.depth === 1) {
      position = 'carried'
      pressedById = senderOf(value)
    }
  }
  for (const [key, inner] of Object.entries(value)) {
    const depth = place.depth + 1
    collect(inner, { ...place, chat, position, pressedById, key, depth }, found)
  }
}

/** The Message that says which chat the update speaks of. */
function outermost(update: unknown, messages: FoundMessage[]): FoundMessage | undefined {
  const own = isObject(update) ? update['message'] : undefined
  return (
    messages.find(({ message }) => message === own) ??
    messages.find(({ position }) => position === 'top') ??
    messages[0]
  )
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
  { chat, position, pressedById }: Place,
): FoundMessage {
  return {
    message,
    chatId: integer(chat?.['id']),
    updateChatId: null,
    position,
    pressedById,
    chatKind: typeof chat?.['kind'] === 'string' ? chat['kind'] : null,
    messageId: integer(message['id']),
    fromId: senderOf(message),
    dateMs: integer(message['date']),
    isOrdinary: isOrdinary(message),
  }
}

function senderOf({ from }: Record<string, unknown>): number | null {
  return isObject(from) ? integer(from['id']) : null
}

function integer(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}
