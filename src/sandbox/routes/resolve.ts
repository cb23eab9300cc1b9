import { USERNAME } from '../../api/resolved.ts'
import { no } from '../failure.ts'
import { countLookup, demandLookup } from '../rules/rates.ts'
import { accountView } from '../views/accounts.ts'
import type { World } from '../world.ts'
import type { Handler } from './call.ts'

/** GET /resolve/{username}: a handle nobody can be reached by counts as five lookups. */
export const resolve: Handler = ({ world, bot, params }) => {
  const asked = params['username'] ?? ''
  if (!USERNAME.test(asked)) {
    throw no('bad_request', 'username: must be 3 to 32 of A-Z, a-z, 0-9 and _')
  }
  demandLookup(world, bot)
  const result = lookUp(world, asked)
  countLookup(world, bot, result === null ? 'missed' : 'found')
  if (result === null) throw no('username_not_found', 'no person and no chat answers to it')
  return { result }
}

function lookUp(world: World, asked: string): Record<string, unknown> | null {
  const owner = world.handles.get(asked.toLowerCase())
  if (owner === undefined) return null
  if ('chat' in owner) {
    const chat = world.chats.get(owner.chat)
    if (chat === undefined || chat.username === null) return null
    const { id, kind, username, title } = chat
    return { id, kind, username, chat: { id, kind, username, title, memberCount: chat.seats.size } }
  }
  if (world.people.get(owner.account)?.gone ?? !world.bots.has(owner.account)) return null
  const user = accountView(world, owner.account)
  return { id: user.id, kind: 'person', username: user.username, user }
}
