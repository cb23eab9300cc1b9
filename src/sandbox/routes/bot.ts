import { z } from 'zod'
import { PutCommands, Scope, type CommandScope } from '../../api/command.ts'
import { OpenPutKey } from '../../api/user-key.ts'
import { SetWebhook } from '../../api/updates.ts'
import { revokeToken as revoke } from '../rules/bots.ts'
import { scopeChatId, setCommands } from '../rules/commands.ts'
import { findChat } from '../rules/find.ts'
import { publishBotKey } from '../rules/keys.ts'
import { botView, webhookView } from '../views/bot.ts'
import { removeWebhook, setWebhook as startWebhook } from '../webhook/delivery-loop.ts'
import { requireWebhookUrl } from '../webhook/url.ts'
import { parseInput, type RouteHandler } from './call.ts'

/** GET /me */
export const getMe: RouteHandler = ({ bot }) => ({ result: botView(bot) })

/** PUT /key: the fingerprint is not compared with the key (spec). */
export const putKey: RouteHandler = ({ world, bot, body }) => {
  const { publicKey, fingerprint } = parseInput(OpenPutKey, body)
  publishBotKey(world, bot, { publicKey, fingerprint })
  return { result: { fingerprint, mode: 'protected' } }
}

/** POST /token/revoke: revokes the token in use and notifies the owner. */
export const revokeToken: RouteHandler = ({ world, bot }) => {
  revoke(world, bot)
  return { result: { revoked: true } }
}

/** GET /webhook */
export const getWebhook: RouteHandler = ({ bot }) => ({ result: webhookView(bot) })

/** POST /webhook: ends a poll in progress. */
export const setWebhook: RouteHandler = async ({ world, bot, body }) => {
  const { url, secret } = parseInput(SetWebhook, body)
  await requireWebhookUrl(world, url)
  startWebhook(world, bot, { url, secret: secret ?? null })
  return { result: { url, hasSecret: secret !== undefined, pending: bot.queue.size } }
}

/** DELETE /webhook: queued updates remain for polling. */
export const deleteWebhook: RouteHandler = ({ bot }) => {
  removeWebhook(bot)
  return { result: { url: null, pending: bot.queue.size } }
}

/** Other names are ignored. */
const ScopeQuery = z.object({ scope: Scope.optional() })

/** GET /commands: every scope with its list, or the list of one scope. */
export const getCommands: RouteHandler = ({ bot, query }) => {
  const { scope } = parseInput(ScopeQuery, query)
  if (scope !== undefined) return { result: bot.commands.get(scope) ?? [] }
  const all = Array.from(bot.commands, ([name, commands]) => ({ scope: name, commands }))
  return { result: all satisfies CommandScope[] }
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
  const { scope = 'default' } = parseInput(ScopeQuery, query)
  setCommands(bot, scope, [])
  return { result: { scope, commands: [] } satisfies CommandScope }
}
