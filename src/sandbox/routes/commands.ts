import { z } from 'zod'
import { PutCommands, Scope, type Command, type CommandScope } from '../../api/command.ts'
import { findChat } from '../rules/find.ts'
import { setCommands } from '../rules/commands.ts'
import { parseInput, type BotCall, type RouteHandler } from './call.ts'

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
export const putCommands: RouteHandler = (call) => {
  const { scope, commands } = parseInput(PutCommands, call.body)
  requireScopeChat(call, scope)
  const first = new Map<string, Command>()
  for (const command of commands) {
    if (!first.has(command.command)) first.set(command.command, command)
  }
  setCommands(call.bot, scope, [...first.values()])
  return { result: { scope, commands: [...first.values()] } satisfies CommandScope }
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

function requireScopeChat({ world, bot }: BotCall, scope: string): void {
  const id = /^chat:(-?\d+)$/.exec(scope)?.[1]
  if (id !== undefined) findChat(world, bot, Number(id))
}
