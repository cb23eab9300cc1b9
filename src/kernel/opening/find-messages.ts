/** Where Messages stand in an update, and what each claims of its place. */
import { isObject } from '../unseen.ts'
import type { ChatSighting } from '../wall/tightening.ts'

/** A Message inside an update, with what it says of its place. Nothing in it is proven. */
export interface FoundMessage {
  /** The object inside the parsed update, to be changed in place. */
  message: Record<string, unknown>
  chatId: number | null
  chatKind: string | null
  /**
   * The chat that its update speaks of. Where something around the Message names another chat than
   * the Message does, it is that one: the two then differ.
   */
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
  /** A person wrote it: it is no service notice (spec, Message). */
  isOrdinary: boolean
}

/** As deep as an answer may be at all (exact-json.ts). */
const MAX_DEPTH = 128
/** Messages that are looked at in one update: a message, what it quotes, and plenty of room. */
const MAX_MESSAGES = 100

/**
 * Finds every Message in an update by its shape, quoted and pressed ones too (spec, Open points):
 * any object with a `text` or an `armored`, whatever these are, but for the buttons of a keyboard;
 * and a notice, which has a chat, an id and a date. One that names no chat is in the chat of what
 * it stands in, else in that of its update. Whatever stands under our own name is taken out, and
 * `cleaned` says so. What is beyond the number that is looked at is in `surplus`.
 */
export function findMessages(update: unknown): MessagesOfUpdate {
  const found: Found = { messages: [], places: [], surplus: [], quoted: [], cleaned: false }
  const isPress = isObject(update) && update['kind'] === 'callback_query'
  collect(update, { ...OUTSIDE, isPress }, found)
  const updateChatId = chatOfUpdate(update, found)
  for (const [index, message] of found.messages.entries()) {
    assignChat(message, found.places[index] ?? OUTSIDE, updateChatId)
  }
  const { messages, surplus, quoted, cleaned } = found
  return { messages, surplus, updateChatId, cleaned, restore: () => quoted.forEach(restore) }
}

/** The Messages of one update. */
export interface MessagesOfUpdate {
  messages: FoundMessage[]
  surplus: Record<string, unknown>[]
  /** The chat that the update speaks of; null where its outermost Messages do not agree. */
  updateChatId: number | null
  cleaned: boolean
  /**
   * To be called once findings are written. A `replyTo` that is no object is quotation which a bot may
   * show: until then it is the text of a Message, and it comes back where nothing was found.
   */
  restore: () => void
}

/** What is collected, with the place of each Message. */
interface Found extends Pick<MessagesOfUpdate, 'messages' | 'surplus' | 'cleaned'> {
  places: MessagePlace[]
  quoted: Quoted[]
}

interface Quoted {
  holder: Record<string, unknown>
  quotation: unknown
}

interface MessagePlace {
  /** What says which chat it is; null where nothing does. */
  chat: Record<string, unknown> | null
  /** The chats that are named around it, and not by itself, by their ids. */
  around: readonly (number | null)[]
  /** A Message that is in a chat is around it, other than the update. */
  isInside: boolean
  position: FoundMessage['position']
  /** The update is a press; what it brings carries its Message. */
  isPress: boolean
  pressedById: number | null
  key: string
  depth: number
  step: KeyboardStep
}

const OUTSIDE: MessagePlace = {
  chat: null,
  around: [],
  isInside: false,
  position: 'top',
  isPress: false,
  pressedById: null,
  key: '',
  depth: 0,
  step: 0,
}

function collect(value: unknown, place: MessagePlace, found: Found): void {
  if (typeof value !== 'object' || value === null || place.depth > MAX_DEPTH) return
  if (isObject(value) && isButton(place.step, value)) {
    if ('postern' in value) found.cleaned = delete value['postern']
    return
  }
  const inside = isObject(value) ? enter(value, place, found) : place
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner !== 'object' || inner === null) continue
    const step = stepInto(place.step, { value, name: key, inner })
    collect(inner, { ...inside, key, step, depth: place.depth + 1 }, found)
  }
}

/** Takes in one object. @returns the place of what is in it, but for its name and depth */
function enter(value: Record<string, unknown>, at: MessagePlace, found: Found): MessagePlace {
  if ('postern' in value) found.cleaned = delete value['postern']
  const named = namedChat(value)
  const place = { ...at, chat: named ?? at.chat }
  const around = named === null ? at.around : [...at.around, integer(named['id'])]
  const isPayload = at.isPress && at.depth === 1 && at.key !== 'message'
  const inside: MessagePlace = {
    ...place,
    around,
    ...(isPayload && { position: 'carried', pressedById: senderOf(value) }),
  }
  wrapQuotation(value, found)
  if (!isMessage(value)) return inside
  if (found.messages.length < MAX_MESSAGES) {
    found.messages.push(describe(value, isPayload ? inside : place))
    found.places.push(place)
  } else found.surplus.push(value)
  // A word beside the Message that an update brings makes no quotation of it.
  if (at.depth === 0) return inside
  return { ...inside, isInside: at.isInside || place.chat !== null, position: 'carried' }
}

