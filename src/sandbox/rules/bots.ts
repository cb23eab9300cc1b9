import { randomBytes } from 'node:crypto'
import type { BotState, OwnerNotice } from '../state.ts'
import type { World } from '../world.ts'

/** A token of the spec's shape: `sandbox_<bot_id>.<43 characters>`; new unless they are given. */
export function newToken(
  botId: number,
  secret: string = randomBytes(32).toString('base64url'),
): string {
  return `sandbox_${botId}.${secret}`
}

/** Burns the token. A poll in progress ends; every later call answers `unauthorized`. */
export function revokeToken(world: World, bot: BotState): void {
  bot.token = null
  tellOwner(world, bot, 'token_revoked')
  bot.mailbox.endPoll?.()
}

/** The owner is told in the app. */
export function tellOwner(world: World, bot: BotState, kind: OwnerNotice['kind']): void {
  bot.ownerNotices = [...bot.ownerNotices, { at: world.clock.now(), kind }]
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
