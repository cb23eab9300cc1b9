import { post, type Post } from '../rules/post.ts'
import { press } from '../rules/presses.ts'
import type { StoredMessage } from '../state.ts'
import { integer, list, object, string } from './schema.ts'
import {
  ControlError,
  demandAbleToWrite,
  demandSeat,
  operation,
  theChat,
  theMessage,
  thePerson,
} from './operation.ts'

const place = { userId: integer, chatId: integer }

/** What people do in chats. */
export const WORDS = {
  /**
   * Writes with the person's phone, which seals where the chat is encrypted. `replyTo` quotes.
   */
  write: operation(object({ ...place, text: string }, { replyTo: integer }), async (on, input) => {
    demandAbleToWrite(on, input)
    const phone = await on.phones.of(input.userId)
    return { messageId: await phone.write(input.chatId, input.text, { replyTo: input.replyTo }) }
  }),
  /**
   * Hands a message to the service as it is: from a phone that is some other program, or forged.
   * `addressed` names the bots that the phone says it is for; `mediaIds` are of `addMedia`.
   */
  post: operation(
    object(place, {
      text: string,
      armored: string,
      replyTo: integer,
      addressed: list(integer),
      mediaIds: list(string),
    }),
    (on, input) => {
      const chat = demandAbleToWrite(on, input)
      const { userId, text, armored, replyTo, addressed, mediaIds = [] } = input
      const message: Post = {
        chat,
        fromId: userId,
        text: text ?? null,
        armored: armored ?? null,
        replyTo: replyTo ?? null,
        addressed: addressed ?? [],
        media: mediaIds.map((id) => ({ id, durationMs: null })),
      }
      return { messageId: post(on.world, message).id }
    },
  ),
  /** Presses the button with that `callbackData`, or the first that has any. */
  press: operation(object({ ...place, messageId: integer }, { data: string }), (on, input) => {
    const chat = theChat(on, input.chatId)
    demandSeat(chat, input.userId)
    const message = theMessage(chat, input.messageId)
    const bot = on.world.bots.get(message.fromId)
    const data = callbackData(message).find((found) => found === (input.data ?? found))
    if (bot === undefined || data === undefined) throw new ControlError('no such button')
    const pressed = press(on.world, { bot, chat, message, userId: input.userId, data })
    return { callbackId: pressed.id }
  }),
  /** Every message of a chat as the service holds it. */
  messages: operation(object({ chatId: integer }), (on, { chatId }) =>
    [...theChat(on, chatId).messages.values()].map((message) => ({ ...message })),
  ),
  /** What a person's phone saw, oldest first. */
  inbox: operation(object({ userId: integer }), async (on, { userId }) => {
    thePerson(on, userId)
    const phone = await on.phones.of(userId)
    await phone.settled()
    return { inbox: phone.inbox, keyChanges: phone.keyChanges, answers: phone.answers }
  }),
  /** Makes the person's phone, and with it the person's key. */
  givePhone: operation(object({ userId: integer }), async (on, { userId }) => {
    thePerson(on, userId)
    const { fingerprint } = await on.phones.of(userId)
    return { fingerprint }
  }),
}

function callbackData(message: StoredMessage): string[] {
  const buttons = message.markup?.inlineKeyboard.flat() ?? []
  return buttons.flatMap((button) => button.callbackData ?? [])
}
