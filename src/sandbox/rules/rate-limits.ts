import { apiError } from '../api-error.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { isAdmin, membershipOf } from './memberships.ts'
import { MINUTE_MS } from './rate-windows.ts'

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/**
 * Counts a call for an address, and for a bot when its token was valid. A call that a window refuses
 * counts in no window (spec, Errors 2).
 * @throws SandboxApiError `rate_limited`: the body always has 60, the header the seconds that are
 *   left (spec, Errors 1)
 */
export function countCall(world: World, o: { address: string; bot: BotState | null }): void {
  const { apiCallsPerMinute, apiCallsPerAddressPerMinute } = world.limits.values
  const waitMs =
    world.addresses.waitMs(o.address, apiCallsPerAddressPerMinute, MINUTE_MS) ||
    (o.bot?.windows.waitMs('calls', apiCallsPerMinute, MINUTE_MS) ?? 0)
  if (waitMs > 0) {
    const headerSeconds = seconds(waitMs)
    throw apiError('rate_limited', 'too many calls', { retryAfter: 60, headerSeconds })
  }
  world.addresses.take(o.address)
  o.bot?.windows.take('calls')
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
  if (what === 'send') requireSlowModeOver(world, bot, chat)
  const own = `${what}:${chat.id}`
  const { sendsPerSecond, sendsPerPrivatePerSecond, sendsPerGroupPerMinute } = world.limits.values
  const waitMs = Math.max(
    bot.windows.waitMs(what, sendsPerSecond, 1000),
    chat.kind === 'private'
      ? bot.windows.waitMs(own, sendsPerPrivatePerSecond, 1000)
      : bot.windows.waitMs(own, sendsPerGroupPerMinute, MINUTE_MS),
  )
  if (waitMs > 0) throw apiError('flood_wait', 'too many messages', { retryAfter: seconds(waitMs) })
  bot.windows.take(what)
  bot.windows.take(own)
}

/** Slow mode does not apply to administrators. */
function requireSlowModeOver(world: World, bot: BotState, chat: ChatState): void {
  const member = membershipOf(world, chat, bot.id)
  if (chat.slowModeSeconds === 0 || isAdmin(member) || typeof member?.wroteAt !== 'number') return
  const leftMs = member.wroteAt + chat.slowModeSeconds * 1000 - world.clock.now()
  if (leftMs > 0) throw apiError('slow_mode', 'slow mode is on', { retryAfter: seconds(leftMs) })
}

/** Counts a lookup; one of an unknown handle counts as several. @throws SandboxApiError `flood_wait` */
export function countLookup(world: World, bot: BotState, outcome: 'found' | 'missed'): void {
  const { lookupsPerMinute, missedLookupWeight } = world.limits.values
  const waitMs = bot.windows.waitMs('lookups', lookupsPerMinute, MINUTE_MS)
  if (waitMs > 0) throw apiError('flood_wait', 'too many lookups', { retryAfter: seconds(waitMs) })
  bot.windows.take('lookups', outcome === 'found' ? 1 : missedLookupWeight)
}
