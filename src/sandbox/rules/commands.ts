import type { Command } from '../../api/command.ts'
import type { BotState, ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { isAdmin, membershipOf } from './memberships.ts'

/** Replaces a scope's list; an empty one does not hide a wider one, so it is not stored. */
export function setCommands(bot: BotState, scope: string, commands: Command[]): void {
  if (commands.length === 0) bot.commands.delete(scope)
  else bot.commands.set(scope, commands)
}

/**
 * The commands that a person's phone offers for a bot in a chat: the narrowest scope that has
 * any (spec, PUT /commands).
 */
export function commandsFor(
  world: World,
  o: { bot: BotState; chat: ChatState; userId: number },
): Command[] {
  for (const scope of scopesFor(world, o.chat, o.userId)) {
    const commands = o.bot.commands.get(scope)
    if (commands !== undefined) return commands
  }
  return []
}

/** Narrowest first. */
function scopesFor(world: World, chat: ChatState, userId: number): string[] {
  if (chat.kind === 'private') return ['private', 'default']
  const admin = isAdmin(membershipOf(world, chat, userId))
  return [`chat:${chat.id}`, ...(admin ? ['groupAdmins'] : []), 'groups', 'default']
}
