import { randomBytes } from 'node:crypto'
import type { BotState, OwnerNotice } from '../state.ts'
import type { World } from '../world.ts'

/** A token of the spec's shape: `sandbox_<bot_id>.<43 characters>`; random unless `secret` is given. */
export const newToken = (botId: number, secret: string = randomBytes(32).toString('base64url')) =>
  `sandbox_${botId}.${secret}`

/** Revokes the token. A poll in progress ends; every later call is answered `unauthorized`. */
export function revokeToken(world: World, bot: BotState): void {
  bot.token = null
  notifyOwner(world, bot, 'token_revoked')
  bot.queue.endPoll?.()
}

/** Records a notice to the owner, which the app would show. */
export function notifyOwner(world: World, bot: BotState, kind: OwnerNotice['kind']): void {
  bot.ownerNotices = [...bot.ownerNotices, { at: world.clock.now(), kind }]
  world.emit({ kind: 'notice', botId: bot.id, notice: kind })
}

/** The owner issues a new token in the console; the one before is replaced. */
export function issueToken(bot: BotState): string {
  bot.token = newToken(bot.id)
  bot.queue.endPoll?.()
  return bot.token
}

/** The owner pauses the bot. Updates go on queueing; deliveries wait. */
export function pause(bot: BotState): void {
  bot.status = 'paused'
  bot.queue.endPoll?.()
}

export function resume(bot: BotState): void {
  bot.status = 'active'
  bot.queue.wake()
}
