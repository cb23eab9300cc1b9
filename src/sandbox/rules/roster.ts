import type { ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { isAdmin, seatOf } from './seats.ts'

/**
 * Ids of the members that one of them may see: administrators see all; where the roster is hidden
 * others see administrators only; a channel may keep its administrators private.
 */
export function visibleMembers(world: World, chat: ChatState, viewerId: number): number[] {
  const ids = [...chat.seats.keys()]
  if (isAdmin(seatOf(world, chat, viewerId))) return ids
  return ids.filter((id) => {
    const admin = isAdmin(seatOf(world, chat, id))
    if (admin && chat.kind === 'channel' && chat.adminsHidden) return false
    return admin || !chat.rosterHidden
  })
}
