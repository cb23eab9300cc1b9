import { USERNAME } from '../../api/chat.ts'
import { apiError } from '../api-error.ts'
import { accountView, haveCommonChat, pathId } from '../rules/find.ts'
import { publishedKey } from '../rules/keys.ts'
import { countLookup } from '../rules/rate-limits.ts'
import type { World } from '../world.ts'
import type { RouteHandler } from './call.ts'

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
