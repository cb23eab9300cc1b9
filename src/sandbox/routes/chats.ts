import { no } from '../failure.ts'
import { findChat, pathId } from '../rules/find.ts'
import { listedKeys } from '../rules/key-list.ts'
import { leave } from '../rules/members.ts'
import { modeOf } from '../rules/mode.ts'
import { chatView } from '../views/chat.ts'
import type { Handler } from './call.ts'

/** GET /chats/{chatId} */
export const getChat: Handler = ({ world, bot, params }) => ({
  result: chatView(world, findChat(world, bot, pathId(params['chatId'])), bot),
})

/** GET /chats/{chatId}/keys */
export const getChatKeys: Handler = ({ world, bot, params }) => {
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (modeOf(world, chat) === 'open') throw no('chat_is_open', 'this chat is readable')
  const keys = listedKeys(world, chat, bot.id)
  if (chat.kind === 'group') return { result: { keys, memberCount: chat.seats.size } }
  if (chat.kind === 'private' && keys.length === 0)
    throw no('no_user_key', 'this person never published a key')
  return { result: { keys } }
}

/** POST /chats/{chatId}/leave: the room is told. */
export const leaveChat: Handler = ({ world, bot, params }) => {
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (chat.kind === 'private') throw no('bad_request', 'a private chat cannot be left')
  leave(world, chat, bot.id)
  return { result: { left: true } }
}
