import { FIXED_LIMITS, LIMITS } from '../../api/limits.ts'
import { no } from '../failure.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { isAdmin, seatOf } from './seats.ts'
import type { WindowRule } from './windows.ts'

const CALLS: WindowRule = { limit: LIMITS.apiCallsPerMinute, periodMs: 60_000 }
const CALLS_OF_ADDRESS: WindowRule = {
  limit: FIXED_LIMITS.apiCallsPerAddressPerMinute,
  periodMs: 60_000,
}
const OVERALL: WindowRule = { limit: LIMITS.sendsPerSecond, periodMs: 1000 }
const ROOM: WindowRule = { limit: LIMITS.sendsPerGroupPerMinute, periodMs: 60_000 }
const PRIVATE: WindowRule = { limit: LIMITS.sendsPerPrivatePerSecond, periodMs: 1000 }
const LOOKUPS: WindowRule = { limit: FIXED_LIMITS.lookupsPerMinute, periodMs: 60_000 }

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/** Looks whether one more call of an address fits. @throws ServiceNo `rate_limited` */
export function demandAddress(world: World, address: string): void {
  rateLimit(world.addresses.waitMs(address, CALLS_OF_ADDRESS, world.clock.now()))
}

/** Looks whether one more call of a bot fits. @throws ServiceNo `rate_limited` */
export function demandCall(world: World, bot: BotState): void {
  rateLimit(bot.windows.waitMs('calls', CALLS, world.clock.now()))
}

/** Counts a call of an address, and of a bot when its token was right. */
export function countCall(world: World, o: { address: string; bot: BotState | null }): void {
  const now = world.clock.now()
  world.addresses.take(o.address, now)
  o.bot?.windows.take('calls', now)
}

/** The body always says 60, the header what is really left (spec, Errors 1). */
function rateLimit(waitMs: number): void {
  if (waitMs === 0) return
  throw no('rate_limited', 'too many calls', { retryAfter: 60, headerSeconds: seconds(waitMs) })
}

/**
 * Looks whether one more send or edit fits; each kind has windows of its own. Gives a function
 * that counts it, to be called once it is sure to happen.
 * @throws ServiceNo `slow_mode` (sends alone) or `flood_wait`
 */
export function reserve(
  world: World,
  o: { bot: BotState; chat: ChatState; what: 'send' | 'edit' },
): () => void {
  const { bot, chat, what } = o
  const now = world.clock.now()
  if (what === 'send') slowMode(world, bot, chat)
  const own = `${what}:${chat.id}`
  const waitMs = Math.max(
    bot.windows.waitMs(what, OVERALL, now),
    bot.windows.waitMs(own, chat.kind === 'private' ? PRIVATE : ROOM, now),
  )
  if (waitMs > 0) throw no('flood_wait', 'too many messages', { retryAfter: seconds(waitMs) })
  return () => {
    bot.windows.take(what, now)
    bot.windows.take(own, now)
  }
}

/** Administrators are free of slow mode. */
function slowMode(world: World, bot: BotState, chat: ChatState): void {
  const seat = seatOf(world, chat, bot.id)
  if (chat.slowModeSeconds === 0 || isAdmin(seat) || typeof seat?.wroteAt !== 'number') return
  const leftMs = seat.wroteAt + chat.slowModeSeconds * 1000 - world.clock.now()
  if (leftMs > 0) throw no('slow_mode', 'slow mode is on', { retryAfter: seconds(leftMs) })
}

/** Looks whether one more lookup fits. @throws ServiceNo `flood_wait` */
export function demandLookup(world: World, bot: BotState): void {
  const waitMs = bot.windows.waitMs('lookups', LOOKUPS, world.clock.now())
  if (waitMs > 0) throw no('flood_wait', 'too many lookups', { retryAfter: seconds(waitMs) })
}

/** Counts a lookup; a handle that nobody holds counts as five. */
export function countLookup(world: World, bot: BotState, outcome: 'found' | 'missed'): void {
  const weight = outcome === 'found' ? 1 : FIXED_LIMITS.missedLookupWeight
  bot.windows.take('lookups', world.clock.now(), weight)
}
