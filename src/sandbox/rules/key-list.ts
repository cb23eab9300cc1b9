import type { ChatState } from '../state.ts'
import { keyView, publishedKey, type KeyView } from '../views/keys.ts'
import type { World } from '../world.ts'

/**
 * The keys of everybody in an encrypted chat, leaving out the account that asks, other bots that
 * only receive what is addressed to them, and members with no key (spec, GET /chats/{id}/keys).
 */
export function listedKeys(world: World, chat: ChatState, askerId: number): KeyView[] {
  return [...chat.seats.keys()].flatMap((id) => {
    const key = publishedKey(world, id)
    const addressedOnly = world.bots.get(id)?.privacyMode === true
    return key === null || id === askerId || addressedOnly ? [] : [keyView(id, key)]
  })
}
