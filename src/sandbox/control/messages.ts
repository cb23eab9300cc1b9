import { z } from 'zod'
import { PHONE_KEYS } from '../phone/keys.ts'
import { post } from '../rules/post.ts'
import { press } from '../rules/presses.ts'
import type { StoredMessage } from '../state.ts'
import { accountId, chatId, messageId, personId, text } from './fields.ts'
import {
  ControlError,
  requireWriter,
  requireMember,
  operation,
  requireChat,
  requireMessage,
  requirePerson,
} from './operation.ts'

const place = { userId: personId, chatId }
const keyed = z.strictObject({ userId: personId, kind: z.enum(PHONE_KEYS).optional() })

/** What people do in chats. */
export const MESSAGES = {
  write: operation(
    'Writes with the person’s phone, which seals where the chat is encrypted; `replyTo` quotes.',
    z.strictObject({ ...place, text, replyTo: messageId.optional() }),
    async (on, input) => {
      requireWriter(on, input)
      const phone = await on.phones.of(input.userId)
      return { messageId: await phone.write(input.chatId, input.text, { replyTo: input.replyTo }) }
    },
  ),
  post: operation(
    'Hands a message to the service as it is: from a phone that is some other program, or forged. ' +
      '`addressed` names the bots that the phone says it is for; `mediaIds` are of `addMedia`.',
    z.strictObject({
      ...place,
      text: text.optional(),
      armored: text.optional(),
      replyTo: messageId.optional(),
      addressed: z.array(accountId).optional(),
      mediaIds: z.array(text).optional(),
    }),
    (on, input) => {
      const chat = requireWriter(on, input)
      const { userId, mediaIds = [], addressed = [], ...words } = input
      const { id } = post(on.world, {
        chat,
        fromId: userId,
        text: words.text ?? null,
        armored: words.armored ?? null,
        replyTo: words.replyTo ?? null,
        addressed,
        media: mediaIds.map((mediaId) => ({ id: mediaId, durationMs: null })),
      })
      return { messageId: id }
    },
  ),
  press: operation(
    'Presses the button with that `callbackData`, or the first that has any.',
    z.strictObject({ ...place, messageId, data: text.optional() }),
    (on, input) => {
      const chat = requireChat(on, input.chatId)
      requireMember(chat, input.userId)
      const message = requireMessage(chat, input.messageId)
      const bot = on.world.bots.get(message.fromId)
      const data = callbackData(message).find((found) => found === (input.data ?? found))
      if (bot === undefined || data === undefined) throw new ControlError('no such button')
      const pressed = press(on.world, { bot, chat, message, userId: input.userId, data })
      return { callbackId: pressed.id }
    },
  ),
  messages: operation(
    'Every message of a chat as the service holds it, oldest first; those with ids above `after`.',
    z.strictObject({ chatId, after: z.int().optional() }),
    (on, { chatId: id, after = 0 }) =>
      [...requireChat(on, id).messages.values()]
        .filter((message) => message.id > after)
        .map((message) => ({ ...message })),
  ),
  inbox: operation(
    'What a person’s phone saw, oldest first, with key changes and answers to presses.',
    z.strictObject({ userId: personId }),
    async (on, { userId }) => {
      const phone = await on.phones.of(requirePerson(on, userId).id)
      await phone.settled()
      return { inbox: phone.inbox, keyChanges: phone.keyChanges, answers: phone.answers }
    },
  ),
  givePhone: operation(
    'Makes the person’s phone, and with it the person’s key, of the usual kind or another.',
    keyed,
    async (on, { userId, kind }) => {
      const { fingerprint } = await on.phones.of(requirePerson(on, userId).id, kind)
      return { fingerprint }
    },
  ),
  newKey: operation(
    'The phone makes a new key and publishes it; what was sealed to the old one still opens.',
    keyed,
    async (on, { userId, kind }) => {
      const { fingerprint } = await on.phones.renew(requirePerson(on, userId).id, kind)
      return { fingerprint }
    },
  ),
}

function callbackData(message: StoredMessage): string[] {
  const buttons = message.markup?.inlineKeyboard.flat() ?? []
  return buttons.flatMap((button) => button.callbackData ?? [])
}
