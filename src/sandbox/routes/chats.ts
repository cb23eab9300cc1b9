import { apiError } from '../api-error.ts'
import { findChat, pathId } from '../rules/find.ts'
import { listedKeys } from '../rules/keys.ts'
import {
  leave,
  visibleMembers,
  mayWrite,
  membershipOf,
  reachProblem,
} from '../rules/memberships.ts'
import { modeOf } from '../rules/mode.ts'
import type { ChatState } from '../state.ts'
import { chatView, memberView } from '../views/chat.ts'
import { type BotCall, type RouteHandler, parseInput } from './call.ts'
import { OpenTypingBody } from '../../api/send.ts'
import { startTyping, stopTyping } from '../rules/typing.ts'

/** GET /chats/{chatId} */
export const getChat: RouteHandler = ({ world, bot, params }) => ({
  result: chatView(world, findChat(world, bot, pathId(params['chatId'])), bot),
})

/** GET /chats/{chatId}/keys */
export const getChatKeys: RouteHandler = ({ world, bot, params }) => {
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (modeOf(world, chat) === 'open') throw apiError('chat_is_open', 'this chat is readable')
  const keys = listedKeys(world, chat, bot.id)
  if (chat.kind === 'group') return { result: { keys, memberCount: chat.members.size } }
  if (chat.kind === 'private' && keys.length === 0)
    throw apiError('no_user_key', 'this person never published a key')
  return { result: { keys } }
}

/** POST /chats/{chatId}/leave: the members get a service notice. */
export const leaveChat: RouteHandler = ({ world, bot, params }) => {
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (chat.kind === 'private') throw apiError('bad_request', 'a private chat cannot be left')
  leave(world, chat, bot.id)
  return { result: { left: true } }
}

/** GET /chats/{chatId}/members: the members that the bot may see. */
export const getMembers: RouteHandler = (call) => {
  const chat = findRoom(call)
  const members = visibleMembers(call.world, chat, call.bot.id).map((id) =>
    memberView(call.world, chat, id),
  )
  return { result: { members, memberCount: members.length } }
}

/** GET /chats/{chatId}/members/{userId} */
export const getMember: RouteHandler = (call) => {
  const chat = findRoom(call)
  const userId = pathId(call.params['userId'])
  if (userId === null || !visibleMembers(call.world, chat, call.bot.id).includes(userId)) {
    throw apiError('member_not_found', 'not a member, or hidden from the bot')
  }
  return { result: memberView(call.world, chat, userId) }
}

function findRoom({ world, bot, params }: BotCall): ChatState {
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (chat.kind === 'private') throw apiError('bad_request', 'a private chat has no members')
  return chat
}

/** POST /chats/{chatId}/typing: sends at most one indicator per chat in 3 seconds. */
export const sendTyping: RouteHandler = ({ world, bot, params, body }) => {
  const { typing = true } = parseInput(OpenTypingBody, body === undefined ? {} : body)
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (!mayWrite(chat, membershipOf(world, chat, bot.id))) {
    throw apiError('forbidden', 'the bot may not write in this chat')
  }
  const sent =
    reachProblem(world, chat, bot) === null &&
    (typing ? startTyping(world, chat, bot) : stopTyping(world, chat, bot))
  return { result: { sent } }
}
