import { randomBytes } from 'node:crypto'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'

/** Makes a token of the spec's shape: `sandbox_<bot_id>.<43 characters>`. */
export function newToken(botId: number): string {
  return `sandbox_${botId}.${randomBytes(32).toString('base64url')}`
}

/** Burns the token. A poll in progress ends; every later call answers `unauthorized`. */
export function revokeToken(world: World, bot: BotState): void {
  bot.token = null
  bot.ownerNotices.push({ at: world.clock.now(), kind: 'token_revoked' })
  bot.mailbox.endPoll?.()
}

/** The owner issues a new token in the console; the one before is replaced. */
export function issueToken(bot: BotState): string {
  bot.token = newToken(bot.id)
  bot.mailbox.endPoll?.()
  return bot.token
}

/** The owner pauses the bot. Updates go on queueing; deliveries wait. */
export function pause(bot: BotState): void {
  bot.status = 'paused'
  bot.mailbox.endPoll?.()
}

export function resume(bot: BotState): void {
  bot.status = 'active'
  bot.mailbox.wake()
}
