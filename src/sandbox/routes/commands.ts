import { z } from 'zod'
import { PutCommands, Scope, type CommandScope } from '../../api/command.ts'
import { findChat } from '../rules/find.ts'
import { scopeChatId, setCommands } from '../rules/commands.ts'
import { parseInput, type RouteHandler } from './call.ts'

const ScopeQuery = z.object({ scope: Scope })

/** GET /commands: every scope with its list, or the list of one scope. */
export const getCommands: RouteHandler = ({ bot, query }) => {
  const scope = scopeOf(query)
  if (scope !== undefined) return { result: bot.commands.get(scope) ?? [] }
  const all: CommandScope[] = [...bot.commands].map(([name, commands]) => ({
    scope: name,
    commands,
  }))
  return { result: all }
}

/** PUT /commands: replaces the list of one scope; of commands with the same name the first counts. */
export const putCommands: RouteHandler = ({ world, bot, body }) => {
  const { scope, commands } = parseInput(PutCommands, body)
  const chatId = scopeChatId(scope)
  if (chatId !== null) findChat(world, bot, chatId)
  return { result: { scope, commands: setCommands(bot, scope, commands) } satisfies CommandScope }
}

/** DELETE /commands */
export const deleteCommands: RouteHandler = ({ bot, query }) => {
  const scope = scopeOf(query) ?? 'default'
  setCommands(bot, scope, [])
  return { result: { scope, commands: [] } satisfies CommandScope }
}

function scopeOf(query: unknown): string | undefined {
  const { scope } = query as { scope?: unknown }
  return scope === undefined ? undefined : parseInput(ScopeQuery, { scope }).scope
}
