import { no } from '../failure.ts'
import { findChat, pathId } from '../rules/find.ts'
import { visibleMembers } from '../rules/roster.ts'
import { memberView } from '../views/chat.ts'
import type { Call, Handler } from './call.ts'
import type { ChatState } from '../state.ts'

/** GET /chats/{chatId}/members: as seen from the bot's seat. */
export const getMembers: Handler = (call) => {
  const chat = findRoom(call)
  const members = visibleMembers(call.world, chat, call.bot.id).map((id) =>
    memberView(call.world, chat, id),
  )
  return { result: { members, memberCount: members.length } }
}

/** GET /chats/{chatId}/members/{userId} */
export const getMember: Handler = (call) => {
  const chat = findRoom(call)
  const userId = pathId(call.params['userId'])
  if (userId === null || !visibleMembers(call.world, chat, call.bot.id).includes(userId)) {
    throw no('member_not_found', 'not a member, or hidden from the bot')
  }
  return { result: memberView(call.world, chat, userId) }
}

function findRoom({ world, bot, params }: Call): ChatState {
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (chat.kind === 'private') throw no('bad_request', 'a private chat has no members')
  return chat
}
