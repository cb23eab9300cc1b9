/** Chats, their members, public handles, and keys. */
import { USERNAME } from '../../api/chat.ts'
import { OpenTypingBody } from '../../api/send.ts'
import { apiError } from '../api-error.ts'
import { accountView, findChat, haveCommonChat, pathId } from '../rules/find.ts'
import { listedKeys, publishedKey } from '../rules/keys.ts'
import { leave, reachProblem, requireWriter, visibleMembers } from '../rules/memberships.ts'
import { modeOf } from '../rules/mode.ts'
import { countLookup } from '../rules/rate-limits.ts'
import type { ChatState } from '../state.ts'
import { startTyping, stopTyping } from '../rules/typing.ts'
import { chatView, memberView } from '../views/chat.ts'
import type { World } from '../world.ts'
import { parseInput, type BotCall, type RouteHandler } from './call.ts'

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
export const leaveChat: RouteHandler = (call) => {
  leave(call.world, findRoom(call, 'a private chat cannot be left'), call.bot.id)
  return { result: { left: true } }
}

const NO_MEMBERS = 'a private chat has no members'

/** GET /chats/{chatId}/members: the members that the bot may see. */
export const getMembers: RouteHandler = (call) => {
  const chat = findRoom(call, NO_MEMBERS)
  const members = visibleMembers(call.world, chat, call.bot.id).map((id) =>
    memberView(call.world, chat, id),
  )
  return { result: { members, memberCount: members.length } }
}

/** GET /chats/{chatId}/members/{userId} */
export const getMember: RouteHandler = (call) => {
  const chat = findRoom(call, NO_MEMBERS)
  const userId = pathId(call.params['userId'])
  if (userId === null || !visibleMembers(call.world, chat, call.bot.id).includes(userId)) {
    throw apiError('member_not_found', 'not a member, or hidden from the bot')
  }
  return { result: memberView(call.world, chat, userId) }
}

function findRoom({ world, bot, params }: BotCall, problem: string): ChatState {
  const chat = findChat(world, bot, pathId(params['chatId']))
  if (chat.kind === 'private') throw apiError('bad_request', problem)
  return chat
}

/** POST /chats/{chatId}/typing: sends at most one indicator per chat in 3 seconds. */
export const sendTyping: RouteHandler = ({ world, bot, params, body }) => {
  const { typing = true } = parseInput(OpenTypingBody, body === undefined ? {} : body)
  const chat = findChat(world, bot, pathId(params['chatId']))
  requireWriter(world, chat, bot)
  const sent =
    reachProblem(world, chat, bot) === null &&
    (typing ? startTyping(world, chat, bot) : stopTyping(world, chat, bot))
  return { result: { sent } }
}

/** GET /resolve/{username}: an unknown handle counts as five lookups. */
export const resolve: RouteHandler = ({ world, bot, params }) => {
  const asked = params['username'] ?? ''
  if (!USERNAME.test(asked)) {
    throw apiError('bad_request', 'username: must be 3 to 32 of A-Z, a-z, 0-9 and _')
  }
  const result = lookUp(world, asked)
  countLookup(world, bot, result === null ? 'missed' : 'found')
  if (result === null) throw apiError('username_not_found', 'no person and no chat answers to it')
  return { result }
}

function lookUp(world: World, asked: string): Record<string, unknown> | null {
  const owner = world.handles.get(asked.toLowerCase())
  if (owner === undefined) return null
  if ('chat' in owner) {
    const chat = world.chats.get(owner.chat)
    if (chat === undefined || chat.username === null) return null
    const { id, kind, username, title } = chat
    const found = { id, kind, username }
    return { ...found, chat: { ...found, title, memberCount: chat.members.size } }
  }
  if (world.people.get(owner.account)?.gone ?? !world.bots.has(owner.account)) return null
  const user = accountView(world, owner.account)
  return { id: user.id, kind: 'person', username: user.username, user }
}

/** GET /users/{userId}/key: only for accounts that share a chat with the bot. */
export const getUserKey: RouteHandler = ({ world, bot, params }) => {
  const userId = pathId(params['userId'])
  const known =
    userId !== null &&
    userId !== bot.id &&
    world.people.get(userId)?.gone !== true &&
    haveCommonChat(world, userId, bot.id)
  if (!known) throw apiError('user_not_found', 'no such person, or no chat in common')
  const key = publishedKey(world, userId)
  if (key === null) throw apiError('no_user_key', 'this person never published a key')
  return { result: { userId, ...key } }
}
