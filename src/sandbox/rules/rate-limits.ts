import { FIXED_LIMITS, LIMITS } from '../../api/limits.ts'
import { apiError } from '../api-error.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { isAdmin, membershipOf } from './memberships.ts'
import type { RateLimit } from './rate-windows.ts'

const perMinute = (limit: number): RateLimit => ({ limit, periodMs: 60_000 })
const perSecond = (limit: number): RateLimit => ({ limit, periodMs: 1000 })
const CALLS = perMinute(LIMITS.apiCallsPerMinute)
const CALLS_OF_ADDRESS = perMinute(FIXED_LIMITS.apiCallsPerAddressPerMinute)
const OVERALL = perSecond(LIMITS.sendsPerSecond)
const ROOM = perMinute(LIMITS.sendsPerGroupPerMinute)
const PRIVATE = perSecond(LIMITS.sendsPerPrivatePerSecond)
const LOOKUPS = perMinute(FIXED_LIMITS.lookupsPerMinute)

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/**
 * Counts a call for an address, and for a bot when its token was valid. A call that a window refuses
 * counts in no window (spec, Errors 2).
 * @throws SandboxApiError `rate_limited`: the body always has 60, the header the seconds that are
 *   left (spec, Errors 1)
 */
export function countCall(world: World, o: { address: string; bot: BotState | null }): void {
  const now = world.clock.now()
  const waitMs =
    world.addresses.waitMs(o.address, CALLS_OF_ADDRESS, now) ||
    (o.bot?.windows.waitMs('calls', CALLS, now) ?? 0)
  if (waitMs > 0) {
    const headerSeconds = seconds(waitMs)
    throw apiError('rate_limited', 'too many calls', { retryAfter: 60, headerSeconds })
  }
  world.addresses.take(o.address, now)
  o.bot?.windows.take('calls', now)
}

/**
 * Checks that a bot may send or edit once more, and counts it; each has its own windows. Call it when
 * nothing else can refuse the call any more.
 * @throws SandboxApiError `slow_mode` (sends alone) or `flood_wait`
 */
export function countMessage(
  world: World,
  { bot, chat, what }: { bot: BotState; chat: ChatState; what: 'send' | 'edit' },
): void {
  const now = world.clock.now()
  if (what === 'send') requireSlowModeOver(world, bot, chat)
  const own = `${what}:${chat.id}`
  const waitMs = Math.max(
    bot.windows.waitMs(what, OVERALL, now),
    bot.windows.waitMs(own, chat.kind === 'private' ? PRIVATE : ROOM, now),
  )
  if (waitMs > 0) throw apiError('flood_wait', 'too many messages', { retryAfter: seconds(waitMs) })
  bot.windows.take(what, now)
  bot.windows.take(own, now)
}

/** Slow mode does not apply to administrators. */
function requireSlowModeOver(world: World, bot: BotState, chat: ChatState): void {
  const member = membershipOf(world, chat, bot.id)
  if (chat.slowModeSeconds === 0 || isAdmin(member) || typeof member?.wroteAt !== 'number') return
  const leftMs = member.wroteAt + chat.slowModeSeconds * 1000 - world.clock.now()
  if (leftMs > 0) throw apiError('slow_mode', 'slow mode is on', { retryAfter: seconds(leftMs) })
}

/** Counts a lookup; one of an unknown handle counts as five. @throws SandboxApiError `flood_wait` */
export function countLookup(world: World, bot: BotState, outcome: 'found' | 'missed'): void {
  const waitMs = bot.windows.waitMs('lookups', LOOKUPS, world.clock.now())
  if (waitMs > 0) throw apiError('flood_wait', 'too many lookups', { retryAfter: seconds(waitMs) })
  const weight = outcome === 'found' ? 1 : FIXED_LIMITS.missedLookupWeight
  bot.windows.take('lookups', world.clock.now(), weight)
}