/** What says which chat an object is in. What is no object names none, and is not passed over. */
function namedChat({ chat }: Record<string, unknown>): Record<string, unknown> | null {
  if (isObject(chat)) return chat
  return chat === undefined || chat === null ? null : {}
}

function isMessage(value: Record<string, unknown>): boolean {
  if (isThere(value['text']) || isThere(value['armored'])) return true
  return isObject(value['chat']) && 'id' in value && 'date' in value
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null

function describe(message: Record<string, unknown>, place: MessagePlace): FoundMessage {
  const { chat, position, pressedById, depth, key } = place
  const isBrought = isObject(message['chat']) || (depth === 1 && key === 'message')
  return {
    message,
    chatId: integer(chat?.['id']),
    updateChatId: null,
    position: isBrought ? position : 'carried',
    pressedById,
    chatKind: typeof chat?.['kind'] === 'string' ? chat['kind'] : null,
    messageId: integer(message['id']),
    fromId: senderOf(message),
    dateMs: integer(message['date']),
    isOrdinary: message['kind'] === undefined || message['kind'] === 'user',
  }
}

/** Words in the place of a quotation become a Message, so that they are judged as one. */
function wrapQuotation(holder: Record<string, unknown>, found: Found): void {
  const quotation = holder['replyTo']
  if (!hasText(quotation)) return
  holder['replyTo'] = { text: quotation }
  found.quoted.push({ holder, quotation })
}

function hasText(value: unknown): boolean {
  return Array.isArray(value) ? value.some(hasText) : typeof value === 'string' && value !== ''
}

function restore({ holder, quotation }: Quoted): void {
  const { replyTo } = holder
  if (isObject(replyTo) && !('postern' in replyTo)) holder['replyTo'] = quotation
}

/** That of the update's own message, else the one chat that is named by and around the others. */
function chatOfUpdate(update: unknown, { messages, places }: Found): number | null {
  const own = isObject(update) ? update['message'] : undefined
  const ownMessage = messages.find(({ message }) => message === own)
  if (ownMessage !== undefined) return ownMessage.chatId
  const named = messages.flatMap(({ chatId }, index) => {
    const { isInside, chat, around } = places[index] ?? OUTSIDE
    return isInside || chat === null ? [] : [chatId, ...around]
  })
  const [first = null, ...others] = new Set(named)
  return others.length === 0 ? first : null
}

/** Puts a Message into its chat: nothing carries it out of one that is named around it. */
function assignChat(message: FoundMessage, place: MessagePlace, updateChatId: number | null): void {
  if (place.chat === null) message.chatId = updateChatId
  const { chatId } = message
  const other = [updateChatId, ...place.around].find((around) => around !== chatId)
  message.updateChatId = other === undefined ? updateChatId : other
}

function senderOf({ from }: Record<string, unknown>): number | null {
  return isObject(from) ? integer(from['id']) : null
}

function integer(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}

/**
 * What a Message shows of its chat: its kind, and whose a private one is. A notice, a quotation and a
 * press show nobody's.
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

/**
 * How far a walk has come from a `markup` to a button, which is never encrypted (spec, Inline keyboard):
 * its text is nobody's Message. 0 outside of any.
 */
export type KeyboardStep = 0 | 1 | 2 | 3 | 4

const BUTTON: KeyboardStep = 4

/** Where a walk is with `inner`, which stands under `name` in `value`. */
export function stepInto(
  step: KeyboardStep,
  { value, name, inner }: { value: object; name: string; inner: unknown },
): KeyboardStep {
  if (!Array.isArray(value)) {
    if (name === 'markup') return 1
    return step === 1 && name === 'inlineKeyboard' && Array.isArray(inner) ? 2 : 0
  }
  if (step === 2 && Array.isArray(inner)) return 3
  return step === 3 ? BUTTON : 0
}

/** Whether an object is a button as the spec has it, with nothing in it that could be a Message. */
export function isButton(step: KeyboardStep, object: Record<string, unknown>): boolean {
  if (step !== BUTTON || typeof object['text'] !== 'string' || 'armored' in object) return false
  const { callbackData, url } = object
  if (typeof callbackData !== 'string' && typeof url !== 'string') return false
  return Object.values(object).every((value) => typeof value !== 'object' || value === null)
}
