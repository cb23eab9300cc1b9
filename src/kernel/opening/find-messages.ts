/** The Messages of an update, and the place that each claims. */
import { isObject } from '../unseen.ts'
import type { ChatSighting } from '../wall/tightening.ts'

/** A Message inside an update, with the place that it claims. Nothing in it is proven. */
export interface FoundMessage {
  /** The object inside the parsed update, to be changed in place. */
  message: Record<string, unknown>
  chatId: number | null
  chatKind: string | null
  /** The chat of its update; where an object around the Message names another chat, that one. */
  updateChatId: number | null
  /** `top`: the update brings this Message; `carried`: another Message or a press contains it. */
  position: 'top' | 'carried'
  /** The person who pressed the button, in a press. */
  pressedById: number | null
  messageId: number | null
  fromId: number | null
  dateMs: number | null
  /** A person wrote it: it is no service notice (spec, Message). */
  isOrdinary: boolean
}

export interface MessagesOfUpdate {
  messages: FoundMessage[]
  /** Messages beyond `MAX_MESSAGES`. */
  surplus: Record<string, unknown>[]
  /** The chat of the update; null where its outermost Messages do not agree. */
  updateChatId: number | null
  /** Whether the update used our name `postern`, which is removed. */
  cleaned: boolean
  /** Restores each quotation that was no object, and so became a Message, where that has no verdict. */
  restore: (judged: ReadonlySet<unknown>) => void
}

/** The maximal depth of any answer (exact-json.ts). */
const MAX_DEPTH = 128
/** Messages that are examined in one update: a message, its quotations, and plenty of room. */
const MAX_MESSAGES = 100

interface MessagePlace {
  /** The nearest object that names the chat; null where there is none. */
  chat: Record<string, unknown> | null
  /** Ids of the chats that the objects around it name. */
  around: readonly (number | null)[]
  /** A Message with a chat, other than the update, contains it. */
  isInside: boolean
  position: FoundMessage['position']
  pressedById: number | null
  key: string
  depth: number
}

const OUTSIDE: MessagePlace = {
  chat: null,
  around: [],
  isInside: false,
  position: 'top',
  pressedById: null,
  key: '',
  depth: 0,
}

interface PlacedMessage {
  message: Record<string, unknown>
  place: MessagePlace
}

interface MessageWalk {
  /** The update is a press; the object that it brings carries its Message. */
  isPress: boolean
  messages: PlacedMessage[]
  surplus: Record<string, unknown>[]
  buttons: Set<unknown>
  /** Quotations without an object, by the object that has them as its `replyTo`. */
  quotations: Map<Record<string, unknown>, unknown>
  cleaned: boolean
}

/**
 * Finds every Message in an update by its shape (spec, Open points): an object with a `text` or an
 * `armored` of any type, except buttons of a keyboard; and a notice, with a chat, an id and a date. A
 * Message without a chat is in the chat of the object around it, else in that of its update.
 */
export function findMessages(update: unknown): MessagesOfUpdate {
  const walk: MessageWalk = {
    isPress: isObject(update) && update['kind'] === 'callback_query',
    messages: [],
    surplus: [],
    buttons: new Set(),
    quotations: new Map(),
    cleaned: false,
  }
  collect(update, OUTSIDE, walk)
  const updateChatId = chatOfUpdate(update, walk.messages)
  const { surplus, quotations, cleaned } = walk
  const messages = walk.messages.map((one) => describe(one, updateChatId))
  const restore: MessagesOfUpdate['restore'] = (judged) =>
    quotations.forEach((quotation, holder) => {
      const { replyTo } = holder
      if (isObject(replyTo) && !judged.has(replyTo)) holder['replyTo'] = quotation
    })
  return { messages, surplus, updateChatId, cleaned, restore }
}

function collect(value: unknown, place: MessagePlace, walk: MessageWalk): void {
  if (typeof value !== 'object' || value === null || place.depth > MAX_DEPTH) return
  if (isObject(value) && 'postern' in value) walk.cleaned = delete value['postern']
  if (walk.buttons.has(value) && isButton(value)) return
  const inside = isObject(value) ? enter(value, place, walk) : place
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'object') collect(inner, { ...inside, key, depth: place.depth + 1 }, walk)
  }
}

