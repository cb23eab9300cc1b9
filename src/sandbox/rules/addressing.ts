import type { BotState } from '../state.ts'

const COMMAND = /^\/[a-z0-9_]{1,32}(?:@([a-z0-9_]{3,32}))?(?=\s|$)/i

/**
 * Whether a text is addressed to a bot (spec, What the service does, 6): it begins with a command
 * that names the bot or no bot, or mentions it. Replies are not looked at here. The service applies
 * this in readable groups, the sender's phone in encrypted ones.
 */
export function isAddressed(text: string, bot: Pick<BotState, 'username'>): boolean {
  const username = bot.username.toLowerCase()
  const command = COMMAND.exec(text.trim())
  if (command !== null && (command[1] ?? username).toLowerCase() === username) return true
  const mentions = text.toLowerCase().matchAll(/(?<![a-z0-9_@/])@([a-z0-9_]{3,32})(?![a-z0-9_])/g)
  return [...mentions].some((mention) => mention[1] === username)
}
