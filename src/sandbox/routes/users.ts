import { no } from '../failure.ts'
import { pathId, shareChat } from '../rules/find.ts'
import { keyView, publishedKey } from '../views/keys.ts'
import type { Handler } from './call.ts'

/** GET /users/{userId}/key: only of somebody the bot shares a chat with. */
export const getUserKey: Handler = ({ world, bot, params }) => {
  const userId = pathId(params['userId'])
  const known =
    userId !== null &&
    userId !== bot.id &&
    world.people.get(userId)?.gone !== true &&
    shareChat(world, userId, bot.id)
  if (!known) throw no('user_not_found', 'no such person, or no chat in common')
  const key = publishedKey(world, userId)
  if (key === null) throw no('no_user_key', 'this person never published a key')
  return { result: keyView(userId, key) }
}
