/** Why a message cannot be sealed or sent. */
import { isObject } from '../api/common.ts'
import { Refusal } from '../errors.ts'
import { counted } from '../printable.ts'

const MAX_DEPTH = 3

/**
 * The refusal of a message to a person who blocked the bot or is gone, by the chat itself. By the spec a private chat shows
 * whether the person blocked the bot, but the field's name is open: any true field whose name
 * matches counts.
 * @param chat a result of `GET /chats/{chatId}`
 * @returns it has the service's code; null where the chat shows neither
 */
export function personGoneRefusal(chat: unknown): Refusal | null {
  if (hasTrueField(chat, /block/i))
    return new Refusal('blocked_by_user', 'the person blocked the bot')
  if (hasTrueField(chat, /gone|closed|deleted/i)) {
    return new Refusal('user_gone', 'the person closed their account')
  }
  return null
}

function hasTrueField(value: unknown, name: RegExp, depth = 0): boolean {
  if (!isObject(value) || depth > MAX_DEPTH) return false
  return Object.entries(value).some(
    ([key, inner]) => (inner === true && name.test(key)) || hasTrueField(inner, name, depth + 1),
  )
}

/** The refusal of a message that is too large once it is sealed. @param chars of its armor */
export const tooLarge = (count: number, chars: number, max: number): Refusal =>
  new Refusal(
    'postern_seal_too_large',
    `with ${counted(count, 'recipient')} it has ${chars} characters, of at most ${max}`,
  )
