import { DeleteBody } from '../../api/send.ts'
import { no } from '../failure.ts'
import { findChat, findMessage, pathId } from '../rules/find.ts'
import { hasRight, seatOf } from '../rules/seats.ts'
import { read, type Call, type Handler } from './call.ts'

/** DELETE /messages/{messageId}: for everyone, for good. */
export const deleteMessage: Handler = (call) => {
  const { world, bot } = call
  const chat = findChat(world, bot, chatIdOf(call))
  const message = findMessage(chat, bot, pathId(call.params['messageId']))
  if (message.kind !== 'user') throw no('forbidden', 'service notices cannot be deleted')
  const mayDelete =
    chat.kind !== 'private' && hasRight(seatOf(world, chat, bot.id), 'deleteMessages')
  if (message.fromId !== bot.id && !mayDelete) {
    throw no('forbidden', 'not the bot’s own message, and it has no right to delete others’')
  }
  chat.messages.delete(message.id)
  for (const { id } of message.media) world.files.delete(id)
  world.emit({ kind: 'deleted', chat, messageId: message.id })
  return { result: { deleted: true } }
}

/** `chatId` stands in the query or in an optional body; in both only when they agree. */
function chatIdOf({ query, body }: Call): number {
  const { chatId } = query as { chatId?: unknown }
  const inBody = body === undefined ? undefined : read(DeleteBody, body).chatId
  if (chatId === undefined) {
    if (inBody === undefined) throw no('bad_request', 'chatId: required')
    return inBody
  }
  const inQuery = typeof chatId === 'string' && /^-?\d{1,16}$/.test(chatId) ? Number(chatId) : NaN
  if (!Number.isSafeInteger(inQuery)) throw no('bad_request', 'chatId: must be an integer')
  if (inBody !== undefined && inBody !== inQuery) {
    throw no('bad_request', 'chatId: query and body differ')
  }
  return inQuery
}
