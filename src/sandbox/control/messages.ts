import { z } from 'zod'
import { PHONE_KEYS } from '../phone/keys.ts'
import { pressingProblem } from '../rules/people.ts'
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
  requirePresentPerson,
  requireQuoted,
} from './operation.ts'
import { ChatMessage } from './results.ts'
import { GROWING, waitFor } from './waiting.ts'

const inChat = { userId: personId, chatId }
const sent = z.object({ messageId })
const keyed = z.strictObject({ userId: personId, kind: z.enum(PHONE_KEYS).optional() })
const ownKey = z.object({ fingerprint: text })

/** Messages, buttons, and phones. */
export const MESSAGES = {
  write: operation(
    'Writes with the person’s phone, which seals in an encrypted chat. `replyTo` quotes a message.',
    z.strictObject({ ...inChat, text, replyTo: messageId.optional() }),
    sent,
    async (context, input) => {
      requireQuoted(requireWriter(context, input), input.replyTo)
      if (input.text.trim() === '') throw new ControlError('text: there is nothing to write')
      const phone = await context.phones.of(input.userId)
      return { messageId: await phone.write(input.chatId, input.text, { replyTo: input.replyTo }) }
    },
  ),
  post: operation(
    'Posts a message as it is, which another program sealed or which is forged. `addressed` lists ' +
      'the bots that the message is for, as the phone says; `mediaIds` come from `addMedia`.',
    z.strictObject({
      ...inChat,
      text: text.optional(),
      armored: text.optional(),
      replyTo: messageId.optional(),
      addressed: z.array(accountId).optional(),
      mediaIds: z.array(text).optional(),
    }),
    sent,
    (context, input) => {
      const chat = requireWriter(context, input)
      const { userId, mediaIds = [], addressed = [], ...content } = input
      const { id } = post(context.world, {
        chat,
        fromId: userId,
        text: content.text ?? null,
        armored: content.armored ?? null,
        replyTo: content.replyTo ?? null,
        addressed,
        media: mediaIds.map((mediaId) => ({ id: mediaId, durationMs: null })),
      })
      return { messageId: id }
    },
  ),
  press: operation(
    'Presses the button with that `callbackData`, or the first that has any.',
    z.strictObject({ ...inChat, messageId, data: text.optional() }),
    z.object({ callbackId: text }),
    (context, input) => {
      const chat = requireChat(context, input.chatId)
      requirePerson(context, input.userId)
      requireMember(chat, input.userId)
      const message = requireMessage(chat, input.messageId)
      const { userId } = input
      const problem = pressingProblem(context.world, { chat, message, userId })
      if (problem !== null) throw new ControlError(`${userId} cannot press there: ${problem}`)
      const bot = context.world.bots.get(message.fromId)
      const data = callbackData(message).find((found) => found === (input.data ?? found))
      if (bot === undefined || data === undefined) throw new ControlError('no such button')
      const pressed = press(context.world, { bot, chat, message, userId, data })
      return { callbackId: pressed.id }
    },
  ),
  messages: operation(
    'Gives the messages of a chat as the service stores them, oldest first, with ids above `after`.',
    z.strictObject({ chatId, ...GROWING }),
    z.array(ChatMessage),
    async (context, { chatId: id, after = 0, wait }) => {
      const { messages } = requireChat(context, id)
      const newer = () => [...messages.values()].filter((message) => message.id > after)
      await waitFor(context, {
        waitMs: wait,
        isThere: () => newer().length > 0,
        onChange: (listener) => context.world.onEvent(listener),
      })
      return newer().map((message) => ({ ...message }))
    },
  ),
  givePhone: operation(
    'Makes the person’s phone and key, of the usual kind or another.',
    keyed,
    ownKey,
    async (context, { userId, kind }) => {
      const { fingerprint } = await context.phones.of(
        requirePresentPerson(context, userId).id,
        kind,
      )
      return { fingerprint }
    },
  ),
  newKey: operation(
    'The phone makes and publishes a new key. What was sealed to the old one still opens.',
    keyed,
    ownKey,
    async (context, { userId, kind }) => {
      const { fingerprint } = await context.phones.renew(
        requirePresentPerson(context, userId).id,
        kind,
      )
      return { fingerprint }
    },
  ),
}

function callbackData(message: StoredMessage): string[] {
  const buttons = message.markup?.inlineKeyboard.flat() ?? []
  return buttons.flatMap((button) => button.callbackData ?? [])
}
