import { z } from 'zod'
import { PHONE_KEYS } from '../phone/keys.ts'
import { post } from '../rules/post.ts'
import { press } from '../rules/presses.ts'
import type { ChatState, StoredMessage } from '../state.ts'
import { mayDelete, pressingProblem } from '../rules/memberships.ts'
import { trueMode } from '../rules/mode.ts'
import { connectPhone } from '../phone/connection.ts'
import { accountId, chatId, messageId, personId, text } from './fields.ts'
import { messageIn, requireQuoted } from './find.ts'
import { action, ControlError, operation } from './operation.ts'
import { ChatMessage } from './results.ts'
import { GROWING, waitForSome } from './waiting.ts'

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
    async ({ find, phones }, input) => {
      requireQuoted(find.writableChat(input), input.replyTo)
      if (input.text.trim() === '') throw new ControlError('text: there is nothing to write')
      const phone = await phones.of(input.userId)
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
    ({ world, find }, input) => {
      const chat = find.writableChat(input)
      const { userId: fromId, chatId: _, mediaIds = [], ...content } = input
      const media = mediaIds.map((id) => ({ id, durationMs: null }))
      return { messageId: post(world, { chat, fromId, media, ...content }).id }
    },
  ),
  press: operation(
    'Presses the button with that `callbackData`, or the first that has any.',
    z.strictObject({ ...inChat, messageId, data: text.optional() }),
    z.object({ callbackId: text }),
    ({ world, find }, input) => {
      const chat = find.chatOf(input)
      const message = messageIn(chat, input.messageId)
      const { userId } = input
      const problem = pressingProblem(world, { chat, message, userId })
      if (problem !== null) throw new ControlError(`${userId} cannot press there: ${problem}`)
      const bot = world.bots.get(message.fromId)
      const data = callbackData(message).find((found) => found === (input.data ?? found))
      if (bot === undefined || data === undefined) throw new ControlError('no such button')
      return { callbackId: press(world, { bot, chat, message, userId, data }).id }
    },
  ),
  messages: operation(
    'Gives the messages of a chat as the service stores them, oldest first, with ids above `after`.',
    z.strictObject({ chatId, ...GROWING }),
    z.array(ChatMessage),
    async (context, { chatId: id, after = 0, wait }) => {
      const { messages } = context.find.chat(id)
      const newer = () => [...messages.values()].filter((message) => message.id > after)
      const found = await waitForSome(context, wait, newer)
      return found.map((message) => ({ ...message }))
    },
  ),
  givePhone: keyOperation('Makes the person’s phone and key, of the usual kind or another.', 'of'),
  newKey: keyOperation(
    'The phone makes and publishes a new key. What was sealed to the old one still opens.',
    'renew',
  ),
}

function keyOperation(description: string, how: 'of' | 'renew') {
  return operation(description, keyed, ownKey, async ({ find, phones }, { userId, kind }) => {
    const { fingerprint } = await phones[how](find.presentPerson(userId).id, kind)
    return { fingerprint }
  })
}

function callbackData(message: StoredMessage): string[] {
  const buttons = message.markup?.inlineKeyboard.flat() ?? []
  return buttons.flatMap((button) => button.callbackData ?? [])
}

/** What people do to messages that are there. Bots get no update of it. */
export const EDITS = {
  editMessage: operation(
    'A person edits a message of their own. In an encrypted chat the phone seals it anew.',
    z.strictObject({ ...inChat, messageId, text }),
    z.object({ messageId }),
    async (context, input) => {
      const chat = context.find.writableChat(input)
      const message = ordinaryMessage(chat, input.messageId)
      if (message.fromId !== input.userId) {
        throw new ControlError(
          `${input.userId} did not write message ${message.id}: only its author edits it`,
        )
      }
      if (trueMode(context.world, chat) === 'open') {
        const connection = connectPhone(context.world, input.userId)
        connection.edit({ chatId: chat.id, messageId: message.id, text: input.text })
      } else {
        const phone = await context.phones.of(input.userId)
        await phone.edit(chat.id, message.id, input.text)
      }
      return { messageId: message.id }
    },
  ),
  deleteMessage: action(
    'A person deletes a message for everybody: their own, or in a group or channel anybody’s with ' +
      'the right to delete. It can no longer be quoted, edited or pressed.',
    z.strictObject({ ...inChat, messageId }),
    { deleted: true },
    ({ world, find }, input) => {
      const chat = find.chatOf(input)
      const person = find.presentPerson(input.userId)
      const message = ordinaryMessage(chat, input.messageId)
      if (!mayDelete(world, { chat, message, userId: person.id })) {
        throw new ControlError(
          `${person.id} may not delete message ${message.id}: it is somebody else’s, and the ` +
            'right to delete others’ is missing',
        )
      }
      connectPhone(world, person.id).delete(chat.id, message.id)
    },
  ),
}

/** @throws ControlError when it is not there, or a service notice */
function ordinaryMessage(chat: ChatState, id: number): StoredMessage {
  const message = messageIn(chat, id)
  if (message.kind === 'user') return message
  throw new ControlError(`message ${id} is a service notice, which nobody edits or deletes`)
}