/** Collects one object. @returns the place of its values, but for their key and depth */
function enter(value: Record<string, unknown>, at: MessagePlace, walk: MessageWalk): MessagePlace {
  const named = namedChat(value)
  const isPayload = walk.isPress && at.depth === 1 && at.key !== 'message'
  const place: MessagePlace = {
    ...at,
    chat: named ?? at.chat,
    ...(isPayload && { position: 'carried', pressedById: senderOf(value) }),
  }
  const around = named === null ? at.around : [...at.around, integer(named['id'])]
  for (const button of buttonsIn(value)) walk.buttons.add(button)
  wrapQuotation(value, walk)
  if (!isMessage(value)) return { ...place, around }
  if (walk.messages.length < MAX_MESSAGES) walk.messages.push({ message: value, place })
  else walk.surplus.push(value)
  // text in the update itself does not make a quotation of the Message that it brings
  if (at.depth === 0) return { ...place, around }
  return { ...place, around, isInside: at.isInside || place.chat !== null, position: 'carried' }
}

/** The chat that an object names: null for none; a chat that is no object names an unknown one. */
function namedChat({ chat }: Record<string, unknown>): Record<string, unknown> | null {
  if (isObject(chat)) return chat
  return chat === undefined || chat === null ? null : {}
}

function isMessage(value: Record<string, unknown>): boolean {
  if (value['text'] != null || value['armored'] != null) return true
  return isObject(value['chat']) && 'id' in value && 'date' in value
}

function describe({ message, place }: PlacedMessage, updateChatId: number | null): FoundMessage {
  const { chat, around, position, pressedById, depth, key } = place
  const chatId = chat === null ? updateChatId : integer(chat['id'])
  const otherChatId = [updateChatId, ...around].find((id) => id !== chatId)
  const isBrought = isObject(message['chat']) || (depth === 1 && key === 'message')
  return {
    message,
    chatId,
    updateChatId: otherChatId === undefined ? updateChatId : otherChatId,
    position: isBrought ? position : 'carried',
    pressedById,
    chatKind: typeof chat?.['kind'] === 'string' ? chat['kind'] : null,
    messageId: integer(message['id']),
    fromId: senderOf(message),
    dateMs: integer(message['date']),
    isOrdinary: message['kind'] === undefined || message['kind'] === 'user',
  }
}

/** Makes a Message of a quotation that is text, so that it is judged as one. */
function wrapQuotation(holder: Record<string, unknown>, { quotations }: MessageWalk): void {
  const quotation = holder['replyTo']
  if (!hasText(quotation)) return
  holder['replyTo'] = { text: quotation }
  quotations.set(holder, quotation)
}

const hasText = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(hasText) : typeof value === 'string' && value !== ''

/** The chat of the update's own `message`, else the one chat that is named by and around the others. */
function chatOfUpdate(update: unknown, messages: readonly PlacedMessage[]): number | null {
  const own = isObject(update) ? update['message'] : undefined
  const brought = messages.find(({ message }) => message === own)
  if (brought !== undefined) return integer(brought.place.chat?.['id'])
  const named = messages.flatMap(({ place: { isInside, chat, around } }) =>
    isInside || chat === null ? [] : [integer(chat['id']), ...around],
  )
  const [first = null, ...others] = new Set(named)
  return others.length === 0 ? first : null
}

const senderOf = ({ from }: Record<string, unknown>): number | null =>
  isObject(from) ? integer(from['id']) : null

const integer = (value: unknown): number | null =>
  Number.isSafeInteger(value) ? (value as number) : null

/**
 * The sightings of a chat in a Message: its kind, and the person of a private one, which a notice, a
 * quotation and a press do not show.
 */
export function sightingsIn(one: FoundMessage, botId: number | null): ChatSighting[] {
  const { chatId, chatKind, fromId, updateChatId, position } = one
  if (chatId === null) return []
  const isPlain = one.isOrdinary && position === 'top' && chatId === updateChatId
  const hasPerson = isPlain && fromId !== null && fromId !== botId
  return [
    ...(chatKind === null ? [] : [{ chatId, kind: chatKind }]),
    ...(hasPerson ? [{ chatId, userId: fromId }] : []),
  ]
}

/** The objects at the places of buttons in a keyboard (spec, Inline keyboard). */
function buttonsIn({ markup }: Record<string, unknown>): unknown[] {
  const rows = isObject(markup) ? markup['inlineKeyboard'] : null
  return Array.isArray(rows) ? rows.filter((row) => Array.isArray(row)).flat() : []
}

/**
 * Whether an object is a button by the spec, and contains nothing that could be a Message. A button
 * is never encrypted: its text is nobody's Message.
 */
function isButton(object: object): boolean {
  const { text, callbackData, url } = object as Record<string, unknown>
  if (typeof text !== 'string' || 'armored' in object) return false
  if (typeof callbackData !== 'string' && typeof url !== 'string') return false
  return Object.values(object).every((value) => typeof value !== 'object' || value === null)
}
