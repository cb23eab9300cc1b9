import { z } from 'zod'
import { PhoneConnection } from '../phone/connection.ts'
import { hasRight, membershipOf } from '../rules/memberships.ts'
import { trueMode } from '../rules/mode.ts'
import type { StoredMessage } from '../state.ts'
import { chatId, messageId, personId, text } from './fields.ts'
import {
  ControlError,
  operation,
  requireChat,
  requireMember,
  requireMessage,
  requirePerson,
  requireWriter,
  type ControlContext,
} from './operation.ts'
import { done } from './results.ts'

const where = { userId: personId, chatId, messageId }

/** What people do to messages that are there. Bots get no update of it. */
export const EDITS = {
  editMessage: operation(
    'A person edits a message of their own. In an encrypted chat the phone seals it anew.',
    z.strictObject({ ...where, text }),
    z.object({ messageId }),
    async (context, input) => {
      const chat = requireWriter(context, input)
      const message = requireOrdinary(context, input)
      if (message.fromId !== input.userId) {
        throw new ControlError(
          `${input.userId} did not write message ${message.id}: only its author edits it`,
        )
      }
      if (trueMode(context.world, chat) === 'open') {
        const connection = new PhoneConnection(context.world, input.userId)
        connection.edit({ chatId: chat.id, messageId: message.id, text: input.text })
      } else {
        const phone = await context.phones.of(input.userId)
        await phone.edit(chat.id, message.id, input.text)
      }
      return { messageId: message.id }
    },
  ),
  deleteMessage: operation(
    'A person deletes a message for everybody: their own, or in a group or channel anybody’s with ' +
      'the right to delete. It can no longer be quoted, edited or pressed.',
    z.strictObject(where),
    z.object({ deleted: done }),
    (context, input) => {
      const chat = requireChat(context, input.chatId)
      const person = requirePerson(context, input.userId)
      requireMember(chat, person.id)
      if (person.gone) throw new ControlError(`${person.id} closed their account`)
      const message = requireOrdinary(context, input)
      const isModerator =
        chat.kind !== 'private' &&
        hasRight(membershipOf(context.world, chat, person.id), 'deleteMessages')
      if (message.fromId !== person.id && !isModerator) {
        throw new ControlError(
          `${person.id} may not delete message ${message.id}: it is somebody else’s, and the ` +
            'right to delete others’ is missing',
        )
      }
      new PhoneConnection(context.world, person.id).delete(chat.id, message.id)
      return { deleted: true } as const
    },
  ),
}

/** @throws ControlError when it is not there, or a service notice */
function requireOrdinary(
  context: ControlContext,
  o: { chatId: number; messageId: number },
): StoredMessage {
  const message = requireMessage(requireChat(context, o.chatId), o.messageId)
  if (message.kind === 'user') return message
  throw new ControlError(`message ${message.id} is a service notice, which nobody edits or deletes`)
}
