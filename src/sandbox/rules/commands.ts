import type { Command } from '../../api/command.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { isAdmin, membershipOf } from './memberships.ts'

/**
 * Replaces a scope's list, for the bot or for its owner (spec, PUT /commands). Of commands with the
 * same name the first counts. An empty list does not hide a wider scope, so it is not stored.
 * @returns the list as it is now
 */
export function setCommands(bot: BotState, scope: string, commands: readonly Command[]): Command[] {
  const first = commands.filter(({ command }, at) => {
    return commands.findIndex((one) => one.command === command) === at
  })
  if (first.length === 0) bot.commands.delete(scope)
  else bot.commands.set(scope, first)
  return first
}

/** The id of the chat that a scope is for, or null. */
export function scopeChatId(scope: string): number | null {
  const id = /^chat:(-?\d+)$/.exec(scope)?.[1]
  return id === undefined ? null : Number(id)
}

/**
 * The commands that a person's phone offers for a bot in a chat: the narrowest scope that has
 * any (spec, PUT /commands).
 */
export function commandsFor(world: World, o: { bot: BotState; chat: ChatState; userId: number }) {
  const lists = scopesFor(world, o.chat, o.userId).map((scope) => o.bot.commands.get(scope))
  return lists.find((commands) => commands !== undefined) ?? []
}

/** Narrowest first. */
function scopesFor(world: World, chat: ChatState, userId: number): string[] {
  if (chat.kind === 'private') return ['private', 'default']
  const admin = isAdmin(membershipOf(world, chat, userId))
  return [`chat:${chat.id}`, ...(admin ? ['groupAdmins'] : []), 'groups', 'default']
}
